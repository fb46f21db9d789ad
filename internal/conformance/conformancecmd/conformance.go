// Package conformancecmd has a command for each companion protocol.
package conformancecmd

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/typed"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence/bundle"
	"github.com/openagentprotocol-OAP/oap-gate/internal/frame"
	"github.com/openagentprotocol-OAP/oap-gate/internal/report"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// Protocol is a companion protocol with a command of its own.
//
// A protocol consists of a package internal/conformance/NAME, which has its catalogue and its judgment, a file NAME.go
// here with its commands, and rows in the table of oap-conform. A command embeds [conformanceFlags],
// binds them, and passes what it found as [conformance] to their method run. That method adds the rows that nobody can
// see from outside and those that no peer was asked about, settles the report and writes it in every format.
type Protocol struct {
	name     string
	short    string         // what its commands judge
	rules    []verdict.Rule // its whole catalogue, in the order of a report
	declared bool           // the judged party declares what passes, and nobody verified it
	// decides says which check, play or people decide a row; nil: each row is decided by the check of its id.
	decides  func(verdict.Rule) string
	commands []func(frame.IO, *Protocol) *cobra.Command
}

// conformance is what a command found.
type conformance struct {
	subject string           // what the command was pointed at: the subject of the rows on which nothing was decided
	rows    []verdict.Rule   // the catalogue's rows that concern this run: of its role, up to its level
	results []verdict.Result // what was decided; each mechanical row has at least one
	level   int              // that was asked for; 0: none
	chosen  string           // how the input was read, where there was a choice
	own     *verdict.Member  // of this protocol's reports; may be nil
	assumed []string         // flags that leave something out, other than those of network and clock
	source  evidence.Source  // the source of the documents; may be nil
}

// conformanceFlags are what the commands of all protocols share.
type conformanceFlags struct {
	frame.Network
	frame.Output
	protocol *Protocol
}

// bind defines the flags. Those of the network are for a command that asks a peer.
func (o *conformanceFlags) bind(c *cobra.Command, sys frame.IO, p *Protocol, asks bool) {
	f := c.Flags()
	if asks {
		o.Network.BindDocuments(f, "5m")
	} else {
		o.Network.BindAt(f)
		f.BoolVar(&o.Offline, "offline", false, "no network; checks that need it are skipped")
	}
	o.protocol = p
	o.Output.Judges(p.rules, func(string, string) *verdict.Report { return o.report(nil) }, nil)
	o.Output.Bind(c, sys, true)
}

// arguments refuses fewer or more arguments; usage is the command with them, what what it wants.
func arguments(least, most int, usage, what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) < least || len(args) > most {
			return remedy.Errorf(usage, "%s; %s given", what, plain.Count(len(args), "argument"))
		}
		return nil
	}
}

// claimArguments requires FILE and perhaps REPORT. The report that supports a claim is an argument; --report only
// writes.
func claimArguments(usage string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if written, err := c.Flags().GetStringArray("report"); err == nil {
			for _, r := range written {
				if !strings.Contains(r, "=") {
					return remedy.Errorf(usage, "--report %q names no format; the report of a claim is an argument", r)
				}
			}
		}
		return arguments(1, 2, usage, "claim requires one FILE, and takes one REPORT")(c, args)
	}
}

// refuseFlag answers a flag that a command had once by its usage.
func refuseFlag(c *cobra.Command, flag, usage string) {
	refuse := c.FlagErrorFunc()
	c.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok && unknown.GetSpecifiedName() == flag {
			err = remedy.Errorf(usage, "%v", err)
		}
		return refuse(c, err)
	})
}

// report returns the report of a run that decided nothing yet. Without a source the clock is that of the flags.
func (o *conformanceFlags) report(source evidence.Source) *verdict.Report {
	now := o.Now()
	if source != nil {
		now = source.Now()
	}
	return &verdict.Report{Version: 1, Tool: frame.Version(), Mode: "conformance", Protocol: o.protocol.name,
		EvaluatedAt: now.UTC(), Declared: o.protocol.declared, Assumed: o.Assumed(), Evidence: []verdict.Evidence{}}
}

// run writes the report of what judge finds, or why judge failed.
func (o *conformanceFlags) run(judge func() (*conformance, error)) error {
	return o.Tell(func() (*verdict.Report, error) {
		if err := typed.First(o.Network.Check, func() error {
			return o.Place(&o.Network, nil, nil)
		}); err != nil {
			return nil, err
		}
		found, err := judge()
		if err != nil {
			return nil, err
		}
		rep, err := o.settle(found)
		if err != nil || o.Record == "" {
			return rep, err
		}
		b := &bundle.Bundle{Tool: rep.Tool, Mode: rep.Mode, Now: rep.EvaluatedAt,
			Flags: bundle.Flags{Assumed: rep.Assumed}}
		if found.source != nil {
			b.Observations, b.NotReached = found.source.Observations(), found.source.NotReached()
		}
		return rep, report.Keep(o.Record, b)
	})
}

// settle makes the report of what was found. A mechanical row that has no result is a mistake of the program: nothing
// passes by default.
func (o *conformanceFlags) settle(found *conformance) (*verdict.Report, error) {
	rep := o.report(found.source)
	rep.Level, rep.Chosen, rep.Own = found.level, found.chosen, found.own
	rep.Results.Add(found.results...)
	rep.Assumed = slices.Concat(rep.Assumed, found.assumed)
	decided := map[string]bool{}
	var subjects []string
	for _, r := range found.results {
		decided[r.Check] = true
		subjects = append(subjects, r.Subject)
	}
	slices.Sort(subjects)
	rep.Counts.Records = len(slices.Compact(subjects))
	for _, row := range found.rows {
		switch {
		case row.Method == verdict.Attested:
			rep.Results.Add(verdict.Result{Check: row.ID, Subject: found.subject, Verdict: verdict.Manual,
				Reason: row.Title})
		case decided[row.ID]:
		case row.Method == verdict.Live:
			rep.Results.Add(verdict.Result{Check: row.ID, Subject: found.subject, Verdict: verdict.Skipped,
				Reason: notAsked})
		default:
			return nil, fmt.Errorf("check %s %w of %s", row.ID, verdict.ErrUnsaid, found.subject)
		}
	}
	if found.source != nil {
		evidence.Observed(rep, found.source)
	} else {
		rep.EvidenceSHA256 = evidence.Digest(nil)
	}
	rep.Settle(o.protocol.rules)
	return rep, nil
}

// notAsked is why a live row has no verdict where no peer was talked to.
const notAsked = "not run: it takes a running peer, and none was asked"

// New returns the command of a protocol.
func New(sys frame.IO, p *Protocol) *cobra.Command {
	var list bool
	var format string
	c := &cobra.Command{
		Use:     p.name,
		Short:   p.short,
		Example: "  oap-conform " + p.name + " --list",
		Args:    frame.KnownCommand,
		// cobra has it only for messages of its own
		SuggestionsMinimumDistance: 2,
		RunE: func(c *cobra.Command, _ []string) error {
			if !list {
				return c.Help()
			}
			if err := typed.OneOf("--format", format, "text", "json"); err != nil {
				return err
			}
			_, err := sys.Stdout.Write(printed(p, format))
			return err
		},
	}
	c.Flags().BoolVar(&list, "list", false, "print the catalogue of requirements")
	c.Flags().StringVar(&format, "format", "text", "`FORMAT` of stdout: text or json, for the catalogue")
	for _, command := range p.commands {
		c.AddCommand(command(sys, p))
	}
	return c
}

// requirement is a row of a catalogue as --list --format json has it.
type requirement struct {
	ID       string         `json:"id"`
	Protocol string         `json:"protocol"`
	Role     string         `json:"role,omitempty"`
	Level    int            `json:"level,omitempty"`
	Clause   string         `json:"clause"`
	Sentence string         `json:"sentence"`
	Method   verdict.Method `json:"method"`
	By       string         `json:"decided_by,omitempty"`
	Codes    []string       `json:"codes,omitempty"`
}

// printed returns the catalogue of a protocol, as text or JSON.
func printed(p *Protocol, format string) []byte {
	rows := []requirement{}
	for _, r := range p.rules {
		row := requirement{ID: r.ID, Protocol: p.name, Role: r.Role, Level: r.Level, Clause: r.Cite, Sentence: r.Title,
			Method: r.Method}
		if p.decides != nil {
			row.By = p.decides(r)
		}
		for _, code := range r.Codes {
			row.Codes = append(row.Codes, code.ID)
		}
		rows = append(rows, row)
	}
	var b bytes.Buffer
	if format == "json" {
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		e.SetIndent("", "  ")
		if err := e.Encode(rows); err != nil {
			panic(err) // texts of the program's own
		}
		return b.Bytes()
	}
	for _, r := range rows {
		lead := fmt.Sprintf("%-22s %-11s", r.ID, r.Method)
		indent := len(lead)
		if r.Role != "" {
			lead += fmt.Sprintf("%-11s", r.Role)
		}
		if r.Level > 0 {
			lead += fmt.Sprintf("level %d  ", r.Level)
		}
		text := fmt.Sprintf("%s (%s)", r.Sentence, r.Clause)
		if r.By != "" {
			text += "; by " + r.By
		}
		b.WriteString(report.Hang(lead, text, indent, report.Columns) + "\n")
	}
	return b.Bytes()
}
