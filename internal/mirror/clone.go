package mirror

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/atomicfile"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/git/checkpoint"
	"github.com/openagentprotocol-OAP/oap-gate/internal/git/gitobject"
	"github.com/openagentprotocol-OAP/oap-gate/internal/git/gitstore"
	"github.com/openagentprotocol-OAP/oap-gate/internal/mirror/mirrorstate"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// maxRewritten is how many tips before a rewrite are kept.
const maxRewritten = 100

// Dir is the directory of a mirror:
//
//	registry.git   bare clone, whose HEAD names the branch that was verified
//	checkpoint     the last verified tip
//	state.json     what readers and the next run take from this one
//	archive/ cache/ report.json report.html metrics.prom lock
type Dir struct {
	Path     string
	Branch   string
	State    *mirrorstate.State // empty before Start
	Warnings []verdict.Finding  // warnings of this run's start and fetch, for its report

	url    string
	was    string    // URL that the registry had by the operator's word; empty: it did not move
	from   string    // URL that the clone has, and whose place url takes in this run; empty: none
	now    time.Time // the run's time
	loaded bool      // a run has read the state

	refetched bool // all was fetched again in this run
	repairs   int  // those that are not in state.json yet
	lock      *os.File
}

// OpenDir makes the directory of a mirror of a URL, or opens it, for this process alone, and removes what a killed one
// left. was is the URL that the registry had before it moved; empty: it did not move.
func OpenDir(path, url, was, branch string) (_ *Dir, err error) {
	if info, err := os.Stat(path); err == nil && !info.IsDir() {
		return nil, remedy.Errorf("name a directory", "%s is a file", path)
	}
	if path, err = filepath.Abs(path); err != nil {
		return nil, err
	}
	_, err = os.Lstat(filepath.Join(path, "objects"))
	if err == nil || gitstore.IsRepository(path) {
		return nil, remedy.Errorf(
			"name another directory, or judge the clone that is there: oap-gate audit --repo DIR",
			"%q is a clone, and a mirror keeps one of its own in its directory", path)
	}
	if _, err := registry.Outer(filepath.Join(path, registry.MirrorClone)); err != nil {
		return nil, err
	}
	if _, err := os.Lstat(filepath.Join(path, registry.MirrorClone)); was != "" && errors.Is(err, fs.ErrNotExist) {
		return nil, remedy.Errorf("leave --moved-from out to begin a mirror", "%q is not a mirror of %q", path, was)
	}
	if err := os.MkdirAll(path, 0o777); err != nil {
		return nil, remedy.With(fmt.Errorf("making the directory of the mirror: %w", err),
			"name a directory that can be written")
	}
	d := &Dir{Path: path, Branch: branch, State: &mirrorstate.State{}, url: url, was: was}
	if d.lock, err = lock(d.File("lock")); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, d.Close())
		}
	}()
	if err := atomicfile.Probe(d.File(mirrorstate.File)); err != nil {
		return nil, Local(err)
	}
	if err := d.sweep(); err != nil {
		return nil, Local(err)
	}
	return d, Local(d.make())
}

// Close lets another process have the directory.
func (d *Dir) Close() error { return d.lock.Close() }

// File returns the path of a file of the mirror.
func (d *Dir) File(name string) string { return filepath.Join(d.Path, name) }

// Clone returns the directory of the bare clone.
func (d *Dir) Clone() string { return d.File(registry.MirrorClone) }

func (d *Dir) packs() string { return filepath.Join(d.Clone(), "objects", "pack") }

func (d *Dir) quarantine() string { return d.File("quarantine") }

// sweep removes the files of a killed mirror. Only the process that holds the lock writes there.
func (d *Dir) sweep() error {
	left, err := filepath.Glob(d.File(peerPrefix + "*"))
	if err != nil {
		return fmt.Errorf("sweeping the mirror: %w", err)
	}
	for _, name := range append(left, d.quarantine(), d.File("registry.git.new")) {
		if err := os.RemoveAll(name); err != nil {
			return fmt.Errorf("sweeping the mirror: %w", err)
		}
	}
	err = filepath.WalkDir(d.Path, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && (path == d.File("archive") || path == d.File("cache")): // which sweep themselves
			return fs.SkipDir
		case !e.IsDir() && atomicfile.IsTemporary(e.Name()):
			return os.Remove(path)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("sweeping the mirror: %w", err)
	}
	return nil
}

// configuration is the Git configuration of the clone. It hides unverified commits from those who fetch from it.
const configuration = `[core]
	repositoryformatversion = 0
	bare = true
[remote "origin"]
	url = "%s"
[transfer]
	hideRefs = refs/remotes
	hideRefs = refs/rewritten
[http]
	getanyfile = false
	receivepack = false
[gc]
	auto = 0
	packRefs = false
	pruneExpire = never
`

// make makes the bare clone, whole or not at all; one that is there must be of the same URL and branch. Of such a one
// it writes the configuration and HEAD again if they are damaged.
func (d *Dir) make() error {
	if err := gitstore.CheckRefName("refs/heads/" + d.Branch); err != nil {
		return remedy.With(err, "name a branch with --branch")
	}
	head, config := "ref: refs/heads/"+d.Branch+"\n", fmt.Sprintf(configuration, d.url)
	if _, err := os.Lstat(d.Clone()); err == nil {
		if err := d.own(config); err != nil {
			return err
		}
		return d.ofBranch(head)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	fresh := d.File("registry.git.new")
	for _, sub := range []string{"objects/pack", "objects/info", "refs/heads", "refs/remotes/origin",
		"refs/rewritten"} {
		if err := os.MkdirAll(filepath.Join(fresh, sub), 0o777); err != nil {
			return err
		}
	}
	for name, text := range map[string]string{"HEAD": head, "config": config} {
		if err := atomicfile.Write(filepath.Join(fresh, name), []byte(text), 0o666); err != nil {
			return err
		}
	}
	if err := os.Rename(fresh, d.Clone()); err != nil {
		return err
	}
	return atomicfile.SyncDirectory(d.Path)
}

// own checks that the clone is a mirror of the URL, or of the one that the registry had. It writes a damaged
// configuration again: one that cannot be read, or that names another URL than the checkpoint.
func (d *Dir) own(config string) error {
	path := filepath.Join(d.Clone(), "config")
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	d.from = ""
	if string(text) == config {
		return nil
	}
	is, readable := gitstore.RemoteURL(d.Clone())
	last, none := checkpoint.Read(d.File("checkpoint"), nil)
	known := none == nil && last.Origin == d.Registry() && last.Origin != checkpoint.Origin(is)
	if moved := d.moved(); len(moved) > 0 {
		known = known && moved[len(moved)-1].To == d.url
	}
	switch {
	case readable == nil && is == d.url:
	case readable == nil && is != "" && d.was != "" && SamePeer(is, d.was):
		d.from = is
		return nil
	case readable == nil && is != "" && !known:
		return remedy.Errorf("name another directory; if the registry moved, give --moved-from "+plain.ShellWord(is),
			"%q is the mirror of %q", d.Path, is)
	case !known && !d.hasBranch(d.Branch):
		return remedy.Errorf("name another directory", "%q has a registry.git that is not a mirror's", d.Path)
	}
	if err := atomicfile.Write(path, []byte(config), 0o666); err != nil {
		return err
	}
	d.repaired("config", "it is not the configuration of a mirror of "+d.url)
	return nil
}

// moved returns the moves of the registry that the state has; none if it cannot be read.
func (d *Dir) moved() []mirrorstate.Move {
	s, err := mirrorstate.Read(d.Path)
	if err != nil {
		return nil
	}
	return s.Moved
}

// Registry returns the name of the registry: its first URL without scheme.
func (d *Dir) Registry() string {
	first := cmp.Or(d.from, d.url)
	if moved := d.moved(); len(moved) > 0 {
		first = moved[0].From
	}
	return checkpoint.Origin(first)
}

// ofBranch checks that HEAD names the branch. It is written again if it is damaged: the clone has that branch, and none
// that HEAD names.
func (d *Dir) ofBranch(head string) error {
	path := filepath.Join(d.Clone(), "HEAD")
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) || string(text) == head {
		return err
	}
	name, isRef := strings.CutPrefix(strings.TrimSuffix(string(text), "\n"), "ref: refs/heads/")
	if isRef && gitstore.CheckRefName("refs/heads/"+name) == nil && (d.hasBranch(name) || !d.hasBranch(d.Branch)) {
		return remedy.Errorf("name another directory, or the same --branch",
			"%q is the mirror of another branch: its HEAD is %q", d.Path, text)
	}
	if err := atomicfile.Write(path, []byte(head), 0o666); err != nil {
		return err
	}
	d.repaired("HEAD", fmt.Sprintf("it is %.80q; expected %q", text, head))
	return nil
}

// hasBranch reports whether a branch was verified or served.
func (d *Dir) hasBranch(name string) bool {
	for _, ref := range []string{"refs/heads/", "refs/remotes/origin/"} {
		if _, err := os.Lstat(filepath.Join(d.Clone(), filepath.FromSlash(ref+name))); err == nil {
			return true
		}
		if id, err := d.packedRef(ref + name); err == nil && id != "" {
			return true
		}
	}
	return false
}

func (d *Dir) verifiedRef() string { return "refs/heads/" + d.Branch }
func (d *Dir) servedRef() string   { return "refs/remotes/origin/" + d.Branch }

// ref returns the commit that a ref of the clone names, or "" if the ref does not exist.
func (d *Dir) ref(name string) (string, error) {
	text, err := os.ReadFile(filepath.Join(d.Clone(), filepath.FromSlash(name)))
	if errors.Is(err, fs.ErrNotExist) {
		return d.packedRef(name)
	}
	if err != nil {
		return "", err
	}
	id, err := gitobject.ParseID(strings.TrimSuffix(string(text), "\n"))
	if err != nil {
		return "", fmt.Errorf("reading %s of the mirror: %w", name, err)
	}
	return id.String(), nil
}

// packedRef is ref for a ref without a file: an operator's git pack-refs leaves none.
func (d *Dir) packedRef(name string) (string, error) {
	id, err := gitstore.PackedRef(d.Clone(), name, idSize)
	switch {
	case errors.Is(err, gitstore.ErrNotFound), errors.Is(err, fs.ErrNotExist):
		return "", nil
	case err != nil:
		return "", fmt.Errorf("reading %s of the mirror: %w", name, err)
	}
	return id.String(), nil
}

// setRef has a ref name a commit.
func (d *Dir) setRef(name, id string) error {
	if now, err := d.ref(name); err == nil && now == id {
		return nil
	}
	path := filepath.Join(d.Clone(), filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return Local(err)
	}
	if err := atomicfile.Write(path, []byte(id+"\n"), 0o666); err != nil {
		return Local(err)
	}
	return Local(atomicfile.SyncDirectory(filepath.Dir(path)))
}

// admit moves a pack from the quarantine into the clone, which finds it by its index.
func (d *Dir) admit(pack string) error {
	into := d.packs()
	for _, end := range []string{".pack", ".idx"} {
		if err := os.Rename(pack+end, filepath.Join(into, filepath.Base(pack)+end)); err != nil {
			return Local(err)
		}
		if err := atomicfile.SyncDirectory(into); err != nil {
			return Local(err)
		}
	}
	return nil
}

// keepRewritten keeps the tip before a rewrite permanently, unless as many are kept as may be: the report says so.
func (d *Dir) keepRewritten(id string) error {
	dir := filepath.Join(d.Clone(), "refs", "rewritten")
	if _, err := os.Lstat(filepath.Join(dir, id)); err == nil {
		return nil
	}
	kept, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if len(kept) >= maxRewritten {
		d.Warnings = append(d.Warnings, verdict.Finding{Severity: verdict.Warning, Code: "rewritten-not-kept",
			Commit: id,
			Message: fmt.Sprintf("the tip %s before a rewrite is not kept: refs/rewritten has %d; expected at most %d",
				id, len(kept), maxRewritten),
			Fix: "look at what the origin served; remove refs of refs/rewritten that you need no longer"})
		return nil
	}
	return d.setRef("refs/rewritten/"+id, id)
}

// Size returns the bytes of the files of the mirror.
func (d *Dir) Size() (total int64, err error) {
	err = filepath.WalkDir(d.Path, func(_ string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		info, err := e.Info()
		if err == nil {
			total += info.Size()
		}
		return err
	})
	return total, err
}
