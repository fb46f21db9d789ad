package hostile_test

import (
	"bytes"
	"maps"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/frame"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/clitest"
)

// hostileDocuments have a payload wherever a document can put a text that ends in a listing or in a message about one.
const hostileDocuments = `
base:
  - {listing: eve}
pr:
  - {publish: n1, name: "«name»"}
  - {publish: n2, manifest: {set: {/tool/did: "«manifest_did»"}}}
  - {publish: n3, manifest: {set: {/conformance/receipt_uri: "https://n3.example/‹manifest_receipt›"}}}
  - {publish: n4, receipt: {set: {/claimed_levels: ["«claimed»"]}}}
  - {publish: n5, receipt: {set: {/validity/not_before: "‹not_before›", /validity/not_after: "‹not_after›"}}}
  - {publish: n6, by: "did:web:n6.example#«by»", signing_key: other}
  - {publish: n7, did_document: {set: {/verificationMethod/0/id: "did:web:n7.example#‹key_id›"}}}
  - {publish: n8, receipt: {set: {/implementation/did: "«receipt_did»"}}}
  - {publish: n9, tamper: {body: "‹receipt_text›"}}
  - {reissue: eve, issued: "-2h", name: "«renamed»"}
worktree:
  - {listing: m1, pin: minified, name: "‹mended_name›", set: {/name: "‹listed_name›"}}
  - {listing: m2, receipt: {set: {/implementation/did: "«mended_did»"}}, set: {/issued_at: "2026-05-01T00:00:00Z"}}
  - {listing: m3, set: {/conformance_level: "«mended_level»", /contact: "‹contact›"}}
`

// TestHostileDocuments checks that what a stranger's documents say takes no effect in what the commands print that make
// listings of them, nor in the commands that they tell to run next.
func TestHostileDocuments(t *testing.T) {
	t.Parallel()
	var places []string
	var all strings.Builder
	for _, payload := range slices.Sorted(maps.Keys(payloads)) {
		var world string
		world, places = poisonedWorld(hostileDocuments, payloads[payload]+" $(touch pwned) `touch pwned`")
		w := clitest.Build(t, world)
		run := func(command ...string) {
			var out, told bytes.Buffer
			clitest.Main(slices.Concat(command, w.Args()),
				frame.IO{Stdout: &out, Stderr: &told, Getenv: clitest.NoEnvironment})
			what := strings.Join(command[:min(len(command), 2)], " ")
			inert(t, what+", stdout", out.String())
			inert(t, what+", stderr", told.String())
			all.WriteString(out.String() + told.String())
			if _, next, found := strings.Cut(told.String(), "\nnext:\n"); found && strings.Contains(next, "pwned") {
				t.Errorf("%s prints as commands %s", what, next)
			}
		}
		run("check", "--worktree", "--fix", "--base", "main")
		if out, err := exec.Command("git", "-C", w.Repo.Dir, "checkout", "-q", "-f", "main").
			CombinedOutput(); err != nil {
			t.Fatalf("%s: %v", out, err)
		}
		for _, slug := range strings.Fields("n1 n2 n3 n4 n5 n6 n7 n8 n9") {
			run("new", slug, "https://"+slug+".example", "--dry-run")
			run("new", slug, "https://"+slug+".example")
		}
		run("renew", "eve", "--dry-run")
		run("renew", "eve")
		p := strings.ReplaceAll(payloads[payload], "MARK", "pwned-argument.")
		for _, command := range [][]string{{"new", p, "https://n1.example"}, {"new", "n10", p},
			{"new", "n10", "https://n1.example/" + p},
			{"new", "n10", "https://n1.example", "--set", "license=" + p, "--dry-run"},
			{"new", "n10", "https://n1.example", "--set", p},
			{"new", "n10", "https://n1.example", "--set", "categories=[" + p},
			{"new", "n10", "https://n1.example", "--level", p},
			{"new", "n10", "https://n1.example", "--receipt-uri", p}, {"renew", p},
			{"renew", "eve", "--receipt-uri", p}, {"renew", "--all", "--within", p}} {
			run(command...)
		}
	}
	for _, mark := range append(places, "pwned-argument.") {
		if !strings.Contains(all.String(), mark) {
			t.Errorf("nothing is said of %s, so that this tests nothing there", mark)
		}
	}
}
