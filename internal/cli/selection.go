package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/openagentprotocol-OAP/oap-gate/checks"
)

// selectionFlags say which checks run.
type selectionFlags struct {
	only, skip []string
	known      []string // ids of the checks that the command knows
}

func (s *selectionFlags) bind(c *cobra.Command, known []string) {
	s.known = known
	c.Flags().StringSliceVar(&s.only, "only", nil, "run these checks only")
	c.Flags().StringSliceVar(&s.skip, "skip", nil, "leave these checks out")
	for _, name := range []string{"only", "skip"} {
		_ = c.RegisterFlagCompletionFunc(name, oneOrMore(known))
	}
}

func (s *selectionFlags) inputs() []input {
	return []input{{"checks", words(&s.only)}, {"skip", words(&s.skip)}}
}

func (s *selectionFlags) check(offline bool) error {
	for _, ids := range [][]string{s.only, s.skip} {
		for i := range ids {
			ids[i] = strings.TrimSpace(ids[i])
		}
	}
	for _, id := range slices.Concat(s.only, s.skip) {
		if !slices.Contains(s.known, id) {
			return s.unknown(id)
		}
		if offline && slices.Contains(s.only, id) && checks.ByID(id).Online() {
			return usagef("drop --offline, or leave the check out of --only",
				"check %s needs the network, and --offline forbids it", id)
		}
	}
	return nil
}

func (s *selectionFlags) unknown(id string) error {
	if checks.ByID(id) != nil {
		return usagef("run oap-gate audit for it", "check %s is one of audit", id)
	}
	return usagef(didYouMean(id, s.known, "the checks are "+strings.Join(s.known, ", ")), "no check is called %q", id)
}

// selected reports whether a check is to run.
func (s *selectionFlags) selected(id string) bool {
	return (len(s.only) == 0 || slices.Contains(s.only, id)) && !slices.Contains(s.skip, id)
}

// assumed names the flags in effect that leave a check out.
func (s *selectionFlags) assumed() []string {
	var out []string
	if only := strings.Join(s.only, ","); only != "" {
		out = append(out, "--only "+only)
	}
	if skip := strings.Join(s.skip, ","); skip != "" {
		out = append(out, "--skip "+skip)
	}
	return out
}
