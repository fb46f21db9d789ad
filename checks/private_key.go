package checks

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/git/gitobject"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/privatekey"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

const (
	codePrivateKey = "private-key"

	privateKeyFix = "make a new key, and remove the file from every commit of the branch; if the key signs only " +
		"examples, list SHA-256 under example_keys in a governance pull request first"
)

// Limits on what is searched for private keys.
const (
	maxKeyFile  = 128 << 20 // bytes of one file
	maxKeyBytes = 1 << 30   // bytes of all files
	maxKeyFiles = 100_000
)

// A leak is a file that base does not hold and that has a private key, or is large.
type leak struct {
	path, commit string // commit is empty for a file on disk
	kind, sha256 string // kind of the private key; empty: none
	id           string // id of the blob
	size         int    // bytes; more than maxKeyFile: the file was not read
}

// leaks returns the blobs with a private key that the commits of the range bring and the base tree does not hold, by
// path in the order of the commits.
func (r *Run) leaks() ([]leak, error) {
	all, err := r.leakage.get(r.findLeaks)
	return slices.DeleteFunc(slices.Clone(all), func(l leak) bool { return l.kind == "" }), err
}

func (r *Run) findLeaks() ([]leak, error) {
	var out []leak
	s := newKeySearch(r)
	for _, c := range r.Range.Commits {
		for _, t := range c.Touched {
			if t.Head == nil {
				continue
			}
			found, err := s.search(t.Path, *t.Head)
			if err != nil {
				return nil, err
			}
			if found != nil {
				out = append(out, leak{t.Path, c.ID, found.kind, found.sha256, found.id, found.size})
			}
		}
	}
	if len(out) == 0 {
		return nil, nil
	}
	fresh := map[string]bool{} // ids of the blobs that base does not hold
	for _, l := range out {
		fresh[l.id] = true
	}
	err := r.Range.Base.Walk(func(_ string, e registry.Entry) error {
		delete(fresh, e.ID.String())
		return nil
	})
	named := map[string]bool{} // paths
	kept := out[:0]
	for _, l := range out {
		if fresh[l.id] && !named[l.path] {
			named[l.path] = true
			kept = append(kept, l)
		}
	}
	return kept, err
}

// keySearch reads each blob once.
type keySearch struct {
	run   *Run
	seen  map[registry.Entry]*leak
	bytes int
}

func newKeySearch(r *Run) *keySearch {
	return &keySearch{run: r, seen: map[registry.Entry]*leak{}}
}

func (s *keySearch) search(path string, e registry.Entry) (*leak, error) {
	if e.Mode == registry.ModeSubmodule || e.Mode == registry.ModeTree {
		return nil, nil
	}
	if found, seen := s.seen[e]; seen {
		return found, nil
	}
	if err := s.run.Context.Err(); err != nil {
		return nil, err
	}
	text, err := s.run.Repo.Blob(e, maxKeyFile)
	large := errors.Is(err, gitobject.ErrTooLarge)
	if err != nil && !large {
		return nil, fmt.Errorf("reading %q: %w", path, err)
	}
	s.bytes += len(text)
	if s.bytes > maxKeyBytes || len(s.seen) >= maxKeyFiles {
		return nil, remedy.Errorf("split the change",
			"searching for private keys: %w: more than %d files or %d MiB in one range", registry.ErrLimit, maxKeyFiles,
			maxKeyBytes>>20)
	}
	found := &leak{id: e.ID.String(), size: len(text)}
	if large {
		found.size = maxKeyFile + 1
	} else if kind := privatekey.Find(text); kind != "" {
		if sum := plain.SHA256(text); !s.run.Base.Policy.exampleKeys[sum] {
			found.kind, found.sha256 = kind, sum
		}
	}
	if found.kind == "" && found.size < largeFile {
		found = nil
	}
	s.seen[e] = found
	return found, nil
}

// privateKeys refuses files with private keys: what was merged is public permanently. An audit warns of those at the
// head.
func privateKeys(r *Run) (verdict.Outcome, error) {
	var out capped
	search := r.leaks
	if r.Asks.AsIs {
		search = newKeySearch(r).atHead
	}
	found, err := search()
	for _, l := range found {
		out.named(l.path, errorIf(!r.Asks.AsIs), codePrivateKey,
			"%q has a private key (%s); the SHA-256 of the file is %s; expected no private key", l.path, l.kind,
			l.sha256).WithFix(privateKeyFix).Commit = l.commit
	}
	return out.rest(codePrivateKey, privateKeyFix, func(n int) string {
		return plain.Count(n, "more file") + plain.Plural(n, " has", " have") + " a private key; expected none"
	}), err
}

// Names and bounds of files that are not records.
const (
	codeLargeFile = "large-file"
	codeGitkeep   = "gitkeep-content"

	largeFile = 1 << 20 // bytes from which on a new file is warned of
	maxReadme = 64 << 10
)

// largeFiles reports new files that are not records and that the history would keep permanently, whatever a later
// commit of the range does.
func largeFiles(r *Run) (verdict.Outcome, error) {
	var out capped
	most := cmp.Or(int(r.Base.Policy.maxFileBytes), minMaxFile)
	found, err := r.leakage.get(r.findLeaks)
	for _, l := range found {
		if l.size < largeFile || registry.KindOf(l.path) != registry.Governance && strings.HasSuffix(l.path, ".json") {
			continue
		}
		has, limit := plain.Count(l.size, "byte"), most
		if l.size > maxKeyFile {
			has = fmt.Sprintf("more than %d bytes", maxKeyFile)
		} else if l.size < most {
			has, limit = has+", which the history keeps permanently", largeFile
		}
		out.named(l.path, errorIf(l.size >= most), codeLargeFile, "%q has %s; expected less than %d", l.path, has,
			limit).
			WithFix("remove the file from every commit of the branch (git rebase -i %s), and link to it instead",
				r.onto()).Commit = l.commit
	}
	return out.rest(codeLargeFile, "remove the files from every commit of the branch", func(n int) string {
		return plain.Count(n, "more new file") + plain.Plural(n, " is", " are") + " large"
	}), err
}

// dataFiles checks the governance files of the data directories that a commit of the range brings: a .gitkeep is empty,
// and a README.md is not a large one.
func dataFiles(r *Run) (verdict.Outcome, error) {
	var out verdict.Outcome
	told := map[string]bool{}
	for _, c := range r.Range.Commits {
		for _, t := range c.Touched {
			directory, name := path.Split(t.Path)
			if t.Head == nil || t.Head.Mode != registry.ModeFile || told[t.Path] ||
				!isDataDirectory(strings.TrimSuffix(directory, "/")) {
				continue
			}
			most, code, says, fix := 0, codeGitkeep, "is not empty; expected an empty file", "empty it"
			switch name {
			case ".gitkeep":
			case "README.md":
				most, code, says, fix = maxReadme, codeLargeFile, "has more than 64 KiB; expected at most 64 KiB",
					"shorten it"
			default:
				continue
			}
			text, err := r.Repo.Blob(*t.Head, int64(most)+1)
			if err != nil && !errors.Is(err, gitobject.ErrTooLarge) {
				return out, fmt.Errorf("reading %q: %w", t.Path, err)
			}
			if err == nil && len(text) <= most {
				continue
			}
			told[t.Path] = true
			out.Errorf(verdict.At{Path: t.Path}, "", code, "%q %s", t.Path, says).
				WithFix("%s, in every commit of the branch", fix).Commit = c.ID
		}
	}
	return out, nil
}

// atHead returns the private keys in the files of an audit's head that are not records.
func (s *keySearch) atHead() ([]leak, error) {
	var out []leak
	err := s.run.Range.Result.Walk(func(path string, e registry.Entry) error {
		if registry.KindOf(path) != registry.Governance && strings.HasSuffix(path, ".json") {
			return nil
		}
		found, err := s.search(path, e)
		if errors.Is(err, registry.ErrLimit) {
			return fs.SkipAll // an audit only warns, as far as it is cheap
		}
		if found != nil && found.kind != "" {
			out = append(out, leak{path: path, kind: found.kind, sha256: found.sha256, id: found.id})
		}
		return err
	})
	if errors.Is(err, fs.SkipAll) {
		err = nil
	}
	return out, err
}
