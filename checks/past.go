package checks

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/checks/internal/listed"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/revocation"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// pin is a Receipt's hash under a slug, which is that of a file's name.
type pin = revocation.Pin

// A past is what the first-parent history up to a commit says about who listed which Receipt and what was revoked. It
// is the one place that decides whether a Receipt is revoked.
//
// It reads the history when a question needs it, each directory once, and of the listings only those that revocations
// name or somebody asks for. A Ledger, which follows the history, adds each commit instead. A past may lie on another
// one, to which it adds what a range would land.
type past struct {
	repo  *registry.Repository
	tip   string    // the commit up to which the clone is read; empty: nothing is read
	clock time.Time // bounds first-parent times
	under *past

	// current returns the listing that a path has now, if a Ledger added it; nil: pins has all versions.
	current func(path string) (version, bool)
	all     func(func(path string, v version)) // calls a function with each of these listings

	mu       *sync.Mutex
	folders  map[registry.Kind][]registry.PathVersion // see folder
	read     bool                                     // the revocations up to tip were read
	wanted   map[string]bool                          // paths of listings to read up to tip
	versions map[string][]version                     // versions that were read, by path, oldest first
	files    []revokedFile                            // each content of each path below revocations/
	naming   map[pin][]int                            // numbers of the files that name a pin
	pins     map[pin][]version                        // those that a path had
	revoked  map[string]map[pin][]version             // by DID: those of pins that some file names
	first    map[string]tenant                        // by hash: the listing that pinned it first; nil: nobody asked
}

// A tenant is a listing that has had something since the commit of that number.
type tenant struct {
	number int
	path   string
}

// before reports whether a listing had it before another one. If one commit listed both, the least path is first.
func (t tenant) before(o tenant) bool {
	return o.path == "" || t.number < o.number || t.number == o.number && t.path < o.path
}

// A version is what a listing's path held from a commit on. It has no DID if no listing could be read there.
type version struct {
	did, sha256 string    // the DID as it is written; the hash in lower case
	issued      time.Time // the earlier of issued_at and landed
	dated       time.Time // the earlier of issued_at and the committer dates up to the commit
	landed      time.Time // first-parent time of the commit
	commit      string
	number      int // that the commit has, see registry.PathVersion
}

// asOf says what counts for a question.
type asOf struct {
	before int  // only commits of a lower number; 0: all
	dated  bool // committer dates are the times, for an answer that depends on no clock
	cause  bool // no revocation whose reason is that the Receipt was superseded or withdrawn
}

func (a asOf) counts(number int) bool { return a.before == 0 || number < a.before }

// issued returns when a version was issued.
func (a asOf) issued(v version) time.Time {
	if a.dated {
		return v.dated
	}
	return v.issued
}

// newPast returns the past up to a commit.
func newPast(repo *registry.Repository, tip string, clock time.Time) *past {
	p := emptyPast()
	p.repo, p.tip, p.clock, p.mu = repo, tip, clock, &sync.Mutex{}
	return p
}

func emptyPast() *past {
	return &past{folders: map[registry.Kind][]registry.PathVersion{registry.Governance: nil}, // which nobody asks for
		wanted: map[string]bool{}, versions: map[string][]version{}, naming: map[pin][]int{},
		pins: map[pin][]version{}, revoked: map[string]map[pin][]version{}}
}

// over returns a past without anything of its own that lies on p.
func (p *past) over() *past {
	o := emptyPast()
	o.under, o.mu = p, p.mu
	return o
}

// versionOf returns the version that a record is.
func versionOf(l *registry.Listing, landed, dated time.Time, commit string, number int) version {
	v := version{did: strings.Clone(l.ToolDID), sha256: strings.ToLower(strings.Clone(l.ReceiptSHA256)),
		issued: landed, dated: dated, landed: landed, commit: commit, number: number}
	if !l.Issued.IsZero() {
		v.issued, v.dated = earlier(l.Issued, landed), earlier(l.Issued, dated)
	}
	return v
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// ready reads what the questions that may be asked need.
func (p *past) ready(ctx context.Context) error {
	if p.under != nil {
		return p.under.ready(ctx)
	}
	if p.tip == "" {
		return nil
	}
	if !p.read {
		versions, err := p.folder(ctx, registry.KindRevocation)
		if err != nil {
			return err
		}
		files := p.files // a Ledger added later ones
		for _, v := range versions {
			if v.Entry == nil {
				continue
			}
			f, err := readRevoked(p.repo, v.Path, *v.Entry)
			if err != nil {
				return err
			}
			f.commit, f.landed, f.number = v.Commit, v.When, v.Number
			files = append(files, f)
		}
		slices.SortStableFunc(files, func(a, b revokedFile) int { return a.number - b.number })
		p.files, p.naming = nil, map[pin][]int{}
		for _, f := range files { // all of them, or none after an error
			p.revoke(f)
		}
		p.read = true
	}
	return p.follow(ctx)
}

// folder returns what the paths below the directory of a kind had up to tip, in path order, of one path oldest first.
func (p *past) folder(ctx context.Context, k registry.Kind) ([]registry.PathVersion, error) {
	if all, known := p.folders[k]; known {
		return all, nil
	}
	all, err := p.repo.FolderHistory(ctx, p.tip, k.Directory(), p.clock, anyPath)
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(all, func(a, b registry.PathVersion) int { return strings.Compare(a.Path, b.Path) })
	p.folders[k] = all
	return all, nil
}

// held returns what a path had up to tip, oldest first.
func (p *past) held(ctx context.Context, path string) ([]registry.PathVersion, error) {
	all, err := p.folder(ctx, registry.KindOf(path))
	at, _ := slices.BinarySearchFunc(all, path, func(v registry.PathVersion, path string) int {
		return strings.Compare(v.Path, path)
	})
	n := 0
	for at+n < len(all) && all[at+n].Path == path {
		n++
	}
	return all[at : at+n : at+n], err
}

// history is held for those who do not hold the lock.
func (p *past) history(ctx context.Context, path string) ([]registry.PathVersion, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.held(ctx, path)
}

// brought returns the last of what a path had up to tip; zero if it never was there.
func (p *past) brought(ctx context.Context, path string) (v registry.PathVersion, err error) {
	all, err := p.history(ctx, path)
	if len(all) > 0 {
		v = all[len(all)-1]
	}
	return v, err
}

// follow reads the wanted listings.
func (p *past) follow(ctx context.Context) error {
	for path := range p.wanted {
		if _, known := p.versions[path]; !known {
			held, err := p.held(ctx, path)
			if err != nil {
				return err
			}
			all := make([]version, len(held))
			for i, v := range held {
				if all[i], err = p.version(ctx, v); err != nil {
					return err
				}
			}
			p.versions[path] = all // all of them, or none after an error
			for _, l := range all {
				p.pin(path, l)
			}
		}
		delete(p.wanted, path)
	}
	return nil
}

// followAll reads all listings.
func (p *past) followAll(ctx context.Context) error {
	all, err := p.folder(ctx, registry.KindListing)
	if err != nil {
		return err
	}
	for _, v := range all {
		p.want(v.Path)
	}
	return p.follow(ctx)
}

// version reads what a path held from a commit on.
func (p *past) version(ctx context.Context, v registry.PathVersion) (version, error) {
	if v.Entry == nil {
		return version{landed: v.When, commit: v.Commit, number: v.Number}, nil
	}
	rec, err := p.repo.Record(ctx, v.Path, *v.Entry)
	if err != nil {
		return version{}, err
	}
	return versionOf(registry.ParseListing(rec), v.When, v.Dated, v.Commit, v.Number), nil
}

// want has listings read before the next answer.
func (p *past) want(paths ...string) {
	for p.under != nil {
		p = p.under
	}
	for _, path := range paths {
		p.wanted[path] = true
	}
}

// pinnedBefore returns a function that returns the path of a listing that could be read and pinned a hash in a commit
// of that number or an earlier one, or "". The first call reads the history of all listings.
func (p *past) pinnedBefore(ctx context.Context, number int) (func(sha256 []byte) string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.first == nil {
		first := map[string]tenant{}
		note := func(path string, v version) {
			if is := (tenant{v.number, path}); is.before(first[v.sha256]) {
				first[v.sha256] = is
			}
		}
		if err := p.followAll(ctx); err != nil {
			return nil, err
		}
		if p.all != nil {
			p.all(note)
		}
		for at, all := range p.pins {
			for _, v := range all {
				note(listed.Path(at.Slug), v)
			}
		}
		p.first = first
	}
	first := p.first
	return func(sha256 []byte) string {
		if was := first[string(sha256)]; was.number <= number { // or none, which has no path
			return was.path
		}
		return ""
	}, nil
}

// tenure returns the version since which a path has held a DID without a break; the zero version if the last one that
// counts does not hold it there.
func (p *past) tenure(ctx context.Context, path, id string, as asOf) (since version, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.want(path)
	if err := p.follow(ctx); err != nil {
		return since, err
	}
	for _, v := range p.versions[path] {
		switch {
		case !as.counts(v.number):
			return since, nil
		case v.did != id:
			since = version{}
		case since.number == 0:
			since = v
		}
	}
	return since, nil
}
