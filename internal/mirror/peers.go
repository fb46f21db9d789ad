package mirror

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/typed"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence/live"
	"github.com/openagentprotocol-OAP/oap-gate/internal/git/peer"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/domainage"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// Peers are other copies of the registry, and how they are reached.
type Peers struct {
	Names    []string // URL or directory; one that is named twice is compared once
	Needed   int      // peers that must hold Verified; 0: each peer must be readable, whatever it holds
	Verified string   // tip that was verified before; empty: none
	Public   bool     // the report is served: it shows only the last names of a peer's directory
	Temp     string   // directory for what is fetched; empty: the system's
	MaxPack  int64    // bytes of a peer's pack, if Temp has no room for more; 0: what the fetch allows
	Offline  bool     // none is fetched
	Live     live.Options
	Budget   time.Duration // for each fetch; 0: peerTime
}

// peerTime is how long a peer may take. It sends what one's own clone lacks, which is little: without a limit of their
// own, peers that drip could hold a run for half an hour each.
const peerTime = 5 * time.Minute

// within limits the time of one fetch.
func (p Peers) within(ctx context.Context) (context.Context, context.CancelFunc) {
	limit := cmp.Or(p.Budget, peerTime)
	return context.WithTimeoutCause(ctx, limit, fmt.Errorf("%w: it took more than %s", peer.ErrFetch,
		plain.Span(limit)))
}

// Distinct returns the names of peers without those that name the same one again: directories are compared by the
// repository that is read there, URLs by host, port and path without a trailing slash and .git, however they are
// spelled.
func Distinct(names []string) []string {
	var out []string
	seen := map[string]bool{}
	for _, name := range names {
		if key := peerKey(name); !seen[key] {
			seen[key] = true
			out = append(out, name)
		}
	}
	return out
}

// SamePeer reports whether two names are of one copy, as in Distinct.
func SamePeer(a, b string) bool { return peerKey(a) == peerKey(b) }

// isElsewhere reports whether the URL to which an origin redirects names another repository. The same path by https
// instead of http is the same repository.
func isElsewhere(origin, to string) bool {
	u, err := url.Parse(origin)
	v, bad := url.Parse(to)
	if err != nil || bad != nil {
		return true
	}
	if u.Scheme == "http" && v.Scheme == "https" && hostKey(u.Hostname()) == hostKey(v.Hostname()) {
		u.Scheme, u.Host = v.Scheme, v.Host
	}
	return !SamePeer(u.String(), v.String())
}

// IsMirror reports whether a peer's name is that of the mirror in dir, which need not be there yet.
func IsMirror(name, dir string) bool {
	at, local := peer.Dir(name)
	return local && (pathKey(at) == pathKey(dir) || SamePeer(name, filepath.Join(dir, registry.MirrorClone)))
}

// pathKey is equal for the paths of one directory, of a clone with those of its Git directory.
func pathKey(dir string) string {
	dir = cloneIn(dir)
	if _, err := os.Stat(filepath.Join(dir, ".git")); err == nil {
		dir = filepath.Join(dir, ".git")
	}
	return "directory " + realPath(dir)
}

// realPath returns a path without symbolic links, as far as there are any.
func realPath(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	if resolved, err := filepath.EvalSymlinks(path); err == nil {
		path = resolved
	}
	return path
}

// peerKey is equal for names of one peer. A directory within a clone names the clone, and so does a linked work tree.
func peerKey(name string) string {
	if dir, local := peer.Dir(name); local {
		repo, err := registry.Open(cloneIn(dir))
		if err != nil { // comparing with it reports why
			return pathKey(dir)
		}
		defer repo.Close()
		return "objects " + realPath(repo.Store().ObjectDir())
	}
	u, err := url.Parse(name)
	if err != nil {
		return "url " + name
	}
	port := strings.TrimLeft(u.Port(), "0")
	if port == "" || u.Scheme == "https" && port == "443" || u.Scheme == "http" && port == "80" {
		port = u.Scheme
	}
	at := strings.TrimSuffix(path.Clean("/"+u.Path), "/.git") // git serves a work tree under both names
	return "url " + hostKey(u.Hostname()) + " " + port + " " + strings.TrimSuffix(at, ".git")
}

// hostKey is equal for the spellings of one host name or address.
func hostKey(host string) string {
	if name, err := domainage.Host(host); err == nil {
		return name
	}
	if at, err := netip.ParseAddr(host); err == nil {
		return at.Unmap().String()
	}
	return strings.TrimSuffix(strings.ToLower(host), ".")
}

// cloneIn returns the clone in a mirror's directory, and another directory as it is.
func cloneIn(dir string) string {
	for _, git := range []string{".git", "objects"} {
		if _, err := os.Lstat(filepath.Join(dir, git)); err == nil {
			return dir
		}
	}
	clone := filepath.Join(dir, "registry.git")
	if info, err := os.Stat(clone); err == nil && info.IsDir() {
		return clone
	}
	return dir
}

// Compare compares the head with the other copies, which never touch the clone. At least Needed peers must have
// answered and hold Verified; a peer that is empty counts only while nothing is verified. The error is peer.ErrSHA256,
// of a copy that cannot be fetched from a URL, unless enough others count.
func (p Peers) Compare(ctx context.Context, repo *registry.Repository,
	head string) ([]verdict.Peer, []verdict.Finding, error) {
	var peers []verdict.Peer
	var findings []verdict.Finding
	var wide error
	var unread []int // findings on peers that could not be read
	names, counted := Distinct(p.Names), 0
	for _, name := range names {
		shown := p.shown(name)
		state, err := p.compare(ctx, repo, name, head)
		if errors.Is(err, peer.ErrSHA256) {
			wide = cmp.Or(wide, err)
		}
		if errors.Is(err, peer.ErrEmpty) || errors.Is(err, errEmptyPeer) {
			peers = append(peers, verdict.Peer{Name: shown, State: string(peerBehind)})
			findings = append(findings, verdict.Finding{Severity: verdict.Notice, Code: "peer-behind",
				Message: fmt.Sprintf("the peer %q is empty", shown)})
			if p.Verified == "" {
				counted++
			}
			continue
		}
		if err != nil {
			fix := "try again, or name another copy"
			if errors.Is(err, ErrFull) {
				fix = "name another copy, or give a larger --max-disk"
			}
			peers = append(peers, verdict.Peer{Name: shown, State: unavailable})
			unread = append(unread, len(findings))
			findings = append(findings, verdict.Finding{Severity: verdict.Doubt, Code: codeUnavailable,
				Message: fmt.Sprintf("the peer %q could not be compared with: %s", shown, p.reason(err, name)),
				Fix:     fix})
			continue
		}
		state.name = shown
		holds, err := p.holds(ctx, repo, state)
		if err != nil {
			return nil, nil, err
		}
		if holds {
			counted++
		}
		peers = append(peers, verdict.Peer{Name: state.name, Tip: state.tip, Time: state.when,
			State: string(state.relation)})
		findings = append(findings, compared(state, head)...)
	}
	switch {
	case counted < p.Needed && wide != nil, p.Needed == 0 && wide != nil:
		return nil, nil, wide
	case p.Needed == 0:
	case counted >= p.Needed:
		for _, i := range unread {
			findings[i].Severity = verdict.Warning
		}
	default:
		findings = append(findings, p.tooFew(counted, len(names)))
	}
	return peers, findings, nil
}

const (
	unavailable     = "unavailable"
	codeUnavailable = "peer-unavailable"
)

// holds reports whether a peer that answered has the verified tip in its first-parent history.
func (p Peers) holds(ctx context.Context, repo *registry.Repository, s *peerState) (bool, error) {
	switch s.relation {
	case peerSame, peerAhead:
		return true, nil
	case peerBehind:
		if p.Verified == "" || p.Verified == s.tip {
			return true, nil
		}
		_, err := repo.FirstParents(ctx, p.Verified, s.tip)
		if errors.Is(err, registry.ErrNotAncestor) {
			return false, nil
		}
		return err == nil, err
	}
	return false, nil
}

// tooFew returns the finding that fewer peers count than are needed.
func (p Peers) tooFew(counted, all int) verdict.Finding {
	f := verdict.Finding{Severity: verdict.Doubt, Code: "peers-too-few",
		Message: fmt.Sprintf("%d of %s answered; expected at least %d", counted, plain.Count(all, "peer"), p.Needed),
		Fix:     "run the mirror again later"}
	if p.Verified != "" {
		f.Message = fmt.Sprintf("%d of %s answered and hold the verified tip %s; expected at least %d", counted,
			plain.Count(all, "peer"), p.Verified, p.Needed)
		f.Fix = "run the mirror again once the peers have fetched the registry"
	}
	if counted > 0 {
		f.Fix += fmt.Sprintf(", or give --peers-needed %d", counted)
	}
	return f
}

// compared returns what there is to say about a peer that was read.
func compared(state *peerState, head string) []verdict.Finding {
	when := state.when.Format("2006-01-02T15:04:05Z")
	switch state.relation {
	case peerSplit:
		return []verdict.Finding{{Severity: verdict.Error, Code: "split-view", Commit: head,
			Message: fmt.Sprintf("split view: here the tip is %s, at %q it is %s (%s); %s", head, state.name, state.tip,
				when, common(state)),
			Fix: "keep both copies, and tell the maintainers and the other mirrors: somebody shows different " +
				"histories"}}
	case peerBehind:
		return []verdict.Finding{{Severity: verdict.Notice, Code: "peer-behind",
			Message: fmt.Sprintf("the peer %q is %s behind; its tip is of %s", state.name,
				plain.Count(state.ownOnly, "commit"), when)}}
	case peerAhead:
		return []verdict.Finding{{Severity: verdict.Notice, Code: "peer-ahead",
			Message: fmt.Sprintf("the peer %q is %s ahead; its tip is of %s", state.name,
				plain.Count(state.peerOnly, "commit"), when),
			Fix: "fetch the registry again"}}
	}
	return nil
}

// shown returns the name of a peer for a report.
func (p Peers) shown(name string) string {
	dir, local := peer.Dir(name)
	if !local || !p.Public {
		return redacted(name)
	}
	base := filepath.Base(dir)
	if base == "registry.git" || base == ".git" { // which says nothing
		base = filepath.Base(filepath.Dir(dir)) + "/" + base
	}
	return base
}

// The most characters of a peer's texts in a report: the names in its trees may have megabytes.
const (
	maxPeerPath   = 300
	maxPeerReason = 2000
)

// reason returns why a peer could not be read. In a report that is served it names no path.
func (p Peers) reason(err error, name string) string {
	text := plain.Cut(err.Error(), maxPeerReason)
	if !p.Public {
		return text
	}
	if dir, local := peer.Dir(name); local {
		text = strings.ReplaceAll(text, name, p.shown(name))
		text = strings.ReplaceAll(text, dir, p.shown(name))
	}
	return withoutPaths(text)
}

// redacted returns the name of a peer without the password of a URL.
func redacted(name string) string {
	if !strings.Contains(name, "://") {
		return name
	}
	return typed.Redacted(name)
}

// common says what two histories share, and the first records in which their tips differ.
func common(s *peerState) string {
	text := "they share no commit"
	if s.common != "" {
		text = fmt.Sprintf("the last common commit is %s (%s)", s.common, s.commonWhen.Format("2006-01-02T15:04:05Z"))
	}
	var paths []string
	for _, path := range s.differ {
		paths = append(paths, plain.Cut(path, maxPeerPath))
	}
	if len(paths) == 0 {
		return text + "; both hold the same records"
	}
	return text + "; the first records that differ: " + strings.Join(paths, ", ")
}

// peerPrefix begins the name of a directory that a peer is fetched to.
const peerPrefix = "oap-gate-peer-"

func (p Peers) compare(ctx context.Context, repo *registry.Repository, name, head string) (*peerState, error) {
	dir, local := peer.Dir(name)
	if local {
		return comparePeer(ctx, repo, name, cloneIn(dir), head)
	}
	if p.Offline {
		return nil, errors.New("--offline forbids to fetch it")
	}
	ctx, cancel := p.within(ctx)
	defer cancel()
	dir, err := os.MkdirTemp(p.Temp, peerPrefix)
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	if err := p.fetch(ctx, repo, name, head, dir); err != nil {
		return nil, err
	}
	return comparePeer(ctx, repo, name, dir, head)
}

// fetch makes a bare repository of a directory, whose HEAD is the peer's and which borrows the objects of one's own
// clone.
func (p Peers) fetch(ctx context.Context, repo *registry.Repository, name, head, dir string) error {
	if len(head) != 40 {
		return remedy.Errorf("name a directory that git fetched", "the clone is %w, which is not fetched from a URL",
			peer.ErrSHA256)
	}
	u, err := peer.URL(name)
	if err != nil {
		return err
	}
	way, err := live.NewTransport(p.Live, u)
	if err != nil {
		return err
	}
	own := repo.Store().ObjectDir()
	if strings.ContainsAny(own, "\n\r") { // no such path can be written there; the fetch is larger without
		own = ""
	}
	if err := makeBare(dir, own); err != nil {
		return err
	}
	source := peer.Source{URL: name, Transport: way, MaxPack: p.MaxPack}
	if own != "" {
		source.Has = func(id string) bool { return id == head }
		source.Haves = func(ctx context.Context) ([]string, error) { return haves(ctx, repo, head) }
	}
	f, err := peer.Fetch(ctx, source, filepath.Join(dir, "objects", "pack"))
	if errors.Is(err, peer.ErrTooLarge) && p.MaxPack > 0 && p.MaxPack < peer.MaxPack {
		err = fmt.Errorf("%w: %w", ErrFull, err)
	}
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
