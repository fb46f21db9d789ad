package mirrorcmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/openagentprotocol-OAP/oap-gate/checks"
	"github.com/openagentprotocol-OAP/oap-gate/internal/author/listing"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/typed"
	"github.com/openagentprotocol-OAP/oap-gate/internal/frame"
	"github.com/openagentprotocol-OAP/oap-gate/internal/git/gitstore"
	"github.com/openagentprotocol-OAP/oap-gate/internal/git/peer"
	"github.com/openagentprotocol-OAP/oap-gate/internal/mirror"
	"github.com/openagentprotocol-OAP/oap-gate/internal/mirror/mirrorstate"
	"github.com/openagentprotocol-OAP/oap-gate/internal/report"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// mirrorOptions are the flags of mirror: those of audit that are not the directory's own, and how often and how much.
type mirrorOptions struct {
	auditOptions
	url, dir, branch string
	was              string // --moved-from
	listen           string
	serveGit         bool
	allPeers         bool // --peers-needed is not given
	watch            []string
	every            time.Duration
	maxDisk          int64 // GiB
	reverify         time.Duration
	busy             func(bool) // called when a pass over the stored objects begins and ends; may be nil
}

// ofDirectory are the flags of audit that a mirror does not have: its directory holds what they name, or it judges all.
var ofDirectory = []string{"repo", "rev", "checkpoint", "shard", "only", "skip", "replay", "record", "cache",
	"archive", "format", "log"}

func NewMirror(sys frame.IO) *cobra.Command {
	var o mirrorOptions
	c := &cobra.Command{
		Use:   "mirror URL DIR",
		Short: "keep a clone whose branch is always a verified history",
		Long: strings.TrimSpace(`
mirror fetches a registry into DIR, audits it, and moves the branch of DIR/registry.git forward to what
was verified, never back and never to another history. Anything else that the origin serves is kept,
and hidden from clones of the mirror. No git program is needed.

exit status: as of audit; 3 if the origin is down, 1 if it serves a rewritten history`),
		Example: `  oap-gate mirror https://github.com/openagentprotocol-OAP/oap-registry \
    /var/lib/oap
  oap-gate mirror https://github.com/openagentprotocol-OAP/oap-registry \
    /var/lib/oap --every 1h`,
		Args: frame.Wants(2, "oap-gate mirror URL DIR", "mirror requires a URL and a DIR"),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.url, o.dir = args[0], args[1]
			o.allPeers = !cmd.Flags().Changed("peers-needed")
			return o.Tell(func() (*verdict.Report, error) { return o.mirror(cmd.Context(), sys) })
		},
	}
	all := &cobra.Command{Args: c.Args}
	o.auditOptions.bind(all, sys)
	all.Flags().VisitAll(func(f *pflag.Flag) {
		if !slices.Contains(ofDirectory, f.Name) {
			c.Flags().AddFlag(f)
		}
	})
	f := c.Flags()
	f.StringVar(&o.branch, "branch", "main", "name `BRANCH` of the registry's branch")
	f.StringVar(&o.was, "moved-from", "", "`URL` that the registry had: DIR takes the new one if its history continues")
	frame.DurationVar(f, &o.every, "every", "0", "time between two runs; 0 for one run")
	f.StringVar(&o.listen, "listen", "", "serve on `HOST:PORT`; with --every, the last run and the probes")
	f.BoolVar(&o.serveGit, "serve-git", false, "serve the verified branch to git; with --listen")
	f.IntVar(&o.peersNeeded, "peers-needed", 0, "`K` peers must hold the verified tip (default: all of --peer)")
	f.StringArrayVar(&o.watch, "watch", nil, "`SLUG` whose expiry stays in the metrics (repeatable)")
	frame.DurationVar(f, &o.reverify, "reverify", "7d",
		"time after which every stored object is hashed again; 0 for never")
	f.Int64Var(&o.maxDisk, "max-disk", 20, "most `GIB` that DIR may hold; above that nothing more is fetched")
	c.Args = all.Args
	c.SetFlagErrorFunc(all.FlagErrorFunc())
	return c
}

// mirror runs once, or until a signal. After a signal it returns no report that it has not written.
func (o *mirrorOptions) mirror(ctx context.Context, sys frame.IO) (rep *verdict.Report, err error) {
	for _, name := range []string{o.url, cmp.Or(o.was, o.url)} {
		if _, err := peer.URL(name); err != nil {
			return nil, remedy.With(err, "name the registry by https://HOST/PATH")
		}
	}
	switch {
	case o.maxDisk < 1 || o.maxDisk > 1<<20:
		return nil, remedy.Errorf("give a number of GiB", "--max-disk %d is out of range", o.maxDisk)
	case o.every > 0 && o.At != "":
		return nil, remedy.Errorf("leave one of them out", "--at with --every would judge by one time in every run")
	case o.listen != "" && o.every == 0:
		return nil, remedy.Errorf("give --every 1h, too", "--listen without --every would serve one run")
	case o.serveGit && o.listen == "":
		return nil, remedy.Errorf("give --listen HOST:PORT, too", "--serve-git requires --listen")
	case o.every > 0 && o.every < time.Second:
		return nil, remedy.Errorf("give a duration such as 1h", "--every is shorter than a second")
	}
	if err := typed.First(o.checkPeers, o.checkWatch); err != nil {
		return nil, err
	}
	dir, err := mirror.OpenDir(o.dir, o.url, o.was, o.branch)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, dir.Close()) }()
	o.repo, o.checkpoint, o.temp = dir.Clone(), dir.File("checkpoint"), dir.Path // the image has no other directory
	o.archive, o.documents, o.ofMirror = dir.File("archive"), dir.File("cache"), true
	o.origin = cmp.Or(o.origin, dir.Registry())
	if o.published.key != "" {
		o.published.dir = dir.File("log")
	}
	frugal(mostOfMirror)
	if err := o.check(report.Any); err != nil {
		return nil, err
	}
	if o.every > 0 {
		return nil, o.goOn(ctx, sys, dir)
	}
	run := o.measured(ctx, sys, dir)
	if run.err == nil {
		return run.rep.Report, nil
	}
	if ended := withoutVerdict(run.err); ended != verdict.Errored {
		return nil, frame.Judged(run.err, ended)
	}
	return nil, run.err
}

// checkPeers checks --peers-needed against the peers that are named. Neither the origin nor the mirror itself can be
// one: it would agree with what the mirror has, whatever that is.
func (o *mirrorOptions) checkPeers() error {
	all := len(mirror.Distinct(o.peers))
	switch {
	case o.allPeers:
		o.peersNeeded = all
	case all == 0:
		return remedy.Errorf("name peers with --peer", "--peers-needed requires --peer")
	case o.peersNeeded < 1 || o.peersNeeded > all:
		return remedy.Errorf(fmt.Sprintf("give a number from 1 to %d; a peer that is named twice counts once", all),
			"--peers-needed %d is out of range; --peer names %s", o.peersNeeded, plain.Count(all, "distinct peer"))
	}
	for _, name := range o.peers {
		if name != "" && (mirror.SamePeer(name, o.url) || mirror.IsMirror(name, o.dir)) {
			return remedy.Errorf("name another copy of the registry, or leave this --peer out",
				"--peer %q is the origin or the mirror itself", typed.Redacted(name))
		}
	}
	return nil
}

// checkWatch checks the slugs of --watch.
func (o *mirrorOptions) checkWatch() error {
	for _, slug := range o.watch {
		if _, err := listing.Path(slug); err != nil {
			return remedy.Errorf("give the file name of a listing without .json", "--watch %q is not a slug", slug)
		}
	}
	return nil
}

// goOn runs again and again, one line a run.
func (o *mirrorOptions) goOn(ctx context.Context, sys frame.IO, dir *mirror.Dir) error {
	site, served, err := o.serve(ctx, sys, dir)
	if err != nil {
		return err
	}
	o.busy = site.Verifying
	for {
		begun := o.Now()
		run := o.measured(ctx, sys, dir)
		line := run.String()
		fault := line
		if run.rep != nil {
			fault = ""
		}
		site.Ended(fault)
		fmt.Fprintf(sys.Stdout, "%s %s\n", begun.Format(time.RFC3339), line)
		err := o.Write(run.rep)
		if run.rep != nil {
			err = errors.Join(err, run.rep.Results.Close())
		}
		if err != nil {
			frame.Complain(sys, err)
		}
		tenth := o.every / 10
		wait := time.NewTimer(o.every - tenth/2 + rand.N(tenth+1))
		select {
		case <-ctx.Done():
			wait.Stop()
			<-served
			return nil
		case <-wait.C:
		}
	}
}

// serve has the reports served until the context ends, where --listen says so; served is closed when the last request
// has ended.
func (o *mirrorOptions) serve(ctx context.Context, sys frame.IO, dir *mirror.Dir) (*mirror.Site, <-chan struct{},
	error) {
	site, served := mirror.NewSite(dir, o.every, o.serveGit), make(chan struct{})
	if o.listen == "" {
		close(served)
		return site, served, nil
	}
	l, err := net.Listen("tcp", o.listen)
	if err != nil {
		return nil, nil, remedy.Errorf("give host:port, such as 127.0.0.1:8080", "--listen: %v", err)
	}
	fmt.Fprintf(sys.Stderr, "serving on http://%s/\n", l.Addr())
	go func() {
		defer close(served)
		if err := site.Serve(ctx, l); err != nil {
			frame.Complain(sys, fmt.Errorf("serving on %s: %w", l.Addr(), err))
		}
	}()
	return site, served, nil
}

// withoutVerdict returns how a run ends that came to no verdict: an unreachable origin is inconclusive, one that served
// what is not allowed fails.
func withoutVerdict(err error) verdict.Verdict {
	_, store := errors.AsType[*gitstore.Error](err)
	switch {
	case slices.Contains([]string{"checkpoint-diverged", "origin-vanished", checks.CodeHistoryRewritten},
		remedy.CodeOf(err)):
		return verdict.Failed
	case slices.Contains([]string{"origin-unavailable", "pack-corrupt"}, remedy.CodeOf(err)):
		return verdict.Inconclusive
	case remedy.CodeOf(err) != "":
		return verdict.Errored
	case errors.Is(err, peer.ErrSHA256), errors.Is(err, peer.ErrURL), errors.Is(err, peer.ErrBranch):
		return verdict.Errored
	case errors.Is(err, mirror.ErrFull), errors.Is(err, mirror.ErrRefused), errors.Is(err, peer.ErrTooLarge),
		errors.Is(err, errFetching) && store:
		return verdict.Failed
	case errors.Is(err, errFetching):
		return verdict.Inconclusive
	}
	return verdict.Errored
}

// errFetching marks an error of the fetch.
var errFetching = errors.New("fetching the origin")

// once starts from what was verified, fetches, audits, and moves on. What a run ends with is in the state in any case.
func (o *mirrorOptions) once(ctx context.Context, sys frame.IO, dir *mirror.Dir) (*verdict.Report, error) {
	now := o.Now()
	rep, err := o.attempt(ctx, sys, dir, now)
	if err != nil || ctx.Err() != nil {
		if err := dir.Attempted(now); err != nil {
			return nil, err
		}
	}
	return rep, err
}

// attempt does the work of once. The state and the reports are written before the checkpoint, and that before the
// branch moves.
func (o *mirrorOptions) attempt(ctx context.Context, sys frame.IO, dir *mirror.Dir, now time.Time) (*verdict.Report,
	error) {
	keys, err := o.signatures()
	if err != nil {
		return nil, err
	}
	taken, err := o.readAccepted()
	if err != nil {
		return nil, err
	}
	way, err := o.LiveOptions()
	if err != nil {
		return nil, err
	}
	origin := mirror.Origin{URL: o.url, Live: way, MaxDisk: o.maxDisk << 30, Now: now}
	if err := dir.Load(now); err != nil {
		return nil, err
	}
	if err := dir.Repair(ctx, origin, mirror.Reverify{Every: o.reverify, All: o.verifyAll, Busy: o.busy}); err != nil {
		return nil, err
	}
	err = o.again(ctx, dir, origin, func() error { return dir.Start(ctx, o.namedCheckpoint(keys, taken)) })
	if err != nil {
		return nil, err
	}
	if o.room, err = dir.Room(ctx, o.maxDisk<<30/2); err != nil {
		return nil, err
	}
	o.extra = dir.Findings
	moves := false
	o.before = func(rep *verdict.Report, holds bool) error {
		moves = holds
		before, err := dir.Refused(ctx, rep.Head)
		if err != nil {
			return err
		}
		rep.Refused = o.refused(rep, before)
		if err := dir.Judged(now, rep, holds); err != nil {
			return err
		}
		return o.report(dir, rep)
	}
	var rep *verdict.Report
	err = o.again(ctx, dir, origin, func() (err error) {
		rep, err = o.judged(ctx, sys, dir, origin)
		return err
	})
	if err == nil && moves {
		err = dir.SetVerified(rep.Head)
	}
	if err == nil && o.published.dir != "" { // with what the log found
		err = o.report(dir, rep)
	}
	if err != nil {
		return nil, err
	}
	return rep, nil
}

// report writes the directory's reports, side by side.
func (o *mirrorOptions) report(dir *mirror.Dir, rep *verdict.Report) error {
	opts := o.Options()
	files := []report.File{{Format: "json", Path: dir.File("report.json")},
		{Format: "html", Path: dir.File("report.html")}}
	for i, err := range report.Count(rep).WriteFiles(files, opts) {
		if err != nil {
			return mirror.Local(fmt.Errorf("writing report %s: %w", filepath.Base(files[i].Path), err))
		}
	}
	return nil
}

// again does a part of a run, and once more after all was fetched again if the clone lacks an object: its disk lost it,
// or the origin once left it out.
func (o *mirrorOptions) again(ctx context.Context, dir *mirror.Dir, origin mirror.Origin, do func() error) error {
	err := do()
	if !mirror.IsDamage(err) {
		return err
	}
	if err := dir.Refetched(ctx, origin, err); err != nil {
		return dir.Damaged(ctx, fetching(dir, err))
	}
	if err = do(); mirror.IsDamage(err) {
		return dir.LeftOut(ctx, err)
	}
	return err
}

// fetching marks an error of the fetch.
func fetching(dir *mirror.Dir, err error) error {
	return remedy.With(dir.Unserved(fmt.Errorf("%w: %w", errFetching, err)), "try again later; the mirror is as it was")
}

// judged returns the audit of what the origin serves now.
func (o *mirrorOptions) judged(ctx context.Context, sys frame.IO, dir *mirror.Dir,
	origin mirror.Origin) (rep *verdict.Report, err error) {
	if o.known, err = dir.Verified(); err != nil {
		return nil, err
	}
	if o.rev, err = dir.Fetch(ctx, origin); err != nil {
		return nil, fetching(dir, err)
	}
	size, err := dir.Size()
	if err != nil {
		return nil, err
	}
	o.peerPack = max(min(origin.MaxDisk-size, peer.MaxPack), 1)
	return o.run(ctx, sys)
}

// refused returns the records whose own checks failed, by their text or by a definite answer of the world.
// That a listing has ended is neither, also where --strict makes it a failure. A record that was refused before, of the
// same bytes, stays so until it is decided again.
func (o *mirrorOptions) refused(rep *verdict.Report, before []string) []string {
	if rep.Counts.Records == 0 { // the budget ended the run within the history
		return before
	}
	ended := map[string]bool{}
	for _, l := range rep.Listings {
		ended["implementations/"+l.Slug+".json"] = l.Status == verdict.StatusExpired ||
			l.Status == verdict.StatusRevoked
	}
	var paths []string
	for r := range rep.Results.All() {
		again := (r.Verdict == verdict.Inconclusive || o.Offline) && slices.Contains(before, r.Subject)
		if r.Verdict != verdict.Failed && !again || !mirrorstate.Refusable(r.Subject) || ended[r.Subject] {
			continue
		}
		if !slices.ContainsFunc(mirror.Rules(), func(c verdict.Rule) bool { return c.ID == r.Check }) {
			paths = append(paths, r.Subject)
		}
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}
