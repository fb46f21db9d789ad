package checks

import (
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/checks/internal/listed"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/did"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/signature"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/fixture"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// FuzzRevocation checks that of all texts that carry the owner's one signature, those alone are authorised whose
// members beside the signatures are the ones that the owner signed.
func FuzzRevocation(f *testing.F) {
	const owner, path = "did:web:ada.example",
		"revocations/ada-0000000000000000000000000000000000000000000000000000000000000001.json"
	key := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	const members = `"slug": "ada", "revoked_receipt_sha256": "0000000000000000000000000000000000000000000000000000000000000001",
		"reason": "key-compromise", "revoked_at": "2026-05-12T13:24:00Z", "revoked_by_did": "did:web:ada.example"`
	payload := func(root any) []byte {
		text, err := signature.CanonicalWithout(root, "signature", "peer_witness_signatures")
		if err != nil {
			return nil
		}
		return text
	}
	plain := must.Get(strict.Parse(path, []byte("{"+members+"}"), strict.RegistryFile))(f)
	signed := string(payload(plain.Root))
	value := base64.RawURLEncoding.EncodeToString(ed25519.Sign(key, []byte(signed)))
	honest := fmt.Sprintf(`{%s, "signature": {"alg": "EdDSA", "value": %q, "by": "did:web:ada.example#key-1"}}`,
		members, value)
	for _, text := range []string{
		honest,
		fmt.Sprintf(
			`{"signature": {"value": %q, "alg": "EdDSA"}, %s, "peer_witness_signatures": [{"witness_did": "did:web:bob.example"}]}`, value, members),
		fmt.Sprintf(`{%s, "severity": "low", "signature": {"alg": "EdDSA", "value": %q}}`, members, value),
		fmt.Sprintf(`{%s, "signature": {"alg": "none", "value": %q}}`, members, value),
		fmt.Sprintf(`{%s, "signature": %q}`, members, value),
		"{" + members + "}",
		`{"revoked_by_did": "did:web:ada.example", "signature": null, "peer_witness_signatures": [null, 1, {"witness_did": {}}]}`,
	} {
		f.Add(text)
	}
	listed := &Listed{Path: "implementations/ada.json", Slug: "ada", ToolDID: owner}
	facts := &evidence.Facts{DIDDocument: evidence.Result[*did.Document]{State: evidence.Obtained,
		Value: &did.Document{DID: owner,
			Keys: []did.Key{{ID: owner + "#key-1", Public: key.Public().(ed25519.PublicKey)}}}}}
	f.Fuzz(func(t *testing.T, text string) {
		doc, err := strict.Parse(path, []byte(text), strict.RegistryFile)
		if err != nil {
			return
		}
		rec := &registry.Record{Path: path, Kind: registry.KindRevocation, Document: doc}
		s := &Subject{Run: &Run{Base: emptyStanding(nil)}, Path: path, Kind: rec.Kind, Record: rec,
			Revocation: registry.ParseRevocation(rec), Facts: facts}
		bytes := payload(doc.Root)
		if bytes == nil {
			return
		}
		out := must.Get(authority(verdict.Outcome{}, s, []version{{did: listed.ToolDID}}, listed.ToolDID, bytes))(t)
		if authorised := out.Verified != ""; authorised && string(bytes) != signed {
			t.Errorf("%q is authorised by a signature of %q", bytes, signed)
		} else if text == honest && !authorised {
			t.Errorf("not authorised: %v", out.Findings)
		}
	})
}

// What decides about a revocation and cannot be read is an error, not a pass.
func TestUnreadRevocation(t *testing.T) {
	w, repo := built(t, `
base:
  - {listing: ada}
  - {commit: List}
  - {at: "-5d"}
  - {reissue: ada}
pr: [{revoke: ada, number: 1}, {revoke: ada, number: 2}]
`)
	rng := must.Get(repo.Range(t.Context(), w.Base, w.Head))(t)
	for _, end := range []bool{false, true} {
		st := must.Get(NewStanding(t.Context(), rng.Base, anyPath))(t)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		run := &Run{Context: t.Context(), Repo: repo, Range: rng, Base: st, Now: w.Now, Offline: true}
		subjects := must.Get(NewSubjects(run, rng.Changes))(t)
		if run.Context = ctx; end {
			cancel()
		}
		out, err := runRevocationsRegistry(run)
		if (err != nil) != end || len(out.Findings) > 0 {
			t.Errorf("the run has ended: %t: %+v, %v", end, out, err)
		}
		for _, s := range subjects {
			if out, err := runRevocations(s); (err != nil) != end || len(out.Findings) > 0 {
				t.Errorf("%s, the run has ended: %t: %+v, %v", s.Path, end, out, err)
			}
		}
	}
}

// If the owner's document could not be fetched, nothing is decided. A witness whose history cannot be read is an error.
func TestAuthority(t *testing.T) {
	_, repo := built(t, "base: [{listing: eve}]")
	tree := must.Get(repo.Tree(t.Context(), "main"))(t)
	st := emptyStanding(tree)
	st.listings.Add(listed.Pack(&Listed{Path: listed.Path("bob"), Slug: "bob", ToolDID: "did:web:bob.example",
		Level:   "L4",
		Expires: fixture.Clock.Add(1), Provisional: true}, uint8(sound)))
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	listed := &Listed{Path: listed.Path("ada"), Slug: "ada", ToolDID: "did:web:ada.example"}
	signed := registry.Signature{Alg: "EdDSA", Value: strings.Repeat("A", 86)}
	for _, c := range []struct {
		name      string
		by        string
		signature registry.Signature
		state     evidence.State
		witness   string
		want      string
		basis     verdict.Basis
	}{
		{"not sought", listed.ToolDID, signed, evidence.Unsought, "", "inconclusive owner-open /signature",
			verdict.World},
		{"not reached", listed.ToolDID, signed, evidence.Unavailable, "", "inconclusive owner-open /signature",
			verdict.World},
		{"not there", listed.ToolDID, signed, evidence.Absent, "", "error not-authorised /signature", verdict.World},
		{"not there, and no signature", listed.ToolDID, registry.Signature{}, evidence.Absent, "",
			"error not-authorised /signature", 0},
		{"by another", "did:web:eve.example", signed, evidence.Absent, "", "error not-authorised /signature", 0},
		{"by a witness whose history cannot be read", listed.ToolDID, signed, evidence.Absent, "did:web:bob.example",
			"an error", 0},
		{"by a stranger, where a listing's history cannot be read", listed.ToolDID, signed, evidence.Absent,
			"did:web:eve.example", "an error", 0},
	} {
		v := &registry.Revocation{RevokedByDID: c.by, Signature: c.signature}
		if c.witness != "" {
			v.Witnesses = []registry.WitnessSignature{{WitnessDID: c.witness, Signature: c.signature}}
		}
		if st.past = nil; c.witness == "" {
			st.past = newPast(repo, "", fixture.Clock)
		}
		s := &Subject{Run: &Run{Context: ended, Repo: repo, Base: st, Range: &registry.Range{Base: tree},
			Now: fixture.Clock}, Path: "revocations/a.json", Revocation: v, Facts: &evidence.Facts{}}
		s.Facts.DIDDocument.State, s.Facts.DIDDocument.Message = c.state, "why"
		out, err := authority(verdict.Outcome{}, s, []version{{did: listed.ToolDID}}, listed.ToolDID, nil)
		got := spelled(out)
		if err != nil {
			got = "an error"
		}
		if got != c.want || err == nil && out.Findings[0].Basis != c.basis {
			t.Errorf("%s: %q, %v; expected %q", c.name, got, err, c.want)
		}
	}
}

// Of a Receipt that a listing's file pinned more than once, the earliest version counts, each owner of the slug has
// one, and an object that cannot be read is an error.
func TestOwners(t *testing.T) {
	w, repo := built(t, `
base:
  - {listing: ada}
  - {commit: List}
  - {edit: implementations/ada.json, set: {/issued_at: "2026-05-01T12:00:00Z"}}
  - {commit: Edit}
  - {edit: implementations/ada.json, set: {/tool_did: "did:web:eve.example"}}
  - {commit: Edit}
  - {edit: implementations/ada.json, set: {/tool_did: "did:web:ada.example"}}
  - {commit: Edit}
  - {edit: implementations/ada.json, delete: [/tool_did]}
  - {commit: Edit}
  - {reissue: ada}
pr: [{revoke: ada, number: 1}]
`)
	rng := must.Get(repo.Range(t.Context(), w.Base, w.Head))(t)
	at := pin{Slug: "ada", SHA256: revocationName(rng.Changes[0].Path).SHA256}
	p := newPast(repo, w.Base, w.Now)
	found, err := p.owners(t.Context(), at, asOf{})
	if err != nil || len(found) != 2 || found[0].did != "did:web:ada.example" ||
		found[1].did != "did:web:eve.example" || stamp(found[0].issued) != "2026-05-01T12:00:00Z" {
		t.Errorf("%+v, %v", found, err)
	}
	run := &Run{Context: t.Context(), Repo: repo, Base: emptyStanding(rng.Base), Now: w.Now}
	for by, is := range map[string]bool{"did:web:ada.example": true, "did:web:eve.example": true,
		"did:web:bob.example": false} {
		v := &registry.Revocation{Slug: "ada", ReceiptSHA256: at.SHA256, RevokedByDID: by}
		s := &Subject{Run: run, Revocation: v}
		l, err := s.RevokedListing()
		if err != nil || (l != nil) != is || is && (l.ToolDID != by || l.ReceiptSHA256 != at.SHA256) {
			t.Errorf("revoked by %s: %+v, %v; expected one: %t", by, l, err, is)
		}
	}
	ended, end := context.WithCancel(t.Context())
	end()
	s := &Subject{Run: &Run{Context: ended, Repo: repo, Base: emptyStanding(rng.Base), Now: w.Now},
		Revocation: &registry.Revocation{Slug: "ada"}}
	if l, err := s.RevokedListing(); err == nil {
		t.Errorf("of a run that has ended: %+v; expected an error", l)
	}
	for _, p := range []*past{newPast(repo, w.Base, w.Now), newPast(repo, w.Base, w.Now).over()} {
		found, err := p.owners(ended, at, asOf{})
		if _, unnamed := p.names(ended, ""); err == nil || unnamed == nil {
			t.Errorf("of a run that has ended: %+v, %v, %v; expected errors", found, err, unnamed)
		}
	}
	read := len(p.pinned(at))
	if again, err := p.owners(ended, at, asOf{}); err != nil || len(again) != len(found) || len(p.pinned(at)) != read {
		t.Errorf("asked again: %+v, %v; expected what was read", again, err)
	}
	if all, err := p.history(ended, listed.Path("eve")); err != nil || len(all) > 0 {
		t.Errorf("another listing: %+v, %v; expected no history, of a directory that was read", all, err)
	}
}
