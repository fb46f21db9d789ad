package verifycmd

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/foreign"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/typed"
	"github.com/openagentprotocol-OAP/oap-gate/internal/frame"
	"github.com/openagentprotocol-OAP/oap-gate/internal/mirror/prove"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/proof"
	"github.com/openagentprotocol-OAP/oap-gate/internal/report"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict/capped"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verify"
)

// policyFlags say whose signatures make a proof one to rely on, and how old it may be.
type policyFlags struct {
	file, logKey string
	witnesses    []string
	anyAge       bool
}

// proofAge is the maximum age of a proof if the caller gives none: an old proof of an unrevoked listing could otherwise
// be shown permanently.
const proofAge = 24 * time.Hour

func (p *policyFlags) bind(f *pflag.FlagSet) {
	f.StringVar(&p.file, "witness-policy", "", "C2SP tlog-policy `FILE`: logs, witnesses and quorum")
	f.StringVar(&p.logKey, "log-key", "", "verifier key `VKEY` of the log, instead of --witness-policy")
	f.StringArrayVar(&p.witnesses, "witness", nil, "verifier key `VKEY` of a witness that must cosign (repeatable)")
	f.BoolVar(&p.anyAge, "any-age", false, "accept a proof of any age, and a proof without a date")
}

// read returns the policy. aged reports whether a maximum age was given.
func (p *policyFlags) read(sys frame.IO, aged bool) (policy *proof.Policy, err error) {
	const fix = "give --witness-policy FILE, or --log-key VKEY with --witness VKEY for each witness"
	switch {
	case p.file != "" && (p.logKey != "" || len(p.witnesses) > 0):
		return nil, remedy.Errorf("leave --log-key and --witness out",
			"--witness-policy excludes --log-key and --witness")
	case p.file == "" && p.logKey == "":
		return nil, remedy.Errorf(fix, "a proof is checked by a policy, and none was given")
	case p.anyAge && aged:
		return nil, remedy.Errorf("leave --any-age out", "--any-age excludes --max-age")
	case p.file == "":
		if policy, err = proof.PolicyOf(p.logKey, p.witnesses); err != nil {
			return nil, remedy.Errorf(fix, "--log-key and --witness: %w", err)
		}
	default:
		text, err := capped.ReadFile(p.file, proof.MaxPolicy)
		if err == nil {
			policy, err = proof.ParsePolicy(text)
		}
		if err != nil {
			return nil, remedy.Errorf("correct the policy file; see https://c2sp.org/tlog-policy",
				"--witness-policy %q: %w", p.file, err)
		}
	}
	for _, warning := range policy.Warnings {
		frame.Warn(sys, "%s", warning)
	}
	if err := policy.OneHistory(); err != nil && !p.anyAge {
		return nil, remedy.Errorf("require more witnesses in the quorum, or accept such a policy with --any-age",
			"--witness-policy %q: %w", p.file, err)
	}
	return policy, nil
}

// given reports whether a policy was given.
func (p *policyFlags) given() bool { return p.file != "" || p.logKey != "" || len(p.witnesses) > 0 }

// readProofFile reads the file of a proof. One that is too large is a fault of the proof, not of the call.
func readProofFile(flag, file string) ([]byte, error) {
	data, err := capped.ReadFile(file, proof.MaxFile)
	if err != nil && !errors.Is(err, capped.ErrTooLarge) {
		return nil, remedy.Errorf("name the file of a proof", "reading %s %q: %w", flag, file, err)
	}
	return data, nil
}

// proveOptions are the flags of prove.
type proveOptions struct {
	frame.Network // only its flag for the clock is defined
	policyFlags
	repo, rev, log, out string
	check, entry        string
	maxAge              time.Duration
	format              string
}

func NewProve(sys frame.IO) *cobra.Command {
	var o proveOptions
	c := &cobra.Command{
		Use:   "prove SLUG (--log DIR | --check FILE)",
		Short: "write or check a proof that a listing is unrevoked",
		Long: `prove --log writes a proof of one listing: its text, the absence of its revocation and
a log checkpoint that the clone agrees with. prove --check verifies such a file
without a clone and without network, by the keys of the log and of witnesses.

exit status of --log: 0 written, 1 the log differs from the clone, 2 could not run

exit status of --check: 0 listed and unrevoked, 1 not, 2 could not run, 3 too old`,
		Example: "  oap-gate prove assistant-net --log https-mirror/log\n" +
			"  oap-gate prove assistant-net --check assistant-net.tlog-proof \\\n    --witness-policy policy.txt",
		Args: frame.Wants(1, "oap-gate prove SLUG --check FILE", "prove requires one SLUG"),
		RunE: func(c *cobra.Command, args []string) error {
			switch {
			case !proof.IsSlug(args[0]):
				return remedy.Errorf("give 2 to 64 lower-case letters, digits and hyphens, such as assistant-net",
					"%q is not a slug", args[0])
			case (o.log == "") == (o.check == ""):
				return remedy.Errorf("give --log to write a proof, or --check to verify one",
					"prove requires one of --log and --check")
			}
			if err := o.belong(c.Flags()); err != nil {
				return err
			}
			if o.check != "" {
				return o.verify(sys, args[0], c.Flags().Changed("max-age"))
			}
			return o.write(c.Context(), sys, args[0])
		},
	}
	f := c.Flags()
	frame.BindRepo(c, &o.repo)
	f.StringVar(&o.rev, "rev", "",
		"commit `REV` to read; its history (default: HEAD or main of the remote upstream, else of origin, else "+
			"main)")
	f.StringVar(&o.log, "log", "", "`DIR` of the published log (or the file of its log checkpoint)")
	f.StringVar(&o.out, "out", "", "`FILE` to write; the proof (default SLUG.tlog-proof)")
	f.StringVar(&o.check, "check", "", "`FILE` with a proof to verify")
	f.StringVar(&o.entry, "entry", "", "`FILE` for the log entry that the proof shows, for other verifiers")
	o.BindAt(f)
	f.StringVar(&o.format, "format", "text", "`FORMAT` of stdout: text or json")
	o.policyFlags.bind(f)
	frame.DurationVar(f, &o.maxAge, "max-age", "24h", "maximum age: that of the quorum's cosignatures")
	return c
}

// belong refuses flags that the other use of prove has.
func (o *proveOptions) belong(f *pflag.FlagSet) error {
	others, of := []string{"repo", "rev", "out"}, "--log"
	if o.log != "" {
		of = "--check"
		others = []string{"entry", "witness-policy", "log-key", "witness", "max-age", "any-age", "format"}
	}
	for _, name := range others {
		if f.Changed(name) {
			return remedy.Errorf("leave it out", "--%s goes with %s", name, of)
		}
	}
	return typed.First(o.Network.Check, func() error {
		return typed.OneOf("--format", o.format, "text", "json")
	})
}

// verify checks a proof file. It reads no clone and asks nobody.
func (o *proveOptions) verify(sys frame.IO, slug string, aged bool) error {
	policy, err := o.policyFlags.read(sys, aged)
	if err != nil {
		return err
	}
	if o.entry != "" {
		if err := (&frame.Output{}).Place(nil, []report.Target{{Flag: "--entry", Path: o.entry, Former: proof.IsEntry}},
			nil); err != nil {
			return err
		}
	}
	data, err := readProofFile("--check", o.check)
	if err != nil {
		return err
	}
	now := o.Now()
	r, err := proof.Check(data, slug, proof.Options{Policy: policy, Now: now, MaxAge: o.maxAge, AnyAge: o.anyAge})
	refusal, refused := errors.AsType[*proof.Refusal](err)
	if err != nil && !refused {
		return err
	}
	if o.entry != "" && r.Entry.Commit != "" {
		if err := report.Save("--entry "+o.entry, o.entry, proof.IsEntry, r.Entry.Text()); err != nil {
			return err
		}
	}
	var others []string
	if o.anyAge {
		others = []string{"--any-age"}
	}
	assumed := o.Assumed(others...)
	rep := prove.NewReport(frame.Version(), slug, r, refusal, now, assumed)
	if o.format == "json" {
		var text []byte
		if text, err = report.JSON(rep, "  "); err == nil {
			_, err = sys.Stdout.Write(text)
		}
	} else {
		err = rep.WriteText(sys.Stdout)
	}
	if err != nil {
		return err
	}
	return frame.Judged(nil, verdict.Verdict(rep.Verdict))
}

// write writes a proof from a clone.
func (o *proveOptions) write(ctx context.Context, sys frame.IO, slug string) error {
	if o.out == "" {
		o.out = slug + ".tlog-proof"
	}
	if err := (&frame.Output{}).Place(nil, []report.Target{{Flag: "--out", Path: o.out, Former: proof.IsFile}},
		nil); err != nil {
		return err
	}
	published, err := prove.ReadPublished(o.log)
	if err != nil {
		return err
	}
	repo, err := frame.OpenClone(sys, o.repo)
	if err != nil {
		return err
	}
	defer repo.Close()
	_, commit, how, err := verify.Choose(ctx, repo, o.repo, o.rev)
	if err != nil {
		return err
	}
	data, shown, err := prove.Write(ctx, repo, commit, slug, published, o.Now())
	if remedy.CodeOf(err) != "" {
		return frame.Judged(err, verdict.Failed)
	}
	if err != nil {
		return err
	}
	if err := report.Save("--out "+o.out, o.out, proof.IsFile, data); err != nil {
		return err
	}
	fmt.Fprintln(sys.Stdout, foreign.Line(o.out))
	state := "listed and unrevoked"
	if shown != nil {
		state = shown.Message
	}
	fmt.Fprintf(sys.Stderr, "the proof shows, at log size %d in the history of %s (%s): %s\n", published.Signed.Size,
		plain.Short(commit), foreign.Line(how), foreign.Line(state))
	return nil
}
