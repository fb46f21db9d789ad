package checks_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/checktest"
)

func TestLayout(t *testing.T) {
	checktest.Run(t, []checktest.Case{
		// the place is that of the name, not where the text stops being JSON
		{Name: "odd name and text", PR: `{write: implementations/x.json, text: '{"slug": "x",}'}`,
			Want: `implementations/x.json:1:1: error: layout: misplaced-file`,
			Says: []string{`implementations/x.json:1:1: error: layout: `}},
		// a file that is no JSON by name
		{Name: "text file", PR: `{listing: nova}, {write: implementations/nova.txt, text: "see nova.json"}`,
			Want: `implementations/nova.txt:1:1: error: layout: misplaced-file`},
		// a directory in a data directory
		{Name: "sub directory", PR: "{listing: nova}, {move: [implementations/nova.json, implementations/n/nova.json]}",
			Want: `implementations/n/nova.json:1:1: error: layout: misplaced-file`},
		// a revocation under another slug's name
		{Name: "revocation slug", Base: "{listing: ada}, {listing: bob}",
			PR:   `{revoke: ada, path: "revocations/bob-$pin(ada).json"}`,
			Want: `revocations/bob-0ee9e6ecb821a8e4eb7478a361b11af2dd4e4e1399aa4f0cc041538c028db54f.json:2:3: error: layout: slug-mismatch`,
			Says: []string{`revocations/bob-[0-9a-f]+.json:2:3: error: layout: slug is "ada", the file.s name says "bob"`}},
		// a slug of one character has no file
		{Name: "short slug", PR: "{listing: nova}, {move: [implementations/nova.json, implementations/n.json]}",
			Want: `implementations/n.json:1:1: error: layout: misplaced-file`},
		// a symbolic link to a listing
		{Name: "symlink", Base: "{listing: ada}",
			PR:   `{write: implementations/nova.json, text: ada.json, mode: "120000"}`,
			Want: `implementations/nova.json: error: layout: file-mode`,
			Says: []string{`mode is 120000, a record is a plain file`, `fix: replace it by a plain file`}},
		// what --fix can mend, in a new record and not in a merged one
		{Name: "data directories that are files, merged", World: `
bare: true
base:
  - {listing: ada}
  - {write: revocations, text: "none"}
  - {write: implementations/README.md, text: ada.json, mode: "120000"}
pr:
  - {listing: nova}`,
			Want: `
implementations/README.md: warning: layout: file-mode
revocations:1:2: warning: layout: folder-mode`},
		{Name: "as deep as a record may be", World: `
pr:
  - {write: implementations/nova.json, text: '{"slug": "nova", "x": [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]}'}`,
			Only: "schema", Want: strings.Repeat("implementations/nova.json:1:1: error: schema: schema-required\n", 8) +
				"implementations/nova.json:1:18: error: schema: schema-additionalProperties"},
		{Name: "new executable", PR: `{write: implementations/nova.json, text: "{", mode: "100755"}`,
			Want: `implementations/nova.json:1:2: error: layout: file-mode`,
			Says: []string{`fix: oap-gate check --worktree --fix; if git ignores file modes here, ` +
				`git update-index --chmod=-x implementations/nova\.json$`}},
		{Name: "merged executable", Base: `{write: implementations/ada.json, text: "{", mode: "100755"}`,
			PR:   `{write: implementations/ada.json, text: "[", mode: "100755"}`,
			Want: `implementations/ada.json:1:2: error: layout: file-mode`,
			Says: []string{`fix: replace it by a plain file`}},
		{Name: "new mark", PR: `{write: implementations/nova.json, text: "\uFEFF{}"}`,
			Want: `implementations/nova.json:1:1: error: layout: byte-order-mark`,
			Says: []string{`fix: oap-gate check --worktree --fix$`}},
		{Name: "new text that ends", PR: `{write: implementations/nova.json, text: "{"}`,
			Want: `implementations/nova.json:1:2: error: layout: json-syntax`,
			Says: []string{`fix: write one strict JSON text`}},
		{Name: "merged mark", Base: "{listing: ada}", PR: `{write: implementations/ada.json, text: "\uFEFF{}"}`,
			Want: `implementations/ada.json:1:1: error: layout: byte-order-mark`,
			Says: []string{`fix: write one strict JSON text`}},
		// a submodule in place of a listing
		{Name: "submodule", Base: "{listing: ada}",
			PR:   `{write: implementations/nova.json, text: "1111111111111111111111111111111111111111", mode: "160000"}`,
			Want: `implementations/nova.json: error: layout: file-mode`},
		// slug and file name differ
		{Name: "slug differs", PR: "{listing: nova, set: {/slug: supernova}}",
			Want: `implementations/nova.json:2:3: error: layout: slug-mismatch`, Says: []string{
				`implementations/nova.json:2:3: error: layout: slug is "supernova"`,
				`fix: set slug to "nova"`,
			}},
		// a revocation's name and its hash differ
		{Name: "hash differs", Base: "{listing: ada}, {at: -8d}, {reissue: ada}",
			PR:   `{revoke: ada, number: 2, path: "revocations/ada-$pin(ada,1).json"}`,
			Want: `revocations/ada-0ee9e6ecb821a8e4eb7478a361b11af2dd4e4e1399aa4f0cc041538c028db54f.json:3:3: error: layout: revocation-name`},
		// an anchor's slug and name differ
		{Name: "anchor slug", Base: "{listing: ada}", PR: "{anchor: trade, coordinator: ada, set: {/slug: other}}",
			Want: `workflow-anchors/trade.json:2:3: error: layout: slug-mismatch`},
		// README.md and .gitkeep in a data directory are governance files: a review, no failure
		{Name: "readme", PR: `{write: implementations/README.md, text: "# Listings\n"}`,
			Want: `implementations/README.md: warning: append-only: governance`},
		// content of a .gitkeep is nobody's to judge, also in passing; a README.md is not a large file
		{Name: "keep content", Base: "{listing: ada}",
			PR:   `{listing: nova}, {write: implementations/.gitkeep, text: "#!/bin/sh"}`,
			Want: `implementations/.gitkeep: error: layout: gitkeep-content`},
		{Name: "keep content in passing", Base: "{listing: ada}",
			PR: `{write: revocations/.gitkeep, text: " "}, {commit: one}, {write: revocations/.gitkeep, text: ""}`,
			Want: `
revocations/.gitkeep: error: layout: gitkeep-content
revocations/.gitkeep: warning: append-only: governance-in-passing`},
		{Name: "keep empty", World: `base: [{write: implementations/.gitkeep, text: x}]
pr: [{listing: nova}, {write: implementations/.gitkeep, text: ""}, {write: docs/.gitkeep, text: "x"}, {remove: docs/.gitkeep}]
`,
			Want: `pass`},
		{Name: "keep content of the base", Base: "{write: implementations/.gitkeep, text: x}", PR: "{listing: nova}",
			Want: `pass`},
		{Name: "readme of 64 KiB", PR: `{write: implementations/README.md, text: "x", repeat: 65536}`,
			Want: `implementations/README.md: warning: append-only: governance`},
		{Name: "readme too large", PR: `{write: implementations/README.md, text: "x", repeat: 65537}`, Want: `
implementations/README.md: error: layout: large-file
implementations/README.md: warning: append-only: governance`},
		{Name: "large in passing",
			PR:   `{listing: nova}, {write: big.bin, text: "x", repeat: 10485760}, {commit: one}, {remove: big.bin}`,
			Only: "layout", Want: `big.bin: error: layout: large-file`},
		// but as a symbolic link or with an executable bit they may not stand there either
		{Name: "keep link", Base: "{listing: ada}",
			PR:   `{listing: nova}, {write: implementations/.gitkeep, text: /etc/passwd, mode: "120000"}`,
			Want: `implementations/.gitkeep: error: layout: file-mode`},
		{Name: "readme exec", Base: "{listing: ada}",
			PR: `{write: revocations/README.md, text: "#!/bin/sh\n", mode: "100755"}`, Want: `
revocations/README.md: error: layout: file-mode
revocations/README.md: warning: append-only: governance`},
		// a README.md one directory down is a misplaced file
		{Name: "deep readme", Base: "{listing: ada}", PR: `{write: implementations/x/README.md, text: "# Listings\n"}`,
			Want: `implementations/x/README.md:1:1: error: layout: misplaced-file`},
		// a data directory that is a file, a link, a submodule; the listing that stands makes the tree a registry
		{Name: "directory file", World: "bare: true", Base: "{listing: ada}", PR: `{write: revocations, text: "none"}`,
			Want: `revocations:1:2: error: layout: folder-mode`},
		{Name: "directory link", World: "bare: true", Base: "{listing: ada}",
			PR:   `{write: peer-witnesses, text: implementations, mode: "120000"}`,
			Want: `peer-witnesses: error: layout: folder-mode`},
		// --- one slug, one DID ---
		// the same DID under a second slug
		{Name: "same did", Base: "{listing: ada}", PR: "{listing: nova, host: ada.example, key: ada}",
			Want: `implementations/nova.json:4:3: error: layout: duplicate-did`,
			Says: []string{`layout: tool_did "did:web:ada.example" is listed by implementations/ada.json too \[`,
				`fix: choose another one, or update implementations/ada.json: one implementation has one listing`}},
		// two new listings of one DID in one pull request
		{Name: "same did twice",
			PR: `{listing: supernova}, {listing: nova, did: "did:web:supernova.example", key: supernova}`, Want: `
implementations/nova.json:4:3: error: layout: duplicate-did
implementations/nova.json:4:3: warning: name-similarity: look-alike
implementations/supernova.json:4:3: error: layout: duplicate-did
implementations/supernova.json:4:3: warning: name-similarity: look-alike`},
		// a DID in two letter cases is not in its one spelling, and is the same DID
		{Name: "case did", Base: "{listing: ada}",
			PR: `{listing: nova, host: ada.example, did: "did:web:Ada.example", key: ada}`, Want: `
implementations/nova.json:4:3: error: layout: did-spelling
implementations/nova.json:4:3: error: layout: duplicate-did`},
		// one capital letter alone
		{Name: "capital did", PR: `{listing: nova, did: "did:web:Nova.example"}`,
			Want: `implementations/nova.json:4:3: error: layout: did-spelling`,
			Says: []string{`fix: set tool_did to "did:web:nova.example"`}},
		// a trailing dot, an underscore: neither resolves here
		{Name: "dot did", PR: `{listing: nova, did: "did:web:nova.example."}`, Want: `
implementations/nova.json:4:3: error: layout: did-spelling
implementations/nova.json:4:3: error: did-resolution: http-status`},
		{Name: "underscore did", PR: "{listing: nova, host: no_va.example}", Want: `
implementations/nova.json:4:3: error: layout: did-spelling
implementations/nova.json:12:3: error: schema: schema-format`,
			Says: []string{`with an underscore, which no host name has`}},
		{Name: "same did as two", Base: "{listing: ada}, {listing: bob, host: ada.example, key: ada}",
			PR: "{listing: nova, host: ada.example, key: ada}", Want: `
implementations/bob.json: warning: layout: duplicate-did
implementations/nova.json:4:3: error: layout: duplicate-did`,
			Says: []string{`tool_did "did:web:ada.example" is listed by implementations/ada.json too, and of 1 more listing `}},
		{Name: "no slug and no DID", Base: "{listing: ada, delete: [/slug, /tool_did]}",
			PR: "{listing: nova, delete: [/slug, /tool_did]}", Want: `
implementations/ada.json:1:1: warning: layout: slug-mismatch
implementations/ada.json:1:1: warning: schema: schema-required
implementations/ada.json:1:1: warning: schema: schema-required
implementations/nova.json:1:1: error: layout: slug-mismatch
implementations/nova.json:1:1: error: schema: schema-required
implementations/nova.json:1:1: error: schema: schema-required`},
		{Name: "conflict", World: `pr: [{write: implementations/nova.json, text: "{\n<<<<<<< HEAD\n}"}]`,
			Want: `implementations/nova.json:2:1: error: layout: json-syntax`, Says: []string{`fix: resolve the conflict, then git add implementations/nova.json`}},
		// the fix names the path that the members ask for, if it is free
		{Name: "right name", World: `pr: [{listing: nova}, {move: [implementations/nova.json, implementations/nova.jsn]}]`,
			Want: `implementations/nova.jsn:1:1: error: layout: misplaced-file`, Says: []string{`fix: oap-gate check --worktree --fix, or name it implementations/nova.json$`}},
		{Name: "right name that is taken", Base: "{listing: ada}",
			PR: `{write: implementations/ada.jsn, text: '{"slug": "ada"}'}`, Only: "layout", Want: `
implementations/ada.jsn:1:1: error: layout: misplaced-file
implementations/ada.jsn:1:2: error: layout: duplicate-slug`,
			Says: []string{`fix: take it out of implementations/, or name it implementations/<slug>.json, with`}},
		{Name: "no right name", World: `pr: [{write: implementations/ada.jsn, text: '{"slug": "a"}'}]`,
			Only: "layout", Want: `implementations/ada.jsn:1:1: error: layout: misplaced-file`, Says: []string{`fix: take it out of implementations/, or name it implementations/<slug>.json, with`}},
		{Name: "right name of a listing", World: `pr: [{listing: nova, set: {/slug: supernova}}]`, Only: "layout",
			Want: `implementations/nova.json:2:3: error: layout: slug-mismatch`, Says: []string{`fix: set slug to "nova", or name the file implementations/supernova.json$`}},
		{Name: "right name of a listing that is merged", Base: "{listing: ada}",
			PR: "{reissue: ada, set: {/slug: supernova}}", Only: "layout",
			Want: `implementations/ada.json:2:3: error: layout: slug-mismatch`,
			Says: []string{`fix: set slug to "ada", or rename the file$`}},
		{Name: "right name of a revocation", Base: "{listing: ada}", PR: "{revoke: ada, path: revocations/ada.json}",
			Want: `revocations/ada.json:1:1: error: layout: misplaced-file`,
			Says: []string{`name it revocations/ada-0ee9e6ecb821a8e4eb7478a361b11af2dd4e4e1399aa4f0cc041538c028db54f.json$`}},
		{Name: "right name of a revocation with another hash", World: `
base: [{listing: ada}]
pr: [{revoke: ada, path: "revocations/ada-1111111111111111111111111111111111111111111111111111111111111111.json"}]
`,
			Want: `revocations/ada-1111111111111111111111111111111111111111111111111111111111111111.json:3:3: error: layout: revocation-name`, Says: []string{`name the file revocations/ada-0ee9e6ecb821a8e4eb7478a361b11af2dd4e4e1399aa4f0cc041538c028db54f.json$`}},
		{Name: "no right name of a revocation",
			World: `pr: [{write: revocations/ada-1111111111111111111111111111111111111111111111111111111111111111.json,
  text: '{"slug": "ada", "revoked_receipt_sha256": "a"}'}]`,
			Only: "layout",
			Want: `revocations/ada-1111111111111111111111111111111111111111111111111111111111111111.json:1:17: error: layout: revocation-name`,
			Says: []string{`fix: name the file revocations/<slug>-<revoked_receipt_sha256>.json$`}},
		{Name: "form of a revocation", World: `pr: [{write: revocations/a.txt, text: a}]`,
			Want: `revocations/a.txt:1:1: error: layout: misplaced-file`, Says: []string{`may contain only revocations/<slug>-<sha256>.json`}},
		{Name: "form of an anchor", World: `pr: [{write: workflow-anchors/a.txt, text: a}]`,
			Want: `workflow-anchors/a.txt:1:1: error: layout: misplaced-file`, Says: []string{`may contain only workflow-anchors/<slug>.json`}},
		// an executable listing is read too
		{Name: "executable, another slug",
			PR: `{write: implementations/nova.json, text: '{"slug": "bob"}', mode: "100755"}`, Only: "layout", Want: `
implementations/nova.json:1:1: error: layout: file-mode
implementations/nova.json:1:2: error: layout: slug-mismatch`},
		{Name: "executable", World: `pr: [{write: implementations/nova.json, text: "{", mode: "100755"}]`, Want: `implementations/nova.json:1:2: error: layout: file-mode`},
		{Name: "an odd spelling that stands", Base: `{listing: ada, set: {/tool_did: "did:web:ADA.example"}}`,
			PR: `{reissue: ada, set: {/tool_did: "did:web:ADA.example"}}`, Only: "layout",
			Want: `implementations/ada.json:4:3: warning: layout: did-spelling`,
			Says: []string{`; the base tree has it already, and no re-issue can fix it `}},
		{Name: "an odd spelling that comes", Base: "{listing: ada}",
			PR: `{reissue: ada, set: {/tool_did: "did:web:ADA.example"}}`, Only: "layout",
			Want: `implementations/ada.json:4:3: error: layout: did-spelling`},
		{Name: "a slug that stands", Base: "{listing: ada, set: {/slug: bob}}", PR: "{reissue: ada, set: {/slug: bob}}",
			Only: "layout reissue", Want: `implementations/ada.json:2:3: warning: layout: slug-mismatch`},
		{Name: "a slug that a re-issue changes", Base: "{listing: ada}", PR: "{reissue: ada, set: {/slug: bob}}",
			Only: "layout reissue", Want: `implementations/ada.json:2:3: error: reissue: slug-changed`},
		{Name: "a slug that a re-issue changes, and a spelling", Base: "{listing: ada}",
			PR: `{reissue: ada, set: {/slug: bob, /tool_did: "did:web:ADA.example"}}`, Only: "layout reissue", Want: `
implementations/ada.json:4:3: error: layout: did-spelling
implementations/ada.json:1:1: error: reissue: did-id-differs
implementations/ada.json:2:3: error: reissue: slug-changed
implementations/ada.json:4:3: error: reissue: did-changed`},
		// a mode that stands is a fault of the base tree if a re-issue keeps it, and no excuse for another record
		{Name: "an executable listing is renewed",
			Base: `{write: implementations/ada.json, text: '{"slug": "ada"}', mode: "100755"}`,
			PR:   `{write: implementations/ada.json, text: '{"slug": "ada", "x": 1}', mode: "100755"}`, Only: "layout",
			Want: `implementations/ada.json:1:1: warning: layout: file-mode`,
			Says: []string{`; the base tree has it already, and no re-issue can fix it`}},
		{Name: "an executable revocation is edited", World: `
base: [{write: revocations/ada-1111111111111111111111111111111111111111111111111111111111111111.json, text: "{}",
  mode: "100755"}]
pr: [{write: revocations/ada-1111111111111111111111111111111111111111111111111111111111111111.json,
  text: '{"slug": "ada", "revoked_receipt_sha256": "1111111111111111111111111111111111111111111111111111111111111111"}',
  mode: "100755"}]
`, Only: "layout",
			Want: `revocations/ada-1111111111111111111111111111111111111111111111111111111111111111.json:1:1: error: layout: file-mode`},
		{Name: "an executable README.md that stands",
			Base: `{listing: ada}, {write: revocations/README.md, text: "#!/bin/sh", mode: "100755"}`,
			PR:   "{listing: nova}", Only: "layout", Want: `revocations/README.md: warning: layout: file-mode`},
		{Name: "a device is renewed", World: `{base: [{listing: con}], pr: [{reissue: con}]}`, Only: "layout",
			Want: `pass`},
		{Name: "a witness's entry is edited", Base: "{listing: ada, level: L4}, {peer-witness: ada}",
			PR: "{edit: peer-witnesses/ada.json, set: {/name: Eve}}", Only: "layout", Want: `pass`},
		{Name: "the DID of a listing that only single commits touch", World: `
base: [{listing: ada}]
pr:
  - {edit: implementations/ada.json, set: {/contact: 7}}
  - {commit: Edit}
  - {edit: implementations/ada.json, set: {/contact: contact@ada.example}}
  - {listing: nova, host: ada.example, key: ada}
`, Only: "layout", Want: `implementations/nova.json:4:3: error: layout: duplicate-did`},
		// another slug's revocation, and an entry of the witnesses' directory, may have the name of a device
		{Name: "a device's revocation", World: `{base: [{listing: con}], pr: [{revoke: con}]}`,
			Only: "layout", Want: `pass`},
		// an entry of the witnesses' directory copies a listing that can be read
		{Name: "witness broken", Base: `{listing: ada, level: L4}, {write: implementations/ada.json, text: "{"}`,
			PR: `{write: peer-witnesses/ada.json, text: '{"slug": "ada"}'}`, Only: "layout", Want: `
implementations/ada.json:1:2: warning: layout: json-syntax
peer-witnesses/ada.json:1:1: error: layout: witness-not-listed`},
		{Name: "witness expires now", Base: `{listing: ada, level: L4, not_after: "2026-06-01T12:00:00Z"}`,
			PR: "{peer-witness: ada}", Only: "layout",
			Want: `peer-witnesses/ada.json:1:1: error: layout: witness-not-current`},
		{Name: "witness expires in a second", Base: `{listing: ada, level: L4, not_after: "2026-06-01T12:00:01Z"}`,
			PR: "{peer-witness: ada}", Only: "layout", Want: `pass`},
		// a slug that stands in another listing's text, which is a standing fault
		{Name: "same slug", Base: "{listing: ada, set: {/slug: nova}}", PR: "{listing: nova}", Want: `
implementations/ada.json:2:3: warning: layout: slug-mismatch
implementations/nova.json:2:3: error: layout: duplicate-slug
implementations/nova.json:2:3: warning: name-similarity: look-alike`},
		// --- clones on other systems ---
		// letter case, full folding, compatibility forms
		{Name: "case twin", Base: "{listing: ada}, {write: docs/guide.md, text: a}",
			PR: "{write: docs/Guide.md, text: b}", Want: `
docs/Guide.md: error: layout: case-twin
docs/Guide.md: warning: append-only: governance`},
		{Name: "sharp s", Base: "{listing: ada}, {write: docs/strasse.md, text: a}",
			PR: "{write: docs/straße.md, text: b}", Want: `
docs/straße.md: error: layout: case-twin
docs/straße.md: warning: append-only: governance`},
		{Name: "wide", Base: "{listing: ada}, {write: docs/guide.md, text: a}", PR: "{write: docs/ｇuide.md, text: b}",
			Want: `
docs/ｇuide.md: error: layout: case-twin
docs/ｇuide.md: warning: append-only: governance`},
		{Name: "directory twin", Base: "{listing: ada}", PR: "{write: Implementations/ada.json, text: b}", Want: `
Implementations: error: layout: case-twin
Implementations/ada.json: error: layout: case-twin
Implementations/ada.json: warning: append-only: governance`},
		{Name: "directory twin file", Base: "{listing: ada}", PR: "{write: REVOCATIONS, text: b}", Want: `
REVOCATIONS: error: layout: case-twin
REVOCATIONS: warning: append-only: governance`},
		{Name: "deep twin", Base: "{listing: ada}, {write: docs/a/guide.md, text: a}",
			PR: "{write: Docs/b/other.md, text: b}", Want: `
Docs: error: layout: case-twin
Docs/b/other.md: warning: append-only: governance`},
		// a twin that stands already blocks nobody
		{Name: "standing twin",
			Base: "{listing: ada}, {write: docs/guide.md, text: a}, {write: docs/Guide.md, text: a}",
			PR:   "{listing: nova}", Want: `docs/Guide.md: warning: layout: case-twin`},
		// the odd one of two stands already: alone, as a directory of two files, next to its twin
		{Name: "the odd one was first",
			World: `{base: [{write: docs/Guide.md, text: a}], pr: [{write: docs/guide.md, text: b}]}`,
			Want: `
docs/guide.md: error: layout: case-twin
docs/guide.md: warning: append-only: governance`},
		{Name: "an odd directory was first", Base: "{write: Docs/a.md, text: a}, {write: Docs/b.md, text: a}",
			PR: "{write: docs/c.md, text: b}", Want: `
docs: error: layout: case-twin
docs/c.md: warning: append-only: governance`},
		{Name: "an odd directory was first, an odd file comes", Base: "{write: Docs/a.md, text: a}",
			PR: "{write: docs/B.md, text: b}, {write: docs/c.md, text: b}, {write: docs/d.md, text: b}", Want: `
docs: error: layout: case-twin
docs/B.md: warning: append-only: governance`},
		{Name: "two spellings that folding leaves as they are", Base: "{write: docs/É.md, text: a}",
			PR: "{write: docs/é.md, text: b}", Want: `
docs/é.md: error: layout: case-twin
docs/é.md: warning: append-only: governance`},
		// a single commit has both: a rename in two commits, which is none in one; what does not land is in passing
		{Name: "renamed in letter case", Base: "{write: docs/a.md, text: a}",
			PR:   "{write: docs/A.md, text: b}, {commit: Add}, {remove: docs/a.md}",
			Says: []string{`make one commit of the same files: git reset --soft [0-9a-f]{12} `}, Want: `
docs/A.md: error: layout: case-twin
docs/A.md: warning: append-only: governance`},
		{Name: "directory renamed in letter case", Base: "{write: docs/a.md, text: a}",
			PR: "{write: Docs/b.md, text: b}, {commit: Add}, {remove: docs/a.md}", Want: `
Docs: error: layout: case-twin
Docs/b.md: warning: append-only: governance`},
		{Name: "renamed twice in letter case", Base: "{listing: ada}",
			PR: "{write: docs/a.md, text: b}, {commit: Add}, {write: docs/A.md, text: b}, {commit: Two}, " +
				"{remove: docs/a.md}", Want: `
docs/A.md: error: layout: case-twin
docs/A.md: warning: append-only: governance
docs/a.md: warning: append-only: governance-in-passing`},
		{Name: "more commits and twins than are compared", Base: "{listing: ada}", PR: manyTwins(300, 219),
			Says: []string{"not all are looked at"}, Want: `
docs/abcdefghi.md: error: layout: case-twin
docs/ABCDEFGHi.md: warning: append-only: governance-in-passing
docs/abcdefghi.md: warning: append-only: governance`},
		{Name: "as many as are compared", Base: "{listing: ada}", PR: manyTwins(300, 218), Want: `
docs/ABCDEFGHi.md: warning: append-only: governance-in-passing
docs/abcdefghi.md: warning: append-only: governance`},
		{Name: "renamed in one commit", Base: "{write: docs/a.md, text: a}",
			PR:   "{move: [docs/a.md, docs/A.md]}, {commit: Move}, {write: docs/b.md, text: b}",
			Want: `docs/A.md: warning: append-only: governance`},
		{Name: "in passing", Base: "{write: docs/a.md, text: a}",
			PR:   "{write: docs/A.md, text: b}, {commit: Add}, {remove: docs/A.md}",
			Want: `docs/A.md: warning: append-only: governance-in-passing`},
		{Name: "a standing twin changes, and goes",
			Base: "{write: docs/a.md, text: a}, {write: docs/A.md, text: a}",
			PR:   "{write: docs/A.md, text: b}, {commit: Edit}, {remove: docs/a.md}",
			Want: `docs/A.md: warning: append-only: governance`},
		{Name: "a standing twin changes", Base: "{write: docs/a.md, text: a}, {write: docs/A.md, text: a}",
			PR: "{write: docs/A.md, text: b}", Want: `
docs/A.md: warning: layout: case-twin
docs/A.md: warning: append-only: governance`},
		{Name: "a standing twin of a data directory that is not there", World: "bare: true",
			Base: "{listing: ada}, {write: Revocations/a.md, text: a}", PR: "{listing: nova}",
			Want: `Revocations: warning: layout: case-twin`},
		{Name: "a standing twin of a data directory that comes as a file", World: "bare: true",
			Base: "{listing: ada}, {write: Revocations/a.md, text: a}", PR: "{write: revocations, text: none}",
			Only: "layout", Want: `
Revocations: warning: layout: case-twin
revocations:1:2: error: layout: folder-mode`},
		{Name: "a standing twin gets a file", Base: "{write: Docs/a.md, text: a}, {write: docs/b.md, text: a}",
			PR: "{write: Docs/c.md, text: b}", Want: `
Docs: warning: layout: case-twin
Docs/c.md: warning: append-only: governance`},
		{Name: "a standing twin loses a file",
			Base: "{write: Docs/a.md, text: a}, {write: Docs/c.md, text: a}, {write: docs/b.md, text: a}",
			PR:   "{remove: Docs/c.md}", Want: `
Docs: warning: layout: case-twin
Docs/c.md: warning: append-only: governance`},
		{Name: "a twin comes and its twin goes", Base: "{write: Docs/a.md, text: a}",
			PR: "{move: [Docs/a.md, docs/a.md]}", Want: `Docs/a.md: warning: append-only: governance`},
		{Name: "three that are one, two of which stand",
			Base: "{write: docs/guide.md, text: a}, {write: docs/Guide.md, text: a}",
			PR:   "{write: docs/GUIDE.md, text: b}", Want: `
docs/GUIDE.md: error: layout: case-twin
docs/Guide.md: warning: layout: case-twin
docs/GUIDE.md: warning: append-only: governance`},
		{Name: "three that are one, two of which stand, without the folded one",
			Base: "{write: docs/GUIDE.md, text: a}, {write: docs/GUide.md, text: a}",
			PR:   "{write: docs/GUIDE.MD, text: b}", Want: `
docs/GUIDE.MD: error: layout: case-twin
docs/GUide.md: warning: layout: case-twin
docs/GUIDE.MD: warning: append-only: governance`,
			Says: []string{`"docs/GUIDE.MD" and "docs/GUIDE.md" are one path`}},
		{Name: "three that are one, one of which stands", Base: "{write: docs/Guide.md, text: a}",
			PR: "{write: docs/GUIDE.md, text: b}, {write: docs/guide.md, text: b}", Want: `
docs/GUIDE.md: error: layout: case-twin
docs/guide.md: error: layout: case-twin
docs/GUIDE.md: warning: append-only: governance`},
		{Name: "three that are one",
			PR: "{write: docs/GUIDE.md, text: b}, {write: docs/GUIDE.MD, text: b}, {write: docs/GUide.md, text: b}",
			Want: `
docs/GUIDE.md: error: layout: case-twin
docs/GUide.md: error: layout: case-twin
docs/GUIDE.MD: warning: append-only: governance`},
		{Name: "twin of a data directory that is not there", World: "bare: true", Base: "{listing: ada}",
			PR: "{write: Revocations/a.md, text: b}", Want: `
Revocations: error: layout: case-twin
Revocations/a.md: warning: append-only: governance`},
		// names that no clone can hold there: new ones
		{Name: "colons", Base: `{listing: ada}, {write: "a:b", text: a}`,
			PR: `{write: "a:b", text: b}, {write: ":c", text: b}`, Only: "layout",
			Want: `\x3ac: error: layout: path-character`, Says: []string{`":c" holds ":"`}},
		// names of devices
		{Name: "device", PR: "{listing: aux}", Want: `implementations/aux.json:2:3: error: layout: device-name`},
		{Name: "device lpt", PR: "{listing: lpt0}", Want: `implementations/lpt0.json:2:3: error: layout: device-name`},
		{Name: "device anchor", Base: "{listing: ada}", PR: "{anchor: com9, coordinator: ada}",
			Want: `workflow-anchors/com9.json:2:3: error: layout: device-name`},
		// ... but of one that stands so, a copy in the directory of witnesses is no new slug
		{Name: "device witness",
			Base: "{listing: con, level: L4, witness: [ada]}, {listing: ada, level: L4, witness: [con]}",
			PR:   "{peer-witness: con}", Want: `pass`},
		// com10 and console are none
		{Name: "no device", PR: "{listing: com10}, {listing: console}", Want: `pass`},
		// --- the directory of witnesses ---
		// a copy of a listing that this pull request brings
		{Name: "witness unlisted",
			Base: "{listing: ada, level: L4, witness: [bob]}, {listing: bob, level: L4, witness: [ada]}",
			PR:   "{listing: nova, level: L4, witness: [ada]}, {peer-witness: nova}",
			Want: `peer-witnesses/nova.json:1:1: error: layout: witness-not-listed`},
		// one member differs
		{Name: "witness differs",
			Base: "{listing: ada, level: L4, witness: [bob]}, {listing: bob, level: L4, witness: [ada]}",
			PR:   "{peer-witness: ada, set: {/name: Not Ada}}",
			Want: `peer-witnesses/ada.json:3:3: error: layout: witness-differs`,
			Says: []string{`peer-witnesses/ada.json:3:3: error: layout: `}},
		// a member more, a member less
		{Name: "witness more",
			Base: "{listing: ada, level: L4, witness: [bob]}, {listing: bob, level: L4, witness: [ada]}",
			PR:   "{peer-witness: ada, set: {/provisional: false}}",
			Want: `peer-witnesses/ada.json:13:3: error: layout: witness-differs`},
		{Name: "witness less",
			Base: "{listing: ada, level: L4, witness: [bob]}, {listing: bob, level: L4, witness: [ada]}",
			PR:   "{peer-witness: ada, delete: [/contact]}",
			Want: `peer-witnesses/ada.json:1:1: error: layout: witness-differs`},
		// another's listing under this name
		{Name: "witness other",
			Base: "{listing: ada, level: L4, witness: [bob]}, {listing: bob, level: L4, witness: [ada]}",
			PR:   "{peer-witness: ada}, {move: [peer-witnesses/ada.json, peer-witnesses/bob.json]}", Want: `
peer-witnesses/bob.json:2:3: error: layout: slug-mismatch
peer-witnesses/bob.json:8:3: error: layout: witness-differs`},
		// a listing at L3
		{Name: "witness l3", Base: "{listing: ada, level: L3}", PR: "{peer-witness: ada}",
			Want: `peer-witnesses/ada.json:6:3: error: layout: witness-level`},
		// an expired listing; a revoked one; one that this pull request revokes
		{Name: "witness expired",
			Base: "{listing: ada, level: L4, witness: [bob], issued: -100d}, {listing: bob, level: L4, witness: [ada]}",
			PR:   "{peer-witness: ada}", Want: `
peer-witnesses/ada.json:1:1: error: layout: witness-not-current
registry: notice: revocations: not-in-force`},
		{Name: "witness revoked",
			Base: "{listing: ada, level: L4, witness: [bob]}, {listing: bob, level: L4, witness: [ada]}, {revoke: ada}",
			PR:   "{peer-witness: ada}", Want: `
peer-witnesses/ada.json:1:1: error: layout: witness-not-current
registry: notice: revocations: not-in-force`},
		{Name: "witness revoked here",
			Base: "{listing: ada, level: L4, witness: [bob]}, {listing: bob, level: L4, witness: [ada]}",
			PR:   "{peer-witness: ada}, {revoke: ada}",
			Want: `peer-witnesses/ada.json:1:1: error: layout: witness-not-current`},
		// --- strict JSON ---
		{Name: "duplicate", PR: `{listing: nova, replace: {'"name": "Nova"': '"slug": "nova"'}}`,
			Want: `implementations/nova.json:3:3: error: layout: duplicate-member`,
			Says: []string{`implementations/nova.json:3:3: error: layout: `}},
		{Name: "duplicate escape",
			PR:   `{listing: nova, replace: {'"name": "Nova"': '"sl\u0075g": "nova", "name": "Nova"'}}`,
			Want: `implementations/nova.json:3:3: error: layout: duplicate-member`},
		{Name: "utf8", PR: `{write: implementations/nova.json, text: '{"slug": "nova", "name": "', hex: "ff227d"}`,
			Want: `implementations/nova.json:1:27: error: layout: invalid-utf8`},
		{Name: "bom", PR: `{write: implementations/nova.json, text: "\uFEFF{}"}`,
			Want: `implementations/nova.json:1:1: error: layout: byte-order-mark`,
			Says: []string{`implementations/nova.json:1:1: error: layout: `,
				`fix: oap-gate check --worktree --fix$`}},
		{Name: "trailing", PR: `{listing: nova, replace: {"\n}": "\n} {}"}}`,
			Want: `implementations/nova.json:13:3: error: layout: trailing-text`},
		{Name: "syntax", PR: `{listing: nova, replace: {"\n}": ",\n}"}}`,
			Want: `implementations/nova.json:12:36: error: layout: json-syntax`},
		{Name: "empty", PR: `{write: implementations/nova.json, text: ""}`,
			Want: `implementations/nova.json:1:1: error: layout: json-syntax`},
		{Name: "deep", PR: `{write: implementations/nova.json, text: "[", repeat: 65}`,
			Want: `implementations/nova.json:1:65: error: layout: nesting-too-deep`},
		{Name: "large", PR: `{write: implementations/nova.json, text: " ", repeat: 65537}`,
			Want: `implementations/nova.json: error: layout: file-too-large`},
		{Name: "bomb", PR: `{write: implementations/nova.json, text: "[[[[[[[[[[[[[[[[", repeat: 1000000}`,
			Want: `implementations/nova.json: error: layout: file-too-large`},
		{Name: "number",
			World: `pr:
  - {listing: nova, replace: {'"license": "Apache-2.0"': '"license": 11111111111111111111111111111111111111111111111111111111111111111'}}
`,
			Want: `implementations/nova.json:11:14: error: layout: number-too-long`},
	})
}

// What a fix says passes when it is done.
func TestFixes(t *testing.T) {
	checktest.Run(t, []checktest.Case{
		// a window of 91 days: one finding, with the date that is signed; the date passes
		{Name: "long", PR: `{listing: nova, not_after: "+91d", set: {/expires_at: "2026-08-31T11:00:00Z"}}`,
			Want: `implementations/nova.json:10:3: error: receipt-validity: window-too-long`,
			Says: []string{`fix: set expires_at to 2026-08-30T11:00:00Z, the date that the Receipt signs`}},
		{Name: "long mended", PR: `{listing: nova, not_after: "+91d", set: {/expires_at: "2026-08-30T11:00:00Z"}}`,
			Want: `pass`},
		// the same where the signed window is shorter than 90 days
		{Name: "short",
			PR:   `{listing: nova, not_after: "2026-07-01T11:00:00Z", set: {/expires_at: "2026-08-31T11:00:00Z"}}`,
			Want: `implementations/nova.json:10:3: error: receipt-validity: window-too-long`,
			Says: []string{`fix: set expires_at to 2026-07-01T11:00:00Z, the date that the Receipt signs`}},
		{Name: "short mended",
			PR:   `{listing: nova, not_after: "2026-07-01T11:00:00Z", set: {/expires_at: "2026-07-01T11:00:00Z"}}`,
			Want: `pass`},
		// somebody else's listing edited, or renamed: first how to take it back
		{Name: "edited", Base: "{listing: eve}",
			PR: `{edit: implementations/eve.json, set: {/contact: "mallory@eve.example"}}`, Want: `
implementations/eve.json:8:3: error: reissue: receipt-unchanged
implementations/eve.json:12:3: warning: reissue: unsigned-change`,
			Says: []string{`fix: not yours\? git checkout [0-9a-f]{12} -- implementations/eve\.json \(and squash the branch if a commit changes it\); yours: sign a new Receipt`}},
		{Name: "renamed", Base: "{listing: eve}", PR: "{move: [implementations/eve.json, implementations/evil.json]}",
			Want: `
implementations/eve.json: error: append-only: deleted
implementations/evil.json:2:3: error: layout: slug-mismatch`,
			Says: []string{
				`fix: not yours\? git checkout [0-9a-f]{12} -- implementations/eve\.json \(and squash the branch if a commit changes it\); yours: `,
				`fix: set slug to "evil", or name the file implementations/eve\.json`,
			}},
		// a published private key is of no more use
		{Name: "private",
			World: `pr: [{listing: nova}]
web:
  - {edit: "https://nova.example/.well-known/did.json", set: {/verificationMethod/0/publicKeyJwk/d: "AAAA"}}
`,
			Want: `implementations/nova.json:4:3: error: did-resolution: did-private-key`,
			Says: []string{`fix: make a new key: this one is burned`}},
		// a schema's findings name the value, and what was meant
		{Name: "schema",
			World: `pr:
  - listing: nova
    set: {/conformance_level: "L9", /expiry_at: "2026-08-30T11:00:00Z", /name: 7}
    delete: [/expires_at]
  - {listing: other, set: {/unheard: 1}}
`,
			Want: `
implementations/nova.json:1:1: error: schema: schema-required
implementations/nova.json:3:3: error: schema: schema-type
implementations/nova.json:6:3: error: schema: schema-pattern
implementations/nova.json:12:3: error: schema: schema-additionalProperties
implementations/other.json:13:3: error: schema: schema-additionalProperties`,
			Says: []string{
				`conformance_level: "L9" does not match`,
				`fix: use one of "L0", "L1", "L1-NC", "L2", "L3", "L3-NC", "L4", "L5", "L5-FINANCE", "L5-ORG"`,
				`name: 7 is a number; expected a string`,
				`expiry_at: "expiry_at" is not a member that is allowed here`,
				`has no "expires_at", which is required`,
				`fix: rename "expiry_at" to "expires_at"`,
				`fix: remove "unheard"`,
			}},
		// what stops a text from being JSON, by name
		{Name: "json",
			World: `pr:
  - {write: implementations/comma.json, text: '{"slug": "comma",}'}
  - {write: implementations/quote.json, text: "{'slug': 'quote'}"}
  - {write: implementations/typographic.json, text: '{“slug”: “x”}'}
  - {write: implementations/bare.json, text: '{slug: "bare"}'}
  - {write: implementations/line.json, text: "{// a note\n}"}
  - {write: implementations/after.json, text: '{"slug": "x"}// a note'}
  - {write: implementations/missing.json, text: '{"slug": "x1" "name": "x"}'}
  - {write: implementations/python.json, text: '{"provisional":True}'}
`,
			Want: `
implementations/after.json:1:14: error: layout: trailing-text
implementations/bare.json:1:2: error: layout: json-syntax
implementations/comma.json:1:17: error: layout: json-syntax
implementations/line.json:1:2: error: layout: json-syntax
implementations/missing.json:1:15: error: layout: json-syntax
implementations/python.json:1:16: error: layout: json-syntax
implementations/quote.json:1:2: error: layout: json-syntax
implementations/typographic.json:1:2: error: layout: json-syntax`,
			Says: []string{
				`comma.json:1:[0-9]+: .*trailing comma before "}"`,
				`quote.json:1:2: .*quote is .*, JSON has " alone`,
				`typographic.json:1:2: .*the typographic`,
				`bare.json:1:2: .*"slug" has no quotes`,
				`line.json:1:2: .*comment, JSON has none`,
				`after.json:1:14: .*comment after the JSON value`,
				`missing.json:1:15: .*comma is missing before this`,
				`python.json:1:16: .*"True" is not JSON, which writes true`,
			}},
		// a wrong file name: the right one, which passes
		{Name: "name", PR: "{listing: nova}, {move: [implementations/nova.json, implementations/Nova.txt]}",
			Want: `implementations/Nova.txt:1:1: error: layout: misplaced-file`, Says: []string{
				`implementations/Nova.txt:1:1: error: layout: .*`,
				`fix: oap-gate check --worktree --fix, or name it implementations/nova\.json$`,
			}},
		// a signature that does not verify: what changed since
		{Name: "changed",
			World: `pr:
  - {listing: nova, tamper: {set: {/validity/not_after: "2026-09-30T11:00:00Z"}}, set: {/expires_at: "2026-08-30T11:00:00Z"}}
`,
			Want: `implementations/nova.json:7:3: error: receipt-signature: signature-not-verified`,
			Says: []string{`over the Receipt whose validity\.not_after is "2026-08-30T11:00:00Z": that member was changed after it was signed`,
				`fix: oap-gate sign FILE --key KEY, then publish it, then oap-gate check --worktree --fix$`}},
		{Name: "added", World: `pr: [{listing: nova, tamper: {set: {/note: "added"}}}]`,
			Want: `implementations/nova.json:7:3: error: receipt-signature: signature-not-verified`,
			Says: []string{`over the Receipt without "note": that member was added after it was signed`}},
	})
}

// files is a list of files that a world writes.
func files(paths ...string) string {
	var w strings.Builder
	for _, p := range paths {
		fmt.Fprintf(&w, "  - {write: %q, text: x}\n", p)
	}
	return w.String()
}

// TestRepositoryInTree checks which directories a pull request may not bring, since git or this program would read them
// as a repository.
func TestRepositoryInTree(t *testing.T) {
	const code = ": error: layout: repository-in-tree"
	var cases []checktest.Case
	for _, c := range []struct {
		name, want, says string
		paths            []string
	}{
		{"root", "HEAD" + code,
			`directory "\." is a Git repository to its readers: it has HEAD next to objects and refs`,
			[]string{"HEAD", "objects/x", "refs/x"}},
		{"directory", "a/b/HEAD" + code, `fix: rename "a/b/HEAD" to "a/b/HEAD.txt"`,
			[]string{"a/b/HEAD", "a/b/objects/x", "a/b/refs"}},
		{"linked", "a/HEAD" + code, `it has HEAD next to commondir`, []string{"a/HEAD", "a/commondir"}},
		{"letter case", "a/Head" + code, `directory "a" is a Git`, []string{"a/Head", "a/OBJECTS/x", "a/refs/x"}},
		{"lower case", "a/head" + code, "", []string{"a/head", "a/objects/x", "a/refs/x"}},
		{"dots and blanks", "a/HEAD." + code, "", []string{"a/HEAD.", "a/commondir "}},
		{"full width", "a/ＨＥＡＤ" + code, "", []string{"a/ＨＥＡＤ", "a/commondir"}},
		{"ignorable", `a/HE\u200dAD` + code, "", []string{"a/HE\u200dAD", "a/commondir"}},
		{"directories that are one", "B: error: layout: case-twin\nB/HEAD" + code, "",
			[]string{"B/HEAD", "b/objects/x", "b/refs/x"}},
		{"in a data directory", `implementations/HEAD:1:1: error: layout: misplaced-file
implementations/commondir:1:1: error: layout: misplaced-file
implementations/HEAD` + code, "",
			[]string{"implementations/HEAD", "implementations/commondir"}},
		{"mirror", "a/registry.git" + code, `"a/registry.git" has the name of the clone in a mirror.s directory`,
			[]string{"a/registry.git/x"}},
		{"mirror at the root", "registry.git" + code, `fix: rename "registry.git" to "registry-git"`,
			[]string{"registry.git/x", "registry.git/y/z"}},
		{"mirror as a file", "registry.git" + code, "", []string{"registry.git"}},
		{"mirror, letter case", "Registry.GIT" + code, "", []string{"Registry.GIT/x"}},
		{"mirror with a dot", "registry.git." + code, "", []string{"registry.git./x"}},
		{"two", "a/HEAD" + code + "\nb/registry.git" + code, "", []string{"a/HEAD", "a/commondir", "b/registry.git"}},

		{"HEAD.md", "pass", "", []string{"docs/HEAD.md", "docs/objects/x", "docs/refs/x"}},
		{"without HEAD", "pass", "", []string{"docs/objects/x", "docs/refs/x", "objects/x", "refs/x"}},
		{"without refs", "pass", "", []string{"docs/HEAD", "docs/objects/x"}},
		{"without objects", "pass", "", []string{"docs/HEAD", "docs/refs/x"}},
		{"in three directories", "pass", "", []string{"a/HEAD", "a/b/objects/x", "refs/x"}},
		{"commondir without HEAD", "pass", "", []string{"a/commondir", "a/objects/x", "a/refs/x"}},
		{"longer names", "pass", "", []string{"a/registry.git.md", "a/my-registry.git", "a/HEADS", "a/commondir"}},
	} {
		one := checktest.Case{Name: c.name, World: "pr:\n" + files(c.paths...), Only: "layout", Want: c.want}
		if c.says != "" {
			one.Says = []string{c.says}
		}
		cases = append(cases, one)
	}
	cases = append(cases,
		// the last of the three names comes alone
		checktest.Case{Name: "completed", Only: "layout", Want: "x/HEAD" + code,
			World: "base:\n" + files("x/HEAD", "x/refs/y") + "pr:\n" + files("x/objects/y")},
		// what is there already blocks nobody
		checktest.Case{Name: "standing", Only: "layout",
			Want:  "x/HEAD: warning: layout: repository-in-tree\ny/registry.git: warning: layout: repository-in-tree",
			World: "base:\n" + files("x/HEAD", "x/commondir", "y/registry.git/z") + "pr:\n" + files("README.md")},
		// one that goes
		checktest.Case{Name: "removed", Only: "layout", Want: "pass",
			World: "base:\n" + files("x/HEAD", "x/commondir") + "pr: [{remove: x/HEAD}]"})
	var many []string
	for i := range 101 {
		many = append(many, fmt.Sprintf("d%03d/registry.git", i))
	}
	want := ""
	for _, p := range many[:100] {
		want += p + code + "\n"
	}
	cases = append(cases, checktest.Case{Name: "many", Only: "layout", World: "pr:\n" + files(many...),
		Want: "registry" + code + "\n" + want, Says: []string{"1 more path makes a repository"}})
	checktest.Run(t, cases)
}

// TestPathTooLong checks that a new path is at most as long as each system can hold.
func TestPathTooLong(t *testing.T) {
	part := func(n int) string { return strings.Repeat("p", n) }
	path := func(n int) string { // of parts of at most 255 bytes
		return strings.Repeat(part(200)+"/", n/201) + part(n%201)
	}
	const code = ": error: layout: path-too-long"
	checktest.Run(t, []checktest.Case{
		{Name: "a part of 255 bytes", Only: "layout", World: "pr:\n" + files("d/"+part(255)+"/x"), Want: "pass"},
		{Name: "a part of 256 bytes", Only: "layout", World: "pr:\n" + files("d/"+part(256)+"/x"),
			Want: "d/" + part(256) + "/x" + code,
			Says: []string{`the part "p{60}"… of the path is 256 bytes long; expected at most 255`}},
		{Name: "two parts of 256 bytes", Only: "layout", World: "pr:\n" + files(part(256)+"/"+strings.Repeat("q", 256)),
			Want: part(256) + "/" + strings.Repeat("q", 256) + code,
			Says: []string{`the part "p{60}"… of the path is 256 bytes long`}},
		{Name: "characters of two bytes", Only: "layout", World: "pr:\n" + files(strings.Repeat("é", 128)),
			Want: strings.Repeat("é", 128) + code},
		{Name: "a path of 1,024 bytes", Only: "layout", World: "pr:\n" + files(path(1024)), Want: "pass"},
		{Name: "a path of 1,025 bytes", Only: "layout", World: "pr:\n" + files(path(1025)), Want: path(1025) + code,
			Says: []string{`the path is 1025 bytes long; expected at most 1024`}},
		{Name: "standing", Only: "layout", World: "base:\n" + files(part(256)) + "pr:\n" + files(part(256), "x"),
			Want: "pass"},
		{Name: "in a data directory", Only: "layout", World: "pr:\n" + files("implementations/"+part(252)+".json"),
			Want: "implementations/" + part(252) + ".json:1:1: error: layout: misplaced-file\n" +
				"implementations/" + part(252) + ".json" + code},
	})
}

// manyTwins is a pull request that adds files of one name in other letter cases, removes them, and then changes the
// file of that name in each of its commits.
func manyTwins(others, commits int) string {
	var add, remove, change strings.Builder
	for n := range others {
		name := []byte("abcdefghi")
		for bit := range name {
			name[bit] -= byte((n+1)>>bit&1) * ('a' - 'A')
		}
		fmt.Fprintf(&add, "{write: docs/%s.md, text: x}, ", name)
		fmt.Fprintf(&remove, "{remove: docs/%s.md}, ", name)
	}
	for n := range commits {
		fmt.Fprintf(&change, ", {write: docs/abcdefghi.md, text: '%d'}, {commit: Change}", n)
	}
	return add.String() + "{commit: Add}, " + remove.String() + "{commit: Remove}" + change.String()
}
