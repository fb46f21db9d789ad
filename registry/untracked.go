package registry

import (
	"context"
	"slices"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/git/gitstore"
	"github.com/openagentprotocol-OAP/oap-gate/internal/git/ignore"
)

// Caps on ignore patterns. Theirs is the one work here that grows with a product of two sizes.
const (
	maxIgnoreBytes = 1 << 20 // read of all .gitignore files together
	maxIgnoreWork  = 1 << 33 // bytes of patterns times bytes of the paths that are compared with them
)

// untracked looks for the files that Git neither tracks nor ignores.
type untracked struct {
	ctx   context.Context
	repo  *Repository
	disk  *disk
	found *candidates
	fold  bool // case does not count
	// aliases are the tracked paths in lower case, where case does not count.
	aliases map[string]bool
	// directories contain tracked files. If one has a .git, Git does not treat it as a clone of its own.
	directories map[string]bool
	left        struct{ names, bytes, work int64 }
}

// addUntracked adds the untracked paths that `git add -A` would add.
func (r *Repository) addUntracked(ctx context.Context, d *disk, found *candidates) error {
	settings := d.conv.settings
	u := &untracked{ctx: ctx, repo: r, disk: d, found: found, fold: settings.IgnoreCase,
		directories: map[string]bool{}}
	if u.fold {
		u.aliases = map[string]bool{}
		for path := range found.seen {
			u.aliases[strings.ToLower(path)] = true
		}
	}
	for path := range found.seen {
		for {
			i := strings.LastIndexByte(path, '/')
			if i < 0 || u.directories[path[:i]] {
				break
			}
			path = path[:i]
			u.directories[path] = true
		}
	}
	u.left.names, u.left.bytes, u.left.work = maxPaths, maxIgnoreBytes, maxIgnoreWork
	var scopes []ignore.Scope
	for _, text := range settings.Excludes {
		scopes = append(scopes, ignore.Scope{Patterns: ignore.Parse(text, u.fold), Size: int64(len(text))})
	}
	return u.directory("", 0, scopes)
}

// directory looks into a directory that is not ignored. Scopes are those of the directories above, lowest priority
// first.
func (u *untracked) directory(directory string, depth int, scopes []ignore.Scope) error {
	if depth > maxDepth {
		return errDepth(directory)
	}
	text, err := u.ignoreFile(directory + ".gitignore")
	if err != nil {
		return err
	}
	if patterns := ignore.Parse(text, u.fold); len(patterns) > 0 {
		scopes = append(scopes[:len(scopes):len(scopes)],
			ignore.Scope{Directory: directory, Patterns: patterns, Size: int64(len(text))})
	}
	names, err := u.disk.names(directory + ".")
	if err != nil {
		return err
	}
	if u.left.names -= int64(len(names)); u.left.names < 0 {
		return errPaths(directory)
	}
	for _, name := range names {
		if name == ".git" {
			continue
		}
		if err := u.path(directory+name, depth, scopes); err != nil {
			return err
		}
	}
	return nil
}

func (u *untracked) path(path string, depth int, scopes []ignore.Scope) error {
	if err := u.ctx.Err(); err != nil {
		return err
	}
	info, err := u.disk.stat(path)
	if err != nil || info == nil {
		return err
	}
	tracked := u.found.seen[path]
	if tracked != nil && (!info.IsDir() || tracked.entry.Mode == ModeSubmodule) {
		return nil
	}
	if ignored, err := u.ignored(path, info.IsDir(), scopes); err != nil || ignored {
		return err
	}
	if !info.IsDir() || !u.directories[path] && u.disk.isClone(path) {
		if u.aliases[strings.ToLower(path)] || !u.disk.conv.inSparse(path) {
			return nil
		}
		return u.found.add(path, nil)
	}
	return u.directory(path+"/", depth+1, scopes)
}

// ignored asks the patterns of the nearest directory first.
func (u *untracked) ignored(path string, isDir bool, scopes []ignore.Scope) (bool, error) {
	for _, s := range slices.Backward(scopes) {
		if u.left.work -= s.Size * int64(len(path)); u.left.work < 0 {
			return false, remedy.Errorf("take untracked files or ignore patterns away, or name the commit with --head",
				"looking for ignored files at %q: %w: too many untracked files for so many ignore patterns", path,
				ErrLimit)
		}
		if v := s.Patterns.Match(strings.TrimPrefix(path, s.Directory), isDir, u.fold); v != ignore.Undecided {
			return v == ignore.Ignored, nil
		}
	}
	return false, nil
}

// ignoreFile returns the text of a .gitignore, or nil if it is not a regular file, whatever a link there leads to. If a
// sparse checkout leaves the file out, it is read from the index, as git does.
func (u *untracked) ignoreFile(path string) ([]byte, error) {
	info, err := u.disk.stat(path)
	if err != nil {
		return nil, err
	}
	if info != nil && info.Size() > u.left.bytes {
		return nil, remedy.Errorf("take patterns away, or name the commit with --head",
			"reading ignore patterns %q: %w: more than %d bytes in all .gitignore files", path, ErrLimit,
			maxIgnoreBytes)
	}
	var text []byte
	switch tracked := u.found.seen[path]; {
	case info != nil && info.Mode().IsRegular():
		text, err = u.disk.text(path, u.left.bytes)
	case info == nil && tracked != nil && tracked.sparse && tracked.entry.Mode != ModeSymlink:
		text, err = u.repo.object(tracked.entry.ID, gitstore.Blob, u.left.bytes)
	}
	u.left.bytes -= int64(len(text))
	return text, err
}
