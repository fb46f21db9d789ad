package oasis

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

const claimYAML = `provider: grower
provider_version: 0.3.0
profile: oasis-profile-greenhouse
profile_version: 2.1.0
date: 2026-05-20
tiers: [1, 2]
attestation: >
  all requirements of Section 3 are met,
  the preflight handshake of section 3.8 included.
`

// passed is the report that the claim rests on.
const passed = `{"version": 1, "mode": "conformance", "protocol": "oasis", "verdict": "pass", "oasis": {"provider": "grower",
 "provider_version": "0.3.0", "profile": "oasis-profile-greenhouse", "profile_version": "2.1.0", "tier": 2}}`

// claimCodes judges a claim and returns the codes of its errors and warnings, or of its notices too.
func claimCodes(t *testing.T, c *Claim, notices bool) (codes []string, failed bool) {
	t.Helper()
	c.Path, c.MaxAge = "claim", 365*24*time.Hour
	if c.Now.IsZero() {
		c.Now = time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)
	}
	results := must.Get(c.Judge())(t)
	for _, r := range results {
		failed = failed || r.Verdict == verdict.Failed
		for _, f := range r.Findings {
			if notices || f.Severity != verdict.Notice {
				codes = append(codes, f.Code)
			}
			if f.Fix == "" && f.Severity != verdict.Notice {
				t.Errorf("%s has no fix", f.Code)
			}
		}
	}
	return codes, failed
}

func TestClaims(t *testing.T) {
	for _, test := range []struct {
		name, old, new string
		want           string // codes of errors and warnings
	}{
		{"honest", "", "", ""},
		{"an organization", "provider: grower\nprovider_version: 0.3.0\n", "organization: Growers\n", ""},
		{"both", "date:", "organization: Growers\ndate:", ""},
		{"a version as a number", "provider_version: 0.3.0", "provider_version: 0.3", "wrong-type"},
		{"a day ahead", "2026-05-20", "2026-06-02", ""},
		{"a date in quotes", "2026-05-20", `"2026-05-20"`, ""},
		{"a year old", "2026-05-20", "2025-06-01", ""},

		{"two days ahead", "2026-05-20", "2026-06-03", "claim-date"},
		{"older than a year", "2026-05-20", "2025-05-31", "claim-date"},
		{"no day", "2026-05-20", "2026-02-30", "claim-date"},
		{"a time", "2026-05-20", "2026-05-20T00:00:00Z", "claim-date"},
		{"no date", "date: 2026-05-20\n", "", "claim-date"},
		{"no provider", "provider: grower\nprovider_version: 0.3.0\n", "", "missing-member missing-member"},
		{"a version of nobody", "provider: grower\n", "organization: Growers\n", "missing-member"},
		{"a blank provider", "provider: grower", `provider: " "`, "empty-text"},
		{"a blank organization", "provider: grower\nprovider_version: 0.3.0\n", "organization: ''\n", "empty-text"},
		{"a version that is none", "0.3.0", "v0.3", "not-semver claim-differs"},
		{"no profile", "profile: oasis-profile-greenhouse\n", "", "missing-member"},
		{"two profiles", "profile: oasis-profile-greenhouse", "profile: [a, b]", "wrong-type"},
		{"no profile's version", "profile_version: 2.1.0\n", "", "missing-member"},
		{"no tiers", "tiers: [1, 2]\n", "", "claim-tier"},
		{"no tier", "[1, 2]", "[]", "claim-tier"},
		{"a tier twice", "[1, 2]", "[1, 1]", "claim-tier"},
		{"tier 0", "[1, 2]", "[0, 1]", "claim-tier"},
		{"tier 1.5", "[1, 2]", "[1.5]", "claim-tier"},
		{"a tier in words", "[1, 2]", "[one]", "claim-tier"},
		{"a number for tiers", "[1, 2]", "2", "claim-tier"},
		{"no preflight", ",\n  the preflight handshake of section 3.8 included", "", "claim-attestation"},
		{"denied", "all requirements", "not all requirements", "claim-attestation"},
		{"denied behind", "included.", "included. This is not so.", "claim-attestation"},
		{"a list", claimYAML, "- provider: grower\n", "claim-form"},
		{"nothing", claimYAML, "", "claim-form"},
		{"a member twice", "date:", "profile: other\ndate:", "claim-form"},
		{"an alias", "grower", "&a grower", "claim-form"},
		{"a member twice in JSON", claimYAML, `{"date": "2026-05-20", "date": "2026-05-21"}`, "claim-form"},
		{"too large", claimYAML, strings.Repeat("a: b\n", MaxClaim/5+1), "claim-form"},
	} {
		text := strings.Replace(claimYAML, test.old, test.new, 1)
		got, failed := claimCodes(t, &Claim{Text: []byte(text), ReportPath: "report", Report: []byte(passed)}, false)
		warned := test.name == "older than a year"
		if strings.Join(got, " ") != test.want || failed != (test.want != "" && !warned) {
			t.Errorf("%s: %q, failed %v, want %q", test.name, got, failed, test.want)
		}
	}
}

func TestClaimReport(t *testing.T) {
	for _, test := range []struct{ name, old, new, want string }{
		{"honest", "", "", ""},
		{"no pass", `"pass"`, `"inconclusive"`, "claim-not-passed"},
		{"another profile", "-greenhouse", "-hothouse", "claim-differs"},
		{"another version of the profile", "2.1.0", "2.1.1", "claim-differs"},
		{"another provider", "grower", "grocer", "claim-differs"},
		{"another version of the provider", "0.3.0", "0.3.1", "claim-differs"},
		{"a lower tier", `"tier": 2`, `"tier": 1`, "claim-differs"},
		{"a higher tier", `"tier": 2`, `"tier": 3`, "claim-differs"},
		{"of another protocol", `"oasis",`, `"aaep",`, "report-form"},
		{"of another mode", "conformance", "check", "report-form"},
		{"without its facts", `"oasis":`, `"facts":`, "report-form"},
		{"not JSON", passed, "provider: grower", "report-form"},
	} {
		report := strings.Replace(passed, test.old, test.new, 1)
		got, _ := claimCodes(t, &Claim{Text: []byte(claimYAML), ReportPath: "report", Report: []byte(report)}, true)
		if strings.Join(got, " ") != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
	organization := strings.Replace(claimYAML, "provider: grower\nprovider_version: 0.3.0", "organization: Growers", 1)
	got, failed := claimCodes(t, &Claim{Text: []byte(organization), ReportPath: "report", Report: []byte(passed)}, true)
	if !slices.Equal(got, []string{"provider-not-compared"}) || failed {
		t.Errorf("of an organization: %q, failed %v", got, failed)
	}
	if got, failed := claimCodes(t, &Claim{Text: []byte(claimYAML)}, true); !slices.Equal(got,
		[]string{"claim-unverified"}) || failed {
		t.Errorf("without a report: %q, failed %v", got, failed)
	}
}

func TestClaimAgainstProfile(t *testing.T) {
	c := contract(t, requirementsYAML, contractMarkdown)
	for text, want := range map[string]string{claimYAML: "",
		strings.Replace(claimYAML, "-greenhouse", "-hothouse", 1): "other-profile",
		strings.Replace(claimYAML, "2.1.0", "2.0.0", 1):           "profile-version"} {
		if got, _ := claimCodes(t, &Claim{Text: []byte(text), Contract: c}, false); strings.Join(got, " ") != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestSharedClaims judges the claims of the shared data, if they are at hand.
func TestSharedClaims(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(shared, "claims.json"))
	if err != nil {
		t.Skip(err)
	}
	var all []struct {
		Name    string
		Claim   json.RawMessage
		At      time.Time
		Verdict verdict.Verdict
		Codes   []string
	}
	must.OK(t, json.Unmarshal(text, &all))
	for _, test := range all {
		got, failed := claimCodes(t, &Claim{Text: test.Claim, Now: test.At}, false)
		if strings.Join(got, " ") != strings.Join(test.Codes, " ") || failed != (test.Verdict == verdict.Failed) {
			t.Errorf("%s: %q, failed %v, want %q, %s", test.Name, got, failed, test.Codes, test.Verdict)
		}
	}
}
