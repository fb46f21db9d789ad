package checks

import (
	"slices"

	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// ChangeKind returns what the path of the subject says about the change: new, renewal, revocation, witness or anchor;
// "mixed" for any other change.
func (s *Subject) ChangeKind() string {
	switch {
	case s.Change.Head == nil:
	case s.Kind == registry.KindListing && s.Added():
		return "new"
	case s.Kind == registry.KindListing:
		return "renewal"
	case s.Kind == registry.KindRevocation && s.Added():
		return "revocation"
	case s.Kind == registry.KindPeerWitness:
		return "witness"
	case s.Kind == registry.KindWorkflowAnchor:
		return "anchor"
	}
	return "mixed"
}

// Routine reports whether the change is one that leaves nothing to decide if every check passes without a warning: a
// listing that is renewed and otherwise the same, or a new revocation by the owner. A revocation that passes with fewer
// witnesses than a forced one needs is signed by a key of the listing's own DID.
func (s *Subject) Routine() bool {
	switch {
	case s.Unchanged() || s.Change.Head == nil || s.Change.Head.Mode != registry.ModeFile:
		return false
	case s.Revocation != nil:
		return s.Added() && len(s.Revocation.Witnesses) < quorum
	case s.Listing == nil || s.baseListing == nil || s.Change.Base.Mode != registry.ModeFile:
		return false
	}
	_, _, changed := s.changedMembers()
	for _, name := range changed {
		if !slices.Contains([]string{"conformance_receipt_sha256", "issued_at", "expires_at"}, name) {
			return false
		}
	}
	before := s.baseListing.Expires
	return !before.IsZero() && s.Listing.Expires.After(before)
}

// changedMembers returns the members of a modified record, now and in the base tree, and the names of those that
// differ.
func (s *Subject) changedMembers() (now, then map[string]any, names []string) {
	now, _ = s.Record.Document.Root.(map[string]any)
	then, _ = s.BaseRecord.Document.Root.(map[string]any)
	return now, then, differingMembers(now, then)
}
