package checks

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/did"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/manifest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/receipt"
)

// independence finds what L5 asks of a witness beyond L4: a domain of its own, a declared publisher, and for
// the reference server a witness of its own.
func independence(s *Subject, w *witness, known *evidence.Witness, id string) error {
	m := known.Manifest
	switch {
	case w.dependence != "":
	case m.State.Open():
		w.doubt, w.may = "its Manifest could not be fetched: "+located(m), m.Retry(s.Run.Now)
	case m.State != evidence.Obtained:
		w.dependence = "its Manifest: " + located(m)
	case !did.Same(m.Value.ToolDID, id):
		w.dependence = fmt.Sprintf("its Manifest's tool.did is %q", plain.Cut(m.Value.ToolDID, 200))
	case m.Value.Unnamed() != "":
		w.dependence = "its Manifest " + m.Value.Unnamed()
	default:
		w.publishedBy(s, m.Value)
	}
	if w.dependence != "" || m.State == evidence.Unsought {
		return nil
	}
	if len(known.Receipt.Value.PeerWitnesses) > 0 {
		if was, err := s.wasReferenceServer(id); err != nil || !was {
			return err
		}
	}
	w.witnessed(known, s.Run.Now)
	return nil
}

// publishedBy notes the Manifest that names the publisher, nil if none was obtained.
func (w *witness) publishedBy(s *Subject, m *manifest.Manifest) {
	if w.publisher = m; m != nil {
		w.published, _ = s.Run.Base.Policy.Suffixes.Registrable(webHost(m.Publisher.DID))
	}
}

// witnessed checks that the reference server, which may have been admitted under the bootstrap rule, has a witness by
// now.
func (w *witness) witnessed(known *evidence.Witness, now time.Time) {
	own := known.Receipt.Value
	doubt, may := "", evidence.Retry{}
	for _, p := range own.PeerWitnesses {
		peer := known.Witnesses[p.DID]
		if peer == nil || p.Alg != "EdDSA" || did.Alike(p.DID, w.did) {
			continue
		}
		switch how, why, later := documents(peer, now); {
		case how == unsure:
			doubt, may = "its own witness "+p.DID+": "+why, later
		case how == counts:
			v := receipt.VerifyImplementation(peer.Receipt.Value, peer.DIDDocument.Value, p.DID)
			if v.Verified() && own.WitnessedBy(v.Keys, p.Signature) {
				return
			}
		}
	}
	if doubt != "" {
		w.doubt, w.may = doubt, may
		return
	}
	w.dependence = "its own Receipt carries no witness that verifies, as only the reference server's may, so it " +
		"counts for L4 only"
}

// shareKey reports whether two DID Documents have a key in common, usable or over, of whatever type. They are compared
// as sets: each may have hundreds.
func shareKey(a, b []string) bool {
	set := make(map[string]bool, len(b))
	for _, k := range b {
		set[k] = true
	}
	return slices.ContainsFunc(a, func(k string) bool { return set[k] })
}

// dependent returns what two witnesses share, or "" if they are independent of one another.
func dependent(a, b *witness) string {
	if why := related(a, b); why != "" {
		return why
	}
	if shareKey(a.material, b.material) {
		return "they share a key"
	}
	if a.publisher != nil && b.publisher != nil {
		if is, why := a.publisher.SamePublisher(b.publisher); is {
			return "they share a publisher: " + why
		}
	}
	return cmp.Or(publishes(a, b), publishes(b, a))
}

// publishes returns how the publisher of one witness is another one, or in the registrable domain of that or of its
// publisher; "" if it is not. A witness may publish itself.
func publishes(a, b *witness) string {
	if a.publisher == nil {
		return ""
	}
	by, domain := a.publisher.Publisher.DID, a.published.Registrable
	switch {
	case did.Alike(by, b.did):
		return fmt.Sprintf("%s is published by %s", a.did, b.did)
	case domain != "" && (domain == b.domain.Registrable || domain == b.published.Registrable):
		return fmt.Sprintf("the publisher %s of %s is in %s, the domain of %s or of its publisher", plain.Cut(by, 200),
			a.did, domain, b.did)
	}
	return ""
}

// related returns what the DIDs of two witnesses have in common, whatever their documents say.
func related(a, b *witness) string {
	switch {
	case did.Alike(a.did, b.did):
		return "they are one DID"
	case a.domain.ICANN != "" && a.domain.ICANN == b.domain.ICANN:
		return "both are under " + a.domain.ICANN
	}
	return ""
}

// quorum is how many pairwise independent witnesses L5 and a forced revocation need.
const quorum = 3

// tally returns the largest number of pairwise independent witnesses, at most quorum: sure counts those that count,
// possible also those that may count. In an audit two that share a key or a publisher today may have been independent
// when the record was merged: else one witness could undo what it signed.
func tally(all []witness, audit bool) (sure, possible int) {
	var yes, maybe []*witness
	for i := range all {
		w := &all[i]
		if w.dependence != "" || w.weight == broken || w.weight == ignored {
			continue
		}
		if w.weight == counts && w.doubt == "" {
			yes = append(yes, w)
		}
		maybe = append(maybe, w)
	}
	shared := dependent
	if audit {
		shared = related
	}
	return independentSet(yes, dependent), independentSet(maybe, shared)
}

func independentSet(of []*witness, compare func(a, b *witness) string) int {
	type pair struct{ a, b *witness }
	compared := map[pair]string{}
	shared := func(a, b *witness) string { // once for each pair
		why, known := compared[pair{a, b}]
		if !known {
			why = compare(a, b)
			compared[pair{a, b}] = why
		}
		return why
	}
	best := min(len(of), 1)
	for i := range of {
		for j := i + 1; j < len(of); j++ {
			if shared(of[i], of[j]) != "" {
				continue
			}
			best = max(best, 2)
			for k := j + 1; k < len(of); k++ {
				if shared(of[i], of[k]) == "" && shared(of[j], of[k]) == "" {
					return quorum
				}
			}
		}
	}
	return best
}
