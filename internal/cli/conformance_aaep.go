package cli

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/openagentprotocol-OAP/oap-gate/internal/capped"
	"github.com/openagentprotocol-OAP/oap-gate/internal/conformance/aaep"
	"github.com/openagentprotocol-OAP/oap-gate/internal/report"
)

func newAAEPEvents(sys IO, p *protocol) *cobra.Command {
	var o conformanceFlags
	var options aaep.Options
	c := &cobra.Command{
		Use:   "events FILE…",
		Short: "judge the events that a producer emitted: a JSON object, a JSON array, or JSON Lines",
		Long: `events judges captures of a producer, message by message, at level 1 or 2 of chapter 9. Each file is an
input of its own. Replies stand in it in the order in which they passed. What an input does not show is not passed:
without a tool call, an output or, at level 2, an irreversible tool call it is inconclusive.`,
		Example: "  oap-gate conformance aaep events capture.jsonl --level 2\n" +
			"  oap-gate conformance aaep events --single event.json",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef("oap-gate conformance aaep events FILE…", "events wants at least one file")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			return o.run(sys, func() (*conformance, error) {
				if err := checkLevel(options.Level); err != nil {
					return nil, err
				}
				found := &conformance{subject: "producer", rows: aaep.Rows(options), level: options.Level}
				if len(args) == 1 {
					found.subject = args[0]
				}
				for _, name := range args {
					s := aaep.NewStream(name, options)
					if err := readInto(s, name); err != nil {
						return nil, usagef("give a capture that can be read: at most 64 MiB, 200,000 messages of 1 MiB, 50,000 sessions",
							"reading %s: %v", name, err)
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
	c.Flags().IntVar(&options.Level, "level", 1, "1 or 2; 2 includes 1")
	c.Flags().BoolVar(&options.Single, "single", false,
		"judge each message by itself: envelope, schema, summary, urgency, default decision")
	return c
}

func newAAEPClaim(sys IO, p *protocol) *cobra.Command {
	var o conformanceFlags
	var text string
	var claim aaep.Claim
	c := &cobra.Command{
		Use:   "claim --text FILE",
		Short: "judge what is claimed of an implementation, and whether a report bears it out",
		Long: `claim finds the sentences of a text that claim AAEP conformance and holds them to section 9.8: a level,
the version of the suite, a day, and no certificate. With --report FILE it holds them to a conformance report, that of
oap-gate (JSON, or by --report aaep=FILE) or that of the AAEP suite.`,
		Example: "  oap-gate conformance aaep claim --text README.md --report report.json",
		Args:    noArgs,
		RunE: func(*cobra.Command, []string) error {
			judged := o.judged()
			return o.run(sys, func() (*conformance, error) {
				if len(judged) > 1 {
					return nil, usagef("give one of them", "--report %q and --report %q are both to be judged", judged[0], judged[1])
				}
				if text == "" {
					return nil, usagef("name the file with --text, - being standard input", "claim wants a text")
				}
				var err error
				if claim.Path, claim.Text, err = readText(sys, text); err != nil {
					return nil, usagef("name a text of at most 1 MiB", "reading --text: %v", err)
				}
				if len(judged) == 1 {
					claim.ReportPath = judged[0]
					if claim.Report, err = capped.ReadFile(claim.ReportPath, aaep.MaxReport); err != nil {
						return nil, usagef("name a conformance report of at most 32 MiB", "reading the report: %v", err)
					}
				}
				claim.Now = o.now()
				results, level, err := claim.Judge()
				return &conformance{subject: claim.Path, rows: aaep.ClaimRows(), results: results, level: level}, err
			})
		},
	}
	o.bind(c, sys, p, false)
	c.Flags().StringVar(&text, "text", "", "the text in which the claim stands, `FILE`, - being standard input")
	c.Flags().Lookup("report").Usage = "the conformance report, `FILE`, that is to bear the claim out; or also write a report, FORMAT=FILE"
	durationVar(c.Flags(), &claim.MaxAge, "max-age", "365d", "after which a verification counts as old")
	return c
}

// judged takes the values of --report that name a report to judge, rather than one to write.
func (o *conformanceFlags) judged() (files []string) {
	o.reports = slices.DeleteFunc(o.reports, func(r string) bool {
		format, _, _ := strings.Cut(r, "=")
		written := slices.Contains(report.Formats, format) && format != r
		if !written {
			files = append(files, r)
		}
		return !written
	})
	return files
}

// readText reads a text for people, and names it.
func readText(sys IO, name string) (string, []byte, error) {
	if name != toStdout {
		data, err := capped.ReadFile(name, aaep.MaxText)
		return name, data, err
	}
	data, err := capped.ReadAll(cmp.Or(sys.Stdin, io.Reader(strings.NewReader(""))), aaep.MaxText)
	return "stdin", data, err
}

func checkLevel(level int) error {
	if level == 1 || level == 2 {
		return nil
	}
	return usagef("give 1 or 2; what level 3 adds is listed by: oap-gate conformance aaep --list", "--level %d is not decided here", level)
}

// readInto adds a file's messages to a stream.
func readInto(s *aaep.Stream, name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return fmt.Errorf("%q is a folder", name)
	}
	return s.Read(f)
}
