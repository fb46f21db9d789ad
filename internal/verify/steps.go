package verify

import (
	"cmp"
	"fmt"
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/checks"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence/sources"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/did"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/domainage"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/folder"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/level"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/receipt"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/receipt/explain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// stamp writes a time as messages have it: RFC 3339, UTC, milliseconds where there are any.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.999Z07:00") }

// step is one step of the procedure.
type step struct {
	verdict.Rule
	each     bool            // judges each of the levels from L4 on for itself, and bears on no other
	registry bool            // without a clone it says nothing
	costly   bool            // takes more than a look, so that the budget is asked before
	needs    []evidence.Kind // documents without which it is skipped
	judge    func(*work) (verdict.Outcome, error)
}

// Rules returns what the catalogue says about each step, in the order of the report.
func Rules() []verdict.Rule { return verdict.Rules(entries()) }

// entries returns the steps as the runner of a catalogue takes them.
func entries() []verdict.Entry[*work] {
	var out []verdict.Entry[*work]
	for _, s := range catalogue {
		out = append(out, verdict.Entry[*work]{Rule: s.Rule, Judge: s.perform})
	}
	return out
}

// perform judges the step, unless the listing, the time or the documents for it are missing.
func (s step) perform(w *work) (verdict.Outcome, error) {
	if w.unproven() && !s.registry {
		return verdict.Skip("needs the listing: see registry-anchor"), nil
	}
	looked := !s.each && !s.registry || w.cfg.Standing != nil // without a clone these have next to nothing to judge
	if s.costly && looked && w.receipt() != nil && !w.src.Reaches(s.ID, w.target.Subject()) {
		return verdict.Outcome{Doubtful: checks.NotReached}, nil
	}
	if out, missing := w.needs(s.needs...); missing {
		return out, nil
	}
	return s.judge(w)
}

// needs says why a step is skipped whose documents are not there: another step reports that. A decoded Receipt needs
// its text, which the step names before it.
func (w *work) needs(kinds ...evidence.Kind) (verdict.Outcome, bool) {
	for _, k := range kinds {
		state := w.facts.Of(k).State
		if state == evidence.Obtained {
			continue
		}
		reporter := map[evidence.Kind]string{evidence.Manifest: "manifest", evidence.ReceiptText: "receipt-fetch",
			evidence.Receipt: "schema", evidence.DIDDocument: "signature"}[k]
		if k == evidence.ReceiptText && state == evidence.Unsought {
			reporter = "receipt-discovery"
			if w.facts.Manifest.State != evidence.Obtained {
				reporter = "manifest"
			}
		}
		return verdict.Skip("needs the %s: see %s", k, reporter), true
	}
	return verdict.Outcome{}, false
}

// reporters are the steps that report what the registry's checks report. A check may leave to one of these what it
// would report itself, and to no other: that would be reported by nobody.
var reporters = map[string]string{"did-resolution": "signature", "manifest-reachability": "manifest",
	"manifest-did": "identity", "receipt-fetch": "receipt-fetch", "receipt-claims": "claims",
	"peer-witnesses": "peer-witnesses", "external-audit": "external-audit"}

// members are the members of a listing, and the members of documents that findings on them are about.
type members map[string]struct {
	verdict.At
	pointer string
}

// check judges a candidate by a check of the registry. Findings are moved from the listing that nobody wrote to the
// documents that it is made of.
func (w *work) check(id string, s *checks.Subject, to members) (verdict.Outcome, error) {
	out, err := checks.ByID(id).Judge(s)
	if err != nil {
		return out, err
	}
	missing := w.facts.Of(checks.ByID(id).Owns).Code
	if step := reporters[out.DeferredTo]; step != "" {
		out.Skipped = "see " + step
	}
	for i := range out.Findings {
		f := &out.Findings[i]
		at, known := to[f.Pointer]
		if !known {
			at = to[""]
		}
		f.Pos, f.Pointer = at.Pos(""), at.pointer
		if missing == evidence.CodeNotGiven && at.pointer == "" {
			f.WithFix("give it with --%s FILE", at.Path)
		}
	}
	return out, nil
}

func judgeManifest(w *work) (verdict.Outcome, error) {
	out, err := w.check("manifest-reachability", w.subject, members{"": {manifestDocument, ""}})
	if err != nil || w.facts.Manifest.State != evidence.Obtained {
		return out, err
	}
	tool := w.facts.Manifest.Value.ToolDID
	_, unreadable := did.Parse(tool)
	switch {
	case unreadable != nil:
		message := cmp.Or(w.facts.Manifest.Value.NoDID(),
			fmt.Sprintf("the Manifest's tool.did is not a DID: %v", unreadable))
		out.Errorf(manifestDocument, "/tool/did", evidence.CodeDIDSyntax, "%s", message).
			WithFix("set tool.did in the Manifest to the implementation's DID")
	case w.target.DID != "" && !did.Same(tool, w.target.DID):
		out.Errorf(manifestDocument, "/tool/did", "manifest-did-differs",
			"the Manifest's tool.did is %.200q, the target is %.200q", tool, w.target.DID).
			WithFix("set tool.did in the Manifest to %s", w.target.DID)
	default:
		out.Verified = "is of " + tool
		if w.target.AtHand {
			out.Verified += ", as given"
		} else { // RFC 0019 section 10 asks deployments
			w.answerable(&out)
		}
	}
	return out, nil
}

// answerable warns of a Manifest that names no place for revocations, or a publisher who need not be the signer.
func (w *work) answerable(o *verdict.Outcome) {
	m := w.facts.Manifest.Value
	if !sources.IsHTTPS(m.RevocationStatus) {
		o.Warnf(manifestDocument, "/governance/revocation_status_url", "revocation-endpoint-missing",
			"governance.revocation_status_url is %.200q; expected an https URL", m.RevocationStatus).
			WithFix("set governance.revocation_status_url in the Manifest to where its revocations are published")
	}
	publisher, err := did.Parse(m.Publisher.DID)
	if m.Publisher.DID == "" || did.Same(m.Publisher.DID, m.ToolDID) ||
		err == nil && w.run.InDomain(folder.Address(publisher), m.ToolDID) {
		return
	}
	o.Warnf(manifestDocument, "/tool/publisher/did", "publisher-differs",
		"tool.publisher.did is %.200q; expected %.200s, or a did:web in its registrable domain", m.Publisher.DID,
		m.ToolDID).
		WithFix("set tool.publisher.did in the Manifest to %.200s, or have the publisher sign under its own DID",
			m.ToolDID)
}

func judgeDiscovery(w *work) (verdict.Outcome, error) {
	var out verdict.Outcome
	m := w.facts.Manifest.Value
	pointer, name := m.ReceiptMember()
	switch {
	case !m.Attested:
		out.Errorf(manifestDocument, "/conformance", "unattested",
			"the Manifest has no conformance block and no conformance_receipt_uri: the target is unattested, "+
				"and whatever policy its principal has for such applies").
			WithFix("add conformance with a receipt_uri to the Manifest, or treat the target by the policy for the " +
				"unattested")
		return out, nil
	case !sources.IsHTTPS(m.ReceiptURI):
		out.Errorf(manifestDocument, pointer, "no-receipt-uri",
			"%s is %.200q; expected an https URL", name, m.ReceiptURI).
			WithFix("set %s to the https URL of the signed Receipt", name)
	}
	addTo(&out, manifestDocument, checks.ManifestReceipt(m, w.receipt(), w.suites()))
	if uri := w.receiptURI(); uri != "" && uri != m.ReceiptURI && !out.Has(verdict.Error) {
		out.Warnf(manifestDocument, pointer, "manifest-receipt-differs",
			"the Manifest names the Receipt %.200q, judged is %.200q", m.ReceiptURI, uri).
			WithFix("set %s in the Manifest to the Receipt that is listed", name)
	}
	if !out.Has(verdict.Error) {
		out.Verified = "names " + plain.Cut(m.ReceiptURI, 200)
	}
	return out, nil
}

func judgeFetch(w *work) (verdict.Outcome, error) {
	if w.facts.ReceiptText.State == evidence.Unsought {
		out, _ := w.needs(evidence.ReceiptText)
		return out, nil
	}
	out, err := w.check("receipt-fetch", w.subject, members{"": {receiptDocument, ""}})
	if err == nil && w.facts.ReceiptText.State == evidence.Obtained && len(out.Findings) == 0 {
		out.Verified = "sha256 " + w.facts.ReceiptText.Value.SHA256
		if w.pinned != nil {
			out.Verified += ", as pinned"
		}
	}
	return out, err
}

func judgeSchema(w *work) (verdict.Outcome, error) {
	var out verdict.Outcome
	if got := w.facts.Receipt; got.State != evidence.Obtained {
		out.Errorf(receiptDocument, "", got.Code, "the Receipt is not strict JSON: %s", got.Message).
			WithFix("publish the Receipt as one strict JSON text (RFC 7493)")
		return out, nil
	}
	r := w.receipt()
	add(&out, w.signedHere(checks.ReceiptSchema(r, r.Violations())))
	if !out.Has(verdict.Error) {
		out.Verified = "valid under the receipt schema"
	}
	return out, nil
}

// suites returns the versions of the suite that the caller trusts.
func (w *work) suites() receipt.Suites {
	if w.cfg.Suites == nil {
		return receipt.TrustedSuites
	}
	return w.cfg.Suites
}

func judgeSuite(w *work) (verdict.Outcome, error) {
	var out verdict.Outcome
	r := w.receipt()
	add(&out, checks.ReceiptSuite(r, w.suites(), verdict.Error))
	if len(out.Findings) == 0 {
		out.Verified = "version " + plain.Cut(r.SuiteVersion, 100)
	}
	return out, nil
}

func judgeValidity(w *work) (verdict.Outcome, error) {
	var out verdict.Outcome
	r, now := w.receipt(), w.src.Now()
	add(&out, checks.ReceiptDates(r))
	if from := r.NotBefore.Time; now.Before(from.Add(-checks.Skew)) {
		out.Errorf(receiptDocument, "/validity/not_before", "not-yet-valid",
			"validity.not_before is %s, later than the evaluation time %s; expected at most %s ahead",
			stamp(from), stamp(now), plain.Span(checks.Skew)).
			WithFix("%s", checks.Wait(from.Add(-checks.Skew), now, w.facts.ReceiptText.From))
	}
	until := r.NotAfter.Time
	if !until.IsZero() && !now.Before(until) {
		out.Errorf(receiptDocument, "/validity/not_after", "expired",
			"validity.not_after is %s, %s before the evaluation time %s", stamp(until), plain.Span(now.Sub(until)),
			stamp(now)).WithFix("sign a Receipt whose validity.not_after is after %s", stamp(now))
	}
	if !r.NotBefore.IsZero() && !until.IsZero() {
		d := until.Sub(r.NotBefore.Time).Truncate(time.Millisecond)
		switch {
		case d <= 0 && !out.Has(verdict.Error): // within the few minutes that clocks may be apart
			out.Errorf(receiptDocument, "/validity/not_after", "window-empty",
				"validity.not_after %s is not later than not_before %s", stamp(until), stamp(r.NotBefore.Time)).
				WithFix("attest again, with a not_after that is later")
		case d > checks.Window:
			out.Warnf(receiptDocument, "/validity/not_after", "window-too-long",
				"validity.not_after is %s after not_before, %s is the default, and all that a listing may have",
				plain.Span(d), plain.Span(checks.Window)).WithFix("attest at least every 90 days")
		}
	}
	if !out.Has(verdict.Error) {
		out.Verified = "until " + stamp(until) + ", " + plain.Span(until.Sub(now)) + " left"
	}
	return out, nil
}

func judgeIdentity(w *work) (verdict.Outcome, error) {
	var out verdict.Outcome
	w.cfg.Recorded.Differs(&out)
	m, r := w.facts.Manifest.Value, w.receipt()
	_, unreadable := did.Parse(m.ToolDID) // which the step manifest reports
	if unreadable == nil && !did.Same(m.ToolDID, r.ImplementationDID) {
		out.Errorf(receiptDocument, "/implementation/did", checks.ReceiptDIDDiffers,
			"the Receipt's implementation.did is %.200q, the Manifest's tool.did is %.200q", r.ImplementationDID,
			m.ToolDID).
			WithFix("publish the Receipt that was issued for %.200s", m.ToolDID)
	}
	asked := w.target.ManifestURI
	hosts := asked == "" || checks.SameHost(asked, r.TargetURI)
	if !hosts && !w.run.InDomain(asked, r.ImplementationDID) {
		out.Errorf(manifestDocument, "", "manifest-host",
			"the Manifest is on host %.200q, neither in the domain of %.200s "+
				"nor the host %.200q of the Receipt's signed target.uri",
			hostOf(asked), r.ImplementationDID, hostOf(r.TargetURI)).
			WithFix("ask the implementation at its own host: anyone who has a Receipt can show it")
	} else if broken := w.run.Base.Policy.Broken; !hosts && broken != nil { // it may add the suffix between the two
		out.Findings = append(out.Findings, checks.PolicyUnreadable(manifestDocument, broken).Findings...)
	} else if err := w.hosted(&out); err != nil {
		return out, err
	}
	add(&out, w.run.ReceiptTarget(r, asked))
	switch {
	case out.Has(verdict.Error):
	case unreadable != nil:
		return verdict.Skip("needs the Manifest's tool.did: see manifest"), nil
	default:
		out.Verified = "the Receipt is that of " + plain.Cut(m.ToolDID, 200)
		if asked == "" {
			out.Verified += ", the Manifest's host is not known"
		}
	}
	return out, nil
}

func hostOf(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return ""
	}
	host, err := domainage.Host(u.Hostname())
	if err != nil {
		return u.Hostname()
	}
	return host
}

func judgeSignature(w *work) (verdict.Outcome, error) {
	if w.did == "" {
		return verdict.Skip("no document names a DID: see schema"), nil
	}
	out, err := w.check("did-resolution", w.subject, members{"": {didDocument, ""}})
	if err != nil {
		return out, err
	}
	r := w.receipt()
	add(&out, checks.Placeholders(r))
	if w.facts.DIDDocument.State != evidence.Obtained {
		return out, nil
	}
	var known []receipt.Known
	if m := w.facts.Manifest; m.State == evidence.Obtained {
		known = append(known, receipt.Known{Path: []string{"implementation", "did"}, Value: m.Value.ToolDID})
	}
	signed := checks.ReceiptSignature(r, w.facts.DIDDocument.Value, w.did, explain.Signature, known)
	add(&out, w.signedHere(signed))
	out.Verified = ""
	if !out.Has(verdict.Error) {
		out.Verified = signed.Verified
	}
	return out.OrPass(), nil
}

// signedHere returns an outcome whose fixes name the file of a Receipt that its owner has to sign, if a directory plays
// its host.
func (w *work) signedHere(o verdict.Outcome) verdict.Outcome {
	u, err := url.Parse(w.receiptURI())
	for i := range o.Findings {
		for _, l := range w.cfg.Local {
			host, dir, _ := strings.Cut(l, "=")
			if f := &o.Findings[i]; f.Fix == checks.SignAgain && err == nil && u.Hostname() == host {
				f.WithFix("oap-gate sign %s --key KEY --local %s=%s --in-place", plain.ShellWord(path.Join(
					filepath.ToSlash(dir), u.Path)), host, plain.ShellWord(dir))
			}
		}
	}
	return o
}

func judgeClaims(w *work) (verdict.Outcome, error) {
	var out verdict.Outcome
	r := w.receipt()
	for _, l := range w.claimed {
		if l.Exists() {
			add(&out, checks.NonCommercial(r, l))
		} else if len(out.Findings) < maxNamed {
			out.Errorf(receiptDocument, "/claimed_levels", "no-such-level",
				"claimed_levels has %.40q; the levels are L0 to L5, L1-NC, L3-NC, L5-FINANCE, L5-ORG, W1 to W3 and "+
					"C1 to C3", l).
				WithFix("attest at levels that exist")
		}
	}
	results := checks.ReceiptResults(r)
	add(&out, results)
	switch {
	case out.Has(verdict.Error):
	case len(w.claimed) == 0: // the schema demands one
		return verdict.Skip("no level is claimed: see schema"), nil
	default:
		out.Verified = "claims " + LevelList(w.claimed)
		if results.Verified != "" { // else the schema refuses the numbers
			out.Verified += ", " + results.Verified
		}
	}
	return out, nil
}

// maxNamed is how many levels that do not exist are named.
const maxNamed = 20

// LevelList returns the levels as a list for people, at most 20 of them.
func LevelList(levels []level.Level) string {
	if len(levels) == 0 {
		return "none"
	}
	var out []string
	for _, l := range levels[:min(len(levels), maxNamed)] {
		out = append(out, fmt.Sprintf("%.20s", string(l)))
	}
	return strings.Join(out, ", ")
}

func judgeWitnesses(w *work) (verdict.Outcome, error) {
	return w.eachLevel("peer-witnesses", 4, "only L4 and L5 need peer witnesses", func(l level.Level,
		s *checks.Subject) (verdict.Outcome, error) {
		r := w.receipt()
		var out verdict.Outcome
		switch {
		case w.cfg.Standing == nil && r.PeerWitnessCount == 0:
			need := "one"
			if l.Base() == 5 {
				need = "three"
			}
			out.Errorf(receiptDocument, "/peer_witnesses", "too-few-witnesses",
				"the Receipt carries no peer witness; %s requires %s", l, need).
				WithFix("have listed L4 or L5 implementations sign the Receipt")
			return out, nil
		case w.cfg.Standing == nil:
			return w.noRegistry("the accepted witnesses are not known"), nil
		}
		if out, old := w.old(); old {
			return out, nil
		}
		needs := []evidence.Kind{evidence.DIDDocument}
		if l.Base() == 5 {
			needs = append(needs, evidence.Manifest)
		}
		if out, missing := w.needs(needs...); missing {
			return out, nil
		}
		return w.check("peer-witnesses", s, members{"": {receiptDocument, "/peer_witnesses"},
			"/manifest_uri": {manifestDocument, "/tool/publisher"},
			"/tool_did":     {manifestDocument, "/tool/did"}})
	})
}

func judgeAudit(w *work) (verdict.Outcome, error) {
	return w.eachLevel("external-audit", 5, "only L5 needs an external audit", func(_ level.Level,
		s *checks.Subject) (verdict.Outcome, error) {
		return w.check("external-audit", s, members{"": {receiptDocument, "/external_audit"}})
	})
}

// eachLevel judges each claimed level from one on, which is at least 4, and joins what was found.
func (w *work) eachLevel(id string, from int, not string,
	judge func(level.Level, *checks.Subject) (verdict.Outcome, error)) (verdict.Outcome, error) {
	var all verdict.Outcome
	worst := verdict.Skipped
	w.levels[id] = map[level.Level]verdict.Verdict{}
	for _, l := range w.claimed {
		if l.Base() < from || w.levels[id][l] != "" {
			continue
		}
		out, err := judge(l, w.candidates[l])
		if err != nil {
			return out, err
		}
		v, err := out.Verdict()
		if err != nil {
			return out, fmt.Errorf("step %s of level %s: %w", id, l, err)
		}
		w.levels[id][l] = v
		all.Passed = true
		for _, f := range out.Findings {
			if !slices.Contains(all.Findings, f) {
				all.Findings = append(all.Findings, f)
			}
		}
		if len(w.levels[id]) == 1 || v.Worse(worst) {
			worst = v
			all.Skipped, all.Doubtful, all.Verified = out.Skipped, out.Doubtful, out.Verified
		}
	}
	if len(w.levels[id]) == 0 {
		return verdict.Skip("%s", not), nil
	}
	return all, nil
}
