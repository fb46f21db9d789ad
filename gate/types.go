package gate

import (
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/level"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verify"
)

// A Report is all that Check or Audit found: data only, and the same for the same registry, evidence and clock.
type Report = verdict.Report

// Results are the results of a Report, in the order of the checks and of their subjects.
type Results = verdict.Results

// A Result is what one check found on one subject.
type Result = verdict.Result

// A Finding is one problem that a check reports. Its Code is stable; its Message is for people.
type Finding = verdict.Finding

// A Pos is a place in a file of the registry.
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
type Counts = verdict.Counts

// Evidence is one document that a run asked for, without its text.
type Evidence = verdict.Evidence

// The parts of a Report that single modes have.
type (
	// A Tool names the build that judged.
	Tool = verdict.Tool
	// A SuffixList names the Public Suffix List by which registrable domains were found.
	SuffixList = verdict.SuffixList
	// A Commit is a commit that a report names.
	Commit = verdict.Commit
	// A History is what an audit says about the first-parent history.
	History = verdict.History
	// Signatures counts the signatures of commits.
	Signatures = verdict.Signatures
	// A Peer is another copy of the registry that an audit compared.
	Peer = verdict.Peer
	// A CheckpointFile says what happened to the checkpoint of an audit.
	CheckpointFile = verdict.CheckpointFile
	// A Listing is one listing at the head of an audit.
	Listing = verdict.Listing
	// Accepted has the findings of the history that an audit accepts.
	Accepted = verdict.Accepted
	// An AcceptedLine is one of them.
	AcceptedLine = verdict.AcceptedLine
	// An Attestation is what people have to attest to a change of a specification.
	Attestation = verdict.Attestation
	// A Member is a member of a JSON report that only one product has.
	Member = verdict.Member
	// A Digest is the SHA-256 of a record or a document that a run judged.
	Digest = verdict.Digest
	// Verified is what Verify accepted of one implementation.
	Verified = verdict.Verified
	// An Installation is what doctor inspected.
	Installation = verdict.Installation
)

// A Verification is the Verification Report of RFC 0019 section 6 on one implementation.
type Verification = verify.Report

// The parts of a Verification.
type (
	// A Step is what one step of the procedure found.
	Step = verify.Step
	// A StepFinding is one problem that a step reports.
	StepFinding = verify.Finding
	// Anchored says which commit of the clone was read.
	Anchored = verify.Anchored
	// Proven is the log entry that a proof shows.
	Proven = verify.Proven
	// Canonical has the bytes that the implementation signs.
	Canonical = verify.Canonical
	// A Level is a conformance level, such as L2.
	Level = level.Level
)
