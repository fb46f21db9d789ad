package checks_test

import (
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/checktest"
)

func TestNameSimilarity(t *testing.T) {
	checktest.Run(t, []checktest.Case{
		// --- names that look like others: warnings, never failures ---
		// an honest name
		{Name: "honest", Base: "{listing: aurora}, {listing: meridian}", PR: "{listing: nova-quest}", Want: `pass`,
			Says: []string{`name-similarity +pass`}},
		{Name: "one out", Base: "{listing: aurora}", PR: "{listing: auror, name: Sunrise, host: sunrise.example}",
			Want: `implementations/auror.json:2:3: warning: name-similarity: look-alike`},
		{Name: "one in", Base: "{listing: aurora}", PR: "{listing: auroras, name: Sunrise, host: sunrise.example}",
			Want: `implementations/auroras.json:2:3: warning: name-similarity: look-alike`},
		{Name: "swapped", Base: "{listing: aurora}", PR: "{listing: aruora, name: Sunrise, host: sunrise.example}",
			Want: `implementations/aruora.json:2:3: warning: name-similarity: look-alike`},
		// two letters: from eight characters on
		{Name: "two long", Base: "{listing: meridian}",
			PR:   "{listing: meridean-, name: Sunrise, host: sunrise.example}",
			Want: `implementations/meridean-.json:2:3: warning: name-similarity: look-alike`},
		{Name: "two short", Base: "{listing: aurora}", PR: "{listing: ouroro, name: Sunrise, host: sunrise.example}",
			Want: `pass`},
		// three letters: never
		{Name: "three", Base: "{listing: meridian}", PR: "{listing: maradean, name: Sunrise, host: sunrise.example}",
			Want: `pass`},
		// fewer than four characters: never
		{Name: "short", Base: "{listing: ada}", PR: "{listing: ads, name: Sunrise, host: sunrise.example}",
			Want: `pass`},
		// the name alone, in another letter case, in wide letters, with look-alikes of other scripts
		{Name: "name case", Base: "{listing: ada, name: Meridian}", PR: "{listing: nova, name: MERIDIAN}",
			Want: `implementations/nova.json:3:3: warning: name-similarity: look-alike`,
			Says: []string{`implementations/nova.json:3:3: warning: name-similarity: name "meridian"`}},
		{Name: "name wide", Base: "{listing: ada, name: Meridian}", PR: "{listing: nova, name: Ｍｅｒｉｄｉａｎ}",
			Want: `implementations/nova.json:3:3: warning: name-similarity: look-alike`},
		{Name: "name cyrillic", Base: "{listing: ada, name: Aurora Cohere}", PR: "{listing: nova, name: Аurоrа Соhеrе}",
			Want: `implementations/nova.json:3:3: warning: name-similarity: look-alike`},
		{Name: "name greek", Base: "{listing: ada, name: Mαurora Novo}", PR: "{listing: nova, name: Maurora Νονο}",
			Want: `implementations/nova.json:3:3: warning: name-similarity: look-alike`},
		// digits for letters, rn for m, vv for w, separators dropped
		{Name: "digits", Base: "{listing: ada, name: Solis Oil}", PR: "{listing: nova, name: 5o115 O1l}",
			Want: `implementations/nova.json:3:3: warning: name-similarity: look-alike`},
		{Name: "pairs", Base: "{listing: ada, name: Moment Wow}", PR: "{listing: nova, name: Rnornent VVovv}",
			Want: `implementations/nova.json:3:3: warning: name-similarity: look-alike`},
		{Name: "separators", Base: "{listing: ada, name: Open Sky Net}", PR: "{listing: nova, name: open-sky.net}",
			Want: `implementations/nova.json:3:3: warning: name-similarity: look-alike`},
		// a slug that looks like another's, its name differing
		{Name: "slug digits", Base: "{listing: oil-lilo}",
			PR:   "{listing: 0i1-l1l0, name: Sunrise, host: sunrise.example}",
			Want: `implementations/0i1-l1l0.json:2:3: warning: name-similarity: look-alike`},
		// the host, without its public suffix
		{Name: "host", Base: "{listing: ada, host: meridian.example}", PR: "{listing: nova, host: meridian.test}",
			Want: `implementations/nova.json:4:3: warning: name-similarity: look-alike`,
			Says: []string{`implementations/nova.json:4:3: warning: name-similarity: DID host "meridian" looks like "meridian" of implementations/ada.json`}},
		// hosts under one platform are told apart by their own label
		{Name: "platform", Base: "{listing: ada, host: meridian.vercel.app, provisional: true}",
			PR:   "{listing: nova, host: sunrise.vercel.app, provisional: true}",
			Want: `implementations/nova.json:12:3: notice: domain-age: provisional`},
		{Name: "platform alike", Base: "{listing: ada, host: meridian.vercel.app, provisional: true}",
			PR: "{listing: nova, host: meridan.vercel.app, provisional: true}", Want: `
implementations/nova.json:4:3: warning: name-similarity: look-alike
implementations/nova.json:12:3: notice: domain-age: provisional`},
		// a trailing number is a version
		{Name: "numbered", Base: "{listing: agent-1}", PR: "{listing: agent-2}", Want: `pass`},
		// two new listings of one pull request
		{Name: "both new",
			World: `pr: [{listing: aurora, name: One Thing, host: one-thing.example}, {listing: aurara, name: Sunrise, host: sunrise.example}]`,
			Want: `
implementations/aurara.json:2:3: warning: name-similarity: look-alike
implementations/aurora.json:2:3: warning: name-similarity: look-alike`},
		// of many the first three are named, those that stand and new ones in the order of their paths
		{Name: "many",
			Base: "{listing: meridian-b}, {listing: meridian-d}, {listing: meridian-f}, {listing: meridian-h}",
			PR:   "{listing: meridian-c}, {listing: meridian-x}", Want: `
implementations/meridian-c.json:2:3: warning: name-similarity: look-alike
implementations/meridian-c.json:2:3: warning: name-similarity: look-alike
implementations/meridian-c.json:2:3: warning: name-similarity: look-alike
implementations/meridian-x.json:2:3: warning: name-similarity: look-alike
implementations/meridian-x.json:2:3: warning: name-similarity: look-alike
implementations/meridian-x.json:2:3: warning: name-similarity: look-alike`,
			Says: []string{`"meridian-c" looks like "meridian-b"`, `"meridian-c" looks like "meridian-d"`,
				`"meridian-c" looks like "meridian-f"`, `"meridian-x" looks like "meridian-b"`,
				`"meridian-x" looks like "meridian-c"`, `"meridian-x" looks like "meridian-d"`}},
		// --- a merged listing ---
		// a re-issue without a new name is not compared
		{Name: "renewed", Base: "{listing: aurora-x}, {listing: aurora-y}", PR: "{reissue: aurora-x}", Want: `pass`,
			Says: []string{`name-similarity +skip +no new name`}},
		{Name: "renamed, its slug and host look like another's", Base: "{listing: aurora-x}, {listing: aurora-y}",
			PR: "{reissue: aurora-x, name: Sunrise}", Want: `pass`},
		{Name: "renamed, next to a new one", Base: "{listing: ada}",
			PR:   "{reissue: ada, name: Meridian}, {listing: nova, name: Meridiam}",
			Want: `implementations/ada.json:3:3: warning: name-similarity: look-alike`},
		// one that takes a look-alike name is
		{Name: "renamed", Base: "{listing: ada}, {listing: bob, name: Meridian}", PR: "{reissue: ada, name: Meridiam}",
			Want: `implementations/ada.json:3:3: warning: name-similarity: look-alike`},
		// --- characters that nobody sees ---
		{Name: "bidi", PR: `{listing: nova, name: "Nova \u202Etxen"}`,
			Want: `implementations/nova.json:3:3: warning: name-similarity: control-character`,
			Says: []string{`implementations/nova.json:3:3: warning: name-similarity: name holds the invisible character U[+]202E`}},
		// ... and do not hide that the name is another's
		{Name: "zero width", Base: "{listing: ada, name: Meridian}", PR: `{listing: nova, name: "Meri\u200Bdian"}`,
			Want: `
implementations/nova.json:3:3: warning: name-similarity: control-character
implementations/nova.json:3:3: warning: name-similarity: look-alike`},
		{Name: "bell", PR: `{listing: nova, name: "Nova\u0007"}`,
			Want: `implementations/nova.json:3:3: warning: name-similarity: control-character`},
		{Name: "umlaut", World: `pr: [{listing: nova, name: Grüße 東京}]`,
			Want: `pass`},
	})
}
