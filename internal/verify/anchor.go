package verify

import (
	"fmt"
	"slices"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/checks"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/git/gitobject"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/did"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/level"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// warnAge is the age of a clone from which on a step warns where the caller set no limit.
const warnAge = 14 * plain.Day

// noRegistry returns the finding of a step that needs the clone which was not given.
func (w *work) noRegistry(why string) verdict.Outcome {
	var out verdict.Outcome
	fix := nameClone
	if !w.cfg.Without && !slices.ContainsFunc(w.claimed, needsWitness) { // L4 and L5 need a clone in any case
		fix += ", or say --without-registry"
	}
	out.Doubtf(verdict.At{}, "", "no-registry", "no clone of the registry was given, so that %s", why).
		WithFix("%s", fix)
	return out
}

// nameClone is the fix of a run without a clone.
const nameClone = "name a clone with --registry DIR"

// old returns the finding of a step if the clone is older than the caller allows.
func (w *work) old() (verdict.Outcome, bool) {
	var out verdict.Outcome
	if w.cfg.MaxAge == 0 || !w.olderThan(w.cfg.MaxAge) {
		return out, false
	}
	w.agedFinding(&out, verdict.Doubt, w.cfg.MaxAge)
	return out, true
}

// olderThan reports whether the clone is older than that, or shows no time that counts.
func (w *work) olderThan(most time.Duration) bool {
	when := w.cfg.Clone.When(w.src.Now())
	return when.IsZero() || w.src.Now().Sub(when) > most
}

func (w *work) agedFinding(o *verdict.Outcome, severity verdict.Severity, most time.Duration) {
	c, now := w.cfg.Clone, w.src.Now()
	when := c.When(now)
	var age string
	switch {
	case when.IsZero() && c.Mirror && c.Fetched.IsZero():
		age = "the mirror has not verified its tip as the origin's"
	case when.IsZero() && c.Mirror:
		age = fmt.Sprintf("the mirror shows no time that counts: its last run of %s is ahead of now", stamp(c.Fetched))
	case when.IsZero():
		age = fmt.Sprintf("the clone shows no time that counts: its head is of %s, ahead of now", stamp(c.Changed))
	case when.Equal(c.Fetched):
		age = fmt.Sprintf("the clone was last fetched at %s, %s ago", stamp(when), plain.Span(now.Sub(when)))
	default:
		age = fmt.Sprintf("the clone does not show a later fetch than its head of %s, %s ago", stamp(when),
			plain.Span(now.Sub(when)))
	}
	f := o.Add(verdict.At{}, severity, "", "clone-old",
		"%s; expected at most %s; the registry has not changed since %s in it, and a later revocation is not there",
		age, plain.Span(most), stamp(c.Changed))
	f.Commit = c.Commit
	f.WithFix("%s", c.update())
}

// thawed returns a step that warns of a mirror that is frozen, in addition to what judge finds.
func thawed(judge func(*work) (verdict.Outcome, error)) func(*work) (verdict.Outcome, error) {
	return func(w *work) (verdict.Outcome, error) {
		out, err := judge(w)
		c := w.cfg.Clone
		if err != nil || c == nil || c.Frozen == "" || out.Skipped != "" {
			return out, err
		}
		f := out.Warnf(verdict.At{}, "", "mirror-frozen", "the mirror is frozen since %s: %s", stamp(c.Fetched),
			c.Frozen)
		f.Commit = c.Commit
		f.WithFix("run oap-gate mirror, and read its last line")
		return out, nil
	}
}

// path returns the file of the listing that anchors the Receipt, else of the first that lists the DID, or "".
func (w *work) path() string {
	if l := w.anchoring(); l != nil {
		return l.Path
	}
	for _, l := range w.listed() {
		return l.Path
	}
	return ""
}

// anchoring returns the clone's listing that pins the served Receipt, or nil.
func (w *work) anchoring() *checks.Listed {
	for _, l := range w.listed() {
		if l.ReceiptSHA256 == w.facts.ReceiptText.Value.SHA256 {
			return l
		}
	}
	return nil
}

// listed returns the clone's listings of the DID.
func (w *work) listed() []*checks.Listed {
	if w.did == "" || w.cfg.Standing == nil {
		return nil
	}
	return slices.DeleteFunc(w.cfg.Standing.ByDID(w.did),
		func(l *checks.Listed) bool { return !did.Same(l.ToolDID, w.did) })
}

// current returns the clone's listings of the DID, and their states.
func (w *work) current() ([]anchorListing, error) {
	var out []anchorListing
	for _, l := range w.listed() {
		is, err := w.run.State(l)
		if err != nil {
			return nil, err
		}
		out = append(out, anchorListing{l, is})
	}
	return out, nil
}

// An anchorListing is a listing of the clone, and its state.
type anchorListing struct {
	*checks.Listed
	is *checks.State
}

func judgeRevocation(w *work) (verdict.Outcome, error) {
	var out verdict.Outcome
	switch {
	case w.byProof():
		return judgeRevocationByProof(w)
	case w.cfg.Standing == nil && !w.cfg.Without:
		return w.noRegistry("revocations were not looked at"), nil
	case w.cfg.Standing == nil:
		return verdict.Skip("revocations were not looked at: --without-registry"), nil
	}
	if out, missing := w.needs(aReceipt...); missing {
		return out, nil
	}
	found, err := w.run.Withdrawn(w.did, w.facts.ReceiptText.Value.SHA256, w.receipt().NotBefore.Time)
	if err != nil {
		return out, err
	}
	commit := w.cfg.Clone.Commit
	if found.Revoked != "" {
		f := out.Errorf(receiptDocument, "", "revoked",
			"the Receipt, or a later one of the same implementation, is revoked by %s", plain.Cut(found.Revoked, 300))
		f.WithFix("do not rely on it; the implementation must sign a new Receipt")
		f.Commit = commit
	}
	irregular(&out, found, commit)
	if out.Has(verdict.Error) {
		return out, nil
	}
	if u := found.Unclear; u != nil {
		f := out.Doubtf(receiptDocument, "/validity/not_before", "revocation-unclear",
			"%s revokes a Receipt that commit %.12s pinned at %s; expected validity.not_before after that time, or "+
				"that the head pins the served bytes", plain.Cut(u.Path, 300), u.Commit, stamp(u.When))
		f.WithFix("have the renewal merged into the registry, and fetch the clone")
		f.Commit = u.Commit
	}
	for _, path := range found.Unreadable[:min(len(found.Unreadable), maxNamed)] {
		f := out.Doubtf(verdict.At{}, "", "clone-unreadable",
			"%s cannot be read at the head; expected a record, since it may be about %.200s", plain.Cut(path, 300),
			w.did)
		f.WithFix(checks.Restore)
		f.Commit = commit
	}
	if len(found.Unreadable) > 0 || found.Unclear != nil {
		return out, nil
	}
	old, is := w.old()
	if is {
		out.Findings = append(old.Findings, out.Findings...)
		return out, nil
	}
	if w.cfg.MaxAge == 0 && w.olderThan(warnAge) {
		w.agedFinding(&out, verdict.Warning, warnAge)
	}
	out.Verified = "no revocation in force names it"
	if st := w.cfg.Standing; !found.Listed && len(st.ByDID(w.did))+len(st.RefusedBy(w.did)) == 0 {
		out.Verified = "the clone lists no such DID, so that nothing of it is revoked"
	}
	return out, nil
}

// irregular warns of the revocations under the implementation's slugs that are not where, or no longer what, the
// registry's rules demand. They count all the same.
func irregular(o *verdict.Outcome, found *checks.Withdrawal, commit string) {
	for _, path := range found.Misplaced[:min(len(found.Misplaced), maxNamed)] {
		f := o.Warnf(verdict.At{}, "", "misplaced-revocation",
			"%s is a revocation under another name; expected revocations/<slug>-<sha256>.json; it counts anyway",
			plain.Cut(path, 300))
		f.WithFix("have a pull request to the registry add the revocation under its right name")
		f.Commit = commit
	}
	for _, r := range found.Removed[:min(len(found.Removed), maxNamed)] {
		f := o.Warnf(verdict.At{}, "", "revocation-removed",
			"%s is gone or changed at the head; expected what the registry held from %s on; it counts anyway",
			plain.Cut(r.Path, 300), stamp(r.When))
		f.WithFix("have a pull request to the registry restore it: git checkout %s -- %s; the gate verifies it again",
			r.Commit, plain.ShellWord(r.Path))
		f.Commit = r.Commit
	}
}

func judgeAnchor(w *work) (verdict.Outcome, error) {
	const id = "registry-anchor"
	if w.byProof() {
		return judgeAnchorByProof(w)
	}
	var out verdict.Outcome
	if missing, is := w.needs(aReceipt...); is && w.cfg.Standing != nil {
		return missing, nil
	}
	w.levels[id] = map[level.Level]verdict.Verdict{}
	highLevels := false
	for _, l := range w.claimed {
		if needsWitness(l) {
			highLevels = true
			w.levels[id][l] = verdict.Inconclusive
		}
	}
	if w.cfg.Standing == nil {
		if highLevels || !w.cfg.Without {
			return w.noRegistry("nothing shows that it lists the Receipt"), nil
		}
		return verdict.Skip("the registry was not looked at: --without-registry"), nil
	}
	if out, old := w.old(); old {
		return out, nil
	}
	if err := w.anchors(&out, w.levels[id]); err != nil {
		return out, err
	}
	w.claimedAnchor(&out)
	if len(w.claimed) == 0 && len(out.Findings) == 0 {
		return verdict.Skip("the Receipt claims no level"), nil
	}
	return out, nil
}

// anchors holds each claimed level against the listings of the DID.
func (w *work) anchors(o *verdict.Outcome, levels map[level.Level]verdict.Verdict) error {
	listed, err := w.current()
	if err != nil {
		return err
	}
	var anchor *anchorListing
	warned := map[string]bool{}
	for _, l := range w.claimed {
		high, missing := needsWitness(l), fmt.Sprintf("the clone has no listing of %.200s", w.did)
		for _, c := range listed {
			why := w.unanchored(c, l)
			if missing = why; why == "" {
				anchor = &c
				break
			}
		}
		if high {
			levels[l] = verdict.Passed
		}
		if refused := w.cfg.Standing.RefusedBy(w.did); missing != "" && len(listed) == 0 && len(refused) > 0 {
			if high {
				levels[l] = verdict.Failed
			}
			w.mirrorRefused(o, refused[0].Path, high, warned)
			continue
		}
		switch {
		case missing != "" && high:
			levels[l] = verdict.Failed
			if !warned["error "+missing] {
				o.Errorf(receiptDocument, "", "not-anchored", "%s, which %s needs", missing, l).
					WithFix("%s", w.listFix(listed))
			}
			warned["error "+missing] = true
		case missing != "":
			if !warned[missing] {
				o.Warnf(receiptDocument, "", "not-anchored", "%s (RFC 0019 section 12 requires it)", missing).
					WithFix("%s", w.listFix(listed))
			}
			warned[missing] = true
		case anchor.is.Status == verdict.StatusProvisional && !warned["provisional"]:
			o.Warnf(receiptDocument, "", "provisional", "%s is provisional: the domain is young, or of unknown age",
				anchor.Path).
				WithFix("wait until the listing is issued again without it, or has been there for 30 days")
			warned["provisional"] = true
		}
	}
	if anchor == nil {
		return nil
	}
	brought, err := w.run.Brought(anchor.Path)
	if err != nil {
		return err
	}
	o.Passed = true
	if brought.Commit != "" {
		f := o.Noticef(receiptDocument, "", "anchored", "%s pins these bytes since %s", anchor.Path,
			stamp(brought.When))
		f.Commit = brought.Commit
		o.Verified = fmt.Sprintf("%s, brought by commit %s", anchor.Path, brought.Commit)
	}
	return nil
}

// listFix returns what lists the Receipt: a listing of the DID is renewed.
func (w *work) listFix(listed []anchorListing) string {
	if len(listed) > 0 {
		return "oap-gate renew " + plain.ShellWord(listed[0].Slug)
	}
	return "oap-gate new SLUG " + plain.ShellWord(plain.Cut(w.target.Text, 200))
}

// mirrorRefused reports once for each severity that the mirror does not count the listing of the DID.
func (w *work) mirrorRefused(o *verdict.Outcome, path string, high bool, told map[string]bool) {
	severity := verdict.Warning
	if high {
		severity = verdict.Error
	}
	if key := severity.String() + " refused"; !told[key] {
		told[key] = true
		o.Add(receiptDocument, severity, "", "mirror-refused", "the mirror refused %s in its run of %s", path,
			stamp(w.cfg.Clone.Fetched)).
			WithFix("read report.json in the mirror's directory, or ask the mirror's operator")
	}
}

// unanchored says why a listing does not anchor the Receipt at a level, empty where it does.
func (w *work) unanchored(c anchorListing, l level.Level) string {
	sum := w.facts.ReceiptText.Value.SHA256
	switch {
	case c.ReceiptSHA256 != sum:
		return fmt.Sprintf("%s pins %s, the served bytes have %s", c.Path, c.ReceiptSHA256, sum)
	case c.is.Status == verdict.StatusRefused:
		return fmt.Sprintf("%s is refused: it %s (%s)", plain.Cut(c.Path, 300), c.is.Why, c.is.RefusedBy)
	case !w.src.Now().Before(c.Expires):
		return fmt.Sprintf("%s expired on %s", c.Path, stamp(c.Expires))
	case c.Level.Base() < l.Base():
		return fmt.Sprintf("%s is at %s, the Receipt claims %s", c.Path, c.Level, l)
	case c.is.Status == verdict.StatusProvisional && needsWitness(l):
		return fmt.Sprintf("%s is provisional", c.Path)
	}
	return ""
}

// claimedAnchor holds the member registry_anchor against the clone. It decides nothing: it is in the bytes that the
// commit pins, so that it cannot be right.
func (w *work) claimedAnchor(o *verdict.Outcome) {
	r := w.receipt()
	if !r.RegistryAnchor {
		return
	}
	const at = "/registry_anchor"
	_, err := gitobject.ParseID(r.AnchorCommit) // no other revision is looked up
	if err == nil {
		_, err = w.cfg.Clone.Repo.Commit(w.ctx, r.AnchorCommit)
	}
	if err != nil {
		o.Warnf(receiptDocument, at+"/commit_sha", "anchor-claim",
			"registry_anchor names the commit %.80q, which the clone does not hold", r.AnchorCommit).
			WithFix("leave registry_anchor out: nothing depends on it")
		return
	}
	if path := w.path(); path != "" && r.AnchorPath != path {
		o.Warnf(receiptDocument, at+"/file_path", "anchor-claim",
			"registry_anchor names %.200q, the clone lists the DID in %s", r.AnchorPath, path).
			WithFix("leave registry_anchor out: nothing depends on it")
	}
}
