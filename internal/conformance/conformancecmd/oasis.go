package conformancecmd

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/typed"
	"github.com/openagentprotocol-OAP/oap-gate/internal/conformance/oasis"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence/live"
	"github.com/openagentprotocol-OAP/oap-gate/internal/frame"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict/capped"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// OASIS is the evaluation protocol of providers.
var OASIS = &Protocol{name: "oasis", short: "check an evaluation provider: its answer, claim or report",
	rules: oasis.Rules, declared: true,
	commands: []func(frame.IO, *Protocol) *cobra.Command{newOASISProvider, newOASISClaim,
		newOASISReport}}

// oasisProvider has the flags of oasis provider.
type oasisProvider struct {
	conformanceFlags
	url, response                 string
	profile, requirements, schema string
	tier                          int
	server                        string // URL of a plain or private server that the operator named; empty: none
}

func newOASISProvider(sys frame.IO, p *Protocol) *cobra.Command {
	var o oasisProvider
	c := &cobra.Command{
		Use:   "provider (--url URL | --response FILE) --profile DIR",
		Short: "check a provider's answer against a profile's contract",
		Long: strings.TrimSpace(`
provider reads the contract of a domain profile, asks the provider's endpoint for its answer or takes one from a file,
and reports every gap in one run. What it compares is declared by the provider: nothing of it is verified.`),
		Example: "  oap-conform oasis provider --url https://provider.example \\\n" +
			"    --profile profiles/software-infrastructure\n" +
			"  oap-conform oasis provider --response answer.json \\\n" +
			"    --profile profiles/software-infrastructure --tier 2",
		Args: frame.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return o.run(func() (*conformance, error) { return o.judge(cmd.Context(), sys) })
		},
	}
	o.bind(c, sys, p)
	return c
}

func (o *oasisProvider) bind(c *cobra.Command, sys frame.IO, p *Protocol) {
	o.conformanceFlags.bind(c, sys, p, true)
	f := c.Flags()
	f.StringVar(&o.url, "url", "", "`URL` of the server: with or without /v1/conformance; plain http only for a "+
		"loopback or private address")
	f.StringVar(&o.response, "response", "", "`FILE` with the provider's answer, instead of a request")
	f.StringVar(&o.profile, "profile", "", "`DIR` of the profile; it has "+oasis.RequirementsFile+" and "+
		oasis.ContractFile)
	f.StringVar(&o.requirements, "requirements", "", "YAML `FILE` of requirements, instead of the one in the directory")
	f.StringVar(&o.schema, "schema", "", "`FILE` with the JSON Schema of the requirements map, instead of the one in "+
		"the directory; in Markdown (.md) the json block with a $schema")
	f.IntVar(&o.tier, "tier", 1, "complexity tier `N` to evaluate")
}

// maxTier is far above the tiers that any profile has.
const maxTier = 100

func (o *oasisProvider) check() error {
	switch {
	case (o.url == "") == (o.response == ""):
		return remedy.Errorf("give --url URL or --response FILE", "provider requires either --url or --response")
	case o.profile == "" && (o.requirements == "" || o.schema == ""):
		return remedy.Errorf("name the profile's directory with --profile, or both files with --requirements and "+
			"--schema", "provider requires the contract of a profile")
	case o.tier < 1 || o.tier > maxTier:
		return remedy.Errorf(fmt.Sprintf("give a number from 1 to %d", maxTier), "--tier %d is out of range", o.tier)
	}
	return nil
}

func (o *oasisProvider) judge(ctx context.Context, sys frame.IO) (*conformance, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	contract, err := oasis.Read(oasis.Files{Dir: o.profile, Requirements: o.requirements, Schema: o.schema})
	if err != nil {
		return nil, remedy.Errorf("name the profile's directory with --profile, and files that exist",
			"reading the profile's contract: %v", err)
	}
	found := &conformance{subject: o.response, rows: oasis.ProviderRows()}
	if contract.Profile != "" {
		found.chosen = fmt.Sprintf("profile %s %s, tier %d", contract.Profile, contract.Version, o.tier)
	}
	var in *oasis.Input
	switch {
	case o.response != "":
		data, err := capped.ReadFile(o.response, oasis.MaxResponse)
		if err != nil && !errors.Is(err, capped.ErrTooLarge) {
			return nil, remedy.Errorf("name a file with the provider's answer", "reading --response: %v", err)
		}
		in = oasis.Saved(contract, o.response, data, o.tier)
	default:
		request, err := o.request(contract.Profile)
		if err != nil {
			return nil, err
		}
		found.subject = o.url
		if contract.Profile == "" {
			in = oasis.Unasked(contract, "the contract names no profile to ask about")
			break
		}
		src, stop, err := o.Source(sys, func(live *live.Options) {
			live.Preflight, live.ServerURL = true, o.server
			live.Tries = 2 // it is the first step of a run, not a wait for a server to come up
		})
		if err != nil {
			return nil, err
		}
		defer stop()
		found.source = src
		in = oasis.Asked(contract, evidence.Ask(ctx, found.source, request), o.tier)
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	found.own = &verdict.Member{Name: "oasis", Value: in.Facts()}
	found.results, err = oasis.Judge(in, found.subject)
	return found, err
}

// request asks the endpoint about a profile.
func (o *oasisProvider) request(profile string) (evidence.Request, error) {
	const form = "write it like https://provider.example, or http://127.0.0.1:8080"
	u, err := typed.HTTPURL("--url", o.url)
	if err != nil {
		return evidence.Request{}, err
	}
	if u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" {
		return evidence.Request{}, remedy.Errorf(form, "--url %q holds more than a server and a path",
			typed.Redacted(o.url))
	}
	const endpoint = "/v1/conformance"
	u.Path, u.RawPath = strings.TrimSuffix(strings.TrimRight(u.Path, "/"), endpoint)+endpoint, ""
	u.RawQuery = url.Values{"profile": {profile}}.Encode()
	r := evidence.Request{Protocol: evidence.HTTPS, Target: u.String(), MaxBytes: oasis.MaxResponse}
	switch {
	case live.IsPrivate(u.Hostname()), u.Scheme == "http" && dialsPrivate(&o.Network, u.Hostname()):
		r.Protocol, o.server = evidence.Named, u.String()
	case u.Scheme != "https":
		return evidence.Request{}, remedy.Errorf(
			"use https, or name a loopback or private address: http://127.0.0.1:8080, "+
				"http://localhost:8080, by --connect-to too",
			"--url %q is plain http, and %q is not a loopback or private address",
			o.url,
			u.Hostname(),
		)
	}
	return r, nil
}

// dialsPrivate reports whether the operator named a loopback or private address for a host by --connect-to.
func dialsPrivate(n *frame.Network, host string) bool {
	options, err := n.LiveOptions()
	return err == nil && slices.ContainsFunc(options.ConnectTo, func(to live.ConnectTo) bool {
		return strings.EqualFold(to.Host, host) && live.IsPrivate(to.Addr.Addr().String())
	})
}

func newOASISClaim(sys frame.IO, p *Protocol) *cobra.Command {
	var o conformanceFlags
	var profile string
	var claim oasis.Claim
	c := &cobra.Command{
		Use:   "claim FILE [REPORT]",
		Short: "check a provider's claim of conformance, and its report",
		Long: `claim checks FILE, one YAML or JSON mapping, against section 4: provider and
provider_version or organization, profile, profile_version, date, tiers and
attestation. --profile DIR compares the profile with its contract. REPORT, the
JSON report of oasis provider, must support the claim.

exit status: 0 pass, 1 fail, 2 could not run`,
		Example: "  oap-conform oasis claim claim.yaml report.json",
		Args:    claimArguments("oap-conform oasis claim FILE [REPORT]"),
		RunE: func(_ *cobra.Command, args []string) error {
			return o.run(func() (*conformance, error) {
				var err error
				claim.Path, claim.Now = args[0], o.Now()
				if claim.Text, err = capped.ReadFile(claim.Path, oasis.MaxClaim); err != nil {
					return nil, remedy.Errorf("name a YAML or JSON file of at most 64 KiB", "reading the claim: %v",
						err)
				}
				if len(args) > 1 {
					claim.ReportPath = args[1]
					if claim.Report, err = capped.ReadFile(claim.ReportPath, oasis.MaxReport); err != nil {
						return nil, remedy.Errorf("name a JSON report of at most 16 MiB", "reading the report: %v", err)
					}
				}
				if profile != "" {
					if claim.Contract, err = oasis.Read(oasis.Files{Dir: profile}); err != nil {
						return nil, remedy.Errorf("name the profile's directory with --profile",
							"reading the profile's contract: %v", err)
					}
				}
				results, err := claim.Judge()
				return &conformance{subject: claim.Path, rows: oasis.ClaimRows(), results: results}, err
			})
		},
	}
	o.bind(c, sys, p, false)
	f := c.Flags()
	f.StringVar(&profile, "profile", "", "`DIR` of the profile; its contract must be of the claimed profile")
	frame.DurationVar(f, &claim.MaxAge, "max-age", "365d", "maximum age: that of a claim")
	return c
}

func newOASISReport(sys frame.IO, p *Protocol) *cobra.Command {
	var o conformanceFlags
	var r oasis.Report
	c := &cobra.Command{
		Use:   "report FILE [EVIDENCE…]",
		Short: "check the form of an evaluation report",
		Long: `report checks FILE, one YAML or JSON mapping, as far as section 3 asks for the
form of an evaluation report: its members, the verdict as the conjunction of
the scenarios, the tier, the label of an incomplete evaluation, the reason of
an aborted run, and the source of each observation. EVIDENCE files hold more
observations. What the report says is for people to attest.

exit status: 0 pass, 1 fail, 2 could not run, 3 inconclusive`,
		Example: "  oap-conform oasis report verdict.yaml evidence.json",
		Args:    arguments(1, math.MaxInt, "oap-conform oasis report FILE [EVIDENCE…]", "report requires one FILE"),
		RunE: func(_ *cobra.Command, args []string) error {
			return o.run(func() (*conformance, error) {
				for i, name := range args {
					data, err := capped.ReadFile(name, oasis.MaxReport)
					if err == nil && !utf8.Valid(data) {
						err = errors.New("it is not UTF-8")
					}
					if err != nil {
						return nil, remedy.Errorf("name YAML or JSON files of at most 16 MiB", "reading %s: %v", name,
							err)
					}
					if i == 0 {
						r.Path, r.Text = name, data
					} else {
						r.Evidence = append(r.Evidence, oasis.File{Path: name, Text: data})
					}
				}
				results, err := r.Judge()
				return &conformance{subject: r.Path, rows: oasis.ReportRows(), results: results,
					chosen: plain.Count(len(r.Evidence), "file") + " of evidence"}, err
			})
		},
	}
	o.bind(c, sys, p, false)
	return c
}
