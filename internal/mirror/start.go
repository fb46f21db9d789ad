package mirror

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/git/checkpoint"
	"github.com/openagentprotocol-OAP/oap-gate/internal/git/gitstore"
	"github.com/openagentprotocol-OAP/oap-gate/internal/mirror/mirrorstate"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// goodCopy is the fix of a checkpoint that is damaged.
const goodCopy = "put a good copy of the checkpoint back, or remove it: the mirror's branch then counts as last " +
	"verified, and all is judged again"

// damaged returns the error of a checkpoint that proves nothing. It accuses nobody: a disk or a hand did it.
func damaged(file, fix, reason string) error {
	return remedy.Coded("checkpoint-damaged", fix, "the checkpoint %q is damaged: %s", file, reason)
}

// Load reads the state for a run, and looks at the files of the clone that say whose it is.
func (d *Dir) Load(now time.Time) error {
	var early mirrorstate.Repaired
	if d.loaded {
		d.Warnings = nil
	} else if d.State != nil { // nil: the run before could not read it either
		early = d.State.Repaired // of opening the directory, before any state was read
	}
	d.now, d.refetched = now, false
	if err := d.readState(); err != nil {
		return err
	}
	d.loaded = true
	for _, r := range early.Last {
		r.At = now.UTC()
		d.State.Repaired.Add(r)
	}
	return Local(d.make())
}

// Start verifies the checkpoint and brings the branch to what was verified last; Load comes before it. Nothing moves
// before the checkpoint is verified. The errors have the codes checkpoint-damaged, checkpoint-diverged, clone-damaged
// and local-write; others are of objects that the clone lacks.
func (d *Dir) Start(ctx context.Context, c Checkpoint) error {
	last, err := c.verified()
	if err != nil {
		return err
	}
	ref, unreadable := d.ref(d.verifiedRef())
	repo, err := registry.OpenAt(d.Clone())
	if err != nil {
		return err
	}
	defer repo.Close()
	if ref != "" {
		_, unreadable = repo.Commit(ctx, ref)
	}
	if last == nil {
		if ref == "" && unreadable != nil {
			return cloneDamaged("put back a backup of the directory, or remove "+d.verifiedRef()+" in it to begin "+
				"again", "%w, and there is no checkpoint", unreadable)
		}
		d.State.Verified = ref
		return unreadable
	}
	if unreadable != nil && ref != last.Tip { // then the ref is damaged, unless it is the object
		if ref != "" && !d.refetched {
			return unreadable
		}
		d.repaired(d.verifiedRef(), unreadable.Error())
		ref = ""
	}
	switch reason, err := contradiction(ctx, repo, last); {
	case errors.Is(err, gitstore.ErrNotFound) && last.Tip != ref: // else the clone lacks an object
		return damaged(c.File, goodCopy, fmt.Sprintf("the clone has no commit %s, its tip", last.Tip))
	case err != nil:
		return err
	case reason != "":
		return damaged(c.File, goodCopy, reason)
	}
	to, err := d.branchOf(ctx, repo, c, last, ref)
	if err != nil {
		return err
	}
	if to != ref {
		if err := d.SetVerified(to); err != nil {
			return err
		}
	}
	d.State.Verified = to
	return nil
}

// verified reads the checkpoint with its signature, or returns nil if the file does not exist.
func (c Checkpoint) verified() (*checkpoint.Checkpoint, error) {
	c.Moves = true
	v := &Verified{named: c}
	err := v.open()
	if errors.Is(err, checkpoint.ErrMalformed) || errors.Is(err, checkpoint.ErrUnverified) {
		return nil, damaged(c.File, goodCopy, err.Error())
	}
	if _, missing := os.Stat(c.File); err == nil && v.Last == nil && missing == nil {
		return nil, damaged(c.File, goodCopy, "it is empty")
	}
	return v.Last, err
}

// contradiction returns how a checkpoint contradicts itself, empty if it does not: its root is that of its tip and the
// trees of the tip, and its size the number of first-parent commits. The error is gitstore.ErrNotFound if the clone
// lacks the tip.
func contradiction(ctx context.Context, repo *registry.Repository, last *checkpoint.Checkpoint) (string, error) {
	trees, err := treesOf(ctx, repo, last.Tip)
	if err != nil {
		return "", err
	}
	if !last.Is(last.Tip, trees) {
		return fmt.Sprintf("its root is not that of its tip %s", last.Tip), nil
	}
	chain, err := repo.FirstParents(ctx, "", last.Tip)
	if err == nil && len(chain) != last.Size {
		return fmt.Sprintf("its size is %d; expected %d, the first-parent commits of %s", last.Size, len(chain),
			last.Tip), nil
	}
	return "", err
}

// branchOf returns the commit that the branch must name, by the checkpoint and by what it names now.
func (d *Dir) branchOf(ctx context.Context, repo *registry.Repository, c Checkpoint, last *checkpoint.Checkpoint,
	ref string) (string, error) {
	if ref == "" || ref == last.Tip { // none: killed before the first move
		return last.Tip, nil
	}
	if up, err := reached(ctx, repo, ref, last.Tip); err != nil || up {
		return last.Tip, err
	}
	if behind, err := reached(ctx, repo, last.Tip, ref); err != nil {
		return "", err
	} else if behind {
		d.Warnings = append(d.Warnings, verdict.Finding{Severity: verdict.Warning, Code: "checkpoint-behind",
			Commit: ref,
			Message: fmt.Sprintf("the checkpoint is of %s, which the mirror's branch at %s is ahead of; expected the "+
				"same commit: what is between them is judged again", last.Tip, ref),
			Fix: "none needed if a backup of the checkpoint was put back: this run writes it again"})
		return ref, nil
	}
	taken, err := c.took(ctx, repo, last, ref)
	if err != nil {
		return "", err
	}
	if !taken {
		return "", remedy.Coded("checkpoint-diverged",
			"keep both, and compare them with another mirror; put the checkpoint back that belongs to the branch",
			"the checkpoint is of %s and the mirror's branch is at %s; expected one to descend from the other by "+
				"first parents", last.Tip, ref)
	}
	return last.Tip, nil
}

// took reports whether the checkpoint's tip is a rewrite of the branch that the present file of accepted findings
// takes, and that was verified with this file.
func (c Checkpoint) took(ctx context.Context, repo *registry.Repository, last *checkpoint.Checkpoint,
	ref string) (bool, error) {
	if c.Accepted == nil || last.Accepted != c.acceptedSHA256() {
		return false, nil
	}
	for _, l := range c.Accepted.Lines {
		if !TakesRewrite(l) {
			continue
		}
		came, err := reached(ctx, repo, l.Commit, last.Tip)
		if err != nil {
			return false, err
		}
		was, err := reached(ctx, repo, l.Commit, ref)
		if err != nil || came && !was {
			return came && !was, err
		}
	}
	return false, nil
}

// readState reads state.json, or what report.json says of the tip if there is no state that can be read.
func (d *Dir) readState() error {
	s, err := mirrorstate.Read(d.Path)
	damage := remedy.CodeOf(err) == "mirror-state"
	if err != nil && !damage && !errors.Is(err, fs.ErrNotExist) {
		d.State = nil
		return err
	}
	if d.State = s; err == nil {
		return nil
	}
	d.State = &mirrorstate.State{}
	if ref, _ := d.ref(d.verifiedRef()); ref != "" { // damage of the branch is looked at later
		if v, err := mirrorstate.FromReport(d.Path, ref); err == nil {
			d.State.Put(mirrorstate.Tip{Tip: ref, FreshAt: v.FreshAt, Refused: v.Refused})
		}
	}
	if damage {
		d.repaired(mirrorstate.File, err.Error())
	}
	return nil
}

// Refused returns the records that were refused of what was verified last and have the same bytes at a commit.
func (d *Dir) Refused(ctx context.Context, head string) (paths []string, err error) {
	last := d.State.Of(d.State.Verified)
	if last == nil {
		return nil, nil
	}
	repo, err := registry.OpenAt(d.Clone())
	if err != nil {
		return nil, err
	}
	defer repo.Close()
	var at [2]*registry.Tree
	for i, tip := range []string{last.Tip, head} {
		if at[i], err = repo.Tree(ctx, tip); err != nil {
			return nil, err
		}
	}
	for _, path := range last.Refused {
		was, _, err := at[0].Entry(path)
		if err != nil {
			return nil, err
		}
		if is, _, err := at[1].Entry(path); err != nil {
			return nil, err
		} else if is.ID == was.ID {
			paths = append(paths, path)
		}
	}
	return paths, nil
}

// Attempted records a run that verified nothing new.
func (d *Dir) Attempted(now time.Time) error {
	if d.State == nil {
		return nil // the start could not read it, and it is not replaced
	}
	d.State.LastAttempt = now.UTC()
	return Local(d.State.Write(d.Path))
}

// Judged records what a run found of the head before the checkpoint and the branch move: whether it holds, so that they
// will, and which records are refused. Errors have the code local-write.
func (d *Dir) Judged(now time.Time, rep *verdict.Report, holds bool) error {
	now = now.UTC()
	s := d.State
	s.LastAttempt = now
	if rep.Verdict == verdict.Passed {
		s.LastSuccess = now
	}
	ref, err := d.ref(d.verifiedRef())
	if err != nil {
		return err
	}
	switch known := s.Of(rep.Head); {
	case holds:
		s.Verified = rep.Head
		s.Put(mirrorstate.Tip{Tip: rep.Head, FreshAt: now, Refused: rep.Refused})
	case known != nil:
		known.Refused = rep.Refused
	}
	s.Keep(ref, s.Verified)
	return Local(s.Write(d.Path))
}

// Local returns err as local-write if a file of the directory could not be written, which is not a fault of the origin.
func Local(err error) error {
	if err == nil || remedy.CodeOf(err) != "" || !IsLocal(err) {
		return err
	}
	return remedy.Coded("local-write",
		"free space on its disk, and let the user who runs oap-gate write to the directory",
		"writing the directory of the mirror: %w", err)
}

// IsLocal reports whether err comes from a file of this machine.
func IsLocal(err error) bool {
	path, link, errno := (*fs.PathError)(nil), (*os.LinkError)(nil), syscall.Errno(0)
	return errors.As(err, &path) || errors.As(err, &link) ||
		errors.As(err, &errno) && (errno == syscall.ENOSPC || errno == syscall.EROFS)
}
