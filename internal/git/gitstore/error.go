package gitstore

import (
	"errors"
	"io/fs"

	"github.com/openagentprotocol-OAP/oap-gate/internal/git/gitobject"
)

// Error is every error of this package.
type Error struct {
	Op     string // what was being done, as "reading object"
	Object string // the object, path, ref or revision it was done to; empty where Op says all
	Remedy string // the command or value that fixes it; may be empty
	Err    error
}

func (e *Error) Error() string {
	if e.Object == "" {
		return e.Op + ": " + e.Err.Error()
	}
	return e.Op + " " + e.Object + ": " + e.Err.Error()
}

// Fix returns Remedy, or a fix for the kind of error.
func (e *Error) Fix() string {
	if errors.Is(e.Err, fs.ErrPermission) {
		return "let the user who runs oap-gate read it"
	}
	if e.Remedy != "" {
		return e.Remedy
	}
	if e.Object == "." && errors.Is(e.Err, ErrNotRepository) { // no flag named a directory
		return "run it in a clone, or name one with --repo DIR"
	}
	for _, known := range []struct {
		kind error
		fix  string
	}{
		{ErrNotRepository, "name the directory of a clone"},
		{ErrShallow, "git fetch --unshallow (in Actions: fetch-depth: 0)"},
		{ErrPartial, "git fetch --refetch --no-filter origin"},
		{ErrNotFound, "name a commit, branch or tag of this clone, or fetch it"},
		{ErrAmbiguous, "write more digits of the id"},
		{ErrSeveralRefs, "name one of them in full"},
		{ErrName, "name a commit, a branch or a tag as `git log --all` shows them"},
		{gitobject.ErrUnsupported, "clone it again with git's default format"},
	} {
		if errors.Is(e.Err, known.kind) {
			return known.fix
		}
	}
	return "run `git fsck`; if it complains, clone the registry again"
}

func (e *Error) Unwrap() error { return e.Err }

// What an Error can be, for errors.Is.
var (
	// ErrNotFound: no such object, ref or revision.
	ErrNotFound = errors.New("not found")
	// ErrMalformed: an object is what its id says, but not spelled as Git writes it.
	ErrMalformed = errors.New("malformed")
	// ErrEntryName: a tree has an entry whose name is refused: empty, .git, or with a control character.
	ErrEntryName = errors.New("unusable name")
	// ErrShallow: the object is beyond the boundary of a shallow clone.
	ErrShallow = errors.New("not in this shallow clone")
	// ErrPartial: the object was left out of a partial clone.
	ErrPartial = errors.New("not in this partial clone")
	// ErrNotRepository: the directory is not a Git repository, nor inside one.
	ErrNotRepository = errors.New("not a git repository")
	// ErrAmbiguous: an abbreviated id that more than one object has.
	ErrAmbiguous = errors.New("ambiguous")
	// ErrSeveralRefs: a name that more than one ref has.
	ErrSeveralRefs = errors.New("several refs have that name")
	// ErrName: a revision or ref name that is not accepted.
	ErrName = errors.New("name not accepted")
)
