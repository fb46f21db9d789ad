package checks_test

import (
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/judge"
	"github.com/openagentprotocol-OAP/oap-gate/internal/report"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/checktest"
)

// A change is routine if its owners' signatures leave nothing to decide.
func TestRoutine(t *testing.T) {
	const (
		base  = "base: [{listing: ada, issued: -10d}, {listing: eve, issued: -20d}]\n"
		renew = "pr: [{reissue: ada"
		l4    = `base:
  - {listing: ada, level: L4, witness: [bob]}
  - {listing: bob, level: L4, witness: [ada]}
  - {listing: cyd, level: L4, witness: [ada]}
  - {listing: evil, level: L4, witness: [ada]}
`
	)
	for _, c := range []struct {
		name, world, kind string
		routine           bool
		cfg               judge.Config
	}{
		{"renewal", base + renew + "}]\n", "renewal", true, judge.Config{}},
		{"revocation", base + "pr: [{revoke: eve}]\n", "revocation", true, judge.Config{}},
		{"renewal and revocation", base + renew + "}, {revoke: eve}]\n", "mixed", true, judge.Config{}},

		{"another name", base + renew + `, name: "ada two"}]` + "\n", "renewal", false, judge.Config{}},
		{"another contact", base + renew + `, set: {/contact: a@ada.example}}]` + "\n", "renewal", false,
			judge.Config{}},
		{"another level", base + renew + ", level: L2}]\n", "renewal", false, judge.Config{}},
		{"another Manifest", base + renew + `, set: {/manifest_uri: "https://ada.example/other.json"}}]` +
			"\n", "renewal", false, judge.Config{}},
		{"another Receipt's URL", base + renew +
			`, set: {/conformance_receipt_uri: "https://ada.example/other.json"}}]` + "\n", "renewal", false,
			judge.Config{}},
		{"another owner", base + renew + `, set: {/tool_did: "did:web:eve.example"}}]` + "\n", "renewal",
			false, judge.Config{}},
		{"not later", base + renew + ", issued: -11d}]\n", "renewal", false, judge.Config{}},
		{"an earlier end", base + renew + ", not_after: +75d}]\n", "renewal", false, judge.Config{}},
		{"a stranger's signature", base + renew + ", signing_key: mallory}]\n", "renewal", false, judge.Config{}},
		{"another file", base + renew + "}, {write: README.md, text: x}]\n", "mixed", false, judge.Config{}},
		{"a governance file in passing", base + renew +
			"}, {write: README.md, text: x}, {commit: A}, {remove: README.md}]\n", "mixed", false, judge.Config{}},
		{"another mode", base + `pr: [{write: implementations/ada.json, text: "{}", mode: "100755"}]` + "\n", "renewal",
			false, judge.Config{}},
		{"a new listing", base + "pr: [{listing: bob}]\n", "new", false, judge.Config{}},
		{"a forced revocation", l4 + "pr: [{revoke: evil, witness: [ada, bob, cyd]}]\n", "revocation", false,
			judge.Config{}},
		{"a witness", l4 + "pr: [{peer-witness: cyd}]\n", "witness", false, judge.Config{}},
		{"a deleted listing", base + "pr: [{remove: implementations/eve.json}]\n", "mixed", false, judge.Config{}},
		{"offline", base + renew + "}]\n", "renewal", false, judge.Config{Offline: true}},
		{"an assumption", base + renew + "}]\n", "renewal", false, judge.Config{Assumed: []string{"--at"}}},
		{"a check left out", base + renew + "}]\n", "renewal", false,
			judge.Config{Selected: func(id string) bool { return id != "domain-age" }}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if c.cfg.Selected == nil {
				c.cfg.Selected = func(string) bool { return true }
			}
			rep := checktest.JudgeBy(t, c.world, c.cfg)
			if rep.Kind != c.kind || rep.Routine == nil || *rep.Routine != c.routine {
				t.Errorf("kind %q, routine %v; want %q, %v; verdict %s", rep.Kind, *rep.Routine, c.kind, c.routine,
					rep.Verdict)
			}
			if err := report.Contradiction(rep); err != nil {
				t.Error(err)
			}
		})
	}
}
