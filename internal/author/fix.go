// Package author drafts, corrects, signs and lists records.
//
// The package itself corrects them, by what documents say; see listing for the rest.
package author

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/checks"
	"github.com/openagentprotocol-OAP/oap-gate/internal/author/listing"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/foreign"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/did"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/level"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/manifest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/receipt"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// fixer fixes records on disk with the values of documents, and lays out those that the base does not have.
type fixer struct {
	repo   *registry.Repository
	tree   *listing.Tree
	base   *registry.Tree
	head   *registry.Tree
	src    evidence.Source
	merged *registry.Listing // what the base tree holds of the listing at hand; nil for a new one
}

// Change is one record that was changed: its path, before and after, and its text.
type Change struct {
	from, to string
	was, now []byte
}

// Fix fixes what a report finds in records that the work tree of the clone in dir changes, as far as a document has the
// value. It lays out each record that the base does not have, if it is strict JSON; a merged record keeps its layout.
// If it changes nothing, reasons says for each error of the report why, each reason once.
func Fix(ctx context.Context, dir string, src evidence.Source, rep *verdict.Report) (changes []Change,
	reasons []string, err error) {
	repo, err := registry.Open(dir)
	if err != nil {
		return nil, nil, err
	}
	defer repo.Close()
	m := &fixer{repo: repo, src: src}
	if m.base, err = repo.Tree(ctx, rep.Base); err != nil {
		return nil, nil, err
	}
	if m.head, err = repo.Tree(ctx, "HEAD"); err != nil {
		return nil, nil, err
	}
	if m.tree, err = listing.OpenTree(repo.Store().Worktree()); err != nil {
		return nil, nil, err
	}
	defer m.tree.Close()
	unused := map[string]string{}
	paths, found := judged(rep)
	for _, path := range paths {
		change, why, err := m.fix(ctx, path, found[path])
		if err != nil {
			return changes, nil, Unwritten(err, "name the file so yourself")
		}
		unused[path] = why
		if change != nil {
			changes = append(changes, *change)
		}
	}
	if len(changes) > 0 {
		return changes, nil, nil
	}
	for r := range rep.Results.All() {
		for _, f := range r.Findings {
			reason := f.Code + " needs a decision"
			if why := unused[r.Subject]; why != "" && ofReceipt(r.Check, f) {
				reason = f.Code + ": " + why
			}
			if f.Severity == verdict.Error && !slices.Contains(reasons, reason) {
				reasons = append(reasons, reason)
			}
		}
	}
	return nil, reasons, nil
}

// judged returns the records that a report judges, in its order, and the findings on each, by check.
func judged(rep *verdict.Report) (paths []string, found map[string]map[string][]verdict.Finding) {
	found = map[string]map[string][]verdict.Finding{}
	for r := range rep.Results.All() {
		if registry.KindOf(r.Subject) == registry.Governance {
			continue
		}
		if found[r.Subject] == nil {
			paths, found[r.Subject] = append(paths, r.Subject), map[string][]verdict.Finding{}
		}
		found[r.Subject][r.Check] = append(found[r.Subject][r.Check], r.Findings...)
	}
	return paths, found
}

// fix fixes one record; why says what prevents the use of a Receipt's values that it needs.
func (m *fixer) fix(ctx context.Context, path string,
	found map[string][]verdict.Finding) (_ *Change, why string, err error) {
	was, err := m.tree.Read(path)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, listing.ErrPlace) {
		return nil, "", nil // removed, or a link or too large, which layout refuses
	}
	if err != nil {
		return nil, "", err
	}
	rec, err := m.base.Record(ctx, path)
	if err != nil {
		return nil, "", err
	}
	if now, marked := bytes.CutPrefix(was, []byte("\xef\xbb\xbf")); marked && rec == nil {
		return &Change{path, path, was, now}, "", m.tree.Replace(path, was, now)
	}
	doc, err := strict.Parse(path, was, strict.RegistryFile)
	if err != nil {
		return nil, "", nil // layout says so
	}
	for _, f := range found["layout"] {
		if rec == nil && registry.KindOf(f.Value) != registry.Governance { // layout would let it pass under this path
			change, err := m.rename(path, f.Value, was)
			return change, "", err
		}
	}
	if rec == nil && passesWith(found["layout"], checks.PlainMode) {
		if cleared, err := m.tree.ClearExecutable(path); cleared || err != nil {
			return &Change{path, path, was, was}, "", err
		}
	}
	m.merged = nil
	if rec != nil {
		m.merged = registry.ParseListing(rec)
	}
	now := was
	if registry.KindOf(path) == registry.KindListing {
		now, why, err = m.values(ctx, was, registry.ParseListing(&registry.Record{Document: doc}), doc.Root, found)
	}
	if text, e := listing.Format(path, now); e == nil && rec == nil {
		now = text
	}
	if err != nil || bytes.Equal(now, was) {
		return nil, why, err
	}
	return &Change{path, path, was, now}, why, m.tree.Replace(path, was, now)
}

// rename gives a record that the work tree adds its right name, unless that name is in the base, in HEAD or on disk.
func (m *fixer) rename(path, to string, was []byte) (*Change, error) {
	for _, t := range []*registry.Tree{m.base, m.head} {
		if e, err := t.Leaf(to); err != nil || e != nil {
			return nil, err
		}
	}
	err := m.tree.Move(path, to, was)
	if errors.Is(err, fs.ErrExist) {
		return nil, nil
	}
	return &Change{path, to, was, was}, err
}

// values returns the text with the values of documents for the members that findings are about.
func (m *fixer) values(ctx context.Context, text []byte, l *registry.Listing, root any,
	found map[string][]verdict.Finding) (_ []byte, why string, err error) {
	set := func(name, value string) {
		if err == nil {
			text, err = listing.Set(text, name, []byte(value))
		}
	}
	setText := func(name, value string) { set(name, string(listing.Quote(value))) }
	age := found["domain-age"]
	switch {
	case l.Provisional && (passesWith(age, checks.DropProvisional) || failed(found["reissue"], "/provisional")):
		text, err = listing.Drop(text, "provisional")
	case !l.Provisional && passesWith(age, checks.SetProvisional):
		set("provisional", "true")
	}
	for _, f := range found["schema"] {
		if f.Severity != verdict.Error {
			continue // the base tree has it already, also in records that the work tree leaves as they are
		}
		name := strings.TrimPrefix(f.Pointer, "/")
		value := strict.String(root, name)
		switch right := checks.Respelled(value); {
		case right != "" && strings.HasSuffix(name, "_sha256"):
			setText(name, right)
		case value != "" && strings.HasPrefix(f.Fix, "set "+name+" to ["):
			set(name, "["+string(listing.Quote(value))+"]")
		}
	}
	if m.merged == nil && err == nil {
		of, by := verdict.Outcome{Findings: found["manifest-did"]}, verdict.Outcome{Findings: found["receipt-claims"]}
		differs := of.Has(verdict.Error) && by.Has(verdict.Error)
		switch d, e := did.Parse(l.ToolDID); {
		case e == nil && passesWith(found["layout"], d.Spelling()):
			setText("tool_did", d.Spelling())
		case differs || failed(found["schema"], ""):
			var own []member
			own, why = m.own(ctx, l)
			for _, own := range own {
				if strict.Member(root, own.name) == nil || differs && own.name == "tool_did" {
					setText(own.name, own.value)
				}
			}
		}
	}
	wrong := m.wrong(root, found)
	if len(wrong) == 0 || err != nil {
		return text, why, err
	}
	r, sum, why := m.signed(ctx, l)
	if r == nil {
		return text, why, nil
	}
	claimed, end := m.level(r), listing.Expires(r)
	until, isTime := strict.Time(end)
	for _, own := range []struct {
		member
		stands bool // what the listing has, or there is nothing to set
	}{
		{member{"conformance_level", string(claimed)}, claimed == "" || claimed == l.Level},
		{member{"conformance_receipt_sha256", sum}, sum == l.ReceiptSHA256},
		{member{"expires_at", end}, !isTime || near(l.Expires, until)},
		{member{"issued_at", r.NotBefore.Text}, r.NotBefore.IsZero() || near(l.Issued, r.NotBefore.Time)},
	} {
		if !own.stands && slices.Contains(wrong, own.name) {
			setText(own.name, own.value)
		}
	}
	if slices.Contains(wrong, "non_commercial") {
		set("non_commercial", "true")
	}
	return text, "", err
}

// member is a member of a listing.
type member struct{ name, value string }

// own returns the members of a new listing that its own documents say: the Manifest and the Receipt name one DID, and a
// key of it signed the Receipt. If they do not, it says why. What the listing does not name is looked for where its
// other members say: the Manifest at the address of its DID, the Receipt where the Manifest says.
func (m *fixer) own(ctx context.Context, l *registry.Listing) (_ []member, why string) {
	at := cmp.Or(l.ManifestURI, manifest.URI(l.ToolDID))
	of, err := manifest.Parse(at, m.src.Observe(ctx, evidence.Document(at, evidence.MaxManifest)).Body)
	if err != nil {
		return nil, "the Manifest cannot be read: " + err.Error()
	}
	whole := *l
	whole.ToolDID, whole.ReceiptURI = did.Spelling(of.ToolDID), cmp.Or(l.ReceiptURI, of.ReceiptURI)
	r, _, why := m.signed(ctx, &whole)
	if r == nil {
		return nil, why
	}
	return []member{{"name", r.ImplementationName}, {"tool_did", whole.ToolDID}, {"manifest_uri", at},
		{"conformance_receipt_uri", whole.ReceiptURI}}, ""
}

// signedMembers are the members of a listing whose values its Receipt has, in the order in which findings are looked
// for.
var signedMembers = []string{"conformance_receipt_sha256", "issued_at", "expires_at", "conformance_level"}

// receiptChecks are the checks that compare them.
var receiptChecks = []string{schemaID, "receipt-fetch", "receipt-validity", "receipt-claims", "reissue"}

const schemaID = "schema"

// ofReceipt reports whether a finding of a check is about a value that the Receipt has.
func ofReceipt(check string, f verdict.Finding) bool {
	name := strings.TrimPrefix(f.Pointer, "/")
	return slices.Contains(receiptChecks, check) && (slices.Contains(signedMembers, name) || name == "non_commercial" ||
		check == schemaID && name == "")
}

// wrong returns the members whose values a Receipt has, if a finding is about one of them.
func (m *fixer) wrong(root any, found map[string][]verdict.Finding) []string {
	var names []string
	for _, name := range signedMembers {
		for _, check := range receiptChecks {
			missing := check == schemaID && strict.Member(root, name) == nil && failed(found[check], "")
			if missing || failed(found[check], "/"+name) {
				names = append(names, name)
				break
			}
		}
	}
	if len(names) > 0 { // one fault hides another: pin, dates and level belong together
		names = append(names, "conformance_receipt_sha256", "issued_at", "expires_at")
		if m.merged != nil {
			names = append(names, "conformance_level")
		}
	}
	atMember := func(f verdict.Finding) bool { return f.Pointer == "/non_commercial" && f.Value == "true" }
	if slices.ContainsFunc(found["receipt-claims"], atMember) {
		names = append(names, "non_commercial")
	}
	return names
}

// signed returns the served Receipt and its hash, if the owner of the listing signed it; else why it is not used.
func (m *fixer) signed(ctx context.Context, l *registry.Listing) (_ *receipt.Receipt, sha256, why string) {
	served := m.src.Observe(ctx, evidence.Document(l.ReceiptURI, evidence.MaxReceipt))
	if served.State != evidence.Obtained {
		return nil, "", "the Receipt could not be fetched: " + served.Message
	}
	r, err := receipt.Parse(l.ReceiptURI, served.Body)
	if err != nil {
		return nil, "", "the Receipt cannot be read: " + err.Error()
	}
	now := m.src.Now()
	facts := evidence.Collect(ctx, m.src, l, evidence.Wanted{Kinds: evidence.Set(0).With(evidence.DIDDocument),
		Clock: now, Judged: now})
	switch {
	case facts.DIDDocument.State != evidence.Obtained:
		return nil, "", "the DID Document is not available: " + facts.DIDDocument.Message
	case !did.Same(r.ImplementationDID, l.ToolDID):
		return nil, "", fmt.Sprintf("the Receipt is that of %q; expected %q", r.ImplementationDID, l.ToolDID)
	case !receipt.VerifyImplementation(r, facts.DIDDocument.Value, l.ToolDID).Verified():
		return nil, "", "the Receipt's signature does not verify"
	}
	return r, served.SHA256, ""
}

// level returns the level that a Receipt leaves to the listing.
func (m *fixer) level(r *receipt.Receipt) level.Level {
	claimed := listing.Highest(r.ClaimedLevels)
	if m.merged != nil {
		claimed = checks.Kept(r.ClaimedLevels, m.merged.Level)
	}
	if claimed.Base() < 0 {
		return ""
	}
	return claimed
}

// near reports whether two times are one to a listing.
func near(a, b time.Time) bool { return !a.IsZero() && a.Sub(b).Abs() <= time.Second }

// passesWith reports whether one of the findings names a value with which the record would pass.
func passesWith(found []verdict.Finding, value string) bool {
	return slices.ContainsFunc(found, func(f verdict.Finding) bool { return f.Value == value })
}

// failed reports whether one of the findings is an error about a member.
func failed(found []verdict.Finding, pointer string) bool {
	return slices.ContainsFunc(found, func(f verdict.Finding) bool {
		return f.Severity == verdict.Error && f.Pointer == pointer
	})
}

// Diff returns the change as a difference in unified form, safe to print.
func (c Change) Diff() string {
	if c.from != c.to {
		return foreign.Lines(fmt.Sprintf("rename from %s\nrename to %s\n", c.from, c.to))
	}
	if bytes.Equal(c.was, c.now) {
		return foreign.Lines(fmt.Sprintf("mode change 100755 => 100644 %s\n", c.to))
	}
	return foreign.Lines(listing.Diff(c.from, c.was, c.now))
}

// Unwritten says what to do about a record that could not be written; taken does where its name is.
func Unwritten(err error, taken string) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrExist):
		return remedy.Errorf(taken, "%v, and nothing is overwritten", err)
	case errors.Is(err, listing.ErrChanged):
		return remedy.With(err, "run it again")
	case errors.Is(err, listing.ErrPlace):
		return remedy.With(err, "make the four data directories plain directories of plain files, at most 64 KiB each")
	}
	return remedy.With(err, "make the clone's work tree writable")
}
