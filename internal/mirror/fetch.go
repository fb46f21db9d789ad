package mirror

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/checks"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/atomicfile"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence/live"
	"github.com/openagentprotocol-OAP/oap-gate/internal/git/peer"
	"github.com/openagentprotocol-OAP/oap-gate/internal/mirror/mirrorstate"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// ErrFull: the mirror holds as much as it may, and nothing more is fetched.
var ErrFull = errors.New("the mirror is full")

// Origin is the registry that is mirrored.
type Origin struct {
	URL     string
	Live    live.Options // how it is reached
	MaxDisk int64        // bytes of the mirror's directory
	Now     time.Time    // the run's time
}

// Verified returns the commit that was verified last, or "" if none was.
func (d *Dir) Verified() (string, error) { return d.ref(d.verifiedRef()) }

// SetVerified has the clone show a commit. What the checkpoint holds is written before.
func (d *Dir) SetVerified(id string) error { return d.setRef(d.verifiedRef(), id) }

// Fetch fetches what the origin serves into the clone and returns its tip. Errors: ErrFull, those of package peer, and
// those for a tip that is not a commit.
func (d *Dir) Fetch(ctx context.Context, o Origin) (string, error) {
	before, err := d.ref(d.servedRef())
	if err != nil {
		return "", err
	}
	f, err := d.fetch(ctx, o, before, true)
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(d.quarantine())
	if err := d.serve(ctx, f, before, o.Now); err != nil {
		return "", err
	}
	d.State.Fetched = f.Tip
	if isElsewhere(o.URL, f.URL) {
		d.Warnings = append(d.Warnings, verdict.Finding{Severity: verdict.Warning, Code: codeOriginMoved, Commit: f.Tip,
			Message: fmt.Sprintf("the origin redirects to another repository, %.500q; expected %q", f.URL, o.URL),
			Fix: fmt.Sprintf("oap-gate mirror %s DIR --moved-from %s, if the old registry or its Maintainers name the "+
				"new URL", plain.ShellWord(f.URL), plain.ShellWord(o.URL))})
	}
	return f.Tip, d.move(o.Now)
}

// isolate makes the quarantine, which borrows the clone's objects if it is to.
func (d *Dir) isolate(borrow bool) error {
	if err := os.RemoveAll(d.quarantine()); err != nil {
		return err
	}
	objects := ""
	if borrow {
		objects = filepath.Join("..", "..", registry.MirrorClone, "objects")
	}
	return makeBare(d.quarantine(), objects)
}

// makeBare makes an empty bare repository, which borrows the objects of a directory; empty: it borrows none.
func makeBare(dir, objects string) error {
	for _, sub := range []string{"objects/pack", "objects/info", "refs/heads"} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o777); err != nil {
			return err
		}
	}
	files := map[string]string{"HEAD": "ref: refs/heads/none\n"}
	if objects != "" {
		files["objects/info/alternates"] = objects + "\n"
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			return err
		}
	}
	return nil
}

// tips returns the commits that the clone's refs name: the verified one, and what the origin served last.
func (d *Dir) tips() (tips []string, err error) {
	for _, name := range []string{d.verifiedRef(), d.servedRef()} {
		tip, err := d.ref(name)
		if err != nil {
			return nil, err
		}
		if tip != "" {
			tips = append(tips, tip)
		}
	}
	return tips, nil
}

// source says what to ask the origin for.
func (d *Dir) source(o Origin, before string, rely bool) (peer.Source, error) {
	s := peer.Source{URL: o.URL, Branch: d.Branch}
	u, err := peer.URL(o.URL)
	if err != nil {
		return s, err
	}
	if s.Transport, err = live.NewTransport(o.Live, u); err != nil {
		return s, err
	}
	size, err := d.Size()
	if err != nil {
		return s, err
	}
	if size >= o.MaxDisk {
		return s, remedy.With(fmt.Errorf("%w: %d bytes, and --max-disk allows %d", ErrFull, size, o.MaxDisk),
			"look at what the origin served, then give a larger --max-disk")
	}
	s.MaxPack = min(peer.MaxPack, o.MaxDisk-size)
	if !rely {
		return s, nil
	}
	s.Has = func(id string) bool { return id == before }
	s.Haves = d.haves
	return s, nil
}

// haves are commits that the clone has with their history; none where that is not whole, so that all of it is fetched.
func (d *Dir) haves(ctx context.Context) ([]string, error) {
	repo, err := registry.OpenAt(d.Clone())
	if err != nil {
		return nil, err
	}
	defer repo.Close()
	tips, err := d.tips()
	if err != nil {
		return nil, err
	}
	var all []string
	for _, tip := range tips {
		more, err := haves(ctx, repo, tip)
		if err != nil {
			return nil, ctx.Err()
		}
		all = append(all, more...)
	}
	return all, nil
}

// ErrRefused: the origin served what no clone may hold.
var ErrRefused = errors.New("the origin serves what is not admitted")

// serve admits what was fetched once its tip was read as a commit, and names it as what the origin serves.
func (d *Dir) serve(ctx context.Context, f *peer.Fetched, before string, now time.Time) error {
	verified, err := d.Verified()
	if err != nil {
		return err
	}
	before = cmp.Or(before, verified)
	rewritten, err := d.look(ctx, f.Tip, before, verified)
	if err != nil {
		return err
	}
	if rewritten { // first: what is lost when the ref moves is named before
		d.State.Rewritten.Add(mirrorstate.Rewrite{At: now.UTC(), From: before, To: f.Tip})
		if err := d.State.Write(d.Path); err != nil {
			return Local(err)
		}
		if err := d.keepRewritten(before); err != nil {
			return err
		}
	}
	if f.Pack != "" {
		if err := d.admit(f.Pack); err != nil {
			return err
		}
	}
	return d.setRef(d.servedRef(), f.Tip)
}

// move has the mirror take its URL, once the tip that it serves continues what was verified.
func (d *Dir) move(now time.Time) error {
	if d.from == "" {
		return nil
	}
	one := mirrorstate.Move{From: d.from, To: d.url, At: now.UTC()}
	if n := len(d.State.Moved); n == 0 || d.State.Moved[n-1].From != one.From || d.State.Moved[n-1].To != one.To {
		d.State.Moved = append(d.State.Moved, one) // else it was killed before the next line
	}
	err := d.State.Write(d.Path)
	if err == nil {
		err = atomicfile.Write(filepath.Join(d.Clone(), "config"), fmt.Appendf(nil, configuration, d.url), 0o666)
	}
	if err == nil {
		d.from = ""
	}
	return Local(err)
}

// look reads a tip in the quarantine and reports whether it leaves the history of the one before, which may be empty.
// A replica that lags behind the verified tip, and serves nothing else, rewrites nothing.
func (d *Dir) look(ctx context.Context, tip, before, verified string) (rewritten bool, err error) {
	repo, err := registry.OpenAt(d.quarantine())
	if err != nil {
		return false, err
	}
	defer repo.Close()
	if _, err := repo.Commit(ctx, tip); err != nil {
		return false, fmt.Errorf("%w: its tip: %w", ErrRefused, err)
	}
	if err := d.continues(ctx, repo, tip); err != nil || before == "" || before == tip {
		return false, err
	}
	_, err = repo.FirstParents(ctx, before, tip)
	if errors.Is(err, registry.ErrNotAncestor) {
		was, err := reached(ctx, repo, before, verified)
		if err != nil || !was {
			return !was, err
		}
		lags, err := reached(ctx, repo, tip, verified)
		return !lags, err
	}
	if err != nil {
		return false, fmt.Errorf("%w: its history: %w", ErrRefused, err)
	}
	return false, nil
}

// continues requires of a registry that moved that the verified tip is on the first-parent chain of the tip.
func (d *Dir) continues(ctx context.Context, repo *registry.Repository, tip string) error {
	verified, err := d.Verified()
	if err != nil || d.from == "" || verified == "" {
		return err
	}
	if is, err := reached(ctx, repo, verified, tip); err != nil || is {
		return err
	}
	return remedy.Coded(checks.CodeHistoryRewritten, "take the new URL from a commit of the old registry, or from its "+
		"Maintainers; the mirror is as it was", "the last verified tip %s is not in the first-parent history of %s, "+
		"which %q serves", verified, tip, d.url)
}
