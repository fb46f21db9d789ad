package mirror

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/atomicfile"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/git/gitobject"
	"github.com/openagentprotocol-OAP/oap-gate/internal/git/gitstore"
	"github.com/openagentprotocol-OAP/oap-gate/internal/git/indexpack"
	"github.com/openagentprotocol-OAP/oap-gate/internal/git/peer"
	"github.com/openagentprotocol-OAP/oap-gate/internal/mirror/mirrorstate"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

const idSize = 20 // bytes of an id in a mirror's clone

// Reverify says when every stored object is hashed again.
type Reverify struct {
	Every time.Duration // after the last complete pass; 0: never
	All   bool          // in this run
	// Busy is called when a pass begins and when it ends or stops; it may be nil.
	Busy func(bool)
}

// repaired records a repair, for the state and for the report of the run. Both are served: absolute paths of this
// machine are removed from the reason.
func (d *Dir) repaired(what, reason string) {
	reason = withoutPaths(strings.ReplaceAll(reason, d.Path, "DIR"))
	d.repairs++
	d.State.Repaired.Add(mirrorstate.Repair{At: d.now.UTC(), What: what, Reason: reason})
	d.Warnings = append(d.Warnings, verdict.Finding{Severity: verdict.Warning, Code: "clone-repaired",
		Message: fmt.Sprintf("%s of the mirror was damaged and is repaired: %s", what, reason),
		Fix:     "check the disk if it happens again"})
}

// cloneDamaged returns the error of a clone that lost something. It accuses nobody.
func cloneDamaged(fix, format string, args ...any) error {
	return remedy.Coded("clone-damaged", fix, "the clone is damaged: "+format, args...)
}

// anotherClone is the fix for a mirror that lost an object.
const anotherClone = "run again when the origin can be reached; else put back a backup of the directory, or name an " +
	"empty one, and compare its tip with another mirror"

// IsDamage reports whether err says that an object of a clone is missing or damaged.
func IsDamage(err error) bool {
	return errors.Is(err, gitstore.ErrNotFound) || errors.Is(err, gitobject.ErrCorrupt)
}

// Repair checks the files that the mirror stores, in each run the trailer and index of every pack, and when it is due
// every object, and repairs what is damaged. What is missing is fetched again; no branch moves. Load comes before it.
func (d *Dir) Repair(ctx context.Context, o Origin, r Reverify) error {
	err := d.repair(ctx, o, r)
	if d.repairs > 0 && remedy.CodeOf(err) != "local-write" {
		d.repairs = 0
		err = errors.Join(err, Local(d.State.Write(d.Path)))
	}
	return err
}

func (d *Dir) repair(ctx context.Context, o Origin, r Reverify) error {
	bad, err := d.checkPacks(ctx)
	if err != nil {
		return err
	}
	last := d.State.ReverifiedAt // ahead of now if a clock was wrong: that would put the next pass off
	due := r.All || d.State.Pass != nil || r.Every > 0 && (last.After(o.Now) || o.Now.Sub(last) >= r.Every)
	if empty, err := d.isEmpty(); err != nil {
		return err
	} else if empty {
		d.State.ReverifiedAt, d.State.Pass, due = o.Now.UTC(), nil, false
	}
	if due {
		if r.Busy != nil {
			r.Busy(true)
			defer r.Busy(false)
		}
		more, err := d.hashPacks(ctx, o.Now, bad)
		if err != nil {
			return err
		}
		bad = append(bad, more...)
	}
	if len(bad) > 0 {
		if err := d.replace(ctx, o, bad); err != nil {
			return err
		}
	}
	if due || len(bad) > 0 {
		if err := d.complete(ctx, o); err != nil {
			return err
		}
	}
	if due {
		d.State.ReverifiedAt, d.State.Pass = o.Now.UTC(), nil
	}
	return d.checkRefs(ctx)
}

func (d *Dir) isEmpty() (bool, error) {
	packs, err := filepath.Glob(filepath.Join(d.packs(), "*.pack"))
	if err != nil || len(packs) > 0 {
		return false, err
	}
	loose, err := indexpack.LooseIDs(d.objects(), idSize)
	return len(loose) == 0, err
}

func (d *Dir) objects() string { return filepath.Join(d.Clone(), "objects") }

// checkPacks checks each pack against its trailer and its index. It rebuilds an index from its pack, and returns the
// packs that are damaged.
func (d *Dir) checkPacks(ctx context.Context) (bad []indexpack.Fault, err error) {
	faults, err := indexpack.Faults(ctx, d.objects(), idSize)
	if err != nil {
		return nil, err
	}
	for _, f := range faults {
		if f.Pack == nil {
			if f.Pack, err = d.hashPack(ctx, f.Path); err != nil {
				return nil, err
			}
		}
		if f.Pack != nil {
			bad = append(bad, f)
		}
	}
	return bad, nil
}

// hashPacks hashes every object of each pack that the pass has not done yet, and the loose ones. It returns the packs
// that are damaged, except those that are known to be.
func (d *Dir) hashPacks(ctx context.Context, now time.Time, known []indexpack.Fault) (bad []indexpack.Fault,
	err error) {
	if d.State.Pass == nil {
		d.State.Pass = &mirrorstate.Pass{Begun: now.UTC(), Packs: []string{}}
	}
	packs, err := filepath.Glob(filepath.Join(d.packs(), "pack-*.pack"))
	if err != nil {
		return nil, err
	}
	for _, file := range packs {
		path := strings.TrimSuffix(file, ".pack")
		name := filepath.Base(path)
		if slices.Contains(d.State.Pass.Packs, name) ||
			slices.ContainsFunc(known, func(f indexpack.Fault) bool { return f.Path == path }) {
			continue
		}
		switch reason, err := d.hashPack(ctx, path); {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err != nil:
			return nil, err
		case reason != nil:
			bad = append(bad, indexpack.Fault{Path: path, Pack: reason})
			continue
		}
		d.State.Pass.Packs = append(d.State.Pass.Packs, name)
		if err := d.State.Write(d.Path); err != nil {
			return nil, Local(err)
		}
	}
	return bad, d.hashLoose(ctx)
}

// hashPack makes every object of a pack and names it, and compares the index that this gives with the one that is
// there, which is replaced if it differs. The reason says why the pack is damaged.
func (d *Dir) hashPack(ctx context.Context, path string) (reason, err error) {
	if err := os.MkdirAll(d.quarantine(), 0o777); err != nil {
		return nil, Local(err)
	}
	defer os.RemoveAll(d.quarantine())
	to := filepath.Join(d.quarantine(), "hashed")
	if _, err := indexpack.Index(ctx, path+".pack", to); err != nil {
		if errors.Is(err, gitobject.ErrCorrupt) || errors.Is(err, fs.ErrNotExist) {
			return err, nil
		}
		return nil, Local(err)
	}
	right, err := os.ReadFile(to)
	if err != nil {
		return nil, err
	}
	if is, err := os.ReadFile(path + ".idx"); err == nil && bytes.Equal(is, right) {
		return nil, nil
	}
	if err := os.Rename(to, path+".idx"); err != nil {
		return nil, Local(err)
	}
	d.repaired(filepath.Base(path)+".idx", "it did not name the objects of its pack")
	return nil, Local(atomicfile.SyncDirectory(filepath.Dir(path)))
}

// hashLoose removes the loose objects that do not hash to their names: what the branch needs of them is fetched again.
func (d *Dir) hashLoose(ctx context.Context) error {
	ids, err := indexpack.LooseIDs(d.objects(), idSize)
	if err != nil || len(ids) == 0 {
		return err
	}
	for _, id := range ids {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := gitstore.CheckLoose(d.objects(), id); errors.Is(err, gitobject.ErrCorrupt) {
			if err := os.Remove(filepath.Join(d.objects(), id.String()[:2], id.String()[2:])); err != nil {
				return Local(err)
			}
			d.repaired("object "+id.String(), err.Error())
		} else if err != nil {
			return err
		}
	}
	return nil
}

// replace fetches everything again, keeps what only the damaged packs have and can still be read, and removes them.
func (d *Dir) replace(ctx context.Context, o Origin, bad []indexpack.Fault) error {
	if err := d.refetchFor(ctx, o, bad[0]); err != nil {
		return err
	}
	for _, f := range bad {
		if err := d.salvage(ctx, f); err != nil {
			return err
		}
		d.repaired(filepath.Base(f.Path)+".pack", f.Pack.Error())
	}
	return nil
}

// salvage writes the objects that only a damaged pack has as loose ones, as far as they can be read, and removes the
// pack. A pack of that name that is whole by now was fetched again, and stays.
func (d *Dir) salvage(ctx context.Context, f indexpack.Fault) error {
	reason, err := d.hashPack(ctx, f.Path)
	if err != nil && (ctx.Err() != nil || remedy.CodeOf(err) != "") || err == nil && reason == nil {
		return err
	}
	if ids, _, err := gitstore.ReadIndex(f.Path+".idx", idSize); err == nil {
		if err := d.unpack(ctx, f.Path, ids); err != nil {
			return err
		}
	}
	for _, end := range []string{".idx", ".pack"} {
		if err := os.Remove(f.Path + end); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return Local(err)
		}
	}
	return Local(atomicfile.SyncDirectory(d.packs()))
}

// unpack writes those of a pack's objects as loose ones that no other pack has.
func (d *Dir) unpack(ctx context.Context, path string, ids []gitobject.ID) error {
	store, err := gitstore.OpenAt(d.Clone())
	if err != nil {
		return err
	}
	defer store.Close()
	elsewhere := map[gitobject.ID]bool{}
	indexes, err := filepath.Glob(filepath.Join(d.packs(), "pack-*.idx"))
	if err != nil {
		return err
	}
	for _, file := range indexes {
		if file == path+".idx" {
			continue
		}
		others, _, err := gitstore.ReadIndex(file, idSize)
		if err != nil {
			return err
		}
		for _, id := range others {
			elsewhere[id] = true
		}
	}
	for _, id := range ids {
		if err := ctx.Err(); err != nil {
			return err
		}
		if elsewhere[id] {
			continue
		}
		kind, data, err := store.Read(id, indexpack.MaxObject)
		if err != nil {
			continue // lost: whether the branch needs it is looked at when all is done
		}
		name, text := indexpack.LooseText(id, kind, data)
		file := filepath.Join(d.objects(), name)
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			return Local(err)
		}
		if err := atomicfile.Write(file, text, 0o444); err != nil {
			return Local(err)
		}
	}
	return nil
}

// complete checks that the clone has every object that the verified branch reaches, and fetches all again if it lacks
// one.
func (d *Dir) complete(ctx context.Context, o Origin) error {
	tip, err := d.ref(d.verifiedRef())
	if err != nil || tip == "" {
		return nil // Start looks at a branch that is damaged
	}
	missing := d.connected(ctx, tip)
	if missing == nil || !IsDamage(missing) {
		return missing
	}
	if err := d.refetchFor(ctx, o, missing); err != nil {
		return err
	}
	if err := d.connected(ctx, tip); err != nil {
		if IsDamage(err) {
			return cloneDamaged(anotherClone, "%w; the origin does not serve it again", err)
		}
		return err
	}
	d.repaired(lost(missing), missing.Error())
	return nil
}

// lost names what an error of a clone says is missing or damaged.
func lost(err error) string {
	if e, ok := errors.AsType[*gitstore.Error](err); ok && e.Object != "" {
		return "object " + e.Object
	}
	return "an object"
}

func (d *Dir) connected(ctx context.Context, tip string) error {
	repo, err := registry.OpenAt(d.Clone())
	if err != nil {
		return err
	}
	defer repo.Close()
	return repo.Connected(ctx, tip)
}

// Damaged returns clone-damaged if the verified branch lacks an object, else err. It is for an error of a run that a
// complete fetch did not help.
func (d *Dir) Damaged(ctx context.Context, err error) error {
	tip, refErr := d.ref(d.verifiedRef())
	if refErr != nil || tip == "" || !IsDamage(d.connected(ctx, tip)) {
		return err
	}
	return cloneDamaged(anotherClone, "%w; the origin does not serve it again", err)
}

// LeftOut returns Damaged, and the fix of an origin that does not serve an object that its own branch needs.
func (d *Dir) LeftOut(ctx context.Context, err error) error {
	damaged := d.Damaged(ctx, err)
	e, ok := errors.AsType[*gitstore.Error](err)
	if !ok || remedy.CodeOf(damaged) != "" {
		return damaged
	}
	if _, notObject := gitobject.ParseID(e.Object); notObject != nil {
		return damaged
	}
	return remedy.Errorf("have the origin serve a repository that `git fsck` accepts, not a shallow or partial clone; "+
		"or mirror another copy of the registry into an empty directory", "%w; the origin leaves it out", err)
}

// Refetched fetches everything again because of an error that says what was missing, which is recorded.
func (d *Dir) Refetched(ctx context.Context, o Origin, missing error) error {
	if err := d.Refetch(ctx, o); err != nil {
		return err
	}
	store, err := gitstore.OpenAt(d.Clone())
	if err != nil {
		return err
	}
	defer store.Close()
	if e, ok := errors.AsType[*gitstore.Error](missing); ok {
		if id, err := gitobject.ParseID(e.Object); err == nil && store.Has(id) {
			d.repaired(lost(missing), missing.Error())
		}
	}
	return nil
}

// refetchFor is Refetch because of damage, which the error of an origin that does not serve all again names.
func (d *Dir) refetchFor(ctx context.Context, o Origin, damage error) error {
	err := d.Refetch(ctx, o)
	if err == nil || ctx.Err() != nil || remedy.CodeOf(err) == "local-write" {
		return err
	}
	return cloneDamaged(anotherClone, "%w; fetching it again: %w", damage, err)
}

// Refetch fetches all that the origin serves into the clone, and relies on nothing that is there. No ref moves.
func (d *Dir) Refetch(ctx context.Context, o Origin) error {
	f, err := d.fetch(ctx, o, "", false)
	if err != nil {
		return err
	}
	defer os.RemoveAll(d.quarantine())
	if _, err := d.look(ctx, f.Tip, "", ""); err != nil {
		return err
	}
	d.refetched = true
	return d.admit(f.Pack)
}

// fetch brings what the origin serves into the quarantine: what the clone lacks, if it may rely on the clone, else all.
func (d *Dir) fetch(ctx context.Context, o Origin, before string, rely bool) (*peer.Fetched, error) {
	source, err := d.source(o, before, rely)
	if err != nil {
		return nil, err
	}
	if err := d.isolate(rely); err != nil {
		return nil, Local(err)
	}
	f, err := peer.Fetch(ctx, source, filepath.Join(d.quarantine(), "objects", "pack"))
	if errors.Is(err, peer.ErrTooLarge) && source.MaxPack < peer.MaxPack {
		err = fmt.Errorf("%w: %w", ErrFull, err)
	}
	if err != nil {
		return nil, errors.Join(Local(err), os.RemoveAll(d.quarantine()))
	}
	return f, nil
}

// checkRefs writes refs again that are damaged: what the origin served last is fetched again, and a tip before a
// rewrite has its id in its name.
func (d *Dir) checkRefs(ctx context.Context) error {
	repo, err := registry.OpenAt(d.Clone())
	if err != nil {
		return err
	}
	defer repo.Close()
	has := func(id string) bool { _, err := repo.Commit(ctx, id); return id != "" && err == nil }
	served := filepath.Join(d.Clone(), filepath.FromSlash(d.servedRef()))
	if _, err := os.Lstat(served); err == nil {
		if id, err := d.ref(d.servedRef()); err != nil || !has(id) {
			if err := os.RemoveAll(served); err != nil {
				return Local(err)
			}
			d.repaired(d.servedRef(), "it does not name a commit that the clone has")
		}
	}
	dir := filepath.Join(d.Clone(), "refs", "rewritten")
	kept, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, e := range kept {
		name := "refs/rewritten/" + e.Name()
		id, err := d.ref(name)
		if err == nil && id == e.Name() && has(id) {
			continue
		}
		if _, err := gitobject.ParseID(e.Name()); err == nil && has(e.Name()) {
			if err := d.setRef(name, e.Name()); err != nil {
				return err
			}
			d.repaired(name, "it did not name its commit")
			continue
		}
		if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
			return Local(err)
		}
		d.repaired(name, "the clone does not have its commit: it was dropped")
	}
	return nil
}

// cloneAnew is the fix of an audited clone that is damaged.
const cloneAnew = "run `git fsck`, then clone the registry again"

// CheckPacks checks each pack of an audited clone against its trailer and its index, and writes nothing. The error has
// the code clone-damaged.
func CheckPacks(ctx context.Context, repo *registry.Repository) error {
	store := repo.Store()
	for _, dir := range store.ObjectDirs() {
		faults, err := indexpack.Faults(ctx, dir, store.IDSize())
		if err != nil {
			return &gitstore.Error{Op: "reading", Object: dir, Err: err}
		}
		if len(faults) > 0 {
			return cloneDamaged(cloneAnew, "%w", faults[0])
		}
	}
	return nil
}

// CheckObjects checks that each object of an audited clone hashes to its id, and that the clone has all that the head
// reaches. It writes nothing. The error has the code clone-damaged.
func CheckObjects(ctx context.Context, repo *registry.Repository, head string) error {
	err := indexpack.HashAll(ctx, repo.Store())
	if err == nil {
		err = repo.Connected(ctx, head)
	}
	if IsDamage(err) {
		return cloneDamaged(cloneAnew, "%w", err)
	}
	return err
}

// CorruptClone returns an error that comes from damaged bytes of an audited clone with the code clone-damaged, and
// other errors as they are.
func CorruptClone(err error) error {
	if errors.Is(err, gitobject.ErrCorrupt) && remedy.CodeOf(err) == "" {
		return cloneDamaged(cloneAnew, "%w", err)
	}
	return err
}
