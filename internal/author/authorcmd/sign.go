package authorcmd

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/openagentprotocol-OAP/oap-gate/checks"
	"github.com/openagentprotocol-OAP/oap-gate/internal/author/listing"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/frame"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/did"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/receipt"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/receipt/explain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/signing"
	"github.com/openagentprotocol-OAP/oap-gate/internal/report"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict/capped"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict/schema"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// signOptions are the flags of sign.
type signOptions struct {
	frame.Network
	keyFlags
	signedFile
	didDocument string
}

// NewSign returns the command sign.
func NewSign(sys frame.IO) *cobra.Command {
	var o signOptions
	c := &cobra.Command{
		Use:   "sign RECEIPT",
		Short: "sign your own Conformance Receipt",
		Long: strings.TrimSpace(`
sign signs the RFC 8785 canonical JSON of a Receipt without signatures and
peer_witnesses, as the suite's attest.js does. It replaces the entry of the
same key id, keeps every other byte, and verifies the result before it writes.
It refuses (exit status 1, nothing written) a Receipt that violates its schema,
one with peer witnesses, and a key that the DID Document does not have.
The entry is printed; --in-place or --out FILE writes the signed Receipt.`),
		Example: `  oap-gate sign receipt.json --key ~/oap.pem --in-place
  oap-gate sign receipt.json --key ~/oap.pem --did-document did.json --in-place
  pass oap-key | oap-gate sign receipt.json --key - --local nova.example=site`,
		Args: frame.Wants(1, "oap-gate sign RECEIPT --key FILE", "sign requires one RECEIPT"),
		RunE: func(c *cobra.Command, args []string) error {
			if err := o.check(); err != nil {
				return err
			}
			return o.run(c.Context(), sys, args[0])
		},
	}
	f := c.Flags()
	o.keyFlags.bind(c)
	f.StringVar(&o.didDocument, "did-document", "", "`FILE` with the DID Document (default: the served one)")
	o.signedFile.bind(c, "RECEIPT", "the signature")
	o.Network.Bind(f, "1m")
	o.Network.BindLocal(f)
	return c
}

func (o *signOptions) check() error {
	switch {
	case o.key == "":
		return remedy.Errorf("name the file of your private key with --key FILE", "sign requires --key")
	case o.Record != "" || o.Replay != "":
		return remedy.Errorf("run oap-gate verify with them", "sign has no bundle: --record and --replay are not read")
	}
	return cmp.Or(o.signedFile.check(), o.Network.Check())
}

// run signs one Receipt.
func (o *signOptions) run(ctx context.Context, sys frame.IO, name string) error {
	text, r, err := readUnsigned(name)
	if err != nil {
		return err
	}
	key, err := readKey(sys, o.key)
	if err != nil {
		return err
	}
	defer key.Wipe()
	by, doc, err := o.signer(ctx, sys, r.ImplementationDID, key)
	if err != nil {
		return err
	}
	message, err := r.SignedBytes()
	if err != nil {
		return refusef("write numbers and texts that RFC 8785 can spell", "the Receipt has no canonical form: %v", err)
	}
	value, err := key.Sign(message)
	if err != nil {
		return err
	}
	key.Wipe()
	entry := object("by", by, "alg", "EdDSA", "value", value)
	signed, err := replaceSignature(text, r, by, entry)
	if err != nil {
		return err
	}
	if err := verifySigned(name, signed, message, doc); err != nil {
		return err
	}
	if o.given() {
		if _, err := o.write(name, text, signed); err != nil {
			return err
		}
	}
	if _, err := sys.Stdout.Write(append(entry, '\n')); err != nil {
		return err
	}
	o.next(sys, name, r.ImplementationDID)
	return nil
}

// readUnsigned reads a Receipt that may be signed: it violates its schema only in its signatures, and no peer witness
// has signed it.
func readUnsigned(name string) ([]byte, *receipt.Receipt, error) {
	text, err := readPlain(name)
	if err != nil {
		return nil, nil, remedy.With(err, "name the file of your Receipt")
	}
	r, err := receipt.Parse(name, text)
	if err != nil {
		return nil, nil, refusef("write the Receipt as one strict JSON object (RFC 7493)", "%v", err)
	}
	if r.PeerWitnessCount > 0 {
		return nil, nil, refusef("remove peer_witnesses, sign, and have the witnesses sign again",
			"the Receipt has %s, who signed over the present signatures",
			plain.Count(r.PeerWitnessCount, "peer witness"))
	}
	value, err := rootOf(name, text)
	if err != nil {
		return nil, nil, err
	}
	root, _ := value.(map[string]any)
	was, had := root["signatures"]
	if _, isList := was.([]any); had && !isList {
		return nil, nil, refusef("remove the member signatures", "signatures is not an array")
	}
	root["signatures"] = []any{map[string]any{"by": "did:web:a.example#key-1", "alg": "EdDSA",
		"value": base64.RawURLEncoding.EncodeToString(make([]byte, 64))}}
	for _, v := range schema.Builtin("receipt").Validate(root) {
		return nil, nil, refusef("oap-gate schema receipt prints the schema", "the Receipt violates its schema %s", v)
	}
	return text, r, nil
}

// signer returns the verification method by which the key signs for a DID, and the DID Document that has it; nil if
// none was read.
func (o *signOptions) signer(ctx context.Context, sys frame.IO, id string, key *signing.Key) (string, *did.Document,
	error) {
	d, err := did.Parse(id)
	if err != nil {
		return "", nil, refusef("set implementation.did to your DID, such as did:web:nova.example",
			"implementation.did is not a DID: %v", err)
	}
	switch {
	case o.didDocument != "":
		data, err := capped.ReadFile(o.didDocument, did.MaxBytes)
		if err != nil {
			return "", nil, remedy.Errorf("name the file of the DID Document", "reading --did-document: %v", err)
		}
		doc, err := did.ParseDocument(o.didDocument, data, d, o.Now())
		if e, ok := errors.AsType[*did.DocumentError](err); ok && e.Code == did.CodePublished {
			return "", nil, refuseCode(e.Code, otherKey, "reading --did-document: %v", err)
		}
		if err != nil {
			return "", nil, refusef("correct the DID Document: oap-gate key show prints the verificationMethod",
				"reading --did-document: %v", err)
		}
		by, err := o.methodIn(doc, id, key)
		return by, doc, err
	case o.AsksNobody() && d.Method != "key":
		frame.Warn(sys, "offline: the DID Document of %s was not read", id)
		by := cmp.Or(o.keyID, id+"#"+attested)
		if before, _, found := strings.Cut(by, "#"); !found || !did.Same(before, id) {
			return "", nil, refusef("name a method of "+id+", such as "+id+"#key-1",
				"--key-id %q is not a method of %s", by, id)
		}
		return by, nil, nil
	}
	src, stop, err := o.Source(sys, nil)
	if err != nil {
		return "", nil, err
	}
	defer stop()
	return o.methodOf(ctx, src, id, key)
}

// replaceSignature returns the Receipt with the entry. The entry replaces that of the same key id, or is appended.
func replaceSignature(text []byte, r *receipt.Receipt, by string, entry []byte) ([]byte, error) {
	same := func(s receipt.Signature) bool { return s.By == by }
	if i := slices.IndexFunc(r.Signatures, same); i >= 0 && slices.ContainsFunc(r.Signatures[i+1:], same) {
		return nil, refusef("remove the others", "the Receipt has more than one signature by %s", by)
	}
	isOf := func(element []byte) bool {
		doc, err := strict.Parse("", element, strict.Remote(receipt.MaxBytes))
		return err == nil && strict.String(doc.Root, "by") == by
	}
	return listing.ReplaceElement(text, "signatures", isOf, entry)
}

// verifySigned verifies a signed Receipt as check does; doc is nil if no DID Document was read.
func verifySigned(name string, signed, message []byte, doc *did.Document) error {
	r, err := receipt.Parse(name, signed)
	if err != nil {
		return refusef("sign a smaller Receipt", "the signed Receipt cannot be read: %v", err)
	}
	if again, err := r.SignedBytes(); err != nil || string(again) != string(message) {
		return errors.Join(err,
			errors.New("the signed Receipt is another Receipt, which is a bug; nothing was written"))
	}
	for _, v := range r.Violations() {
		return refusef("oap-gate schema receipt prints the schema", "the signed Receipt violates its schema %s", v)
	}
	if doc == nil {
		return nil
	}
	for _, f := range checks.ReceiptSignature(r, doc, r.ImplementationDID, explain.Signature, nil).Findings {
		if f.Severity == verdict.Error {
			return refusef("remove the entries of signatures that do not verify, and sign again", "%s [%s]", f.Message,
				f.Code)
		}
	}
	return nil
}

// next prints the command that follows.
func (o *signOptions) next(sys frame.IO, name, id string) {
	local := report.LocalFlags(o.Local())
	command := "verify " + plain.ShellWord(id) + local + " --without-registry"
	if !o.given() {
		command = "sign " + plain.ShellWord(name) + " --key " + plain.ShellWord(o.key) + local + " --in-place"
	}
	reportTrial(sys, o.Local())
	printNext(sys, "oap-gate "+command)
}
