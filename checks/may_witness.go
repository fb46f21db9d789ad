package checks

import (
	"fmt"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/checks/internal/listed"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/did"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// voucher is a listing of a DID, as it was asked for.
type voucher struct {
	*Listed
	is *State
	by *Moment // tree and time of its state
	// revoked is what revoked the Receipt since then for a reason that takes its signatures away; nil: nothing.
	revoked *revokedFile
}

// asked returns a listing of the base tree, and its state if the range landed; with then, the listing that its path had
// then. It returns nil if that is not a listing of the DID.
func (r *Run) asked(l *Listed, id string, then *Moment) (v *voucher, err error) {
	v = &voucher{Listed: l, by: then}
	if then == nil {
		v.by = r.present()
	} else if was, err := then.Tree.Listing(r.Context, l.Path); err != nil || was == nil {
		return nil, err
	} else {
		v.Listed = listed.New(l.Path, was)
	}
	if !did.Same(v.ToolDID, id) {
		return nil, nil
	}
	if then == nil {
		v.is, err = r.landingState(v.Listed)
	} else {
		v.is, err = r.state(v.Listed, unjudged, r.past(), then)
	}
	return v, err
}

// MayWitness returns the listing by which a DID may witness now: the base tree's, valid or expiring, at L4 or L5, which
// the range does not revoke. If no such listing exists, it returns a code and the reason; the code is WitnessOpen if
// that cannot be known.
func (r *Run) MayWitness(id string) (v *voucher, code, why string, err error) {
	return (&Subject{Run: r}).mayWitness(id, nil)
}

// mayWitness is MayWitness, with then for a merged record. Listings keep path and DID, so those of today lead to those
// of then.
func (s *Subject) mayWitness(id string, then *Moment) (v *voucher, code, why string, err error) {
	code, why = "witness-not-listed", "the base tree has no listing of it"
	for _, l := range s.Run.Base.ByDID(id) {
		v, err := s.Run.asked(l, id, then)
		if err != nil {
			return nil, "", "", err
		}
		if v == nil {
			why = fmt.Sprintf("the base tree lists it as %q", l.ToolDID)
			continue
		}
		if code, why = mayNot(v.Listed, v.is); code != "" {
			continue // another listing of the DID, which is refused or revoked, does not end this one
		}
		if then != nil {
			if s.Listing == nil {
				return v, "", "", nil // a merged revocation stays in force
			}
			v.revoked, err = s.Run.past().revokedBy(s.Run.Context, id, strings.ToLower(v.ReceiptSHA256), v.Issued,
				asOf{cause: true})
			if err != nil || v.revoked != nil {
				return v, "", "", err
			}
		}
		if open, err := s.Run.open(v.Listed); open != "" || err != nil {
			return nil, WitnessOpen, open, err
		}
		return v, "", "", nil
	}
	return nil, code, why, nil
}

// open says why it is not known whether a listing is revoked; empty if it is known.
func (r *Run) open(l *Listed) (string, error) {
	unreadable, err := r.Unreadable(map[string]bool{listed.SlugOf(l.Path): true})
	if err != nil || len(unreadable) == 0 {
		return "", err
	}
	return plain.Cut(unreadable[0], 300) + " cannot be read at the head and may be about it, until a pull request to " +
		"the registry removes or restores it", nil
}

// mayNot returns why a listing in this state may not witness; the code is empty if it may.
func mayNot(l *Listed, is *State) (code, why string) {
	switch {
	case is.Status == verdict.StatusRefused:
		return "witness-not-listed", fmt.Sprintf("its listing %s %s", plain.Cut(l.Path, 300), is.Why)
	case l.Level.Base() < 4:
		return "witness-not-listed", fmt.Sprintf("its listing %s is at %s, a witness is at L4 or L5", l.Path, l.Level)
	case is.Status == verdict.StatusProvisional:
		return "witness-provisional", fmt.Sprintf("its listing %s is provisional", l.Path)
	case is.Status == verdict.StatusExpired:
		return "witness-expired", fmt.Sprintf("its listing %s expired on %s", l.Path, stamp(l.Expires))
	case is.Status == verdict.StatusRevoked:
		return codeWitnessRevoked, "its Receipt is revoked by " + plain.Cut(is.RevokedBy, 300)
	case webHost(l.ToolDID) == "":
		return "witness-not-web", "it is not a did:web (RFC 0019 section 7.1)"
	}
	return "", ""
}

// vouches finds the listing by which a DID may witness for the record: now, or when its witnesses were judged.
func (s *Subject) vouches(id string) (v *voucher, code, why string, err error) {
	v, code, why, err = s.mayWitness(id, nil)
	if v == nil && err == nil && s.Witnessed != nil {
		if then, open, may, err := s.mayWitness(id, s.Witnessed); then != nil || open == WitnessOpen || err != nil {
			return then, open, may, err
		}
	}
	return v, code, why, err
}

// witnessListing returns the whole listing by which a DID may witness for the record, or nil if it may not.
func (s *Subject) witnessListing(id string) (*registry.Listing, error) {
	v, _, _, err := s.vouches(id)
	if v == nil || v.revoked != nil || err != nil {
		return nil, err
	}
	return v.by.Tree.Listing(s.Run.Context, v.Path)
}
