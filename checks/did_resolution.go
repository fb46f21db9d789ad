package checks

import (
	"slices"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/did"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

var didResolution = &Check{
	ID:    "did-resolution",
	Title: "tool_did resolves to a valid DID Document",
	Cite:  "RFC 0026 section 6",
	Row:   "DID resolution",
	Why:   "the DID Document holds the key by which everything else is verified",
	Fix:   "serve a DID Document whose id is the DID and which has an Ed25519 key, at the URL that the message names",
	Kinds: []registry.Kind{registry.KindListing},
	Owns:  evidence.DIDDocument,
	reads: []string{"/tool_did"},
	Uses:  []evidence.Kind{evidence.Manifest, evidence.ReceiptText, evidence.Receipt},
	After: wellFormed,
	Run:   runDIDResolution,
	Codes: slices.Concat([]Code{
		{"did-fallback", "the DID Document is not where did:web puts it, but where publishers put it by mistake",
			"serve it at the URL that the message names"},
	}, did.Codes, fetched),
}

const prefixFix = "set publicKeyMultibase in the DID Document to the value that the message names"

func runDIDResolution(s *Subject) (verdict.Outcome, error) {
	var out verdict.Outcome
	d := s.Facts.DIDDocument
	message, fix := s.Listing.ToolDID+": "+located(d),
		"serve the DID Document with status 200 over https: its id is "+s.Listing.ToolDID+
			", with at least one Ed25519 key and no private key"
	if parsed, err := did.Parse(s.Listing.ToolDID); err == nil && d.State == evidence.Invalid &&
		parsed.Spelling() != s.Listing.ToolDID {
		return deferTo(s, layout.ID, "/tool_did", "did-spelling", message), nil
	}
	if len(d.From) > 0 {
		fix = documentFix("tool_did", d.From[0].Target, d, evidence.MaxDIDDocument, fix)
	}
	fix = s.didFix(fix)
	switch d.Code {
	case evidence.CodeDIDSyntax:
		message, fix = d.Message, "use a did:web with a DNS name, such as did:web:agent.example, or the did:key of an "+
			"Ed25519 key"
	case did.CodeKeysOver, did.CodeDeactivated:
		fix = "put a key into the DID Document that is neither revoked nor expired, sign a new Receipt by it, " +
			"and pin that in a re-issue"
	case did.CodePrivateKey:
		fix = "make a new key: this one is burned; serve a DID Document with only the new public key, and " +
			"sign a new Receipt with it"
	case did.CodeWeakKey, did.CodePublished:
		fix = "make a new key with oap-gate key new FILE, publish its public part instead of the key that the " +
			"message names, and sign a new Receipt with it"
	case did.CodePrefix:
		fix = prefixFix
	case did.CodeNoKey:
		fix = "correct the keys that the message names, or add the verificationMethod that " +
			"oap-gate key show FILE prints"
	}
	if report(&out, s, "/tool_did", d, message, fix) != nil {
		return out, nil
	}
	if s.Facts.DIDFallback != "" {
		out.Warnf(s, "/tool_did", "did-fallback", "the DID's own URL answers 404; the document was found at %s",
			s.Facts.DIDFallback).
			WithFix("serve it where the did:web method says: %s", d.From[0].Target)
	}
	if keys := d.Value.Unprefixed; len(keys) > 0 {
		out.Warnf(s, "/tool_did", did.CodePrefix, "the DID Document has %s that no reader can use: %s",
			plain.Count(len(keys), "key"), keys[0]).
			WithFix(prefixFix)
	}
	if len(out.Findings) == 0 {
		out.Verified = plain.Count(len(d.Value.Keys), "Ed25519 key")
	}
	return out.OrPass(), nil
}
