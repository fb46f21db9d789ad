package checks_test

import (
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/checktest"
)

// A private key that is pushed is everyone's: no commit of a range may bring one.
func TestPrivateKey(t *testing.T) {
	const (
		key = `-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIFoXw5laF8OZWhfDmVoXw5laF8OZWhfDmVoXw5laF8OZ\n-----END PRIVATE KEY-----\n`
		rfc = `-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC\n-----END PRIVATE KEY-----\n`
		sum = `3c2f74e9c2e751560310b2bf4dd1ee944b752937c5adf4e459c02cca62f8ab0d` // of key

		base = `base: [{listing: ada}]
`
	)
	checktest.Run(t, []checktest.Case{
		// beside a listing it is no mixed change that could be split; alone; in a data directory
		{Name: "with a listing", World: base + `pr: [{listing: nova}, {write: key.pem, text: "` + key + `"}]`,
			Want: `key.pem: error: layout: private-key`,
			Says: []string{
				`"key.pem" has a private key \(a PEM block\); the SHA-256 of the file is [0-9a-f]{64}; expected no private key`,
				`fix: make a new key, and remove the file from every commit of the branch; if the key signs only examples, ` +
					`list SHA-256 under example_keys in a governance pull request first`}},
		{Name: "with a page", World: base + `pr: [{listing: nova}, {write: key.pem, text: "` + key +
			`"}, {write: page.md, text: "# A page\n"}]`,
			Want: `
key.pem: error: layout: private-key
page.md: error: append-only: mixed`},
		{Name: "layout left out", Skip: "layout", World: base + `pr: [{listing: nova}, {write: key.pem, text: "` + key + `"}]`,
			Want: `key.pem: error: append-only: mixed`},
		{Name: "alone", World: base + `pr: [{write: docs/key.pem, text: "` + key + `"}]`,
			Want: `
docs/key.pem: error: layout: private-key
docs/key.pem: warning: append-only: governance`},
		{Name: "JWK", World: base + `pr: [{write: key.json, text: '{"kty":"OKP","crv":"Ed25519","d":"WhfDmVoXw5laF8OZWhfDmVoXw5laF8OZWhfDmVoXw5k"}'}]`,
			Want: `
key.json: error: layout: private-key
key.json: warning: append-only: governance`},
		// the target of a link is a text too
		{Name: "link", World: base + `pr: [{write: docs/link, text: "` + key + `", mode: "120000"}]`,
			Want: `
docs/link: error: layout: private-key
docs/link: warning: append-only: governance`},
		// a commit brings it, and a later one takes it away
		{Name: "in passing", World: base + `pr:
  - {write: key.pem, text: "` + key + `"}
  - {commit: take it away}
  - {remove: key.pem}
  - {listing: nova}
`,
			Want: `
key.pem: error: layout: private-key
key.pem: warning: append-only: governance-in-passing`},
		{Name: "in two commits", World: base + `pr:
  - {write: key.pem, text: "` + key + `"}
  - {commit: bring it}
  - {write: key.pem, text: "a` + key + `"}
  - {commit: bring another}
  - {listing: nova}
`,
			Want: `key.pem: error: layout: private-key`},
		// what passes: what an RFC prints, what base has and moves, what the policy lists
		{Name: "published", World: base + `pr: [{write: docs/example.pem, text: "` + rfc + `"}]`,
			Want: `docs/example.pem: warning: append-only: governance`},
		{Name: "moved", World: `base: [{listing: ada}, {write: test/key.pem, text: "` + key + `"}]
pr: [{move: [test/key.pem, testdata/key.pem]}]
`,
			Want: `test/key.pem: warning: append-only: governance`},
		{Name: "day", World: base + `pr: [{write: docs/day.json, text: '{"kty":"holiday","y":2026,"d":"WhfDmVoXw5laF8OZWhfDmVoXw5laF8OZWhfDmVoXw5k"}'}]`,
			Want: `docs/day.json: warning: append-only: governance`},
		{Name: "listed", World: `policy: "example_keys: ['` + sum + `']\n"
` + base + `pr: [{write: docs/key.pem, text: "` + key + `"}]`,
			Want: `docs/key.pem: warning: append-only: governance`},
		{Name: "another listed", World: `policy: "example_keys: ['` + sum + `']\n"
` + base + `pr: [{write: docs/key.pem, text: "` + key + `\n"}]`,
			Want: `
docs/key.pem: error: layout: private-key
docs/key.pem: warning: append-only: governance`},
		// the base tree is the judge
		{Name: "proposed", World: base + `pr:
  - {write: .github/gate-policy.yml, text: "example_keys: ['` + sum + `']\n"}
  - {write: docs/key.pem, text: "` + key + `"}
`,
			Want: `
docs/key.pem: error: layout: private-key
.github/gate-policy.yml: warning: append-only: governance`},
	})
}
