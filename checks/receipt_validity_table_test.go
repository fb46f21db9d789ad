package checks_test

import (
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/checktest"
)

// The clock is 2026-06-01T12:00:00Z; what a pull request publishes is issued an hour earlier and ends 90 days
// later, 2026-08-30T11:00:00Z.
func TestReceiptValidity(t *testing.T) {
	checktest.Run(t, []checktest.Case{
		{Name: "now", PR: `{listing: nova, issued: "-90d"}`,
			Want: `implementations/nova.json:10:3: error: receipt-validity: expired`},
		// longer than 90 days by a millisecond
		{Name: "long", PR: `{listing: nova, not_after: "+100d", set: {/expires_at: "2026-08-30T11:00:00.001Z"}}`,
			Want: `implementations/nova.json:10:3: error: receipt-validity: window-too-long`, Says: []string{
				`expires_at is 90 days 1 millisecond after issued_at; expected at most 90 days`,
				`fix: set expires_at to 2026-08-30T11:00:00Z, the date that the Receipt signs`,
			}},
		// a hundred years
		{Name: "century", PR: `{listing: nova, not_after: "2126-01-01", set: {/expires_at: "2126-01-01T00:00:00Z"}}`,
			Want: `implementations/nova.json:10:3: error: receipt-validity: window-too-long`},
		// ends before it begins
		{Name: "backwards", PR: `{listing: nova, issued: "+5m", not_after: "+4m"}`,
			Want: `implementations/nova.json:10:3: error: receipt-validity: window-empty`},
		{Name: "for no time", PR: `{listing: nova, issued: "+5m", not_after: "+5m"}`,
			Want: `implementations/nova.json:10:3: error: receipt-validity: window-empty`},
		{Name: "for a moment", PR: `{listing: nova, issued: "+5m", set: {/expires_at: "2026-06-01T12:05:00.001Z"}}`,
			Want: `implementations/nova.json:10:3: error: receipt-validity: expires-not-signed`},
		{Name: "no beginning", PR: `{listing: nova, set: {/issued_at: "some day"}}`, Only: "receipt-validity",
			Want: `implementations/nova.json:9:3: error: receipt-validity: unreadable-time`},
		{Name: "no end", PR: `{listing: nova, set: {/expires_at: "some day"}}`, Only: "receipt-validity",
			Want: `implementations/nova.json:9:3: error: receipt-validity: unreadable-time`},
		{Name: "too long, and over", PR: `{listing: nova, issued: "-100d", set: {/expires_at: "2026-08-30T11:00:00Z"}}`,
			Want: `implementations/nova.json:10:3: error: receipt-validity: window-too-long`,
			Says: []string{`fix: sign a new Receipt \(the latest expires_at of this one, 2026-05-22T12:00:00Z, is in the past\), ` +
				`publish it, then oap-gate check --worktree --fix`}},
		{Name: "too long, and issued_at is not the signed one",
			World: `pr:
  - {listing: nova, not_after: "+100d", set: {/issued_at: "2026-06-01T11:00:02Z", /expires_at: "2026-09-09T12:00:00Z"}}
`,
			Want: `
implementations/nova.json:9:3: error: receipt-validity: issued-not-signed
implementations/nova.json:10:3: error: receipt-validity: window-too-long`,
			Says: []string{`fix: set expires_at to 2026-08-30T11:00:00Z, the date that the Receipt signs`}},
		{Name: "too long, over and merged", Base: "{listing: nova}",
			PR:   `{reissue: nova, issued: "-100d", set: {/expires_at: "2026-08-30T11:00:00Z"}}`,
			Only: "receipt-validity", Want: `implementations/nova.json:10:3: error: receipt-validity: window-too-long`,
			Says: []string{`publish it, then oap-gate renew nova`}},
		{Name: "expired, and no Receipt", World: `pr: [{listing: nova, issued: "-100d"}]
web: [{url: "https://nova.example/oap-conformance-receipt.json", status: 404}]
`, Only: "receipt-validity", Want: `implementations/nova.json:10:3: error: receipt-validity: expired`},
		// issued more than 5 minutes ahead of the clock
		{Name: "future", PR: `{listing: nova, issued: "+301s"}`,
			Want: `implementations/nova.json:9:3: error: receipt-validity: issued-in-future`,
			Says: []string{`implementations/nova.json:9:3: error: receipt-validity: issued_at is 2026-06-01T12:05:01Z, later than the evaluation time 2026-06-01T12:00:00Z; expected at most 5 minutes ahead`}},
		// the Receipt has no dates, one of two, or one that cannot be read
		{Name: "none", PR: "{listing: nova, receipt: {delete: [/validity]}}", Want: `
implementations/nova.json:7:3: error: receipt-validity: validity-missing
implementations/nova.json:7:3: error: receipt-validity: validity-missing`},
		{Name: "half", PR: "{listing: nova, receipt: {delete: [/validity/not_after]}}",
			Want: `implementations/nova.json:7:3: error: receipt-validity: validity-missing`},
		{Name: "lower case", PR: `{listing: nova, receipt: {set: {/validity/not_before: "2026-06-01t11:00:00z"}}}`,
			Want: `implementations/nova.json:7:3: error: receipt-validity: validity-missing`},
		// issued_at is not the signed one: two seconds later, or a renewal made of an old Receipt
		{Name: "issued", PR: `{listing: nova, set: {/issued_at: "2026-06-01T11:00:02Z"}}`,
			Want: `implementations/nova.json:9:3: error: receipt-validity: issued-not-signed`,
			Says: []string{`fix: set issued_at to 2026-06-01T11:00:00Z`}},
		// a second apart at most
		{Name: "issued rounded", PR: `{listing: nova, set: {/issued_at: "2026-06-01T11:00:01Z"}}`, Want: `pass`},
		{Name: "issued not rounded", PR: `{listing: nova, set: {/issued_at: "2026-06-01T11:00:01.001Z"}}`,
			Want: `implementations/nova.json:9:3: error: receipt-validity: issued-not-signed`},
		{Name: "expires rounded", PR: `{listing: nova, not_after: "+30d", set: {/expires_at: "2026-07-01T11:59:59Z"}}`,
			Want: `pass`},
		{Name: "expires not rounded",
			PR:   `{listing: nova, not_after: "+30d", set: {/expires_at: "2026-07-01T11:59:58.999Z"}}`,
			Want: `implementations/nova.json:10:3: error: receipt-validity: expires-not-signed`},
		// ... where the end of the 90 days follows issued_at
		{Name: "both rounded",
			World: `pr:
  - {listing: nova, not_after: "+100d", set: {/issued_at: "2026-06-01T11:00:01Z", /expires_at: "2026-08-30T11:00:00Z"}}
`, Want: `pass`},
		{Name: "issued rounded, expires not",
			World: `pr:
  - {listing: nova, not_after: "+100d", set: {/issued_at: "2026-06-01T11:00:01Z", /expires_at: "2026-08-30T10:59:59.5Z"}}
`,
			Want: `implementations/nova.json:10:3: error: receipt-validity: expires-not-signed`},
		{Name: "stretched",
			World: `pr:
  - {listing: nova, issued: "-80d", not_after: "+365d", set: {/issued_at: "2026-06-01T11:00:00Z", /expires_at: "2026-08-30T11:00:00Z"}}
`,
			Want: `implementations/nova.json:9:3: error: receipt-validity: issued-not-signed`},
		// expires_at is later than the Receipt by a millisecond; earlier by two seconds; not at the end of the 90 days
		{Name: "later", PR: `{listing: nova, not_after: "+30d", set: {/expires_at: "2026-07-01T12:00:00.001Z"}}`,
			Want: `implementations/nova.json:10:3: error: receipt-validity: expires-not-signed`,
			Says: []string{`fix: set expires_at to 2026-07-01T12:00:00Z`}},
		{Name: "earlier", PR: `{listing: nova, not_after: "+30d", set: {/expires_at: "2026-07-01T11:59:58Z"}}`,
			Want: `implementations/nova.json:10:3: error: receipt-validity: expires-not-signed`},
		{Name: "shorter", PR: `{listing: nova, not_after: "+100d", set: {/expires_at: "2026-07-01T11:00:00Z"}}`,
			Want: `implementations/nova.json:10:3: error: receipt-validity: expires-not-signed`},
		// what schema refuses it alone reports
		{Name: "unreadable", World: `pr: [{listing: nova, set: {/issued_at: "2026-06-01"}}]`,
			Want: `implementations/nova.json:9:3: error: schema: schema-format`},
	})
}

// A listing that has expired is no failure of an audit, and one that ends soon is sound.
func TestAuditOfValidity(t *testing.T) {
	checktest.Run(t, audits("receipt-validity", []checktest.Case{
		{Name: "expired", Base: `{at: "-91d"}, {listing: ada}`,
			Want: `implementations/ada.json:10:3: warning: receipt-validity: expired`},
		{Name: "ends soon", World: `base: [{at: "-80d"}, {listing: ada}]`, Want: `pass`},
	}))
}
