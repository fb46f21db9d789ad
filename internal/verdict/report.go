// Package verdict defines finding, outcome, rule, report and the runner of a catalogue.
//
// They are the same whatever is judged.
package verdict

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
)

// Verdict is the outcome of a run.
type Verdict string

// The verdicts of a run. Errored means that the gate could not run at all.
const (
	Passed       Verdict = "pass"
	Failed       Verdict = "fail"
	Inconclusive Verdict = "inconclusive"
	Errored      Verdict = "error"
)

// ExitStatus returns the exit status of a process that ends with v.
func (v Verdict) ExitStatus() int {
	switch v {
	case Passed:
		return 0
	case Failed:
		return 1
	case Inconclusive:
		return 3
	}
	return 2
}

// Report is all that a run found: data only, and the same for the same registry, evidence and clock.
// It is version 1 of the JSON report.
type Report struct {
	Version        int       `json:"version" jsonschema:"enum=1,description=version of this format"`
	Tool           Tool      `json:"tool" jsonschema:"description=the program that wrote the report"`
	Mode           string    `json:"mode" jsonschema:"enum=check,enum=audit,enum=doctor,enum=protect,enum=governance,enum=conformance,enum=verify,description=what was judged"`
	Protocol       string    `json:"protocol,omitempty" jsonschema:"description=conformance: the companion protocol"`
	Own            *Member   `json:"-"` // a member that only one product's reports have, after protocol; may be nil
	Level          int       `json:"level,omitempty" jsonschema:"description=conformance: the level that was requested"`
	Declared       bool      `json:"declared,omitempty" jsonschema:"description=conformance: the judged party declares what passes\\, and was not verified"`
	EvaluatedAt    time.Time `json:"evaluated_at" jsonschema:"description=time by which dates were judged"`
	Base           string    `json:"base,omitempty" jsonschema:"description=commit on which the range would land"`
	Head           string    `json:"head,omitempty" jsonschema:"description=commit judged; absent where the head is the files on disk"`
	MergeBase      string    `json:"merge_base,omitempty" jsonschema:"description=newest commit that base and head have in common"`
	Origin         string    `json:"origin,omitempty" jsonschema:"description=name of the registry: its remote's URL without scheme\\, or what --origin says"`
	Chosen         string    `json:"chosen,omitempty" jsonschema:"description=how base and head were chosen"`
	Ending         string    `json:"-"` // last line of the text report of verify, which has levels instead of a verdict
	Verdict        Verdict   `json:"verdict" jsonschema:"enum=pass,enum=fail,enum=inconclusive,enum=error,description=outcome of the run"`
	Error          string    `json:"error,omitempty" jsonschema:"description=why the run could not be made; with the verdict error"`
	Remedy         string    `json:"remedy,omitempty" jsonschema:"description=what would help; with the verdict error"`
	RetryAt        time.Time `json:"retry_at,omitempty,omitzero" jsonschema:"description=the earliest time at which a finding that does not pass may change by the passing of time"`
	Counts         Counts    `json:"counts" jsonschema:"description=results by verdict\\, and records"`
	Omitted        []string  `json:"omitted,omitempty" jsonschema:"description=verdicts of which the results are counted and left out"`
	Assumed        []string  `json:"assumed" jsonschema:"description=flags that leave a check out\\, or replace network\\, clock or trust root; empty after a complete live run"`
	NotRun         []string  `json:"not_run,omitempty" jsonschema:"description=ids of the checks that a flag left out"`
	Governance     []string  `json:"governance,omitempty" jsonschema:"description=governance files that the range touches"`
	Exception      bool      `json:"exception,omitempty" jsonschema:"description=governance: two thirds of the Maintainers granted an exception to the Implementability Gate"`
	Charter        bool      `json:"charter,omitempty" jsonschema:"description=governance: the change touches user rights"`
	Squash         bool      `json:"squash,omitempty" jsonschema:"description=the commits of the range rebase-merged would make other steps of the main branch than the range as a whole"`
	Kind           string    `json:"kind,omitempty" jsonschema:"enum=new,enum=renewal,enum=revocation,enum=witness,enum=anchor,enum=governance,enum=mixed,description=check: what the range changes\\, by its paths alone; mixed if it is several of these or none"`
	Routine        *bool     `json:"routine,omitempty" jsonschema:"description=check: whether it passes completely and without a warning\\, and only renews listings or revokes by the owners' signatures"`
	EvidenceSHA256 string    `json:"evidence_sha256" jsonschema:"description=SHA-256 of the canonical JSON of URL\\, state\\, status and SHA-256 of each document"`

	PublicSuffixList *SuffixList `json:"public_suffix_list,omitempty" jsonschema:"description=list by which registrable domains were found"` // by which registrable domains were found

	History       *History      `json:"history,omitempty" jsonschema:"description=what an audit saw of the first-parent history"`
	Shard         string        `json:"shard,omitempty" jsonschema:"description=I/N: only this part of the records was judged"`
	Strict        bool          `json:"strict,omitempty" jsonschema:"description=audit: expired and revoked listings are failures"`
	RequireSigned bool          `json:"require_signed,omitempty" jsonschema:"description=audit: a commit without a good signature is a failure"`
	Listings      []Listing     `json:"listings,omitempty" jsonschema:"description=audit: every listing at the head"`
	Accepted      *Accepted     `json:"accepted,omitempty" jsonschema:"description=audit: findings of the history that --accepted takes"`
	Refused       []string      `json:"refused,omitempty" jsonschema:"description=mirror: records that a reader must not take for valid: a check of their own failed"`
	Commits       []Commit      `json:"commits,omitempty" jsonschema:"description=the commits that the report names\\, as far as the clone has them; at most 200; governance of each commit: all that were judged\\, in the order of the history"`
	Attest        []Attestation `json:"attest,omitempty" jsonschema:"description=governance: what people have to attest"`
	Results       Results       `json:"results" jsonschema:"description=outcome of each check on each subject"`
	Evidence      []Evidence    `json:"evidence" jsonschema:"description=documents that were requested"`

	Installation *Installation `json:"installation,omitempty" jsonschema:"description=what doctor and protect read and changed"` // of doctor and protect

	// Judged and Verified are for the signed statement of a run, and are not in the JSON report.
	Judged   []Digest  `json:"-"`
	Verified *Verified `json:"-"`
}

// Digest is the SHA-256 of what was judged. Its name is the path of a record, or the URL of a document.
type Digest struct{ Name, SHA256 string }

// Verified is what verify accepted of one implementation.
type Verified struct {
	DID    string
	Levels []string  // in the spelling of the Receipt
	AsOf   time.Time // time of the clone; zero if it is not known
}

// Installation is what doctor and protect looked at, and what protect did.
type Installation struct {
	Repository string   `json:"repository,omitempty" jsonschema:"description=OWNER/NAME at the forge\\, where it was asked"`
	Branch     string   `json:"branch" jsonschema:"description=default branch\\, main where the forge did not say"`
	Files      []string `json:"files,omitempty" jsonschema:"description=files of the clone that were read"`
	Applied    []string `json:"applied,omitempty" jsonschema:"description=what protect changed at the forge"`
	Unread     []string `json:"unread,omitempty" jsonschema:"description=what the forge did not show\\, and why"`
	Diffs      []string `json:"diffs,omitempty" jsonschema:"description=unified diffs from files with findings to what init writes"`
}

// Attestation is what no check can decide of a subject, with its facts.
type Attestation struct {
	Check   string `json:"check" jsonschema:"description=id of the check that leaves the question open"`
	Subject string `json:"subject" jsonschema:"description=what the question is about"`
	Text    string `json:"text" jsonschema:"description=what a person must confirm"`
}

// Commit describes a commit to people.
type Commit struct {
	ID      string    `json:"id" jsonschema:"description=object id"`
	Time    time.Time `json:"time" jsonschema:"description=committer date"`
	Subject string    `json:"subject" jsonschema:"description=first line of the message\\, cut"`
}

// maxSubject is the length of a commit's subject, in characters.
const maxSubject = 100

// NewCommit describes a commit by its id, the seconds of its committer date, and its message.
func NewCommit(id string, when int64, message []byte) Commit {
	subject, _, _ := strings.Cut(strings.ToValidUTF8(strings.TrimSpace(string(message)), "\uFFFD"), "\n")
	return Commit{ID: id, Time: time.Unix(when, 0).UTC(), Subject: plain.Cut(subject, maxSubject)}
}

// Interrupted is among what a report assumes if the run was asked to end before its time.
const Interrupted = "interrupted"

// Tool is the build that made a report.
type Tool struct {
	Version string `json:"version" jsonschema:"description=of the program\\, devel without a release"`
	Commit  string `json:"commit" jsonschema:"description=that the program was built from\\, or unknown"`
}

// SuffixList names a Public Suffix List.
type SuffixList struct {
	Date   string `json:"date" jsonschema:"description=of the list's version\\, YYYY-MM-DD"`
	SHA256 string `json:"sha256" jsonschema:"description=over its rules\\, sorted\\, each a line of section and rule"`
}

// Counts counts the records examined and the results by verdict.
type Counts struct {
	Records      int `json:"records" jsonschema:"description=subjects that were judged"`
	Pass         int `json:"pass" jsonschema:"description=results with the verdict pass"`
	Fail         int `json:"fail" jsonschema:"description=results with the verdict fail"`
	Inconclusive int `json:"inconclusive" jsonschema:"description=results with the verdict inconclusive"`
	Warn         int `json:"warn" jsonschema:"description=results with the verdict warn"`
	Skip         int `json:"skip" jsonschema:"description=results with the verdict skip"`
	Manual       int `json:"manual,omitempty" jsonschema:"description=requirements that people attest\\, since nobody can see them from outside"`
}

// Add counts the verdict of one more result.
func (c *Counts) Add(v Verdict) {
	switch v {
	case Passed:
		c.Pass++
	case Failed:
		c.Fail++
	case Inconclusive:
		c.Inconclusive++
	case Warned:
		c.Warn++
	case Skipped:
		c.Skip++
	case Manual:
		c.Manual++
	}
}

// Verdict returns the verdict of a run with these results.
func (c Counts) Verdict() Verdict {
	switch {
	case c.Fail > 0:
		return Failed
	case c.Inconclusive > 0:
		return Inconclusive
	}
	return Passed
}

// The verdicts of one Result, in addition to Passed, Failed and Inconclusive.
const (
	Warned  Verdict = "warn"
	Skipped Verdict = "skip"
	// Manual is for people to attest: it is neither pass nor failure, and changes no verdict of a run.
	Manual Verdict = "manual"
)

// Result is what one check found on one subject: a path, or "registry".
type Result struct {
	Check    string    `json:"check" jsonschema:"description=id of the check"`
	Subject  string    `json:"subject" jsonschema:"description=path of a record\\, or registry"`
	Verdict  Verdict   `json:"verdict" jsonschema:"enum=pass,enum=fail,enum=inconclusive,enum=warn,enum=skip,enum=manual,description=outcome of the check"`
	Reason   string    `json:"reason,omitempty" jsonschema:"description=why it was skipped\\, or what was verified"`
	Findings []Finding `json:"findings" jsonschema:"description=problems that the check found"`
}

// Evidence is the record of one document that was sought.
type Evidence struct {
	URL          string     `json:"url" jsonschema:"description=a URL\\, or rdap:DOMAIN or whois:DOMAIN"`
	Status       int        `json:"status" jsonschema:"description=HTTP status of the last response\\, 0 without one"`
	SHA256       string     `json:"sha256,omitempty" jsonschema:"description=of the bytes that were obtained"`
	Bytes        int        `json:"bytes" jsonschema:"description=size of what was obtained"`
	Attempts     int        `json:"attempts" jsonschema:"description=requests that were made"`
	Milliseconds int64      `json:"milliseconds" jsonschema:"description=that all attempts took"`
	Address      string     `json:"address,omitempty" jsonschema:"description=IP address that answered"`
	FinalURL     string     `json:"final_url,omitempty" jsonschema:"description=after redirects"`
	State        string     `json:"state" jsonschema:"description=obtained\\, absent\\, invalid\\, unavailable or unsought"`
	Code         string     `json:"code,omitempty" jsonschema:"description=why it was not obtained"`
	Message      string     `json:"message,omitempty" jsonschema:"description=why it was not obtained\\, in words"`
	CachedAt     *time.Time `json:"cached_at,omitempty" jsonschema:"description=when the cached bytes were fetched"`
}

// History is what an audit saw of the first-parent history.
type History struct {
	Commits    int        `json:"commits" jsonschema:"description=first-parent commits of the head"`
	Walked     int        `json:"walked" jsonschema:"description=those that were judged in this run"`
	HeadTime   time.Time  `json:"head_time" jsonschema:"description=committer date of the head"`
	Signatures Signatures `json:"signatures" jsonschema:"description=signatures of the judged commits"`
	Checkpoint string     `json:"checkpoint,omitempty" jsonschema:"description=last verified tip"`
	Peers      []Peer     `json:"peers,omitempty" jsonschema:"description=other copies of the registry"`

	CheckpointFile *CheckpointFile `json:"checkpoint_file,omitempty" jsonschema:"description=what became of the file of --checkpoint"`
}

// CheckpointFile says what happened to the file of --checkpoint.
type CheckpointFile struct {
	Written bool   `json:"written" jsonschema:"description=whether the file was written"`
	Reason  string `json:"reason,omitempty" jsonschema:"description=why it was not written"`
}

// Accepted lists findings of the past that cannot be fixed, as the operator listed them.
type Accepted struct {
	SHA256 string         `json:"sha256" jsonschema:"description=of the file"`
	Lines  []AcceptedLine `json:"lines" jsonschema:"description=lines of the file"`
}

// AcceptedLine takes the findings of a code that a check has of a commit.
type AcceptedLine struct {
	Commit string `json:"commit" jsonschema:"description=object id"`
	Check  string `json:"check" jsonschema:"description=id of the check"`
	Code   string `json:"code" jsonschema:"description=code of the accepted finding"`
	Reason string `json:"reason" jsonschema:"description=why the operator accepts it"`
}

// A Member is a member of a JSON report whose name and value a product gives.
type Member struct {
	Name  string
	Value any
}

// Signatures counts the judged commits by their signature's verdict.
type Signatures struct {
	Good       int `json:"good" jsonschema:"description=commits with a good signature"`
	Bad        int `json:"bad" jsonschema:"description=commits whose signature does not verify"`
	Unsigned   int `json:"unsigned" jsonschema:"description=commits without a signature"`
	UnknownKey int `json:"unknown_key" jsonschema:"description=commits signed with a key that no file lists"`
	ExpiredKey int `json:"expired_key" jsonschema:"description=commits signed with an expired key"`
	RevokedKey int `json:"revoked_key,omitempty" jsonschema:"description=commits signed with a revoked key"`
}

func (n Signatures) String() string {
	return fmt.Sprintf("%d good, %d bad, %d unsigned, %d by an unknown key, %d by an expired key, %d by a revoked key",
		n.Good, n.Bad, n.Unsigned, n.UnknownKey, n.ExpiredKey, n.RevokedKey)
}

// Peer is another copy of the registry, as it was found.
type Peer struct {
	Name  string    `json:"name" jsonschema:"description=URL or directory of the copy"`
	Tip   string    `json:"tip,omitempty" jsonschema:"description=absent if the copy is empty or could not be read"`
	Time  time.Time `json:"time,omitzero" jsonschema:"description=committer date of its tip"`
	State string    `json:"state" jsonschema:"enum=same,enum=behind,enum=ahead,enum=unavailable,enum=split,description=how the copy compares with the audited clone"`
}

// Listing is one listing at the head of an audited clone, with its status.
type Listing struct {
	Slug      string     `json:"slug" jsonschema:"description=file name without .json"`
	Name      string     `json:"name" jsonschema:"description=name of the implementation"`
	ToolDID   string     `json:"tool_did" jsonschema:"description=DID of the implementation"`
	Level     string     `json:"level" jsonschema:"description=conformance level"`
	Status    string     `json:"status" jsonschema:"enum=valid,enum=expiring,enum=expired,enum=revoked,enum=provisional,enum=unreachable,enum=invalid,enum=refused,description=status at the time of the audit"`
	IssuedAt  *time.Time `json:"issued_at,omitempty" jsonschema:"description=start of the listing"`
	ExpiresAt *time.Time `json:"expires_at,omitempty" jsonschema:"description=end of the listing"`
	RefusedBy string     `json:"refused_by,omitempty" jsonschema:"enum=unreadable,enum=layout,enum=schema,enum=window,enum=witness-revoked,description=rule that refuses the listing"`
	RevokedBy string     `json:"revoked_by,omitempty" jsonschema:"description=path of the revocation"`
	Witnesses []string   `json:"witnesses,omitempty" jsonschema:"description=slugs of the peer witnesses whose signatures verified"`
	Archived  bool       `json:"archived,omitempty" jsonschema:"description=its Receipt came from the archive\\, by its pin\\, since its origin is gone"`
}

// Soon is how long before its end a listing counts as expiring.
const Soon = 14 * 24 * time.Hour

// The statuses of a listing. An expiring one is valid for less than Soon more.
const (
	StatusValid       = "valid"
	StatusExpiring    = "expiring"
	StatusExpired     = "expired"
	StatusRevoked     = "revoked"
	StatusProvisional = "provisional"
	StatusUnreachable = "unreachable"
	StatusInvalid     = "invalid"
	StatusRefused     = "refused"
)

// Join adds what was found of the same check and subject elsewhere. The result has the worse verdict and the findings
// of both.
func (r *Result) Join(o Result) {
	if o.Verdict.Worse(r.Verdict) {
		r.Verdict, r.Reason = o.Verdict, o.Reason
	}
	for _, f := range o.Findings {
		if !slices.Contains(r.Findings, f) {
			r.Findings = append(r.Findings, f)
		}
	}
	sortFindings(r.Findings)
}

// Worst returns the verdict that the findings require by themselves. No honest Result is better.
func (r *Result) Worst() Verdict { return worst(Skipped, r.Findings) }

// worst returns v, or the worse verdict that the findings require.
func worst(v Verdict, findings []Finding) Verdict {
	for _, f := range findings {
		required := Failed
		switch f.Severity {
		case Notice:
			continue
		case Warning:
			required = Warned
		case Doubt:
			required = Inconclusive
		}
		if required.Worse(v) {
			v = required
		}
	}
	return v
}

// Worse reports whether v weighs more than o where both are verdicts of one check on one subject.
func (v Verdict) Worse(o Verdict) bool {
	ranks := []Verdict{Manual, Skipped, Passed, Warned, Inconclusive, Failed}
	return slices.Index(ranks, v) > slices.Index(ranks, o)
}

func sortFindings(all []Finding) {
	slices.SortStableFunc(all, func(a, b Finding) int {
		return cmp.Or(strings.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
}

// Settle sorts the results by subject and in the order of the catalogue, counts them, and sets the verdict: Errored
// where not all of them could be read. The results of governance stay in the order of the history.
func (r *Report) Settle(catalogue []Rule) {
	r.sort(catalogue)
	r.Counts, r.RetryAt = Counts{Records: r.Counts.Records}, time.Time{}
	r.count(r.Results.All())
}

// Append adds a result to a report that is settled, and settles it again without reading the other results.
func (r *Report) Append(catalogue []Rule, result Result) {
	r.Results.Add(result)
	r.sort(catalogue)
	r.count(slices.Values([]Result{result}))
}

func (r *Report) sort(catalogue []Rule) {
	if r.Mode != "governance" {
		slices.SortStableFunc(r.Results.kept, Order(catalogue)) // what a spool has is in order
	}
}

// count adds results to the counts, and sets the verdict.
func (r *Report) count(results iter.Seq[Result]) {
	for result := range results {
		r.retry(result.Findings)
		r.Counts.Add(result.Verdict)
	}
	r.Verdict = r.Counts.Verdict()
	if err := r.Results.Err(); err != nil {
		r.Verdict, r.Error = Errored, err.Error()
	}
}

// retry makes RetryAt no later than the time at which findings that only time can change may change.
func (r *Report) retry(findings []Finding) {
	for _, f := range findings {
		relevant := f.Severity == Error || f.Severity == Doubt
		if relevant && !f.RetryAt.IsZero() && (r.RetryAt.IsZero() || f.RetryAt.Before(r.RetryAt)) {
			r.RetryAt = f.RetryAt
		}
	}
}
