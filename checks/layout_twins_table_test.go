package checks_test

import (
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/checktest"
)

// Two paths that some system takes for one stand in no tree, and no new path is one that some system cannot hold: what
// the log holds must be the same in every clone.
func TestLayoutTwins(t *testing.T) {
	checktest.Run(t, []checktest.Case{
		{Name: "an audit of one that was merged", Audit: true,
			Base: "{listing: ada}, {write: docs/gate, text: one}, {commit: One}, {write: docs/gate., text: two}",
			Want: `
registry: notice: history: governance
README.md: warning: history: mixed
docs/gate.: error: history: case-twin
docs/gate.: warning: layout: case-twin`},
		// --- they meet only after folding and normalising once more ---
		{Name: "iota", PR: `{write: "docs/\u0390", text: one}, {write: "docs/\u03AA\u0301", text: two}`, Want: `
docs/Ϊ́: error: layout: case-twin
docs/ΐ: warning: append-only: governance`,
			Says: []string{`are one path on systems that fold letter case or drop characters`}},
		// --- characters that some systems drop ---
		// zero width, a variation selector, a soft hyphen; of a data directory
		{Name: "zero width", PR: `{write: docs/gate.md, text: one}, {write: "docs/ga\u200bte.md", text: two}`, Want: `
docs/ga\u200bte.md: error: layout: case-twin
docs/gate.md: warning: append-only: governance`},
		{Name: "selector", PR: `{write: docs/gate.md, text: one}, {write: "docs/gate\ufe0f.md", text: two}`, Want: `
docs/gate\ufe0f.md: error: layout: case-twin
docs/gate.md: warning: append-only: governance`},
		{Name: "soft hyphen directory", PR: `{write: "implemen\u00adtations/note", text: two}`, Want: `
implemen\u00adtations: error: layout: case-twin
implemen\u00adtations/note: warning: append-only: governance`},
		// dots and blanks at the end of a name, of a directory on the way, of a data directory; a no-break space is a
		// blank
		{Name: "dot", PR: "{write: docs/gate, text: one}, {write: docs/gate., text: two}", Want: `
docs/gate.: error: layout: case-twin
docs/gate: warning: append-only: governance`},
		{Name: "blank", PR: `{write: docs/gate, text: one}, {write: "docs/gate. .", text: two}`, Want: `
docs/gate. .: error: layout: case-twin
docs/gate: warning: append-only: governance`},
		{Name: "no break", PR: `{write: docs/gate, text: one}, {write: "docs/gate\u00a0", text: two}`, Want: `
docs/gate\u00a0: error: layout: case-twin
docs/gate: warning: append-only: governance`},
		{Name: "dot on the way", PR: "{write: docs/gate, text: one}, {write: docs./gate, text: two}", Want: `
docs.: error: layout: case-twin
docs./gate: error: layout: case-twin
docs./gate: warning: append-only: governance`},
		{Name: "dot directory", PR: `{write: "revocations. /note", text: two}`, Want: `
revocations. : error: layout: case-twin
revocations. /note: warning: append-only: governance`},
		// the same against what stands, and in the history of an audit
		{Name: "standing", Base: "{write: docs/gate, text: one}", PR: `{write: "docs/gate ", text: two}`, Want: `
docs/gate : error: layout: case-twin
docs/gate : warning: append-only: governance`},
		// --- no twins --- other letters, a dot within, a blank within, one such name alone; bytes that are no UTF-8
		// are not told apart by it
		{Name: "no twins",
			World: `pr:
  - {write: docs/gate, text: one}
  - {write: docs/.gate, text: one}
  - {write: docs/ga.te, text: two}
  - {write: docs/ga te, text: three}
  - {write: "docs/\u03ca", text: four}
  - {write: docs/alone., text: five}
  - {write: "docs/ali\u200bce", text: six}
`,
			Want: `docs/.gate: warning: append-only: governance`},
		// two that stand already block nobody
		{Name: "stood", Base: "{write: docs/gate, text: one}, {write: docs/gate., text: two}", PR: "{listing: ada}",
			Want: `docs/gate.: warning: layout: case-twin`},
		// --- new names that some systems cannot hold ---
		{Name: "colon", PR: `{write: "docs/a:b.md", text: one}`, Want: `
docs/a:b.md: error: layout: path-character
docs/a:b.md: warning: append-only: governance`,
			Says: []string{`docs/a:b.md: error: layout: "docs/a:b.md" holds ":", which some systems allow in no name`}},
		{Name: "backslash", PR: `{write: "docs/a\\b.md", text: one}`, Want: `
docs/a\b.md: error: layout: path-character
docs/a\b.md: warning: append-only: governance`},
		{Name: "device", PR: `{write: "docs/Aux .txt", text: one}`, Want: `
docs/Aux .txt: error: layout: device-name
docs/Aux .txt: warning: append-only: governance`,
			Says: []string{`"Aux .txt" is the name of a device on some systems`}},
		{Name: "device of a console", PR: `{write: "docs/CONIN$", text: one}, {write: docs/conout$.md, text: one}`,
			Want: `
docs/CONIN$: error: layout: device-name
docs/conout$.md: error: layout: device-name
docs/CONIN$: warning: append-only: governance`},
		// a directory that no clone keeps: each that commits would take it away, a governance file beside its records
		{Name: "empty directory", PR: "{write: docs/empty/}", Want: `
docs/empty: error: layout: empty-folder
docs/empty: warning: append-only: governance`,
			Says: []string{`docs/empty: error: layout: "docs/empty" is an empty directory, which no clone keeps`}},
		{Name: "empty data directory", PR: "{remove: peer-witnesses/.gitkeep}, {write: peer-witnesses/}",
			Want: `peer-witnesses: error: layout: empty-folder`},
		{Name: "empty directory taken away", Base: "{write: docs/empty/}", PR: "{remove: docs/empty/}",
			Want: `docs/empty: warning: append-only: governance`},
		// one that stands may be changed; names near by are sound
		{Name: "colon stood", Base: `{write: "docs/a:b.md", text: one}`, PR: `{write: "docs/a:b.md", text: two}`,
			Want: `docs/a:b.md: warning: append-only: governance`},
		{Name: "sound",
			World: `pr:
  - {write: docs/auxiliary.md, text: one}
  - {write: docs/my.aux, text: one}
  - {write: "docs/(a)[b]{c} 'd'!.md", text: one}
`,
			Want: `docs/(a)[b]{c} 'd'!.md: warning: append-only: governance`},
	})
}

func TestUnderscoreHost(t *testing.T) {
	const old = `base: [{listing: old, host: my_agent.corp.example, set: {/contact: contact@corp.example}}]
`
	checktest.Run(t, []checktest.Case{
		// No host name has an underscore, but this merged listing has one, and its owner can renew it. Layout warns of
		// the spelling; domain age, DID Document, Manifest and Receipt are obtained.
		{Name: "old, renewal", World: old, PR: "{reissue: old, set: {/contact: contact@corp.example}}", Want: `
implementations/old.json:4:3: warning: layout: did-spelling
implementations/old.json:4:3: notice: domain-age: age-of-parent`},
		// its owner can revoke it
		{Name: "old, revocation", World: old, PR: "{revoke: old}",
			Want: `implementations/old.json:4:3: warning: layout: did-spelling`},
		// a new listing cannot have one
		{Name: "new",
			World: `pr: [{listing: old, host: my_agent.corp.example, set: {/contact: contact@corp.example}}]`,
			Want: `
implementations/old.json:4:3: error: layout: did-spelling
implementations/old.json:4:3: notice: domain-age: age-of-parent`,
			Says: []string{`implementations/old.json:4:3: error: layout: tool_did is "did:web:my_agent.corp.example" with an underscore`}},
	})
}
