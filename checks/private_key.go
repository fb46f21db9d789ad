package checks

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/git/gitstore"
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

// A leak is a private key in a file that base does not hold.
type leak struct {
	path, commit string // commit is empty for a file on disk
	kind, sha256 string // kind is empty if the file is too large to be searched
	id           string // id of the blob
}

// leaks returns the private keys in the blobs that the commits of the range bring and the base tree does not hold, by
// path in the order of the commits.
func (r *Run) leaks() ([]leak, error) { return r.leakage.get(r.findLeaks) }

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
				out = append(out, leak{t.Path, c.ID, found.kind, found.sha256, found.id})
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

func newKeySearch(r *Run) *keySearch { return &keySearch{run: r, seen: map[registry.Entry]*leak{}} }

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
	large := errors.Is(err, gitstore.ErrTooLarge)
	if err != nil && !large {
		return nil, fmt.Errorf("reading %q: %w", path, err)
	}
	s.bytes += len(text)
	if s.bytes > maxKeyBytes || len(s.seen) >= maxKeyFiles {
		return nil, remedy.Errorf("split the change",
			"searching for private keys: %w: more than %d files or %d MiB in one range", registry.ErrLimit, maxKeyFiles,
			maxKeyBytes>>20)
	}
	var found *leak
	if large {
		found = &leak{id: e.ID.String()}
	} else if kind := privatekey.Find(text); kind != "" {
		if sum := plain.SHA256(text); !s.run.Base.Policy.exampleKeys[sum] {
			found = &leak{kind: kind, sha256: sum, id: e.ID.String()}
		}
	}
	s.seen[e] = found
	return found, nil
}

// privateKeys refuses files with private keys: what was merged is public permanently. An audit warns of those at the
// head.
func privateKeys(r *Run) (verdict.Outcome, error) {
	var out capped
	if r.merged {
		return out.Outcome, nil
	}
	search := r.leaks
	if r.Audit {
		search = newKeySearch(r).atHead
	}
	found, err := search()
	for _, l := range found {
		f := out.named(l.path, errorIf(!r.Audit), codePrivateKey,
			"%q has a private key (%s); the SHA-256 of the file is %s; expected no private key", l.path, l.kind,
			l.sha256)
		f.WithFix(privateKeyFix)
		if l.kind == "" {
			f.Message = fmt.Sprintf("%q has more than %d MiB, so that it cannot be searched for private keys; "+
				"expected a smaller file", l.path, maxKeyFile>>20)
			f.WithFix("remove the file from every commit of the branch")
		}
		f.Commit = l.commit
	}
	return out.rest(codePrivateKey, privateKeyFix, func(n int) string {
		return plain.Count(n, "more file") + plain.Plural(n, " has", " have") + " a private key; expected none"
	}), err
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
