package checks

import (
	"context"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/did"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
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

// revocationsSeen are the revocations of a registry's first-parent history, with the listings that they name.
type revocationsSeen struct {
	all        []seenRevocation
	under      map[string][]int    // by the path of a listing: the indexes in all of those under its slug
	unreadable []pathSlug          // revocations at the head
	listed     map[string][]listed // by the path of the listing, oldest first; only those that matter
	slugs      map[string][]string // by what did.Fold makes of a DID: the paths in listed that ever listed it
	unread     map[string]bool     // paths in listed whose file cannot be read at the head
}

// pathSlug is a file, and the slug that its name gives, empty if it gives none.
type pathSlug struct{ path, slug string }

// seenRevocation is a revocation by its text or, at the head, by its name.
type seenRevocation struct {
	RevokedFile
	pin
	head, misplaced bool
}

// listed is one version of a listing.
type listed struct {
	did, sha256, commit string
	issued, landed      time.Time
}

// revocationsSeen reads the history once for all that ask by one clock.
func (st *Standing) revocationsSeen(ctx context.Context, repo *registry.Repository,
	now time.Time) (*revocationsSeen, error) {
	st.seenMu.Lock()
	defer st.seenMu.Unlock()
	if st.seen != nil {
		return st.seen, nil
	}
	s := &revocationsSeen{under: map[string][]int{}, listed: map[string][]listed{}, slugs: map[string][]string{},
		unread: map[string]bool{}}
	if err := s.atHead(ctx, st.Tree); err != nil {
		return nil, err
	}
	if err := s.before(ctx, repo, st.Tree, now); err != nil {
		return nil, err
	}
	for _, path := range st.unread {
		if path == registry.KindListing.Directory() { // no directory: no listing can be read
			s.unreadable = append(s.unreadable, pathSlug{path: path})
		}
		s.unread[path] = true
	}
	if err := s.listings(ctx, repo, st.Tree, now); err != nil {
		return nil, err
	}
	st.seen = s
	return s, nil
}

func isJSON(path string) bool { return strings.HasSuffix(strings.ToLower(path), ".json") }

// pinOf returns the slug and hash that a text revokes, in lower case; false if it is not a revocation.
func pinOf(rec *registry.Record) (pin, bool) {
	p := pin{strings.ToLower(strict.String(rec.Document.Root, "slug")),
		strings.ToLower(strict.String(rec.Document.Root, "revoked_receipt_sha256"))}
	return p, p.slug != "" && p.sha256 != ""
}

// atHead reads the revocations at the head: every JSON file below the directory, whatever its name.
func (s *revocationsSeen) atHead(ctx context.Context, head *registry.Tree) error {
	directory := registry.KindRevocation.Directory()
	for e, err := range head.Entries(registry.KindRevocation) {
		if err != nil {
			return err
		}
		if !isJSON(e.Path) && e.Path != directory {
			continue
		}
		// A file in a directory below may have the name of a record.
		named := revocationName(directory + "/" + path.Base(e.Path))
		rec, err := head.Record(ctx, e.Path)
		if err != nil {
			return err
		}
		at := seenRevocation{RevokedFile: RevokedFile{Path: e.Path}, head: true}
		if rec == nil || rec.Document == nil {
			s.unreadable = append(s.unreadable, pathSlug{e.Path, named.slug})
		} else if text, is := pinOf(rec); is {
			at.pin, at.misplaced = text, revocationName(e.Path) != text
			s.all = append(s.all, at)
		}
		// The name of a record puts it in force, whatever happened to its text.
		if name := revocationName(e.Path); name != (pin{}) && name != at.pin {
			at.pin, at.misplaced = name, false
			s.all = append(s.all, at)
		}
	}
	return nil
}

// eachRecord calls f with each record that the paths of a kind held along the first parents of a commit, oldest first,
// for the paths that keep accepts. It leaves out what never parsed.
func eachRecord(ctx context.Context, repo *registry.Repository, tip string, k registry.Kind, now time.Time,
	keep func(path string) bool, f func(registry.PathVersion, *registry.Record) error) error {
	versions, err := repo.FolderHistory(ctx, tip, k, now, keep)
	if err != nil {
		return err
	}
	for _, v := range versions {
		if v.Entry == nil {
			continue
		}
		rec, err := repo.Record(ctx, v.Path, *v.Entry)
		if err != nil {
			return err
		}
		if rec.Document == nil {
			continue
		}
		if err := f(v, rec); err != nil {
			return err
		}
	}
	return nil
}

// before reads the revocations that the first-parent history held and the head does not, in the last content of each
// that was one.
func (s *revocationsSeen) before(ctx context.Context, repo *registry.Repository, head *registry.Tree,
	clock time.Time) error {
	standing := map[pin]bool{}
	known := map[pin]bool{} // paths and hashes of those that the head has in another content
	for _, r := range s.all {
		standing[r.pin] = true
	}
	err := eachRecord(ctx, repo, head.Commit(), registry.KindRevocation, clock, isJSON,
		func(v registry.PathVersion, rec *registry.Record) error {
			now, err := head.Leaf(v.Path)
			if err != nil {
				return err
			}
			changed := now != nil && !registry.SameEntry(now, v.Entry)
			add := func(p pin) {
				standing[p] = true
				s.all = append(s.all, seenRevocation{RevokedFile{v.Path, v.Commit, v.When}, p, false, false})
			}
			text, is := pinOf(rec)
			if key := (pin{v.Path, text.sha256}); is && (!standing[text] || changed && !known[key]) {
				known[key] = true
				add(text)
			}
			// As long as the file was there, its name put it in force.
			if name := revocationName(v.Path); name != (pin{}) && !standing[name] {
				add(name)
			}
			return nil
		})
	slices.SortStableFunc(s.all, func(a, b seenRevocation) int { return strings.Compare(a.Path, b.Path) })
	return err
}

// listings reads the versions of the listings that the revocations name, and of those that cannot be read at the head.
func (s *revocationsSeen) listings(ctx context.Context, repo *registry.Repository, head *registry.Tree,
	now time.Time) error {
	wanted := map[string]bool{}
	for i, r := range s.all {
		path := listingPath(r.slug)
		wanted[path] = true
		s.under[path] = append(s.under[path], i)
	}
	for _, u := range s.unreadable {
		wanted[listingPath(u.slug)] = true
	}
	for path := range s.unread {
		wanted[path] = true
	}
	if len(wanted) == 0 {
		return nil
	}
	keep := func(path string) bool { return wanted[path] }
	return eachRecord(ctx, repo, head.Commit(), registry.KindListing, now, keep,
		func(v registry.PathVersion, rec *registry.Record) error {
			l := registry.ParseListing(rec)
			folded := did.Fold(l.ToolDID)
			if folded == "" {
				return nil
			}
			s.listed[v.Path] = append(s.listed[v.Path], listed{strings.Clone(folded),
				strings.ToLower(strings.Clone(l.ReceiptSHA256)), v.Commit, l.Issued, v.When})
			if !slices.Contains(s.slugs[folded], v.Path) {
				s.slugs[strings.Clone(folded)] = append(s.slugs[folded], v.Path)
			}
			return nil
		})
}

// Withdrawn returns what the history says against a Receipt of an implementation, with this hash and signed not_before.
// A revocation counts if some first-parent commit listed the implementation under its slug; it is of the Receipt if it
// names its hash, or that of a Receipt which such a listing pinned and which was not issued before it: the same Receipt
// in other bytes, or a later one.
func (r *Run) Withdrawn(id, sha256 string, notBefore time.Time) (*Withdrawal, error) {
	seen, err := r.Base.revocationsSeen(r.Context, r.Repo, r.Now)
	if err != nil {
		return nil, err
	}
	folded := did.Fold(id)
	own := seen.slugs[folded]
	pinned := slices.ContainsFunc(r.Base.ByDID(id), func(l *Listed) bool { return l.ReceiptSHA256 == sha256 })
	out := &Withdrawal{}
	var under []int
	for _, path := range own {
		under = append(under, seen.under[path]...)
	}
	slices.Sort(under)
	for _, i := range under {
		v, path := &seen.all[i], listingPath(seen.all[i].slug)
		out.Listed = true
		switch {
		case v.misplaced:
			out.Misplaced = append(out.Misplaced, v.Path)
		case !v.head:
			out.Removed = append(out.Removed, &v.RevokedFile)
		}
		is, unclear := v.of(seen.listed[path], folded, sha256, notBefore, r.Now)
		if is && out.Revoked == "" {
			out.Revoked = v.Path
		}
		if unclear != nil && !pinned && out.Unclear == nil {
			out.Unclear = &RevokedFile{v.Path, unclear.commit, unclear.landed}
		}
	}
	for _, u := range seen.unreadable {
		if u.slug == "" || slices.Contains(own, listingPath(u.slug)) {
			out.Unreadable = append(out.Unreadable, u.path)
		}
	}
	for _, path := range own {
		if seen.unread[path] {
			out.Unreadable = append(out.Unreadable, path)
		}
	}
	slices.Sort(out.Unreadable)
	return out, nil
}

// of reports whether a revocation is of a Receipt, and returns the version of the listing by whose commit alone it may
// be: one that pinned the revoked hash after the Receipt was signed, with an earlier issued_at.
func (v *seenRevocation) of(versions []listed, id, sha256 string, notBefore, now time.Time) (bool, *listed) {
	if v.sha256 == sha256 {
		return true, nil
	}
	var unclear *listed
	first := true // the commit that pinned the revoked hash is the first that did
	for i, l := range versions {
		if l.did != id || l.sha256 != v.sha256 {
			continue
		}
		issued := l.issued
		if issued.IsZero() || issued.After(now.Add(Skew)) {
			issued = l.landed
		}
		if notBefore.Sub(issued) <= rounded {
			return true, nil
		}
		if first && !l.landed.Before(notBefore) && l.landed.Before(now) {
			unclear = &versions[i]
		}
		first = false
	}
	return false, unclear
}
