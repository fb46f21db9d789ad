package mirror

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence"
	"github.com/openagentprotocol-OAP/oap-gate/internal/peer"
	"github.com/openagentprotocol-OAP/oap-gate/internal/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// Peers are other copies of the registry, and how they are reached.
type Peers struct {
	Names   []string // URL or folder
	Temp    string   // folder for what is fetched; empty: the system's
	Offline bool     // none is fetched
	Live    evidence.LiveOptions
	Budget  time.Duration // of each fetch; 0: what the fetch allows
}

// Compare compares the head with the other copies, which never touch the clone. The error is peer.ErrSHA256: of what is
// not fetched from a URL.
func (p Peers) Compare(ctx context.Context, repo *registry.Repository,
	head string) ([]verdict.Peer, []verdict.Finding, error) {
	var peers []verdict.Peer
	var findings []verdict.Finding
	for _, name := range p.Names {
		state, err := p.compare(ctx, repo, name, head)
		if errors.Is(err, peer.ErrSHA256) {
			return nil, nil, err
		}
		if err != nil {
			findings = append(findings, verdict.Finding{Severity: verdict.Doubt, Code: "peer-unavailable",
				Message: fmt.Sprintf("the peer %q could not be compared with: %v", redacted(name), err),
				Fix:     "try again, or name another copy"})
			continue
		}
		peers = append(peers, verdict.Peer{Name: state.Name, Tip: state.Tip, Time: state.When,
			State: string(state.Relation)})
		when := state.When.Format("2006-01-02T15:04:05Z")
		switch state.Relation {
		case registry.PeerSplit:
			findings = append(findings, verdict.Finding{Severity: verdict.Error, Code: "split-view", Commit: head,
				Message: fmt.Sprintf("split view: here the tip is %s, at %q it is %s (%s); %s", head, name, state.Tip,
					when,
					common(state)),
				Fix: "keep both copies, and tell the maintainers and the other mirrors: somebody shows different " +
					"histories"})
		case registry.PeerBehind:
			findings = append(findings, verdict.Finding{Severity: verdict.Notice, Code: "peer-behind",
				Message: fmt.Sprintf("the peer %q is %s behind; its tip is of %s", name,
					plain.Count(state.OwnOnly, "commit"), when)})
		case registry.PeerAhead:
			findings = append(findings, verdict.Finding{Severity: verdict.Notice, Code: "peer-ahead",
				Message: fmt.Sprintf("the peer %q is %s ahead; its tip is of %s", name,
					plain.Count(state.PeerOnly, "commit"), when),
				Fix: "fetch the registry again"})
		}
	}
	return peers, findings, nil
}

// redacted is the name of a peer without the password of a URL.
func redacted(name string) string {
	if !strings.Contains(name, "://") {
		return name
	}
	return plain.Redacted(name)
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

// peerPrefix begins the name of a folder that a peer is fetched to.
const peerPrefix = "oap-gate-peer-"

func (p Peers) compare(ctx context.Context, repo *registry.Repository, name, head string) (*registry.PeerState, error) {
	dir, local := peer.Dir(name)
	if local {
		return repo.ComparePeer(ctx, name, dir, head)
	}
	if p.Offline {
		return nil, errors.New("--offline forbids to fetch it")
	}
	if p.Budget > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, p.Budget)
		defer cancel()
	}
	dir, err := os.MkdirTemp(p.Temp, peerPrefix)
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	if err := p.fetch(ctx, repo, name, head, dir); err != nil {
		return nil, err
	}
	return repo.ComparePeer(ctx, name, dir, head)
}

// fetch makes a bare repository of a folder, whose HEAD is the peer's and which borrows the objects of one's own clone.
func (p Peers) fetch(ctx context.Context, repo *registry.Repository, name, head, dir string) error {
	if len(head) != 40 {
		return remedy.Errorf("name a folder that git fetched", "the clone is %w, which is not fetched from a URL",
			peer.ErrSHA256)
	}
	u, err := peer.URL(name)
	if err != nil {
		return err
	}
	way, err := evidence.NewTransport(p.Live, u)
	if err != nil {
		return err
	}
	objects := filepath.Join(dir, "objects")
	for _, sub := range []string{"objects/pack", "objects/info", "refs/heads"} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o777); err != nil {
			return err
		}
	}
	source := peer.Source{URL: name, Transport: way}
	own := repo.ObjectDir()
	if !strings.ContainsAny(own, "\n\r") { // no such path can be written there; the fetch is larger without
		if err := os.WriteFile(filepath.Join(objects, "info", "alternates"), []byte(own+"\n"), 0o666); err != nil {
			return err
		}
		source.Has = func(id string) bool { return id == head }
		source.Haves = func(ctx context.Context) ([]string, error) { return haves(ctx, repo, head) }
	}
	f, err := peer.Fetch(ctx, source, filepath.Join(objects, "pack"))
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "HEAD"), []byte(f.Tip+"\n"), 0o666)
}

// haves are commits of a first-parent chain, the further back the fewer.
func haves(ctx context.Context, repo *registry.Repository, tip string) ([]string, error) {
	chain, err := repo.FirstParents(ctx, "", tip)
	if err != nil {
		return nil, err
	}
	var ids []string
	for i, step := len(chain)-1, 1; i >= 0; i -= step {
		ids = append(ids, chain[i])
		if len(ids) > 16 {
			step *= 2
		}
	}
	return ids, nil
}
