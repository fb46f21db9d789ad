package checks

import (
	"fmt"
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/did"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/level"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/receipt"
	jsonschema "github.com/openagentprotocol-OAP/oap-gate/internal/strict/schema"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// spelled returns what findings say: severity, code and place.
func spelled(out verdict.Outcome) string {
	var all []string
	for _, f := range out.Findings {
		all = append(all, strings.TrimSpace(fmt.Sprintf("%s %s %s", f.Severity, f.Code, f.Pointer)))
	}
	return strings.Join(all, ", ")
}

// A URL is the owner's if its host is in the registrable domain of the owner's did:web.
func TestOwnHost(t *testing.T) {
	r := &Run{Base: emptyStanding(nil)}
	for _, c := range []struct {
		uri, tool string
		want      bool
	}{
		{"https://a.example/x", "did:web:a.example", true},
		{"https://b.a.example./x", "did:web:c.a.example", true},
		{"https://b.example/x", "did:web:a.example", false},
		{"https://a.github.io/x", "did:web:b.github.io", false},
		{"https://a.github.io/x", "did:web:a.github.io", true},
		{"https://github.io/x", "did:web:github.io", true},
		{"https://a.example/x", "did:web:", false},
		{"https://a.example/x", "did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK", false},
		{"https://127.0.0.1/x", "did:web:a.example", false},
		{"https://xn--0.a.example/x", "did:web:a.example", false},
		{"https://a.example/x", "did:web:xn--0.a.example", false},
		{"%", "did:web:a.example", false},
		{"", "", false},
	} {
		if got := r.InDomain(c.uri, c.tool); got != c.want {
			t.Errorf("%s of %s: %t", c.uri, c.tool, got)
		}
	}
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"https://A.example./x", "http://a.example:81/y", true},
		{"https://a.example", "https://b.a.example", false},
		{"%", "%", false},
		{"", "", false},
	} {
		if got := SameHost(c.a, c.b); got != c.want {
			t.Errorf("%s and %s: %t", c.a, c.b, got)
		}
	}
}

// A level of the Non-Commercial Profile needs the profile and a source of revenue.
func TestNonCommercial(t *testing.T) {
	for _, c := range []struct {
		level           level.Level
		profile, source string
		want            string
	}{
		{"L1", "", "", ""},
		{"L1-NC", "non-commercial", "donations", ""},
		{"L3-NC", "", "donations", "error profile /profile"},
		{"L1-NC", "non-commercial", "", "error revenue-source /revenue/source"},
		{"L1-NC", "", "", "error profile /profile, error revenue-source /revenue/source"},
	} {
		r := &receipt.Receipt{Profile: c.profile, RevenueSource: c.source}
		if got := spelled(NonCommercial(r, c.level)); got != c.want {
			t.Errorf("%s of %q, %q: %q; expected %q", c.level, c.profile, c.source, got, c.want)
		}
	}
}

// A Receipt that claims L5 claims its tiers, and nothing else that it does not name.
func TestClaims(t *testing.T) {
	for l, want := range map[level.Level]bool{"L5": true, "L5-FINANCE": true, "L5-ORG": true, "L2": true, "L4": false,
		"L1": false, "L5-NC": false} {
		if got := claims([]level.Level{"L2", "L5"}, l); got != want {
			t.Errorf("%s: %t", l, got)
		}
	}
	if claims([]level.Level{"L4"}, "L5-ORG") {
		t.Error("L4 claims a tier of L5")
	}
}

// Only the signatures of a Receipt may be refused as placeholders.
func TestIsPlaceholder(t *testing.T) {
	for _, c := range []struct {
		keyword, pointer string
		want             bool
	}{
		{"not", "/signatures/0/value", true},
		{"not", "/peer_witnesses/0/signature", true},
		{"not", "/implementation/name", false},
		{"pattern", "/signatures/0/value", false},
	} {
		if got := isPlaceholder(jsonschema.Violation{Keyword: c.keyword, Pointer: c.pointer}); got != c.want {
			t.Errorf("%s at %s: %t", c.keyword, c.pointer, got)
		}
	}
}

// A listing has the name that its Receipt signs; one that is merged already is a warning.
func TestSignedName(t *testing.T) {
	entry := &registry.Entry{Mode: registry.ModeFile}
	for _, c := range []struct {
		name          string
		signed, was   string // was: the merged listing's name; empty: it is new
		audit         bool
		skipped       string // a check that does not run
		refused, want string
	}{
		{"signed", "Nova", "", false, "", "", ""},
		{"another", "Eve", "", false, "", "", "error name-not-signed /name"},
		{"another, in an audit", "Eve", "", true, "", "", "warning name-not-signed /name"},
		{"another, as before", "Eve", "Nova", false, "", "", "warning name-not-signed /name"},
		{"changed, which reissue reports", "Eve", "Ada", false, "", "", ""},
		{"changed, without reissue", "Eve", "Ada", false, reissueID, "", "error name-not-signed /name"},
		{"the schema refuses the listing's", "Eve", "", false, "", "/name", ""},
		{"the schema refuses it, and does not run", "Eve", "", false, schema.ID, "/name",
			"error name-not-signed /name"},
		{"the schema refuses another member", "Eve", "", false, "", "/slug", "error name-not-signed /name"},
	} {
		s := &Subject{Run: &Run{Asks: Asks{AsIs: c.audit}, Selected: func(id string) bool { return id != c.skipped }},
			Listing: &registry.Listing{Name: "Nova"}, Change: registry.Change{Head: entry}}
		if c.was != "" {
			s.baseListing, s.Change.Base = &registry.Listing{Name: c.was}, entry
		}
		if c.refused != "" {
			s.violations = []verdict.Finding{{Severity: verdict.Error, Pointer: c.refused}}
		}
		var out verdict.Outcome
		signedName(&out, s, &receipt.Receipt{ImplementationName: c.signed})
		if got := spelled(out); got != c.want {
			t.Errorf("%s: %q; expected %q", c.name, got, c.want)
		}
	}
	// ReceiptSchema reports a name that is missing, and no other one.
	for signed, want := range map[string]string{"": "error receipt-schema", "Eve": "error receipt-schema, error " +
		"name-not-signed /name"} {
		s := &Subject{Run: &Run{}, Listing: &registry.Listing{Name: "Nova"}, Change: registry.Change{Head: entry}}
		var out verdict.Outcome
		out.Errorf(verdict.At{}, "", "receipt-schema", "it has no name")
		signedName(&out, s, &receipt.Receipt{ImplementationName: signed})
		if got := spelled(out); got != want {
			t.Errorf("%q in a Receipt that violates its schema: %q; expected %q", signed, got, want)
		}
	}
	s := &Subject{violations: []verdict.Finding{{Severity: verdict.Warning, Pointer: "/name"}}}
	if refused(s, "/name") {
		t.Error("a warning of schema refuses the member")
	}
}

// A Receipt that only the archive has is one for whose origin somebody has to care.
func TestArchivedReceipt(t *testing.T) {
	for gone, want := range map[string]string{"": "",
		"answered 404": "warning receipt-archived /conformance_receipt_uri"} {
		s := &Subject{Run: &Run{}, Listing: &registry.Listing{}, Facts: &evidence.Facts{}}
		s.Facts.ReceiptText.State, s.Facts.ReceiptText.Value.Gone = evidence.Obtained, gone
		out, err := runReceiptFetch(s)
		if got := spelled(out); err != nil || got != want {
			t.Errorf("gone %q: %q, %v; expected %q", gone, got, err, want)
		}
	}
}

// Only a Manifest that its server does not have may have another URL.
func TestOtherManifest(t *testing.T) {
	for _, c := range []struct {
		state evidence.State
		code  string
		want  bool
	}{{evidence.Absent, evidence.CodeHTTPStatus, true}, {evidence.Absent, evidence.CodeNoHost, false},
		{evidence.Invalid, "json-syntax", false}, {evidence.Unavailable, evidence.CodeHTTPStatus, false}} {
		s := &Subject{Run: &Run{}, Listing: &registry.Listing{}, Facts: &evidence.Facts{}}
		s.Facts.Manifest.State, s.Facts.Manifest.Code = c.state, c.code
		out, err := runManifestReachability(s)
		if err != nil || len(out.Findings) != 1 || out.Findings[0].Code != c.code ||
			strings.HasSuffix(out.Findings[0].Fix, "; if the Manifest has another URL: oap-gate new SLUG URL") !=
				c.want {
			t.Errorf("%s %s: %+v, %v", c.state, c.code, out.Findings, err)
		}
	}
}

// What git refuses is named by where it is.
func TestSpellRefused(t *testing.T) {
	const commit = "0123456789abcdef0123456789abcdef01234567"
	for _, c := range []struct {
		one        registry.Refused
		code, want string
	}{
		{registry.Refused{Commit: commit, ID: "zeroPaddedDate", Detail: "a date"}, fsckCommit,
			"commit 0123456789ab is zeroPaddedDate: a date"},
		{registry.Refused{Commit: commit, Path: "a", ID: "dotgit", Detail: "a name"}, fsckFile,
			`"a" of commit 0123456789ab is dotgit: a name`},
		{registry.Refused{Base: true, Path: "a", ID: "dotgit", Detail: "a name"}, fsckFile,
			`"a" of the base tree is dotgit: a name`},
		{registry.Refused{Path: "a", ID: "dotgit", Detail: "a name"}, fsckFile,
			`"a" of the files on disk is dotgit: a name`},
	} {
		if got := spellRefused(c.one); got != c.want || codeOf(c.one) != c.code {
			t.Errorf("%s: %q; expected %s: %q", codeOf(c.one), got, c.code, c.want)
		}
	}
}

// Each object that git refuses is reported with the commit that brings it, and how to remove it.
func TestReportRefused(t *testing.T) {
	var out verdict.Outcome
	reportRefused(&out, []registry.Refused{{Commit: "c0ffee", Path: "a"}}, "remove it")
	if f := out.Findings[0]; f.Commit != "c0ffee" || f.Fix != "remove it" || f.Code != fsckFile {
		t.Errorf("%+v", f)
	}
}

// An audit judges neither what becomes of a merged file nor its name again.
func TestNotInAudit(t *testing.T) {
	for _, audit := range []bool{false, true} {
		s := &Subject{Run: &Run{Asks: Asks{AsIs: audit}}}
		for _, c := range []*Check{appendOnly, nameSimilarity} {
			if why := c.applies(s); (why != "") != audit {
				t.Errorf("%s, in an audit %t: %q", c.ID, audit, why)
			}
		}
	}
}

// A large file is warned of, and refused from the policy's size on. It has no private key that may mix with records.
func TestLargeFile(t *testing.T) {
	run := func(most int, found ...leak) *Run {
		r := &Run{Selected: func(string) bool { return true }, Base: emptyStanding(nil),
			Range: &registry.Range{Base: &registry.Tree{}}}
		r.Base.Policy.maxFileBytes = int64(most)
		r.leakage.set(found, nil)
		return r
	}
	key := leak{path: "key.pem", commit: "c0ffee", kind: "a PEM block", size: 100}
	big := func(size int) leak { return leak{path: "big.bin", commit: "c0ffee", size: size} }
	for _, tt := range []struct {
		most, size int
		want       string
	}{
		{0, 1<<20 - 1, ""},
		{0, 1 << 20, `warning: "big.bin" has 1048576 bytes, which the history keeps permanently; expected less than 1048576`},
		{0, 10<<20 - 1, `warning: "big.bin" has 10485759 bytes, which the history keeps permanently; expected less than 1048576`},
		{0, 10 << 20, `error: "big.bin" has 10485760 bytes; expected less than 10485760`},
		{20 << 20, 20<<20 - 1, `warning: "big.bin" has 20971519 bytes, which the history keeps permanently; ` +
			`expected less than 1048576`},
		{20 << 20, 20 << 20, `error: "big.bin" has 20971520 bytes; expected less than 20971520`},
		{100 << 20, maxKeyFile + 1, `error: "big.bin" has more than 134217728 bytes; expected less than 104857600`},
	} {
		out, err := largeFiles(run(tt.most, key, big(tt.size), leak{path: "implementations/ada.json", size: tt.size}))
		got := ""
		for _, f := range out.Findings {
			got += f.Severity.String() + ": " + f.Message
			if f.Code != codeLargeFile || f.Commit != "c0ffee" ||
				!strings.HasPrefix(f.Fix, "remove the file from every commit") {
				t.Errorf("%+v", f)
			}
		}
		if err != nil || got != tt.want {
			t.Errorf("%d of %d: %s, %v; expected %s", tt.size, tt.most, got, err, tt.want)
		}
	}
	r := run(0, big(maxKeyFile+1), key)
	out, err := privateKeys(r)
	if err != nil || len(out.Findings) != 1 || out.Findings[0].Commit != "c0ffee" {
		t.Fatalf("%v, %v", out.Findings, err)
	}
	mixed, err := r.kindsMixed([]string{"implementations/.gitkeep", "big.bin", "key.pem"})
	if err != nil || strings.Join(mixed, " ") != "big.bin" {
		t.Errorf("mixed are %q, %v", mixed, err)
	}
	r.leakage.err = registry.ErrLimit
	if _, err = r.kindsMixed([]string{"key.pem"}); err == nil {
		t.Error("files that could not be searched: no error")
	}
}

// Of many new files that look like records, the first 1,000 are read, and the first 100 named.
func TestElsewhereBounds(t *testing.T) {
	var world strings.Builder
	world.WriteString("base: [{listing: ada}]\npr:\n")
	for i := range maxElsewhere + 1 {
		fmt.Fprintf(&world, "  - {write: docs/%04d.json, text: '{\"slug\": \"ada\", \"revoked_by_did\": 1, "+
			"\"revoked_receipt_sha256\": \"%064d\"}'}\n", i, 0)
	}
	w, repo := built(t, world.String())
	rng := must.Get(repo.Range(t.Context(), w.Base, w.Head))(t)
	st := emptyStanding(rng.Base)
	out, err := elsewhere(&Run{Context: t.Context(), Repo: repo, Range: rng, Base: st})
	if err != nil || len(out.Findings) != maxNamed+1 {
		t.Fatalf("%d findings, %v", len(out.Findings), err)
	}
	const want = "900 more new files look like records, outside the data directories"
	if got := out.Findings[maxNamed].Message; got != want {
		t.Errorf("%q; expected %q", got, want)
	}
}

// A ledger judges by the checks that judge the history.
func TestHistorical(t *testing.T) {
	for id, want := range map[string]bool{layoutID: true, reissueID: true, schema.ID: false, "": false} {
		if got := historical(id); got != want {
			t.Errorf("%q: %t", id, got)
		}
	}
}

// What kept a witness from being judged is named by the first that is open.
func TestFirstOpen(t *testing.T) {
	sure := web5("a", "one")
	doubted, open, bad := web5("b", "two"), web5("c", "three"), web5("d", "four")
	doubted.doubt = "no Manifest"
	open.weight, open.why = unsure, "no answer"
	bad.weight, bad.why, bad.doubt = broken, "forged", "no Manifest"
	for _, c := range []struct {
		all  []witness
		want string
	}{
		{nil, ""},
		{[]witness{sure, bad}, ""},
		{[]witness{sure, bad, doubted, open}, "did:web:b.example: no Manifest"},
		{[]witness{sure, open, doubted}, "did:web:c.example: no answer"},
	} {
		if got, _ := firstOpen(c.all); got != c.want {
			t.Errorf("%q; expected %q", got, c.want)
		}
	}
}

// A signature can have verified only if it is EdDSA and has the form of one.
func TestReadable(t *testing.T) {
	signed := strings.Repeat("A", 86)
	for _, c := range []struct {
		alg, value string
		want       bool
	}{{"EdDSA", signed, true}, {"ES256", signed, false}, {"EdDSA", "short", false}, {"EdDSA", "", false}} {
		if got := readable(c.alg, c.value); got != c.want {
			t.Errorf("%s %q: %t", c.alg, c.value, got)
		}
	}
}

// Of a coordinator's anchors, nine that name the failover coordinator come first, then nine others. The ninth shows
// that there are more than are searched.
func TestDeclarations(t *testing.T) {
	const each = evidence.MaxDeclarations + 3
	var world strings.Builder
	world.WriteString("base:\n  - {listing: ada}\n  - {listing: bob}\n  - {listing: cyd}\n")
	for i := range each {
		fmt.Fprintf(&world, "  - {anchor: a%02d, coordinator: ada, failover: cyd}\n", i)
		fmt.Fprintf(&world, "  - {anchor: b%02d, coordinator: ada, failover: bob}\n", i)
	}
	_, repo := built(t, world.String())
	tree := must.Get(repo.Tree(t.Context(), "main"))(t)
	run := &Run{Context: t.Context(), Repo: repo, Range: &registry.Range{Base: tree}, Base: emptyStanding(tree)}
	for _, c := range []struct {
		uri, failover string
		then          *Moment
		want          string
	}{
		{"https://bob.example/flow.json", "did:web:bob.example", nil, "9 of bob, 9 of cyd"},
		{"https://bob.example/flow.json", "did:web:BOB.example", nil, "9 of bob, 9 of cyd"},
		{"https://bob.example/flow.json", "did:web:bob.example", &Moment{Tree: tree}, "9 of bob, 9 of cyd"},
		{"https://bob.example/flow.json", "did:web:bob.example", &Moment{Tree: repo.EmptyTree()}, ""},
		{"https://bob.example/flow.json", "did:web:cyd.example", nil, ""},
		{"https://ada.example/flow.json", "did:web:ada.example", nil, ""},
	} {
		s := &Subject{Run: run, Merged: c.then, Anchor: &registry.Anchor{CoordinatorDID: "did:web:ada.example",
			FailoverDID: c.failover, ReceiptURI: c.uri}}
		found := must.Get(s.Declarations())(t)
		var all []string
		for len(found) > 0 {
			of, n := found[0].FailoverDID, 0
			for len(found) > 0 && found[0].FailoverDID == of {
				found, n = found[1:], n+1
			}
			all = append(all, fmt.Sprintf("%d of %s", n, of[len("did:web:"):][:3]))
		}
		if got := strings.Join(all, ", "); got != c.want {
			t.Errorf("%s on %s: %q; expected %q", c.failover, c.uri, got, c.want)
		}
	}
}

// What is a repository to its readers comes in path order, so that the same ones are named each time.
func TestShadowOrder(t *testing.T) {
	_, repo := built(t, `base: [{write: a/HEAD, text: x}, {write: a/commondir, text: x}, {write: b/registry.git, text: x},
  {write: c/HEAD, text: x}, {write: c/commondir, text: x}, {write: d/HEAD, text: x}, {write: d/commondir, text: x}]`)
	tree := must.Get(repo.Tree(t.Context(), "main"))(t)
	found, err := shadows(tree)
	got := ""
	for _, s := range found {
		got += " " + s.path
	}
	if want := " a/HEAD b/registry.git c/HEAD d/HEAD"; err != nil || got != want {
		t.Errorf("%s, %v; expected%s", got, err, want)
	}
}

// A walk looks at each directory once: where its path begins that the path before does not have.
func TestSeenBefore(t *testing.T) {
	for _, c := range []struct {
		last, path string
		want       int
	}{{"", "a", 0}, {"a", "b", 0}, {"a/b", "a/c", 2}, {"a/b/c", "a/b/d", 4}, {"a/bc", "a/bd/e", 2}, {"a", "a.b", 0},
		{"a/b", "a", 0}, {"a/b", "a/b", 2}} {
		if got := seenBefore(c.last, c.path); got != c.want {
			t.Errorf("%q after %q: %d; expected %d", c.path, c.last, got, c.want)
		}
	}
}

// The key of a witness whose DID Document is not known may be the auditor's.
func TestAuditorKey(t *testing.T) {
	for state, want := range map[evidence.State]string{evidence.Unsought: "inconclusive audit-open /conformance_level",
		evidence.Unavailable: "inconclusive audit-open /conformance_level", evidence.Absent: "", evidence.Invalid: "",
		evidence.Obtained: "error audit-witness-key /conformance_level"} {
		s := &Subject{Run: &Run{}, Facts: &evidence.Facts{Witnesses: map[string]*evidence.Witness{
			"did:web:bob.example": {}}}}
		s.Facts.DIDDocument = evidence.Result[*did.Document]{State: evidence.Obtained, Value: &did.Document{}}
		bob := &s.Facts.Witnesses["did:web:bob.example"].DIDDocument
		bob.State, bob.Value = state, &did.Document{Material: []string{"key"}}
		r := &receipt.Receipt{PeerWitnesses: []receipt.PeerWitness{{DID: "did:web:ada.example"},
			{DID: "did:web:bob.example"}}}
		var out verdict.Outcome
		if decides := auditorKey(&out, s, r, "key"); !decides || spelled(out) != want {
			t.Errorf("%s: %q, decides %t; expected %q", state, spelled(out), decides, want)
		}
	}
}

// Why a DID may not witness is said by what the base tree lists. Of several listings of a DID the earlier one counts.
func TestMayWitness(t *testing.T) {
	w, repo := built(t, `
base:
  - {listing: low, level: L3}
  - {listing: one, level: L4, host: two.example}
  - {listing: path, level: L4, set: {/tool_did: "did:web:path.example:a"}}
  - {listing: yes, level: L5}
  - {commit: List}
  - {listing: later, level: L4, host: two.example}
`)
	run := runOn(t, repo, w.Now)
	for id, want := range map[string]string{
		"did:web:none.example":   "the base tree has no listing of it",
		"did:web:path.example:A": `the base tree lists it as "did:web:path.example:a"`,
		"did:web:low.example":    "its listing implementations/low.json is at L3, a witness is at L4 or L5",
		"did:web:two.example":    "implementations/one.json",
		"did:web:yes.example":    "implementations/yes.json",
		"did:web:YES.example":    "implementations/yes.json",
		"did:web:path.example:a": "implementations/path.json",
	} {
		l, _, why, err := run.MayWitness(id)
		got := why
		if l != nil {
			got = l.Path
		}
		if err != nil || got != want {
			t.Errorf("%s: %q, %v; expected %q", id, got, err, want)
		}
	}
}
