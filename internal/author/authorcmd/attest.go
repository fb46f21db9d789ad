package authorcmd

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/openagentprotocol-OAP/oap-gate/checks"
	"github.com/openagentprotocol-OAP/oap-gate/docs/schemas"
	"github.com/openagentprotocol-OAP/oap-gate/internal/author/listing"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/foreign"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence"
	"github.com/openagentprotocol-OAP/oap-gate/internal/frame"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/did"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/receipt"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/signature"
	"github.com/openagentprotocol-OAP/oap-gate/internal/report"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verify"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// candidate is the agent whose Receipt a witness signs, and what its host serves.
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
	var root any
	if err := json.Unmarshal(schemas.Text("receipt"), &root); err != nil {
		panic(err) // a file of the program is wrong
	}
	return root
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
