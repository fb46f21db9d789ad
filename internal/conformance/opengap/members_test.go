package opengap

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

func TestMembers01(t *testing.T) {
	more := func(text string) files { return files{"agent.yaml": agent01["agent.yaml"] + text} }
	wrong := func(line string) []string { return []string{"agent.yaml:" + line + " gap01-manifest member-value"} }
	hooks := func(text string) files { return files{"hooks/hooks.yaml": text, "hooks/a/b.sh": "x"} }
	const hook = "hooks:\n  on_error:\n    - {script: a/b.sh, description: x"
	try(t, agent01, []row{
		{"all of a kind", more("author: A\ntags: [a, b]\nmodel: {preferred: x, constraints: {top_p: 1, max_tokens: " +
			"1.0}}\nmetadata: {a: 1, b: x, c: true}\na2a: {url: 'https://a.example'}\n"), nil},
		{"text for a map", more("model: x\n"), wrong("8")},
		{"text for a list", more("tags: a\n"), wrong("8")},
		{"twice in a list", more("tags: [a, b, a]\n"), wrong("8")},
		{"number for a text", more("author: 5\n"), wrong("8")},
		{"fraction", more("runtime: {max_turns: 1.5}\n"), wrong("8")},
		{"below its range", more("runtime: {max_turns: 0}\n"), wrong("8")},
		{"above its range", more("model: {constraints: {top_p: 1.01}}\n"), wrong("8")},
		{"other word", more("delegation: {mode: manual}\n"), wrong("8")},
		{"no URI", more("a2a: {url: agents}\n"), wrong("8")},
		{"map in metadata", more("metadata: {a: {b: c}}\n"), wrong("8")},
		{"unknown, deep", more("model: {constraints: {heat: 1}}\n"),
			[]string{"agent.yaml:8 gap01-manifest unknown-field"}},
		{"required, deep", more("registries: [{url: 'https://a.example'}]\n"),
			[]string{"agent.yaml:8 gap01-manifest missing-field"}},
		{"two triggers in one", more("compliance: {supervision: {escalation_triggers: [{custom: a, error_detected: " +
			"true}]}}\n"),
			wrong("8")},
		{"server", more("mcp_servers: {a: {command: x, env: {A: b}}}\n"), nil},
		{"server of two kinds", more("mcp_servers: {a: {command: x, url: 'https://a.example'}}\n"), wrong("8")},
		{"server of none", more("mcp_servers: {a: {args: []}}\n"), wrong("8")},
		{"high risk", more("compliance: {risk_tier: high, supervision: {human_in_the_loop: none}}\n"),
			[]string{"agent.yaml:8 gap01-manifest member-value", "agent.yaml:8 gap01-manifest missing-field"}},
		{"high risk, guarded", more("compliance: {risk_tier: critical, supervision: {human_in_the_loop: always}, " +
			"recordkeeping: {audit_logging: true}}\n"), nil},
		{"hooks", hooks(hook + ", timeout: 5}\n"), nil},
		{"hook of another event", hooks("hooks: {on_start: []}\n"),
			[]string{"hooks/hooks.yaml:1 gap01-hooks unknown-field"}},
		{"hook without a description", hooks("hooks:\n  on_error:\n    - {script: a/b.sh}\n"),
			[]string{"hooks/hooks.yaml:3 gap01-hooks missing-field"}},
		{"hook outside", hooks(strings.Replace(hook, "a/b.sh", "../SOUL.md", 1) + "}\n"),
			[]string{"hooks/hooks.yaml:3 gap01-hooks script-not-there"}},
		{"hooks that cannot be read", hooks("hooks: [\n"), []string{"hooks/hooks.yaml:2 gap01-hooks hooks-unreadable"}},
		{"list for hooks", hooks("[]\n"), []string{"hooks/hooks.yaml:1 gap01-hooks hooks-unreadable"}},
	})
}

// The cases next to this clone.
func TestSharedAgents(t *testing.T) {
	for _, name := range []string{"members-0.1.json", "skills-0.4.json"} {
		data, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "shared", "data", "opengap", name))
		if err != nil {
			t.Skip("the agents are not next to this clone")
		}
		var cases []struct {
			Case, Dialect string
			Files         files
			Findings      []struct{ Check, Code string }
		}
		must.OK(t, json.Unmarshal(data, &cases))
		for _, c := range cases {
			j := must.Get(Judge(Options{Python: onPath(t), Dir: c.Files.write(t), Dialect: c.Dialect}))(t)
			var got, want []string
			for _, r := range j.Results {
				for _, f := range r.Findings {
					if f.Severity.String() != "notice" {
						got = append(got, r.Check+" "+f.Code)
					}
				}
			}
			for _, f := range c.Findings {
				want = append(want, f.Check+" "+f.Code)
			}
			slices.Sort(got)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Errorf("%s: %s, want %s", c.Case, got, want)
			}
		}
	}
}
