package docs_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/cli"
	"github.com/openagentprotocol-OAP/oap-gate/internal/cli/oapgate"
	"github.com/openagentprotocol-OAP/oap-gate/internal/conformance/aaep/client"
	"github.com/openagentprotocol-OAP/oap-gate/internal/frame"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/fixture"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/gittest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/needs"
)

// elsewhere are the calls in README.md that TestCommands does not run: TestMirrorPageRuns and TestMirrorPagePeers run
// those of a mirror, TestPolicies those that feed a policy, the scripts of internal/cli the others.
var elsewhere = regexp.MustCompile(`^(mirror|audit) |\| jq `)

// TestCommands runs the calls that README.md and verify.md show, in their order: those that name a clone beside it, the
// others in it.
func TestCommands(t *testing.T) {
	w := must.Get(fixture.Build(t.TempDir(), []byte("base: [{listing: tool, level: L2}]\n")))(t)
	t.Cleanup(func() { w.Close() })
	beside := gittest.At(t, t.TempDir())
	beside.Git("clone", "-q", w.Repo.Dir, "oap-registry")
	clone := gittest.At(t, filepath.Join(beside.Dir, "oap-registry"))
	clone.Date = int(w.Now.Unix())
	publish := func(ago time.Duration) {
		w.Time = w.Now.Add(-ago)
		if _, err := w.Publish("my-agent"); err != nil {
			t.Fatal(err)
		}
	}
	w.Add(fixture.Implementation{Slug: "my-agent", Host: "agent.example"})
	publish(2 * time.Hour)
	beside.Write("list.txt", "https://tool.example\n")
	for name, served := range map[string]string{"did.json": ".well-known/did.json",
		"oap-tool.json": ".well-known/oap-tool.json", "receipt.json": "oap-conformance-receipt.json"} {
		beside.Write(name, string(w.Web.Body("https://tool.example/"+served)))
	}
	before := map[string]func(){
		"renew my-agent": func() {
			clone.Git("update-ref", "refs/remotes/origin/HEAD", clone.Commit())
			publish(time.Hour)
		},
		"check": func() {
			clone.Git("tag", "v1")
			clone.Commit()
			clone.Git("tag", "v2")
		},
	}
	flags := append(w.WebArgs(), "--at", w.Now.Format(time.RFC3339))
	ran := 0
	for _, m := range regexp.MustCompile(`(?m)^    oap-gate (.*?)(?: +[#>].*)?$`).FindAllStringSubmatch(
		page(t, "../README.md")+page(t, "verify.md"), -1) {
		if elsewhere.MatchString(m[1]) {
			continue
		}
		if prepare := before[m[1]]; prepare != nil {
			prepare()
		}
		args := strings.Fields(m[1])
		c, _, err := cli.Command(&oapgate.Program, frame.IO{Getenv: func(string) string { return "" }}).Find(args)
		must.OK(t, err)
		for i := 0; i < len(flags); i += 2 {
			if c.Flags().Lookup(strings.TrimPrefix(flags[i], "--")) != nil {
				args = append(args, flags[i:i+2]...)
			}
		}
		if t.Chdir(clone.Dir); args[0] == "verify" {
			t.Chdir(beside.Dir)
		}
		run(t, 0, args...)
		ran++
	}
	if ran != 15 {
		t.Errorf("%d calls were run", ran)
	}
}

// TestReadme requires that README.md has at most 2,000 words, and that its first 60 lines show how to install the
// program, a first command, and the four uses.
func TestReadme(t *testing.T) {
	text := page(t, "../README.md")
	if n := len(strings.Fields(text)); n > 2000 {
		t.Errorf("README.md has %d words, want at most 2000", n)
	}
	begin := strings.Join(strings.Split(text, "\n")[:60], "\n")
	for _, want := range []string{"## Install\n", "demo\n", "**Get listed.**", "**Gate a registry.**",
		"**Verify an agent**", "**Mirror** "} {
		at := strings.Index(begin, want)
		if at < 0 {
			t.Fatalf("the first 60 lines of README.md do not have %q in this order", want)
		}
		begin = begin[at:]
	}
}

// TestConformancePage runs the examples of conformance.md that need no profile, and reads its scenarios.
func TestConformancePage(t *testing.T) {
	needs.Program(t, "python3")
	text := page(t, "conformance.md")
	dir := gittest.At(t, t.TempDir())
	dir.Write("agents/helper/agent.yaml", "opengap: \"0.4\"\nname: helper\nversion: 1.0.0\ndescription: Orders.\n"+
		"model:\n  provider: anthropic\n  name: some-model\n")
	dir.Write("agents/helper/skills/orders.py", "import os, requests\nfrom gitagent import skill\n\n"+
		"@skill(name=\"orders\", description=\"Looks up an order.\")\ndef find_order(id):\n"+
		"    return requests.get(query=id, url=os.environ[\"ORDERS_URL\"])\n")
	dir.Write("agents/helper/tests/test_orders.py",
		"from skills.orders import find_order\n\ndef test_find():\n    find_order(1)\n")
	dir.Write("agents/helper/.gitignore", ".env\n*.pyc\n__pycache__/\n")
	dir.Write("agents/helper/README.md", "# helper\n")
	capture, missing := os.ReadFile(filepath.FromSlash("../../shared/data/aaep/real/transfer-accept.jsonl"))
	dir.Write("transfer.jsonl", string(capture))
	t.Chdir(dir.Dir)
	example := regexp.MustCompile(`(?m)^    \$ (oap-conform .*)\n((?:(?:    .*)?\n)*)`)
	for _, m := range example.FindAllStringSubmatch(text, -1) {
		switch {
		case strings.Contains(m[1], " oasis "): // TestProviderExampleOfTheDocumentation
			continue
		case strings.Contains(m[1], " transfer.jsonl ") && missing != nil:
			t.Logf("NOT TESTED: %s: %v", m[1], missing)
			continue
		}
		shown := strings.TrimRight(strings.ReplaceAll("\n"+m[2], "\n    ", "\n"), "\n")[1:] + "\n"
		if got := string(run(t, 1, strings.Fields(m[1])...)); !same(shown, got) {
			t.Errorf("%s prints\n%s\nthe page shows\n%s", m[1], got, shown)
		}
	}
	scenarios := regexp.MustCompile(`(?m)^    # scenarios.yml(?:.*\n    )*.*\n`).FindString(text)
	if all, err := client.ReadScenarios("scenarios.yml", []byte(strings.ReplaceAll(scenarios, "\n    ",
		"\n"))); err != nil || len(all) != 7 {
		t.Errorf("%d scenarios, %v", len(all), err)
	}
}
