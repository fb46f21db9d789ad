package cli_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/openagentprotocol-OAP/oap-gate/internal/cli"
	"github.com/openagentprotocol-OAP/oap-gate/internal/cli/oapgate"
	"github.com/openagentprotocol-OAP/oap-gate/internal/frame"
	"github.com/openagentprotocol-OAP/oap-gate/internal/report"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/clitest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

// writing are the flags that name a file that a command writes.
var writing = []string{"report", "record", "out", "entry", "capture", "checkpoint"}

// TestOutputsKeepKeys checks that no flag of any command, nor a command line that is wrong in another thing, replaces a
// private key or a text of the user's.
func TestOutputsKeepKeys(t *testing.T) {
	w := clitest.Build(t, "base: [{listing: eve}]\npr: [{listing: nova}]\n")
	t.Chdir(w.Repo.Dir)
	files := map[string]string{"../notes.md": "# My notes\n", "../jwk": `{"kty":"OKP","crv":"Ed25519",` +
		`"d":"nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}`}
	for name, text := range files {
		must.OK(t, os.WriteFile(name, []byte(text), 0o600))
	}
	tried := 0
	try := func(refused bool, args ...string) {
		tried++
		code, told := clitest.Program(t, args...)
		if code != 2 || refused && !strings.Contains(told, "[output-refused]") {
			t.Errorf("%q: exit status %d and\n%s", args, code, told)
		}
		for name, want := range files {
			if got, err := os.ReadFile(name); err != nil || string(got) != want {
				t.Fatalf("%q: %s now holds %.60q, %v", args, name, got, err)
			}
		}
	}
	var walk func(c *cobra.Command, path []string)
	walk = func(c *cobra.Command, path []string) {
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if !slices.Contains(writing, f.Name) {
				return
			}
			for name := range files {
				values := []string{name}
				if f.Name == "report" {
					values = nil
					for _, format := range append(slices.Clone(report.Names(oapgate.Program.Formats)),
						report.StatementFormat) {
						values = append(values, format+"="+name)
					}
				}
				for _, value := range values {
					try(false, append(slices.Clone(path), "--no-such-flag", "--"+f.Name, value)...)
				}
			}
		})
		for _, sub := range c.Commands() {
			walk(sub, append(slices.Clone(path), sub.Name()))
		}
	}
	walk(cli.Command(&oapgate.Program, frame.IO{}), nil)
	for name := range files {
		for _, format := range []string{"text", "json", "github", "markdown", "sarif", "junit", "html"} {
			try(true, "check", "--offline", "--report", format+"="+name)
			try(true, "verify", "https://nova.example", "--offline", "--report", format+"="+name)
		}
		try(true, "check", "--record", name)
		try(true, "prove", "eve", "--out", name, "--log", "../log")
		try(false, "prove", "eve", "--check", "none", "--entry", name, "--log-key", "none")
	}
	if tried < 100 {
		t.Errorf("%d outputs were tried; expected all", tried)
	}
}
