package authorcmd

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/openagentprotocol-OAP/oap-gate/checks"
	"github.com/openagentprotocol-OAP/oap-gate/internal/author/listing"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/foreign"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/frame"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/did"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/level"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/receipt"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/signing"
	"github.com/openagentprotocol-OAP/oap-gate/internal/report"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict/schema"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verify"
)

// witnessOptions are the flags of witness.
type witnessOptions struct {
	recordFlags
	keyFlags
	signedFile
	did   string
	tests string
}

func NewWitness(sys frame.IO) *cobra.Command {
	var o witnessOptions
	c := &cobra.Command{
		Use:   "witness SUBJECT",
		Short: "sign a Receipt or a forced revocation as a peer witness",
		Long: strings.TrimSpace(`
witness verifies SUBJECT and signs it by a key of DID, which must be listed in the clone at L4 or L5. SUBJECT is an
implementation (https://host, did:web:host, or its slug), the file of its Receipt, or the file of a revocation.

By RFC 0019 section 7.1 a witness of a Receipt attests two things: that the Receipt's own parts fit together, and that
the witness executed the tests of the level against the live deployment. witness verifies the first and prints what it
did about each part; if the results at results_uri differ, it refuses. No program can know the second:
--tests-executed states it, with the SHA-256 of the Receipt that was tested.

The entry is printed. --out writes SUBJECT with the entry in it to a new file, --in-place to SUBJECT itself; every
other byte stays. A candidate publishes that file and pins it again.`),
		Example: `  oap-gate witness https://tool.example --did did:web:witness.example \
    --key ~/oap.pem --tests-executed SHA256
  oap-gate witness receipt.json --did did:web:witness.example \
    --key ~/oap.pem --tests-executed SHA256 --out signed.json
  oap-gate witness revocations/bad-agent-HASH.json \
    --did did:web:witness.example --key ~/oap.pem --in-place`,
		Args: frame.Wants(1, "oap-gate witness SUBJECT --did DID --key FILE", "witness requires one SUBJECT"),
		RunE: func(c *cobra.Command, args []string) error {
			if err := o.check(); err != nil {
				return err
			}
			return o.run(c.Context(), sys, args[0])
		},
	}
	f := c.Flags()
	frame.BindRepo(c, &o.repo)
	f.StringVar(&o.base, "base", "", "commit `REV` to land on; it decides who is listed (default: as check chooses it)")
	o.Network.Bind(f, "5m")
	o.Network.BindLocal(f)
	o.keyFlags.bind(c)
	f.StringVar(&o.did, "did", "", "`DID` of the implementation; the witness")
	f.StringVar(&o.tests, "tests-executed", "",
		"`SHA256` of the Receipt against whose deployment the witness has executed the tests")
	o.signedFile.bind(c, "SUBJECT", "the entry")
	f.BoolVar(&o.dryRun, "dry-run", false, "change nothing; print SUBJECT with the entry")
	return c
}

func (o *witnessOptions) check() error {
	switch {
	case o.key == "":
		return remedy.Errorf("name the file of the witness's private key with --key",
			"witness requires a key to sign with")
	case o.did == "":
		return remedy.Errorf("name the witness with --did", "witness requires the DID that signs")
	case o.dryRun && o.given():
		return remedy.Errorf("leave --dry-run out, or --out and --in-place", "--dry-run writes no file")
	case o.Offline:
		return remedy.Errorf("leave --offline out",
			"witness fetches what it verifies, and --offline forbids it")
	case len(o.Local()) > 0 && !o.dryRun:
		return remedy.Errorf("add --dry-run", "a witness attests a live deployment, and --local reads a directory")
	case o.Record != "":
		return remedy.Errorf("leave it out; oap-gate verify keeps one", "witness keeps no bundle: --record %q",
			o.Record)
	}
	if d, err := did.Parse(o.did); err != nil || d.Method != "web" {
		return remedy.Errorf("write it like did:web:witness.example",
			"--did %q is not a did:web, which a witness has (RFC 0019 section 7.1)", o.did)
	}
	return cmp.Or(o.signedFile.check(), o.Network.Check())
}

func (o *witnessOptions) run(ctx context.Context, sys frame.IO, name string) error {
	s, err := readSubject(name)
	if err != nil {
		return err
	}
	if s.text == nil && o.inPlace {
		return remedy.Errorf("use --out FILE", "--in-place overwrites a file, and %q is not a file", name)
	}
	key, err := readKey(sys, o.key)
	if err != nil {
		return err
	}
	defer key.Wipe()
	w, err := o.look(ctx, sys)
	if err != nil {
		return err
	}
	defer w.close()
	st, err := w.standing(ctx)
	if err != nil {
		return err
	}
	if s.revocation {
		return o.witnessRevocation(ctx, sys, w, st, key, s)
	}
	return o.witnessReceipt(ctx, sys, w, st, key, s)
}

// witnessed is what is to be witnessed.
type witnessed struct {
	name       string
	text       []byte // content of the file, read once; nil: name is a target
	revocation bool
}

// witnessForms are those of SUBJECT.
const witnessForms = verify.Addresses + ", or the slug of a listing in the clone; " +
	"or " + subjectFile

const subjectFile = "name the file of a Receipt or a revocation"

// readSubject reads SUBJECT where it is a file, which must be either a Receipt or a revocation.
func readSubject(name string) (*witnessed, error) {
	s := &witnessed{name: name}
	if _, err := os.Lstat(name); err != nil {
		if _, err := verify.ParseTarget(name, true); err != nil {
			return nil, remedy.Errorf(witnessForms, "%q is neither a file nor a target", name)
		}
		return s, nil
	}
	var err error
	if s.text, err = readPlain(name); err != nil {
		return nil, remedy.With(err, subjectFile)
	}
	root, err := rootOf(name, s.text)
	if err != nil {
		return nil, err
	}
	isReceipt := len(schema.Builtin("receipt").Validate(root)) == 0
	s.revocation = len(schema.Builtin("revocation").Validate(root)) == 0
	switch {
	case isReceipt:
		return s, unambiguous(name, root)
	case !s.revocation:
		return nil, refusef("oap-gate schema receipt and oap-gate schema revocation print the schemas",
			"%s is neither a Receipt nor a revocation with its signature", name)
	}
	return s, nil
}

// rootOf decodes the text of a Receipt or a revocation.
func rootOf(name string, text []byte) (any, error) {
	limits := strict.Remote(receipt.MaxBytes)
	limits.Values = 0
	doc, err := strict.Parse(name, text, limits)
	if err != nil {
		return nil, remedy.With(err, subjectFile)
	}
	return doc.Root, nil
}

// The codes of what witness refuses.
const (
	codeIsReceipt     = "revocation-is-receipt"
	codeResultsDiffer = "results-differ"
)

// unambiguous refuses a Receipt with members of a revocation: a witness signs all of it but its peer_witnesses, and a
// revocation with the same members would be signed too.
func unambiguous(name string, root any) error {
	found := slices.DeleteFunc(slices.Clone(schema.Builtin("revocation").Members()),
		func(member string) bool { return !hasMember(root, member) })
	if len(found) == 0 {
		return nil
	}
	return refuseCode(codeIsReceipt, "have the implementation sign a Receipt without "+strings.Join(found, ", "),
		"%s is a Receipt with members of a revocation: %s", name, strings.Join(found, ", "))
}

// hasMember reports whether an object has a member, which may be null.
func hasMember(root any, name string) bool {
	object, _ := root.(map[string]any)
	_, there := object[name]
	return there
}

// witnessReceipt signs a candidate's Receipt.
func (o *witnessOptions) witnessReceipt(ctx context.Context, sys frame.IO, w *workspace, st *checks.Standing,
	key *signing.Key, s *witnessed) error {
	c, err := o.candidate(ctx, sys, w, st, s)
	if err != nil {
		return err
	}
	if c.root, err = rootOf(s.name, c.text); err != nil {
		return err
	}
	if err := unambiguous(s.name, c.root); err != nil {
		return err
	}
	found, err := c.verify(ctx, c.text)
	if err != nil {
		return err
	}
	if err := o.verified(sys, found); err != nil {
		return err
	}
	r := found.Facts.Receipt.Value
	by, err := w.witness(ctx, st, o.did, "witness the Receipt")
	if err != nil {
		return err
	}
	own, err := st.Listing(ctx, by)
	if err != nil {
		return err
	}
	id := own.ToolDID // in the listing's spelling
	if err := mayWitness(r, id); err != nil {
		return err
	}
	if _, _, err := o.methodOf(ctx, w.src, id, key); err != nil {
		return err
	}
	// All that is asked of the witness but the signature is known before there is one.
	entryOf := func(text string) []byte { // an element of peer_witnesses
		return object("witness_did", id, "witness_receipt_uri", own.ReceiptURI, "alg", "EdDSA", "signature", text,
			"witnessed_at", stampSeconds(w.src.Now()))
	}
	entry := entryOf(base64.RawURLEncoding.EncodeToString(make([]byte, 64)))
	if err := o.counts(ctx, sys, c, entry, false); err != nil {
		return err
	}
	hash := plain.SHA256(c.text)
	parts, err := o.parts(ctx, w, st, c, found)
	if err != nil {
		return err
	}
	if err := showReceipt(sys, r, c.root, hash, parts); err != nil {
		return err
	}
	if o.tests != hash {
		problem := "--tests-executed is " + o.tests + ", and the Receipt has the SHA-256 " + hash
		if o.tests == "" {
			problem = "nothing says that " + id + " executed the tests: a signature would attest what nobody did"
		}
		return remedy.Errorf("execute the tests of "+plainLevels(
			r)+" against "+r.TargetURI+", then give --tests-executed "+hash, "%s", problem)
	}
	message, err := r.WitnessedBytes()
	if err != nil {
		return err
	}
	text, err := key.Sign(message)
	if err != nil {
		return err
	}
	key.Wipe()
	entry = entryOf(text)
	if err := o.counts(ctx, sys, c, entry, true); err != nil {
		return err
	}
	signed, err := listing.Append(c.text, "peer_witnesses", entry)
	if err != nil {
		return err
	}
	// What was signed is what will be served.
	after, err := receipt.Parse(s.name, signed)
	if err != nil {
		return refusef("have the candidate attest again with a smaller Receipt", "with the entry it cannot be read: %v",
			err)
	}
	if again, err := after.WitnessedBytes(); err != nil || !bytes.Equal(again, message) {
		return errors.Join(err,
			errors.New("the Receipt with the entry is another Receipt, which is a bug; nothing was written"))
	}
	if err := o.put(sys, s, text, entry, signed); err != nil {
		return err
	}
	if o.given() {
		next := fmt.Sprintf("%s: publish it, and pin it again: sha256 %x", foreign.Line(r.ImplementationDID),
			sha256.Sum256(signed))
		fmt.Fprintln(sys.Stderr, "\n"+report.Hang("next, by ", next, 2, report.Columns))
	}
	return nil
}

// mayWitness refuses a Receipt that needs no further witness, and a witness that has signed already.
func mayWitness(r *receipt.Receipt, id string) error {
	switch {
	case !slices.ContainsFunc(r.ClaimedLevels, func(l level.Level) bool { return l.Base() >= 4 }):
		return refusef("witness Receipts that claim L4 or L5",
			"the Receipt claims %s, for which no peer witness is asked", plainLevels(r))
	case r.PeerWitnessCount >= receipt.MaxWitnesses:
		return refusef("have entries removed that do not count",
			"the Receipt has %d peer witnesses, at most %d are read", r.PeerWitnessCount, receipt.MaxWitnesses)
	case slices.ContainsFunc(r.PeerWitnesses, func(p receipt.PeerWitness) bool { return did.Alike(p.DID, id) }):
		return refusef("none needed, or have that entry removed first", "%s has signed the Receipt already", id)
	}
	return nil
}

// verified refuses a candidate if a step fails that does not depend on its witnesses.
func (o *witnessOptions) verified(sys frame.IO, found *verify.Result) error {
	return o.refuseSteps(sys, found, "the candidate does not verify", "whether the candidate verifies was not decided",
		func(s verify.Step) bool { return s.Step != "peer-witnesses" && s.Step != "registry-anchor" })
}

// errUnweighed means that a bug kept an entry from being weighed.
var errUnweighed = errors.New("the entry was not weighed, which is a bug; nothing was written")

// counts refuses an entry that would count at no level of the Receipt, were it the only one. Before it is signed, its
// signature need not verify; afterwards counts warns of what the signature is not worth.
func (o *witnessOptions) counts(ctx context.Context, sys frame.IO, c *candidate, entry []byte, signed bool) error {
	alone, err := listing.Drop(c.text, "peer_witnesses")
	if err == nil {
		alone, err = listing.Append(alone, "peer_witnesses", entry)
	}
	if err != nil {
		return err
	}
	found, err := c.verify(ctx, alone)
	if err != nil {
		return err
	}
	var refused *checks.Witnessing
	counted := false
	for _, s := range found.Candidates {
		all, err := s.Witnessing()
		if err != nil {
			return err
		}
		if len(all) != 1 {
			return errUnweighed
		}
		is := all[0]
		switch {
		case is.Open:
			return inconclusivef(is.May.Fix, "whether the signature would count was not decided: %s [%s]", is.Why,
				checks.WitnessOpen)
		case is.Counts && is.Near != "" && signed:
			frame.Warn(sys, "the witness shares the domain %s with the candidate", is.Near)
		case !is.Counts && (signed || !is.Unsigned):
			refused = &is
			continue
		}
		counted = true
	}
	switch {
	case refused == nil && !counted:
		return errUnweighed
	case !counted:
		return refusef(anotherWitness+refused.Code, "the signature would not count: %s [%s]", refused.Why, refused.Code)
	case refused != nil && signed:
		frame.Warn(sys, "the signature does not count towards L5: %s", refused.Why)
	}
	return nil
}

func plainLevels(r *receipt.Receipt) string {
	var all []string
	for _, l := range r.ClaimedLevels {
		all = append(all, string(l))
	}
	return strings.Join(all, ", ")
}

// put prints the entry, and writes the subject with it where that is asked for. A dry run shows no signature.
func (o *witnessOptions) put(sys frame.IO, s *witnessed, signature string, entry, signed []byte) error {
	if o.dryRun {
		signed = bytes.ReplaceAll(signed, []byte(signature), []byte("not signed: --dry-run"))
		_, err := sys.Stdout.Write(foreign.JSON(signed))
		reportTrial(sys, o.Local())
		return err
	}
	if o.given() {
		to, err := o.write(s.name, s.text, signed)
		if err != nil {
			return err
		}
		fmt.Fprintf(sys.Stderr, "written: %s\n", foreign.Line(to))
	}
	_, err := sys.Stdout.Write(append(entry, '\n'))
	return err
}
