package authorcmd

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/openagentprotocol-OAP/oap-gate/checks"
	"github.com/openagentprotocol-OAP/oap-gate/internal/author"
	"github.com/openagentprotocol-OAP/oap-gate/internal/author/listing"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/foreign"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/typed"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence/sources"
	"github.com/openagentprotocol-OAP/oap-gate/internal/frame"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/did"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/receipt"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/signing"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
)

// revokeOptions are the flags of revoke.
type revokeOptions struct {
	recordFlags
	keyFlags
	reason, sha256, evidenceURI string
	forced, draft               bool
	did, signature              string
}

func NewRevoke(sys frame.IO) *cobra.Command {
	var o revokeOptions
	c := &cobra.Command{
		Use:   "revoke SLUG",
		Short: "write a signed revocation of a listing's Receipt",
		Long: strings.TrimSpace(`
revoke writes revocations/SLUG-SHA256.json for the Receipt that the listing pins, signed by a key of the DID Document
that is served for its tool_did, and judges it as check --worktree would. A revoked Receipt never comes back.

If the key is elsewhere, --draft writes the file without a signature. It prints the path, the bytes to sign and their
SHA-256, each on its own line. --signature then completes the file.

--forced begins a revocation by three independent witnesses that are listed at L4 or L5. --did names the first; the
two others sign the file with oap-gate witness.`),
		Example: `  oap-gate revoke my-agent --reason superseded --key ~/oap.pem
  pass oap-key | oap-gate revoke my-agent --reason key_compromise --key -
  oap-gate revoke my-agent --reason voluntary_withdrawal --draft
  oap-gate revoke my-agent --signature BASE64URL
  oap-gate revoke bad-agent --reason dispute_resolved_against --forced \
    --did did:web:witness.example --key ~/oap.pem`,
		Args: frame.Wants(1, "oap-gate revoke SLUG --reason REASON --key FILE", "revoke requires one SLUG"),
		RunE: func(c *cobra.Command, args []string) error {
			if err := o.check(); err != nil {
				return err
			}
			return o.run(c.Context(), sys, args[0])
		},
	}
	o.recordFlags.bind(c)
	o.keyFlags.bind(c)
	f := c.Flags()
	f.StringVar(&o.reason, "reason", "", "`REASON` of the revocation: "+strings.Join(checks.Reasons, ", "))
	f.StringVar(&o.sha256, "receipt-sha256", "",
		"`HASH` of the Receipt, which the listing pins or once pinned (default: the pinned one)")
	f.StringVar(&o.evidenceURI, "evidence-uri", "", "`URL` of a public account of the reason")
	f.BoolVar(&o.draft, "draft", false, "leave the signature out, and print what is to be signed")
	f.StringVar(&o.signature, "signature", "", "`TEXT` of the signature that completes the draft, base64url or base64")
	f.BoolVar(&o.forced, "forced", false, "begin a revocation by three witnesses")
	f.StringVar(&o.did, "did", "", "`DID` of the implementation; with --forced, the witness who signs")
	return c
}

func (o *revokeOptions) check() error {
	signers := 0
	for _, given := range []bool{o.key != "", o.draft, o.signature != ""} {
		if given {
			signers++
		}
	}
	completes := o.signature != ""
	switch {
	case signers != 1:
		return remedy.Errorf("add --key FILE; --draft is for a key that is elsewhere",
			"revoke requires one of --key, --draft and --signature")
	case o.keyID != "" && o.draft:
		return remedy.Errorf("give it with --signature", "--key-id names the key that signed, and --draft leaves the "+
			"signature out")
	case completes && (o.reason != "" || o.evidenceURI != "" || o.forced || o.did != ""):
		return remedy.Errorf("run revoke SLUG --signature TEXT without them",
			"--signature completes a draft, which says the rest: reason, evidence and who revokes")
	case !completes && !slices.Contains(checks.Reasons, o.reason):
		return remedy.Errorf("use one of "+strings.Join(checks.Reasons, ", "), "--reason %q is not a known reason",
			o.reason)
	case o.forced != (o.did != ""):
		return remedy.Errorf("give both, or neither",
			"--forced and --did go together: the DID is that of the first witness")
	case o.sha256 != "" && !plain.IsSHA256(o.sha256):
		return remedy.Errorf("write 64 lower-case hexadecimal digits", "--receipt-sha256 %q is not a SHA-256", o.sha256)
	}
	if u, err := url.Parse(o.evidenceURI); o.evidenceURI != "" && (err != nil || u.User != nil ||
		!sources.IsHTTPS(o.evidenceURI)) { // a user name would remain there for all to read
		return remedy.Errorf("write it like https://tool.example/incident.html",
			"--evidence-uri %q is not an https URL without a user name", typed.Redacted(o.evidenceURI))
	}
	return cmp.Or(checkDID(o.did), o.recordFlags.check())
}

func (o *revokeOptions) run(ctx context.Context, sys frame.IO, slug string) error {
	var key *signing.Key
	if o.key != "" {
		var err error
		if key, err = readKey(sys, o.key); err != nil {
			return err
		}
		defer key.Wipe()
	}
	w, err := o.open(ctx, sys)
	if err != nil {
		return err
	}
	defer w.close()
	st, err := w.standing(ctx)
	if err != nil {
		return err
	}
	slug = listing.SlugOf(strings.TrimPrefix(slug, "./")) // a path will do
	if _, err := listing.Path(slug); err != nil {
		return author.Unwritten(err, "")
	}
	l, err := w.listed(st, slug)
	if err != nil {
		return err
	}
	hash := cmp.Or(o.sha256, l.ReceiptSHA256)
	path, err := listing.RevocationPath(slug, hash)
	if err != nil {
		return refusef("name the Receipt with --receipt-sha256", "the listing pins %q, which is not a SHA-256", hash)
	}
	if standing, err := st.Tree.Leaf(path); err != nil || standing != nil {
		return errors.Join(err, remedy.Errorf("none needed: the revocation is in force",
			"the Receipt is revoked already, by %s", path))
	}
	if o.signature != "" {
		return o.complete(ctx, sys, w, l, slug, path)
	}
	v := revocation{path: path, by: l.ToolDID, root: map[string]any{"slug": slug,
		"revoked_receipt_sha256": hash, "reason": o.reason, "revoked_at": stampSeconds(w.src.Now())}}
	if o.forced {
		if v.by, err = w.revoker(ctx, st, l, slug, o.did); err != nil {
			return err
		}
	}
	v.root["revoked_by_did"] = v.by
	if o.evidenceURI != "" {
		v.root["evidence_uri"] = o.evidenceURI
	}
	if o.draft {
		return o.writeDraft(ctx, sys, w, v)
	}
	if err := o.sign(ctx, sys, w, key, v); err != nil {
		return err
	}
	key.Wipe()
	return o.finish(ctx, sys, w, slug, path, nil, v.text())
}

// sign signs a revocation by a key that the DID Document of the signer holds.
func (o *revokeOptions) sign(ctx context.Context, sys frame.IO, w *workspace, key *signing.Key, v revocation) error {
	by, err := o.method(ctx, sys, w, v.by, key)
	if err != nil {
		return err
	}
	message, err := revocationBytes(v.root)
	if err != nil {
		return err
	}
	text, err := key.Sign(message)
	if err == nil {
		v.add(text, by, o.forced)
	}
	return err
}

// method returns the verification method by which a key signs for a DID.
func (o *revokeOptions) method(ctx context.Context, sys frame.IO, w *workspace, id string, key *signing.Key) (string,
	error) {
	if d, err := did.Parse(id); o.AsksNobody() && (err != nil || d.Method != "key") {
		frame.Warn(sys, "offline: whether the key is one of %s was not looked at", id)
		if o.keyID == "" {
			return "", remedy.Errorf("name it with --key-id", "offline, the key's verification method is not known")
		}
		return o.keyID, nil
	}
	by, doc, err := o.methodOf(ctx, w.src, id, key)
	if doc != nil && err != nil && o.keyID == "" && !o.forced {
		// Never the old key again: a stolen one would be in use once more.
		return "", refusef("sign with a key that did.json has now, or ask three L4 witnesses: oap-gate revoke SLUG "+
			"--forced", "%v", err)
	}
	return by, err
}

// writeDraft writes a revocation without its signature, and prints what must be signed.
func (o *revokeOptions) writeDraft(ctx context.Context, sys frame.IO, w *workspace, v revocation) error {
	text := v.text()
	message, err := revocationBytes(v.root)
	if err != nil {
		return err
	}
	// It is judged with a signature that cannot verify, because it has none yet.
	v.add(base64.RawURLEncoding.EncodeToString(make([]byte, 64)), v.by, false)
	if _, err := o.judgeRevocation(ctx, w, v.path, v.text(), ""); err != nil {
		return err
	}
	if err := o.put(sys, w, v.path, nil, text); err != nil || o.dryRun {
		return err
	}
	path, _, ofClone := w.fromHere(v.path)
	fmt.Fprintf(sys.Stdout, "%s\n%s\n%x\n", foreign.Line(path), message, sha256.Sum256(message))
	fmt.Fprintf(sys.Stderr,
		"stdout has the path, the bytes to sign and their SHA-256; sign the bytes with an Ed25519 key of %s\n",
		foreign.Line(v.by))
	printNext(sys, fmt.Sprintf("oap-gate revoke %s --receipt-sha256 %s --signature BASE64URL%s", v.root["slug"],
		v.root["revoked_receipt_sha256"], ofClone))
	return nil
}

// put writes a file, a new one where was is nil, or prints what it would write.
func (o *revokeOptions) put(sys frame.IO, w *workspace, path string, was, text []byte) error {
	if o.dryRun {
		if _, err := sys.Stdout.Write(foreign.JSON(text)); err != nil {
			return err
		}
		return o.save(w)
	}
	var err error
	if was == nil {
		err = w.tree.Create(path, text)
	} else {
		err = w.tree.Replace(path, was, text)
	}
	if err != nil {
		return author.Unwritten(err, "complete a draft with --signature, or remove the file")
	}
	return nil
}

// complete enters the signature that a draft lacks.
func (o *revokeOptions) complete(ctx context.Context, sys frame.IO, w *workspace, l *checks.Listed, slug,
	path string) error {
	was, err := w.read(ctx, path)
	if errors.Is(err, fs.ErrNotExist) {
		return remedy.Errorf(
			"make it with --draft; a Receipt that the listing once pinned is named by --receipt-sha256",
			"there is no draft %s", path)
	}
	if err != nil {
		return author.Unwritten(err, "")
	}
	doc, err := strict.Parse(path, was, strict.RegistryFile)
	if err != nil {
		return refusef("remove it, and make it again with --draft", "the draft cannot be read: %v", err)
	}
	root, _ := doc.Root.(map[string]any)
	if _, there := root["signature"]; there || root == nil {
		return remedy.Errorf("have witnesses sign it with: oap-gate witness "+path,
			"%s is not a draft without a signature, and nothing is overwritten", path)
	}
	v := revocation{path: path, by: strict.String(root, "revoked_by_did"), root: root}
	o.forced = !did.Same(v.by, l.ToolDID)
	message, err := revocationBytes(v.root)
	if err != nil {
		return refusef("remove it, and make it again with --draft", "the draft has no canonical form: %v", err)
	}
	if o.AsksNobody() {
		return remedy.Errorf("leave --offline out", "whether the signature verifies hangs on the DID Document of %s",
			v.by)
	}
	keys, err := documentOf(ctx, w.src, v.by)
	if err != nil {
		return err
	}
	by := ""
	for _, k := range keys.Keys {
		if receipt.VerifyBy([]did.Key{k}, message, o.signature) {
			by = k.ID
			break
		}
	}
	if k, known := keys.Key(o.keyID); by == "" || o.keyID != "" && (!known || k.ID != by) {
		return refusef(fmt.Sprintf("sign these bytes, of SHA-256 %x: %s", sha256.Sum256(message), message),
			"the signature verifies under no usable key of %s", v.by)
	}
	now, err := listing.Set(was, "signature", object("alg", "EdDSA", "value", o.signature, "by", by))
	if err == nil && o.forced {
		now, err = listing.Append(now, "peer_witness_signatures", object("witness_did", v.by, "alg", "EdDSA", "value",
			o.signature, "by", by))
	}
	if err != nil {
		return err
	}
	return o.finish(ctx, sys, w, slug, path, was, now)
}

// object returns the text of a JSON object, one member a line.
func object(members ...string) []byte {
	text := []byte("{")
	for i := 0; i < len(members); i += 2 {
		if i > 0 {
			text = append(text, ',')
		}
		text = append(append(text, "\n  "...), listing.Quote(members[i])...)
		text = append(append(text, ": "...), listing.Quote(members[i+1])...)
	}
	return append(text, "\n}"...)
}

// finish judges a revocation that is signed, writes it, and prints what follows.
func (o *revokeOptions) finish(ctx context.Context, sys frame.IO, w *workspace, slug, path string, was,
	text []byte) error {
	if o.forced {
		return o.begin(ctx, sys, w, path, was, text)
	}
	rep, err := o.judgeText(ctx, w, path, text)
	if err != nil {
		return err
	}
	if err := o.allow(sys, w, rep, path, "the revocation is not written"); err != nil {
		return err
	}
	if o.dryRun {
		return o.shown(sys, w, string(foreign.JSON(text)), rep)
	}
	if err := o.put(sys, w, path, was, text); err != nil {
		return err
	}
	return o.written(sys, w, proposal{path, "revoke-" + slug, "Revoke " + slug}, rep)
}

// begin writes a revocation that the first of three witnesses has signed. It would not pass yet; refused is one whose
// first entry would never count.
func (o *revokeOptions) begin(ctx context.Context, sys frame.IO, w *workspace, path string, was, text []byte) error {
	if _, err := o.judgeRevocation(ctx, w, path, text, "/peer_witness_signatures/0"); err != nil {
		return err
	}
	if err := o.put(sys, w, path, was, text); err != nil || o.dryRun {
		return err
	}
	path, _, ofClone := w.fromHere(path)
	fmt.Fprintln(sys.Stdout, foreign.Line(path))
	if err := o.save(w); err != nil {
		return err
	}
	fmt.Fprintf(sys.Stderr,
		"1 of 3 witnesses has signed, 2 are missing, and check would fail: it is not run\n\nnext, by each of them:\n"+
			"  oap-gate witness%s %s --did DID --key FILE --in-place\n", foreign.Line(ofClone),
		foreign.Line(plain.ShellWord(path)))
	return nil
}
