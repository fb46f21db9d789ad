package mirrorcmd

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/foreign"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/frame"
	"github.com/openagentprotocol-OAP/oap-gate/internal/git/checkpoint"
	"github.com/openagentprotocol-OAP/oap-gate/internal/judge"
	"github.com/openagentprotocol-OAP/oap-gate/internal/mirror"
	"github.com/openagentprotocol-OAP/oap-gate/internal/mirror/mirrorstate"
	"github.com/openagentprotocol-OAP/oap-gate/internal/report"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict/capped"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// mirrorRun is how one run of a mirror ended.
type mirrorRun struct {
	rep   *report.Counted // nil: it came to no verdict
	err   error           // why it came to none
	fresh int             // commits that came after the tip that was verified before
	took  time.Duration
}

// measured runs once and writes the metrics, whatever the end of the run is. A run that a signal ended leaves them as
// they are: it did not come to its end.
func (o *mirrorOptions) measured(ctx context.Context, sys frame.IO, dir *mirror.Dir) mirrorRun {
	begun := o.Now()
	started := time.Now()
	before, _, _ := o.verified(ctx, dir) // the run itself says what is wrong
	rep, err := o.once(ctx, sys, dir)
	run := mirrorRun{err: ofMirror(err)}
	if err == nil {
		run.rep = report.Count(rep)
		run.fresh = max(0, rep.History.Commits-before)
	}
	run.took = time.Since(started)
	if ctx.Err() != nil {
		return run
	}
	if err := o.measure(ctx, dir, run, begun); err != nil {
		run.err = errors.Join(run.err, err)
		if run.rep != nil {
			run.err = errors.Join(run.err, run.rep.Results.Close())
			run.rep = nil
		}
	}
	return run
}

// ofMirror returns an error whose fix names what a mirror has: no flag that only an audit has.
func ofMirror(err error) error {
	e, ok := errors.AsType[remedy.Fixer](err)
	switch {
	case errors.Is(err, judge.ErrNoRegistry):
		return remedy.Errorf("name the URL of a registry, or its branch with --branch", "%w", err)
	case !ok:
		return err
	}
	fix := e.Fix()
	for _, only := range []struct{ audit, mirror string }{
		{"; or --only consistency, which compares and writes nothing", ""},
		{", or another file", ", or name another directory"},
		{"name directories that can be written with --cache and --archive, and a PEM file with --ca-cert",
			"name a directory that can be written, and a PEM file with --ca-cert"},
	} {
		fix = strings.ReplaceAll(fix, only.audit, only.mirror)
	}
	if fix == e.Fix() {
		return err
	}
	return remedy.Errorf(fix, "%w", err)
}

// maxMetrics caps the metrics of the run before.
const maxMetrics = 4 << 20

// measure writes the metrics of a run.
func (o *mirrorOptions) measure(ctx context.Context, dir *mirror.Dir, run mirrorRun, begun time.Time) error {
	a := &report.Attempt{At: begun, Took: run.took, Watch: o.watch}
	path := dir.File("metrics.prom")
	var err error
	if a.Before, err = capped.ReadFile(path, maxMetrics); err != nil {
		a.Before = nil // there is no file yet, or none of a mirror: the counters begin again
	}
	counted := run.rep
	if counted != nil {
		a.ExitStatus, a.Codes, a.Served = counted.Verdict.ExitStatus(), counted.ErrorCodes(), counted.History.Commits
	} else {
		failed := o.empty()
		failed.Origin, failed.Verdict = o.origin, verdict.Errored
		counted = report.Count(failed)
		a.ExitStatus, a.Codes = withoutVerdict(run.err).ExitStatus(), []string{codeOf(run.err)}
	}
	a.Verified, a.VerifiedTime, _ = o.verified(ctx, dir) // what is wrong with the clone ended the run, which says so
	if state, err := mirrorstate.Read(dir.Path); err == nil {
		a.Rewrites, a.Repaired = state.Rewritten.Count, state.Repaired.Count
		if tip, err := dir.Verified(); err == nil && state.Of(tip) != nil {
			a.Fresh = state.Of(tip).FreshAt
		}
	}
	if a.Disk, err = dir.Size(); err != nil {
		return fmt.Errorf("measuring the mirror's directory: %w", err)
	}
	opts := o.Options()
	opts.Attempt = a
	if err := counted.WriteFile(path, "prometheus", opts); err != nil {
		return mirror.Local(fmt.Errorf("writing metrics.prom: %w", err))
	}
	return nil
}

// verified returns the number of first-parent commits of the verified tip and its committer date; 0 while none is
// verified, and with an error. The checkpoint has the number, unless the branch could not follow it.
func (o *mirrorOptions) verified(ctx context.Context, dir *mirror.Dir) (int, time.Time, error) {
	tip, err := dir.Verified()
	if err != nil || tip == "" {
		return 0, time.Time{}, err
	}
	repo, err := registry.Open(dir.Clone())
	if err != nil {
		return 0, time.Time{}, err
	}
	defer repo.Close()
	c, err := repo.Commit(ctx, tip)
	if err != nil {
		return 0, time.Time{}, err
	}
	if last, err := checkpoint.Read(o.checkpoint, nil); err == nil && last.Tip == tip {
		return last.Size, c.When, nil
	}
	chain, err := repo.FirstParents(ctx, "", tip)
	return len(chain), c.When, err
}

// codeOf returns the code of an error that ended a run.
func codeOf(err error) string {
	if code := remedy.CodeOf(err); code != "" {
		return code
	}
	if withoutVerdict(err) == verdict.Inconclusive {
		return "origin-unavailable"
	}
	return "error"
}

// String returns the line of a run: its end with the first check and code that decided it, what is new, and how long it
// took.
func (r mirrorRun) String() string {
	took := fmt.Sprintf("%.1f s", r.took.Seconds())
	if r.rep == nil {
		message := r.err.Error()
		if errors.Is(r.err, context.Canceled) {
			message = "interrupted, before there was a verdict"
		}
		if code := remedy.CodeOf(r.err); code != "" && !strings.Contains(message, code) {
			message += " [" + code + "]"
		}
		return fmt.Sprintf("%s: %s; %s", withoutVerdict(r.err), foreign.Line(message), took)
	}
	line := string(r.rep.Verdict)
	if why := r.rep.Decided(); why != "" {
		line += " " + why
	}
	return fmt.Sprintf("%s: %s, %s, %s; head %s", line, plain.Count(r.fresh, "new commit"),
		plain.Count(r.rep.History.Commits, "commit"), took, r.rep.Head)
}
