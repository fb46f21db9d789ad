package checks_test

import (
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/checktest"
)

// The auditor of L5 is neither the candidate nor a witness, whatever its DID says (RFC 0026 section 10).
func TestExternalAuditAuditor(t *testing.T) {
	const (
		base = `base:
  - {listing: ada, level: L4, witness: [bob]}
  - {listing: bob, level: L4, witness: [ada]}
  - {listing: cyd, level: L4, witness: [ada]}
  - {listing: dan, level: L4, witness: [ada]}
`
		otherKey = `pr: [{listing: nova, level: L5, witness: [ada, bob, cyd], auditor: "did:key:z6MknqQzWtovxH6aMMo2AKKsCPPwA4E6zzWHXidUtKLSUJgD"}]
`
		dan503 = `web: [{url: "https://dan.example/.well-known/did.json", status: 503, header: {retry-after: "3600"}}]
`
		nova503 = `web: [{url: "https://nova.example/.well-known/did.json", status: 503}]
`
	)
	checktest.Run(t, []checktest.Case{
		// 32 entries are read, 33 are an error of peer-witnesses
		{Name: "entries 32", Only: "external-audit",
			World: base + `pr: [{listing: nova, level: L5, witness: [` + strings.Repeat("ada, ", 30) +
				`bob, cyd], auditor: "did:web:%62ob.example"}]`,
			Want: `implementations/nova.json:6:3: error: external-audit: audit-by-witness`},
		{Name: "entries 32, and an auditor by key", Only: "external-audit",
			World: base + `pr: [{listing: nova, level: L5, witness: [` + strings.Repeat("ada, ", 30) +
				`bob, cyd], auditor: "did:key:z6MknqQzWtovxH6aMMo2AKKsCPPwA4E6zzWHXidUtKLSUJgD"}]`,
			Want: `implementations/nova.json:6:3: notice: external-audit: audit-declared`},
		{Name: "entries 33, and an auditor by key", Only: "external-audit",
			World: base + `pr: [{listing: nova, level: L5, witness: [` + strings.Repeat("ada, ", 31) +
				`bob, cyd], auditor: "did:key:z6MknqQzWtovxH6aMMo2AKKsCPPwA4E6zzWHXidUtKLSUJgD"}]`,
			Want: `implementations/nova.json:6:3: error: external-audit: too-many-witnesses`},
		// the publisher of the candidate or of a witness, and a host of its domain
		{Name: "publisher", Only: "external-audit",
			World: base + `pr: [{listing: nova, level: L5, witness: [ada, bob, cyd], publisher_did: "did:web:acme.example:x", auditor: "did:web:ACME.example:x"}]
`,
			Want: `implementations/nova.json:6:3: error: external-audit: audit-by-itself`,
			Says: []string{`is the publisher of the implementation itself`}},
		{Name: "domain of the publisher", Only: "external-audit",
			World: base + `pr: [{listing: nova, level: L5, witness: [ada, bob, cyd], publisher_did: "did:web:acme.example", auditor: "did:web:audit.acme.example"}]
`,
			Want: `implementations/nova.json:6:3: error: external-audit: audit-by-itself`},
		{Name: "publisher of a witness", Only: "external-audit",
			World: base + `  - {listing: eve, level: L4, witness: [ada], publisher_did: "did:web:acme.example"}`,
			PR:    `{listing: nova, level: L5, witness: [ada, bob, eve], auditor: "did:web:audit.acme.example"}`,
			Want:  `implementations/nova.json:6:3: error: external-audit: audit-by-witness`},
		{Name: "publisher of another listing", Only: "external-audit",
			World: base + `  - {listing: eve, level: L4, witness: [ada], publisher_did: "did:web:acme.example"}`,
			PR:    `{listing: nova, level: L5, witness: [ada, bob, cyd], auditor: "did:web:audit.acme.example"}`,
			Want:  `implementations/nova.json:6:3: notice: external-audit: audit-declared`},
		// a DID that is a published key is everyone's
		{Name: "published key", Only: "external-audit",
			World: base + `pr: [{listing: nova, level: L5, witness: [ada, bob, cyd], auditor: "did:key:z6MktwupdmLXVVqTzCw4i46r4uGyosGXRnR3XjN4Zq7oMMsw"}]
`,
			Want: `implementations/nova.json:6:3: error: external-audit: did-published-key`},
		// the candidate's DID and a witness's, with escapes that nothing needs, and with the path that every host has
		{Name: "self escape", World: base,
			PR:   `{listing: nova, level: L5, witness: [ada, bob, cyd], auditor: "did:web:%6Eova%2eexample"}`,
			Want: `implementations/nova.json:6:3: error: external-audit: audit-by-itself`},
		{Name: "self well known", World: base,
			PR:   `{listing: nova, level: L5, witness: [ada, bob, cyd], auditor: "did:web:nova.example:.well-known"}`,
			Want: `implementations/nova.json:6:3: error: external-audit: audit-by-itself`},
		// the DID that the Receipt names, which is another than the listing's
		{Name: "self of the Receipt", Only: "external-audit",
			World: base + `pr: [{listing: nova, level: L5, witness: [ada, bob, cyd], auditor: "did:web:other.example", receipt: {set: {/implementation/did: "did:web:other.example"}}}]`,
			Want:  `implementations/nova.json:6:3: error: external-audit: audit-by-itself`},
		{Name: "witness escape", World: base,
			PR:   `{listing: nova, level: L5, witness: [ada, bob, cyd], auditor: "did:web:%62ob.example"}`,
			Want: `implementations/nova.json:6:3: error: external-audit: audit-by-witness`},
		// an escape that leads to another place
		{Name: "dots", World: base,
			PR:   `{listing: nova, level: L5, witness: [ada, bob, cyd], auditor: "did:web:auditor.example:a:%2E%2e"}`,
			Want: `implementations/nova.json:6:3: error: external-audit: audit-auditor`},
		// a path or a name under the domain of one of them
		{Name: "self path", World: base,
			PR:   `{listing: nova, level: L5, witness: [ada, bob, cyd], auditor: "did:web:nova.example:audits"}`,
			Want: `implementations/nova.json:6:3: error: external-audit: audit-by-itself`},
		{Name: "self name", World: base,
			PR:   `{listing: nova, level: L5, witness: [ada, bob, cyd], auditor: "did:web:audit.nova.example"}`,
			Want: `implementations/nova.json:6:3: error: external-audit: audit-by-itself`,
			Says: []string{`external_audit.auditor_did "did:web:audit.nova.example" is under nova.example, the implementation.s own domain`}},
		{Name: "witness name", World: base,
			PR:   `{listing: nova, level: L5, witness: [ada, bob, cyd], auditor: "did:web:audit.bob.example%3A8443:x"}`,
			Want: `implementations/nova.json:6:3: error: external-audit: audit-by-witness`,
			Says: []string{`is under bob.example, the domain of peer witness "did:web:bob.example"`}},
		// ... which a name beside it on a platform is not
		{Name: "platform",
			World: base + `pr: [{listing: nova, level: L5, host: nova.vercel.app, provisional: true, set: {/contact: contact@nova.example}, witness: [ada, bob, cyd], auditor: "did:web:audit.vercel.app"}]`,
			Want: `
implementations/nova.json:6:3: notice: external-audit: audit-declared
implementations/nova.json:12:3: notice: domain-age: provisional`},
		// a key of theirs, as a did:key and as a did:jwk, also one that is over
		{Name: "key",
			World: base + `pr: [{listing: nova, level: L5, witness: [ada, bob, cyd], auditor: "did:key:z6MkggtJhW3AZNqxk6j9mao4eo4HdAJ4LMFne6X7KpaqTxRm"}]`,
			Want:  `implementations/nova.json:6:3: error: external-audit: audit-own-key`},
		{Name: "jwk",
			World: base + `pr: [{listing: nova, level: L5, witness: [ada, bob, cyd], auditor: "did:jwk:eyJjcnYiOiJFZDI1NTE5Iiwia3R5IjoiT0tQIiwieCI6IklUVHNtaGJGMU1UUUctblJ0RjZNRlNDYzgwTEM5WE9vTEw1YjJXVS12Y2cifQ"}]`,
			Want:  `implementations/nova.json:6:3: error: external-audit: audit-own-key`},
		{Name: "key over",
			World: base + `pr:
  - listing: nova
    level: L5
    witness: [ada, bob, cyd]
    auditor: "did:key:z6MkkM2xGepNui4SkTkRxjjgJkw4G3H6QsaX3PZwc5Z2MC3Z"
    did_document: {set: {/verificationMethod/-: {id: "#old", type: JsonWebKey, controller: "did:web:nova.example", revoked: "2026-01-01T00:00:00Z", publicKeyJwk: {kty: OKP, crv: Ed25519, x: "$jwk(old)"}}}}
`,
			Want: `implementations/nova.json:6:3: error: external-audit: audit-own-key`},
		{Name: "witness key",
			World: base + `pr: [{listing: nova, level: L5, witness: [ada, bob, cyd], auditor: "did:key:z6MkvPTaZYNbzR5NikCAA1XcZM3MX54YEXSKGC73bgGjUqfR"}]`,
			Want:  `implementations/nova.json:6:3: error: external-audit: audit-witness-key`},
		// ... and of nobody here
		{Name: "other key", World: base + otherKey,
			Want: `implementations/nova.json:6:3: notice: external-audit: audit-declared`},
		// neither encodes a key
		{Name: "no key", World: base,
			PR:   `{listing: nova, level: L5, witness: [ada, bob, cyd], auditor: "did:key:zebra"}`,
			Want: `implementations/nova.json:6:3: error: external-audit: audit-auditor`},
		{Name: "no jwk", World: base,
			PR:   `{listing: nova, level: L5, witness: [ada, bob, cyd], auditor: "did:jwk:e30"}`,
			Want: `implementations/nova.json:6:3: error: external-audit: audit-auditor`},
		// a witness's document that cannot be had matters to an auditor that is a key alone
		{Name: "four key, dan 503",
			World: base + `pr: [{listing: nova, level: L5, witness: [ada, bob, cyd, dan], auditor: "did:key:z6MknqQzWtovxH6aMMo2AKKsCPPwA4E6zzWHXidUtKLSUJgD"}]
` + dan503,
			Want: `
implementations/nova.json:7:3: warning: peer-witnesses: witness-evidence
implementations/nova.json:6:3: inconclusive: external-audit: audit-open`,
			Says: []string{`(?s)external-audit: [^\n]*\n *fix: try again after 2026-06-01T13:00:00Z`}},
		{Name: "four, dan 503",
			World: base + `pr: [{listing: nova, level: L5, witness: [ada, bob, cyd, dan]}]
` + dan503,
			Want: `
implementations/nova.json:7:3: warning: peer-witnesses: witness-evidence
implementations/nova.json:6:3: notice: external-audit: audit-declared`},
		// ... and so does the candidate's
		{Name: "other key, nova 503, only external-audit", Only: "external-audit",
			World: base + otherKey + nova503,
			Want:  `implementations/nova.json:1:1: inconclusive: external-audit: http-status`},
		{Name: "honest, nova 503, only external-audit", Only: "external-audit",
			World: base + `pr: [{listing: nova, level: L5, witness: [ada, bob, cyd]}]
` + nova503,
			Want: `implementations/nova.json:6:3: notice: external-audit: audit-declared`},
	})
}

// An auditor's key is compared with those of the candidate and the witnesses, in whatever DID it is spelled.
func TestExternalAuditKeys(t *testing.T) {
	const (
		base = `base:
  - {listing: ada, level: L4, witness: [bob]}
  - {listing: bob, level: L4, witness: [ada]}
  - {listing: cyd, level: L4, witness: [ada]}
`
		key   = `did:key:z6MkggtJhW3AZNqxk6j9mao4eo4HdAJ4LMFne6X7KpaqTxRm`
		jwk   = `did:jwk:eyJjcnYiOiJFZDI1NTE5Iiwia3R5IjoiT0tQIiwieCI6IklUVHNtaGJGMU1UUUctblJ0RjZNRlNDYzgwTEM5WE9vTEw1YjJXVS12Y2cifQ`
		other = `did:key:z6MknqQzWtovxH6aMMo2AKKsCPPwA4E6zzWHXidUtKLSUJgD`
	)
	checktest.Run(t, only("external-audit", []checktest.Case{
		{Name: "a witness by its key", World: base + `pr: [{listing: nova, level: L5, auditor: "` + jwk +
			`", witness: [{slug: bob, did: "` + key + `"}]}]`,
			Want: `implementations/nova.json:6:3: error: external-audit: audit-by-witness`,
			Says: []string{`is the key of peer witness "did:key:z6Mkggt`}},
		{Name: "the candidate's document is gone", World: base + `pr: [{listing: nova, level: L5, auditor: "` + other +
			`", witness: [ada, bob, cyd]}]
web: [{url: "https://nova.example/.well-known/did.json", status: 404}]
`, Want: `implementations/nova.json:1:1: error: external-audit: http-status`},
		{Name: "an unknown framework, and the candidate's document is gone", World: base +
			`pr: [{listing: nova, level: L5, auditor: "` + other + `", witness: [ada, bob, cyd], receipt: {set: {/external_audit/framework: none}}}]
web: [{url: "https://nova.example/.well-known/did.json", status: 404}]
`, Want: `implementations/nova.json:6:3: error: external-audit: audit-framework`},
		{Name: "a witness that nobody lists", World: base + `pr: [{publish: dan}, {listing: nova, level: L5, auditor: "` + other +
			`", witness: [ada, bob, dan]}]`,
			Want: `implementations/nova.json:6:3: notice: external-audit: audit-declared`},
		{Name: "a witness whose document is gone", World: base + `pr: [{listing: nova, level: L5, auditor: "` + other +
			`", witness: [ada, bob, cyd]}]
web: [{url: "https://cyd.example/.well-known/did.json", status: 404}]
`, Want: `implementations/nova.json:6:3: notice: external-audit: audit-declared`},
	}))
}
