package hostile_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/foreign"
	"github.com/openagentprotocol-OAP/oap-gate/internal/cli/oapgate"
	"github.com/openagentprotocol-OAP/oap-gate/internal/frame"
	"github.com/openagentprotocol-OAP/oap-gate/internal/report"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/clitest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/fixture"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/ghtest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

// payloads try to take effect in a log, a terminal, a page. MARK names the place where they stood.
var payloads = map[string]string{
	"at the start of a line": "::error file=x::MARK",
	"behind white space":     " \t::stop-commands::MARK",
	"what ends a fold":       "MARK</summary></details><summary>MARK</summary>\n\n</details>\n<!--MARK",
	"everything": "x\r\n::error::MARK\n##[error]MARK\r  ::add-mask::MARK\u2028::error::MARK\u0085##[group]MARK" +
		" #\u200b#[command]MARK \x1b[31mMARK\x1b]8;;https://evil.example\x07 \u202eMARK\u2066 " +
		"`</td></table></details><img src=x onerror=alert(1)><script>alert(1)</script>` [MARK](https://evil.example) " +
		"@maintainer #1 | \\| ##[endgroup] {0} ]]> --> %0A::error::MARK",
}

const witnesses = `
  - {listing: ada, level: L4, witness: [bob]}
  - {listing: bob, level: L4, witness: [ada]}
  - {listing: cyd, level: L4, witness: [ada]}
`

// hostileWorlds have a payload wherever a proposer, a document or a server can put a text: «place», or ‹place›
// where what stands there is not told. Each stands in a double-quoted text.
var hostileWorlds = map[string]string{
	"listing": `
base:
  - {listing: ada}
pr:
  - {listing: l1, set: {/name: "‹name›", /contact: "«contact»", /issued_at: "«issued_at»", /jurisdictions: ["«jurisdiction»"], "/«member»": 1}}
  - {listing: l2, set: {/manifest_uri: "https://l2.example/«manifest_uri»", /conformance_receipt_uri: "https://l2.example/«receipt_uri»"}}
  - {listing: l3, set: {/tool_did: "«tool_did»"}}
  - {listing: l4, set: {/conformance_level: "«level»", /conformance_receipt_sha256: "«pin»"}}
  - {listing: l5, set: {/slug: "«slug»"}}
  - {write: "implementations/«file».json", text: x}
  - {write: "implementations/l7.json", text: "{\"«twice»\": 1, \"«twice»\": 2}"}
  - {write: "implementations/l6.json", text: "‹text›"}
  - {write: "«governance»", text: x}
  - {reissue: ada, set: {/name: "«renamed»", /license: "«license»"}}
`,
	"documents": `
base:` + witnesses + `
  - {listing: fox, level: L4, witness: [ada], legal_name: "«legal_name»"}
  - {listing: gus, level: L4, witness: [ada], legal_name: "«legal_name»"}
pr:
  - {listing: d1, did_document: {set: {/id: "«document_id»"}}}
  - {listing: d2, did_document: {set: {/verificationMethod/0/id: "«key_id»"}}}
  - {listing: d3, manifest: {set: {/tool/did: "«manifest_did»", /conformance/receipt_uri: "«manifest_receipt»"}}}
  - {listing: d4, receipt: {set: {/implementation/did: "«receipt_did»", /claimed_levels: ["«claimed»"], /validity/not_before: "«not_before»", /suite: {"‹suite›": 1}}}}
  - {listing: d5, by: "did:web:d5.example#«by»", signing_key: other}
  - {listing: d6, level: L4, witness: [ada, {slug: bob, did: "«witness_did»"}, {slug: cyd, alg: "«witness_alg»"}]}
  - {listing: d7, level: L5, witness: [ada, bob, cyd], auditor: "«auditor»", receipt: {set: {/external_audit/framework: "«framework»", /external_audit/valid_until: "«valid_until»"}}}
  - {listing: d8, tamper: {body: "‹receipt_text›"}}
  - {listing: d9, manifest: {set: {/ad_hoc_teamwork: {convention_discovery_v2: true, unilateral_timeout_ms: 1, aht_fallback_policy: {policy_class: "«policy_class»", assumptions: [a]}}}}}
  - {listing: d10, level: L5, witness: [fox, gus, ada]}
  - {listing: d11}
  - {listing: d12}
  - {listing: d13}
  - {listing: d14}
web:
  - {domain: d11.example, rdap: {body: "{\"objectClassName\": \"domain\", \"ldhName\": \"«rdap_name»\"}"}, whois: {body: "Creation Date: ‹whois›"}}
  - {domain: d12.example, rdap: {body: "‹rdap›"}, whois: {body: "‹whois_reply›"}}
  - {url: "https://d13.example/.well-known/did.json", redirect: "https://evil.example/‹redirect›"}
  - {url: "https://d14.example/.well-known/oap-tool.json", body: "{\"«manifest_member»\": 1, \"«manifest_member»\": 1}"}
`,
	"records": `
base:` + witnesses + `
  - {listing: eve}
  - {listing: fay}
  - {listing: gil}
  - {listing: hal}
  - {listing: ivy}
  - {write: schemas/revocation.schema.json, text: "{\"type\": \"object\"}"}
  - {write: schemas/workflow-anchor.schema.json, text: "{\"type\": \"object\"}"}
pr:
  - {revoke: eve, reason: "«reason»"}
  - {revoke: ivy, tamper: {set: {/revoked_at: "«revoked_at»"}}}
  - {revoke: fay, revocation: {set: {/revoked_by_did: "«revoked_by»"}}}
  - {revoke: gil, tamper: {set: {/signature: "«signature_text»"}}}
  - {revoke: hal, witness: [{slug: ada, did: "«revocation_witness»"}, {slug: bob, alg: "«revocation_alg»"}]}
  - {anchor: one, coordinator: ada, workflow: "«workflow»"}
  - {anchor: two, coordinator: ada, workflow: "«workflow»"}
  - {anchor: three, coordinator: ada, set: {/coordinator_did: "did:web:«coordinator»", /failover_coordinator_did: "«failover»"}}
  - {anchor: four, coordinator: ada, set: {/cross_match_receipt_uri: "https://ada.example/‹cross_match›"}}
  - {anchor: five, coordinator: ada, set: {/anchored_at: "«anchored_at»"}}
`,
	"standing": `
policy: "«policy»: 1"
base:
  - {listing: ada, set: {/name: "‹standing_name›", /contact: "«standing_contact»"}}
  - {write: "revocations/«standing_file»", text: x}
  - {write: "peer-witnesses/bob.json", text: "{\"«standing_member»\": 1}"}
  - {write: schemas/workflow-anchor.schema.json, text: "{\"type\": \"‹type›\"}"}
pr:
  - {listing: nova}
`,
}

// TestHostileText checks that no foreign text takes effect: the real program gates worlds that are full of it, and all
// that it writes is read as the runner, a terminal and viewers read it.
func TestHostileText(t *testing.T) {
	for _, world := range slices.Sorted(maps.Keys(hostileWorlds)) {
		t.Run(world, func(t *testing.T) {
			t.Parallel()
			var places []string
			var all strings.Builder
			for _, payload := range slices.Sorted(maps.Keys(payloads)) {
				t.Run(payload, func(t *testing.T) {
					var text string
					text, places = poisonedWorld(hostileWorlds[world], payloads[payload])
					w := clitest.Build(t, text)
					all.WriteString(gateHostile(t, w))
				})
			}
			for _, mark := range places {
				if !strings.Contains(all.String(), mark) {
					t.Errorf("nothing is said of %s, so that the world tests nothing there", mark)
				}
			}
		})
	}
}

var place = regexp.MustCompile("[«‹]([a-z_]+)[»›]")

// poisonedWorld puts the payload in the places of a world, and names those that must be told of.
func poisonedWorld(world, payload string) (text string, told []string) {
	var out strings.Builder
	for line := range strings.Lines(world) {
		inner := strings.Index(line, `"{\"`) // a text within a text is quoted twice
		out.WriteString(replaceAt(line, func(at int, open, name string) string {
			mark := "pwned-" + name + "."
			if open == "«" {
				told = append(told, mark)
			}
			p := strings.ReplaceAll(payload, "MARK", mark)
			switch {
			case strings.HasSuffix(name, "file") || name == "governance":
				p = fileName(p)
			case name == "member":
				p = strings.ReplaceAll(p, "/", "~1") // it stands in a JSON Pointer
			}
			p = quoted(p)
			if inner >= 0 && at > inner {
				p = quoted(p)
			}
			return p
		}))
	}
	slices.Sort(told)
	return out.String(), slices.Compact(told)
}

// fileName is as much of s as one name in a tree can hold.
func fileName(s string) string {
	var out strings.Builder
	for _, r := range s {
		if r < ' ' || r == '/' || out.Len() > 200 {
			continue
		}
		out.WriteRune(r)
	}
	return out.String()
}

func replaceAt(line string, f func(at int, open, name string) string) string {
	var out strings.Builder
	end := 0
	for _, m := range place.FindAllStringSubmatchIndex(line, -1) {
		out.WriteString(line[end:m[0]] + f(m[0], line[m[0]:m[2]], line[m[2]:m[3]]))
		end = m[1]
	}
	return out.String() + line[end:]
}

// quoted is s as it stands between the quotes of a JSON or YAML text, in ASCII.
func quoted(s string) string {
	text := strconv.QuoteToASCII(s)
	return strings.NewReplacer(`\x`, `\u00`, `\a`, `\u0007`, `\v`, `\u000b`).Replace(text[1 : len(text)-1])
}

// gateHostile gates a world in every format, and returns the text that people read.
func gateHostile(t *testing.T, w *fixture.World) string {
	t.Helper()
	bundle := filepath.Join(t.TempDir(), "bundle.json")
	told := inEveryFormat(t, oapgate.Program.Formats, slices.Concat([]string{"check"}, w.Args(), w.RangeArgs()),
		[]string{"--record", bundle}, []string{"--replay", bundle})
	asAction(t, w)
	return told
}

// inEveryFormat runs a command line, which must fail, in every format, and returns the text that people read. The first
// run writes all reports, and has more arguments than the others.
func inEveryFormat(t *testing.T, formats []report.Format, args, first, others []string) (told string) {
	t.Helper()
	dir := t.TempDir()
	for _, format := range report.Names(formats) {
		first = append(first, "--report", format+"="+filepath.Join(dir, format))
	}
	env := map[string]string{"GITHUB_STEP_SUMMARY": filepath.Join(dir, "summary")}
	for _, format := range []string{"text", "json", "github"} {
		var log bytes.Buffer
		code := clitest.Main(slices.Concat(args, first, []string{"--format", format, "--color", "never", "--summary"}),
			frame.IO{Stdout: &log, Stderr: &log, Getenv: func(name string) string { return env[name] }})
		first = others
		if code != 1 {
			t.Fatalf("exit status %d, want 1\n%s", code, log.String())
		}
		switch format {
		case "github":
			annotationsOnly(t, log.String())
		case "text":
			told = log.String()
			fallthrough
		default:
			inert(t, format, log.String())
		}
	}
	for _, format := range append(report.Names(formats), "summary") {
		text := string(must.Read(t, filepath.Join(dir, format)))
		switch format {
		case "github":
			annotationsOnly(t, text)
			continue
		case "summary":
			format = "markdown"
		case "json":
			r := must.Get(report.Read(format, []byte(text)))(t)
			comment := report.Comment(r, "", 20_000)
			inert(t, "the comment", comment)
			asViewed(t, "markdown", comment)
		}
		inert(t, format, text)
		asViewed(t, format, text)
	}
	return told
}

// inert fails where a text holds a command of the runner or a character that does not show as itself.
func inert(t *testing.T, what, text string) {
	t.Helper()
	if found := ghtest.Commands(text); found != nil {
		t.Errorf("%s: the runner finds %q", what, found)
	}
	printable(t, what, text)
}

func printable(t *testing.T, what, text string) {
	t.Helper()
	for _, r := range text {
		if (r < ' ' || r > '~') && r != '\n' &&
			(!unicode.IsPrint(r) || unicode.In(r, unicode.Bidi_Control, unicode.Other_Default_Ignorable_Code_Point,
				unicode.Variation_Selector)) {
			t.Errorf("%s holds %U", what, r)
			return
		}
	}
}

// annotationsOnly fails where the runner finds other commands in a log than the gate's own.
func annotationsOnly(t *testing.T, log string) {
	t.Helper()
	counts := map[string]int{}
	for _, c := range ghtest.Commands(log) {
		counts[c.Name]++
		if found := ghtest.Commands(c.Text); found != nil {
			t.Errorf("the text of an annotation holds %q", found)
		}
		if strings.HasPrefix(c.Text, "pwned") || strings.Contains(c.Props["title"], "pwned") {
			t.Errorf("the command %q is not the gate's", c)
		}
		for key := range c.Props {
			if !slices.Contains([]string{"title", "file", "line", "col"}, key) {
				t.Errorf("the command %q has the property %q", c, key)
			}
		}
	}
	for name, n := range counts {
		switch {
		case slices.Contains([]string{"error", "warning", "notice"}, name) && n <= report.AnnotationLimit+1:
		case slices.Contains([]string{"group", "endgroup"}, name) && n == 1:
		default:
			t.Errorf("%d commands %q", n, name)
		}
	}
	printable(t, "the log", log)
}

// codeSpan is a code span of Markdown, and the plain https link of one.
var codeSpan = regexp.MustCompile("`[^`|\n]*`(\\]\\(<https://[a-z0-9.-]+(:[0-9]+)?(/[A-Za-z0-9._~/%+=,;:@-]*)?>\\))?")

// asViewed reads a report as its viewer does.
func asViewed(t *testing.T, format, text string) {
	t.Helper()
	switch format {
	case "markdown":
		// A file begins with the mark of its writer. A second one would be somebody else's.
		bare := codeSpan.ReplaceAllString(strings.TrimPrefix(text, "<!-- oap-gate report -->\n"), "")
		for _, live := range []string{"pwned", "evil.example>", "@maintainer", "<img", "<script", "onerror", "<!--"} {
			if strings.Contains(bare, live) {
				t.Errorf("%q is outside of code spans in\n%s", live, bare)
			}
		}
		folds := strings.Count(bare, "\n<details><summary>")
		for _, tag := range []string{"<details>", "<summary>", "</summary>", "</details>"} {
			if n := strings.Count(bare, tag); n != folds {
				t.Errorf("%d folds have %d %s in\n%s", folds, n, tag, bare)
			}
		}
	case "html":
		for _, live := range []string{"<img src=x", "<script>alert", `href="https://evil.example"`} {
			if strings.Contains(text, live) {
				t.Errorf("the page holds %q", live)
			}
		}
	case "json", "sarif":
		var v any
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			t.Errorf("%s: %v", format, err)
		}
		if format == "sarif" {
			messages(t, v)
		}
	case "junit":
		d := xml.NewDecoder(strings.NewReader(text))
		for {
			token, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("junit: %v", err)
			}
			if e, ok := token.(xml.StartElement); ok && (e.Name.Local == "img" || e.Name.Local == "script") {
				t.Errorf("junit holds the element %q", e.Name.Local)
			}
		}
	}
}

// messages fails where a text of SARIF has what a viewer fills in or makes a link of.
func messages(t *testing.T, v any) {
	t.Helper()
	switch v := v.(type) {
	case string:
		if strings.Contains(v, "](") || strings.Contains(v, "{0}") || foreign.Line(v) != v {
			t.Errorf("sarif holds %q", v)
		}
	case []any:
		for _, e := range v {
			messages(t, e)
		}
	case map[string]any:
		for name, e := range v {
			if !strings.HasSuffix(name, "uri") && !strings.HasSuffix(name, "Uri") {
				messages(t, e)
			}
		}
	}
}

// asAction runs the Action on a world, without a network, and reads summary and outputs as the runner does.
func asAction(t *testing.T, w *fixture.World) {
	t.Helper()
	dir := t.TempDir()
	env := map[string]string{
		"GITHUB_ACTIONS": "true", "GITHUB_ACTION": "gate", "GITHUB_EVENT_NAME": "pull_request", "GITHUB_WORKSPACE": dir,
		"GITHUB_STEP_SUMMARY": filepath.Join(dir, "summary"), "GITHUB_OUTPUT": filepath.Join(dir, "output"),
		"INPUT_PATH": w.Repo.Dir, "INPUT_BASE": "main", "INPUT_OFFLINE": "true",
	}
	if _, err := w.Repo.Git("symbolic-ref", "HEAD", "refs/heads/pr"); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	clitest.Main(nil, frame.IO{Stdout: &log, Stderr: &log, Getenv: func(name string) string { return env[name] }})
	annotationsOnly(t, log.String())
	summary, err := os.ReadFile(env["GITHUB_STEP_SUMMARY"])
	if err != nil {
		t.Fatalf("%v after\n%s", err, log.String())
	}
	inert(t, "the summary", string(summary))
	asViewed(t, "markdown", string(summary))
	outputs := must.Read(t, env["GITHUB_OUTPUT"])
	values := must.Get(ghtest.Outputs(string(outputs)))(t)
	for name, value := range values {
		if !slices.Contains([]string{"verdict", "complete", "failed-checks", "records", "kind", "routine", "governance",
			"squash", "exception", "charter", "report"}, name) || strings.Contains(value, "pwned") {
			t.Errorf("output %q is %q", name, value)
		}
	}
}

// TestHostileArguments checks that a mistake in the arguments, which may come from a workflow's event, is told without
// effect.
func TestHostileArguments(t *testing.T) {
	w := clitest.Build(t, "pr:\n  - {listing: nova}\n")
	for _, payload := range payloads {
		payload = strings.ReplaceAll(payload, "MARK", "pwned")
		for _, flag := range []string{"--head", "--base", "--only", "--skip", "--at", "--report", "--replay",
			"--connect-to", "--ca-cert", "--rdap-url", "--whois-server", "--format", "--color", "--governance",
			"--proxy", "--jobs", "--timeout", "--repo", payload} {
			for _, format := range []string{"text", "github"} {
				code, log := clitest.Program(t, slices.Concat([]string{"check"}, w.Args(), w.RangeArgs(),
					[]string{"--format", format, flag, payload})...)
				if code != 2 {
					t.Errorf("%s %q: exit status %d, want 2", flag, payload, code)
				}
				if format == "github" {
					annotationsOnly(t, log)
				} else {
					inert(t, flag, log)
				}
			}
		}
	}
}
