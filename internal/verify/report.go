package verify

import (
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/level"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// Report is the Verification Report of RFC 0019 section 6 on one target, version 1: data only, and the same for the
// same documents, clone and clock.
type Report struct {
	Version int          `json:"version" jsonschema:"enum=1"`
	Tool    verdict.Tool `json:"tool"`
	Mode    string       `json:"mode" jsonschema:"enum=verify"`
	Target  string       `json:"target" jsonschema:"description=as it was given; of documents at hand the DID that the Receipt names"`
	// Timestamp is the time by which was judged.
	Timestamp      time.Time          `json:"timestamp"`
	Accepted       bool               `json:"accepted" jsonschema:"description=every claimed level is accepted"`
	AcceptedLevels []level.Level      `json:"accepted_levels"`
	ClaimedLevels  []level.Level      `json:"claimed_levels"`
	Reasons        []string           `json:"reasons" jsonschema:"description=one line for each step that is not ok"`
	Steps          []Step             `json:"steps"`
	Verdict        verdict.Verdict    `json:"verdict" jsonschema:"enum=pass,enum=fail,enum=inconclusive,enum=error"`
	Error          string             `json:"error,omitempty" jsonschema:"description=why nothing could be judged\\, with the verdict error"`
	Remedy         string             `json:"remedy,omitempty"`
	Level          level.Level        `json:"level,omitempty" jsonschema:"description=the one level that was asked for; the verdict is about it alone"`
	DID            string             `json:"did,omitempty"`
	ReceiptSHA256  string             `json:"receipt_sha256,omitempty" jsonschema:"description=of the exact bytes that were judged"`
	SuiteVersion   string             `json:"suite_version,omitempty"`
	NotAfter       *time.Time         `json:"not_after,omitempty" jsonschema:"description=the end of the Receipt's validity"`
	Registry       *Anchored          `json:"registry,omitempty" jsonschema:"description=absent without a clone"`
	Assumed        []string           `json:"assumed"`
	Counts         verdict.Counts     `json:"counts"`
	Canonical      *Canonical         `json:"canonical,omitempty" jsonschema:"description=where it was asked for"`
	EvidenceSHA256 string             `json:"evidence_sha256"`
	Evidence       []verdict.Evidence `json:"evidence"`
}

// Step is what one step of the procedure found.
type Step struct {
	Step    string          `json:"step"`
	OK      *bool           `json:"ok,omitempty" jsonschema:"description=absent where nobody looked: revocation and registry-anchor without a clone"`
	Verdict verdict.Verdict `json:"verdict" jsonschema:"enum=pass,enum=fail,enum=inconclusive,enum=warn,enum=skip"`
	Cite    string          `json:"cite"`
	Reason  string          `json:"reason,omitempty" jsonschema:"description=what was verified\\, or why it was skipped"`
	Error   string          `json:"error,omitempty" jsonschema:"description=the first finding of a step that is not ok"`
	// ReceiptID and SHA256 are of the step receipt-fetch.
	ReceiptID string    `json:"receipt_id,omitempty"`
	SHA256    string    `json:"sha256,omitempty"`
	Findings  []Finding `json:"findings"`
}

// Finding is one thing that a step has to say, about a document and not about a file.
type Finding struct {
	Severity verdict.Severity `json:"severity" jsonschema:"type=string,enum=error,enum=inconclusive,enum=warning,enum=notice"`
	Code     string           `json:"code"`
	Message  string           `json:"message"`
	Fix      string           `json:"fix,omitempty"`
	Cite     string           `json:"cite,omitempty"`
	Document string           `json:"document,omitempty" jsonschema:"enum=manifest,enum=receipt,enum=did-document"`
	Pointer  string           `json:"pointer,omitempty" jsonschema:"description=RFC 6901\\, into the document"`
	Commit   string           `json:"commit,omitempty" jsonschema:"description=of the clone"`
}

// Anchored is what of the clone was read.
type Anchored struct {
	Commit string `json:"commit"`
	Path   string `json:"path,omitempty" jsonschema:"description=of the listing that anchors the Receipt\\, or else lists the DID"`
	Chosen string `json:"chosen,omitempty" jsonschema:"description=how the commit was chosen"`
}

// Canonical are the bytes that the implementation signs.
type Canonical struct {
	Text   string `json:"text" jsonschema:"description=RFC 8785 form of the Receipt without signatures and peer_witnesses"`
	SHA256 string `json:"sha256"`
	Error  string `json:"error,omitempty" jsonschema:"description=why there is none"`
}
