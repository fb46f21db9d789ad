package cli_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/openagentprotocol-OAP/oap-gate/internal/cli"
	"github.com/openagentprotocol-OAP/oap-gate/internal/cli/programs"
	"github.com/openagentprotocol-OAP/oap-gate/internal/frame"
	"github.com/openagentprotocol-OAP/oap-gate/internal/report"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/clitest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

// writing are the flags that name a file that a command writes.
var writing = []string{"report", "record", "out", "entry", "capture", "checkpoint"}

// arguments are those of each command with such a flag, with which it comes to the judgment of its outputs.
var arguments = map[string]string{
	"oap-gate audit":         "--origin x.example/y",
	"oap-gate audit merge":   "../input",
	"oap-gate check":         "",
	"oap-gate doctor":        "",
	"oap-gate forge protect": "--repository x/y --api-url http://127.0.0.1:9",
	"oap-gate key show":      "../key.pub --did did:web:nova.example",
	"oap-gate mirror":        "http://127.0.0.1:9/x ../mirror",
	"oap-gate new":           "nova https://nova.example",
	"oap-gate prove":         "eve --log ../log",
	"oap-gate prove --entry": "eve --check ../input --log-key " +
		"registry.example+53f27dd9+AQa3f8idK5eFQz3TepuYo8j6N/A9srLMDnm+dvh7Ij0h",
	"oap-gate renew":              "eve",
	"oap-gate replay":             "../input",
	"oap-gate revoke":             "eve --reason superseded --draft",
	"oap-gate sign":               "../receipt.json --key ../other.pem",
	"oap-gate verify":             "https://nova.example",
	"oap-gate witness":            "../receipt.json --did did:web:eve.example --key ../other.pem",
	"oap-spec governance":         "",
	"oap-conform aaep claim":      "../input",
	"oap-conform aaep events":     "../input",
	"oap-conform aaep producer":   "--endpoint http://127.0.0.1:9",
	"oap-conform aaep subscriber": "--listen 127.0.0.1:0 -- false",
	"oap-conform oasis claim":     "../input",
	"oap-conform oasis provider":  "--url http://127.0.0.1:9 --profile ..",
	"oap-conform oasis report":    "../input",
	"oap-conform opengap agent":   "..",
	"oap-conform opengap runtime": "-- false",
}

// TestOutputsKeepFiles checks that no flag of any command replaces a private key, a text of the user's or the output of
// another writer, with arguments that are right and with a command line that is wrong in another thing.
func TestOutputsKeepFiles(t *testing.T) {
	w := clitest.Build(t, "base: [{listing: eve}]\npr: [{listing: nova}]\n")
	t.Chdir(w.Repo.Dir)
	const bundle, sarif = "../bundle.json", "../report.sarif"
	files := map[string]string{
		"../notes.md": "# My notes\n",
		"../key.pem": "-----BEGIN PRIVATE KEY-----\n" +
			"MC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC\n-----END PRIVATE KEY-----\n",
		"../jwk": `{"kty":"OKP","crv":"Ed25519","d":"nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A",` +
			`"x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}`,
		"../multikey": "z3u2en7t5LR2WtQH5PfFqMqwVHgeXouLzo6haApm8XHqvjxq",
		"../note.key": "PRIVATE+KEY+log.example+00000000+AAAA\n",
		bundle:        `{"observations":[]}`,
		sarif:         `{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"oap-gate"}}}]}`,
	}
	for name, text := range files {
		must.OK(t, os.WriteFile(name, []byte(text), 0o600))
	}
	try := func(args ...string) string {
		code, said := clitest.Program(t, args...)
		for name, want := range files {
			if got, err := os.ReadFile(name); err != nil || string(got) != want {
				t.Fatalf("%q: %s now holds %.60q, %v", args, name, got, err)
			}
		}
		if code != 2 {
			t.Errorf("%q: exit status %d and\n%s", args, code, said)
		}
		return said
	}
	refused := regexp.MustCompile(`\[output-refused\]|does not write the format|has no bundle|keeps no bundle|is not FORMAT=FILE`)
	for _, p := range programs.All {
		var walk func(c *cobra.Command)
		walk = func(c *cobra.Command) {
			c.LocalFlags().VisitAll(func(f *pflag.Flag) {
				if !slices.Contains(writing, f.Name) {
					return
				}
				more, known := arguments[c.CommandPath()+" --"+f.Name]
				if !known {
					more, known = arguments[c.CommandPath()]
				}
				if !known {
					t.Errorf("%s writes a file, and no arguments of it are known", c.CommandPath())
				}
				for name := range files {
					values := []string{name}
					if f.Name == "report" {
						values = nil
						for _, format := range append(report.Names(p.Formats), report.StatementFormat) {
							values = append(values, format+"="+name)
						}
					}
					for _, value := range values {
						if value == "sarif="+sarif || f.Name == "record" && name == bundle {
							continue
						}
						args := append(strings.Fields(c.CommandPath()), "--"+f.Name, value)
						try(append(args, "--no-such-flag")...)
						said := try(append(args, strings.Fields(more)...)...)
						if !refused.MatchString(said) {
							t.Errorf("%q %s: it says\n%s", args, more, said)
						}
					}
				}
			})
			for _, sub := range c.Commands() {
				walk(sub)
			}
		}
		walk(cli.Command(p, frame.IO{}))
	}
}

// TestOutputsThroughLinks checks that two outputs are not one file that a link leads to, before it exists and after.
func TestOutputsThroughLinks(t *testing.T) {
	w := clitest.Build(t, "base: [{listing: eve}]\npr: [{listing: nova}]\n")
	t.Chdir(w.Repo.Dir)
	must.OK(t, os.Symlink("new.json", "../link"))
	must.OK(t, os.Symlink("link", "../chain"))
	at := w.Now.Format(time.RFC3339)
	for range 2 {
		for _, other := range []string{"../new.json", "../link"} {
			clitest.Run(t, 2, "a file of its own", "check", "--report", "json=../chain", "--record",
				other)
		}
		clitest.Run(t, 0, "", "check", "--offline", "--at", at, "--report", "json=../chain")
		if info, err := os.Lstat("../new.json"); err != nil || !info.Mode().IsRegular() {
			t.Fatalf("the link's target: %v, %v", info, err)
		}
		if target, err := os.Readlink("../link"); err != nil {
			t.Fatalf("the link: %q, %v", target, err)
		}
	}
	// A checkpoint goes to a device, a file of no bytes and through a link, too.
	must.OK(t, os.WriteFile("../empty", nil, 0o600))
	must.OK(t, os.Symlink("empty", "../to-empty"))
	for _, file := range []string{os.DevNull, "../to-empty", "../empty"} {
		clitest.Run(t, 0, "", "audit", "--offline", "--at", at, "--origin", "x.example/y", "--checkpoint", file)
		if info, err := os.Lstat(file); err != nil || (info.Mode()&os.ModeSymlink != 0) != (file == "../to-empty") {
			t.Fatalf("%s: %v, %v", file, info, err)
		}
	}
	if text := string(must.Read(t, "../empty")); !strings.HasPrefix(text, "x.example/y\n") {
		t.Errorf("the checkpoint is %q", text)
	}
	must.OK(t, os.Symlink("round", "../round"))
	clitest.Run(t, 2, "cannot be written", "check", "--offline", "--report", "json=../round")
}
