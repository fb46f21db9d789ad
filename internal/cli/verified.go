package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/note"

	"github.com/openagentprotocol-OAP/oap-gate/checks"
	"github.com/openagentprotocol-OAP/oap-gate/gate"
	"github.com/openagentprotocol-OAP/oap-gate/internal/checkpoint"
	"github.com/openagentprotocol-OAP/oap-gate/internal/commitsig"
	"github.com/openagentprotocol-OAP/oap-gate/internal/peer"
	"github.com/openagentprotocol-OAP/oap-gate/internal/span"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// policy is the number of the rules by which history is judged. It is raised when they change, so that every
// mirror judges its whole history anew.
const policy = 1

// verified is what an audit knows of earlier ones, and where it leaves what it verified itself.
type verified struct {
	file     string
	origin   string
	signers  string
	signer   note.Signer
	last     *checkpoint.Checkpoint // nil where there is none yet
	findings []verdict.Finding
	tip      string // from which history needs judging; empty: from its root
	size     int    // first-parent commits up to tip
}

// keepCheckpoint mends a checkpoint that cannot be read: whoever simply removes it forgets what was verified.
const keepCheckpoint = "put the last good copy of the checkpoint there; without one, name a new file, and all is judged from the root"

// signatures reads the keys that may sign commits; nil where none were given.
func (o *auditOptions) signatures() (*commitsig.Verifier, error) {
	if o.keyring == "" && o.allowedSigners == "" {
		if o.requireSigned {
			return nil, usagef("give --keyring FILE or --allowed-signers FILE", "--require-signed needs the keys that may sign")
		}
		return nil, nil
	}
	read := func(path string, most int64) ([]byte, error) {
		if path == "" {
			return nil, nil
		}
		return readCapped(path, most)
	}
	var err error
	if o.keys.keyring, err = read(o.keyring, commitsig.MaxKeyring); err != nil {
		return nil, usagef("name a file of OpenPGP public keys", "reading --keyring: %v", err)
	}
	if o.keys.signers, err = read(o.allowedSigners, commitsig.MaxAllowedSigners); err != nil {
		return nil, usagef("name an allowed signers file, as ssh-keygen(1) describes it", "reading --allowed-signers: %v", err)
	}
	keys, err := commitsig.New(o.keys.keyring, o.keys.signers)
	return keys, withFix(err, "name a file of OpenPGP public keys with --keyring, an allowed signers file with --allowed-signers")
}

// commitSignature judges the signature of one commit; without keys it tells signed from unsigned.
func commitSignature(repo *registry.Repository, v *commitsig.Verifier, now time.Time) func(context.Context, string) (gate.CommitSignature, error) {
	if v == nil {
		v = &commitsig.Verifier{}
	}
	return func(_ context.Context, id string) (gate.CommitSignature, error) {
		c, err := repo.CommitObject(id)
		if err != nil {
			return gate.CommitSignature{}, err
		}
		r := v.Verify(c, now)
		return gate.CommitSignature{Verdict: string(r.Verdict), Key: r.KeyID, Signer: r.Signer, Detail: r.Detail}, nil
	}
}

// checkpointed reads the checkpoint and finds its tip in the history of head.
func (o *auditOptions) checkpointed(ctx context.Context, repo *registry.Repository, head string, keys *commitsig.Verifier) (*verified, error) {
	v := &verified{file: o.checkpoint, origin: o.origin}
	if v.file == "" {
		return v, nil
	}
	if v.origin == "" {
		if v.origin = checkpoint.Origin(repo.RemoteURL()); v.origin == "" {
			return nil, usagef("name the registry with --origin", "the checkpoint needs an origin, and the clone has no remote")
		}
	}
	if keys == nil || !o.requireSigned {
		// What no signature was demanded of must not count as judged once one is.
		var err error
		if keys, err = commitsig.New(nil, nil); err != nil {
			return nil, err
		}
	}
	v.signers = keys.SignersSHA256()
	var verifier note.Verifier
	var err error
	if o.verifyKey != "" {
		if verifier, err = checkpoint.Verifier(o.verifyKey); err != nil {
			return nil, withFix(err, "give the line of the public key with --verify-key")
		}
	}
	if o.signKey != "" {
		if v.signer, err = checkpoint.Signer(o.signKey); err != nil {
			return nil, withFix(err, "name the file of the private key with --sign-key")
		}
	}
	v.last, err = checkpoint.Read(v.file, verifier)
	if read := err == nil || errors.Is(err, fs.ErrNotExist); read && verifier != nil && o.moves() &&
		(v.signer == nil || v.signer.Name() != verifier.Name() || v.signer.KeyHash() != verifier.KeyHash()) {
		return nil, usagef("give --sign-key FILE of the same pair; or --only consistency, which compares and writes nothing", "the checkpoint would be written without the signature that --verify-key demands of it")
	}
	if errors.Is(err, fs.ErrNotExist) {
		return v, nil
	}
	if err != nil {
		return nil, withFix(fmt.Errorf("reading --checkpoint: %w", err), keepCheckpoint)
	}
	if v.last.Origin != v.origin {
		return nil, usagef("give --origin "+v.last.Origin+", or another file", "the checkpoint is of the registry %q, this one is %q", v.last.Origin, v.origin)
	}
	goOn := v.last.Policy == policy && v.last.Signers == v.signers
	found, err := onChain(ctx, repo, v.last, head, goOn)
	if err != nil {
		return nil, err
	}
	if found {
		trees, err := treesOf(ctx, repo, v.last.Tip)
		if err != nil {
			return nil, err
		}
		found = v.last.Is(v.last.Tip, trees)
	}
	if !found {
		v.findings = append(v.findings, verdict.Finding{Severity: verdict.Error, Code: "history-rewritten", Commit: head,
			Message: fmt.Sprintf("history was rewritten: the last verified tip %s is not commit number %d of the first-parent history of %s", v.last.Tip, v.last.Size, head),
			Fix:     "keep both copies, and tell the maintainers and the other mirrors; do not remove the checkpoint"})
		return v, nil
	}
	if goOn {
		v.tip, v.size = v.last.Tip, v.last.Size
	}
	return v, nil
}

// onChain tells whether the last verified tip is where the checkpoint says on the first-parent history of head. To go
// on from it, only what is new is read, and its number is believed; else the chain is counted from its root.
func onChain(ctx context.Context, repo *registry.Repository, last *checkpoint.Checkpoint, head string, goOn bool) (bool, error) {
	if goOn {
		if _, err := repo.FirstParents(ctx, last.Tip, head); err == nil {
			return true, nil
		}
	}
	chain, err := repo.FirstParents(ctx, "", head)
	return err == nil && last.Size <= len(chain) && chain[last.Size-1] == last.Tip, err
}

// treesOf are the ids of the four data folders in a commit.
func treesOf(ctx context.Context, repo *registry.Repository, commit string) ([4]string, error) {
	t, err := repo.Tree(ctx, commit)
	if err != nil {
		return [4]string{}, err
	}
	return t.DataTrees()
}

// moves tells whether this run may move the checkpoint.
func (o *auditOptions) moves() bool {
	return o.checkpoint != "" && len(o.only) == 0 && len(o.skip) == 0 && o.shard == "" && o.replay == ""
}

// move writes the new checkpoint, if this run verified the whole way to it.
func (o *auditOptions) move(ctx context.Context, repo *registry.Repository, v *verified, rep *verdict.Report) error {
	if !o.moves() {
		return nil
	}
	judged := []string{checks.History.ID, checks.Consistency.ID, checks.CommitSignatures.ID}
	for _, r := range rep.Results {
		if slices.Contains(judged, r.Check) && (r.Verdict == verdict.Failed || r.Verdict == verdict.Inconclusive) {
			return nil
		}
	}
	trees, err := treesOf(ctx, repo, rep.Head)
	if err != nil {
		return err
	}
	next, err := checkpoint.New(v.origin, rep.History.Commits, rep.Head, trees, policy, v.signers)
	if err != nil {
		return err
	}
	switch now, err := checkpoint.Read(v.file, nil); {
	case errors.Is(err, fs.ErrNotExist) && v.last == nil:
	case err != nil:
		return withFix(err, keepCheckpoint)
	case *now == *next && v.signer == nil:
		return nil
	case *now != *next && (v.last == nil || *now != *v.last):
		// Written now, it would forget what the other audit verified.
		return usagef("run again, one audit at a time", "another audit moved the checkpoint %q meanwhile", v.file)
	}
	return withFix(next.WriteFile(v.file, v.signer), writable)
}

// age makes a head that has not moved for too long a finding: a frozen copy shows nothing of what came after.
func (o *auditOptions) age(ctx context.Context, repo *registry.Repository, head string) ([]verdict.Finding, error) {
	if o.maxAge == 0 {
		return nil, nil
	}
	c, err := repo.Commit(ctx, head)
	if err != nil {
		return nil, err
	}
	old := o.now().Sub(c.When)
	if old < -checks.Skew {
		return []verdict.Finding{{Severity: verdict.Error, Code: "head-in-future", Commit: head,
			Message: fmt.Sprintf("the head is of %s, %s ahead: nothing shows its age; at most %s is allowed", c.When.Format("2006-01-02T15:04:05Z"), span.Text(-old), span.Text(checks.Skew)),
			Fix:     "set the clock, or ask the maintainers who made commit " + head}}, nil
	}
	if old > o.maxAge {
		return []verdict.Finding{{Severity: verdict.Error, Code: "head-too-old", Commit: head,
			Message: fmt.Sprintf("the head is of %s, %s ago; --max-age allows %s", c.When.Format("2006-01-02T15:04:05Z"), span.Text(old), span.Text(o.maxAge)),
			Fix:     "fetch the registry again, from more than one place"}}, nil
	}
	return nil, nil
}

// comparePeers compares the head with other copies of the registry, which never touch the clone.
func (o *auditOptions) comparePeers(ctx context.Context, repo *registry.Repository, head string) ([]verdict.Peer, []verdict.Finding) {
	var peers []verdict.Peer
	var findings []verdict.Finding
	for _, name := range o.peers {
		state, err := o.comparePeer(ctx, repo, name, head)
		if err != nil {
			if strings.Contains(name, "://") {
				name = redacted(name)
			}
			findings = append(findings, verdict.Finding{Severity: verdict.Doubt, Code: "peer-unavailable",
				Message: fmt.Sprintf("the peer %q could not be compared with: %v", name, err), Fix: "try again, or name another copy"})
			continue
		}
		peers = append(peers, verdict.Peer{Name: state.Name, Tip: state.Tip, Time: state.When, State: string(state.Relation)})
		when := state.When.Format("2006-01-02T15:04:05Z")
		switch state.Relation {
		case registry.PeerSplit:
			findings = append(findings, verdict.Finding{Severity: verdict.Error, Code: "split-view", Commit: head,
				Message: fmt.Sprintf("split view: here the tip is %s, at %q it is %s (%s); %s", head, name, state.Tip, when, common(state)),
				Fix:     "keep both copies, and tell the maintainers and the other mirrors: somebody shows different histories"})
		case registry.PeerBehind:
			findings = append(findings, verdict.Finding{Severity: verdict.Notice, Code: "peer-behind",
				Message: fmt.Sprintf("the peer %q is %s behind; its tip is of %s", name, commits(state.OwnOnly), when)})
		case registry.PeerAhead:
			findings = append(findings, verdict.Finding{Severity: verdict.Notice, Code: "peer-ahead",
				Message: fmt.Sprintf("the peer %q is %s ahead; its tip is of %s", name, commits(state.PeerOnly), when), Fix: "fetch the registry again"})
		}
	}
	return peers, findings
}

func commits(n int) string {
	if n == 1 {
		return "1 commit"
	}
	return fmt.Sprintf("%d commits", n)
}

// common says what two histories share, and the first records in which their tips differ.
func common(s *registry.PeerState) string {
	text := "they share no commit"
	if s.Common != "" {
		text = fmt.Sprintf("the last common commit is %s (%s)", s.Common, s.CommonWhen.Format("2006-01-02T15:04:05Z"))
	}
	var paths []string
	for _, c := range s.Differ {
		paths = append(paths, c.Path)
	}
	if len(paths) == 0 {
		return text + "; both hold the same records"
	}
	return text + "; the first records that differ: " + strings.Join(paths, ", ")
}

// peerTime bounds the fetch of one peer.
const peerTime = 30 * time.Minute

func (o *auditOptions) comparePeer(ctx context.Context, repo *registry.Repository, name, head string) (*registry.PeerState, error) {
	most := peerTime
	if o.budget > 0 {
		most = min(most, o.budget)
	}
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	dir, local := peer.Dir(name)
	if !local {
		if o.offline {
			return nil, errors.New("--offline forbids to fetch it")
		}
		copied, err := peer.Fetch(ctx, peer.Source{URL: name, Clone: o.repo, Tip: head, Proxy: o.proxy})
		if err != nil {
			return nil, err
		}
		defer copied.Close()
		dir = copied.Dir
	}
	return repo.ComparePeer(ctx, name, dir, head)
}
