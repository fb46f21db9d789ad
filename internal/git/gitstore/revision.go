package gitstore

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/internal/git/gitobject"
)

const (
	maxTags      = 32       // tags of tags
	maxHistoric  = 16 << 20 // bytes of a commit or tag
	minAbbrev    = 4        // hexadecimal digits, as in git
	maxRevDigits = 9
)

// Resolve returns the commit that a revision names, gitrevisions(7): an id, or at least four digits that begin only
// one; HEAD or @; a ref, looked up as git does (name, refs/name, refs/tags/name, refs/heads/name, refs/remotes/name,
// refs/remotes/name/HEAD); each with suffixes ^, ^N, ~N, ^{commit}. Tags are peeled. Errors: ErrName for any other
// spelling, ErrNotFound, ErrAmbiguous, and those of Read. A name that several refs have is ErrSeveralRefs, where git
// warns and takes the first: a fetched tag would be read instead of a branch.
func (s *Store) Resolve(rev string) (gitobject.ID, error) {
	id, err := s.resolve(rev)
	if err != nil {
		return gitobject.ID{}, wrap(err, "resolving revision", strconv.Quote(rev), "")
	}
	return id, nil
}

func (s *Store) resolve(rev string) (gitobject.ID, error) {
	for _, no := range []string{"..", ":", "@{", "\\", "\x00"} {
		if strings.Contains(rev, no) {
			return gitobject.ID{}, fmt.Errorf("%w: it holds %q", ErrName, no)
		}
	}
	if len(rev) > maxRefName {
		return gitobject.ID{}, fmt.Errorf("%w: it has more than %d bytes", ErrName, maxRefName)
	}
	name, steps := rev, ""
	if i := strings.IndexAny(rev, "^~"); i >= 0 {
		name, steps = rev[:i], rev[i:]
	}
	id, err := s.base(name)
	if err != nil {
		return gitobject.ID{}, err
	}
	if id, _, err = s.commit(id); err != nil {
		return gitobject.ID{}, err
	}
	for steps != "" {
		if id, steps, err = s.step(id, steps); err != nil {
			return gitobject.ID{}, err
		}
	}
	return id, nil
}

// base returns the object that a revision without suffixes names.
func (s *Store) base(name string) (gitobject.ID, error) {
	lower := strings.ToLower(name)
	if id, err := gitobject.ParseID(lower); err == nil && id.Size() == s.idSize {
		return id, nil
	}
	if name == "@" {
		name = "HEAD"
	}
	if name == "" || name[0] == '-' {
		return gitobject.ID{}, fmt.Errorf("%w: want an id or the name of a ref", ErrName)
	}
	missing := ErrNotFound
	var found gitobject.ID
	var failed error
	var named []string
	for _, rule := range []string{"%s", "refs/%s", "refs/tags/%s", "refs/heads/%s", "refs/remotes/%s",
		"refs/remotes/%s/HEAD"} {
		full := strings.Replace(rule, "%s", name, 1)
		id, err := s.ref(full)
		if rule == "%s" && errors.Is(err, ErrName) && CheckRefName("refs/"+name) == nil {
			continue // not below refs/: main
		}
		if rule == "%s" && !errors.Is(err, ErrNotFound) {
			return id, err // a full name is never ambiguous
		}
		if !errors.Is(err, ErrNotFound) {
			if named = append(named, full); len(named) == 1 {
				found, failed = id, err
			}
		} else if err != ErrNotFound {
			missing = err
		}
	}
	switch {
	case len(named) > 1:
		return gitobject.ID{}, fmt.Errorf("%w: %s", ErrSeveralRefs, strings.Join(named, ", "))
	case len(named) == 1:
		return found, failed
	}
	if len(lower) >= minAbbrev && len(lower) < 2*s.idSize && strings.Trim(lower, "0123456789abcdef") == "" {
		return s.abbreviated(lower)
	}
	return gitobject.ID{}, missing
}

// abbreviated returns the one object whose id begins with the digits.
func (s *Store) abbreviated(digits string) (gitobject.ID, error) {
	seen := s.packs.Load()
	id, err := s.begins(digits, *seen)
	if err != ErrNotFound {
		return id, err
	}
	if err := s.rescan(seen); err != nil {
		return gitobject.ID{}, err
	}
	return s.begins(digits, *s.packs.Load())
}

func (s *Store) begins(digits string, packs []*pack) (found gitobject.ID, err error) {
	add := func(id gitobject.ID) error {
		if !found.IsZero() && found != id {
			return fmt.Errorf("%w: %s and %s begin so", ErrAmbiguous, found, id)
		}
		found = id
		return nil
	}
	for _, p := range packs {
		if err := p.index.begins(digits, add); err != nil {
			return gitobject.ID{}, err
		}
	}
	for _, dir := range s.dirs {
		if err := looseBegins(dir, digits, s.idSize, add); err != nil {
			return gitobject.ID{}, err
		}
	}
	if found.IsZero() {
		return gitobject.ID{}, ErrNotFound
	}
	return found, nil
}

func (x *index) begins(digits string, f func(gitobject.ID) error) error {
	prefix, err := hex.DecodeString(digits[:len(digits)&^1])
	if err != nil {
		return err
	}
	for i := x.seek(prefix); i < x.count() && bytes.HasPrefix(x.name(i), prefix); i++ {
		if id := gitobject.BytesID(x.name(i)); strings.HasPrefix(id.String(), digits) {
			if err := f(id); err != nil {
				return err
			}
		}
	}
	return nil
}

func looseBegins(objects, digits string, idSize int, f func(gitobject.ID) error) error {
	entries, err := os.ReadDir(filepath.Join(objects, digits[:2]))
	if notThere(err) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), digits[2:]) {
			continue
		}
		if id, err := gitobject.ParseID(digits[:2] + e.Name()); err == nil && id.Size() == idSize {
			if err := f(id); err != nil {
				return err
			}
		}
	}
	return nil
}

// commit peels tags off a commit and reads it.
func (s *Store) commit(id gitobject.ID) (gitobject.ID, *CommitObject, error) {
	for range maxTags {
		t, data, err := s.Read(id, maxHistoric)
		if err != nil {
			return gitobject.ID{}, nil, err
		}
		switch t {
		case gitobject.Commit:
			c, err := DecodeCommit(data)
			if err != nil {
				return gitobject.ID{}, nil, &Error{Op: "reading commit", Object: id.String(), Err: err}
			}
			return id, c, nil
		case gitobject.Tag:
			if id, err = tagged(data); err != nil {
				return gitobject.ID{}, nil, err
			}
		default:
			return gitobject.ID{}, nil, fmt.Errorf("%w: %s is a %s; expected a commit", ErrNotFound, id, t)
		}
	}
	return gitobject.ID{}, nil, fmt.Errorf("%w: more than %d tags of tags", gitobject.ErrTooLarge, maxTags)
}

// tagged returns the object that a tag names.
func tagged(tag []byte) (gitobject.ID, error) {
	line, _, _ := bytes.Cut(tag, []byte{'\n'})
	digits, ok := bytes.CutPrefix(line, []byte("object "))
	if !ok {
		return gitobject.ID{}, fmt.Errorf("%w: a tag begins %.80q; expected an object", ErrMalformed, line)
	}
	id, err := gitobject.ParseID(string(digits))
	if err != nil {
		return gitobject.ID{}, fmt.Errorf("%w: tag: %w", ErrMalformed, err)
	}
	return id, nil
}

// step takes one suffix off the front of steps and goes there.
func (s *Store) step(id gitobject.ID, steps string) (gitobject.ID, string, error) {
	for _, same := range []string{"^{commit}", "^{}"} {
		if rest, ok := strings.CutPrefix(steps, same); ok {
			return id, rest, nil
		}
	}
	digits := steps[1 : len(steps)-len(strings.TrimLeft(steps[1:], "0123456789"))]
	rest := steps[1+len(digits):]
	if rest != "" && rest[0] != '^' && rest[0] != '~' || len(digits) > maxRevDigits {
		return gitobject.ID{}, "", fmt.Errorf("%w: the suffix %q is not one of ^, ^N, ~N, ^{commit}", ErrName, steps)
	}
	n, err := strconv.Atoi(cmp.Or(digits, "1"))
	if err != nil {
		return gitobject.ID{}, "", err
	}
	if steps[0] == '^' {
		id, err := s.parent(id, n)
		return id, rest, err
	}
	for range n {
		if id, err = s.parent(id, 1); err != nil {
			return gitobject.ID{}, "", err
		}
	}
	return id, rest, nil
}

// parent returns the n-th parent of a commit, counted from 1; for 0, the commit itself.
func (s *Store) parent(id gitobject.ID, n int) (gitobject.ID, error) {
	if n == 0 {
		return id, nil
	}
	_, c, err := s.commit(id)
	if err != nil {
		return gitobject.ID{}, err
	}
	if n > len(c.Parents) {
		return gitobject.ID{}, fmt.Errorf("%w: commit %s has %d parents", ErrNotFound, id, len(c.Parents))
	}
	if s.IsShallow(id) {
		return gitobject.ID{}, &Error{Op: "reading the parents of commit", Object: id.String(), Err: ErrShallow}
	}
	return c.Parents[n-1], nil
}
