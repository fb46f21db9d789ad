package checks

import (
	"errors"
	"fmt"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/git/gitstore"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// maxNamed is how many paths or objects of one fault are named; a pull request can bring any number.
const maxNamed = 100

// capped is an outcome that names at most maxNamed faults, and counts the rest by severity.
type capped struct {
	verdict.Outcome
	more map[verdict.Severity]int
}

// named adds a finding on a path, unless there are maxNamed: then it counts, and what it returns is of no effect.
func (c *capped) named(path string, severity verdict.Severity, code, format string, args ...any) *verdict.Finding {
	if len(c.Findings) < maxNamed {
		return c.Add(verdict.At{Path: path}, severity, "", code, format, args...)
	}
	if c.more == nil {
		c.more = map[verdict.Severity]int{}
	}
	c.more[severity]++
	return &verdict.Finding{}
}

// rest returns the outcome with a finding for those of each severity that were only counted.
func (c *capped) rest(code, fix string, say func(n int) string) verdict.Outcome {
	for _, severity := range []verdict.Severity{verdict.Error, verdict.Warning} {
		if n := c.more[severity]; n > 0 {
			c.Add(verdict.At{}, severity, "", code, "%s", say(n)).WithFix("%s", fix)
		}
	}
	return c.Outcome
}

// newGovernance returns the governance files that a range adds to the base tree, in path order.
func newGovernance(r *registry.Range) []registry.Change {
	var out []registry.Change
	for _, c := range r.Changes {
		if !isRecord(c) && c.Base == nil && c.Head != nil {
			out = append(out, c)
		}
	}
	return out
}

// portable checks that a new governance path can exist in a clone on every system.
func portable(r *Run) (verdict.Outcome, error) {
	var out capped
	for _, c := range newGovernance(r.Range) {
		code, message, fix := "", "", "choose another name"
		if at := strings.IndexAny(c.Path, `\:*?"<>|`); at >= 0 {
			code = "path-character"
			message = fmt.Sprintf("%q holds %q, which some systems allow in no name", c.Path, c.Path[at:at+1])
		} else if part := device(c.Path); part != "" {
			code = "device-name"
			message = fmt.Sprintf("%q is the name of a device on some systems, where no clone could hold %q", part,
				c.Path)
		} else if c.Head.Mode == registry.ModeTree {
			code, message, fix = "empty-folder", noClone(c.Path), "leave it out, or put a file into it"
		}
		if code != "" {
			out.named(c.Path, verdict.Error, code, "%s", message).WithFix("%s", fix)
		}
	}
	return out.rest("path-character", "choose other names", func(n int) string {
		return plain.Count(n, "more new governance file") + plain.Plural(n, " has a name", " have names") +
			" that some systems cannot hold"
	}), nil
}

// noClone returns the message for an empty directory: a clone does not contain it, so a commit from a clone would
// remove it.
func noClone(path string) string {
	return fmt.Sprintf("%q is an empty directory, which no clone keeps", path)
}

// device returns the first part of a path that is the name of a device, with or without an extension, or "".
func device(path string) string {
	for part := range strings.SplitSeq(path, "/") {
		stem, _, _ := strings.Cut(foldPath(part), ".")
		if deviceName().MatchString(strings.TrimRightFunc(stem, isDropped)) {
			return part
		}
	}
	return ""
}

// maxElsewhere is how many new governance files are read to see whether they are records.
const maxElsewhere = 1000

// elsewhere warns of new files outside the data directories that would be records in one. They anchor nothing there,
// which may be meant: an example is honest.
func elsewhere(r *Run) (verdict.Outcome, error) {
	var out capped
	read := 0
	for _, c := range newGovernance(r.Range) {
		top, _, _ := strings.Cut(c.Path, "/")
		regular := c.Head.Mode == registry.ModeFile || c.Head.Mode == registry.ModeExecutable
		if !regular || registry.KindOf(top) != registry.Governance {
			continue
		}
		if read++; read > maxElsewhere {
			break
		}
		text, err := r.Range.Result.File(r.Context, c.Path, int64(strict.RegistryFile.Bytes))
		if errors.Is(err, gitstore.ErrTooLarge) {
			continue
		}
		if err != nil {
			return out.Outcome, err
		}
		kind, home, err := home(r, c, text)
		if err != nil {
			return out.Outcome, err
		}
		if home == "" {
			continue
		}
		way, err := move(r, c.Path, home)
		if err != nil {
			return out.Outcome, err
		}
		out.named(c.Path, verdict.Warning, "record-elsewhere",
			"%q looks like a %s, but is not in a data directory, so nobody reads it as one", c.Path, kind).
			WithFix("%s; an example may stay", way)
	}
	const fix = "git mv them to their data directories; examples may stay"
	return out.rest("record-elsewhere", fix, func(n int) string {
		return plain.Count(n, "more new file") + plain.Plural(n, " looks", " look") +
			" like records, outside the data directories"
	}), nil
}

// home returns the kind of record that a text is under the base tree's schemas, and the path that it should have. The
// path is empty if the text is not a record.
func home(r *Run, c registry.Change, text []byte) (registry.Kind, string, error) {
	d, err := strict.Parse(c.Path, text, strict.RegistryFile)
	if err != nil {
		return 0, "", nil // not JSON
	}
	for _, kind := range []registry.Kind{registry.KindListing, registry.KindRevocation, registry.KindWorkflowAnchor} {
		slug, path := strict.String(d.Root, "slug"), memberPath(kind, d.Root)
		s := r.Base.Schemas.Of(kind)
		if s == nil || recordSlug(kind, path) != slug || slug == "" || len(s.Validate(d.Root)) > 0 {
			continue
		}
		if e, err := r.Range.Result.Leaf(path); err != nil {
			return 0, "", err
		} else if kind == registry.KindListing && e != nil && e.ID == c.Head.ID { // a copy is an entry of the directory
			kind = registry.KindPeerWitness
		}
		return kind, memberPath(kind, d.Root), nil
	}
	return 0, "", nil
}

// move returns the command that moves a file to the path of its record. Git moves only tracked files, and a file on
// disk need not be tracked.
func move(r *Run, from, to string) (string, error) {
	force := ""
	if e, err := r.Range.Result.Leaf(to); err != nil {
		return "", err
	} else if e != nil {
		force = "-f "
	}
	track := ""
	if word := plain.ShellWord(from); word != from {
		from = "-- " + word
	}
	if r.Range.Head.Commit() == "" {
		track = "git add " + from + " && "
	}
	return track + "git mv " + force + from + " " + to, nil
}
