package registry

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"runtime"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/ahead"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/crash"
	"github.com/openagentprotocol-OAP/oap-gate/internal/git/gitobject"
	"github.com/openagentprotocol-OAP/oap-gate/internal/git/gitstore"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/level"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
)

// Pos is a place in a file of the registry.
type Pos = strict.Pos

// Entry is what a tree holds at a path: mode and object. Two equal entries are the same file.
type Entry struct {
	Mode Mode
	ID   gitobject.ID
}

// SameEntry reports whether two entries have the same mode and content. A nil entry, which means that nothing is there,
// only equals nil.
func SameEntry(a, b *Entry) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}

// Mode is a Git file mode, as the tree spells it.
type Mode uint32

// The modes that Git writes. Data directories accept only ModeFile.
const (
	ModeTree       = Mode(gitstore.ModeTree)
	ModeFile       = Mode(gitstore.ModeFile)
	ModeExecutable = Mode(gitstore.ModeExecutable)
	ModeSymlink    = Mode(gitstore.ModeSymlink)
	ModeSubmodule  = Mode(gitstore.ModeSubmodule)
)

// Octal returns the mode in six digits, as git ls-tree prints it.
func (m Mode) Octal() string { return fmt.Sprintf("%06o", uint32(m)) }

// String names what the mode means, for people.
func (m Mode) String() string {
	switch m {
	case ModeTree:
		return "directory"
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

// Record is one file of a data directory, read strictly. Document is nil where Err says why.
type Record struct {
	Path     string
	Kind     Kind
	Entry    Entry
	Document *strict.Document
	Err      *strict.Error
}

// Listing is the content of implementations/<slug>.json (RFC 0026 section 4) as far as it has the right
// types; a member that is missing or of another type is empty here, and `schema` says so.
// Issued and Expires are zero if the text is not a strict RFC 3339 time.
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

// Kind says in which of the registry's data directories a path is (RFC 0026 section 3).
type Kind uint8

// The kinds of files. Governance is every path outside the data directories, and README.md and .gitkeep in them.
const (
	Governance Kind = iota
	KindListing
	KindRevocation
	KindPeerWitness
	KindWorkflowAnchor
)

var directories = [...]string{"", "implementations", "revocations", "peer-witnesses", "workflow-anchors"}

// DataKinds lists the kinds that have a data directory, in path order of the report.
var DataKinds = []Kind{KindListing, KindPeerWitness, KindRevocation, KindWorkflowAnchor}

// Directory returns the data directory of k, without slashes; "" for Governance.
func (k Kind) Directory() string { return directories[k] }

func (k Kind) String() string {
	return [...]string{"governance file", "listing", "revocation", "peer witness entry", "workflow anchor"}[k]
}

// KindOf classifies a path only by its first component: implementations/a/b is a (misplaced) listing.
func KindOf(path string) Kind {
	directory, rest, _ := strings.Cut(path, "/")
	if rest == "README.md" || rest == ".gitkeep" {
		return Governance
	}
	for _, k := range DataKinds {
		if directory == k.Directory() {
			return k
		}
	}
	return Governance
}

// root returns the value of the record's document, or nil without one.
func (r *Record) root() any {
	if r == nil || r.Document == nil {
		return nil
	}
	return r.Document.Root
}

// ParseListing reads what r holds as a listing. It never fails: see Listing.
func ParseListing(r *Record) *Listing {
	root := r.root()
	l := &Listing{
		Slug:          strict.String(root, "slug"),
		Name:          strict.String(root, "name"),
		ToolDID:       strict.String(root, "tool_did"),
		ManifestURI:   strict.String(root, "manifest_uri"),
		Level:         level.Level(strict.String(root, "conformance_level")),
		ReceiptURI:    strict.String(root, "conformance_receipt_uri"),
		ReceiptSHA256: strict.String(root, "conformance_receipt_sha256"),
		IssuedAt:      strict.String(root, "issued_at"),
		ExpiresAt:     strict.String(root, "expires_at"),
		Provisional:   strict.Member(root, "provisional") == true,
		NonCommercial: strict.Member(root, "non_commercial") == true,
	}
	l.Issued, _ = strict.Time(l.IssuedAt)
	l.Expires, _ = strict.Time(l.ExpiresAt)
	return l
}

// ParseRevocation reads r as a revocation. It never fails: members that are missing or of another type are empty in the
// result. Elements of peer_witness_signatures that are not objects remain, as empty entries.
func ParseRevocation(r *Record) *Revocation {
	root := r.root()
	v := &Revocation{
		Slug:          strict.String(root, "slug"),
		ReceiptSHA256: strict.String(root, "revoked_receipt_sha256"),
		Reason:        strict.String(root, "reason"),
		RevokedAt:     strict.String(root, "revoked_at"),
		RevokedByDID:  strict.String(root, "revoked_by_did"),
		Signature:     parseSignature(strict.Member(root, "signature")),
		SignatureText: strict.String(root, "signature"),
	}
	v.Revoked, _ = strict.Time(v.RevokedAt)
	entries, _ := strict.Member(root, "peer_witness_signatures").([]any)
	for _, entry := range entries {
		v.Witnesses = append(v.Witnesses, WitnessSignature{
			WitnessDID: strict.String(entry, "witness_did"),
			Signature:  parseSignature(entry),
		})
	}
	return v
}

// ParseAnchor reads what r holds as a workflow anchor. It never fails: what is missing or of another type is
// empty in the result.
func ParseAnchor(r *Record) *Anchor {
	root := r.root()
	a := &Anchor{
		Slug:           strict.String(root, "slug"),
		WorkflowID:     strict.String(root, "workflow_id"),
		CoordinatorDID: strict.String(root, "coordinator_did"),
		FailoverDID:    strict.String(root, "failover_coordinator_did"),
		ReceiptURI:     strict.String(root, "cross_match_receipt_uri"),
		ReceiptSHA256:  strict.String(root, "cross_match_receipt_sha256"),
		AnchoredAt:     strict.String(root, "anchored_at"),
	}
	a.Anchored, _ = strict.Time(a.AnchoredAt)
	return a
}

func parseSignature(v any) Signature {
	return Signature{Alg: strict.String(v, "alg"), Value: strict.String(v, "value"), By: strict.String(v, "by")}
}

// ProvisionalFor is how long a listing is provisional at most, whatever its file says: RFC 0026 section 6, "until the
// 30-day mark".
const ProvisionalFor = 30 * 24 * time.Hour

// Scan reads every record of a kind and yields f's result for each, in byte order of the paths. GOMAXPROCS goroutines
// decode the files, some thousand at a time and the next ones while results are used. So f must be safe for concurrent
// use, also with the code that uses the results; a Record that f does not keep is free once f returns. README.md and
// .gitkeep are not records. An error, of the first path that could not be read, is yielded last, and without a result.
func Scan[T any](ctx context.Context, t *Tree, k Kind, f func(*Record) T) iter.Seq2[T, error] {
	return scan(ctx, t, k, atOnce, f)
}

// atOnce is how many files are decoded before any result is given on.
const atOnce = 1 << 13

func scan[T any](ctx context.Context, t *Tree, k Kind, atOnce int, f func(*Record) T) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for results, err := range ahead.Of(scanParts(ctx, t, k, atOnce, f)) {
			if err != nil {
				var none T
				yield(none, err)
				return
			}
			for _, r := range results {
				if !yield(r, nil) {
					return
				}
			}
		}
	}
}

// scanParts yields the results of atOnce files at a time.
func scanParts[T any](ctx context.Context, t *Tree, k Kind, atOnce int, f func(*Record) T) iter.Seq2[[]T, error] {
	return func(yield func([]T, error) bool) {
		read := func(entries []NamedEntry) bool {
			results := make([]T, len(entries))
			err := inParallel(ctx, len(entries), neighbours, func(from, to int) error {
				for i := from; i < to; i++ {
					rec, err := t.repo.Record(ctx, entries[i].Path, entries[i].Entry)
					if err != nil {
						return err
					}
					results[i] = f(rec)
				}
				return nil
			})
			return yield(results, err) && err == nil
		}
		var entries []NamedEntry
		for e, err := range t.Entries(k) {
			if err != nil {
				yield(nil, err)
				return
			}
			if KindOf(e.Path) != k {
				continue
			}
			if entries = append(entries, e); len(entries) == atOnce {
				if !read(entries) {
					return
				}
				entries = entries[:0]
			}
		}
		read(entries)
	}
}

// neighbours is how many files a goroutine takes at a time: they share deltas in a pack.
const neighbours = 64

// inParallel calls f for parts of 0 to n, each of size except the last, in GOMAXPROCS goroutines at a time. It starts
// no part after an error. Parts start in order, so the error of the first part that has one is always among those met,
// and inParallel returns that error.
func inParallel(ctx context.Context, n, size int, f func(from, to int) error) error {
	var g errgroup.Group
	g.SetLimit(runtime.GOMAXPROCS(0))
	var failed atomic.Bool
	var crashed crash.Carrier
	failures := make([]error, (n+size-1)/size)
	for i := range failures {
		if failed.Load() || ctx.Err() != nil {
			break
		}
		g.Go(func() error {
			defer crashed.Catch(nil)
			if failures[i] = f(i*size, min((i+1)*size, n)); failures[i] != nil {
				failed.Store(true)
			}
			return nil
		})
	}
	_ = g.Wait() // no part returns its error
	crashed.Rethrow()
	return cmp.Or(append(failures, ctx.Err())...)
}
