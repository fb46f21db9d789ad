package checks

import (
	"slices"
	"strings"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/checks/internal/listed"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/did"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/revocation"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// A Withdrawal is what a registry's first-parent history says against a Receipt. Paths are sorted.
type Withdrawal struct {
	Revoked    string         // path of the first revocation that is of the Receipt; empty: none is
	Unclear    *RevokedFile   // a revocation that only a commit date ties to the Receipt
	Unreadable []string       // files at the head that cannot be read and may be about the Receipt
	Misplaced  []string       // revocations at the head that no record's path has, under a slug of the implementation
	Removed    []*RevokedFile // revocations under such a slug that the head lacks or has in another content
	Listed     bool           // some first-parent commit listed the implementation under the slug of a revocation
}

// A RevokedFile is a revocation in the first-parent history.
type RevokedFile struct {
	Path   string
	Commit string    // that brought it, of Unclear the one that pinned the Receipt
	When   time.Time // first-parent time of the commit
}

// pathSlug is a file, and the slug that its name gives, empty if it gives none.
type pathSlug struct{ path, slug string }

func isJSON(path string) bool { return strings.HasSuffix(strings.ToLower(path), ".json") }

// unreadable returns the .json files below revocations/ in the base tree that cannot be read, in path order.
func (r *Run) unreadable() ([]pathSlug, error) {
	return r.unread.get(func() (out []pathSlug, err error) {
		p := r.past()
		p.mu.Lock()
		defer p.mu.Unlock()
		if err := p.ready(r.Context); err != nil || r.Base.Tree == nil {
			return nil, err
		}
		last := make(map[string]revocation.Revocation, len(p.files))
		for i := range p.files {
			last[p.files[i].path] = p.files[i].Revocation
		}
		for e, err := range r.Base.Tree.Entries(registry.KindRevocation) {
			switch {
			case err != nil:
				return nil, err
			case e.Path == registry.KindRevocation.Directory(): // no directory: no revocation can be read
				out = append(out, pathSlug{path: e.Path})
				continue
			case !isJSON(e.Path):
				continue
			}
			if f := last[e.Path]; !f.Read {
				out = append(out, pathSlug{strings.Clone(e.Path), f.Named.Slug})
			}
		}
		return out, nil
	})
}

// Unreadable returns the files of revocations/ in the base tree that cannot be read and may be about a listing of one
// of these slugs, in path order.
func (r *Run) Unreadable(slugs map[string]bool) ([]string, error) {
	all, err := r.unreadable()
	return about(all, slugs), err
}

// about returns the paths of the files that may be about one of these slugs.
func about(all []pathSlug, slugs map[string]bool) (paths []string) {
	for _, u := range all {
		if u.slug == "" || slugs[u.slug] {
			paths = append(paths, u.path)
		}
	}
	return paths
}

// Withdrawn returns what the history says against a Receipt of an implementation, with this hash and signed not_before.
// The Receipt need not be one that a listing pins or pinned.
func (r *Run) Withdrawn(id, sha256 string, notBefore time.Time) (*Withdrawal, error) {
	p := r.past()
	by, err := p.revokedBy(r.Context, id, sha256, notBefore, asOf{})
	if err != nil {
		return nil, err
	}
	unread, err := r.unreadable()
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, path := range r.Base.unread {
		p.want(path)
	}
	if err := p.follow(r.Context); err != nil {
		return nil, err
	}
	folded := did.Fold(id)
	own, pinned := p.listings(id, sha256)
	out := &Withdrawal{}
	if by != nil {
		out.Revoked = by.path
	}
	if err := p.irregular(out, own, r.Base.Tree); err != nil {
		return nil, err
	}
	if found := *out; !pinned && p.unpinned(out, own, folded, sha256, notBefore, r.Now) {
		// A listing that no revocation names may have pinned it.
		if err := p.followAll(r.Context); err != nil {
			return nil, err
		}
		if _, pinned := p.listings(id, sha256); pinned {
			out = &found
		}
	}
	out.Unreadable = about(unread, own)
	for _, path := range r.Base.unread {
		if own[listed.SlugOf(path)] && isJSON(path) || path == registry.KindListing.Directory() {
			out.Unreadable = append(out.Unreadable, path)
		}
	}
	slices.Sort(out.Unreadable)
	return out, nil
}

// listings returns the slugs that listed a DID, of those that were read, in whatever letter case, and whether one of
// them pinned a hash for it.
func (p *past) listings(id, sha256 string) (own map[string]bool, pinned bool) {
	own = map[string]bool{}
	folded := did.Fold(id)
	for path, all := range p.versions {
		for _, v := range all {
			if v.did != "" && did.Fold(v.did) == folded {
				own[listed.SlugOf(path)] = true
				pinned = pinned || v.sha256 == sha256 && did.Same(v.did, id)
			}
		}
	}
	return own, pinned
}

// irregular finds the revocations under the slugs of an implementation that are not where, or no longer what, the
// registry's rules require.
func (p *past) irregular(out *Withdrawal, own map[string]bool, head *registry.Tree) error {
	standing, present := map[pin]bool{}, map[string]*registry.Entry{}
	for i := range p.files {
		f := &p.files[i]
		now, err := head.Leaf(f.path)
		if err != nil {
			return err
		}
		if present[f.path] = now; registry.SameEntry(now, &f.entry) {
			for _, named := range f.Pins {
				standing[named] = true
			}
		}
	}
	removed := map[string]*RevokedFile{}
	for i := range p.files {
		f := &p.files[i]
		there := registry.SameEntry(present[f.path], &f.entry)
		for _, named := range f.Pins {
			if !own[named.Slug] {
				continue
			}
			out.Listed = true
			switch {
			case there && revocationName(f.path) != named:
				out.Misplaced = append(out.Misplaced, f.path)
			case there:
			case removed[f.path] != nil: // the last content that was one can be restored
				*removed[f.path] = RevokedFile{f.path, f.commit, f.landed}
			case present[f.path] != nil || !standing[named]:
				standing[named], removed[f.path] = true, &RevokedFile{f.path, f.commit, f.landed}
				out.Removed = append(out.Removed, removed[f.path])
			}
		}
	}
	slices.Sort(out.Misplaced)
	out.Misplaced = slices.Compact(out.Misplaced)
	slices.SortFunc(out.Removed, func(a, b *RevokedFile) int { return strings.Compare(a.Path, b.Path) })
	return nil
}

// unpinned finds what is against a Receipt that no listing of its DID ever pinned: its own hash under a slug of the
// DID, and a Receipt that the slug pinned after this one was signed. It reports whether there is one.
func (p *past) unpinned(out *Withdrawal, own map[string]bool, folded, sha256 string, notBefore, now time.Time) bool {
	for i := range p.files {
		f := &p.files[i]
		for _, named := range f.Pins {
			if !own[named.Slug] {
				continue
			}
			if named.SHA256 == sha256 && len(p.holders(named, asOf{})) == 0 &&
				(out.Revoked == "" || f.path < out.Revoked) {
				out.Revoked = f.path
			}
			for _, v := range p.versions[listed.Path(named.Slug)] {
				if did.Fold(v.did) != folded || v.sha256 != named.SHA256 {
					continue
				}
				if by, _ := p.acting(named, did.Spelling(v.did), asOf{}); by == nil {
					continue
				}
				if !v.landed.Before(notBefore) && v.landed.Before(now) &&
					(out.Unclear == nil || f.path < out.Unclear.Path) {
					out.Unclear = &RevokedFile{f.path, v.commit, v.landed}
				}
				break // the commit that pinned the revoked hash is the first that did
			}
		}
	}
	return out.Revoked != "" || out.Unclear != nil
}
