package checks_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/checks"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/checktest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

const witnesses = `
base:
  - {listing: ada, level: L4, witness: [bob]}
  - {listing: bob, level: L4, witness: [ada]}
  - {listing: cyd, level: L4, witness: [ada]}
  - {listing: low}
  - {listing: one, host: one.corp.example, level: L4, witness: [ada]}
`

// What each entry of peer_witnesses is worth follows from the level, and is open without the candidate's documents.
func TestWitnessing(t *testing.T) {
	const all = "witness: [ada, bob, {slug: cyd, key: other}, low, one]}]\n" +
		"web: [{url: \"https://bob.example/.well-known/oap-tool.json\", status: 503}]\n"
	for _, c := range []struct {
		name, world string
		want        []string
	}{
		{"L4", witnesses + "pr: [{listing: nova, level: L4, host: nova.corp.example, " + all,
			[]string{"counts", "counts", "unsigned witness-signature", "witness-not-listed",
				"counts near corp.example"}},
		{"L5", witnesses + "pr: [{listing: nova, level: L5, host: nova.corp.example, " + all,
			[]string{"counts", "open witness-open", "unsigned witness-signature", "witness-not-listed",
				"witness-not-independent"}},
		{"L4, one with a path", witnesses + `
  - {listing: way, did: "did:web:way.example:a", level: L4, witness: [ada]}
pr: [{listing: nova, level: L4, witness: [way]}]
`, []string{"counts"}},
		{"L4 without a DID Document", witnesses + `
pr: [{listing: nova, level: L4, witness: [ada, low]}]
web: [{url: "https://nova.example/.well-known/did.json", status: 503}]
`, []string{"open witness-open", "open witness-open"}},
		{"L5 without a Manifest", witnesses + `
pr: [{listing: nova, level: L5, witness: [ada, low]}]
web: [{url: "https://nova.example/.well-known/oap-tool.json", status: 503}]
`, []string{"open witness-open", "open witness-open"}},
		{"L4 without a Receipt", witnesses + `
pr: [{listing: nova, level: L4, witness: [ada]}]
web: [{url: "https://nova.example/oap-conformance-receipt.json", status: 503}]
`, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := checktest.Proposal(t, c.world).Subjects[0].Witnessing()
			if (err != nil) != (c.want == nil) || len(got) != len(c.want) {
				t.Fatalf("%v, %v; expected %q", got, err, c.want)
			}
			for i, w := range got {
				text := w.Code
				for word, is := range map[string]bool{"counts": w.Counts, "open ": w.Open, "unsigned ": w.Unsigned} {
					if is {
						text = word + text
					}
				}
				if w.Near != "" {
					text += " near " + w.Near
				}
				if text != c.want[i] || (w.Why == "") != w.Counts {
					t.Errorf("entry %d: %q, because %q; expected %q", i, text, w.Why, c.want[i])
				}
			}
		})
	}
}

// What a check says that it verified, and the witnesses that it names, are what it verified and no more.
func TestVerified(t *testing.T) {
	const renewal = "base: [{listing: ada}]\npr: [{reissue: ada"
	const gone = "web: [{url: \"https://ada.example/oap-conformance-receipt.json\", status: 404}]\n"
	const signed = "signed by did:web:ada.example#key-1, newer than the merged listing"
	for _, c := range []struct {
		name, check, world string
		verified           string
		witnesses          []string
		skipped            string
	}{
		{"a witness", "peer-witnesses", witnesses + "pr: [{listing: nova, level: L4, witness: [low, ada]}]\n",
			"the signature of 1 witness verified", []string{"ada"}, ""},
		{"three witnesses", "peer-witnesses",
			witnesses + "pr: [{listing: nova, level: L5, witness: [ada, bob, cyd]}]\n",
			"the signatures of three independent witnesses verified", []string{"ada", "bob", "cyd"}, ""},
		{"too few witnesses", "peer-witnesses", witnesses + "pr: [{listing: nova, level: L5, witness: [ada]}]\n", "",
			[]string{"ada"}, ""},
		{"a renewal", "reissue", renewal + "}]\n", signed, nil, ""},
		{"a renewal with another name", "reissue", renewal + ", set: {/name: Eve}}]\n", "", nil, ""},
		{"a renewal that is provisional", "reissue", renewal + ", provisional: true}]\n" +
			"web: [{domain: ada.example, registered: none, rdap: {status: 503}}]\n", "", nil, ""},
		{"a renewal without dates", "reissue", renewal + ", receipt: {delete: [/validity/not_before]}}]\n", "", nil,
			""},
		{"a renewal without a Receipt", "reissue", renewal + "}]\n" + gone, "", nil, "receipt-fetch failed"},
		{"a renewal without a Receipt, and with another slug", "reissue", renewal + ", set: {/slug: eve}}]\n" + gone,
			"", nil, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			out := must.Get(checks.ByID(c.check).Judge(checktest.Proposal(t, c.world).Subjects[0]))(t)
			if out.Verified != c.verified || !slices.Equal(out.Witnesses, c.witnesses) || out.Skipped != c.skipped {
				t.Errorf("verified %q by %q, skipped %q; expected %q by %q, %q: %s", out.Verified, out.Witnesses,
					out.Skipped, c.verified, c.witnesses, c.skipped, fmt.Sprint(out.Findings))
			}
		})
	}
}
