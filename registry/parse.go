package registry

import (
	"github.com/openagentprotocol-OAP/oap-gate/internal/level"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
)

// root is the value of the record's document, nil where it has none.
func (r *Record) root() any {
	if r == nil || r.Document == nil {
		return nil
	}
	return r.Document.Root
}

// ParseListing reads what r holds as a listing. It never fails: see Listing.
func ParseListing(r *Record) *Listing {
	root := r.root()
	l := &Listing{
		Slug:          strict.String(root, "slug"),
		Name:          strict.String(root, "name"),
		ToolDID:       strict.String(root, "tool_did"),
		ManifestURI:   strict.String(root, "manifest_uri"),
		Level:         level.Level(strict.String(root, "conformance_level")),
		ReceiptURI:    strict.String(root, "conformance_receipt_uri"),
		ReceiptSHA256: strict.String(root, "conformance_receipt_sha256"),
		IssuedAt:      strict.String(root, "issued_at"),
		ExpiresAt:     strict.String(root, "expires_at"),
		Provisional:   strict.Member(root, "provisional") == true,
		NonCommercial: strict.Member(root, "non_commercial") == true,
	}
	l.Issued, _ = strict.Time(l.IssuedAt)
	l.Expires, _ = strict.Time(l.ExpiresAt)
	return l
}

// ParseRevocation reads what r holds as a revocation. It never fails: what is missing or of another type is
// empty in the result. Elements of peer_witness_signatures that are no objects stay, as empty entries.
func ParseRevocation(r *Record) *Revocation {
	root := r.root()
	v := &Revocation{
		Slug:          strict.String(root, "slug"),
		ReceiptSHA256: strict.String(root, "revoked_receipt_sha256"),
		Reason:        strict.String(root, "reason"),
		RevokedAt:     strict.String(root, "revoked_at"),
		RevokedByDID:  strict.String(root, "revoked_by_did"),
		Signature:     parseSignature(strict.Member(root, "signature")),
		SignatureText: strict.String(root, "signature"),
	}
	v.Revoked, _ = strict.Time(v.RevokedAt)
	entries, _ := strict.Member(root, "peer_witness_signatures").([]any)
	for _, entry := range entries {
		v.Witnesses = append(v.Witnesses, WitnessSignature{
			WitnessDID: strict.String(entry, "witness_did"),
			Signature:  parseSignature(entry),
		})
	}
	return v
}

// ParseAnchor reads what r holds as a workflow anchor. It never fails: what is missing or of another type is
// empty in the result.
func ParseAnchor(r *Record) *Anchor {
	root := r.root()
	a := &Anchor{
		Slug:           strict.String(root, "slug"),
		WorkflowID:     strict.String(root, "workflow_id"),
		CoordinatorDID: strict.String(root, "coordinator_did"),
		FailoverDID:    strict.String(root, "failover_coordinator_did"),
		ReceiptURI:     strict.String(root, "cross_match_receipt_uri"),
		ReceiptSHA256:  strict.String(root, "cross_match_receipt_sha256"),
		AnchoredAt:     strict.String(root, "anchored_at"),
	}
	a.Anchored, _ = strict.Time(a.AnchoredAt)
	return a
}

func parseSignature(v any) Signature {
	return Signature{Alg: strict.String(v, "alg"), Value: strict.String(v, "value"), By: strict.String(v, "by")}
}
