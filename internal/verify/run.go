package verify

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/checks"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/crash"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/memo"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence/bundle"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence/choose"
	"github.com/openagentprotocol-OAP/oap-gate/internal/judge/replay"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/level"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/receipt"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verify/cloneage"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// RecordAgain is the remedy for a bundle that verify did not record.
const RecordAgain = "record it with oap-gate verify --record"

// The bounds of a run.
const (
	MaxRecorded = 100 // targets of a run that is recorded
	MaxInWork   = 64  // targets that are verified at once
)

// A Run verifies targets that share a source, a clone and what bears on the verdict.
type Run struct {
	Config  Config
	Now     time.Time
	Targets []Target
	Source  evidence.Source
	Clone   *registry.Repository // may be nil
	Jobs    int                  // targets at once; at most MaxInWork
	Budget  time.Duration        // for each target; 0: none
	Keep    bool                 // all observations are kept for Bundle

	flags      bundle.VerifyFlags
	unreadable map[int]error // errors of lines that are not targets, by their places among the targets
	lines      map[int]int   // lines of those targets in their file
	notReached map[string][]string
}

// Open chooses the commit of the clone in dir as check chooses its base, and reads it.
func (r *Run) Open(ctx context.Context, dir, rev string, flags *bundle.VerifyFlags) error {
	mirror, commit, how, err := Choose(ctx, r.Clone, dir, rev)
	if err != nil {
		return err
	}
	if mirror != nil {
		flags.Refused, flags.Seen = mirror.Refused, mirror.Seen
	}
	switch {
	case mirror == nil:
		if err := r.follows(commit, flags); err != nil {
			return err
		}
	case commit == mirror.Tip: // another one has no age but its own
		flags.Fetched, flags.Mirror, flags.Frozen = mirror.FreshAt.Format(time.RFC3339Nano), true, mirror.Frozen
	}
	return r.standAt(ctx, commit, fmt.Sprintf("commit %s (%s)", commit[:12], how), flags)
}

// follows notes when the clone last saw the commit as the head of its remote's main, and how it is brought up to date.
// A commit that was named counts as that head if it is.
func (r *Run) follows(commit string, flags *bundle.VerifyFlags) error {
	main, how, err := choose.Base(r.Clone, "")
	if err != nil || main != commit {
		return nil // a commit of another branch, or an old one, has no age but its own
	}
	ref := "refs/heads/" + how
	if strings.Contains(how, "/") {
		ref = "refs/remotes/" + how
	}
	fetched, err := cloneage.Of(r.Clone.Store(), ref, commit, r.Now.Add(checks.Skew))
	if err != nil {
		return err
	}
	flags.Fetch = fetched.Args
	if !fetched.When.IsZero() {
		flags.Fetched = fetched.When.UTC().Format(time.RFC3339Nano)
	}
	return nil
}

// standAt reads the clone at a commit.
func (r *Run) standAt(ctx context.Context, commit, how string, flags *bundle.VerifyFlags) error {
	r.Clone.Sight(flags.Seen)
	c, err := r.Clone.Commit(ctx, commit)
	if err != nil {
		return err
	}
	r.Config.Clone = &Clone{Repo: r.Clone, Commit: commit, Chosen: how, Changed: c.When, Fetch: flags.Fetch,
		Mirror: flags.Mirror, Refused: flags.Refused, Frozen: flags.Frozen}
	if flags.Fetched != "" {
		if r.Config.Clone.Fetched, err = time.Parse(time.RFC3339Nano, flags.Fetched); err != nil {
			return remedy.Errorf(RecordAgain, "the bundle says that the clone was fetched at %q", flags.Fetched)
		}
	}
	if err := HasRecords(ctx, r.Clone, commit); err != nil {
		return err
	}
	r.Config.Standing, err = r.Config.Clone.Stand(ctx)
	return err
}

// Heard takes what bears on the verdict.
func (r *Run) Heard(flags *bundle.VerifyFlags) (err error) {
	r.flags = *flags
	r.Config.Level, r.Config.Without, r.Config.Canonical = level.Level(flags.Level), flags.Without, flags.Canonical
	r.Config.Local = flags.Local
	r.Config.MaxAge = time.Duration(flags.MaxAge) * time.Second
	if flags.Level != "" && !r.Config.Level.Exists() {
		return remedy.Errorf("the levels are L0 to L5, L1-NC, L3-NC, L5-FINANCE, L5-ORG, W1 to W3 and C1 to C3",
			"--level %q is not a level", flags.Level)
	}
	if flags.Suites != "" {
		if r.Config.Suites, err = receipt.ParseSuites(flags.Suites); err != nil {
			return remedy.Errorf("name versions and N.x, joined by commas, such as 1.3.0,2.x", "--trusted-suites: %v",
				err)
		}
	}
	if flags.AtHand {
		r.Targets = []Target{{AtHand: true}}
	}
	if flags.Places != nil && len(flags.Places) != len(flags.Targets) {
		return remedy.Errorf(RecordAgain, "the bundle has %d targets and %d places of them", len(flags.Targets),
			len(flags.Places))
	}
	r.unreadable, r.lines = map[int]error{}, map[int]int{}
	for i, text := range flags.Targets {
		t, err := ParseTarget(text, r.Config.Clone != nil || r.Config.Proof != nil)
		switch {
		case err == nil:
		case flags.Places != nil && flags.Places[i] != "":
			r.unreadable[i] = fmt.Errorf("%s: %w", flags.Places[i], err)
			line := flags.Places[i][strings.LastIndexByte(flags.Places[i], ':')+1:]
			r.lines[i], _ = strconv.Atoi(line) // 0 if a bundle names no line
		default:
			return remedy.Errorf(FormsOf(text, Forms+inFile), "%v", err)
		}
		r.Targets = append(r.Targets, t)
	}
	return nil
}

// Again takes the targets, and what was known about them, from a bundle; clone opens the clone, and is nil if none is
// named.
func (r *Run) Again(ctx context.Context, b *bundle.Bundle, clone func() (*registry.Repository, error)) (err error) {
	if b.Mode != "verify" || b.Flags.Verify == nil {
		return remedy.Errorf(RecordAgain, "the bundle is of the mode %q", b.Mode)
	}
	if n := len(b.Flags.Verify.Targets); b.Flags.Verify.AtHand != (n == 0) || n > MaxRecorded {
		return remedy.Errorf(RecordAgain, "the bundle has %d targets; expected 1 to %d, or documents at hand and none",
			n, MaxRecorded)
	}
	if b.Head != "" {
		if clone == nil {
			return remedy.Errorf("name the clone with --registry DIR",
				"the bundle was recorded with commit %s of a registry's clone", b.Head)
		}
		if r.Clone, err = clone(); err != nil {
			return err
		}
		if err := replay.HoldsCommit(ctx, r.Clone, b.Head); err != nil {
			return err
		}
		if err := r.standAt(ctx, b.Head, b.Flags.Chosen, b.Flags.Verify); err != nil {
			return err
		}
	}
	assumed, err := ownedUp(b)
	if err != nil {
		return err
	}
	r.Config.Tool, r.Config.Assumed, r.Now = b.Tool, assumed, b.Now
	r.Config.Recorded = &evidence.Recorded{List: b.SuffixList}
	r.Source, r.Keep, r.Budget = b.Source(), true, 0
	return remedy.With(r.Heard(b.Flags.Verify), RecordAgain)
}

// ownedUp returns the names of the flags that a bundle says its run assumed. A bundle whose run took documents from
// files, another trust or no registry and does not say so was doctored: its report would look like that of a full live
// run.
func ownedUp(b *bundle.Bundle) ([]string, error) {
	var out []string
	for _, f := range b.Flags.Assumed {
		name, _, _ := strings.Cut(f, " ") // earlier builds wrote the value after it
		out = append(out, name)
	}
	slices.Sort(out)
	out = slices.Compact(out)
	flags := b.Flags.Verify
	needed := map[string]bool{"--receipt": flags.AtHand, "--trusted-suites": flags.Suites != "",
		"--without-registry": flags.Without, "--local": len(flags.Local) > 0}
	for _, o := range b.Observations {
		needed["--local"] = needed["--local"] || o.Code == evidence.CodeLocal
		if o.Protocol == evidence.File && o.State != evidence.Unavailable {
			needed["--"+o.Target] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(needed)) {
		if needed[name] && !slices.Contains(out, name) {
			return nil, remedy.Errorf(RecordAgain,
				"the bundle was recorded with %s, which is not among what it says that its run assumed", name)
		}
	}
	return out, nil
}

// Bundle returns all that a run that has ended learned, and its flags.
func (r *Run) Bundle() *bundle.Bundle {
	b := &bundle.Bundle{Tool: r.Config.Tool, Mode: "verify", Now: r.Source.Now(),
		Observations: r.Source.Observations(), NotReached: r.notReached, SuffixList: r.Config.Recorded.SuffixList(),
		Flags: bundle.Flags{Assumed: r.Config.Assumed, Verify: &r.flags}}
	if r.Config.Clone != nil {
		b.Head, b.Flags.Chosen = r.Config.Clone.Commit, r.Config.Clone.Chosen
	}
	return b
}

// reported is one target's report, or why the run has none.
type reported struct {
	rep *Report
	err error
}

// Verify verifies all targets concurrently and passes their reports to each, in the order of the targets.
func (r *Run) Verify(ctx context.Context, each func(*Report) error) error {
	r.Config.Memo = memo.New(maxVerifyMemo)
	shares := NewShares(r.Source, r.Keep)
	results := make([]chan reported, len(r.Targets))
	for i := range results {
		results[i] = make(chan reported, 1)
	}
	within, cancel := context.WithCancel(ctx)
	defer cancel()
	var crashed crash.Carrier
	var working sync.WaitGroup
	// One target asks for one document after the other: with more of them in work than requests in flight, connections
	// would be given up between two requests of one host.
	places := make(chan struct{}, min(max(r.Jobs, 1), MaxInWork))
	ahead := make(chan struct{}, maxAhead)
	working.Go(func() {
		for i, t := range r.Targets {
			select {
			case ahead <- struct{}{}:
			case <-within.Done():
				return
			}
			select {
			case places <- struct{}{}:
			case <-within.Done():
				return
			}
			working.Go(func() {
				defer func() { <-places }()
				defer crashed.Catch(cancel)
				if err := r.unreadable[i]; err != nil {
					rep := Unmade(t.Text, r.Source, &r.Config, err.Error(), FormsOf(t.Text, Forms+inFile))
					rep.Line = r.lines[i]
					results[i] <- reported{rep, nil}
					return
				}
				rep, err := r.one(within, shares, t)
				results[i] <- reported{rep, err}
			})
		}
	})
	var err error
	for i := range results {
		select {
		case one := <-results[i]:
			if err = one.err; err == nil {
				err = each(one.rep)
			}
			<-ahead
		case <-within.Done():
			err = within.Err()
		}
		if err != nil {
			break
		}
	}
	cancel()
	working.Wait()
	crashed.Rethrow()
	r.notReached = shares.NotReached()
	if err != nil {
		return cmp.Or(ctx.Err(), err)
	}
	return nil
}

const (
	maxAhead      = 4096     // targets that are verified before the first of them is written
	maxVerifyMemo = 16 << 20 // bytes of what was decoded and worked out
)

// one verifies one target. An error leaves no target verified.
func (r *Run) one(ctx context.Context, shares *Shares, t Target) (*Report, error) {
	share := shares.Share(t.Subject(), r.Budget)
	defer share.Close()
	found, err := Verify(ctx, share, t, &r.Config)
	if errors.Is(err, ErrNotListed) {
		return Unmade(t.Text, share, &r.Config, err.Error(),
			"oap-gate list shows the slugs; or fetch the registry again"), nil
	}
	if err != nil {
		return nil, err
	}
	return found.Report, nil
}
