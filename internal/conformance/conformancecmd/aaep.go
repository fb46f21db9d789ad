package conformancecmd

import (
	"bytes"
	"cmp"
	"context"
	"crypto"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/typed"
	"github.com/openagentprotocol-OAP/oap-gate/internal/conformance/aaep"
	"github.com/openagentprotocol-OAP/oap-gate/internal/conformance/aaep/claim"
	"github.com/openagentprotocol-OAP/oap-gate/internal/conformance/aaep/client"
	"github.com/openagentprotocol-OAP/oap-gate/internal/conformance/aaep/judge"
	"github.com/openagentprotocol-OAP/oap-gate/internal/conformance/aaep/jws"
	"github.com/openagentprotocol-OAP/oap-gate/internal/conformance/aaep/server"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence/live"
	"github.com/openagentprotocol-OAP/oap-gate/internal/frame"
	"github.com/openagentprotocol-OAP/oap-gate/internal/report"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict/capped"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// AAEP is the event protocol of agents.
var AAEP = &Protocol{name: "aaep", short: "check an AAEP producer or subscriber, or a claim of one",
	rules: aaep.Rules, decides: server.DecidedBy,
	commands: []func(frame.IO, *Protocol) *cobra.Command{newAAEPEvents, newAAEPProducer, newAAEPSubscriber,
		newAAEPClaim, newAAEPExample}}

func newAAEPEvents(sys frame.IO, p *Protocol) *cobra.Command {
	var o conformanceFlags
	var options judge.Options
	c := &cobra.Command{
		Use:   "events FILE…",
		Short: "check the events that a producer emitted",
		Long: `events judges captures of a producer, message by message, at level 1, 2 or 3 of chapter 9. Each file is an
input of its own; - is stdin. Replies are in it, in the order in which they passed; at level 3, so are the messages
of the subscription. What an input does not show is not passed: without a tool call, an output, at level 2 an
irreversible tool call or at level 3 a subscription it is inconclusive.`,
		Example: "  oap-conform aaep events capture.jsonl --level 2\n" +
			"  oap-conform aaep events --single event.json\n" +
			"  oap-conform aaep example --level 2 |\n    oap-conform aaep events - --level 2",
		Args: arguments(1, math.MaxInt, "oap-conform aaep events FILE…", "events requires at least one FILE"),
		RunE: func(_ *cobra.Command, args []string) error {
			return o.run(func() (*conformance, error) {
				if err := checkLevel(options.Level); err != nil {
					return nil, err
				}
				found := &conformance{subject: "producer", rows: judge.Rows(options), level: options.Level}
				if len(args) == 1 {
					found.subject = args[0]
				}
				for _, name := range args {
					s, err := readStream(sys, name, options)
					if err != nil {
						return nil, remedy.Errorf("give a capture that can be read: at most 64 MiB, "+
							"200,000 messages of 1 MiB, 50,000 sessions", "reading %s: %v", name, err)
					}
					results, err := s.Results()
					if err != nil {
						return nil, err
					}
					found.results = append(found.results, results...)
				}
				return found, nil
			})
		},
	}
	o.bind(c, sys, p, false)
	c.Flags().IntVar(&options.Level, "level", 1, "level `N` of the protocol, 1 to 3; a level includes those below")
	c.Flags().BoolVar(&options.Single, "single", false,
		"judge each message by itself: envelope, schema, summary, urgency, default decision")
	return c
}

func newAAEPExample(sys frame.IO, _ *Protocol) *cobra.Command {
	var level int
	c := &cobra.Command{
		Use:   "example",
		Short: "print a capture that passes at a level",
		Long: `example prints the messages of a session, one a line, that pass aaep events at the level.
At level 3 they are frames, and come with their subscription.`,
		Example: "  oap-conform aaep example --level 2 > capture.jsonl",
		Args:    frame.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if err := checkLevel(level); err != nil {
				return err
			}
			_, err := sys.Stdout.Write(aaep.Example(level))
			return err
		},
	}
	c.Flags().IntVar(&level, "level", 1, "level `N` of the protocol, 1 to 3; a level includes those below")
	return c
}

func newAAEPClaim(sys frame.IO, p *Protocol) *cobra.Command {
	var o conformanceFlags
	var made claim.Claim
	const usage = "oap-conform aaep claim FILE [REPORT]"
	c := &cobra.Command{
		Use:   "claim FILE|- [REPORT]",
		Short: "check a claim of conformance and the report behind it",
		Long: `claim finds the claims in FILE, each a sentence in the form of section 9.8:
NAME is AAEP Level N [Producer|Subscriber] conformant[ with the PROFILE vX
[ (URI)]], verified by AAEP Conformance Suite version V on YYYY-MM-DD.
Nothing else is a claim. The phrases that 9.8 forbids are errors. REPORT, of
oap-conform (JSON, or by --report aaep=FILE) or the AAEP suite, must support it.

exit status: 0 pass, 1 fail, 2 could not run, 3 inconclusive`,
		Example: "  oap-conform aaep claim README.md report.json",
		Args:    claimArguments(usage),
		RunE: func(_ *cobra.Command, args []string) error {
			return o.run(func() (*conformance, error) {
				if made.ProfileLevel < 0 || made.ProfileLevel > 3 {
					return nil, remedy.Errorf("give a level from 1 to 3", "--profile-level %d is not a level",
						made.ProfileLevel)
				}
				var err error
				if made.Path, made.Text, err = readText(sys, args[0]); err != nil {
					return nil, remedy.Errorf("name a text of at most 1 MiB", "reading the claim: %v", err)
				}
				if !utf8.Valid(made.Text) {
					return nil, remedy.Errorf("write the text in UTF-8", "%s is not UTF-8", made.Path)
				}
				if len(args) > 1 {
					made.ReportPath = args[1]
					if made.Report, err = capped.ReadFile(made.ReportPath, claim.MaxReport); err != nil {
						return nil, remedy.Errorf("name a conformance report of at most 16 MiB",
							"reading the report: %v", err)
					}
				}
				made.Now = o.Now()
				results, level, err := made.Judge()
				return &conformance{subject: made.Path, rows: claim.ClaimRows(made.ProfileLevel), results: results,
					level: level}, err
			})
		},
	}
	o.bind(c, sys, p, false)
	refuseFlag(c, "text", usage)
	c.Flags().IntVar(&made.ProfileLevel, "profile-level", 0, "level `N` that the claimed profile requires")
	frame.DurationVar(c.Flags(), &made.MaxAge, "max-age", "365d", "maximum age: that of a verification")
	return c
}

// aaepPeer has the flags of a command that talks to a peer.
type aaepPeer struct {
	conformanceFlags
	scenario, capture, manifestKey string
	level                          int
	extensions                     []string
}

// bindPeer defines them. The texts say what a scenario, a key and an extension are.
func (o *aaepPeer) bindPeer(f *pflag.FlagSet, scenario, key, extensions string) {
	f.IntVar(&o.level, "level", 1, "level `N` of the protocol, 1 to 3; a level includes those below")
	f.StringVar(&o.scenario, "scenario", "", "YAML `FILE` of the scenario: "+scenario)
	f.StringVar(&o.manifestKey, "manifest-key", "", "`FILE` of the key that signs the manifest: "+key)
	f.StringSliceVar(&o.extensions, "extensions", nil,
		"a `URI` of an extension, or several joined by commas; "+extensions)
	f.StringVar(&o.capture, "capture", "", "`FILE` for all messages, as frames, one per line")
}

// checkPeer refuses flags that no run could use.
func (o *aaepPeer) checkPeer() error {
	return typed.First(func() error { return checkLevel(o.level) },
		func() error { return checkExtensions(o.extensions) },
		func() error {
			if o.manifestKey != "" && o.level < 3 {
				return remedy.Errorf("give --level 3 too", "--manifest-key is for level 3, --level is %d", o.level)
			}
			return nil
		},
		func() error {
			return o.Place(nil, []report.Target{{Flag: "--capture", Path: o.capture, Former: aaep.IsCapture}}, nil)
		})
}

// hold runs what talks to the peer within a budget, and writes the capture.
func (o *aaepPeer) hold(ctx context.Context, budget time.Duration,
	run func(context.Context, io.Writer) ([]verdict.Result, error)) ([]verdict.Result, error) {
	ctx, cancel := withBudget(ctx, budget)
	defer cancel()
	if o.capture == "" {
		return run(ctx, nil)
	}
	var kept bytes.Buffer
	results, err := run(ctx, &kept)
	return results, cmp.Or(report.Save("--capture "+o.capture, o.capture, aaep.IsCapture, kept.Bytes()), err)
}

// withBudget returns a context that ends after a budget; 0: it does not.
func withBudget(ctx context.Context, budget time.Duration) (context.Context, context.CancelFunc) {
	if budget <= 0 {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, budget)
}

// found returns the results of a run with a peer.
func (o *aaepPeer) found(subject, chosen string, rows []verdict.Rule, results []verdict.Result) *conformance {
	if len(o.extensions) > 0 {
		chosen += ", extensions " + strings.Join(o.extensions, " ")
	}
	return &conformance{subject: subject, rows: rows, results: results, level: o.level, chosen: chosen}
}

// aaepProducer has the flags of aaep producer.
type aaepProducer struct {
	aaepPeer
	url, layout string
}

func newAAEPProducer(sys frame.IO, p *Protocol) *cobra.Command {
	var o aaepProducer
	c := &cobra.Command{
		Use:   "producer --endpoint URL",
		Short: "run sessions with a producer, and check what it emits",
		Long: `producer starts one session for each scenario, answers its confirmations as the scenario says, and judges all
that passes as events does. It also judges the timeout, and whether a forged, second or late reply is honored. Level 3
adds six sessions that negotiate, renegotiate and close, about half a minute at 2 events a second.
A scenario file is a YAML list of {name, start, reply}: start is a text or a JSON body, reply one of accept, reject,
none, forged, twice and late. What makes a producer ask is its own business; give it harmless tools, or a place
where nothing can break.`,
		Example: "  oap-conform aaep producer --endpoint http://127.0.0.1:8080 \\\n" +
			"    --layout reference\n" +
			"  oap-conform aaep producer --endpoint https://agent.example \\\n" +
			"    --level 2 --scenario scenarios.yml --capture session.jsonl",
		Args: frame.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return o.run(func() (*conformance, error) {
				if cmd.Flags().Changed("endpoint") && cmd.Flags().Changed("url") {
					return nil, remedy.Errorf("leave --url out", "--endpoint and --url both name the producer")
				}
				return o.judge(cmd.Context())
			})
		},
	}
	o.bind(c, sys, p, true)
	f := c.Flags()
	for _, name := range []string{"record", "replay", "offline", "retry-wait"} {
		_ = f.MarkHidden(name) // a conversation is not repeated: --capture keeps it, and events judges it again
	}
	f.Lookup("timeout").Usage = "time limit for one exchange: an answer, and the wait between two events of a session"
	f.Lookup("budget").Usage = "time limit for the run; the timeouts of its questions included; 0 for none"
	f.StringVar(&o.url, "endpoint", "",
		"the producer's `URL`; plain http only for a loopback or private address")
	f.StringVar(&o.url, "url", "", "`URL` of the server: another spelling of --endpoint")
	o.bindPeer(f, "sessions (default: one, with the text \"What can you do?\")",
		"the producer's, JWK or PEM; level 3", "supported_extensions of the subscription")
	f.StringVar(&o.layout, "layout", client.LayoutSpec,
		"`LAYOUT` of the endpoints: spec (appendix B) or reference (the public example producers)")
	return c
}

// check refuses flags that no run could use, in addition to those that run refuses.
func (o *aaepProducer) check() (*url.URL, error) {
	const form = "write it like https://agent.example, or http://127.0.0.1:8080"
	u, err := typed.HTTPURL("--endpoint", o.url)
	switch {
	case err != nil:
		return nil, err
	case u == nil:
		return nil, remedy.Errorf(form, "producer requires --endpoint")
	case u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return nil, remedy.Errorf(form, "--endpoint %q holds more than a server and a path", typed.Redacted(o.url))
	case u.Scheme == "http" && !live.IsPrivate(u.Hostname()) && !dialsPrivate(&o.Network, u.Hostname()):
		return nil, remedy.Errorf("use https, or name a loopback or private address, by --connect-to too",
			"--endpoint %q is plain http, and %q is not a loopback or private address", o.url, u.Hostname())
	case o.Offline || o.Record != "" || o.Replay != "":
		return nil, remedy.Errorf("keep the conversation with --capture, and judge it again with "+
			"oap-conform aaep events", "producer talks to a running peer: --offline, --record and --replay have no "+
			"meaning here")
	}
	return u, typed.First(o.checkPeer,
		func() error { return typed.OneOf("--layout", o.layout, client.LayoutSpec, client.LayoutReference) })
}

func (o *aaepProducer) judge(ctx context.Context) (*conformance, error) {
	u, err := o.check()
	if err != nil {
		return nil, err
	}
	scenarios, err := readFlag("--scenario", o.scenario, aaep.MaxScenarioFile, client.ReadScenarios,
		"give a YAML list of {name, start, reply}: see docs/conformance.md")
	if err != nil {
		return nil, err
	}
	if o.scenario == "" {
		scenarios = client.DefaultScenarios()
	}
	way, err := o.LiveOptions()
	if err != nil {
		return nil, err
	}
	transport, public, err := transports(way, u)
	if err != nil {
		return nil, err
	}
	key, err := readFlag("--manifest-key", o.manifestKey, jws.MaxKey, func(_ string, data []byte) (crypto.PublicKey,
		error) {
		return jws.ParseKey(data)
	}, "give a JWK or PEM file of a P-256, RSA or Ed25519 public key")
	if err != nil {
		return nil, err
	}
	live := &client.Live{Transport: transport, URL: u, Layout: o.layout, Level: o.level, Scenarios: scenarios,
		Timeout: way.Timeout, Path: cmp.Or(o.capture, u.String()), UserAgent: way.UserAgent,
		Extensions: o.extensions, Public: public, ManifestKey: key}
	results, err := o.hold(ctx, way.Budget, func(ctx context.Context, to io.Writer) ([]verdict.Result, error) {
		live.Capture = to
		return live.Run(ctx)
	})
	return o.found(u.String(), fmt.Sprintf("layout %s, %s", o.layout, plain.Count(len(scenarios), "scenario")),
		judge.Rows(judge.Options{Level: o.level}), results), err
}

// readFlag reads the file that a flag names. If the flag names none, it returns the zero value.
func readFlag[T any](flag, name string, most int64, read func(string, []byte) (T, error), fix string) (v T, err error) {
	if name == "" {
		return v, nil
	}
	data, err := capped.ReadFile(name, most)
	if err == nil {
		v, err = read(name, data)
	}
	if err != nil {
		return v, remedy.Errorf(fix, "reading %s: %v", flag, err)
	}
	return v, nil
}

// checkExtensions requires absolute URIs.
func checkExtensions(uris []string) error {
	const fix = "write it like https://example.org/finance/context/v1"
	if len(uris) > maxExtensions {
		return remedy.Errorf(fmt.Sprintf("name at most %d", maxExtensions), "--extensions names %d URIs", len(uris))
	}
	for _, uri := range uris {
		u, err := url.Parse(uri)
		if err != nil || !u.IsAbs() || strings.ContainsFunc(uri, unicode.IsSpace) {
			return remedy.Errorf(fix, "--extensions %q is not an absolute URI", plain.Cut(uri, 80))
		}
	}
	return nil
}

// maxExtensions is how many extensions the published schema of subscription.request allows.
const maxExtensions = 64

// transports make the connections to the server that the operator named, and to public ones.
func transports(options live.Options, u *url.URL) (server, public http.RoundTripper, err error) {
	const fix = "name a server that can be reached, and a PEM file with --ca-cert"
	if public, err = live.NewTransport(options, u); err != nil {
		return nil, nil, remedy.With(err, fix)
	}
	options.ServerURL, options.Jobs = u.String(), 0
	server, err = live.ServerTransport(options)
	return server, public, remedy.With(err, fix)
}

// readText reads a text for people, and names it.
func readText(sys frame.IO, name string) (string, []byte, error) {
	if name != "-" {
		data, err := capped.ReadFile(name, claim.MaxText)
		return name, data, err
	}
	data, err := capped.ReadAll(sys.Stdin, claim.MaxText)
	return "stdin", data, err
}

func checkLevel(level int) error {
	if level >= 1 && level <= 3 {
		return nil
	}
	return remedy.Errorf("give a level from 1 to 3", "--level %d is not decided here", level)
}

// readStream reads the messages of a file, or of stdin if its name is "-".
func readStream(sys frame.IO, name string, options judge.Options) (*judge.Stream, error) {
	if name == "-" {
		s := judge.NewStream("stdin", options)
		return s, s.Read(sys.Stdin)
	}
	f, err := capped.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return nil, fmt.Errorf("%q is a directory", name)
	}
	s := judge.NewStream(name, options)
	return s, s.Read(f)
}
