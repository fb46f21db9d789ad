package checks

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/checks/internal/listed"
	"github.com/openagentprotocol-OAP/oap-gate/internal/git/gitobject"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/did"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/revocation"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// revokedFile is one content of a path below revocations/.
type revokedFile struct {
	revocation.Revocation
	owner        string // revoked_by_did in its one spelling
	path, commit string
	entry        registry.Entry
	landed       time.Time
	number       int
}

// before reports whether a file is named rather than another one that revokes too: the newer one, of one commit that of
// the least path.
func (f *revokedFile) before(o *revokedFile) bool {
	return f.number > o.number || f.number == o.number && f.path < o.path
}

// readRevoked reads an entry below revocations/.
func readRevoked(repo *registry.Repository, path string, e registry.Entry) (revokedFile, error) {
	content, err := repo.Bytes(e, revocation.MaxBytes)
	if errors.Is(err, gitobject.ErrTooLarge) {
		content, err = []byte{}, nil
	}
	return revokedFile{Revocation: revocation.Read(path, content), path: strings.Clone(path), entry: e}, err
}

// revoke adds a file below revocations/.
func (p *past) revoke(f revokedFile) {
	f.owner = did.Spelling(f.By)
	p.files = append(p.files, f)
	for _, named := range f.Pins {
		p.naming[named] = append(p.naming[named], len(p.files)-1)
		if len(p.naming[named]) == 1 { // else they are registered
			p.want(listed.Path(named.Slug))
			p.registerAll(named)
		}
	}
}

// pin adds a version of a listing.
func (p *past) pin(path string, v version) {
	at := pin{Slug: listed.SlugOf(path), SHA256: v.sha256}
	p.pins[at] = append(p.pins[at], v)
	p.listed(path, v)
}

// listed notes that a version of a listing may be revoked, and if somebody asked who pinned what first, its pin.
func (p *past) listed(path string, v version) {
	at := pin{Slug: listed.SlugOf(path), SHA256: v.sha256}
	for o := p; o != nil; o = o.under {
		if len(o.naming[at]) > 0 {
			p.register(v, at)
		}
	}
	if _, found := p.first[v.sha256]; p.first != nil && !found {
		p.first[v.sha256] = tenant{v.number, path}
	}
}

// register notes that a version had a pin that some file names.
func (p *past) register(v version, at pin) {
	id := did.Spelling(v.did)
	if v.did == "" { // nobody's
		return
	}
	if p.revoked[id] == nil {
		p.revoked[id] = map[pin][]version{}
	}
	p.revoked[id][at] = append(p.revoked[id][at], v)
}

// registerAll registers all versions that had a pin.
func (p *past) registerAll(at pin) {
	for _, v := range p.pinned(at) {
		p.register(v, at)
	}
}

// pinned returns the versions under a slug that had a hash.
func (p *past) pinned(at pin) []version {
	var out []version
	for ; p != nil; p = p.under {
		out = append(out, p.pins[at]...)
		if p.current == nil {
			continue
		}
		if v, found := p.current(listed.Path(at.Slug)); found && v.sha256 == at.SHA256 {
			out = append(out, v)
		}
	}
	return out
}

// acting returns the file that revokes a pin of a DID, the newest one that counts, and the time of issue of the version
// that pinned it; nil if none does.
//
// A file acts on each DID that the slug listed with the hash. One that an owner wrote acts only on the DID of that
// owner: the former and the next holder of a slug have no power over each other. So DIDs are compared by their one
// spelling, in which the path keeps its case.
func (p *past) acting(at pin, id string, as asOf) (by *revokedFile, issued time.Time) {
	issued, had := p.issued(at, id, as)
	for o := p; had && o != nil; o = o.under {
		for _, i := range o.naming[at] {
			f := &o.files[i]
			if !as.counts(f.number) || as.cause && f.Excused() || by != nil && !f.before(by) {
				continue
			}
			if f.Read && !f.Forced && f.owner != id {
				if _, another := p.issued(at, f.owner, as); another {
					continue
				}
			}
			by = f
		}
	}
	return by, issued
}

// issued returns when the earliest version was issued by which a DID had a pin that some file names, if it had it.
func (p *past) issued(at pin, id string, as asOf) (first time.Time, had bool) {
	for ; p != nil; p = p.under {
		for _, v := range p.revoked[id][at] {
			if as.counts(v.number) && (!had || as.issued(v).Before(first)) {
				first, had = as.issued(v), true
			}
		}
	}
	return first, had
}

// holders returns the versions that had a hash under a slug, the earliest of each DID. One without a DID is nobody's.
func (p *past) holders(at pin, as asOf) (out []version) {
	of := map[string]int{} // by DID: its index
	for _, v := range p.pinned(at) {
		if v.did == "" || !as.counts(v.number) {
			continue
		}
		id := did.Spelling(v.did)
		i, known := of[id]
		switch {
		case !known:
			of[id] = len(out)
			out = append(out, v)
		case as.issued(v).Before(as.issued(out[i])):
			out[i] = v
		}
	}
	return out
}

// revokedBy returns the file that revokes a Receipt of a DID, or nil: one that acts on the DID and names the hash, or
// the hash of another Receipt that was not issued before this one.
func (p *past) revokedBy(ctx context.Context, id, sha256 string, issued time.Time, as asOf) (*revokedFile, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.ready(ctx); err != nil {
		return nil, err
	}
	id = did.Spelling(id)
	var by *revokedFile
	for o := p; o != nil; o = o.under {
		for at := range o.revoked[id] { // whichever comes first, one file is before all others
			f, pinned := p.acting(at, id, as)
			if f == nil || at.SHA256 != sha256 && issued.After(pinned.Add(rounded)) {
				continue
			}
			if by == nil || f.before(by) {
				by = f
			}
		}
	}
	return by, nil
}

// names reports whether some file names a pin that a DID had. Whether it revokes anything, revokedBy says.
func (p *past) names(ctx context.Context, id string) (bool, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	err := p.ready(ctx)
	return len(p.revoked[did.Spelling(id)]) > 0, err
}

// owners returns the versions by which an owner of a slug may revoke a hash, the earliest of each DID.
func (p *past) owners(ctx context.Context, at pin, as asOf) ([]version, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.want(listed.Path(at.Slug))
	if err := p.ready(ctx); err != nil {
		return nil, err
	}
	return p.holders(at, as), nil
}
