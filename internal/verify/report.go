package verify

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/level"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// Report is the Verification Report of RFC 0019 section 6 on one target, version 1: data only, and the same for the
// same documents, clone and clock.
type Report struct {
	Version int          `json:"version" jsonschema:"enum=1,description=of the format"`
	Tool    verdict.Tool `json:"tool" jsonschema:"description=the program that judged"`
	Mode    string       `json:"mode" jsonschema:"enum=verify,description=always verify"`
	Target  string       `json:"target" jsonschema:"description=as it was given; of documents at hand the DID that the Receipt names"`
	// Timestamp is the time by which was judged.
	Timestamp      time.Time       `json:"timestamp" jsonschema:"description=the time by which was judged"`
	Accepted       bool            `json:"accepted" jsonschema:"description=every claimed level is accepted"`
	AcceptedLevels []level.Level   `json:"accepted_levels" jsonschema:"description=each accepted level once\\, as the Receipt spells it"`
	ClaimedLevels  []level.Level   `json:"claimed_levels" jsonschema:"description=each claimed level once\\, as the Receipt spells it"`
	Reasons        []string        `json:"reasons" jsonschema:"description=one line for each step that is not ok"`
	Steps          []Step          `json:"steps" jsonschema:"description=all steps\\, also after a failure"`
	Verdict        verdict.Verdict `json:"verdict" jsonschema:"enum=pass,enum=fail,enum=inconclusive,enum=error,description=pass\\, fail\\, inconclusive or error: exit status 0\\, 1\\, 3 or 2"`
	Error          string          `json:"error,omitempty" jsonschema:"description=why nothing could be judged\\, with the verdict error"`
	Line           int             `json:"line,omitempty" jsonschema:"description=line of the file of --targets that is not a target"`
	Remedy         string          `json:"remedy,omitempty" jsonschema:"description=what helps against the error"`
	Level          level.Level     `json:"level,omitempty" jsonschema:"description=the one level that was requested; the verdict is about it only"`
	DID            string          `json:"did,omitempty" jsonschema:"description=the DID whose keys the signatures were held against"`
	ReceiptSHA256  string          `json:"receipt_sha256,omitempty" jsonschema:"description=of the exact bytes that were judged"`
	SuiteVersion   string          `json:"suite_version,omitempty" jsonschema:"description=the suite version that the Receipt names"`
	NotAfter       *time.Time      `json:"not_after,omitempty" jsonschema:"description=the end of the Receipt's validity"`
	Registry       *Anchored       `json:"registry,omitempty" jsonschema:"description=absent without a clone"`
	Proof          *Proven         `json:"proof,omitempty" jsonschema:"description=absent without a proof whose log entry was verified"`
	Assumed        []string        `json:"assumed" jsonschema:"description=names of the flags that replace a part of a full live run"`
	Counts         verdict.Counts  `json:"counts" jsonschema:"description=how many steps ended with each verdict"`
	Canonical      *Canonical      `json:"canonical,omitempty" jsonschema:"description=if it was requested"`
	EvidenceSHA256 string          `json:"evidence_sha256" jsonschema:"description=of the documents that were sought\\, with their states"`

	PublicSuffixList *verdict.SuffixList `json:"public_suffix_list,omitempty" jsonschema:"description=by which registrable domains were found"`

	Evidence []verdict.Evidence `json:"evidence" jsonschema:"description=each document that was sought"`

	// Judged is the Receipt, and the listing that pins it if the clone has one. It is for the signed statement.
	Judged []verdict.Digest `json:"-"`
	Local  []string         `json:"-"` // see Config.Local
}

// Step is what one step of the procedure found.
type Step struct {
	Step    string          `json:"step" jsonschema:"description=the name of the step"`
	OK      *bool           `json:"ok,omitempty" jsonschema:"description=absent where nobody looked: revocation and registry-anchor without a clone"`
	Verdict verdict.Verdict `json:"verdict" jsonschema:"enum=pass,enum=fail,enum=inconclusive,enum=warn,enum=skip,description=how the step ended"`
	Cite    string          `json:"cite" jsonschema:"description=the clause that the step follows"`
	Reason  string          `json:"reason,omitempty" jsonschema:"description=what was verified\\, or why it was skipped"`
	Error   string          `json:"error,omitempty" jsonschema:"description=the first finding of a step that is not ok"`
	// ReceiptID and SHA256 are of the step receipt-fetch.
	ReceiptID string    `json:"receipt_id,omitempty" jsonschema:"description=the id of the Receipt that was fetched"`
	SHA256    string    `json:"sha256,omitempty" jsonschema:"description=of the exact bytes"`
	Findings  []Finding `json:"findings" jsonschema:"description=the findings of the step\\, the worst first"`
}

// Finding is one thing that a step has to say, about a document and not about a file.
type Finding struct {
	Severity verdict.Severity `json:"severity" jsonschema:"type=string,enum=error,enum=inconclusive,enum=warning,enum=notice,description=how bad it is"`
	Code     string           `json:"code" jsonschema:"description=the stable name\\; see oap-gate explain CODE"`
	Message  string           `json:"message" jsonschema:"description=what was found"`
	Fix      string           `json:"fix,omitempty" jsonschema:"description=what helps"`
	Cite     string           `json:"cite,omitempty" jsonschema:"description=the clause that the step follows"`
	Document string           `json:"document,omitempty" jsonschema:"enum=manifest,enum=receipt,enum=did-document,description=the document that the pointer is into"`
	Pointer  string           `json:"pointer,omitempty" jsonschema:"description=RFC 6901\\, into the document"`
	Commit   string           `json:"commit,omitempty" jsonschema:"description=of the clone"`
}

// Anchored is what of the clone was read.
type Anchored struct {
	Commit string `json:"commit" jsonschema:"description=the commit of the clone that was read"`
	Path   string `json:"path,omitempty" jsonschema:"description=of the listing that anchors the Receipt\\, or else lists the DID"`
	Chosen string `json:"chosen,omitempty" jsonschema:"description=how the commit was chosen"`
	// AsOf is the time of what the clone shows.
	AsOf *time.Time `json:"as_of,omitempty" jsonschema:"description=the time of what the clone shows: its last fetch of the commit or the commit's date; absent if no time counts"`
}

// Proven is the log entry that a proof shows.
type Proven struct {
	Commit    string     `json:"commit" jsonschema:"description=newest commit of the log"`
	AsOf      *time.Time `json:"as_of,omitempty" jsonschema:"description=at which the quorum vouched for the log\\; absent without a quorum"`
	Cosigned  int        `json:"cosigned" jsonschema:"description=witnesses of the policy that cosigned"`
	Witnesses int        `json:"witnesses" jsonschema:"description=of the policy"`
}

// Canonical are the bytes that the implementation signs.
type Canonical struct {
	Text   string `json:"text" jsonschema:"description=RFC 8785 form of the Receipt without signatures and peer_witnesses"`
	SHA256 string `json:"sha256" jsonschema:"description=of the exact bytes"`
	Error  string `json:"error,omitempty" jsonschema:"description=why there is none"`
}

// newReport returns an empty report on a target.
func newReport(target string, src evidence.Source, cfg *Config) *Report {
	return &Report{Version: 1, Tool: cfg.Tool, Mode: "verify", Target: target, Timestamp: src.Now().UTC(),
		AcceptedLevels: []level.Level{}, ClaimedLevels: []level.Level{}, Reasons: []string{}, Steps: []Step{},
		Level: cfg.Level, Assumed: append([]string{}, cfg.Assumed...), Evidence: []verdict.Evidence{}}
}

// Unmade returns the report on a target if nothing about it could be judged.
func Unmade(target string, src evidence.Source, cfg *Config, message, fix string) *Report {
	rep := newReport(target, src, cfg)
	rep.Verdict, rep.Error, rep.Remedy, rep.EvidenceSHA256 = verdict.Errored, message, fix, evidence.Digest(nil)
	if message != "" {
		rep.Reasons = append(rep.Reasons, message)
	}
	return rep
}

// Worst returns the verdict of a run of several targets: first what could not be judged, then what failed, then what is
// inconclusive.
func Worst(a, b verdict.Verdict) verdict.Verdict {
	order := []verdict.Verdict{verdict.Passed, verdict.Inconclusive, verdict.Failed, verdict.Errored}
	if slices.Index(order, b) > slices.Index(order, a) {
		return b
	}
	return a
}

// Obstacles names the steps that prevent every level from being accepted, or returns "", and how the first inconclusive
// step is decided.
func (r *Report) Obstacles() (steps, fix string) {
	var names []string
	for i, s := range r.Steps {
		if s.Verdict == verdict.Inconclusive && fix == "" {
			fix = s.Reason
			doubt := func(f Finding) bool { return f.Severity == verdict.Doubt }
			if at := slices.IndexFunc(s.Findings, doubt); at >= 0 {
				fix = s.Findings[at].Fix
			}
		}
		if s.Verdict == r.Verdict && !catalogue[i].each {
			names = append(names, s.Step)
		}
	}
	return strings.Join(names, ", "), fix
}

// Common returns the report of a run in the form that all commands share: each step is a check, and each target is a
// subject.
func Common(all []*Report) *verdict.Report {
	first := all[0]
	rep := &verdict.Report{Version: 1, Tool: first.Tool, Mode: "verify", EvaluatedAt: first.Timestamp,
		Assumed: first.Assumed, Verdict: verdict.Passed, Evidence: []verdict.Evidence{}}
	rep.Counts.Records = len(all)
	seen := map[verdict.Evidence]bool{}
	worst := verdict.Passed
	for _, r := range all {
		subject := cmp.Or(r.Target, "registry") // a run that verified nothing has no target
		worst = Worst(worst, r.Verdict)
		if r.Verdict == verdict.Errored && rep.Error == "" {
			rep.Error, rep.Remedy = r.Error, r.Remedy
		}
		if r.Registry != nil {
			rep.Head, rep.Chosen = r.Registry.Commit, r.Registry.Chosen
		}
		if r.Registry != nil && len(all) == 1 {
			rep.Judged, rep.Verified = r.Judged, r.verified()
		}
		for _, s := range r.Steps {
			rep.Results.Add(s.result(subject))
		}
		for _, e := range r.Evidence {
			key := e
			key.CachedAt = nil
			if !seen[key] {
				seen[key] = true
				rep.Evidence = append(rep.Evidence, e)
			}
		}
	}
	results := verdict.NewResults(slices.Collect(rep.Results.All())...)
	rep.Settle(Rules())
	rep.Results, rep.Verdict = results, worst // in the order of the targets, and by the levels that were asked for
	rep.EvidenceSHA256 = evidence.Digest(rep.Evidence)
	return rep
}

// verified returns what the statement of a run of one target says.
func (r *Report) verified() *verdict.Verified {
	v := &verdict.Verified{DID: r.DID}
	for _, l := range r.AcceptedLevels {
		v.Levels = append(v.Levels, string(l))
	}
	if r.Registry.AsOf != nil {
		v.AsOf = *r.Registry.AsOf
	}
	return v
}

// result returns the step as the result of a check.
func (s Step) result(subject string) verdict.Result {
	out := verdict.Result{Check: s.Step, Subject: subject, Verdict: s.Verdict, Reason: s.Reason}
	for _, f := range s.Findings {
		pointer := f.Pointer
		if f.Document != "" {
			pointer = f.Document + "#" + pointer
		}
		out.Findings = append(out.Findings, verdict.Finding{Severity: f.Severity, Code: f.Code, Message: f.Message,
			Fix: f.Fix, Cite: f.Cite, Pointer: pointer, Commit: f.Commit})
	}
	return out
}
