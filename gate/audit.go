package gate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/checks"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence"
	"github.com/openagentprotocol-OAP/oap-gate/internal/gitstore"
	"github.com/openagentprotocol-OAP/oap-gate/internal/memo"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// AuditConfig is what an audit is told beside what every run is.
type AuditConfig struct {
	Config
	Archive       bool   // a pinned document whose origin is gone is looked up by its hash
	Strict        bool   // expired and revoked listings are failures
	Verified      string // tip that an earlier audit verified; empty: the history is judged from its root
	VerifiedSize  int    // how many first-parent commits there are up to Verified, itself included
	Shard, Of     int    // only the Shard-th of Of parts of the records, counted from 1; Of 0: all
	Signatures    func(ctx context.Context, commit string) (CommitSignature, error)
	Keys          bool // there are keys to judge signatures by; else they are counted only
	RequireSigned bool
	Consistency   []verdict.Finding // what comparing with a checkpoint and with peers gave
	Peers         []verdict.Peer
	Checkpoint    string // last verified tip, for the report
	Accepted      *verdict.Accepted
	Spool         verdict.Spool // of the results; the zero value keeps all in memory
	SignedSince   string        // from this first-parent commit on RequireSigned holds; empty: from the root
}

// CommitSignature is the verdict on one commit's signature: good, bad, unsigned, unknown key, expired key.
type CommitSignature struct {
	Verdict string
	Key     string // fingerprint or id, empty where none is named
	Signer  string // whose key it is, empty where that is not known
	Detail  string
}

// Audit revalidates a clone at a commit: its first-parent history, the signatures of its commits, and every
// record at the head.
func Audit(ctx context.Context, repo *registry.Repository, head string, src evidence.Source,
	cfg AuditConfig) (*verdict.Report, error) {
	tree, err := repo.Tree(ctx, head)
	if err != nil {
		return nil, err
	}
	if cfg.Checkpoint == "" { // what was verified before was a registry, and consistency says what became of it
		if err := wasRegistry(ctx, repo, tree); err != nil {
			return nil, err
		}
	}
	rep := NewReport("audit", src, cfg.Config)
	rep.Head, rep.Strict, rep.RequireSigned, rep.Accepted = head, cfg.Strict, cfg.RequireSigned, cfg.Accepted
	if cfg.Spool.File != nil {
		rep.Results.Spool(cfg.Spool, checks.Rules())
	}
	if cfg.Of > 0 {
		rep.Shard = fmt.Sprintf("%d/%d", cfg.Shard, cfg.Of)
	}
	a := &audit{ctx: ctx, git: context.WithoutCancel(ctx), repo: repo, head: head, tree: tree, src: src, cfg: cfg,
		rep: rep, join: newJoin(rep),
		used: map[int]bool{}}
	if err := a.walk(); err != nil {
		return nil, err
	}
	a.consistency()
	if err := a.records(); err != nil {
		return nil, err
	}
	if err := a.join.done(); err != nil {
		return nil, err
	}
	if err := settle(rep, src); err != nil {
		return nil, err
	}
	nameCommits(rep, repo)
	noteInterrupted(ctx, rep)
	if rep.Verdict == verdict.Passed && slices.Contains(rep.Assumed, Interrupted) { // of a replay, too
		rep.Verdict = verdict.Inconclusive
	}
	return rep, nil
}

// wasRegistry is nil where a tree, or that of a first-parent commit before it, has one of the data folders: to take the
// last record away makes no other repository of a registry.
func wasRegistry(ctx context.Context, repo *registry.Repository, head *registry.Tree) error {
	has := func(t *registry.Tree) (bool, error) {
		for _, k := range registry.DataKinds {
			if _, found, err := t.Entry(k.Folder()); err != nil || found {
				return found, err
			}
		}
		return false, nil
	}
	if found, err := has(head); err != nil || found {
		return err
	}
	chain, err := repo.FirstParents(ctx, "", head.Commit())
	if err != nil {
		return err
	}
	for _, commit := range slices.Backward(chain) {
		t, err := repo.Tree(ctx, commit)
		if err != nil {
			return err
		}
		if found, err := has(t); err != nil || found {
			return err
		}
	}
	return fmt.Errorf("%w: none of the %d first-parent commits up to %s has one of the folders implementations/, "+
		"revocations/, peer-witnesses/, workflow-anchors/", ErrNoRegistry, len(chain), head.Commit())
}

// Interrupted stands among what a report assumes where the run was asked to end before its time.
const Interrupted = "interrupted"

func noteInterrupted(ctx context.Context, rep *verdict.Report) {
	if ctx.Err() != nil && !slices.Contains(rep.Assumed, Interrupted) {
		rep.Assumed = append(rep.Assumed, Interrupted)
	}
}

type audit struct {
	git    context.Context // of reading the clone: an audit that is asked to end still reports
	ctx    context.Context
	repo   *registry.Repository
	head   string
	tree   *registry.Tree
	src    evidence.Source
	cfg    AuditConfig
	rep    *verdict.Report
	join   *join
	ledger *checks.Ledger
	cut    bool // the run's budget ended the walk through the history
	unsure int  // steps of the walk before RequireSigned holds
	used   map[int]bool

	unsigned bool // a signature that RequireSigned demands is missing
}

// ErrSignedSince: --signed-since names a commit that is not on the chain.
var ErrSignedSince = errors.New("not on the first-parent chain of the head")

// signedSince is how many of the steps that are walked come before the commit from which on signatures are demanded.
func (a *audit) signedSince(walked int) (int, error) {
	if a.cfg.SignedSince == "" {
		return 0, nil
	}
	after, err := a.repo.FirstParents(a.git, a.cfg.SignedSince, a.head)
	if err != nil {
		return 0, fmt.Errorf("--signed-since %s: %w: %w", a.cfg.SignedSince, ErrSignedSince, err)
	}
	return max(0, walked-len(after)-1), nil
}

// accept makes a warning of a finding that was accepted.
func (a *audit) accept(check string, f *verdict.Finding) bool {
	if a.cfg.Accepted == nil {
		return false
	}
	for i, l := range a.cfg.Accepted.Lines {
		if l.Check == check && l.Code == f.Code && l.Commit == f.Commit {
			l.Accept(f)
			a.used[i] = true
			return true
		}
	}
	return false
}

// unused are the warnings of lines of a check that are of no finding, in this run or before the commit from which on it
// walks.
func (a *audit) unused(check string) ([]verdict.Finding, error) {
	if a.cfg.Accepted == nil || a.cut || a.ctx.Err() != nil {
		return nil, nil
	}
	var out []verdict.Finding
	for i, l := range a.cfg.Accepted.Lines {
		if l.Check != check || a.used[i] {
			continue
		}
		if a.cfg.Verified != "" {
			switch _, err := a.repo.FirstParents(a.git, l.Commit, a.cfg.Verified); {
			case err == nil:
				continue
			case !errors.Is(err, registry.ErrNotAncestor) && !errors.Is(err, gitstore.ErrNotFound):
				return nil, err
			}
		}
		out = append(out, l.Unused())
	}
	return out, nil
}

// walk judges the history and the signatures of its commits.
func (a *audit) walk() error {
	var err error
	if a.cfg.Verified == "" {
		a.ledger = checks.NewLedger(a.repo)
	} else if a.ledger, err = checks.LedgerAt(a.git, a.repo, a.cfg.Verified); err != nil {
		return err
	}
	h := &verdict.History{Checkpoint: a.cfg.Checkpoint, Peers: a.cfg.Peers}
	a.rep.History = h
	since, err := a.repo.FirstParents(a.git, a.cfg.Verified, a.head)
	if err != nil {
		return err
	}
	h.Commits = a.cfg.VerifiedSize + len(since)
	if a.unsure, err = a.signedSince(len(since)); err != nil {
		return err
	}
	tip, err := a.repo.Commit(a.git, a.head)
	if err != nil {
		return err
	}
	h.HeadTime = tip.When
	judged := a.cfg.Selected(checks.History.ID)
	var signatures verdict.Outcome
	bySubject := map[string]*verdict.Outcome{}
	first := ""
	found := func(s *registry.Step, path string, f verdict.Finding) {
		out := bySubject[path]
		if out == nil {
			out = &verdict.Outcome{}
			bySubject[path] = out
		}
		out.Findings = append(out.Findings, f)
		if first == "" && f.Severity == verdict.Error {
			first = fmt.Sprintf("; the first at fault is %s of %s: %s", s.Commit.ID,
				s.Commit.When.UTC().Format(time.RFC3339), path)
		}
	}
	governance, governed := 0, (*registry.Step)(nil) // how many steps change governance files alone, and the last
	var before time.Time                             // of the first parent
	if a.cfg.Verified != "" {
		c, err := a.repo.Commit(a.git, a.cfg.Verified)
		if err != nil {
			return err
		}
		before = c.When
	}
	err = a.repo.Steps(a.git, a.cfg.Verified, a.head, func(s *registry.Step) error {
		if a.ctx.Err() != nil {
			return a.ctx.Err()
		}
		if !a.src.Reaches(checks.History.ID, s.Commit.ID) {
			a.cut = true
			return errCut
		}
		h.Walked++
		faults, err := a.ledger.Step(a.git, s)
		if err != nil {
			return fmt.Errorf("judging commit %s: %w", s.Commit.ID, err)
		}
		for _, f := range faults {
			if f.Code == "governance" {
				governance, governed = governance+1, s
				continue
			}
			finding := historical(f)
			a.accept(checks.History.ID, &finding)
			found(s, f.Path, finding)
		}
		if s.Commit.When.Before(before.Add(-checks.Skew)) {
			found(s, checks.RegistrySubject, backdated(s, before))
		}
		before = s.Commit.When
		return a.signature(s, &signatures, &h.Signatures)
	})
	if governance > 0 {
		found(governed, checks.RegistrySubject, ofGovernance(governance, governed))
	}
	if a.ctx.Err() != nil {
		a.join.add(checks.History, checks.RegistrySubject,
			verdict.Outcome{Doubtful: fmt.Sprintf("interrupted after %d commits", h.Walked)})
	} else if err != nil && !a.cut {
		return err
	}
	if a.cut {
		signatures.Doubtful = checks.NotReached
	}
	if a.cut && judged {
		a.join.add(checks.History, checks.RegistrySubject,
			budgetSpent(fmt.Sprintf("%d of %d first-parent commits were not judged", len(since)-h.Walked, h.Commits)))
	}
	if !judged {
		a.join.add(checks.History, checks.RegistrySubject, verdict.Outcome{Skipped: checks.LeftOut})
	} else {
		if bySubject[checks.RegistrySubject] == nil {
			bySubject[checks.RegistrySubject] = &verdict.Outcome{}
		}
		unused, err := a.unused(checks.History.ID)
		if err != nil {
			return err
		}
		bySubject[checks.RegistrySubject].Findings = append(bySubject[checks.RegistrySubject].Findings, unused...)
		bySubject[checks.RegistrySubject].Verified = fmt.Sprintf("%d of %d first-parent commits judged", h.Walked,
			h.Commits) + first
		for _, path := range slices.Sorted(maps.Keys(bySubject)) {
			a.join.add(checks.History, path, *bySubject[path])
		}
	}
	counted := h.Signatures.String()
	switch {
	case !a.cfg.Selected(checks.CommitSignatures.ID):
		signatures = verdict.Outcome{Skipped: checks.LeftOut}
	case !a.cfg.Keys:
		signatures = verdict.Outcome{Skipped: "no --keyring and no --allowed-signers: " + counted}
	default:
		signatures.Verified = counted
		unused, err := a.unused(checks.CommitSignatures.ID)
		if err != nil {
			return err
		}
		signatures.Findings = append(signatures.Findings, unused...)
	}
	a.join.add(checks.CommitSignatures, checks.RegistrySubject, signatures)
	return nil
}

// backdated is the warning of a commit that is dated before its first parent: its date is that by which what it brought
// is judged.
func backdated(s *registry.Step, before time.Time) verdict.Finding {
	return verdict.Finding{Severity: verdict.Warning, Code: "dated-before-parent", Commit: s.Commit.ID,
		Message: fmt.Sprintf("this commit is of %s, and its first parent of %s: what it brought is judged by the "+
			"earlier date",
			s.Commit.When.UTC().Format(time.RFC3339), before.UTC().Format(time.RFC3339)),
		Fix: "ask the maintainers who made commit " + s.Commit.ID}
}

// ofGovernance is the notice of the commits that change governance files alone. It is one for all of them: they were
// reviewed when they were merged, and none is at fault.
func ofGovernance(n int, last *registry.Step) verdict.Finding {
	commits := "1 commit changes"
	if n > 1 {
		commits = fmt.Sprintf("%d commits change", n)
	}
	return verdict.Finding{Severity: verdict.Notice, Code: "governance",
		Message: fmt.Sprintf("append-only: %s governance files and no record, the last is %.12s of %s", commits,
			last.Commit.ID, last.Commit.When.UTC().Format(time.RFC3339))}
}

// historical is a fault of one commit as an audit shows it: mixed kinds of files are a warning here.
func historical(f checks.Fault) verdict.Finding {
	if f.Code == "mixed" {
		f.Severity = verdict.Warning
	}
	f.Message = f.Check + ": " + f.Message
	return f.Finding
}

// maxSignatureFindings is how many commits with a bad signature are named; the counts are complete.
const maxSignatureFindings = 1000

func (a *audit) signature(s *registry.Step, out *verdict.Outcome, n *verdict.Signatures) error {
	if a.cfg.Signatures == nil || !a.cfg.Selected(checks.CommitSignatures.ID) {
		return nil
	}
	sig, err := a.cfg.Signatures(a.git, s.Commit.ID)
	if err != nil {
		return err
	}
	severity := verdict.Warning
	if a.cfg.RequireSigned && a.rep.History.Walked > a.unsure {
		severity = verdict.Error
	}
	switch sig.Verdict {
	case "good":
		n.Good++
		return nil
	case "bad":
		n.Bad++
	case "unsigned":
		n.Unsigned++
	case "unknown key":
		n.UnknownKey++
	case "expired key":
		n.ExpiredKey++
	default:
		return fmt.Errorf("verifying commit %s: unexpected verdict %q", s.Commit.ID, sig.Verdict)
	}
	if a.cfg.Keys {
		message := "the commit's signature is " + sig.Verdict
		switch sig.Verdict {
		case "unsigned":
			message = "the commit is not signed"
		case "unknown key", "expired key":
			message = "the commit is signed by an " + sig.Verdict
		}
		if by := strings.TrimSpace(sig.Key + " " + sig.Signer); by != "" {
			message += " (" + by + ")"
		}
		if sig.Detail != "" {
			message += ": " + sig.Detail
		}
		f := verdict.Finding{Severity: severity, Code: "signature-" + strings.ReplaceAll(sig.Verdict, " ", "-"),
			Commit: s.Commit.ID, Message: message, Fix: "ask the maintainers who made commit " + s.Commit.ID}
		// The first failure is told in any case: those that are warnings must not take its place.
		fails := !a.accept(checks.CommitSignatures.ID, &f) && severity == verdict.Error
		if len(out.Findings) < maxSignatureFindings || fails && !a.unsigned {
			out.Findings = append(out.Findings, f)
		}
		a.unsigned = a.unsigned || fails
	}
	return nil
}

func (a *audit) consistency() {
	out := verdict.Outcome{Findings: a.cfg.Consistency}
	switch {
	case !a.cfg.Selected(checks.Consistency.ID):
		out = verdict.Outcome{Skipped: checks.LeftOut}
	case a.cfg.Checkpoint == "" && len(a.cfg.Peers) == 0 && len(out.Findings) == 0:
		out.Skipped = "no --checkpoint to compare with, and no --peer"
	case len(out.Findings) == 0:
		out.Verified = "the checkpoint and every peer lie on this history"
	}
	a.join.add(checks.Consistency, checks.RegistrySubject, out)
}

// ofRecords reports whether any check was asked for that looks at what stands at the head.
func (a *audit) ofRecords() bool {
	return slices.ContainsFunc(checks.All, func(c *checks.Check) bool { return !c.PerCommit && a.cfg.Selected(c.ID) })
}

// records judges every record at the head.
func (a *audit) records() error {
	if !a.ofRecords() {
		return nil // to read them all and say nothing of them takes longer than the history
	}
	if a.cut {
		return a.unreached()
	}
	rng := &registry.Range{Base: a.tree, Head: a.tree, Result: a.tree}
	run := &checks.Run{Catalogue: checks.All, Context: a.git, Repo: a.repo, Range: rng, Now: a.src.Now(),
		Offline: a.cfg.Offline, Audit: true, Selected: a.cfg.Selected, Memo: memo.New(maxMemo),
		Reach: reach(a.src, a.head)}
	var err error
	if run.Base, err = checks.NewStanding(a.git, a.tree, func(string) bool { return true }); err != nil {
		return err
	}
	for _, k := range registry.DataKinds {
		entries, err := a.tree.Data(k)
		if err != nil {
			return err
		}
		for _, e := range entries {
			if registry.KindOf(e.Path) != k || !a.mine(e.Path) {
				continue
			}
			s, err := a.subject(run, e)
			if err != nil {
				return err
			}
			run.Subjects = append(run.Subjects, s)
		}
	}
	slices.SortFunc(run.Subjects, func(x, y *checks.Subject) int { return strings.Compare(x.Path, y.Path) })
	if err := a.join.registry(run); err != nil {
		return err
	}
	judged, err := judgeSubjects(a.ctx, run, a.src, a.cfg.Archive)
	if err != nil {
		return err
	}
	for i, s := range run.Subjects {
		a.rep.Counts.Records++
		status := a.status(run, s)
		for j := range judged[i] {
			a.soften(s, status, &judged[i][j])
		}
		blame(judged[i])
		for _, one := range judged[i] {
			a.join.alone(one.check, s.Path, one.Outcome)
		}
		if s.Kind == registry.KindListing && s.Listing != nil {
			a.rep.Listings = append(a.rep.Listings, listed(run, s, status, judged[i]))
		}
	}
	a.join.notReached(run, judged)
	return nil
}

// errCut ends the walk through the history.
var errCut = errors.New("the run's budget is spent")

// unreached says of each check that judges records that the budget left no time for any: who brought a record, and
// when, is not known until the whole history was walked.
func (a *audit) unreached() error {
	for _, c := range checks.All {
		if a.cfg.Selected(c.ID) && !c.PerCommit && !(a.cfg.Offline && c.Online()) {
			a.join.add(c, checks.RegistrySubject, budgetSpent("no record was judged"))
		}
	}
	return nil
}

// mine reports whether a record belongs to this shard. A slug's listing, revocations and anchors go together.
func (a *audit) mine(path string) bool {
	if a.cfg.Of == 0 {
		return true
	}
	return ShardOf(path, a.cfg.Of) == a.cfg.Shard
}

// ShardOf is the part, from 1 to of, that a record belongs to, by the slug in its name.
func ShardOf(path string, of int) int {
	slug := strings.TrimSuffix(path[strings.LastIndexByte(path, '/')+1:], ".json")
	if registry.KindOf(path) == registry.KindRevocation && len(slug) > 65 {
		slug = slug[:len(slug)-65]
	}
	h := fnv.New32a()
	h.Write([]byte(slug))
	return int(uint64(h.Sum32())%uint64(of)) + 1
}

// subject is one record at the head, with the tree and time by which it was judged when it was merged.
func (a *audit) subject(run *checks.Run, e registry.NamedEntry) (*checks.Subject, error) {
	s, err := checks.NewSubject(run, registry.Change{Path: e.Path, Head: &e.Entry})
	if err != nil {
		return nil, err
	}
	high := s.Listing != nil && s.Listing.Level.Base() >= 4
	merged := s.Revocation != nil || s.Anchor != nil
	if s.Listing == nil && !merged {
		return s, nil
	}
	if a.cfg.Offline && !high && !merged {
		return s, nil // neither its age nor its witnesses will be judged
	}
	origin, err := a.ledger.Origin(a.git, e.Path)
	if err != nil {
		return s, err
	}
	s.Stood = origin.First
	if !high && !merged {
		return s, nil
	}
	s.Then = &checks.Then{When: origin.When}
	if origin.Parent == "" {
		s.Then.Tree = a.repo.EmptyTree()
		return s, nil
	}
	if s.Then.Tree, err = a.repo.Tree(a.git, origin.Parent); err != nil {
		return nil, err
	}
	s.Then.Policy, err = checks.ReadPolicy(a.git, s.Then.Tree)
	return s, err
}

// status is what can be said of a listing before its evidence is judged.
func (a *audit) status(run *checks.Run, s *checks.Subject) string {
	switch {
	case s.Kind != registry.KindListing || s.Listing == nil:
		return ""
	case run.Revoked(s.Path, s.Listing.ReceiptSHA256) != "":
		return verdict.StatusRevoked
	case !s.Listing.Expires.IsZero() && !run.Now.Before(s.Listing.Expires):
		return verdict.StatusExpired
	}
	return verdict.StatusValid
}

// soften makes of a check's outcome what it means in an audit, by what each finding rests on:
//
//	            in force                          no longer in force
//	Text        stays                             notice, and the check is skipped
//	World       of a merged statement: notice     notice, and the check is skipped
//	Lapsed      warning, strict: error            warning, strict: error
//
// What a check that runs First found stays in either case. A statement is what others vouched for when it was merged: a
// listing at L4 or L5, a revocation, an anchor. A listing's own documents have to stand today: they are Text.
func (a *audit) soften(s *checks.Subject, status string, j *judgement) {
	inForce := status == verdict.StatusValid || status == ""
	missing := ""
	for i := range j.Findings {
		f := &j.Findings[i]
		switch {
		case f.Basis == verdict.Lapsed:
			f.Severity = verdict.Warning
			if a.cfg.Strict {
				f.Severity = verdict.Error
			}
		case f.Severity == verdict.Notice || j.check.First:
		case !inForce:
			f.Severity = verdict.Notice
			missing = "the listing is no longer in force, and the evidence no longer holds or could not be had"
		case f.Basis == verdict.World && s.Then != nil:
			if f.Severity != verdict.Warning {
				f.Fix, f.Message = "", f.Message+"; it was judged when it was merged, and stays in force"
			}
			f.Severity = verdict.Notice
		}
	}
	if !inForce && j.Doubtful != checks.NotReached {
		j.DeferredTo = ""
		if skipped := cmp.Or(j.Doubtful, missing); skipped != "" {
			j.Outcome = verdict.Outcome{Skipped: skipped, Findings: j.Findings, Witnesses: j.Witnesses}
		}
	}
}

func listed(run *checks.Run, s *checks.Subject, status string, judged []judgement) verdict.Listing {
	l := verdict.Listing{Slug: s.Listing.Slug, Name: s.Listing.Name, ToolDID: s.Listing.ToolDID,
		Level: string(s.Listing.Level), Status: status,
		RevokedBy: run.Revoked(s.Path, s.Listing.ReceiptSHA256), Archived: s.Facts.ReceiptText.Value.Gone != ""}
	if t := s.Listing.Issued; !t.IsZero() {
		l.IssuedAt = &t
	}
	if t := s.Listing.Expires; !t.IsZero() {
		l.ExpiresAt = &t
	}
	for _, j := range judged {
		l.Witnesses = append(l.Witnesses, j.Witnesses...)
	}
	if status != verdict.StatusValid {
		return l
	}
	worst := verdict.Passed
	for _, j := range judged {
		if v, err := j.Verdict(); err == nil && v.Worse(worst) { // an outcome that says nothing ends the audit
			worst = v
		}
	}
	switch {
	case worst == verdict.Failed:
		l.Status = verdict.StatusInvalid
	case worst == verdict.Inconclusive:
		l.Status = verdict.StatusUnreachable
	case s.Listing.Provisional:
		l.Status = verdict.StatusProvisional
	case s.Listing.Expires.Sub(run.Now) < verdict.Soon:
		l.Status = verdict.StatusExpiring
	}
	return l
}
