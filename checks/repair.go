package checks

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/git/gitobject"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// A repair is what a range does to a file of a data directory that is not a record in the base tree.
type repair uint8

const (
	noRepair    repair = iota
	removal            // the file never was a record in the first-parent history
	replacement        // it never was one, and what would land has each revocation that it is at the right path
	recovery           // the file was a record, and gets the very bytes back that it had as one
)

// outlook says how a file that is not a record in the base tree can be repaired.
type outlook struct {
	broken bool            // the base tree's file is not a record, or it is not there and was a record
	last   *registry.Entry // that the path had when it last was a record; nil: it never was one
	commit string          // the first-parent commit that gave it that entry
	kept   string          // why the file cannot be removed: the hash that it names; empty: it can
	lands  bool            // the revocations that the file is would land at their own paths
	needs  []string        // those paths
}

// of returns what a change to the entry would repair; nil is a removal.
func (o *outlook) of(head *registry.Entry) repair {
	switch {
	case !o.broken:
	case o.last == nil && o.lands:
		return replacement
	case head == nil && o.last == nil && o.kept == "":
		return removal
	case head != nil && o.last != nil && *head == *o.last:
		return recovery
	}
	return noRepair
}

// Recovers reports whether the range gives a file the very bytes back that it had when it last was a record. Nothing
// else is asked of it: it was judged when it was merged.
func (s *Subject) Recovers() (bool, error) {
	r, err := s.repair()
	return r == recovery, err
}

// repair returns how the range as a whole repairs the file.
func (s *Subject) repair() (repair, error) {
	if s.Unchanged() || s.Run.Asks.AsIs || s.candidate() {
		return noRepair, nil
	}
	o, err := s.prospect(s.Change.Head)
	if err != nil {
		return noRepair, err
	}
	return o.of(s.Change.Head), nil
}

// changesRecords reports whether the range changes a record otherwise than by a repair. A revocation may go with the
// misplaced one that it replaces.
func (r *Run) changesRecords() (bool, error) {
	var others, replaced []string
	for _, s := range r.Subjects {
		switch is, err := s.repair(); {
		case err != nil:
			return false, err
		case is == replacement:
			replaced = append(replaced, s.outlook.needs...)
		case is == noRepair && !s.Unchanged():
			others = append(others, s.Path)
		}
	}
	return slices.ContainsFunc(others, func(path string) bool { return !slices.Contains(replaced, path) }), nil
}

// candidate reports whether no tree has the record: see NewCandidate.
func (s *Subject) candidate() bool { return s.Change.Head != nil && s.Change.Head.ID.IsZero() }

// prospect returns the outlook of the file, as far as it matters for a change to that entry. It is worked out once.
func (s *Subject) prospect(head *registry.Entry) (*outlook, error) {
	none := &outlook{}
	if s.Change.Base == nil && !s.mayReturn() {
		return none, nil
	}
	if s.outlook != nil {
		return s.outlook, nil
	}
	if s.Change.Base != nil {
		if s.Kind == registry.KindListing && head != nil {
			if renewed, err := s.looksRenewed(head); err != nil || renewed {
				return none, err
			}
		}
		rec, err := s.Run.Repo.Record(s.Run.Context, s.Path, *s.Change.Base)
		if err != nil {
			return nil, err
		}
		if is, err := s.Run.isRecord(rec); err != nil {
			return nil, err
		} else if is {
			s.outlook = none
			return none, nil
		}
	}
	o, err := s.Run.outlook(s)
	if err != nil {
		return nil, err
	}
	s.outlook = o
	return o, nil
}

// mayReturn reports whether a new file may be one that the history held, so that it is worth to look: a listing in date
// is judged as a new one. In the history only that of a revoked Receipt is refused as a new one.
func (s *Subject) mayReturn() bool {
	switch {
	case s.Run.Base.followed != nil && !s.Run.Base.followed.heldBefore(s.Path):
		return false
	case s.Kind != registry.KindListing:
		return true
	}
	return s.Listing != nil && !s.Run.Now.Before(s.Listing.Expires)
}

// looksRenewed reports whether a change of a listing is one that only a re-issue makes: another Receipt, issued later.
func (s *Subject) looksRenewed(head *registry.Entry) (bool, error) {
	was, is := s.baseListing, s.Listing
	if was == nil || is == nil || !registry.SameEntry(head, s.Change.Head) {
		var err error
		if was, err = s.Run.listingIn(s.Path, s.Change.Base); err != nil || was == nil {
			return false, err
		}
		if is, err = s.Run.listingIn(s.Path, head); err != nil || is == nil {
			return false, err
		}
	}
	return was.ReceiptSHA256 != is.ReceiptSHA256 && is.Issued.After(was.Issued) && was.Slug == is.Slug &&
		was.ToolDID == is.ToolDID, nil
}

// isRecord reports whether a file is a record: by its name, as strict JSON, and under the base tree's schema. A schema
// that cannot be used refuses nothing here. A revocation has its own name, and no
// signature of the older text form.
func (r *Run) isRecord(rec *registry.Record) (bool, error) {
	if rec.Document == nil || RecordSlug(rec.Kind, rec.Path) == "" {
		return false, nil
	}
	schemas, err := r.Base.schemasOf(r.Context, r.Range.Base)
	if err != nil {
		return true, err
	}
	s := subjectOf(rec)
	if v := s.Revocation; v != nil &&
		(v.SignatureText != "" || revocationName(rec.Path) != pin{Slug: v.Slug, SHA256: v.ReceiptSHA256}) {
		return false, nil
	}
	return schemas.Of(rec.Kind) == nil || len(schemas.violations(s)) == 0, nil
}

// outlook reads the first-parent history of a file that is not a record in the base tree.
func (r *Run) outlook(s *Subject) (*outlook, error) {
	older, number, looked, err := r.held(s)
	if err != nil {
		return nil, err
	}
	for ; looked.count < len(older); looked.count++ {
		v := older[looked.count]
		if v.Entry == nil {
			continue
		}
		rec, err := r.Repo.Record(r.Context, s.Path, *v.Entry)
		if err != nil {
			return nil, err
		}
		if is, err := r.isRecord(rec); err != nil {
			return nil, err
		} else if is {
			looked.last, looked.commit = v.Entry, v.Commit
		}
	}
	o := &outlook{broken: s.Change.Base != nil || looked.last != nil, last: looked.last, commit: looked.commit}
	if s.Change.Base == nil || o.last != nil {
		return o, nil
	}
	rec, err := r.Repo.Record(r.Context, s.Path, *s.Change.Base)
	if err != nil {
		return nil, err
	}
	if s.Kind == registry.KindRevocation {
		if err := r.replaces(s, o); err != nil || o.lands {
			return o, err
		}
	}
	o.kept, err = r.holds(rec, number)
	return o, err
}

// looked is how many earlier contents of a path were looked at, and the last that was a record.
type looked struct {
	count  int
	last   *registry.Entry
	commit string
}

// held returns what a path held along the base branch's first parents before the base tree's entry, oldest first, the
// number of the commit that brought that entry, and what of it was looked at before.
func (r *Run) held(s *Subject) ([]registry.PathVersion, int, *looked, error) {
	if l := r.Base.followed; l != nil {
		return l.held(r.Context, s)
	}
	versions, err := r.past().history(r.Context, s.Path)
	if n := len(versions); n > 0 && s.Change.Base != nil {
		return versions[:n-1], versions[n-1].Number, &looked{}, err
	}
	return versions, 0, &looked{}, err
}

// replaces finds out whether what would land holds, at its own path, each revocation that a file is: a pin by its name
// or text. One that acts on no DID asks for nothing, and at least one must be there.
func (r *Run) replaces(s *Subject, o *outlook) error {
	f, err := readRevoked(r.Repo, s.Path, *s.Change.Base)
	if err != nil {
		return err
	}
	o.lands = true
	for _, named := range f.Pins {
		owners, err := r.past().owners(r.Context, named, asOf{})
		if err != nil {
			return err
		}
		if len(owners) == 0 {
			continue
		}
		path := recordPath(registry.KindRevocation, named.Slug, named.SHA256)
		o.needs = append(o.needs, path)
		e, err := r.Range.Result.Leaf(path)
		if err != nil {
			return err
		}
		if e == nil {
			o.lands = false
			continue
		}
		rec, err := r.Repo.Record(r.Context, path, *e)
		if err != nil {
			return err
		}
		is, err := r.isRecord(rec)
		if err != nil {
			return err
		}
		o.lands = o.lands && is
	}
	o.lands = o.lands && len(o.needs) > 0
	return nil
}

// maxSearched is how many bytes of a broken file are searched for hashes; a larger one is not removed.
const maxSearched = 64 << 20

// holds returns the hash that the name or the bytes of a file contain and that a listing pinned in a commit up to the
// one with that number, which brought the bytes, or "". What was pinned later keeps nothing.
func (r *Run) holds(rec *registry.Record, number int) (string, error) {
	text, err := r.Repo.Bytes(rec.Entry, maxSearched)
	if errors.Is(err, gitobject.ErrTooLarge) {
		return fmt.Sprintf("has more than %d MiB, which are not searched for hashes", maxSearched>>20), nil
	}
	if err != nil {
		return "", err
	}
	texts := [][]byte{[]byte(rec.Path), text}
	if rec.Document != nil { // a hash that is spelled with escapes
		texts = append(texts, []byte(strict.String(rec.Document.Root, "revoked_receipt_sha256")))
	}
	var pinned func(sha256 []byte) string
	for _, text := range texts {
		for run := range bytes.FieldsFuncSeq(text, func(c rune) bool { return !isHexDigit(c) }) {
			if len(run) < 64 {
				continue
			}
			if pinned == nil { // few files have such a word
				if pinned, err = r.past().pinnedBefore(r.Context, number); err != nil {
					return "", err
				}
			}
			run = bytes.ToLower(run)
			for i := 0; i+64 <= len(run); i++ {
				if path := pinned(run[i : i+64]); path != "" {
					return fmt.Sprintf("holds the hash %s, which %s pins or pinned", run[i:i+64],
						plain.Cut(path, 300)), nil
				}
			}
		}
	}
	return "", nil
}

func isHexDigit(c rune) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}

// Repaired returns the paths that a range repairs, in path order: they count as governance files.
func (r *Run) Repaired() ([]string, error) {
	var out []string
	for _, s := range r.Subjects {
		is, err := s.repair()
		if err != nil {
			return nil, err
		}
		if is != noRepair {
			out = append(out, s.Path)
		}
	}
	return out, nil
}
