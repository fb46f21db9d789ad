package prose

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/openagentprotocol-OAP/oap-gate/internal/cli"
	"github.com/openagentprotocol-OAP/oap-gate/internal/cli/programs"
	"github.com/openagentprotocol-OAP/oap-gate/internal/frame"
)

// helpHits returns the short helps that are too long, and the lines of help that are too wide.
func helpHits() (hits []hit) {
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		add := func(rule string, line int, words, write string) {
			hits = append(hits, hit{"help " + c.CommandPath(), rule, c.CommandPath() + " --help", line, words, write})
		}
		if n := len([]rune(c.Short)); n > maxShort {
			add("short", 1, c.Short, fmt.Sprintf("at most %d characters, it has %d", maxShort, n))
		}
		var help strings.Builder
		c.SetOut(&help)
		_ = c.Help()
		for i, line := range strings.Split(help.String(), "\n") {
			if len([]rune(line)) > maxColumns && !strings.HasPrefix(line, "\t") { // the library's commands to copy
				add("columns", i+1, line[:60], fmt.Sprintf("at most %d columns", maxColumns))
			}
		}
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	for _, p := range programs.All {
		walk(cli.Command(p, frame.IO{}))
	}
	return hits
}
