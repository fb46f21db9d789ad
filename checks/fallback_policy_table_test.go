package checks_test

import (
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/checktest"
)

func TestFallbackPolicy(t *testing.T) {
	checktest.Run(t, []checktest.Case{
		// a class that does not exist, or in another letter case; no assumptions, or a text; no time-out, or a text
		{Name: "class",
			World: `pr:
  - {listing: nova, manifest: {set: {/ad_hoc_teamwork: {convention_discovery_v2: true, unilateral_timeout_ms: 2000, aht_fallback_policy: {policy_class: Poam, assumptions: [a]}}}}}
`,
			Want: `implementations/nova.json:5:3: error: fallback-policy: policy-class`,
			Says: []string{`policy_class is "Poam"; expected one of POAM, PLASTIC, AATEAM, ROTATE and Custom`}},
		{Name: "assumptions",
			World: `pr:
  - {listing: nova, manifest: {set: {/ad_hoc_teamwork: {convention_discovery_v2: true, unilateral_timeout_ms: 2000, aht_fallback_policy: {policy_class: POAM, assumptions: []}}}}}
`,
			Want: `implementations/nova.json:5:3: error: fallback-policy: policy-assumptions`},
		{Name: "assumptions text",
			World: `pr:
  - {listing: nova, manifest: {set: {/ad_hoc_teamwork: {convention_discovery_v2: true, unilateral_timeout_ms: 2000, aht_fallback_policy: {policy_class: POAM, assumptions: none}}}}}
`,
			Want: `implementations/nova.json:5:3: error: fallback-policy: policy-assumptions`},
		{Name: "timeout",
			World: `pr:
  - {listing: nova, manifest: {set: {/ad_hoc_teamwork: {convention_discovery_v2: true, aht_fallback_policy: {policy_class: POAM, assumptions: [a], unilateral_timeout_ms: 5}}}}}
`,
			Want: `implementations/nova.json:5:3: error: fallback-policy: policy-timeout`},
		{Name: "timeout text",
			World: `pr:
  - {listing: nova, manifest: {set: {/ad_hoc_teamwork: {convention_discovery_v2: true, unilateral_timeout_ms: "2000", aht_fallback_policy: {policy_class: POAM, assumptions: [a]}}}}}
`,
			Want: `implementations/nova.json:5:3: error: fallback-policy: policy-timeout`},
		// without the place of a Manifest there is none to judge; schema says what is missing
		{Name: "no Manifest", World: `pr: [{listing: nova, delete: [/manifest_uri]}]`,
			Only: "schema fallback-policy",
			Want: `implementations/nova.json:1:1: error: schema: schema-required`},
	})
}
