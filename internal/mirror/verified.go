// Package mirror audits and mirrors a whole registry.
//
// An audit knows more than the clone: what was verified before, what other copies show, and where the state of this run
// is left.
package mirror

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"golang.org/x/mod/sumdb/note"

	"github.com/openagentprotocol-OAP/oap-gate/checks"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/git/checkpoint"
	"github.com/openagentprotocol-OAP/oap-gate/internal/git/commitsig"
	"github.com/openagentprotocol-OAP/oap-gate/internal/git/gitstore"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// policy is the number of the rules by which history is judged. It is raised when they change, so that every mirror
// judges its whole history again.
const policy = 2

// Checkpoint says where the last verified tip is, and what is required of it.
type Checkpoint struct {
	File      string // empty: none
	Origin    string // name of the registry in it; empty: the URL of the clone's remote without scheme
	SignKey   string // file of the note key that signs it; empty: unsigned
	VerifyKey string // note key whose signature it must carry; empty: none
	Moves     bool   // the run may move it
	// Keys judge the commits. It is nil if no keys were given, or if a commit without a good signature does not fail
	// the run: a commit that passed without a signature must not count as judged once signatures are required.
	Keys *commitsig.Verifier
	// Known is a commit that was verified where no checkpoint says so; empty: none.
	Known string
	// The accepted findings, and the commit since which signatures are required. If either changes, the history is
	// judged again.
	Accepted    *verdict.Accepted
	SignedSince string
}

// Verified is what an audit knows of earlier ones, and where it leaves what it verified itself.
type Verified struct {
	Last     *checkpoint.Checkpoint // nil if there is no checkpoint yet
	Tip      string                 // from which history needs judging; empty: from its root
	Size     int                    // first-parent commits up to Tip
	Findings []verdict.Finding      // of comparing the history with Last

	named   Checkpoint // with the origin that applies
	signers string     // digest of the keys that judge the commits
	signer  note.Signer
}

// keep is the fix for a checkpoint that cannot be read: removing it would forget what was verified.
const keep = "put the last good copy of the checkpoint there; without one, name a new file, and all is judged from " +
	"the root"

// Read reads the checkpoint and finds its tip in the history of head.
func (c Checkpoint) Read(ctx context.Context, repo *registry.Repository, head string) (*Verified, error) {
	if c.File == "" {
		return &Verified{named: c}, nil
	}
	if c.Origin = cmp.Or(c.Origin, checkpoint.Origin(repo.Store().RemoteURL())); c.Origin == "" {
		return nil, remedy.Errorf("name the registry with --origin",
			"the checkpoint needs an origin, and the clone has no remote")
	}
	keys := c.Keys
	if keys == nil {
		var err error
		if keys, err = commitsig.New(nil, nil); err != nil {
			return nil, err
		}
	}
	v := &Verified{named: c, signers: keys.SignersSHA256()}
	if err := v.open(); err != nil {
		return nil, err
	}
	// A known commit is the checkpoint's tip, or ahead of it: the mirror's start has seen to that.
	if err := v.compareKnown(ctx, repo, head); err != nil || v.Last == nil || len(v.Findings) > 0 {
		return v, err
	}
	goOn := v.Last.Policy == policy && v.Last.Signers == v.signers && v.Last.Accepted == c.acceptedSHA256() &&
		v.Last.Since == c.SignedSince
	found, err := onChain(ctx, repo, v.Last, head, goOn)
	if err != nil {
		return nil, err
	}
	if reason, err := contradicts(ctx, repo, v.Last, head, found); err != nil {
		return nil, err
	} else if reason != "" {
		return nil, damaged(c.File, keep, reason)
	}
	if !found {
		v.Findings = append(v.Findings, verdict.Finding{Severity: verdict.Error, Code: checks.CodeHistoryRewritten,
			Commit: head,
			Message: fmt.Sprintf("history was rewritten: the last verified tip %s is not commit number %d of the "+
				"first-parent history of %s", v.Last.Tip, v.Last.Size, head),
			Fix: "keep both copies, and tell the maintainers and the other mirrors; do not remove the checkpoint"})
		return v, nil
	}
	if goOn {
		v.Tip, v.Size = v.Last.Tip, v.Last.Size
	}
	return v, nil
}

func (c Checkpoint) acceptedSHA256() string {
	if c.Accepted == nil {
		return ""
	}
	return c.Accepted.SHA256
}

// Consistency returns what comparing with earlier verifications, with the clock and with other copies found, without
// the accepted findings.
func (v *Verified) Consistency(ctx context.Context, repo *registry.Repository, head string,
	more ...verdict.Finding) ([]verdict.Finding, error) {
	return v.accept(ctx, repo, head, slices.Concat(v.Findings, more))
}

// compareKnown looks for the known commit in the history of head, which is judged again all the same.
func (v *Verified) compareKnown(ctx context.Context, repo *registry.Repository, head string) error {
	known := v.named.Known
	if known == "" {
		return nil
	}
	if _, err := repo.FirstParents(ctx, known, head); !errors.Is(err, registry.ErrNotAncestor) {
		return err
	}
	ahead, err := repo.FirstParents(ctx, head, known)
	switch {
	case err == nil:
		v.Findings = append(v.Findings, verdict.Finding{Severity: verdict.Error, Code: codeServedOlder, Commit: head,
			Message: fmt.Sprintf("the tip is %s behind the verified one: a lagging replica, or a reset; expected %s "+
				"or a descendant", plain.Count(len(ahead), "commit"), known),
			Fix: "run again later; if it stays so, ask the maintainers whether they reset the branch"})
	case errors.Is(err, registry.ErrNotAncestor):
		v.Findings = append(v.Findings, verdict.Finding{Severity: verdict.Error, Code: checks.CodeHistoryRewritten,
			Commit: head,
			Message: fmt.Sprintf("history was rewritten: the last verified tip %s is not in the first-parent "+
				"history of %s", known, head),
			Fix: "keep both copies, and tell the maintainers and the other mirrors; do not remove the verified branch"})
	default:
		return err
	}
	return nil
}

const codeServedOlder = "served-older"

// contradicts returns how a checkpoint contradicts itself, empty if it does not. found says that its tip is in the
// history of head; if it is not, the tip may be gone with a history that was rewritten, and only the root shows
// something.
func contradicts(ctx context.Context, repo *registry.Repository, last *checkpoint.Checkpoint, head string,
	found bool) (string, error) {
	if found {
		trees, err := treesOf(ctx, repo, last.Tip)
		if err == nil && !last.Is(last.Tip, trees) {
			return fmt.Sprintf("its root is not that of its tip %s", last.Tip), nil
		}
		return "", err
	}
	reason, err := contradiction(ctx, repo, last)
	if !errors.Is(err, gitstore.ErrNotFound) {
		return reason, err
	}
	chain, err := repo.FirstParents(ctx, "", head)
	if err != nil || last.Size > len(chain) {
		return "", err
	}
	at := chain[last.Size-1]
	trees, err := treesOf(ctx, repo, at)
	if err == nil && last.Root == checkpoint.Root(at, trees) {
		return fmt.Sprintf("its root is that of %s; its tip is %s", at, last.Tip), nil
	}
	return "", err
}

// open reads the file, and the keys of its signature.
func (v *Verified) open() error {
	c := v.named
	var verifier note.Verifier
	var err error
	if c.VerifyKey != "" {
		if verifier, err = checkpoint.Verifier(c.VerifyKey); err != nil {
			return remedy.With(err, "give the line of the public key with --verify-key")
		}
	}
	if c.SignKey != "" {
		if v.signer, err = checkpoint.Signer(c.SignKey); err != nil {
			return remedy.With(err, "name the file of the private key with --sign-key")
		}
	}
	v.Last, err = checkpoint.Read(c.File, verifier)
	read := err == nil || errors.Is(err, fs.ErrNotExist)
	if read && verifier != nil && c.Moves &&
		(v.signer == nil || v.signer.Name() != verifier.Name() || v.signer.KeyHash() != verifier.KeyHash()) {
		return remedy.Errorf("give --sign-key FILE of the same pair; or --only consistency, which compares and writes "+
			"nothing",
			"the checkpoint would be written without the signature that --verify-key requires")
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return remedy.With(fmt.Errorf("reading --checkpoint: %w", err), keep)
	}
	if v.Last.Origin != c.Origin {
		return remedy.Errorf("give --origin "+v.Last.Origin+", or another file",
			"the checkpoint is of the registry %q, this one is %q", v.Last.Origin, c.Origin)
	}
	return nil
}

// onChain reports whether the last verified tip is at the checkpoint's position of the first-parent history of head. To
// continue from the checkpoint, onChain reads only what is new and trusts the position; else it counts the chain from
// its root.
func onChain(ctx context.Context, repo *registry.Repository, last *checkpoint.Checkpoint, head string,
	goOn bool) (bool, error) {
	if goOn {
		if _, err := repo.FirstParents(ctx, last.Tip, head); err == nil {
			return true, nil
		}
	}
	chain, err := repo.FirstParents(ctx, "", head)
	return err == nil && last.Size <= len(chain) && chain[last.Size-1] == last.Tip, err
}

// treesOf returns the ids of the four data directories in a commit, in path order: implementations, peer-witnesses,
// revocations, workflow-anchors; "-" for one that does not exist. If an entry of that name is not a directory, its id
// counts.
func treesOf(ctx context.Context, repo *registry.Repository, commit string) (ids [4]string, err error) {
	t, err := repo.Tree(ctx, commit)
	if err != nil {
		return ids, err
	}
	for i, k := range registry.DataKinds {
		e, ok, err := t.Entry(k.Directory())
		if err != nil {
			return ids, err
		}
		ids[i] = "-"
		if ok {
			ids[i] = e.ID.String()
		}
	}
	return ids, nil
}

// Next returns the checkpoint that this run may write, and what happens to the file. If the checkpoint is nil, the file
// is not written, and the text says why.
func (v *Verified) Next(ctx context.Context, repo *registry.Repository,
	rep *verdict.Report) (*checkpoint.Checkpoint, *verdict.CheckpointFile, error) {
	not := func(reason string) (*checkpoint.Checkpoint, *verdict.CheckpointFile, error) {
		return nil, &verdict.CheckpointFile{Reason: reason}, nil
	}
	switch {
	case v.named.File == "":
		return not("no --checkpoint names a file")
	case !v.named.Moves:
		return not("--only, --skip, --shard or --replay was given")
	}
	judged := verdict.IDs(verdict.Rules(own))
	failed, unsure := "", ""
	for r := range rep.Results.All() {
		if slices.Contains(judged, r.Check) {
			switch r.Verdict {
			case verdict.Failed:
				failed = cmp.Or(failed, r.Check)
			case verdict.Inconclusive:
				unsure = cmp.Or(unsure, r.Check)
			}
		}
	}
	switch err := rep.Results.Err(); {
	case err != nil:
		return nil, nil, err
	case failed != "":
		return not(failed + " failed")
	case unsure != "":
		return not(unsure + " is inconclusive")
	}
	trees, err := treesOf(ctx, repo, rep.Head)
	if err != nil {
		return nil, nil, err
	}
	next, err := checkpoint.New(v.named.Origin, rep.History.Commits, rep.Head, trees, policy, v.signers)
	if err != nil {
		return nil, nil, err
	}
	next.Accepted, next.Since = v.named.acceptedSHA256(), v.named.SignedSince
	if v.Last != nil && *v.Last == *next && v.signer == nil {
		return not(already)
	}
	return next, &verdict.CheckpointFile{Written: true}, nil
}

// already is the reason of a checkpoint that is not written because it would be the same.
const already = "it is of this tip already"

// Holds reports whether the head holds, by what Next returned.
func (v *Verified) Holds(next *checkpoint.Checkpoint, file *verdict.CheckpointFile) bool {
	return next != nil || file.Reason == already
}

// Write has save write what Next gave, unless another audit was faster.
func (v *Verified) Write(next *checkpoint.Checkpoint, save func(text []byte) error) error {
	if next == nil {
		return nil
	}
	switch now, err := checkpoint.Read(v.named.File, nil); {
	case errors.Is(err, fs.ErrNotExist) && v.Last == nil:
	case err != nil:
		return remedy.With(err, keep)
	case *now != *next && (v.Last == nil || *now != *v.Last):
		// Written now, it would forget what the other audit verified.
		return remedy.Errorf("run again, one audit at a time", "another audit moved the checkpoint %q meanwhile",
			v.named.File)
	}
	text, err := next.Encode(v.signer)
	if err != nil {
		return err
	}
	return save(text)
}

// Age makes a head that has not moved for longer than most a finding: a frozen copy shows nothing of what came after.
// Where most is 0 any age will do.
func Age(ctx context.Context, repo *registry.Repository, head string, now time.Time,
	most time.Duration) ([]verdict.Finding, error) {
	if most == 0 {
		return nil, nil
	}
	c, err := repo.Commit(ctx, head)
	if err != nil {
		return nil, err
	}
	old, when := now.Sub(c.When), c.When.Format("2006-01-02T15:04:05Z")
	if old < -checks.Skew {
		return []verdict.Finding{{Severity: verdict.Error, Code: "head-in-future", Commit: head,
			Message: fmt.Sprintf("the head is of %s, %s ahead: nothing shows its age; expected at most %s", when,
				plain.Span(-old), plain.Span(checks.Skew)),
			Fix: "set the clock, or ask the maintainers who made commit " + head}}, nil
	}
	if old > most {
		return []verdict.Finding{{Severity: verdict.Error, Code: "head-too-old", Commit: head,
			Message: fmt.Sprintf("the head is of %s, %s ago; --max-age allows %s", when, plain.Span(old),
				plain.Span(most)),
			Fix: "fetch the registry again, from more than one place"}}, nil
	}
	return nil, nil
}
