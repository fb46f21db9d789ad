// Package verifycmd has the commands verify and prove.
package verifycmd

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/foreign"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/typed"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence/bundle"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence/live"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence/sources"
	"github.com/openagentprotocol-OAP/oap-gate/internal/frame"
	"github.com/openagentprotocol-OAP/oap-gate/internal/mirror"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/proof"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/receipt"
	"github.com/openagentprotocol-OAP/oap-gate/internal/report"
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
	proof                          string // proof file that replaces a clone
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
	f.StringVar(&o.list, "targets", "", "`FILE` of targets, one per line, with # comments; - is stdin")
	f.StringVar(&o.receipt, "receipt", "", "`FILE` with the Receipt to verify; nothing is fetched")
	f.StringVar(&o.didDocument, "did-document", "", "`FILE` with the DID Document; for --receipt")
	f.StringVar(&o.manifest, "manifest", "", "`FILE` with the Manifest for --receipt")
	f.StringVar(&o.registry, "registry", "",
		"`DIR` of a clone of the registry, or of a mirror: listings, revocations, witnesses")
	f.StringVar(&o.rev, "rev", "", "commit `REV` to read (default: the remote's main, never a checked-out branch)")
	f.StringVar(&o.level, "level", "", "conformance `LEVEL`; it decides the exit status, spelled as in the Receipt")
	f.StringVar(&o.suites, "trusted-suites", "",
		"`LIST` of versions of the suite and N.x, joined by commas (default "+receipt.TrustedSuites.String()+")")
	frame.DurationVar(f, &o.maxAge, "max-age", "0",
		"maximum age: that of the clone or the proof, at least 1s; an older one decides nothing "+
			"(default: a clone older than 14d is a warning; a proof 24h)")
	f.Lookup("max-age").DefValue = ""
	f.BoolVar(&o.without, "without-registry", false, "accept that revocations are unknown")
	f.BoolVar(&o.require, "require-registry", false, "require a clone (the default)")
	f.StringVar(&o.proof, "proof", "", "`FILE` with a proof of the listing, instead of a clone (see prove)")
	o.policyFlags.bind(f)
	f.BoolVar(&o.canonical, "canonical", false, "also print the bytes that the implementation signs, and their SHA-256")
	o.Network.Bind(f, "2m")
	o.Network.BindLocal(f)
	f.Lookup("budget").Usage = "time limit for the run; each target has its own; " +
		"results not reached are inconclusive; 0 for none"
	f.Lookup("offline").Usage = "no network; steps without their document are inconclusive"
	o.Output.Judges(verify.Rules(), v.unmade, v.own)
	o.Output.Bind(c, v.sys, true)
	o.Statements(c, mirror.RulesText(frame.Version()))
}

// check refuses what no run could use.
func (o *verifyOptions) check() error {
	files := o.manifest != "" || o.receipt != "" || o.didDocument != ""
	return typed.First(
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
				return remedy.Errorf("leave --proof out", "--proof excludes --registry and --without-registry")
			case o.proof != "" && (o.Record != "" || o.Replay != ""):
				return remedy.Errorf("leave it out", "a run with --proof is neither recorded nor replayed")
			case o.proof == "" && (o.policyFlags.given() || o.anyAge):
				return remedy.Errorf("give the proof with --proof FILE",
					"--witness-policy, --log-key, --witness and --any-age are about a proof")
			case o.registry == "" && o.proof == "" && o.aged:
				return remedy.Errorf("name the clone with --registry DIR", "--max-age is about a clone")
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
		Short: "verify an implementation and print its accepted levels",
		Long: strings.TrimSpace(`
verify fetches a target's Manifest, Receipt and DID Document, judges them by the rules of the
registry's checks, and says which of the levels that the Receipt claims are accepted.

A target is` + strings.TrimPrefix(verify.Forms, "a target is") + `.

Only a clone (--registry) or a proof (--proof) shows revocations. Without one a target is at best undecided, unless
--without-registry is given.

exit status: 0 accepted, 1 refused, 2 could not run, 3 undecided`),
		Example: `  oap-gate verify https://tool.example --registry oap-registry
  oap-gate verify did:web:tool.example --registry oap-registry --level L2
  oap-gate verify --receipt receipt.json --did-document did.json \
    --without-registry --canonical
  oap-gate verify --targets list.txt --registry oap-registry --format json`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			o.aged = cmd.Flags().Changed("max-age")
			err = v.writeReport(func() error {
				v.Config.Assumed, v.Now = o.assumed(), o.Now()
				if _, files := o.Formats(); slices.Contains(files, report.StatementFormat) {
					v.Config.Digests = true
					if !o.aged {
						o.maxAge = statedAge
					}
				}
				if err := o.check(); err != nil {
					return err
				}
				return o.prepare(cmd.Context(), v, args)
			}, cmd.Context())
			if err == nil && len(o.Local()) > 0 && o.without && len(args) == 1 && o.list == "" {
				command := "oap-gate new SLUG " + plain.ShellWord(args[0]) + report.LocalFlags(o.Local())
				fmt.Fprintf(sys.Stderr, "\nnext, in a clone of the registry:\n  %s\n", foreign.Line(command))
			}
			return err
		},
	}
	v.Config.Tool, v.Now = frame.Version(), o.Now()
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

// statedAge is the --max-age of a run with a statement: a consumer cannot see a revocation that the clone lacks.
const statedAge = 24 * time.Hour

// Bounds of what verify reads.
const (
	maxVerified     = 256 << 20 // bytes of documents, of a recorded run or of targets in flight
	maxVerifiedList = 16 << 20  // bytes of a list of targets
)

// prepare finds the targets, the clone and the source.
func (o *verifyOptions) prepare(ctx context.Context, v *verification, args []string) (err error) {
	way, err := o.LiveOptions()
	if err != nil {
		return err
	}
	v.Jobs, v.Budget, v.Keep = way.Jobs, way.Budget, o.Record != ""
	if o.Replay != "" {
		if len(args) > 0 || o.list != "" || o.receipt != "" || o.level != "" || o.suites != "" || o.aged || o.require ||
			o.without || o.canonical || o.rev != "" || o.At != "" {
			return remedy.Errorf("run verify --replay FILE without them; name only the clone, with --registry",
				"--replay takes targets, time and all that bears on the verdict from the bundle")
		}
		if v.Config.Digests { // a bundle is not signed: anyone can write one that assumes nothing
			return remedy.Errorf("leave --replay out, so that the run is live",
				"--report vsa=FILE is for a live run; --replay takes the evidence from a bundle")
		}
		b, err := bundle.Read(o.Replay)
		if err != nil {
			return remedy.With(err, verify.RecordAgain)
		}
		if o.registry != "" && b.Head == "" {
			return remedy.Errorf("leave --registry out, or record a run with it",
				"--registry: the bundle was recorded without a clone, and its replay reads none")
		}
		return v.again(ctx, b, o.registry)
	}
	flags := bundle.VerifyFlags{Suites: o.suites, Level: o.level,
		MaxAge:  int64((o.maxAge + time.Second - 1) / time.Second), // a fraction of a second rounds up
		Require: o.require, Without: o.without, Canonical: o.canonical, Local: o.Local()}
	if flags.Targets, flags.Places, err = o.targets(v.sys, args); err != nil {
		return err
	}
	if v.Config.Digests && len(flags.Targets) > 1 {
		return remedy.Errorf("run verify once for each target", "--report vsa=FILE is for one target, %d were given",
			len(flags.Targets))
	}
	flags.AtHand = o.receipt != ""
	if o.registry != "" {
		if v.Clone, err = frame.OpenClone(v.sys, o.registry); err != nil {
			return err
		}
		if err := v.Open(ctx, o.registry, o.rev, &flags); err != nil {
			return err
		}
	}
	if o.proof != "" {
		if v.Config.Proof, err = o.readProof(v); err != nil {
			return err
		}
		v.Config.Require = o.require
	}
	if err := v.Heard(&flags); err != nil {
		return err
	}
	if o.Record != "" && len(v.Targets) > verify.MaxRecorded {
		return remedy.Errorf("record fewer of them at a time", "--record is for at most %d targets, %d were given",
			verify.MaxRecorded, len(v.Targets))
	}
	v.record = o.Record
	switch {
	case flags.AtHand:
		v.Source, err = o.atHand()
	case o.AsksNobody():
		v.Source = sources.Offline(o.Now(), 0)
	default:
		v.Source, v.stop, err = o.Source(v.sys, func(live *live.Options) {
			live.Budget, live.MaxTotal = 0, maxVerified // the budget is that of each target
		})
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
	return verify.ReadProof(data, proof.Options{Policy: policy, Now: v.Now, MaxAge: maxAge, AnyAge: o.anyAge})
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
		more := verify.ParseTargets(list)
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
	}{{sources.FileManifest, o.manifest, evidence.MaxManifest}, {sources.FileReceipt, o.receipt, evidence.MaxReceipt},
		{sources.FileDIDDocument, o.didDocument, evidence.MaxDIDDocument}} {
		if f.path == "" {
			continue
		}
		data, err := capped.ReadFile(f.path, f.most)
		if err != nil && !errors.Is(err, capped.ErrTooLarge) {
			return nil, remedy.Errorf("name the file of the document", "reading --%s: %v", f.flag, err)
		}
		given[f.flag] = data
	}
	return verify.Files(o.Now(), given), nil
}

// verification is a run over all targets, with its reports.
type verification struct {
	verify.Run
	sys    frame.IO
	out    *frame.Output
	stop   func() // stops showing progress; may be nil
	record string
	output *output
}

func (v *verification) close() {
	if live, ok := v.Source.(*live.Source); ok {
		live.Close()
	}
	if v.Clone != nil {
		v.Clone.Close()
	}
}

// again takes the targets from a bundle; dir is the clone, empty if none is named.
func (v *verification) again(ctx context.Context, b *bundle.Bundle, dir string) error {
	if dir == "" {
		return v.Again(ctx, b, nil)
	}
	return v.Again(ctx, b, func() (*registry.Repository, error) { return frame.OpenClone(v.sys, dir) })
}

// Replay verifies the targets of a bundle again; the clone in dir is opened if the bundle names a commit of one.
func Replay(ctx context.Context, sys frame.IO, out *frame.Output, b *bundle.Bundle, dir string) error {
	v := &verification{sys: sys, out: out, Run: verify.Run{Jobs: verify.MaxInWork}}
	out.Judges(verify.Rules(), v.unmade, v.own)
	return v.writeReport(func() error { return v.again(ctx, b, dir) }, ctx)
}

// writeReport verifies what prepare finds, and writes the reports.
func (v *verification) writeReport(prepare func() error, ctx context.Context) error {
	defer v.close()
	err := v.out.Tell(func() (*verdict.Report, error) {
		if err := prepare(); err != nil {
			return nil, err
		}
		v.output = newOutput(v)
		err := v.Verify(ctx, v.output.add)
		if v.stop != nil {
			v.stop()
		}
		if err == nil && v.record != "" {
			err = report.Keep(v.record, v.Bundle())
		}
		if err != nil {
			return nil, err
		}
		return v.output.report(), nil
	})
	if len(v.Targets) == 1 && v.output != nil && v.output.worst == verdict.Errored && v.output.format == "text" {
		frame.Complain(v.sys, errors.New("the target could not be judged; see the report"))
	}
	return err
}

// unmade returns the report of a run that verified nothing.
func (v *verification) unmade(message, fix string) *verdict.Report {
	rep := verify.Unmade("", sources.Offline(v.Now, 0), &v.Config, message, fix)
	v.Targets = nil
	v.output = newOutput(v)
	v.output.unmade = true
	if err := v.output.add(rep); err != nil {
		panic(err) // texts of the program's own
	}
	return verify.Common([]*verify.Report{rep})
}

// output writes the reports of a run: stdout has each as soon as it is ready, in the formats that verify writes itself.
type output struct {
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

func newOutput(v *verification) *output {
	t := &output{v: v, several: len(v.Targets) > 1, worst: verdict.Passed, counted: counted{}}
	t.format, t.files = v.out.Formats()
	t.common = !own(t.format) || slices.ContainsFunc(t.files, func(f string) bool { return !own(f) })
	return t
}

// own reports whether verify's own writers write a format.
func own(format string) bool { return format == "json" || format == "text" }

// add writes one report.
func (t *output) add(r *verify.Report) error {
	t.worst = verify.Worst(t.worst, r.Verdict)
	t.counted[r.Verdict]++
	if t.common {
		t.all = append(t.all, r)
	}
	var out []byte
	if t.format == "json" || slices.Contains(t.files, "json") {
		indent := "  "
		if t.several { // each on a line of its own
			indent = ""
		}
		text, err := report.JSON(r, indent)
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
		t.text = append(append(t.text, textOf(r, 0, false, t.several)...), between...)
	}
	switch {
	case t.unmade: // stderr says it
		t.last = out
		return nil
	case t.format == "text":
		out = append(textOf(r, t.v.sys.OutWidth, t.v.out.Options().Color, t.several), between...)
		if !t.several { // a file that cannot be written changes the exit status
			at := bytes.LastIndexByte(bytes.TrimRight(out, "\n"), '\n') + 1
			out, t.last = out[:at], out[at:]
		}
	}
	if len(out) > 0 && t.v.stop != nil { // the line of the progress ends where the report begins
		t.v.stop()
	}
	_, err := t.v.sys.Stdout.Write(out)
	return err
}

// report returns the report that the other formats are made of.
func (t *output) report() *verdict.Report {
	if t.several {
		t.text = append(t.text, t.counted.line(t.worst, false, t.v.Config.Local)...)
		if t.format == "text" {
			t.last = []byte(t.counted.line(t.worst, t.v.out.Options().Color, t.v.Config.Local))
		}
	}
	if t.common {
		rep := verify.Common(t.all)
		rep.Ending = string(bytes.TrimSpace([]byte(t.counted.line(t.worst, false, t.v.Config.Local))))
		if !t.several {
			text := bytes.TrimRight(textOf(t.all[0], 0, false, false), "\n")
			rep.Ending = string(text[bytes.LastIndexByte(text, '\n')+1:])
		}
		return rep
	}
	return &verdict.Report{Verdict: t.worst}
}

// own gives what verify writes itself: into a file all of it, to stdout what is not there yet.
func (v *verification) own(format string, stdout bool) ([]byte, bool) {
	switch {
	case !own(format):
		return nil, false
	case stdout:
		return v.output.last, true
	case format == "json":
		return v.output.json, true
	}
	return v.output.text, true
}
