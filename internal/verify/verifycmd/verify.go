// Package verifycmd has the commands verify and prove.
package verifycmd

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/openagentprotocol-OAP/oap-gate/checks"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/crash"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/memo"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence/live"
	"github.com/openagentprotocol-OAP/oap-gate/internal/frame"
	"github.com/openagentprotocol-OAP/oap-gate/internal/judge"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/level"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/proof"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict/capped"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verify"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// verifyOptions are the flags of verify.
type verifyOptions struct {
	frame.Network
	frame.Output
	policyFlags
	proof                          string // file of one, in place of a clone
	manifest, receipt, didDocument string // documents at hand
	list                           string // of targets
	registry, rev                  string
	level, suites                  string
	maxAge                         time.Duration
	aged                           bool // --max-age was given
	require, without, canonical    bool
}

func (o *verifyOptions) bind(c *cobra.Command, v *verification) {
	f := c.Flags()
	f.StringVar(&o.list, "targets", "", "a file of targets, one a line, # comments; - is stdin")
	f.StringVar(&o.receipt, "receipt", "", "judge this Receipt; nothing is fetched")
	f.StringVar(&o.didDocument, "did-document", "", "the DID Document that goes with --receipt")
	f.StringVar(&o.manifest, "manifest", "", "the Manifest that goes with --receipt")
	f.StringVar(&o.registry, "registry", "",
		"a clone of the registry, or a mirror's folder: listings, revocations, witnesses")
	f.StringVar(&o.rev, "rev", "", "the clone's commit (default: the remote's main, never a checked-out branch)")
	f.StringVar(&o.level, "level", "", "the exit status is about this one level, in that spelling")
	f.StringVar(&o.suites, "trusted-suites", "",
		"versions of the suite and N.x, joined by commas (default "+checks.TrustedSuites.String()+")")
	frame.DurationVar(f, &o.maxAge, "max-age", "0",
		"maximum age of the clone or the proof, at least 1s; an older one decides nothing (default: of a clone a "+
			"warning from 14 days on, of a proof 24h)")
	f.Lookup("max-age").DefValue = ""
	f.BoolVar(&o.without, "without-registry", false, "revocations need not be known")
	f.BoolVar(&o.require, "require-registry", false, "a clone is required, which is the default")
	f.StringVar(&o.proof, "proof", "", "proof of the listing in `FILE`, instead of a clone (see prove)")
	o.policyFlags.bind(f)
	f.BoolVar(&o.canonical, "canonical", false, "also print the bytes that the implementation signs, and their SHA-256")
	o.Network.Bind(f, "2m")
	f.Lookup("budget").Usage = "for each target, judging included; what it does not reach is inconclusive; 0: no end"
	f.Lookup("offline").Usage = "no network: documents that are not at hand are inconclusive"
	o.Output.Judges(verify.Rules(), v.unmade, v.own)
	o.Output.Bind(c, v.sys, true)
}

// check refuses what no run could use.
func (o *verifyOptions) check() error {
	files := o.manifest != "" || o.receipt != "" || o.didDocument != ""
	return remedy.First(
		o.Network.Check,
		func() error {
			switch {
			case files && o.receipt == "":
				return remedy.Errorf("give the Receipt too, with --receipt FILE",
					"--manifest and --did-document go with --receipt")
			case o.without && (o.registry != "" || o.require):
				return remedy.Errorf("leave --without-registry out to have revocations looked at",
					"--without-registry and a registry were both given")
			case o.registry == "" && o.rev != "":
				return remedy.Errorf("name the clone with --registry DIR", "--rev names a commit of a clone")
			case o.aged && o.maxAge < time.Second:
				return remedy.Errorf("give at least 1s, or leave it out for a warning from 14 days on",
					"--max-age %s is less than a second", o.maxAge)
			case o.proof != "" && (o.registry != "" || o.without):
				return remedy.Errorf("give one of them", "--proof excludes --registry and --without-registry")
			case o.proof != "" && (o.Record != "" || o.Replay != ""):
				return remedy.Errorf("leave it out", "a run with --proof is neither recorded nor replayed")
			case o.proof == "" && (o.policyFlags.given() || o.anyAge):
				return remedy.Errorf("give the proof with --proof FILE",
					"--witness-policy, --log-key, --witness and --any-age are about a proof")
			case o.registry == "" && o.proof == "" && o.maxAge != 0:
				return remedy.Errorf("name the clone with --registry DIR", "--max-age is about a clone")
			case o.level != "" && !level.Level(o.level).Exists():
				return remedy.Errorf("the levels are L0 to L5, L1-NC, L3-NC, L5-FINANCE, L5-ORG, W1 to W3 and C1 to C3",
					"--level %q is no level", o.level)
			}
			return nil
		},
		func() error { return o.Place(&o.Network, nil, nil) },
	)
}

func New(sys frame.IO) *cobra.Command {
	var o verifyOptions
	v := &verification{sys: sys, out: &o.Output}
	c := &cobra.Command{
		Use:   "verify TARGET…",
		Short: "verify one implementation before it is engaged or listed: the Verification Report of RFC 0019",
		Long: strings.TrimSpace(`
verify fetches a target's Manifest, Receipt and DID Document, judges them by the rules of the
registry's checks, and says which of the levels that the Receipt claims are accepted.

` + verify.Forms + `.

exit status: 0 accepted, 1 not, 2 could not run, 3 only inconclusive steps stand in the way`),
		Example: `  oap-gate verify https://tool.example
  oap-gate verify did:web:tool.example --registry oap-registry --level L2
  oap-gate verify --receipt receipt.json --did-document did.json --canonical
  oap-gate verify --targets list.txt --format json > reports.jsonl`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			o.aged = cmd.Flags().Changed("max-age")
			return v.tell(func() error {
				v.cfg.Assumed, v.now = o.assumed(), o.Now()
				if err := o.check(); err != nil {
					return err
				}
				return o.prepare(cmd.Context(), v, args)
			}, cmd.Context())
		},
	}
	v.cfg.Tool, v.now = frame.Version(), o.Now()
	o.bind(c, v)
	return c
}

// assumed names the flags in effect that replace the network, the clock, the registry or the caller's default trust.
func (o *verifyOptions) assumed() []string {
	var out []string
	for _, f := range o.Network.Assumed() {
		name, _, _ := strings.Cut(f, " ")
		out = append(out, name)
	}
	for _, f := range []struct {
		name  string
		given bool
	}{{"--any-age", o.anyAge}, {"--did-document", o.didDocument != ""}, {"--manifest", o.manifest != ""},
		{"--proof", o.proof != ""}, {"--receipt", o.receipt != ""}, {"--rev", o.rev != ""},
		{"--trusted-suites", o.suites != ""}, {"--without-registry", o.without}} {
		if f.given {
			out = append(out, f.name)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// The bounds of a run that is recorded.
const (
	maxRecorded      = 100       // targets
	maxVerified      = 256 << 20 // bytes of documents, of a recorded run or of targets in flight
	maxVerifiedList  = 16 << 20  // bytes of a list of targets
	maxTargetsInWork = 64
)

// prepare finds the targets, the clone and the source.
func (o *verifyOptions) prepare(ctx context.Context, v *verification, args []string) (err error) {
	way, err := o.LiveOptions()
	if err != nil {
		return err
	}
	v.jobs, v.budget, v.retain = way.Jobs, way.Budget, o.Record != ""
	if o.Replay != "" {
		if len(args) > 0 || o.list != "" || o.receipt != "" || o.level != "" || o.suites != "" || o.aged || o.require ||
			o.without || o.canonical || o.rev != "" || o.At != "" {
			return remedy.Errorf("leave them out; the clone alone is named anew, with --registry DIR",
				"--replay takes targets, time and all that bears on the verdict from the bundle")
		}
		b, err := evidence.ReadBundle(o.Replay)
		if err != nil {
			return remedy.With(err, recordVerify)
		}
		return v.again(ctx, b, o.registry)
	}
	flags := evidence.VerifyFlags{Suites: o.suites, Level: o.level,
		MaxAge:  int64((o.maxAge + time.Second - 1) / time.Second), // a fraction of a second rounds up
		Require: o.require, Without: o.without, Canonical: o.canonical}
	if flags.Targets, flags.Places, err = o.targets(v.sys, args); err != nil {
		return err
	}
	flags.AtHand = o.receipt != ""
	if o.registry != "" {
		if err := v.open(ctx, o.registry, o.rev, &flags); err != nil {
			return err
		}
	}
	if o.proof != "" {
		if v.cfg.Proof, err = o.readProof(v); err != nil {
			return err
		}
		v.cfg.Require = o.require
	}
	if err := v.heard(&flags); err != nil {
		return err
	}
	if o.Record != "" && len(v.targets) > maxRecorded {
		return remedy.Errorf("record fewer of them at a time", "--record is for at most %d targets, %d were given",
			maxRecorded,
			len(v.targets))
	}
	v.record = o.Record
	switch {
	case flags.AtHand:
		v.src, err = o.atHand()
	case o.Offline:
		v.src = evidence.Offline(o.Now(), 0)
	default:
		o.More = func(live *live.Options) {
			live.Budget, live.MaxTotal = 0, maxVerified // the budget is that of each target
		}
		v.src, v.stop, err = o.Source(v.sys)
	}
	return err
}

// readProof reads and checks the proof, which may be up to --max-age old.
func (o *verifyOptions) readProof(v *verification) (*verify.Proof, error) {
	policy, err := o.policyFlags.read(v.sys, o.aged)
	if err != nil {
		return nil, err
	}
	data, err := readProofFile("--proof", o.proof)
	if err != nil {
		return nil, err
	}
	maxAge := proofAge
	if o.aged {
		maxAge = o.maxAge
	}
	return verify.ReadProof(data, proof.Options{Policy: policy, Now: v.now, MaxAge: maxAge, AnyAge: o.anyAge})
}

// targets returns the arguments and the list's lines, in their order, and of lines their places: FILE:LINE.
func (o *verifyOptions) targets(sys frame.IO, args []string) (out, places []string, err error) {
	if o.receipt != "" {
		if len(args) > 0 || o.list != "" {
			return nil, nil, remedy.Errorf("give either a target or --receipt FILE",
				"documents at hand are the target; %q was given too", cmp.Or(slices.Concat(args, []string{o.list})...))
		}
		return nil, nil, nil
	}
	out = slices.Clone(args)
	if o.list != "" {
		var list []byte
		if o.list == "-" {
			list, err = capped.ReadAll(sys.Stdin, maxVerifiedList)
		} else {
			list, err = capped.ReadFile(o.list, maxVerifiedList)
		}
		if err != nil {
			return nil, nil, remedy.Errorf("name a file of targets, one a line, of at most 16 MiB",
				"reading --targets: %v", err)
		}
		more, err := verify.ParseTargets(list)
		if err != nil {
			return nil, nil, remedy.Errorf("one target a line", "reading --targets: %v", err)
		}
		places = make([]string, len(args), len(args)+len(more))
		for _, line := range more {
			out = append(out, line.Text)
			places = append(places, fmt.Sprintf("%s:%d", o.list, line.Number))
		}
	}
	switch {
	case len(out) == 0:
		return nil, nil, remedy.Errorf(verify.Forms, "no target was given")
	case len(out) > verify.MaxTargets:
		return nil, nil, remedy.Errorf("verify them in parts",
			"%d targets were given, at most %d are verified in one run", len(out), verify.MaxTargets)
	}
	return out, places, nil
}

// atHand reads the documents that were given as files.
func (o *verifyOptions) atHand() (evidence.Source, error) {
	given := map[string][]byte{}
	for _, f := range []struct {
		flag, path string
		most       int64
	}{{evidence.FileManifest, o.manifest, evidence.MaxManifest}, {evidence.FileReceipt, o.receipt, evidence.MaxReceipt},
		{evidence.FileDIDDocument, o.didDocument, evidence.MaxDIDDocument}} {
		if f.path == "" {
			continue
		}
		data, err := capped.ReadFile(f.path, f.most)
		if err != nil && !errors.Is(err, capped.ErrTooLarge) {
			return nil, remedy.Errorf("name the file of the document", "reading --%s: %v", f.flag, err)
		}
		given[f.flag] = data
	}
	return evidence.Files(o.Now(), given), nil
}

// recordVerify mends a bundle that is none of verify.
const recordVerify = "record it with oap-gate verify --record"

// verification is a run over all targets.
type verification struct {
	sys     frame.IO
	out     *frame.Output
	cfg     verify.Config
	now     time.Time
	targets []verify.Target
	// unreadable are the errors of the lines of a list that are no targets, by their places among the targets.
	unreadable map[int]error
	flags      evidence.VerifyFlags
	src        evidence.Source

	stop   func() // showing progress; nil: there is none
	clone  *registry.Repository
	jobs   int
	budget time.Duration // of each target
	record string
	retain bool // all observations are kept
	told   *told
}

func (v *verification) close() {
	if live, ok := v.src.(*live.Source); ok {
		live.Close()
	}
	if v.clone != nil {
		v.clone.Close()
	}
}

// open opens the clone, and chooses its commit as check chooses its base.
func (v *verification) open(ctx context.Context, dir, rev string, flags *evidence.VerifyFlags) error {
	var err error
	if v.clone, err = frame.OpenClone(v.sys, dir); err != nil {
		return err
	}
	mirror, commit, how, err := verify.Choose(v.clone, dir, rev)
	if err != nil {
		return err
	}
	if mirror != nil {
		flags.Fetched, flags.Refused, flags.Mirror = mirror.FreshAt.Format(time.RFC3339Nano), mirror.Refused, true
		flags.Frozen, flags.Seen = mirror.Frozen, mirror.Seen
	} else if err := v.follows(commit, flags); err != nil {
		return err
	}
	return v.stand(ctx, commit, fmt.Sprintf("commit %s (%s)", commit[:12], how), flags)
}

// follows notes when the clone last saw the commit as the head of its remote's main, and how it is brought up to date.
// A commit that was named counts as that head if it is.
func (v *verification) follows(commit string, flags *evidence.VerifyFlags) error {
	main, how, err := v.clone.BaseOf("")
	if err != nil || main != commit {
		return nil // a commit of another branch, or an old one, has no age but its own
	}
	ref := "refs/heads/" + how
	if strings.Contains(how, "/") {
		ref = "refs/remotes/" + how
	}
	fetched, err := v.clone.Fetched(ref, commit, v.now.Add(checks.Skew))
	if err != nil {
		return err
	}
	flags.Fetch = fetched.Args
	if !fetched.When.IsZero() {
		flags.Fetched = fetched.When.UTC().Format(time.RFC3339Nano)
	}
	return nil
}

// stand reads the clone at a commit.
func (v *verification) stand(ctx context.Context, commit, how string, flags *evidence.VerifyFlags) error {
	v.clone.Sight(flags.Seen)
	c, err := v.clone.Commit(ctx, commit)
	if err != nil {
		return err
	}
	v.cfg.Clone = &verify.Clone{Repo: v.clone, Commit: commit, Chosen: how, Changed: c.When, Fetch: flags.Fetch,
		Mirror: flags.Mirror, Refused: flags.Refused, Frozen: flags.Frozen}
	if flags.Fetched != "" {
		if v.cfg.Clone.Fetched, err = time.Parse(time.RFC3339Nano, flags.Fetched); err != nil {
			return remedy.Errorf(recordVerify, "the bundle says that the clone was fetched at %q", flags.Fetched)
		}
	}
	if err := verify.HasRecords(ctx, v.clone, commit); err != nil {
		return err
	}
	v.cfg.Standing, err = v.cfg.Clone.Stand(ctx)
	return err
}

// heard takes what bears on the verdict.
func (v *verification) heard(flags *evidence.VerifyFlags) (err error) {
	v.flags = *flags
	v.cfg.Level, v.cfg.Without, v.cfg.Canonical = level.Level(flags.Level), flags.Without, flags.Canonical
	v.cfg.MaxAge = time.Duration(flags.MaxAge) * time.Second
	if flags.Suites != "" {
		if v.cfg.Suites, err = checks.ParseSuites(flags.Suites); err != nil {
			return remedy.Errorf("name versions and N.x, joined by commas, such as 1.3.0,2.x", "--trusted-suites: %v",
				err)
		}
	}
	if flags.AtHand {
		v.targets = []verify.Target{{AtHand: true}}
	}
	if flags.Places != nil && len(flags.Places) != len(flags.Targets) {
		return remedy.Errorf(recordVerify, "the bundle has %d targets and %d places of them", len(flags.Targets),
			len(flags.Places))
	}
	v.unreadable = map[int]error{}
	for i, text := range flags.Targets {
		t, err := verify.ParseTarget(text, v.cfg.Clone != nil || v.cfg.Proof != nil)
		switch {
		case err == nil:
		case flags.Places != nil && flags.Places[i] != "":
			v.unreadable[i] = fmt.Errorf("%s: %w", flags.Places[i], err)
		default:
			return remedy.Errorf(verify.Forms+"; a Receipt in a file is given with --receipt FILE", "%v", err)
		}
		v.targets = append(v.targets, t)
	}
	return nil
}

// again takes the targets, and what was known of them, from a bundle.
func (v *verification) again(ctx context.Context, b *evidence.Bundle, dir string) (err error) {
	if b.Mode != "verify" || b.Flags.Verify == nil {
		return remedy.Errorf(recordVerify, "the bundle is of the mode %q", b.Mode)
	}
	if n := len(b.Flags.Verify.Targets); b.Flags.Verify.AtHand != (n == 0) || n > maxRecorded {
		return remedy.Errorf(recordVerify, "the bundle has %d targets; expected 1 to %d, or documents at hand and none",
			n, maxRecorded)
	}
	if b.Head != "" {
		if dir == "" {
			return remedy.Errorf("name the clone with --registry DIR",
				"the bundle was recorded with commit %s of a registry's clone", b.Head)
		}
		if v.clone, err = frame.OpenClone(v.sys, dir); err != nil {
			return err
		}
		if err := judge.HoldsCommit(ctx, v.clone, b.Head); err != nil {
			return err
		}
		if err := v.stand(ctx, b.Head, b.Flags.Chosen, b.Flags.Verify); err != nil {
			return err
		}
	}
	assumed, err := ownedUp(b)
	if err != nil {
		return err
	}
	v.cfg.Tool, v.cfg.Assumed, v.now, v.cfg.Recorded = b.Tool, assumed, b.Now, evidence.RecordedBy(b)
	v.src, v.retain, v.budget = evidence.NewRecorded(b), true, 0
	return remedy.With(v.heard(b.Flags.Verify), recordVerify)
}

// ownedUp returns the names of the flags that a bundle says its run assumed. A bundle whose run took documents from
// files, another trust or no registry and does not say so was doctored: its report would look like that of a full live
// run.
func ownedUp(b *evidence.Bundle) ([]string, error) {
	var out []string
	for _, f := range b.Flags.Assumed {
		name, _, _ := strings.Cut(f, " ") // earlier builds wrote the value after it
		out = append(out, name)
	}
	slices.Sort(out)
	out = slices.Compact(out)
	flags := b.Flags.Verify
	needed := map[string]bool{"--receipt": flags.AtHand, "--trusted-suites": flags.Suites != "",
		"--without-registry": flags.Without}
	for _, o := range b.Observations {
		if o.Protocol == evidence.File && o.State != evidence.Unavailable {
			needed["--"+o.Target] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(needed)) {
		if needed[name] && !slices.Contains(out, name) {
			return nil, remedy.Errorf(recordVerify,
				"the bundle was recorded with %s, which is not among what it says that its run assumed", name)
		}
	}
	return out, nil
}

// Replay verifies the targets of a bundle again; the clone in dir is opened if the bundle names a commit of one.
func Replay(ctx context.Context, sys frame.IO, out *frame.Output, b *evidence.Bundle, dir string) error {
	v := &verification{sys: sys, out: out, jobs: maxTargetsInWork}
	out.Judges(verify.Rules(), v.unmade, v.own)
	return v.tell(func() error { return v.again(ctx, b, dir) }, ctx)
}

// tell verifies what prepare finds, and tells the reports.
func (v *verification) tell(prepare func() error, ctx context.Context) error {
	defer v.close()
	err := v.out.Tell(func() (*verdict.Report, error) {
		if err := prepare(); err != nil {
			return nil, err
		}
		v.told = newTold(v)
		if err := v.run(ctx); err != nil {
			return nil, err
		}
		return v.told.report(), nil
	})
	if len(v.targets) == 1 && v.told != nil && v.told.worst == verdict.Errored && v.told.format == "text" {
		frame.Complain(v.sys, remedy.Errorf("see the report", "the target could not be judged"))
	}
	return err
}

// unmade is the report of a run that verified nothing.
func (v *verification) unmade(message, fix string) *verdict.Report {
	rep := verify.Unmade("", evidence.Offline(v.now, 0), &v.cfg, message, fix)
	v.targets = nil
	v.told = newTold(v)
	v.told.unmade = true
	if err := v.told.add(rep); err != nil {
		panic(err) // texts of the program's own
	}
	return verify.Common([]*verify.Report{rep})
}

// bundle is all that the run learned and was told.
func (v *verification) bundle(notReached map[string][]string) *evidence.Bundle {
	b := &evidence.Bundle{Tool: v.cfg.Tool, Mode: "verify", Now: v.src.Now(), Observations: v.src.Observations(),
		NotReached: notReached, SuffixList: v.cfg.Recorded.SuffixList(),
		Flags: evidence.Flags{Assumed: v.cfg.Assumed, Verify: &v.flags}}
	if v.cfg.Clone != nil {
		b.Head, b.Flags.Chosen = v.cfg.Clone.Commit, v.cfg.Clone.Chosen
	}
	return b
}

// reported is one target's report, or why the run has none.
type reported struct {
	rep *verify.Report
	err error
}

// run verifies all targets, side by side, and tells their reports in their order, each as soon as those before it were.
func (v *verification) run(ctx context.Context) error {
	v.cfg.Memo = memo.New(maxVerifyMemo)
	shares := evidence.NewShares(v.src, v.retain)
	results := make([]chan reported, len(v.targets))
	for i := range results {
		results[i] = make(chan reported, 1)
	}
	within, cancel := context.WithCancel(ctx)
	defer cancel()
	var crashed crash.Carrier
	var working sync.WaitGroup
	// One target asks for one document after the other: with more of them in work than requests in flight, connections
	// would be given up between two requests of one host.
	places := make(chan struct{}, min(max(v.jobs, 1), maxTargetsInWork))
	ahead := make(chan struct{}, maxAhead)
	working.Go(func() {
		for i, t := range v.targets {
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
				if err := v.unreadable[i]; err != nil {
					results[i] <- reported{verify.Unmade(t.Text, v.src, &v.cfg, err.Error(), verify.Forms), nil}
					return
				}
				rep, err := v.one(within, shares, t)
				results[i] <- reported{rep, err}
			})
		}
	})
	var err error
	for i := range results {
		select {
		case r := <-results[i]:
			if err = r.err; err == nil {
				err = v.told.add(r.rep)
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
	if v.stop != nil {
		v.stop()
	}
	if err != nil {
		return cmp.Or(ctx.Err(), err)
	}
	if v.record != "" {
		return remedy.With(v.bundle(shares.NotReached()).WriteFile(v.record), remedy.Writable)
	}
	return nil
}

const (
	maxAhead      = 4096     // targets that are verified before the first of them was told
	maxVerifyMemo = 16 << 20 // bytes of what was decoded and worked out
)

// one verifies one target. The error is one that leaves no target verified.
func (v *verification) one(ctx context.Context, shares *evidence.Shares, t verify.Target) (*verify.Report, error) {
	share := shares.Share(t.Subject(), v.budget)
	defer share.Close()
	r, err := verify.Verify(ctx, share, t, &v.cfg)
	if errors.Is(err, verify.ErrNotListed) {
		return verify.Unmade(t.Text, share, &v.cfg, err.Error(),
			"oap-gate list shows the slugs; or fetch the registry again"), nil
	}
	if err != nil {
		return nil, err
	}
	return r.Report, nil
}

// told tells the reports of a run: stdout has each as soon as it is there, in the formats that verify writes itself.
type told struct {
	v       *verification
	format  string   // of stdout
	files   []string // the formats of files
	several bool
	unmade  bool // the run verified nothing
	worst   verdict.Verdict
	counted counted
	json    []byte           // for the files that are JSON
	text    []byte           // for the files that are text
	last    []byte           // line of stdout, which waits until all files are written
	all     []*verify.Report // for the other formats
	common  bool             // other formats are asked for
}

func newTold(v *verification) *told {
	t := &told{v: v, several: len(v.targets) > 1, worst: verdict.Passed, counted: counted{}}
	t.format, t.files = v.out.Formats()
	t.common = !own(t.format) || slices.ContainsFunc(t.files, func(f string) bool { return !own(f) })
	return t
}

// own reports whether a format is told by verify's own writers.
func own(format string) bool { return format == "json" || format == "text" }

// add tells one report.
func (t *told) add(r *verify.Report) error {
	t.worst = verify.Worst(t.worst, r.Verdict)
	t.counted[r.Verdict]++
	if t.common {
		t.all = append(t.all, r)
	}
	var out []byte
	if t.format == "json" || slices.Contains(t.files, "json") {
		text, err := jsonOf(r, t.several)
		if err != nil {
			return err
		}
		if slices.Contains(t.files, "json") {
			t.json = append(t.json, text...)
		}
		if t.format == "json" {
			out = text
		}
	}
	between := ""
	if t.several {
		between = "\n"
	}
	if slices.Contains(t.files, "text") {
		t.text = append(append(t.text, textOf(r, false, false, t.several)...), between...)
	}
	switch {
	case t.unmade: // stderr says it
		t.last = out
		return nil
	case t.format == "text":
		out = append(textOf(r, t.v.sys.OutTerminal, t.v.out.Options().Color, t.several), between...)
		if !t.several { // a file that cannot be written changes the exit status
			at := bytes.LastIndexByte(bytes.TrimRight(out, "\n"), '\n') + 1
			out, t.last = out[:at], out[at:]
		}
	}
	_, err := t.v.sys.Stdout.Write(out)
	return err
}

// report is what the other formats are made of.
func (t *told) report() *verdict.Report {
	if t.several {
		t.text = append(t.text, t.counted.line(t.worst, false)...)
		if t.format == "text" {
			t.last = []byte(t.counted.line(t.worst, t.v.out.Options().Color))
		}
	}
	if t.common {
		return verify.Common(t.all)
	}
	return &verdict.Report{Verdict: t.worst}
}

// own gives what verify writes itself: into a file all of it, to stdout what is not there yet.
func (v *verification) own(format string, stdout bool) ([]byte, bool) {
	switch {
	case !own(format):
		return nil, false
	case stdout:
		return v.told.last, true
	case format == "json":
		return v.told.json, true
	}
	return v.told.text, true
}
