package cli

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/openagentprotocol-OAP/oap-gate/gate"
	"github.com/openagentprotocol-OAP/oap-gate/internal/fixture"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
)

// demoBase is the registry of the demonstration: listings at L1, L4 and L5, and witnesses for them.
const demoBase = `
schemas: [listing, revocation, workflow-anchor]
base:
  - {listing: ada, level: L4, witness: [bob]}
  - {listing: bob, level: L4, witness: [ada]}
  - {listing: cyd, level: L4, witness: [ada]}
  - {listing: dot, level: L5, witness: [ada, bob, cyd]}
  - {listing: eve, level: L1}
  - {listing: fox, level: L4, witness: [ada], legal_name: Ada Ltd, publisher_did: "did:web:ada.example"}
`

// demoCase is one pull request of the demonstration, and how its verdict must come out.
type demoCase struct {
	title  string
	pr     string
	failed []string // the checks that must fail, all of them; none: the verdict must be pass
}

var demoCases = []demoCase{
	{"an honest newcomer at L4, with a witness", `
  - {listing: nova, level: L4, witness: [bob]}`, nil},
	{"an honest renewal: a new Receipt, signed by its owner", `
  - {reissue: eve, issued: "-2h"}`, nil},
	{"an honest owner revokes its own Receipt", `
  - {revoke: eve}`, nil},
	{"somebody else's listing edited", `
  - {edit: implementations/eve.json, set: {/contact: "mallory@eve.example"}}`, []string{"reissue"}},
	{"a Receipt tampered with after it was signed", `
  - {listing: nova, level: L3, tamper: {set: {/results_summary/passed: 999}}}`, []string{"receipt-signature"}},
	{"L5 with three witnesses, two of them of one owner", `
  - {listing: nova, level: L5, witness: [ada, fox, bob]}`, []string{"peer-witnesses"}},
	{"a stranger's revocation", `
  - {publish: mallory}
  - {revoke: eve, by: mallory}`, []string{"revocations"}},
	{"a victim's file renamed", `
  - {move: [implementations/eve.json, implementations/evil.json]}`, []string{"append-only", "layout"}},
	{"the schema loosened in the pull request that needs it loose", `
  - {listing: nova, level: L1, set: {/extra: "anything"}}
  - {edit: schemas/implementation.schema.json, set: {/additionalProperties: true}}`, []string{"append-only", "schema"}},
	{"a Receipt that names no longer what is served", `
  - {listing: nova, level: L1, pin: "0000000000000000000000000000000000000000000000000000000000000000"}`, []string{"receipt-fetch"}},
	{"a domain registered yesterday", `
  - {listing: nova, level: L1, registered: "-1d"}`, []string{"domain-age"}},
}

func newDemo(sys IO) *cobra.Command {
	return &cobra.Command{
		Use:   "demo",
		Short: "the main job on a built-in registry and a built-in web, no network",
		Long: strings.TrimSpace(`
demo builds a small registry in a temporary folder and a web on loopback, gates honest and
dishonest pull requests on it through the same code as check, shows each verdict as a user
sees it, and exits 0 only if each came out as it must.`),
		Example: "  oap-gate demo",
		Args:    noArgs,
		RunE: func(*cobra.Command, []string) error {
			dir, err := os.MkdirTemp("", "oap-gate-demo-")
			if err != nil {
				return withFix(fmt.Errorf("making a folder for the demonstration: %w", err), "set TMPDIR to a folder that can be written")
			}
			defer os.RemoveAll(dir)
			wrong := 0
			for i, c := range demoCases {
				ok, err := c.run(sys, filepath.Join(dir, fmt.Sprint(i)), i+1)
				if err != nil {
					return fmt.Errorf("demonstrating %q: %w", c.title, err)
				}
				if !ok {
					wrong++
				}
			}
			if wrong > 0 {
				return fmt.Errorf("%d of %d pull requests did not come out as they must", wrong, len(demoCases))
			}
			fmt.Fprintf(sys.Stdout, "all %d pull requests came out as they must\n", len(demoCases))
			return nil
		},
	}
}

// run gates one pull request and tells whether it came out as it must.
func (c demoCase) run(sys IO, dir string, number int) (bool, error) {
	w, err := fixture.Build(dir, []byte(demoBase+"pr:"+c.pr+"\n"))
	if err != nil {
		return false, err
	}
	defer w.Close()
	file := filepath.Join(dir, "report.json")
	args := slices.Concat([]string{"check"}, w.Args(), w.RangeArgs(), []string{"--report", "json=" + file})
	var told bytes.Buffer
	quiet := sys
	quiet.Stdout, quiet.Stderr, quiet.Getenv = &told, &told, func(string) string { return "" }
	code := Main(args, quiet)

	fmt.Fprintf(sys.Stdout, "── %d. %s\n\n", number, c.title)
	for line := range strings.Lines(told.String()) {
		fmt.Fprint(sys.Stdout, "   "+line)
	}
	got, err := failedChecks(file)
	if err != nil {
		return false, err
	}
	want := gate.Pass
	if len(c.failed) > 0 {
		want = gate.Fail
	}
	ok := code == want.ExitStatus() && slices.Equal(got, c.failed)
	if ok {
		fmt.Fprintf(sys.Stdout, "\n   as it must: exit status %d\n\n", code)
	} else {
		fmt.Fprintf(sys.Stdout, "\n   NOT as it must: exit status %d and failed %q, want %d and %q\n\n", code, got, want.ExitStatus(), c.failed)
	}
	return ok, nil
}

// failedChecks reads the ids of the checks that failed out of a JSON report, sorted.
func failedChecks(file string) ([]string, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	doc, err := strict.Parse(file, data, strict.Limits{Bytes: 1 << 24, Depth: 64, Number: 64})
	if err != nil {
		return nil, err
	}
	var ids []string
	results, _ := strict.Member(doc.Root, "results").([]any)
	for _, r := range results {
		if strict.String(r, "verdict") == string(gate.Fail) {
			ids = append(ids, strict.String(r, "check"))
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids), nil
}
