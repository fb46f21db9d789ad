package checks

import (
	"crypto/ed25519"
	"encoding/base64"
	"fmt"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/did"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/signature"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// FuzzRevocation holds that of all texts that carry the owner's one signature, those alone are authorised whose
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
	plain, err := strict.Parse(path, []byte("{"+members+"}"), strict.RegistryFile)
	if err != nil {
		f.Fatal(err)
	}
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
		out, err := authority(verdict.Outcome{}, s, listed, bytes)
		if err != nil {
			t.Fatal(err)
		}
		if authorised := out.Verified != ""; authorised && string(bytes) != signed {
			t.Errorf("%q is authorised by a signature of %q", bytes, signed)
		} else if text == honest && !authorised {
			t.Errorf("not authorised: %v", out.Findings)
		}
	})
}
