package authorcmd

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/checks"
	"github.com/openagentprotocol-OAP/oap-gate/internal/author"
	"github.com/openagentprotocol-OAP/oap-gate/internal/author/listing"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/foreign"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/frame"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/did"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/signature"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/signing"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// revoker returns a DID, as its listing spells it, that may sign a listing's revocation as a witness, as far as the
// base tree shows.
func (w *workspace) revoker(ctx context.Context, st *checks.Standing, l *checks.Listed, slug, id string) (string,
	error) {
	if did.Alike(id, l.ToolDID) {
		return "", refusef("run oap-gate revoke "+slug+" without --forced",
			"%s cannot revoke %s: it is the listing's own tool_did", id, slug)
	}
	by, err := w.witness(ctx, st, id, "revoke "+slug)
	if err != nil {
		return "", err
	}
	return by.ToolDID, nil
}

// witness returns the base tree's listing by which a DID may witness; the error says that it cannot do so.
func (w *workspace) witness(ctx context.Context, st *checks.Standing, id, do string) (*checks.Listed, error) {
	run := &checks.Run{Context: ctx, Repo: w.repo, Range: &registry.Range{Base: st.Tree}, Base: st, Now: w.src.Now()}
	by, code, why, err := run.MayWitness(id)
	switch {
	case err != nil:
		return nil, err
	case by != nil:
		return by.Listed, nil
	case code == checks.WitnessOpen:
		return nil, inconclusivef(checks.Restore, "whether %s can %s is not known: %s [%s]", id, do, why, code)
	}
	return nil, refusef(anotherWitness+code, "%s cannot %s: %s [%s]", id, do, why, code)
}

// anotherWitness is the fix of a signature that would not count, before the code that says why.
const anotherWitness = "have another listed witness sign; see: oap-gate explain "

// revocation is one that is being made.
type revocation struct {
	path string
	by   string // the DID that signs
	root map[string]any
}

// revocationBytes returns what the owner or a witness signs.
func revocationBytes(root any) ([]byte, error) {
	return signature.CanonicalWithout(root, "signature", "peer_witness_signatures")
}

func (v *revocation) text() []byte { return listing.Text(registry.KindRevocation, v.root) }

// add enters a signature, for a forced revocation also as the first witness's.
func (v *revocation) add(text, by string, forced bool) {
	v.root["signature"] = map[string]any{"alg": "EdDSA", "value": text, "by": by}
	if forced {
		v.root["peer_witness_signatures"] = []any{
			map[string]any{"witness_did": v.by, "alg": "EdDSA", "value": text, "by": by}}
	}
}

// judgeRevocation refuses a text that the checks would not let pass at that path once the others have signed. A finding
// on the entry at that pointer refuses the text whatever its severity.
func (o *recordFlags) judgeRevocation(ctx context.Context, w *workspace, path string, text []byte,
	entry string) (*verdict.Report, error) {
	rep, err := o.judgeText(ctx, w, path, text)
	if err != nil {
		return nil, err
	}
	var unsure error
	for r := range rep.Results.All() {
		for _, f := range r.Findings {
			own := entry != "" && f.Pointer == entry
			switch {
			case r.Subject != path || f.Value == checks.MoreSignatures:
			case f.Severity == verdict.Doubt, own && f.Value == checks.AnotherTry:
				unsure = inconclusivef(f.Fix, "the revocation is not written: %s: %s [%s]",
					r.Check, f.Message, f.Code)
			case f.Severity == verdict.Error, own:
				return nil, refusef(f.Fix, "the revocation is not written: %s: %s [%s]", r.Check, f.Message, f.Code)
			}
		}
	}
	return rep, unsure
}

// witnessRevocation signs a forced revocation.
func (o *witnessOptions) witnessRevocation(ctx context.Context, sys frame.IO, w *workspace, st *checks.Standing,
	key *signing.Key, s *witnessed) error {
	if o.tests != "" {
		return remedy.Errorf("leave it out", "--tests-executed is for Receipts; nothing is executed for a revocation")
	}
	doc, err := strict.Parse(s.name, s.text, strict.RegistryFile)
	if err != nil {
		return remedy.Errorf("name the file of a revocation", "%v", err)
	}
	v := registry.ParseRevocation(&registry.Record{Document: doc})
	path, err := listing.RevocationPath(v.Slug, v.ReceiptSHA256)
	if err != nil {
		return author.Unwritten(err, "")
	}
	l, err := w.listed(st, v.Slug)
	if err != nil {
		return err
	}
	id, err := w.revoker(ctx, st, l, v.Slug, o.did)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(v.Witnesses, func(e registry.WitnessSignature) bool { return did.Alike(e.WitnessDID, id) }) {
		return refusef("have another witness sign", "%s has signed the revocation already", id)
	}
	fmt.Fprintf(sys.Stderr, "to be witnessed:\n%s", foreign.Lines(string(listing.Text(registry.KindRevocation,
		doc.Root.(map[string]any)))))
	by, _, err := o.methodOf(ctx, w.src, id, key)
	if err != nil {
		return err
	}
	message, err := revocationBytes(doc.Root)
	if err != nil {
		return refusef("have it made again", "the revocation has no canonical form: %v", err)
	}
	text, err := key.Sign(message)
	if err != nil {
		return err
	}
	key.Wipe()
	entry := object("witness_did", id, "alg", "EdDSA", "value", text, "by", by)
	signed, err := listing.Append(s.text, "peer_witness_signatures", entry)
	if err != nil {
		return err
	}
	at := fmt.Sprintf("/peer_witness_signatures/%d", len(v.Witnesses))
	rep, err := o.judgeRevocation(ctx, w, path, signed, at)
	if err != nil {
		return err
	}
	if err := o.put(sys, s, text, entry, signed); err != nil {
		return err
	}
	n := len(v.Witnesses) + 1
	for r := range rep.Results.All() {
		for _, f := range r.Findings { // one on each entry that does not count
			if r.Subject == path && strings.HasPrefix(f.Pointer, "/peer_witness_signatures/") {
				frame.Warn(sys, "%s", f.Message)
				n--
			}
		}
	}
	switch {
	case n < 3 && rep.Verdict.ExitStatus() != 0:
		fmt.Fprintf(sys.Stderr, "\n%d of 3 witnesses have signed, %d are missing\n", n, 3-n)
	default:
		fmt.Fprintf(sys.Stderr, "\n%s signed; next, with the file at %s of the clone:\n  oap-gate check --worktree\n",
			plain.Count(n, "witness")+plain.Plural(n, " has", " have"), path)
	}
	return nil
}
