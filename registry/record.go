package registry

import (
	"fmt"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/gitstore"
	"github.com/openagentprotocol-OAP/oap-gate/internal/level"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
)

// Pos is a place in a file of the registry.
type Pos = strict.Pos

// Entry is what a tree holds at a path: mode and object. Two equal entries are the same file.
type Entry struct {
	Mode Mode
	ID   gitstore.ID
}

// SameEntry reports whether two entries have the same mode and content; nil, that nothing stands there, is the same as
// nil alone.
func SameEntry(a, b *Entry) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}

// Mode is a Git file mode, as the tree spells it.
type Mode uint32

// The modes that Git writes. Data folders accept ModeFile alone.
const (
	ModeTree       = Mode(gitstore.ModeTree)
	ModeFile       = Mode(gitstore.ModeFile)
	ModeExecutable = Mode(gitstore.ModeExecutable)
	ModeSymlink    = Mode(gitstore.ModeSymlink)
	ModeSubmodule  = Mode(gitstore.ModeSubmodule)
)

// Octal is the mode in six digits, as git ls-tree prints it.
func (m Mode) Octal() string { return fmt.Sprintf("%06o", uint32(m)) }

// String names what the mode stands for, for people.
func (m Mode) String() string {
	switch m {
	case ModeTree:
		return "folder"
	case ModeFile:
		return "file"
	case ModeExecutable:
		return "executable file"
	case ModeSymlink:
		return "symbolic link"
	case ModeSubmodule:
		return "submodule"
	}
	return "file of mode " + m.Octal()
}

// Record is one file of a data folder, read strictly. Document is nil where Err says why.
type Record struct {
	Path     string
	Kind     Kind
	Entry    Entry
	Document *strict.Document
	Err      *strict.Error
}

// Listing is the content of implementations/<slug>.json (RFC 0026 section 4) as far as it has the right
// types; a member that is missing or of another type is empty here, and `schema` says so.
// Issued and Expires are zero where the text is no strict RFC 3339 time.
type Listing struct {
	Slug            string
	Name            string
	ToolDID         string
	ManifestURI     string
	Level           level.Level
	ReceiptURI      string
	ReceiptSHA256   string
	IssuedAt        string
	ExpiresAt       string
	Issued, Expires time.Time
	Provisional     bool
	NonCommercial   bool
}

// Signature is one detached signature as the registry's documents carry it.
type Signature struct{ Alg, Value, By string }

// WitnessSignature is one entry of a revocation's peer_witness_signatures.
type WitnessSignature struct {
	WitnessDID string
	Signature
}

// Revocation is the content of revocations/<slug>-<sha256>.json (RFC 0026 section 5).
type Revocation struct {
	Slug          string
	ReceiptSHA256 string
	Reason        string
	RevokedAt     string
	Revoked       time.Time
	RevokedByDID  string
	Signature     Signature
	SignatureText string // the older text form, where signature is a string
	Witnesses     []WitnessSignature
}

// Anchor is the content of workflow-anchors/<slug>.json (RFC 0035 section 4.6).
type Anchor struct {
	Slug           string
	WorkflowID     string
	CoordinatorDID string
	FailoverDID    string
	ReceiptURI     string
	ReceiptSHA256  string
	AnchoredAt     string
	Anchored       time.Time
}
