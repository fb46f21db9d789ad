package verify

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/checks"
	"github.com/openagentprotocol-OAP/oap-gate/internal/author/listing"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/memo"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence/sources"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/did"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/level"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/receipt"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// Config is what all targets of a run share.
type Config struct {
	Tool     verdict.Tool
	Clone    *Clone // nil: none
	Proof    *Proof // replaces a clone; may be nil
	Without  bool   // the caller said that revocations need not be known
	Require  bool   // the caller said that a clone is required, which a proof is not
	MaxAge   time.Duration
	Suites   receipt.Suites // nil: receipt.TrustedSuites
	Level    level.Level    // the one level that is asked for; empty: all that are claimed
	Assumed  []string
	Local    []string // HOST=DIR of the hosts that a directory plays
	Memo     *memo.Memo
	Standing *checks.Standing // state of the clone; nil without one
	// Recorded is what a replayed bundle says; nil in a live run.
	Recorded *evidence.Recorded
	// Canonical adds the bytes that the implementation signs to the report.
	Canonical bool
	// Digests adds what a signed statement names to the report.
	Digests bool
}

// ErrNotListed means that the clone holds no listing of a slug.
var ErrNotListed = errors.New("the clone holds no such listing")

// Result is a report with the documents that it is about.
type Result struct {
	*Report
	Facts       *evidence.Facts
	DID         string // whose keys the signatures were compared with; empty where no document names one
	ManifestURI string // where the Manifest was asked for; empty for documents at hand
	ReceiptURI  string // where the Receipt was asked for; empty for documents at hand, and where nothing names it

	// Candidates are the listings at L4 and L5 that the Receipt would make, one for each of these levels that it
	// claims.
	Candidates []*checks.Subject
}

// Verify judges one target by all steps. A document that could not be fetched is a step's finding. The error is that of
// reading the clone, or wraps ErrNotListed, and means that nothing was judged.
func Verify(ctx context.Context, src evidence.Source, t Target, cfg *Config) (*Result, error) {
	w := &work{ctx: ctx, src: src, cfg: cfg, target: t, levels: map[string]map[level.Level]verdict.Verdict{}}
	if err := w.look(); err != nil {
		return nil, err
	}
	if !w.unproven() {
		if err := w.collect(); err != nil {
			return nil, err
		}
	}
	judged, err := verdict.Run(entries(), nil, w, t.Text)
	if err != nil {
		return nil, err
	}
	rep, err := w.report(judged)
	if err != nil {
		return nil, err
	}
	found := &Result{Report: rep, Facts: w.facts, DID: w.did, ManifestURI: w.target.ManifestURI,
		ReceiptURI: w.receiptURI()}
	for _, l := range slices.Sorted(maps.Keys(w.candidates)) {
		found.Candidates = append(found.Candidates, w.candidates[l])
	}
	return found, nil
}

// work is what is known about one target.
type work struct {
	ctx    context.Context
	src    evidence.Source
	cfg    *Config
	target Target
	pinned *registry.Listing // listing of a slug
	facts  *evidence.Facts
	run    *checks.Run
	did    string // see Result
	// candidates are the listings that the Receipt would make, by the levels that it claims.
	candidates map[level.Level]*checks.Subject
	claimed    []level.Level   // by the Receipt, each once, at most maxClaimed
	subject    *checks.Subject // one of them; at no level where the Receipt claims none
	failed     error           // of reading the history
	// levels are the verdicts of the steps that judge each level for itself.
	levels map[string]map[level.Level]verdict.Verdict
}

// look looks a slug up.
func (w *work) look() error {
	if w.target.Slug == "" {
		return nil
	}
	if w.cfg.Proof != nil {
		w.lookProven()
		return nil
	}
	l := w.cfg.Standing.BySlug(w.target.Slug)
	if l == nil {
		return fmt.Errorf("%w: %s/%s.json is not in commit %.12s", ErrNotListed, registry.KindListing.Directory(),
			w.target.Slug, w.cfg.Clone.Commit)
	}
	var err error
	if w.pinned, err = w.cfg.Standing.Listing(w.ctx, l); err != nil {
		return err
	}
	w.target.ManifestURI, w.target.DID = w.pinned.ManifestURI, w.pinned.ToolDID
	return nil
}

func (w *work) receiptURI() string {
	switch {
	case w.target.AtHand:
		return ""
	case w.target.ReceiptURI != "":
		return w.target.ReceiptURI
	case w.pinned != nil:
		return w.pinned.ReceiptURI
	case w.facts.Manifest.State == evidence.Obtained && sources.IsHTTPS(w.facts.Manifest.Value.ReceiptURI):
		return w.facts.Manifest.Value.ReceiptURI
	}
	return ""
}

// maxDocuments is how many documents one target may lead to.
const maxDocuments = 50

// requests returns where the documents of the target are, and the hash of a Receipt that is pinned. A zero request is
// of a document that another one names.
func (w *work) requests() (manifest, receipt, document evidence.Request, sha256 string) {
	manifest = evidence.Document(w.target.ManifestURI, evidence.MaxManifest)
	switch {
	case w.target.AtHand:
		at := func(name string, most int64) evidence.Request {
			return evidence.Request{Protocol: evidence.File, Target: name, MaxBytes: most}
		}
		manifest = at(sources.FileManifest, evidence.MaxManifest)
		receipt = at(sources.FileReceipt, evidence.MaxReceipt)
		document = at(sources.FileDIDDocument, evidence.MaxDIDDocument)
	case w.target.ReceiptURI != "":
		receipt = evidence.Document(w.target.ReceiptURI, evidence.MaxReceipt)
	case w.pinned != nil:
		return manifest, evidence.Document(w.pinned.ReceiptURI, evidence.MaxReceipt), document, w.pinned.ReceiptSHA256
	}
	return manifest, receipt, document, ""
}

// collect seeks the Manifest, then the Receipt, then what both lead to. A Receipt that nothing names stays Unsought.
func (w *work) collect() error {
	manifest, receipt, document, sum := w.requests()
	c := evidence.NewCollector(w.ctx, w.src, w.cfg.Memo)
	f := &evidence.Facts{Manifest: c.Manifest(manifest)}
	if m := f.Manifest; receipt == (evidence.Request{}) && m.State == evidence.Obtained &&
		sources.IsHTTPS(m.Value.ReceiptURI) {
		receipt = evidence.Document(m.Value.ReceiptURI, evidence.MaxReceipt)
	}
	if receipt != (evidence.Request{}) {
		if sum == "" { // no record pins it: it is what is served
			sum = evidence.Ask(w.ctx, w.src, receipt).SHA256
		}
		f.ReceiptText, f.Receipt = c.Receipt(receipt, sum)
	}
	w.facts = f
	w.draft()
	var kinds evidence.Set
	if slices.ContainsFunc(w.claimed, needsWitness) {
		kinds = kinds.With(evidence.Witnesses)
	}
	wanted, failed := w.subject.Wanted(kinds)
	wanted.MaxDocuments = maxDocuments
	c.Seek(w.did != "", func() {
		if d, _ := did.Parse(w.did); d.Method == "web" && document != (evidence.Request{}) {
			f.DIDDocument = c.Document(d, evidence.Ask(w.ctx, w.src, document), wanted.Clock)
			return
		}
		f.DIDDocument, f.DIDFallback = c.DIDDocument(w.did, wanted.Clock)
	})
	if wanted.Kinds.Has(evidence.Witnesses) { // only a Receipt that was read claims levels
		c.Vouchers(f, wanted, slices.ContainsFunc(w.claimed, func(l level.Level) bool { return l.Base() == 5 }))
	}
	c.Wait()
	for _, s := range w.candidates {
		s.Facts = f
	}
	w.subject.Facts = f
	return cmp.Or(w.failed, failed(), w.ctx.Err())
}

func needsWitness(l level.Level) bool { return l.Base() >= 4 }

// maxClaimed is how many levels are looked at: there are fewer, so that of more some do not exist, and none is
// accepted.
const maxClaimed = 64

// claim finds the levels that the Receipt claims, each once.
func (w *work) claim(r *receipt.Receipt) {
	seen := map[level.Level]bool{}
	for _, l := range r.ClaimedLevels {
		if !seen[l] && len(seen) < maxClaimed {
			seen[l] = true
			w.claimed = append(w.claimed, level.Level(plain.Cut(string(l), 100)))
		}
	}
}

func (w *work) receipt() *receipt.Receipt {
	if w.facts.Receipt.State != evidence.Obtained {
		return nil
	}
	return w.facts.Receipt.Value
}

// draft makes the listings that the documents found so far would make.
func (w *work) draft() {
	r := w.receipt()
	if r == nil {
		r = &receipt.Receipt{}
	}
	w.claim(r)
	tool := ""
	if m := w.facts.Manifest; m.State == evidence.Obtained {
		tool = m.Value.ToolDID
	}
	w.did = did.Spelling(cmp.Or(r.ImplementationDID, tool, w.target.DID)) // as it would be listed
	if len(w.did) > did.MaxLength {
		w.did = plain.Cut(w.did, 200) // it is not a DID
	}
	standing := w.cfg.Standing
	w.run = &checks.Run{Context: w.ctx, Catalogue: checks.All, Now: w.src.Now(), Memo: w.cfg.Memo,
		Selected: func(id string) bool { return reporters[id] != "" }} // no other check says why one is skipped
	if standing != nil {
		w.run.Repo = w.cfg.Clone.Repo
		w.run.Range = &registry.Range{Base: standing.Tree, Head: standing.Tree, Result: standing.Tree}
	} else {
		standing = checks.EmptyStanding()
	}
	w.run.Base = standing
	from := listing.From{Slug: "target", ToolDID: w.did, ManifestURI: w.target.ManifestURI, ReceiptURI: w.receiptURI(),
		ReceiptSHA256: w.facts.ReceiptText.Value.SHA256, Receipt: r}
	if w.pinned != nil {
		from.ReceiptSHA256 = w.pinned.ReceiptSHA256
	}
	w.candidates = map[level.Level]*checks.Subject{}
	var then *checks.Moment
	if slices.ContainsFunc(w.claimed, needsWitness) {
		var listed []anchorListing
		listed, w.failed = w.current()
		for _, l := range listed { // a DID has one that is not refused
			if l.ReceiptSHA256 == w.facts.ReceiptText.Value.SHA256 && l.is.Status != verdict.StatusRefused {
				then, w.failed = w.run.Anchored(l.Path)
				break
			}
		}
	}
	// The bootstrap rule and its co-signers are L4's: where it is claimed, its listing decides what is sought.
	for _, l := range w.claimed {
		if l.Base() >= 4 && w.candidates[l] == nil {
			from.Level = l
			w.candidates[l] = checks.NewCandidate(w.run, listing.Draft(from))
			w.candidates[l].Witnessed = then
		}
	}
	if w.subject = w.candidates["L4"]; w.subject == nil {
		from.Level = ""
		w.subject = checks.NewCandidate(w.run, listing.Draft(from))
	}
}

// report returns the report on what was made of each step.
func (w *work) report(judged []verdict.Judgement) (*Report, error) {
	rep := newReport(cmp.Or(w.target.Text, w.did), w.src, w.cfg)
	rep.DID, rep.Local, rep.Counts.Records = w.did, w.cfg.Local, 1
	rep.PublicSuffixList = w.cfg.Recorded.SuffixList()
	if c := w.cfg.Clone; w.cfg.Standing != nil {
		rep.Registry = &Anchored{Commit: c.Commit, Chosen: c.Chosen, Path: w.path()}
		if when := c.When(w.src.Now()); !when.IsZero() {
			rep.Registry.AsOf = &when
		}
	}
	if p := w.cfg.Proof; p != nil && p.shown.Entry.Commit != "" {
		rep.Proof = &Proven{Commit: p.shown.Entry.Commit, Cosigned: p.shown.Cosigned, Witnesses: p.shown.Witnesses}
		if !p.shown.AsOf.IsZero() {
			rep.Proof.AsOf = &p.shown.AsOf
		}
	}
	rep.ReceiptSHA256 = w.facts.ReceiptText.Value.SHA256
	var err error
	if w.cfg.Digests {
		if rep.Judged, err = w.judged(); err != nil {
			return nil, err
		}
	}
	if r := w.receipt(); r != nil {
		rep.SuiteVersion = plain.Cut(r.SuiteVersion, 100)
		if !r.NotAfter.IsZero() {
			rep.NotAfter = &r.NotAfter.Time
		}
	}
	rep.ClaimedLevels = append(rep.ClaimedLevels, w.claimed...)
	for i, j := range judged {
		s := w.step(catalogue[i], j.Outcome)
		rep.Steps = append(rep.Steps, s)
		if s.OK != nil && !*s.OK {
			rep.Reasons = append(rep.Reasons, s.Step+": "+s.Error)
		}
	}
	w.accept(rep)
	for _, s := range rep.Steps {
		rep.Counts.Add(s.Verdict)
	}
	if w.cfg.Canonical {
		rep.Canonical = w.canonical()
	}
	for _, o := range w.src.Observations() {
		rep.Evidence = append(rep.Evidence, o.Evidence())
	}
	rep.EvidenceSHA256 = evidence.Digest(rep.Evidence)
	return rep, nil
}

// judged returns the digests of the Receipt and of the listing that pins it. A listing with another pin is not about
// this Receipt.
func (w *work) judged() ([]verdict.Digest, error) {
	sum := w.facts.ReceiptText.Value.SHA256
	if sum == "" {
		return nil, nil
	}
	out := []verdict.Digest{{Name: w.receiptURI(), SHA256: sum}}
	for _, l := range w.listed() {
		if l.ReceiptSHA256 != sum {
			continue
		}
		text, err := w.cfg.Standing.Tree.File(w.ctx, l.Path, int64(strict.RegistryFile.Bytes))
		if err != nil {
			return nil, err
		}
		return append(out, verdict.Digest{Name: l.Path, SHA256: plain.SHA256(text)}), nil
	}
	return out, nil
}

// canonical returns the bytes that the implementation signs.
func (w *work) canonical() *Canonical {
	r := w.receipt()
	if r == nil {
		return &Canonical{Error: "there is no Receipt that can be read"}
	}
	text, err := r.SignedBytes()
	if err != nil {
		return &Canonical{Error: err.Error()}
	}
	return &Canonical{Text: string(text), SHA256: plain.SHA256(text)}
}

// step returns an outcome as the report has it, its worst finding first.
func (w *work) step(rule step, out verdict.Outcome) Step {
	v, _ := out.Verdict() // the runner refuses an outcome that says nothing
	s := Step{Step: rule.ID, Verdict: v, Cite: rule.Cite, Reason: cmp.Or(out.Skipped, out.Doubtful, out.Verified),
		Findings: []Finding{}}
	slices.SortStableFunc(out.Findings, func(a, b verdict.Finding) int { return cmp.Compare(a.Severity, b.Severity) })
	for _, f := range out.Findings {
		s.Findings = append(s.Findings, Finding{Severity: f.Severity, Code: f.Code, Message: f.Message, Fix: f.Fix,
			Cite: cmp.Or(f.Cite, rule.Cite), Document: f.Path, Pointer: f.Pointer, Commit: f.Commit})
	}
	ok := v != verdict.Failed && v != verdict.Inconclusive
	if !ok {
		s.Error = s.Reason
		if len(s.Findings) > 0 && s.Findings[0].Severity <= verdict.Doubt {
			s.Error = s.Findings[0].Message
		}
	}
	if v != verdict.Skipped || !rule.registry || w.cfg.Standing != nil {
		s.OK = &ok
	}
	if rule.ID == "receipt-fetch" {
		s.SHA256 = w.facts.ReceiptText.Value.SHA256
		if r := w.receipt(); r != nil {
			s.ReceiptID = plain.Cut(r.ID, 200)
		}
	}
	return s
}

// accept finds the accepted levels, and the verdict.
func (w *work) accept(rep *Report) {
	all := verdict.Passed // verdict of the steps that concern every level
	any := verdict.Passed
	for i, s := range rep.Steps {
		rule, v := catalogue[i], s.Verdict
		if v == verdict.Skipped && !rule.each && !rule.registry && rule.ID != reverify {
			v = verdict.Inconclusive // the step that reports why is as bad or worse, or nothing was judged
		}
		if v.Worse(any) {
			any = v
		}
		if !rule.each && v.Worse(all) {
			all = v
		}
	}
	of := func(l level.Level) verdict.Verdict {
		v := all
		for i, s := range rep.Steps {
			judged := s.Verdict
			if levels, is := w.levels[s.Step]; is { // else it judged none: the budget was spent before
				judged = levels[l]
			}
			if catalogue[i].each && needsWitness(l) && judged.Worse(v) {
				v = judged
			}
		}
		return v
	}
	passes := func(v verdict.Verdict) bool { return v != verdict.Failed && v != verdict.Inconclusive }
	for _, l := range rep.ClaimedLevels {
		if passes(of(l)) {
			rep.AcceptedLevels = append(rep.AcceptedLevels, l)
		}
	}
	rep.Accepted = len(rep.ClaimedLevels) > 0 && len(rep.AcceptedLevels) == len(rep.ClaimedLevels)
	decided := any
	if l := rep.Level; l != "" {
		decided = of(l)
		if w.receipt() != nil && !slices.Contains(rep.ClaimedLevels, l) {
			decided = verdict.Failed
			rep.Reasons = append(rep.Reasons, fmt.Sprintf("level: %s was requested, and the Receipt does not claim it",
				l))
		}
	}
	switch {
	case decided == verdict.Failed, decided == verdict.Inconclusive:
		rep.Verdict = decided
	case rep.Accepted || rep.Level != "":
		rep.Verdict = verdict.Passed
	default:
		rep.Verdict = verdict.Failed
	}
}

// The places of findings on a target's documents: the names that a report has for these stand for paths.
var (
	manifestDocument = verdict.At{Path: sources.FileManifest}
	receiptDocument  = verdict.At{Path: sources.FileReceipt}
	didDocument      = verdict.At{Path: sources.FileDIDDocument}
)

// add appends the findings of a rule on the Receipt, their pointers as they are.
func add(o *verdict.Outcome, from verdict.Outcome) { addTo(o, receiptDocument, from) }

// addTo is add for a rule on a document.
func addTo(o *verdict.Outcome, document verdict.At, from verdict.Outcome) {
	for _, f := range from.Findings {
		f.Pos = document.Pos(f.Pointer)
		o.Findings = append(o.Findings, f)
	}
}
