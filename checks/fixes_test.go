package checks

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/did"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/manifest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/receipt"
	jsonschema "github.com/openagentprotocol-OAP/oap-gate/internal/strict/schema"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/fixture"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// The fix of a document that could not be fetched follows from how the fetch failed.
func TestFixesOfDocuments(t *testing.T) {
	answered := []evidence.Observation{{}, {State: evidence.Absent, Status: 410}}
	for _, c := range []struct {
		url, code string
		from      []evidence.Observation
		most      int64
		want      string
	}{
		{"http://a.example/x", evidence.CodeScheme, answered, 1, `set uri to "https://a.example/x"`},
		{"HTTP://a.example/x", evidence.CodeScheme, answered, 1, `set uri to "https://a.example/x"`},
		{"ftp://a.example/x", evidence.CodeScheme, answered, 1, "otherwise"},
		{"http://a.example/x", evidence.CodeScheme, nil, 1, "otherwise"},
		{"http://a example/x", evidence.CodeScheme, answered, 1, "otherwise"},
		{"https://a.example/x", evidence.CodeTLS, answered, 1,
			"install a certificate of a public authority; to try it locally add --ca-cert FILE"},
		{"https://a.example:8443/x", evidence.CodeNoHost, answered, 1,
			"create a DNS record for a.example, or correct uri"},
		{"https://a.example/x", evidence.CodeTooLarge, answered, 2 << 20, "serve at most 2 MiB"},
		{"https://a.example/x", evidence.CodeTooLarge, answered, 1536 << 10, "serve at most 1536 KiB"},
		{"https://a.example/x%20y", evidence.CodeHTTPStatus, answered, 1,
			"serve /x%20y with status 200 (it answers 410)"},
		{"https://a.example", evidence.CodeHTTPStatus, answered, 1, "serve / with status 200 (it answers 410)"},
		{"https://a.example", evidence.CodeHTTPStatus, answered[:1], 1, "otherwise"},
		{"https://a.example", evidence.CodeTimeout, answered, 1, "otherwise"},
	} {
		found := evidence.Result[int]{Code: c.code, From: c.from}
		if got := documentFix("uri", c.url, found, c.most, "otherwise"); got != c.want {
			t.Errorf("%s, %s: %q; expected %q", c.url, c.code, got, c.want)
		}
	}
}

// The fix of a new listing names the DID that Manifest and Receipt agree on, if it is another one.
func TestFixesOfDIDs(t *testing.T) {
	const nova = "did:web:nova.example"
	obtained, entry := evidence.Obtained, &registry.Entry{}
	for _, c := range []struct {
		name               string
		base               *registry.Entry
		manifest, receipt  evidence.State
		inManifest, signed string
		want               string
	}{
		{"both", nil, obtained, obtained, "did:web:NOVA.example", nova,
			`set tool_did to "did:web:nova.example", as Manifest and Receipt say`},
		{"a merged listing", entry, obtained, obtained, nova, nova, "otherwise"},
		{"no Manifest", nil, evidence.Absent, obtained, nova, nova, "otherwise"},
		{"no Receipt", nil, obtained, evidence.Absent, nova, nova, "otherwise"},
		{"they differ", nil, obtained, obtained, nova, "did:web:other.example", "otherwise"},
		{"the listing's", nil, obtained, obtained, "did:web:listed.example", "did:web:LISTED.example", "otherwise"},
		{"a text that is not a DID", nil, obtained, obtained, "nova", "nova", "otherwise"},
	} {
		s := &Subject{Change: registry.Change{Base: c.base, Head: entry},
			Listing: &registry.Listing{ToolDID: "did:web:listed.example"}, Facts: &evidence.Facts{}}
		s.Facts.Manifest.State, s.Facts.Manifest.Value = c.manifest, &manifest.Manifest{ToolDID: c.inManifest}
		s.Facts.Receipt.State, s.Facts.Receipt.Value = c.receipt, &receipt.Receipt{ImplementationDID: c.signed}
		if got := s.didFix("otherwise"); got != c.want {
			t.Errorf("%s: %q; expected %q", c.name, got, c.want)
		}
	}
}

// A DID Document gets the id that a signature names, unless another key has it or it is none.
func TestFixesOfKeyIDs(t *testing.T) {
	const nova, sign = "did:web:nova.example", "remove this signature and run oap-gate sign FILE --key-id '"
	doc := &did.Document{DID: nova, Keys: []did.Key{{ID: nova + "#key-1"}, {ID: nova + "#key-2"}}}
	for by, adds := range map[string]string{nova: "", nova + "#": "", nova + "#key-2": "",
		nova + "#key-3": nova + "#key-3"} {
		want := sign + nova + "#key-1'"
		if adds != "" {
			want = "add the id " + adds + " for this key to verificationMethod and assertionMethod of did.json, or " +
				want
		}
		if got := keyIDFix(doc, receipt.Verification{By: by, Key: nova + "#key-1"}); got != want {
			t.Errorf("%s: %q; expected %q", by, got, want)
		}
	}
}

// A message names the URL that answered so, once.
func TestLocated(t *testing.T) {
	const url = "https://a.example/"
	from := func(state evidence.State) []evidence.Observation {
		return []evidence.Observation{{Request: evidence.Request{Target: url}, State: state}}
	}
	for _, c := range []struct {
		from          []evidence.Observation
		message, want string
	}{
		{nil, "refused", "refused"},
		{from(evidence.Absent), "refused", url + ": refused"},
		{from(evidence.Absent), `"` + url + `" refused`, `"` + url + `" refused`},
		{from(evidence.Obtained), "no JSON", "no JSON"},
		{append(from(evidence.Absent), from(evidence.Obtained)...), "no JSON", "no JSON"},
	} {
		if got := located(evidence.Result[int]{From: c.from, Message: c.message}); got != c.want {
			t.Errorf("%q; expected %q", got, c.want)
		}
	}
}

// The fix of a date that is ahead shows the clock of the server, if it sent one.
func TestWait(t *testing.T) {
	now := fixture.Clock
	const want = "wait until 2026-06-01T13:00:00Z, or set this machine's clock or --at (the time is " +
		"2026-06-01T12:00:00Z"
	for _, c := range []struct {
		from []evidence.Observation
		more string
	}{
		{nil, ")"},
		{[]evidence.Observation{{}}, ")"},
		{[]evidence.Observation{{Date: now.Add(time.Minute)}}, "; the server's Date header 2026-06-01T12:01:00Z)"},
	} {
		if got := Wait(now.Add(time.Hour), now, c.from); got != want+c.more {
			t.Errorf("%q; expected %q", got, want+c.more)
		}
	}
}

// A SHA-256 in another spelling is recognized, and nothing else is.
func TestRespelled(t *testing.T) {
	sum := strings.Repeat("0a", 32)
	for text, want := range map[string]string{sum: "", strings.ToUpper(sum): sum, "sha256:" + sum: sum,
		"SHA256:" + strings.ToUpper(sum): sum, strings.ToUpper(sum[1:]): "", "sha256:" + sum[1:]: "", "": "", "A": ""} {
		if got := Respelled(text); got != want {
			t.Errorf("%q: %q; expected %q", text, got, want)
		}
	}
}

// A name is meant by a word if at most a third of the word's bytes, and at most three, are wrong. Of two, it is the
// nearer one, then the first. Long names are not compared.
func TestNearest(t *testing.T) {
	long := strings.Repeat("a", 64)
	for _, c := range []struct {
		word  string
		names []string
		want  string
	}{
		{"contact", []string{"contract", "contact_uri", "slug"}, "contract"},
		{"ab", []string{"ac"}, ""},
		{"abc", []string{"abd"}, "abd"},
		{"abcde", []string{"abcXY"}, ""},
		{"abcdef", []string{"abcdXY"}, "abcdXY"},
		{"abcdefghijkl", []string{"abcdefghiXYZ"}, "abcdefghiXYZ"},
		{"abcdefghijkl", []string{"abcdefghWXYZ"}, ""},
		{"abcdef", []string{"abcdXX", "abcdeY", "abcdeX"}, "abcdeY"},
		{long, []string{long[1:] + "b"}, long[1:] + "b"},
		{long + "a", []string{long}, ""},
		{long, []string{long + "a"}, ""},
		{"abc", nil, ""},
	} {
		if got := nearest(c.word, c.names); got != c.want {
			t.Errorf("%q in %q: %q; expected %q", c.word, c.names, got, c.want)
		}
	}
}

// The fix of a member that is missing has its value, if the record says it.
func TestValueOf(t *testing.T) {
	const aTime, anyValue = `a time such as "2026-05-04T08:00:00Z"`, "the value that the Receipt signs"
	root := map[string]any{"tool_did": "did:web:a.example", "manifest_uri": "https://C.example.:8443/x"}
	for _, c := range []struct {
		kind registry.Kind
		root map[string]any
		name string
		want string
	}{
		{registry.KindListing, nil, "slug", `"ada"`},
		{registry.KindRevocation, nil, "slug", anyValue},
		{registry.KindListing, root, "manifest_uri", `"https://a.example/.well-known/oap-tool.json"`},
		{registry.KindListing, map[string]any{"tool_did": "did:web:a.example:b"}, "manifest_uri", "an https URL"},
		{registry.KindListing, nil, "manifest_uri", "an https URL"},
		{registry.KindListing, root, "tool_did", `"did:web:c.example"`},
		{registry.KindListing, map[string]any{"manifest_uri": "%"}, "tool_did", anyValue},
		{registry.KindListing, nil, "tool_did", anyValue},
		{registry.KindListing, nil, "issued_at", aTime},
		{registry.KindRevocation, nil, "issued_at", anyValue},
		{registry.KindRevocation, nil, "revoked_at", aTime},
		{registry.KindListing, nil, "conformance_receipt_sha256", "a SHA-256 of 64 lower-case digits"},
		{registry.KindListing, nil, "conformance_receipt_uri", "an https URL"},
		{registry.KindListing, nil, "name", anyValue},
	} {
		s := &Subject{Path: c.kind.Directory() + "/ada.json", Kind: c.kind}
		if got := valueOf(s, c.root, c.name); got != c.want {
			t.Errorf("%s of %v: %q; expected %q", c.name, c.kind, got, c.want)
		}
	}
}

// A message that only says what a value is not begins with the value.
func TestWithValue(t *testing.T) {
	long := strings.Repeat("a", 81)
	root := map[string]any{"s": "x\n", "long": long, "n": json.Number("7"), "b": true, "o": map[string]any{}}
	for _, c := range []struct{ pointer, keyword, message, want string }{
		{"/s", "format", "is no URI", `"x\n" is no URI`},
		{"/long", "maxLength", "is too long", `"` + long[:80] + `…" is too long`},
		{"/n", "minimum", "is too small", "7 is too small"},
		{"/b", "const", "is not false", "true is not false"},
		{"/o", "type", "is an object", "is an object"},
		{"/s", "type", "has no digits", "has no digits"},
		{"", "type", "is an array", "is an array"},
		{"/s", "", "is not judged", "is not judged"},
	} {
		v := jsonschema.Violation{Pointer: c.pointer, Keyword: c.keyword, Message: c.message}
		if got := withValue(root, v); got != c.want {
			t.Errorf("%q; expected %q", got, c.want)
		}
	}
}

// Without its Receipt nothing is weighed, and without another document each witness may count.
func TestWitnessing(t *testing.T) {
	s := &Subject{Listing: &registry.Listing{Level: "L4", ToolDID: "did:web:ada.example"}, Facts: &evidence.Facts{}}
	s.Facts.Receipt.Message = "nobody answered"
	if _, err := s.Witnessing(); err == nil || !strings.Contains(err.Error(), "nobody answered") {
		t.Errorf("without a Receipt: %v", err)
	}
}

// A record of the base that is gone when it is read again is an error.
func TestReadAgain(t *testing.T) {
	_, repo := built(t, "base: [{listing: ada}]")
	tree := must.Get(repo.Tree(t.Context(), "main"))(t)
	st := emptyStanding(tree)
	if l, err := st.Listing(t.Context(), &Listed{Path: "implementations/ada.json"}); err != nil || l.Slug != "ada" {
		t.Errorf("%v, %v", l, err)
	}
	if l, err := st.Listing(t.Context(), &Listed{Path: "implementations/bob.json"}); err == nil {
		t.Errorf("%v; expected an error", l)
	}
}
