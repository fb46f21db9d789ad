package receipt

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/did"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/signature"
)

// MaxSignatures is how many signatures of one DID are verified; a Receipt needs one.
const MaxSignatures = 16

// maxHashed is how many bytes are hashed for the signatures of one DID on one Receipt: Ed25519 hashes the whole text
// for each key that is tried, and neither the keys of a document nor the signatures on a Receipt are few where somebody
// means harm. It lets one signature be tried by every key that a document can hold, in both forms. A try costs at least
// tryCost, about what the arithmetic on the curve takes.
const (
	maxHashed = 2 * (did.MaxKeys + 1) * (MaxBytes + tryCost)
	tryCost   = 32 << 10
)

// errHashed says for people that maxHashed is spent.
const errHashed = "too many keys were tried on so large a Receipt: name the key in by, and keep the Receipt small"

// eddsa is the one algorithm whose signatures count.
const eddsa = "EdDSA"

// Verification is what the signatures of one DID on a Receipt are worth.
type Verification struct {
	// Keys are those under which a signature verifies, in the order of the signatures; none: not signed.
	Keys []did.Key
	// By, Key, Mismatch, Assertion and WithoutAnchor are of the first signature that verifies.
	By            string // as the entry has it
	Key           string // id of the key
	Mismatch      bool   // By does not name Key
	Assertion     bool   // Key is in assertionMethod, or the document has no such member
	WithoutAnchor bool   // it covers the Receipt without registry_anchor
	// Unverified are the EdDSA signatures of the DID that verify under no key of its document.
	Unverified []Unverified
}

// Unverified is a signature that does not verify, and why.
type Unverified struct{ By, Why string }

// Verified reports whether a signature verifies.
func (v Verification) Verified() bool { return len(v.Keys) > 0 }

// Form says for people which bytes the first signature that verifies covers.
func (v Verification) Form() string {
	if v.WithoutAnchor {
		return "the canonical JSON without signatures, peer_witnesses and registry_anchor"
	}
	return "the canonical JSON without signatures and peer_witnesses"
}

// VerifyImplementation verifies the EdDSA signatures of toolDID, whose document is d, on r: those whose by
// is the DID in whatever spelling, the DID with a fragment, or only a fragment. Signatures of others and of other
// algorithms are skipped.
func VerifyImplementation(r *Receipt, d *did.Document, toolDID string) Verification {
	return verifyOnce(r, d, "implementation "+toolDID, func(by string) bool {
		before, _, found := strings.Cut(by, "#")
		return did.Same(before, toolDID) || found && before == ""
	})
}

// VerifyCosigner reports whether a signature of the DID, whose document is doc, verifies over the bytes that
// the implementation signs (RFC 0026 section 10). Its by must name the DID.
func VerifyCosigner(r *Receipt, id string, doc *did.Document) bool {
	return verifyOnce(r, doc, "cosigner "+id, func(by string) bool {
		before, _, _ := strings.Cut(by, "#")
		return did.Same(before, id)
	}).Verified()
}

// WitnessedBy reports whether text is a peer witness's signature on r by one of keys.
func (r *Receipt) WitnessedBy(keys []did.Key, text string) bool {
	return remembered(r, "witnessed "+digest(keys)+" "+text, func(bool) int { return len(text) }, func() bool {
		message, err := r.WitnessedBytes()
		return err == nil && VerifyBy(keys, message, text)
	})
}

// verifyOnce is verify, once for each text of a Receipt and DID Document; whose names the DID and how mine knows it.
func verifyOnce(r *Receipt, d *did.Document, whose string, mine func(by string) bool) Verification {
	weigh := func(v Verification) int { return len(whose) + 200*len(v.Keys) + 500*len(v.Unverified) }
	v := remembered(r, whose+" "+digest(d), weigh, func() Verification { return verify(r, d, mine) })
	v.Keys, v.Unverified = slices.Clone(v.Keys), slices.Clone(v.Unverified)
	return v
}

// digest returns a text that is equal for equal keys with equal attributes.
func digest(keys any) string {
	text, err := json.Marshal(keys)
	if err != nil {
		panic(err) // strings, bytes and flags
	}
	return plain.SHA256(text)
}

func verify(r *Receipt, d *did.Document, mine func(by string) bool) Verification {
	var v Verification
	forms, err := r.forms()
	own, left := 0, maxHashed
	for _, s := range r.Signatures {
		if s.Alg != eddsa || !mine(s.By) {
			continue
		}
		own++
		switch {
		case err != nil:
			v.Unverified = append(v.Unverified, Unverified{s.By, err.Error()})
			continue
		case own > MaxSignatures:
			v.Unverified = append(v.Unverified,
				Unverified{s.By, fmt.Sprintf("more than %d signatures of one DID are not looked at", MaxSignatures)})
			return v
		}
		f, why := find(s, d, forms, &left)
		if why != "" {
			v.Unverified = append(v.Unverified, Unverified{s.By, why})
			continue
		}
		if !v.Verified() {
			v.By, v.Key, v.WithoutAnchor = s.By, f.key.ID, f.withoutAnchor
			v.Mismatch = f.mismatch
			v.Assertion = f.key.Assertion || !d.HasAssertion
		}
		v.Keys = append(v.Keys, f.key)
	}
	return v
}

// VerifyBy reports whether text is an Ed25519 signature of message by one of keys.
func VerifyBy(keys []did.Key, message []byte, text string) bool {
	raw, err := signature.Text(text)
	left := maxHashed
	return err == nil && slices.ContainsFunc(keys, func(k did.Key) bool {
		left -= tryCost + len(message)
		return left >= 0 && signature.Verify(k.Public, message, raw)
	})
}

// forms returns the texts that a signature may cover, in the order in which they are tried.
func (r *Receipt) forms() ([][]byte, error) {
	whole, err := r.SignedBytes()
	if err != nil {
		return nil, err
	}
	if !r.RegistryAnchor {
		return [][]byte{whole}, nil
	}
	bare, err := r.SignedBytesWithoutAnchor()
	return [][]byte{whole, bare}, err
}

// found is the key by which a signature verifies, and how.
type found struct {
	key           did.Key
	mismatch      bool
	withoutAnchor bool
}

// find tries, on one form after the other, the key that the signature names and then all of the document. It
// says why where none signed.
func find(s Signature, d *did.Document, forms [][]byte, left *int) (found, string) {
	raw, err := signature.Text(s.Value)
	if err == nil {
		err = signature.R(raw)
	}
	if err != nil {
		return found{}, err.Error()
	}
	named, known := d.Key(s.By)
	keys := d.Keys
	if known {
		keys = slices.Concat([]did.Key{named}, d.Keys)
	}
	for i, message := range forms {
		for _, k := range keys {
			if *left -= tryCost + len(message); *left < 0 {
				return found{}, errHashed
			}
			if signature.Verify(k.Public, message, raw) {
				return found{k, !known || k.ID != named.ID, i > 0}, ""
			}
		}
	}
	for _, k := range d.Over {
		if *left -= tryCost + len(forms[0]); *left >= 0 && signature.Verify(k.Public, forms[0], raw) {
			return found{},
				fmt.Sprintf("key %.200q signed it, and is no longer valid (%s): sign a new Receipt, and revoke, "+
					"before retiring a key", k.ID, k.Why)
		}
	}
	if !known {
		return found{}, "no key of the document has that id, and none of the others signed it"
	}
	return found{}, "neither the key that it names nor another of the document signed it"
}
