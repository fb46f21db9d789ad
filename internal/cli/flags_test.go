package cli_test

import (
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/openagentprotocol-OAP/oap-gate/internal/cli"
	"github.com/openagentprotocol-OAP/oap-gate/internal/cli/programs"
	"github.com/openagentprotocol-OAP/oap-gate/internal/frame"
)

var endOfMeaning = regexp.MustCompile(`[:;] | \(`)

// TestReadmeFlags requires that a flag name takes one kind of value, by its type and its metavariable, and has one
// meaning in all commands: that is the text up to the first colon, semicolon or parenthesis, and docs/flags.md lists
// it. Only --level differs between the programs.
func TestReadmeFlags(t *testing.T) {
	rows, types, at, names := map[string]string{}, map[string]string{}, map[string]string{}, map[string]bool{}
	for _, p := range programs.All {
		var walk func(c *cobra.Command)
		walk = func(c *cobra.Command) {
			c.LocalFlags().VisitAll(func(f *pflag.Flag) {
				metavariable, usage := pflag.UnquoteUsage(f)
				meaning := endOfMeaning.Split(usage, 2)[0]
				name := f.Name
				if f.Name == "level" && p.Name == "oap-conform" {
					name += " of " + p.Name
				}
				row := fmt.Sprintf("| `--%s` | %s |\n", strings.TrimSpace(f.Name+" "+metavariable),
					cell(meaning))
				if was, known := rows[name]; known && was != row {
					t.Errorf("--%s has two meanings:\n%s: %s%s: %s", name, at[name], was, c.CommandPath(), row)
				}
				if was, known := types[name]; known && was != f.Value.Type() {
					t.Errorf("--%s is a %s in %s and a %s in %s", name, was, at[name], f.Value.Type(), c.CommandPath())
				}
				rows[name], types[name], at[name], names[f.Name] = row, f.Value.Type(), c.CommandPath(), true
			})
			for _, sub := range c.Commands() {
				walk(sub)
			}
		}
		walk(cli.Command(p, frame.IO{}))
	}
	follows(t, "docs/flags.md", func(text string) string {
		table := "| flag | meaning |\n|---|---|\n"
		for _, name := range slices.Sorted(maps.Keys(rows)) {
			table += rows[name]
		}
		return between(t, text, "<!-- flags: go test ./internal/cli -run Readme -update -->\n", "<!-- end of flags -->",
			table)
	})
	page, err := os.ReadFile("../../../shared/design/cli.md")
	if err != nil {
		return // only where the pages of the design are
	}
	_, section, _ := strings.Cut(string(page), "\n## One flag, one meaning\n")
	section, _, _ = strings.Cut(section, "\n## ")
	for _, found := range regexp.MustCompile("`(?:[a-z ]+ )?--([a-z0-9-]+)").FindAllStringSubmatch(section, -1) {
		if !names[found[1]] {
			t.Errorf("cli.md lists --%s, which no command has", found[1])
		}
	}
}
