package cli

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/frame"
	"github.com/openagentprotocol-OAP/oap-gate/internal/mirror"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/fixture"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/webtest"
)

// fixRow breaks one thing in an honest world. Its fix, done to the letter, must leave no error, and so must --fix if
// the row says that it does the same.
type fixRow struct {
	name  string
	nova  string // members of the newcomer, as in a description of a world
	gone  string // URL that answers 404
	code  string // of the findings whose fix is applied
	fix   string // what each of them must be, as a regular expression
	apply func(t *testing.T, w *fixture.World, groups []string)
	fixes bool // --fix does it, too
}

const novaPath = "implementations/nova.json"

// editListing rewrites the listing on disk.
func editListing(t *testing.T, w *fixture.World, change func(text string) string) {
	t.Helper()
	file := filepath.Join(w.Repo.Dir, filepath.FromSlash(novaPath))
	was, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	now := change(string(was))
	if now == string(was) {
		t.Fatal("the fix changes nothing")
	}
	if err := os.WriteFile(file, []byte(now), 0o644); err != nil {
		t.Fatal(err)
	}
}

// setMember does "set MEMBER to VALUE".
func setMember(t *testing.T, w *fixture.World, groups []string) {
	editListing(t, w, func(text string) string {
		return regexp.MustCompile(`("`+groups[1]+`": )("[^"]*"|\[[^\]]*\])`).ReplaceAllString(text, "${1}"+groups[2])
	})
}

var fixTable = []fixRow{
	{name: "another DID", nova: `set: {/tool_did: "did:web:other.example"}`, code: "manifest-did-differs",
		fix: `^set (tool_did) to ("did:web:nova\.example"), as Manifest and Receipt say$`, apply: setMember, fixes: true},
	{name: "another DID, by the Receipt", nova: `set: {/tool_did: "did:web:other.example"}`, code: "receipt-did-differs",
		fix: `^set (tool_did) to ("did:web:nova\.example"), as Manifest and Receipt say$`, apply: setMember, fixes: true},
	{name: "another DID, by its document", nova: `set: {/tool_did: "did:web:other.example"}`, code: "http-status",
		fix: `^set (tool_did) to ("did:web:nova\.example"), as Manifest and Receipt say$`, apply: setMember, fixes: true},
	{name: "capitals in a host", nova: `set: {/tool_did: "did:web:Nova.example"}`, code: "did-spelling",
		fix: `^set (tool_did) to ("did:web:nova\.example")`, apply: setMember, fixes: true},
	{name: "http", nova: `set: {/manifest_uri: "http://nova.example/.well-known/oap-tool.json"}`, code: "scheme-not-https",
		fix: `^set (manifest_uri) to ("https://nova\.example/\.well-known/oap-tool\.json")$`, apply: setMember},
	{name: "a prefixed hash", nova: `pin: "sha256:$PIN"`, code: "schema-pattern",
		fix: `^set (conformance_receipt_sha256) to ("[0-9a-f]{64}")$`, apply: setMember, fixes: true},
	{name: "a text for a list", nova: `set: {/jurisdictions: "DE"}`, code: "schema-type",
		fix: `^set (jurisdictions) to (\["DE"\])$`, apply: setMember, fixes: true},
	{name: "a misspelled member", nova: `set: {/licence: "MIT"}, delete: [/license]`, code: "schema-additionalProperties",
		fix: `^rename ("licence") to ("license")$`,
		apply: func(t *testing.T, w *fixture.World, groups []string) {
			editListing(t, w, func(text string) string { return strings.Replace(text, groups[1], groups[2], 1) })
		}},
	{name: "an unknown member", nova: `set: {/unheard: "MIT"}`, code: "schema-additionalProperties",
		fix: `^remove ("unheard")$`,
		apply: func(t *testing.T, w *fixture.World, groups []string) {
			editListing(t, w, func(text string) string {
				return regexp.MustCompile(`,\s*`+groups[1]+`: "MIT"`).ReplaceAllString(text, "")
			})
		}},
	{name: "no manifest_uri", nova: `delete: [/manifest_uri]`, code: "schema-required",
		fix: `^add ("manifest_uri"): ("https://nova\.example/\.well-known/oap-tool\.json")$`,
		apply: func(t *testing.T, w *fixture.World, groups []string) {
			editListing(t, w, func(text string) string {
				return strings.Replace(text, "{", "{\n  "+groups[1]+": "+groups[2]+",", 1)
			})
		}},
	{name: "a 404", nova: `level: L1`, gone: "https://nova.example/.well-known/oap-tool.json",
		code: "http-status",
		fix:  `^serve (/\.well-known/oap-tool\.json) with status 200 \(it answers 404\); if the Manifest has another URL: `,
		apply: func(t *testing.T, w *fixture.World, groups []string) {
			if _, err := w.Publish("nova"); err != nil {
				t.Fatal(err)
			}
		}},
}

// TestFixes applies each fix of the table mechanically.
func TestFixes(t *testing.T) {
	for _, row := range fixTable {
		t.Run(row.name, func(t *testing.T) {
			broken := func() *fixture.World {
				nova := strings.ReplaceAll(row.nova, "$PIN", strings.Repeat("A", 64))
				text := "schemas: [listing]\nbase:\n  - {listing: ada}\nworktree:\n  - {listing: nova, " + nova + "}\n"
				w, err := fixture.Build(t.TempDir(), []byte(text))
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { w.Close() })
				if row.gone != "" {
					w.Web.Set(row.gone, webtest.Behaviour{Status: 404})
				}
				if strings.Contains(row.nova, "$PIN") { // the pin of what is served, in another spelling
					pin, err := w.Pin("nova", 0)
					if err != nil {
						t.Fatal(err)
					}
					sum := plain.SHA256(w.Web.Body("https://nova.example/oap-conformance-receipt.json"))
					editListing(t, w, func(text string) string {
						return strings.Replace(text, pin, "sha256:"+strings.ToUpper(sum), 1)
					})
				}
				return w
			}
			w := broken()
			fixes := checked(t, w, 1)[row.code]
			if len(fixes) == 0 {
				t.Fatalf("no finding %s", row.code)
			}
			for _, fix := range fixes {
				if !regexp.MustCompile(row.fix).MatchString(fix) {
					t.Fatalf("the fix is %q", fix)
				}
			}
			row.apply(t, w, regexp.MustCompile(row.fix).FindStringSubmatch(fixes[0]))
			checked(t, w, 0)
			if row.fixes {
				checked(t, broken(), 0, "--fix")
			}
		})
	}
}

// checked runs check on the work tree, which must end with a status, and returns the fixes of its errors by code.
func checked(t *testing.T, w *fixture.World, want int, flags ...string) map[string][]string {
	t.Helper()
	report := filepath.Join(t.TempDir(), "report.json")
	args := slices.Concat([]string{"check", "--worktree", "--report", "json=" + report, "--retry-wait", "1ms"},
		w.Args(), flags)
	var out, said bytes.Buffer
	sys := frame.IO{Stdout: &out, Stderr: &said, Getenv: func(string) string { return "" }}
	if got := Main(args, sys); got != want {
		t.Fatalf("exit status %d, want %d\n%s%s", got, want, &out, &said)
	}
	text, err := os.ReadFile(report)
	if err != nil {
		t.Fatal(err)
	}
	var rep struct {
		Results []struct {
			Findings []struct{ Severity, Code, Fix string }
		}
	}
	if err := json.Unmarshal(text, &rep); err != nil {
		t.Fatal(err)
	}
	fixes := map[string][]string{}
	for _, r := range rep.Results {
		for _, f := range r.Findings {
			if f.Severity == "error" {
				fixes[f.Code] = append(fixes[f.Code], f.Fix)
			}
		}
	}
	return fixes
}

// emptyPhrase is the beginning of a fix that says nothing.
var emptyPhrase = regexp.MustCompile(`^(correct it|see|leave them out|give one of them)\b`)

// TestFixesSaySomething reads every fix of every catalogue, and every one in the source.
func TestFixesSaySomething(t *testing.T) {
	read := 0
	hold := func(id, fix string) {
		if read++; emptyPhrase.MatchString(fix) {
			t.Errorf("%s: the fix is %q", id, fix)
		}
	}
	for _, s := range append(subjects(), subject{rules: mirror.Catalogue()}) {
		for _, r := range s.rules {
			hold(r.ID, r.Fix)
			for _, c := range r.Codes {
				hold(r.ID+" "+c.ID, c.Fix)
			}
		}
	}
	given := regexp.MustCompile(`(?s)(?:WithFix|remedy\.Errorf|remedy\.With|refusef|inconclusivef)\(\s*"([^"]*)"`)
	for _, root := range []string{"internal", "checks", "registry"} {
		err := filepath.WalkDir(filepath.Join("..", "..", root), func(path string, d fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			text, err := os.ReadFile(path)
			for _, m := range given.FindAllStringSubmatch(string(text), -1) {
				hold(path, m[1])
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if read < 1000 {
		t.Errorf("%d fixes were read: the test shows nothing", read)
	}
}
