package checks_test

import (
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/checktest"
)

func TestDomainAge(t *testing.T) {
	checktest.Run(t, []checktest.Case{
		// provisional lets it pass, with a notice
		{Name: "provisional",
			World: `pr:
  - {listing: nova1, registered: "-1d", provisional: true}
  - {listing: nova2, registered: none, provisional: true}
  - {listing: nova3, host: nova3.vercel.app, provisional: true}
`,
			Want: `
implementations/nova1.json:12:3: notice: domain-age: provisional
implementations/nova2.json:12:3: notice: domain-age: provisional
implementations/nova3.json:12:3: notice: domain-age: provisional`},
		// and is a warning on a domain that is old enough
		{Name: "needless", PR: "{listing: nova, provisional: true}",
			Want: `implementations/nova.json:12:3: warning: domain-age: provisional-not-needed`},
		{Name: "whois young",
			World: `pr: [{listing: nova, registered: none}]
web:
  - {domain: nova.example, whois: {body: "Domain Name: NOVA.EXAMPLE\r\nCreation Date: 2015-03-01\r\nCreated: 2026-05-20\r\nRegistrar: Example Registrar\r\n"}}
`,
			Want: `implementations/nova.json:4:3: error: domain-age: domain-too-young`},
		// a date of today is young, in whatever zone today is; one in three days is no date, and no placeholder is one
		{Name: "tomorrow", PR: `{listing: nova, registered: "+47h"}`,
			Want: `implementations/nova.json:4:3: error: domain-age: domain-too-young`},
		{Name: "in three days", PR: `{listing: nova, registered: "+72h"}`,
			Want: `implementations/nova.json:4:3: error: domain-age: domain-age-unknown`,
			Says: []string{`RDAP: registration date is 2026-06-04T12:00:00Z; expected one before 2026-06-03T12:00:00Z`}},
		{Name: "future", PR: `{listing: nova, registered: "2030-01-01"}`,
			Want: `implementations/nova.json:4:3: error: domain-age: domain-age-unknown`},
		{Name: "year 9999", PR: `{listing: nova, registered: "9999-12-31T23:59:59Z"}`,
			Want: `implementations/nova.json:4:3: error: domain-age: domain-age-unknown`},
		{Name: "year 10000",
			World: `pr: [{listing: nova, registered: none}]
web:
  - {domain: nova.example, events: [{eventAction: registration, eventDate: "9999-12-31T23:59:59-12:00"}], whois: {body: "Domain Name: NOVA.EXAMPLE\r\nCreated: 10000-01-01\r\n"}}
`,
			Want: `implementations/nova.json:4:3: error: domain-age: domain-age-unknown`},
		{Name: "year 10000, and a source that is down",
			World: `pr: [{listing: nova, registered: none}]
web:
  - {domain: nova.example, rdap: {status: 500}, whois: {body: "Domain Name: NOVA.EXAMPLE\r\nCreated: 9999-12-31T23:59:59Z\r\n"}}
`,
			Want: `implementations/nova.json:4:3: inconclusive: domain-age: domain-age-unsure`},
		{Name: "year one", PR: `{listing: nova, registered: "0001-01-01"}`,
			Want: `implementations/nova.json:4:3: error: domain-age: domain-age-unknown`},
		{Name: "first of 1985", PR: `{listing: nova, registered: "1985-01-01"}`, Want: `pass`},
		{Name: "placeholder, provisional", PR: `{listing: nova, registered: "0001-01-01", provisional: true}`,
			Want: `implementations/nova.json:12:3: notice: domain-age: provisional`},
		// a contact that is newer than the domain, and a name server that is older, are not the domain
		{Name: "newer contact",
			World: `pr: [{listing: nova, registered: none}]
web:
  - {domain: nova.example, whois: {body: "domain: nova.example\r\ncreated: 2015-03-01\r\n\r\nnic-hdl: N1\r\nperson: Nova\r\ncreated: 2026-05-30\r\n"}}
`,
			Want: `pass`,
			Says: []string{`nova.example was registered on 2015-03-02T11:59:59Z \(whois\)`}},
		{Name: "older name server",
			World: `pr: [{listing: nova, registered: none}]
web:
  - {domain: nova.example, whois: {body: "domain: nova.example\r\n\r\nnserver: a.nova.example\r\ncreated: 2015-03-01\r\n"}}
`,
			Want: `implementations/nova.json:4:3: error: domain-age: domain-age-unknown`},
		// the sources answered and none has a date; or know no such domain; or have one that cannot be read
		{Name: "none", PR: "{listing: nova, registered: none}",
			Want: `implementations/nova.json:4:3: error: domain-age: domain-age-unknown`,
			Says: []string{`fix: set provisional: true; this DID passes`}},
		{Name: "unknown", PR: "{listing: nova, registered: unknown}",
			Want: `implementations/nova.json:4:3: error: domain-age: domain-age-unknown`},
		{Name: "unreadable",
			World: `pr: [{listing: nova, registered: none}]
web:
  - {domain: nova.example, events: [{eventAction: registration, eventDate: "2015-03-01T00:00:60Z"}], whois_registered: none}
`,
			Want: `implementations/nova.json:4:3: error: domain-age: domain-age-unknown`},
		// a platform's name is its customer's, and the platform's age proves nothing
		{Name: "platform", PR: "{listing: nova, host: nova.vercel.app}",
			Want: `implementations/nova.json:4:3: error: domain-age: domain-age-unknown`,
			Says: []string{`is under the platform suffix vercel.app`}},
		// a platform of the supplement; the platform itself
		{Name: "supplement", PR: "{listing: nova, host: tenant.modal.run}",
			Want: `implementations/nova.json:4:3: error: domain-age: domain-age-unknown`,
			Says: []string{`is under the platform suffix modal.run`}},
		{Name: "supplement itself", PR: "{listing: nova, host: modal.run}", Want: `pass`},
		// a subdomain has the age of its parent
		{Name: "subdomain", PR: "{listing: nova, host: agent.company.com}",
			Want: `implementations/nova.json:4:3: notice: domain-age: age-of-parent`,
			Says: []string{`the age of agent.company.com is that of company.com`}},
		// a host that is itself a public suffix: the platform's own name, which it registered; and one below that
		{Name: "suffix", PR: "{listing: nova, host: vercel.app}", Want: `pass`},
		{Name: "deep suffix", PR: "{listing: nova, host: s3.amazonaws.com}",
			Want: `implementations/nova.json:4:3: error: domain-age: domain-age-unknown`},
		// for a did:key the host of the Manifest stands in: young; on a platform; and old, with a warning
		{Name: "key young", PR: `{listing: nova, did: key, registered: "-1d"}`,
			Want: `implementations/nova.json:4:3: error: domain-age: domain-too-young`},
		{Name: "key platform", PR: "{listing: nova, did: key, host: nova.vercel.app}",
			Want: `implementations/nova.json:4:3: error: domain-age: domain-age-unknown`},
		{Name: "key", PR: "{listing: nova, did: key}",
			Want: `implementations/nova.json:4:3: warning: domain-age: age-of-host`},
		// a did:web with a path: the same warning
		{Name: "path", PR: `{listing: nova, did: "did:web:nova.example:a"}`, Want: `
implementations/nova.json:5:3: warning: manifest-did: target-folder
implementations/nova.json:4:3: warning: domain-age: age-of-host`},
		// neither source gives a date, and one could not be had; a reply about another domain is none
		{Name: "unsure", World: "web: [{domain: nova.example, rdap: {status: 500}, whois_registered: none}]",
			PR: "{listing: nova}", Want: `implementations/nova.json:4:3: inconclusive: domain-age: domain-age-unsure`,
			Says: []string{`fix: try again`}},
		{Name: "unsure whois", World: `web: [{domain: nova.example, whois: {body: "WHOIS LIMIT EXCEEDED"}}]`,
			PR: "{listing: nova}", Want: `implementations/nova.json:4:3: inconclusive: domain-age: domain-age-unsure`},
		{Name: "other",
			World: `pr: [{listing: nova}]
web: [{domain: nova.example, ldh_name: other.example, registered: "2015-03-01", whois_registered: none}]
`,
			Want: `implementations/nova.json:4:3: inconclusive: domain-age: domain-age-unsure`},
		{Name: "garbage",
			World: `web: [{domain: nova.example, rdap: {body: "<html>"}, whois: {body: "come back later"}}]`,
			PR:    "{listing: nova}", Want: `implementations/nova.json:4:3: inconclusive: domain-age: domain-age-unsure`},
		{Name: "WHOIS refuses", World: `pr: [{listing: nova}]
web: [{domain: nova.example, rdap: {body: "<html>"}, whois: {body: "% Requests of this client are not permitted.\r\n% Bye\r\n"}}]
`,
			Want: `implementations/nova.json:4:3: inconclusive: domain-age: domain-age-unsure`,
			Says: []string{`it begins with "Requests of this client are not permitted."`}},
		// who may lose the domain is told, whatever its age
		{Name: "lapsed", World: `pr: [{listing: nova}]
web: [{domain: nova.example, events: [{eventAction: registration, eventDate: "2010-01-01T00:00:00Z"}, {eventAction: expiration, eventDate: "2026-05-20T00:00:00Z"}]}]
`,
			Want: `implementations/nova.json:4:3: warning: domain-age: domain-lapsing`},
		{Name: "renewed in time", World: `pr: [{listing: nova}]
web: [{domain: nova.example, events: [{eventAction: registration, eventDate: "2010-01-01T00:00:00Z"}, {eventAction: expiration, eventDate: "2026-06-02T00:00:00Z"}]}]
`,
			Want: `pass`},
		{Name: "redemption", World: `pr: [{listing: nova}]
web: [{domain: nova.example, rdap: {body: '{"objectClassName":"domain","ldhName":"nova.example","status":["active","Redemption  Period"],"events":[{"eventAction":"registration","eventDate":"2010-01-01"}]}'}}]
`,
			Want: `implementations/nova.json:4:3: warning: domain-age: domain-lapsing`},
		// no look-up can block a provisional listing
		{Name: "unsure provisional",
			World: `web: [{domain: nova.example, rdap: {status: 500}, whois: {body: "come back later"}}]`,
			PR:    "{listing: nova, provisional: true}",
			Want:  `implementations/nova.json:12:3: notice: domain-age: provisional`},
		// the registry's own history stands in where the sources have no date, or cannot be had
		{Name: "history", Base: `{at: "-40d"}, {listing: nova, registered: none}`, PR: "{reissue: nova}", Want: `pass`,
			Says: []string{`no registration date; this DID has been listed here since 2026-04-22T12:00:00Z`}},
		{Name: "history unsure",
			World: `web: [{domain: nova.example, rdap: {status: 500}, whois: {body: "come back later"}}]`,
			Base:  `{at: "-40d"}, {listing: nova}`, PR: "{reissue: nova}", Want: `pass`},
		// nor where the listing could not be read in between, had another DID, or was not there
		{Name: "history broken",
			World: `base:
  - {at: "-40d"}
  - {listing: nova, registered: none}
  - {commit: List}
  - {at: "-20d"}
  - {move: [implementations/nova.json, a.md]}
  - {write: implementations/nova.json, text: "{"}
  - {commit: Break}
  - {at: "-10d"}
  - {move: [a.md, implementations/nova.json]}
pr: [{reissue: nova}]
`,
			Want: `implementations/nova.json:4:3: error: domain-age: domain-age-unknown`},
		{Name: "history of another DID", Base: `{at: "-40d"}, {listing: nova, registered: none}`,
			PR: `{edit: implementations/nova.json, set: {/tool_did: "did:web:nova.example:a"}}`, Only: "domain-age",
			Want: `implementations/nova.json:4:3: error: domain-age: domain-age-unknown`},
		// not where it is shorter than 30 days
		{Name: "history short", Base: `{at: "-29d"}, {listing: nova, registered: none}`, PR: "{reissue: nova}",
			Want: `implementations/nova.json:4:3: error: domain-age: domain-age-unknown`},
		// nor where only the commit's own date says longer: it landed on one of last week
		{Name: "history backdated",
			World: `base:
  - {at: "-7d"}
  - {listing: other, name: Something Else}
  - {commit: List}
  - {at: "-60d"}
  - {listing: nova, registered: none}
pr: [{reissue: nova}]
`,
			Want: `implementations/nova.json:4:3: error: domain-age: domain-age-unknown`},
		// a commit after it that is dated back does not shorten what has stood here
		{Name: "history backdated after",
			World: `base:
  - {at: "-40d"}
  - {listing: nova, registered: none}
  - {commit: List}
  - {at: "-60d"}
  - {listing: other, name: Something Else}
  - {commit: List}
pr: [{reissue: nova}]
`,
			Want: `pass`,
			Says: []string{`no registration date; this DID has been listed here since 2026-04-22T12:00:00Z`}},
		// not where the listing has lapsed
		{Name: "history lapsed", Base: `{at: "-95d"}, {listing: nova, registered: none}`, PR: "{reissue: nova}", Want: `
implementations/nova.json:4:3: error: domain-age: domain-age-unknown
registry: notice: revocations: not-in-force`},
		// and never against a younger date
		{Name: "history young", Base: `{at: "-60d"}, {listing: nova, registered: "-20d"}`, PR: "{reissue: nova}",
			Want: `implementations/nova.json:4:3: error: domain-age: domain-changed-hands`, Says: []string{
				`implementations/nova.json:4:3: error: domain-age: domain nova.example was registered on 2026-05-12T12:00:00Z, after did:web:nova.example was first listed here on 2026-04-02T12:00:00Z: it changed hands`,
				`fix: wait until 2026-06-11T12:00:00Z`,
			}},
		// provisional or not
		{Name: "history provisional", Base: `{at: "-60d"}, {listing: nova, registered: "-20d", provisional: true}`,
			PR: "{reissue: nova}", Want: `implementations/nova.json:4:3: error: domain-age: domain-changed-hands`},
		// a domain that changed hands more than 30 days ago: a warning
		{Name: "history hands", Base: `{at: "-60d"}, {listing: nova, registered: "-35d"}`, PR: "{reissue: nova}",
			Want: `implementations/nova.json:4:3: warning: domain-age: domain-changed-hands`},
		// WHOIS may know no more than the day, on which the listing came too
		{Name: "history day",
			World: `base:
  - {at: "2026-05-20T02:00:00Z"}
  - {listing: nova, provisional: true}
pr: [{reissue: nova}]
web:
  - {domain: nova.example, whois: {body: "Domain Name: NOVA.EXAMPLE\r\nCreated: 2026-05-20\r\nRegistrar: Example Registrar\r\n"}}
`,
			Want: `implementations/nova.json:12:3: notice: domain-age: provisional`},
		// the host of a did:key's Manifest is no owner of it: it may move to a new one
		{Name: "history key", Base: `{at: "-60d"}, {listing: nova, did: key}`,
			PR: `{reissue: nova, host: moved.example, registered: "-20d", provisional: true}`, Want: `
implementations/nova.json:5:3: warning: reissue: unsigned-change
implementations/nova.json:7:3: warning: reissue: unsigned-change
implementations/nova.json:13:3: warning: reissue: unsigned-change
implementations/nova.json:12:3: notice: domain-age: provisional`},
		// a host that is itself a public suffix has a history all the same
		{Name: "history suffix", Base: `{at: "-60d"}, {listing: nova, host: s3.amazonaws.com, provisional: true}`,
			PR: "{reissue: nova, provisional: false}", Want: `pass`,
			Says: []string{`no registration date; this DID has been listed here since 2026-04-02T12:00:00Z`}},
		// a new listing has no history, whoever stood under its slug before
		{Name: "history slug",
			World: `base:
  - {at: "-60d"}
  - {listing: nova}
pr: [{listing: nove, registered: none, name: Something Else}]
`,
			Want: `
implementations/nove.json:2:3: warning: name-similarity: look-alike
implementations/nove.json:4:3: error: domain-age: domain-age-unknown`},
	})
}

// The policy of the base tree adds public suffixes: below one, each name is somebody else's.
func TestPolicySuffix(t *testing.T) {
	const (
		tenants = `policy: "version: 1\npublic_suffixes: [tenants.example]\n"
`
		none = `policy: "version: 1\npublic_suffixes: []\n"
`
		other = `policy: |
  version: 1
  reference_server: {tool_did: "did:web:ref.example"}
  maintainers: ["did:web:mia.example"]
`
		broken = `policy: "public_suffixes: [\"*.tenants.example\"]\n"
`
		// what ann signed, shown by bob
		shown = `base: [{listing: ada}]
pr:
  - {listing: ann, host: ann.tenants.example, provisional: true, receipt: {set: {/target/uri: "https://elsewhere.example/"}}, set: {/manifest_uri: "https://bob.tenants.example/.well-known/oap-tool.json"}}
web:
  - {edit: "https://ann.tenants.example/.well-known/oap-tool.json", to: "https://bob.tenants.example/.well-known/oap-tool.json"}
`
		own = `base: [{listing: ada}]
pr: [{listing: ann, host: ann.tenants.example, registered: "2015-03-01"}]
`
		witness = `base:
  - {listing: bob, level: L4, host: bob.tenants.example, witness: [cyd]}
  - {listing: cyd, level: L4, witness: [bob]}
pr: [{listing: ann, level: L4, host: ann.tenants.example, provisional: true, witness: [bob]}]
`
		audited = `base:
  - {listing: bob, level: L4, witness: [cyd]}
  - {listing: cyd, level: L4, witness: [bob]}
  - {listing: dan, level: L4, witness: [bob]}
pr: [{listing: ann, level: L5, host: ann.tenants.example, provisional: true, witness: [bob, cyd, dan], auditor: "did:web:aud.tenants.example"}]
`
	)
	checktest.Run(t, []checktest.Case{
		{Name: "shown by another tenant", World: tenants + shown,
			Want: `
implementations/ann.json:5:3: error: manifest-did: manifest-host
implementations/ann.json:7:3: warning: receipt-claims: target-differs
implementations/ann.json:12:3: notice: domain-age: provisional`},
		{Name: "shown, no suffix", World: shown, Want: `
implementations/ann.json:7:3: warning: receipt-claims: target-differs
implementations/ann.json:4:3: notice: domain-age: age-of-parent
implementations/ann.json:12:3: warning: domain-age: provisional-not-needed`},
		{Name: "shown, empty list", World: none + shown,
			Want: `
implementations/ann.json:7:3: warning: receipt-claims: target-differs
implementations/ann.json:4:3: notice: domain-age: age-of-parent
implementations/ann.json:12:3: warning: domain-age: provisional-not-needed`},
		{Name: "shown, a policy of something else", World: other + shown,
			Want: `
implementations/ann.json:7:3: warning: receipt-claims: target-differs
implementations/ann.json:4:3: notice: domain-age: age-of-parent
implementations/ann.json:12:3: warning: domain-age: provisional-not-needed`},
		{Name: "shown, policy not readable", World: broken + shown,
			Want: `
implementations/ann.json:1:1: inconclusive: manifest-did: policy-unreadable
implementations/ann.json:7:3: warning: receipt-claims: target-differs
implementations/ann.json:1:1: inconclusive: domain-age: policy-unreadable
.github/gate-policy.yml: warning: peer-witnesses: policy-broken`,
			Says: []string{`"\*.tenants.example" is not a DNS name in lower-case A-labels without a wildcard`,
				`fix: correct .github/gate-policy.yml in a pull request of its own, which needs no such check`}},
		// the age of the platform proves nothing
		{Name: "age", World: tenants + own,
			Want: `implementations/ann.json:4:3: error: domain-age: domain-age-unknown`,
			Says: []string{`ann.tenants.example is under the platform suffix tenants.example`}},
		{Name: "age, no suffix", World: own, Want: `implementations/ann.json:4:3: notice: domain-age: age-of-parent`},
		{Name: "age, proposed suffix", World: own + `main: [{write: .github/gate-policy.yml, text: "public_suffixes: [tenants.example]\n"}]
`,
			Want: `implementations/ann.json:4:3: error: domain-age: domain-age-unknown`},
		// the suffix does not take over a longer one of the list
		{Name: "vercel", World: `policy: "public_suffixes: [app]\n"`, PR: "{listing: nova, host: nova.vercel.app}",
			Want: `implementations/nova.json:4:3: error: domain-age: domain-age-unknown`,
			Says: []string{`under the platform suffix vercel.app`}},
		// a witness that is another tenant is on another domain
		{Name: "witness", World: tenants + witness, Want: `implementations/ann.json:12:3: notice: domain-age: provisional`},
		{Name: "witness, no suffix", World: witness,
			Want: `
implementations/ann.json:6:3: warning: peer-witnesses: witness-same-domain
implementations/ann.json:4:3: notice: domain-age: age-of-parent
implementations/ann.json:12:3: warning: domain-age: provisional-not-needed`},
		// so is an auditor
		{Name: "auditor", World: tenants + audited,
			Want: `
implementations/ann.json:6:3: notice: external-audit: audit-declared
implementations/ann.json:12:3: notice: domain-age: provisional`},
		{Name: "auditor, no suffix", World: audited,
			Want: `
implementations/ann.json:6:3: error: external-audit: audit-by-itself
implementations/ann.json:4:3: notice: domain-age: age-of-parent
implementations/ann.json:12:3: warning: domain-age: provisional-not-needed`},
		{Name: "auditor, policy not readable", Only: "external-audit peer-witnesses", World: broken + audited,
			Want: `
implementations/ann.json:1:1: inconclusive: external-audit: policy-unreadable
.github/gate-policy.yml: warning: peer-witnesses: policy-broken`},
		// a change of the policy: judged by what it leaves; one of another file does not answer for it
		{Name: "mended", World: broken + `base: [{listing: ada}]
pr: [{write: .github/gate-policy.yml, text: "public_suffixes: [tenants.example]\n"}]
`,
			Want: `.github/gate-policy.yml: warning: append-only: governance`},
		{Name: "broken", World: tenants + `base: [{listing: ada}]
pr: [{write: .github/gate-policy.yml, text: "public_suffixes: [Tenants.example]\n"}]
`,
			Want: `
.github/gate-policy.yml: warning: append-only: governance
.github/gate-policy.yml: error: peer-witnesses: policy-unreadable`},
		{Name: "left broken", World: broken + `base: [{listing: ada}]
pr: [{write: docs/page.md, text: "# Page\n"}]
`,
			Want: `
docs/page.md: warning: append-only: governance
.github/gate-policy.yml: warning: peer-witnesses: policy-broken`},
		// a revocation needs no domain
		{Name: "revocation", World: broken + `base: [{listing: ada}]
pr: [{revoke: ada}]
`,
			Want: `.github/gate-policy.yml: warning: peer-witnesses: policy-broken`},
	})
}

// The age of a domain, and until when a listing counts as provisional, follow from the history that an audit read.
func TestAuditOfAge(t *testing.T) {
	checktest.Run(t, audits("domain-age", []checktest.Case{
		{Name: "listed for 60 days", Base: `{at: "-60d"}, {listing: ada, registered: none}`, Want: `pass`},
		{Name: "listed for 30 days less a minute",
			Base: `{at: "-30d"}, {commit: Begin}, {listing: ada, registered: none}`,
			Want: `implementations/ada.json:4:3: error: domain-age: domain-age-unknown`},
		{Name: "renewed",
			Base: `{at: "-60d"}, {listing: ada, registered: none}, {commit: List}, {at: "-10d"}, {reissue: ada}`,
			Want: `pass`},
		{Name: "another DID before", World: `
base:
  - {at: "-60d"}
  - {listing: ada, registered: none, host: old.example}
  - {commit: List}
  - {at: "-10d"}
  - {reissue: ada, host: new.example}
`, Want: `implementations/ada.json:4:3: error: domain-age: domain-age-unknown`},
		{Name: "away in between", World: `
base:
  - {at: "-60d"}
  - {listing: ada, registered: none}
  - {commit: List}
  - {remove: implementations/ada.json}
  - {commit: Remove}
  - {at: "-10d"}
  - {reissue: ada}
`, Want: `implementations/ada.json:4:3: error: domain-age: domain-age-unknown`},
		{Name: "registered since", Base: `{at: "-60d"}, {listing: ada, registered: -40d}`,
			Want: `implementations/ada.json:4:3: warning: domain-age: domain-changed-hands`},
		{Name: "registered a day ago", Base: `{at: "-60d"}, {listing: ada, registered: -1d}`,
			Want: `implementations/ada.json:4:3: error: domain-age: domain-changed-hands`},
		{Name: "a policy that cannot be read", World: `
policy: "["
base: [{listing: ada}]
`, Want: `implementations/ada.json:1:1: inconclusive: domain-age: policy-unreadable`},
	}))
}
