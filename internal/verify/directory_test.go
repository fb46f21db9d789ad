package verify

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/folder"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/receipt"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// The directory of a target decides whose Receipt may be shown there.
func TestDirectory(t *testing.T) {
	const (
		h     = "did:web:h.example"
		alice = "did:web:h.example:alice"
		bob   = "did:web:h.example:bob"
		key   = didKey
	)
	for _, c := range []struct {
		target, did, ran string
		want             string // severity and code; ask: the root's owner is asked; empty: nothing
	}{
		// the honest ones
		{"/team/.well-known/oap-tool.json", h, "/team", ""},
		{"/team/oap.json", h, "/team", ""},
		{"/team/x/manifest.json", h, "/team", ""},
		{"/team", h, "/team", ""},
		{"/team/", h, "/team/v1/agent", ""},
		{"/team/.Well-Known/oap-tool.json", h, "/team/", ""},
		{"/static/oap.json", h, "", "ask"},
		{"/static/oap.json", key, "/", "ask"},
		{"/static/oap.json", "did:web:elsewhere.example", "/", "ask"},
		{"", h, "/v1/agent", ""},
		{"/oap.json", h, "/v1/agent", ""},
		{"/.well-known/oap-tool.json", h, "/", ""},
		{"/.well-known/manifest.json", h, "/", ""},
		{"/alice", alice, "http://localhost:3000", ""},
		{"/alice/x/oap.json", alice, "https://staging.example/", ""},
		{"/alice/.well-known/other.json", alice, "https://staging.example/", ""},
		{"/alice/x/.well-known/other.json", alice, "https://staging.example/", ""},
		{"did:web:h.example:alice", alice, "https://staging.example/", ""},
		{"did:web:h.example:a%20b", "did:web:h.example:a%20b", "https://staging.example/", ""},
		{"/a%20b/", h, "/a b/v1", ""},
		{"/%C3%B6/", h, "/ö", ""},
		{"/100%25/x.json", h, "/100%25", ""},
		{"", h, "https://h.example:443", ""},

		// the root shows what is below it
		{"", alice, "/alice", "warning target-folder"},
		{"/oap.json", alice, "/alice", "warning target-folder"},
		{"", h, "https://h.example:8443/", ""}, // the DID's own port
		{"https://h.example:8443", h, "/", "warning target-folder"},
		{"https://h.example:8443", h, "https://api.h.example/", "warning target-folder"},
		{"", key, "https://h.example:8443/", "warning target-folder"},
		{"https://h.example:8443", h, "https://api.h.example:8443/", "warning target-folder"},
		{"", "did:web:elsewhere.example", "https://h.example:8443/", "warning target-folder"},
		{"https://h.example:8443", "did:web:h.example%3A8443", "/", ""},
		{"", h, "https://api.h.example:8443/", ""},

		// another's Receipt, below a directory of one's own
		{"/bob", alice, "/alice", "error manifest-host"},
		{"/bob/", h, "/alice/", "error manifest-host"},
		{"/bob/oap.json", alice, "/alice", "error manifest-host"},
		{"/bob/oap.json", h, "/alice/", "error manifest-host"},
		{"/bob/.well-known/oap-tool.json", alice, "/alice", "error manifest-host"},
		{"/bob/.well-known/x.json", h, "/alice", "error manifest-host"},
		{"/bob", h, "/", "error manifest-host"},
		{"/bob/.well-known/oap-tool.json", h, "/", "error manifest-host"},
		{"/bob/.WELL-KNOWN/oap-tool.json", h, "/", "error manifest-host"},
		{"/bob/%2ewell-known/oap-tool.json", h, "/", "error manifest-host"},
		{"/bob/%6fap-tool.json", alice, "/", "error manifest-host"},
		{"/bob/oap-tool.json", alice, "/", "error manifest-host"},
		{"/bob", alice, "/", "error manifest-host"},
		{"/bob/oap.json", h, "https://api.h.example/", "error manifest-host"},
		{"/alice2", alice, "/alice", "error manifest-host"},
		{"/ali", alice, "/alice", "error manifest-host"},
		{"/Alice", alice, "/alice", "error manifest-host"},
		{"/alice/bob", alice, "/alice", "error manifest-host"},
		{"/alice/bob/.well-known/oap-tool.json", alice, "/alice", "error manifest-host"},
		{"/bob/x/oap.json", h, "/bob/../alice", "error manifest-host"},
		{"/bob/oap.json", h, "/alice/..;/bob", "error manifest-host"},
		{"/bob/oap.json", h, "//", "error manifest-host"},
		{"/bob/oap.json", h, "http://h.example/bob", "error manifest-host"},
		{"/bob/oap.json", h, "http://h.example:443/bob", "error manifest-host"},
		{"/bob/oap.json", h, "https://h.example:8443/bob", "error manifest-host"},
		{"/bob/oap.json", h, "https://h.example:8443", "error manifest-host"},
		{"https://h.example:8443/alice/oap.json", alice, "/alice", "error manifest-host"},
		{"https://h.example:8443/alice", alice, "/alice", "error manifest-host"},
		{"/bob/oap.json", h, "", "ask"},
		{"/bob/oap.json", h, "https://h example/", "error manifest-host"},
		{"/bob/oap.json", "did:example:bob", "https://h.example/alice", "error manifest-host"},
		{"did:web:h.example:bob", alice, "/alice", "error manifest-host"},
		{"did:web:h.example:x:.well-known", "did:web:h.example:x", "https://staging.example/", "error manifest-host"},
	} {
		if !strings.Contains(c.target, ":") {
			c.target = "https://h.example" + c.target
		}
		if !strings.Contains(c.ran, ":") {
			c.ran = "https://h.example" + c.ran
		}
		target, err := ParseTarget(c.target, false)
		if err != nil {
			t.Error(err)
			continue
		}
		var asked asker
		w := &work{ctx: t.Context(), src: &asked, cfg: &Config{}, target: target, did: c.did, facts: &evidence.Facts{
			Receipt: evidence.Result[*receipt.Receipt]{State: evidence.Obtained,
				Value: &receipt.Receipt{ImplementationDID: c.did, TargetURI: c.ran}}}}
		var out verdict.Outcome
		if err := w.hosted(&out); err != nil {
			t.Error(err)
		}
		got := ""
		for _, f := range out.Findings {
			got += f.Severity.String() + " " + f.Code
		}
		if len(asked) > 0 {
			got = "ask"
			if string(asked) != "https://h.example/.well-known/oap-tool.json" {
				t.Errorf("%s: asks for %s", c.target, asked)
			}
		}
		if got != c.want {
			t.Errorf("%s shows the Receipt of %s at %s: %q, want %q", c.target, c.did, c.ran, got, c.want)
		}
	}
}

// A URL is written with its port if that is not the one of https.
func TestLocation(t *testing.T) {
	for text, want := range map[string]string{"https://H.example:443/a%20b/": "https://h.example/a%20b",
		"https://h.example:8443": "https://h.example:8443/", "http://h.example/a": "http://h.example:80/a",
		"http://h.example:443/a": "http://h.example:443/a"} {
		l, err := folder.Locate(text)
		if err != nil || l.String() != want {
			t.Errorf("%s: %s, %v; expected %s", text, l, err, want)
		}
	}
	if l, err := folder.Locate("https://h example/"); err == nil {
		t.Errorf("what is not a URL is at %s", l)
	}
	for text, want := range map[string]string{"https://H.example:8443/a": "h.example", "https://h example/": "",
		"https://" + strings.Repeat("a", 300) + "/": strings.Repeat("a", 300)} {
		if got := hostOf(text); got != want {
			t.Errorf("host of %s: %q; expected %q", text, got, want)
		}
	}
}

// A fix names the implementation by its DID, or by what it signed.
func TestItself(t *testing.T) {
	for id, want := range map[string]string{"did:web:H.example": "did:web:h.example",
		didKey: "the implementation at its signed target.uri",
		"":     "the implementation at its signed target.uri"} {
		w := &work{facts: &evidence.Facts{Receipt: evidence.Result[*receipt.Receipt]{State: evidence.Obtained,
			Value: &receipt.Receipt{ImplementationDID: id}}}}
		if got := w.itself(); got != want {
			t.Errorf("%q: %q; expected %q", id, got, want)
		}
	}
}

// Documents at hand and slugs have no directory, so that nothing is said about it.
func TestNoDirectory(t *testing.T) {
	for _, target := range []Target{{AtHand: true}, {},
		{ManifestURI: "https://h.example"}, {ManifestURI: "https://h.example/%2e/oap.json"}, {ManifestURI: "%"}} {
		if dir, named, found := folder.Of(target.ManifestURI); named || found {
			t.Errorf("%+v has the directory %v", target, dir)
		}
		w := &work{target: target, facts: &evidence.Facts{Receipt: evidence.Result[*receipt.Receipt]{
			Value: &receipt.Receipt{ImplementationDID: "did:web:h.example:alice"}}}}
		var out verdict.Outcome
		if err := w.hosted(&out); err != nil || len(out.Findings) > 0 {
			t.Errorf("%+v: %v, %+v", target, err, out.Findings)
		}
	}
}

// A listing names its Manifest, so that only on a shared host the directory matters.
func TestDirectoryOfSlug(t *testing.T) {
	for id, want := range map[string]string{"did:web:h.example": "", "did:web:h.example:bob": "",
		"did:web:h.example:alice": "manifest-host", "did:web:h.example:bo": "manifest-host", didKey: ""} {
		w := &work{target: Target{Slug: "tool", ManifestURI: "https://h.example/bob/oap.json"}, facts: &evidence.Facts{
			Receipt: evidence.Result[*receipt.Receipt]{State: evidence.Obtained,
				Value: &receipt.Receipt{ImplementationDID: id}}}}
		var out verdict.Outcome
		if err := w.hosted(&out); err != nil || len(out.Findings) > 0 != (want != "") ||
			want != "" && out.Findings[0].Code != want {
			t.Errorf("%s: %v, %+v; expected %q", id, err, out.Findings, want)
		}
	}
}

// The owner of the root confirms the bytes of the Manifest by serving them, in no other way.
func TestConfirmedBy(t *testing.T) {
	served := []evidence.Observation{{SHA256: "other"}, {SHA256: "same"}}
	for _, c := range []struct {
		name string
		from []evidence.Observation
		got  evidence.Observation
		want string
	}{
		{"the same bytes", served, evidence.Observation{State: evidence.Obtained, SHA256: "same"},
			"warning target-folder"},
		{"other bytes", served, evidence.Observation{State: evidence.Obtained, SHA256: "other"},
			"error manifest-host"},
		{"no Manifest", nil, evidence.Observation{State: evidence.Obtained, SHA256: "same"}, "error manifest-host"},
		{"nothing", served, evidence.Observation{State: evidence.Absent, SHA256: "same"}, "error manifest-host"},
		{"a page that is not one", served, evidence.Observation{State: evidence.Invalid, SHA256: "same"},
			"error manifest-host"},
		{"no answer", served, evidence.Observation{State: evidence.Unavailable, SHA256: "same"},
			"inconclusive manifest-host"},
	} {
		w := &work{ctx: t.Context(), src: always{c.got}, cfg: &Config{}, facts: &evidence.Facts{}}
		w.facts.Manifest.From = c.from
		var out verdict.Outcome
		must.OK(t, w.confirmed(&out, folder.Location{Scheme: "https", Host: "h.example", Port: "443"}))
		if got := place(Finding{Severity: out.Findings[0].Severity, Code: out.Findings[0].Code}); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// always is a source with one answer.
type always struct{ evidence.Observation }

func (a always) Observe(context.Context, evidence.Request) evidence.Observation { return a.Observation }
func (always) Now() time.Time                                                   { return time.Time{} }
func (always) Observations() []evidence.Observation                             { return nil }
func (always) Reaches(_, _ string) bool                                         { return true }
func (always) NotReached() map[string][]string                                  { return nil }

// asker keeps the URL that was asked for.
type asker string

func (a *asker) Observe(_ context.Context, r evidence.Request) evidence.Observation {
	*a = asker(r.Target)
	return evidence.Observation{Request: r, State: evidence.Unavailable}
}

func (*asker) Now() time.Time                       { return time.Time{} }
func (*asker) Observations() []evidence.Observation { return nil }
func (*asker) Reaches(_, _ string) bool             { return true }
func (*asker) NotReached() map[string][]string      { return nil }
