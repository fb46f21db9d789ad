package authorcmd

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/openagentprotocol-OAP/oap-gate/checks"
	"github.com/openagentprotocol-OAP/oap-gate/docs/schemas"
	"github.com/openagentprotocol-OAP/oap-gate/internal/author"
	"github.com/openagentprotocol-OAP/oap-gate/internal/author/listing"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/foreign"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence"
	"github.com/openagentprotocol-OAP/oap-gate/internal/frame"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/did"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/level"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/receipt"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/signature"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/signing"
	"github.com/openagentprotocol-OAP/oap-gate/internal/report"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict/schema"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verify"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
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
	var found []string
	for _, member := range schema.Builtin("revocation").Members() {
		if hasMember(root, member) {
			found = append(found, member)
		}
	}
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
	entry := entryOf(id, own.ReceiptURI, base64.RawURLEncoding.EncodeToString(make([]byte, 64)),
		stampSeconds(w.src.Now()))
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
	entry = entryOf(id, own.ReceiptURI, text, stampSeconds(w.src.Now()))
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

// candidate is whose Receipt is to be witnessed.
type candidate struct {
	text   []byte // exact text of the Receipt
	root   any    // the same, decoded
	target verify.Target
	src    evidence.Source
	cfg    *verify.Config
}

// candidate finds the Receipt, and where the other documents are.
func (o *witnessOptions) candidate(ctx context.Context, sys frame.IO, w *workspace, st *checks.Standing,
	s *witnessed) (*candidate, error) {
	c := &candidate{text: s.text, src: w.src, cfg: &verify.Config{Tool: frame.Version(), Standing: st,
		Clone: &verify.Clone{Repo: w.repo, Commit: w.base, Chosen: w.how}, Assumed: o.Assumed()}}
	if s.text == nil {
		return c, o.find(ctx, sys, c, s.name)
	}
	r, err := receipt.Parse(s.name, s.text)
	if err != nil {
		return nil, remedy.Errorf("name the file of a Receipt", "%v", err)
	}
	at := r.TargetURI
	if d, err := did.Parse(r.ImplementationDID); err == nil && d.Method == "web" {
		at = r.ImplementationDID
	}
	if c.target, err = verify.ParseTarget(at, false); err != nil {
		return nil, refusef("name the implementation instead of the file",
			"the Receipt does not say where its Manifest is: %v", err)
	}
	// The file is what the Manifest's URL is to serve; a Manifest that names none is refused as such.
	c.target.ReceiptURI = cmp.Or(w.manifestNames(ctx, c.target.ManifestURI), c.target.ManifestURI)
	return c, nil
}

// find reads the Receipt that a target serves.
func (o *witnessOptions) find(ctx context.Context, sys frame.IO, c *candidate, name string) error {
	target, err := verify.ParseTarget(name, true)
	if err != nil {
		return remedy.Errorf(witnessForms, "%v", err)
	}
	found, err := verify.Verify(ctx, c.src, target, c.cfg)
	if errors.Is(err, verify.ErrNotListed) {
		return remedy.Errorf("oap-gate list prints the listings", "%v", err)
	}
	if err != nil {
		return err
	}
	if found.Facts.ReceiptText.State != evidence.Obtained {
		if err := o.verified(sys, found); err != nil {
			return err
		}
		return refusef(o.verifyCommand(name), "%s serves no Receipt", name)
	}
	c.text = found.Facts.ReceiptText.Value.Body
	target.Slug, target.ManifestURI, target.ReceiptURI = "", found.ManifestURI, found.ReceiptURI
	c.target = target
	return nil
}

// verify judges the candidate as if these bytes were its Receipt.
func (c *candidate) verify(ctx context.Context, text []byte) (*verify.Result, error) {
	return verify.Verify(ctx, instead{c.src, c.target.ReceiptURI, text}, c.target, c.cfg)
}

// instead is a source that has a Receipt of its own at one URL.
type instead struct {
	evidence.Source
	url  string
	text []byte
}

// Observe answers for the one URL itself.
func (i instead) Observe(ctx context.Context, r evidence.Request) evidence.Observation {
	if r.Protocol != evidence.HTTPS || r.Target != i.url || r.MaxBytes != evidence.MaxReceipt {
		return i.Source.Observe(ctx, r)
	}
	return evidence.Observation{Request: r, State: evidence.Obtained, Status: 200, SHA256: plain.SHA256(i.text),
		Body: i.text, Attempts: 1}
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

// entryOf returns an element of peer_witnesses.
func entryOf(id, uri, text, at string) []byte {
	return object("witness_did", id, "witness_receipt_uri", uri, "alg", "EdDSA", "signature", text, "witnessed_at", at)
}

func plainLevels(r *receipt.Receipt) string {
	var all []string
	for _, l := range r.ClaimedLevels {
		all = append(all, string(l))
	}
	return strings.Join(all, ", ")
}

// maxSuiteResults is the size of the results of a suite in bytes.
const maxSuiteResults = 16 << 20

// part is one part of a Receipt, and what was done about it.
type part struct{ name, done string }

// parts verifies what RFC 0019 section 7.1 (a) names, and says about each part what it did.
func (o *witnessOptions) parts(ctx context.Context, w *workspace, st *checks.Standing, c *candidate,
	found *verify.Result) ([]part, error) {
	var all []part
	for _, step := range [][2]string{{"signature", "signature"}, {"claims", "totals"}} {
		i := slices.IndexFunc(found.Steps, func(s verify.Step) bool { return s.Step == step[0] })
		if i < 0 {
			return nil, errors.New(step[0] + " was not judged, which is a bug; nothing was written")
		}
		all = append(all, part{step[1], found.Steps[i].Reason})
	}
	results, err := o.results(ctx, w, c)
	if err != nil {
		return nil, err
	}
	previous, err := o.previous(ctx, w, st, c, found.DID)
	if err != nil {
		return nil, err
	}
	return append(all, part{"results", results}, part{"previous_receipt_hash", previous}), nil
}

// results compares the results that the Receipt names with its hash and its summary.
func (o *witnessOptions) results(ctx context.Context, w *workspace, c *candidate) (string, error) {
	uri := strict.String(c.root, "results_uri")
	if uri == "" {
		return "the results were not looked at, since the Receipt has no results_uri", nil
	}
	at := evidence.Ask(ctx, w.src, evidence.Document(uri, maxSuiteResults))
	if err := ctx.Err(); err != nil {
		return "", err
	}
	if at.State != evidence.Obtained {
		fix := "have the candidate serve its results_uri"
		if at.State.Open() {
			fix = at.Retry(w.src.Now()).Fix
		}
		return "", inconclusivef(fix, "the results at %s are not available: %s", uri, at.Message)
	}
	differ := func(format string, args ...any) (string, error) {
		return "", refuseCode(codeResultsDiffer, "have the candidate publish the results that it signed",
			"the results at %s are not those of the Receipt: %s", uri, fmt.Sprintf(format, args...))
	}
	limits := strict.Remote(maxSuiteResults)
	limits.Values = 1 << 20
	doc, err := strict.Parse(uri, at.Body, limits)
	if err != nil {
		return differ("%v", err)
	}
	text, err := signature.Canonical(doc.Root)
	if err != nil {
		return differ("they have no canonical form: %v", err)
	}
	has, signed := "sha256:"+plain.SHA256(text), strict.String(c.root, "results_hash")
	if has != signed {
		return differ("their canonical JSON has the hash %s; the Receipt has %s", has, signed)
	}
	summary, err := signature.Canonical(strict.Member(c.root, "results_summary"))
	if err != nil {
		return "", err
	}
	own, err := signature.Canonical(strict.Member(doc.Root, "summary"))
	if err != nil || !bytes.Equal(own, summary) {
		return differ("their summary is %.200s; results_summary is %.200s", own, summary)
	}
	list, isList := strict.Member(doc.Root, "results").([]any)
	if !isList {
		return differ("they have no array results")
	}
	passed, failed := 0, 0
	for _, one := range list {
		switch strict.Member(one, "passed") {
		case true:
			passed++
		case false:
			failed++
		}
	}
	for _, n := range []struct {
		name  string
		count int
	}{{"passed", passed}, {"failed", failed}} {
		count, err := signature.Canonical(strict.Member(c.root, "results_summary", n.name))
		if err != nil || string(count) != strconv.Itoa(n.count) {
			return differ("%d of them %s; results_summary says %.40s", n.count, n.name, count)
		}
	}
	return fmt.Sprintf("%s at %s, with the hash, the summary and the numbers of the Receipt",
		plain.Count(len(list), "result"), uri), nil
}

// previous looks for the Receipt before this one among those that the clone's history of the DID pinned.
func (o *witnessOptions) previous(ctx context.Context, w *workspace, st *checks.Standing, c *candidate,
	id string) (string, error) {
	if !hasMember(c.root, "previous_receipt_hash") {
		return "absent", nil
	}
	said := strict.String(c.root, "previous_receipt_hash")
	if said == "genesis" {
		return "genesis: the Receipt says that it is the first", nil
	}
	hash := strings.ToLower(strings.TrimPrefix(said, "sha256:"))
	if !plain.IsSHA256(hash) {
		return "", refusef("have the candidate sign the SHA-256 of its previous Receipt, or genesis",
			"previous_receipt_hash is %.100q; expected genesis or a SHA-256", said)
	}
	var listed []string
	for _, l := range st.ByDID(id) {
		listed = append(listed, l.Path)
	}
	now := func(path string) bool { return slices.Contains(listed, path) }
	once := func(path string) bool { return !now(path) } // under another slug
	for _, keep := range []func(string) bool{now, once} {
		versions, err := w.repo.FolderHistory(ctx, w.base, registry.KindListing.Directory(), w.src.Now(), keep)
		if err != nil {
			return "", err
		}
		for _, v := range versions {
			if v.Entry == nil {
				continue
			}
			rec, err := w.repo.Record(ctx, v.Path, *v.Entry)
			if err != nil {
				return "", err
			}
			if rec.Document == nil {
				continue
			}
			if was := registry.ParseListing(rec); was.ReceiptSHA256 == hash && did.Same(was.ToolDID, id) {
				return hash + " was pinned by commit " + plain.Short(v.Commit), nil
			}
		}
	}
	return hash + " is not in this clone, not looked at", nil
}

// showReceipt prints all that is about to be signed, the members first that no schema knows, and what was verified.
func showReceipt(sys frame.IO, r *receipt.Receipt, root any, hash string, parts []part) error {
	var b bytes.Buffer
	object, _ := root.(map[string]any)
	unknown, known := &bytes.Buffer{}, &bytes.Buffer{}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		if name != "peer_witnesses" { // which no signature covers
			signedMembers(unknown, known, []string{name}, object[name])
		}
	}
	if unknown.Len() > 0 {
		fmt.Fprintf(&b, "members to be signed that no schema knows:\n%s", unknown)
	}
	fmt.Fprintf(&b, "members to be signed:\n%sto be witnessed:\n", known)
	for _, member := range [][2]string{{"DID", r.ImplementationDID}, {"name", r.ImplementationName},
		{"target", r.TargetURI}, {"levels", plainLevels(r)}, {"valid from", r.NotBefore.Text},
		{"valid until", r.NotAfter.Text}, {"sha256", hash}} {
		b.WriteString(report.Hang(fmt.Sprintf("  %-12s ", member[0]), foreign.Line(member[1]), 15, report.Columns) +
			"\n")
	}
	b.WriteString("by RFC 0019 section 7.1 a signature attests\n" +
		"  (a) that the Receipt's own parts fit together, of which this run says\n")
	for _, p := range parts {
		b.WriteString(report.Hang(fmt.Sprintf("      %-21s  ", p.name), foreign.Line(p.done), 29, report.Columns) +
			"\n")
	}
	b.WriteString("  (b) that the witness executed the tests of the claimed level against\n" +
		"      the live deployment, which was not and cannot be verified\n")
	_, err := sys.Stderr.Write(b.Bytes())
	return err
}

// inReceiptSchema reports whether the receipt schema names each member on a path, under properties and, for the index
// of an element, items.
func inReceiptSchema(path []string) bool {
	at := receiptSchema()
	for _, name := range path {
		below := strict.Member(at, "properties", name)
		if _, err := strconv.ParseUint(name, 10, 32); below == nil && err == nil {
			below = strict.Member(at, "items")
		}
		if at = below; at == nil {
			return false
		}
	}
	return true
}

var receiptSchema = sync.OnceValue(func() any {
	text := schemas.Text("receipt")
	doc, err := strict.Parse("receipt", text, strict.Remote(len(text)))
	if err != nil {
		panic(err) // a file of the program is wrong
	}
	return doc.Root
})

// signedMembers prints each value of a member by its path, to unknown if the receipt schema does not name it. It breaks
// no line: what is signed is read byte by byte.
func signedMembers(unknown, known *bytes.Buffer, path []string, value any) {
	at := func(name string) []string { return append(slices.Clone(path), name) }
	text := fmt.Sprint(value)
	switch v := value.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			signedMembers(unknown, known, at(name), v[name])
		}
		if text = "{}"; len(v) > 0 {
			return
		}
	case []any:
		for i, element := range v {
			signedMembers(unknown, known, at(strconv.Itoa(i)), element)
		}
		if text = "[]"; len(v) > 0 {
			return
		}
	case string:
		text = string(listing.Quote(v))
	case nil:
		text = "null"
	}
	to := unknown
	if inReceiptSchema(path) {
		to = known
	}
	pointer := "/" + strings.Join(path, "/")
	if strings.ContainsFunc(pointer, func(r rune) bool { return r <= ' ' || r >= 0x7f || r == '"' || r == '\\' }) {
		pointer = string(listing.Quote(pointer)) // a name may look like another member with its value
	}
	fmt.Fprintf(to, "  %s  %s\n", foreign.Line(pointer), foreign.Line(text))
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
