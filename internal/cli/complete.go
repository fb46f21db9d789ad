package cli

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/openagentprotocol-OAP/oap-gate/checks"
	"github.com/openagentprotocol-OAP/oap-gate/internal/author/listing"
	"github.com/openagentprotocol-OAP/oap-gate/internal/conformance/aaep"
	"github.com/openagentprotocol-OAP/oap-gate/internal/conformance/opengap"
	"github.com/openagentprotocol-OAP/oap-gate/internal/frame"
	"github.com/openagentprotocol-OAP/oap-gate/internal/install/installcmd"
	"github.com/openagentprotocol-OAP/oap-gate/internal/report"
)

// maxOffered is how many slugs a shell is offered.
const maxOffered = 10000

// flagWords are the words that a flag takes, in whatever command has it.
var flagWords = map[string][]string{
	"color":       {"auto", "always", "never"},
	"governance":  {"review", "deny"},
	"exception":   {"review", "deny"},
	"reason":      checks.Reasons,
	"status":      listing.Statuses,
	"layout":      {aaep.LayoutSpec, aaep.LayoutReference},
	"dialect":     {opengap.Auto, opengap.Dialect04, opengap.Dialect01},
	"recommended": {"error", "warn"},
}

// complete offers the words that the flags and arguments of a command, and of those below it, take.
func complete(c *cobra.Command) {
	for _, sub := range c.Commands() {
		complete(sub)
	}
	offer := func(flag string, words ...string) {
		if c.Flags().Lookup(flag) != nil {
			_ = c.RegisterFlagCompletionFunc(flag, frame.OneOrMore(words))
		}
	}
	for flag, words := range flagWords {
		offer(flag, words...)
	}
	formats := []string{"text", "json"}
	switch {
	case c.Name() == "list":
		formats = append(formats, "csv")
		offer("level", "L0+", "L1+", "L2+", "L3+", "L4+", "L5", "L1-NC", "L3-NC", "L5-FINANCE", "L5-ORG")
	case c.Flags().Lookup("report") != nil:
		formats = append(formats, "github")
	}
	offer("format", formats...)
	if c.Flags().Lookup("report") != nil {
		_ = c.RegisterFlagCompletionFunc("report", completeReport)
	}
	switch c.Name() {
	case "renew", "revoke", "witness", "prove":
		c.ValidArgsFunction = func(c *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			switch {
			case len(args) > 0:
				return nil, cobra.ShellCompDirectiveNoFileComp
			case c.Name() == "witness": // its subject may be a file too
				return slugs(c), cobra.ShellCompDirectiveDefault
			}
			return slugs(c), cobra.ShellCompDirectiveNoFileComp
		}
	case "fmt", "merge", "comment", "diff":
		c.ValidArgsFunction = cobra.FixedCompletions([]string{"json"}, cobra.ShellCompDirectiveFilterFileExt)
	}
}

func completeReport(c *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
	if strings.Contains(begun, "=") {
		return nil, cobra.ShellCompDirectiveDefault
	}
	var all []string
	for _, format := range report.Formats {
		all = append(all, format+"=")
	}
	if c.Flags().Lookup("verifier") != nil {
		all = append(all, report.StatementFormat+"=")
	}
	return all, cobra.ShellCompDirectiveNoSpace | cobra.ShellCompDirectiveNoFileComp
}

// slugs returns the slugs of the listings on disk in the clone that --repo names. It omits a file name that is not a
// slug: a shell would put it into the line as it is.
func slugs(c *cobra.Command) []string {
	repo, err := c.Flags().GetString("repo")
	if err != nil {
		return nil
	}
	clone, err := installcmd.OpenClone(repo)
	if err != nil {
		return nil
	}
	directory, err := os.Open(filepath.Join(clone.Dir, "implementations"))
	if err != nil {
		return nil
	}
	defer directory.Close()
	names, err := directory.Readdirnames(maxOffered)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil
	}
	var all []string
	for _, name := range names {
		slug, isJSON := strings.CutSuffix(name, ".json")
		if _, err := listing.Path(slug); isJSON && err == nil {
			all = append(all, slug)
		}
	}
	slices.Sort(all)
	return all
}
