package cli

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/openagentprotocol-OAP/oap-gate/internal/conformance/aaep"
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
