package gate

import (
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/level"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verify"
)

// A Report is all that Check or Audit found: data only, and the same for the same registry, evidence and clock.
//
//	Accepted *Accepted; Assumed []string; Attest []Attestation; Base string; Charter bool; Chosen string;
//	Commits []Commit; Counts Counts; Declared bool; Ending string; Error string; EvaluatedAt time.Time;
//	Evidence []Evidence; EvidenceSHA256 string; Exception bool; Governance []string; Head string;
//	History *History; Installation *Installation; Judged []Digest; Kind string; Level int; Listings []Listing;
//	MergeBase string; Mode string; NotRun []string; Omitted []string; Origin string; Own *Member;
//	Protocol string; PublicSuffixList *SuffixList; Refused []string; Remedy string; RequireSigned bool;
//	Results Results; RetryAt time.Time; Routine *bool; Shard string; Squash bool; Strict bool; Tool Tool;
//	Verdict Verdict; Verified *Verified; Version int
type Report = verdict.Report

// Results are the results of a Report, in the order of the checks and of their subjects.
type Results = verdict.Results

// A Result is what one check found on one subject.
//
//	Check string; Findings []Finding; Reason string; Subject string; Verdict Verdict
type Result = verdict.Result

// A Finding is one problem that a check reports. Its Code is stable; its Message is for people.
//
//	Basis Basis; Cite string; Code string; Commit string; Fix string; Message string; Pointer string; Pos Pos;
//	RetryAt time.Time; Severity Severity; Value string
type Finding = verdict.Finding

// A Pos is a place in a file of the registry.
//
//	Column int; Line int; Path string
type Pos = strict.Pos

// Severity says what a finding does to the verdict.
type Severity = verdict.Severity

// The severities. Only an Error fails a check; Doubt is what another try may decide.
const (
	Error   = verdict.Error
	Doubt   = verdict.Doubt
	Warning = verdict.Warning
	Notice  = verdict.Notice
)

// Basis says what a finding rests on.
type Basis = verdict.Basis

// Verdict is the outcome of a run, a check or a step.
type Verdict = verdict.Verdict

// The verdicts. Only Passed lets a pull request in. Warned, Skipped and Manual are verdicts of single results only.
const (
	Passed       = verdict.Passed
	Failed       = verdict.Failed
	Inconclusive = verdict.Inconclusive
	Errored      = verdict.Errored
	Warned       = verdict.Warned
	Skipped      = verdict.Skipped
	Manual       = verdict.Manual
)

// Counts has the number of results with each verdict.
//
//	Fail int; Inconclusive int; Manual int; Pass int; Records int; Skip int; Warn int
type Counts = verdict.Counts

// Evidence is one document that a run asked for, without its text.
//
//	Address string; Attempts int; Bytes int; CachedAt *time.Time; Code string; FinalURL string; Message string;
//	Milliseconds int64; SHA256 string; State string; Status int; URL string
type Evidence = verdict.Evidence

// The parts of a Report that single modes have.
type (
	// A Tool names the build that judged.
	//
	//	Commit string; Version string
	Tool = verdict.Tool
	// A SuffixList names the Public Suffix List by which registrable domains were found.
	//
	//	Date string; SHA256 string
	SuffixList = verdict.SuffixList
	// A Commit is a commit that a report names.
	//
	//	ID string; Subject string; Time time.Time
	Commit = verdict.Commit
	// A History is what an audit says about the first-parent history.
	//
	//	Checkpoint string; CheckpointFile *CheckpointFile; Commits int; HeadTime time.Time; Peers []Peer;
	//	Signatures Signatures; Walked int
	History = verdict.History
	// Signatures counts the signatures of commits.
	//
	//	Bad int; ExpiredKey int; Good int; RevokedKey int; UnknownKey int; Unsigned int
	Signatures = verdict.Signatures
	// A Peer is another copy of the registry that an audit compared.
	//
	//	Name string; State string; Time time.Time; Tip string
	Peer = verdict.Peer
	// A CheckpointFile says what happened to the checkpoint of an audit.
	//
	//	Reason string; Written bool
	CheckpointFile = verdict.CheckpointFile
	// A Listing is one listing at the head of an audit.
	//
	//	Archived bool; ExpiresAt *time.Time; IssuedAt *time.Time; Level string; Name string; RefusedBy string;
	//	RevokedBy string; Slug string; Status string; ToolDID string; Witnesses []string
	Listing = verdict.Listing
	// Accepted has the findings of the history that an audit accepts.
	//
	//	Lines []AcceptedLine; SHA256 string
	Accepted = verdict.Accepted
	// An AcceptedLine is one of them.
	//
	//	Check string; Code string; Commit string; Reason string
	AcceptedLine = verdict.AcceptedLine
	// An Attestation is what people have to attest to a change of a specification.
	//
	//	Check string; Subject string; Text string
	Attestation = verdict.Attestation
	// A Member is a member of a JSON report that only one product has.
	//
	//	Name string; Value any
	Member = verdict.Member
	// A Digest is the SHA-256 of a record or a document that a run judged.
	//
	//	Name string; SHA256 string
	Digest = verdict.Digest
	// Verified is what Verify accepted of one implementation.
	//
	//	AsOf time.Time; DID string; Levels []string
	Verified = verdict.Verified
	// An Installation is what doctor inspected.
	//
	//	Applied []string; Branch string; Diffs []string; Files []string; Repository string; Unread []string
	Installation = verdict.Installation
)

// A Verification is the Verification Report of RFC 0019 section 6 on one implementation.
//
//	Accepted bool; AcceptedLevels []Level; Assumed []string; Canonical *Canonical; ClaimedLevels []Level;
//	Counts Counts; DID string; Error string; Evidence []Evidence; EvidenceSHA256 string; Judged []Digest;
//	Level Level; Line int; Local []string; Mode string; NotAfter *time.Time; Proof *Proven;
//	PublicSuffixList *SuffixList; Reasons []string; ReceiptSHA256 string; Registry *Anchored; Remedy string;
//	Steps []Step; SuiteVersion string; Target string; Timestamp time.Time; Tool Tool; Verdict Verdict;
//	Version int
type Verification = verify.Report

// The parts of a Verification.
type (
	// A Step is what one step of the procedure found.
	//
	//	Cite string; Error string; Findings []StepFinding; OK *bool; Reason string; ReceiptID string;
	//	SHA256 string; Step string; Verdict Verdict
	Step = verify.Step
	// A StepFinding is one problem that a step reports.
	//
	//	Cite string; Code string; Commit string; Document string; Fix string; Message string; Pointer string;
	//	Severity Severity
	StepFinding = verify.Finding
	// Anchored says which commit of the clone was read.
	//
	//	AsOf *time.Time; Chosen string; Commit string; Path string
	Anchored = verify.Anchored
	// Proven is the log entry that a proof shows.
	//
	//	AsOf *time.Time; Commit string; Cosigned int; Witnesses int
	Proven = verify.Proven
	// Canonical has the bytes that the implementation signs.
	//
	//	Error string; SHA256 string; Text string
	Canonical = verify.Canonical
	// A Level is a conformance level, such as L2.
	Level = level.Level
)
