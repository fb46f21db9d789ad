package mirror

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/peer"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// Peers are other copies of the registry, and how they are reached.
type Peers struct {
	Names   []string // URL or folder
	Clone   string   // folder of one's own clone, whose objects spare traffic
	Offline bool     // none is fetched
	Proxy   string
	Budget  time.Duration // of each fetch, at most peerTime; 0: that
}

// peerTime bounds the fetch of one peer.
const peerTime = 30 * time.Minute

// Compare compares the head with the other copies, which never touch the clone.
func (p Peers) Compare(ctx context.Context, repo *registry.Repository, head string) ([]verdict.Peer, []verdict.Finding) {
	var peers []verdict.Peer
	var findings []verdict.Finding
	for _, name := range p.Names {
		state, err := p.compare(ctx, repo, name, head)
		if err != nil {
			findings = append(findings, verdict.Finding{Severity: verdict.Doubt, Code: "peer-unavailable",
				Message: fmt.Sprintf("the peer %q could not be compared with: %v", redacted(name), err),
				Fix:     "try again, or name another copy"})
			continue
		}
		peers = append(peers, verdict.Peer{Name: state.Name, Tip: state.Tip, Time: state.When, State: string(state.Relation)})
		when := state.When.Format("2006-01-02T15:04:05Z")
		switch state.Relation {
		case registry.PeerSplit:
			findings = append(findings, verdict.Finding{Severity: verdict.Error, Code: "split-view", Commit: head,
				Message: fmt.Sprintf("split view: here the tip is %s, at %q it is %s (%s); %s", head, name, state.Tip, when,
					common(state)),
				Fix: "keep both copies, and tell the maintainers and the other mirrors: somebody shows different histories"})
		case registry.PeerBehind:
			findings = append(findings, verdict.Finding{Severity: verdict.Notice, Code: "peer-behind",
				Message: fmt.Sprintf("the peer %q is %s behind; its tip is of %s", name, commits(state.OwnOnly), when)})
		case registry.PeerAhead:
			findings = append(findings, verdict.Finding{Severity: verdict.Notice, Code: "peer-ahead",
				Message: fmt.Sprintf("the peer %q is %s ahead; its tip is of %s", name, commits(state.PeerOnly), when),
				Fix:     "fetch the registry again"})
		}
	}
	return peers, findings
}

// redacted is the name of a peer without the password of a URL.
func redacted(name string) string {
	if !strings.Contains(name, "://") {
		return name
	}
	u, err := url.Parse(name)
	if err != nil {
		return "(no URL)"
	}
	if _, secret := u.User.Password(); !secret {
		return name
	}
	return u.Redacted()
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

func (p Peers) compare(ctx context.Context, repo *registry.Repository, name, head string) (*registry.PeerState, error) {
	most := peerTime
	if p.Budget > 0 {
		most = min(most, p.Budget)
	}
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	dir, local := peer.Dir(name)
	if !local {
		if p.Offline {
			return nil, errors.New("--offline forbids to fetch it")
		}
		copied, err := peer.Fetch(ctx, peer.Source{URL: name, Clone: p.Clone, Tip: head, Proxy: p.Proxy})
		if err != nil {
			return nil, err
		}
		defer copied.Close()
		dir = copied.Dir
	}
	return repo.ComparePeer(ctx, name, dir, head)
}
