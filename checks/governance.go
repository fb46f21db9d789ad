package checks

import (
	"bytes"
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/git/gitobject"
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

// elsewhere reports new files outside the data directories that look like records. They anchor nothing there, which may
// be meant: an example is honest. A range or a commit that adds nothing else than such files means them as records.
func elsewhere(r *Run) (verdict.Outcome, error) {
	var out capped
	var found []misplaced
	meant := map[string]bool{}
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
		if errors.Is(err, gitobject.ErrTooLarge) {
			continue
		}
		if err != nil {
			return out.Outcome, err
		}
		m, err := home(r, c, text)
		if err != nil {
			return out.Outcome, err
		}
		if m.home != "" {
			found = append(found, m)
			meant[c.Path] = m.record && top != "docs" && top != "examples"
		}
	}
	refused := r.addsOnly(meant)
	for _, m := range found {
		way, err := move(r, m.path, m.home)
		if err != nil {
			return out.Outcome, err
		}
		message := fmt.Sprintf("%q looks like a %s, but is not in a data directory, so nobody reads it as one", m.path,
			m.kind)
		if !m.record {
			message = fmt.Sprintf("%q is JSON in a directory whose name is like that of %s, so nobody reads it as a "+
				"record",
				m.path, m.kind.Directory())
		}
		out.named(m.path, errorIf(refused[m.path]), codeElsewhere, "%s", message).
			WithFix("%s, or, if it is an example, put it below examples/", way)
	}
	const fix = "git mv them to their data directories, or, if they are examples, put them below examples/"
	return out.rest(codeElsewhere, fix, func(n int) string {
		return plain.Count(n, "more new file") + plain.Plural(n, " looks", " look") +
			" like records, outside the data directories"
	}), nil
}

const codeElsewhere = "record-elsewhere"

// A misplaced file looks like a record of that kind, whose path would be home.
type misplaced struct {
	path, home string
	kind       registry.Kind
	record     bool // its members are those of a record
}

// addsOnly returns the paths of meant that the range, or one of its commits, adds without adding any other file.
func (r *Run) addsOnly(meant map[string]bool) map[string]bool {
	out := map[string]bool{}
	changes := [][]registry.Change{r.Range.Changes}
	for _, c := range r.Range.Commits {
		changes = append(changes, c.Touched)
	}
	for _, all := range changes {
		var paths []string
		only := true
		for _, c := range all {
			if c.Base == nil && c.Head != nil {
				paths = append(paths, c.Path)
				only = only && meant[c.Path]
			}
		}
		for _, path := range paths {
			out[path] = out[path] || only
		}
	}
	return out
}

// memberKinds are the members that only records have, and the kind of record that most likely has each.
var memberKinds = []struct {
	name string
	kind registry.Kind
}{
	{"revoked_receipt_sha256", registry.KindRevocation},
	{"revoked_by_did", registry.KindRevocation},
	{"coordinator_did", registry.KindWorkflowAnchor},
	{"cross_match_receipt_sha256", registry.KindWorkflowAnchor},
	{"tool_did", registry.KindListing},
	{"conformance_level", registry.KindListing},
	{"conformance_receipt_uri", registry.KindListing},
	{"conformance_receipt_sha256", registry.KindListing},
}

// home says of what kind of record a new file looks, by two members at its root or by the name of its directory, and
// the path that it should have. A file .json that does not parse has the members that it has in quotes.
func home(r *Run, c registry.Change, text []byte) (misplaced, error) {
	m := misplaced{path: c.Path}
	d, err := strict.Parse(c.Path, text, strict.RegistryFile)
	var root any
	if err == nil {
		root = d.Root
	}
	object, _ := root.(map[string]any)
	members := 0
	for _, member := range memberKinds {
		_, has := object[member.name]
		if err != nil && strings.HasSuffix(c.Path, ".json") {
			has = bytes.Contains(text, []byte(`"`+member.name+`"`))
		}
		if has {
			if members == 0 {
				m.kind = member.kind
			}
			members++
		}
	}
	m.record = members > 1
	if !m.record {
		if m.kind = likeDirectory(path.Base(path.Dir(c.Path))); m.kind == registry.Governance ||
			!bytes.HasPrefix(bytes.TrimSpace(text), []byte("{")) {
			return m, nil
		}
	}
	if m.home = memberPath(m.kind, root); RecordSlug(m.kind, m.home) == "" {
		m.home = m.kind.Directory() + "/" + path.Base(c.Path)
		if RecordSlug(m.kind, m.home) == "" {
			m.home = m.kind.Directory() + "/"
		}
	}
	if e, err := r.Range.Result.Leaf(m.home); err != nil {
		return m, err
	} else if m.kind == registry.KindListing && e != nil && e.ID == c.Head.ID { // a copy is an entry of the directory
		m.kind = registry.KindPeerWitness
		m.home = memberPath(m.kind, root)
	}
	return m, nil
}

// likeDirectory returns the kind of the data directory whose name is at most one edit away, else Governance.
func likeDirectory(name string) registry.Kind {
	for _, k := range registry.DataKinds {
		if len(name) <= maxLength && plain.Distance([]rune(name), []rune(k.Directory()), 1) <= 1 {
			return k
		}
	}
	return registry.Governance
}

// move returns the command that moves a file to the path of its record. Git moves only tracked files, and a file on
// disk need not be tracked.
func move(r *Run, from, to string) (string, error) {
	force := ""
	if strings.HasSuffix(to, "/") {
		to += "<slug>.json"
	} else if e, err := r.Range.Result.Leaf(to); err != nil {
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
