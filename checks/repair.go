package checks

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/git/gitstore"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// A repair is what a range does to a file of a data directory that is not a record in the base tree.
type repair uint8

const (
	noRepair repair = iota
	removal         // the file never was a record in the first-parent history
	recovery        // the file was a record, and gets the very bytes back that it had as one
)

// outlook says how a file that is not a record in the base tree can be repaired.
type outlook struct {
	broken bool            // the base tree's file is not a record, or it is not there and was a record
	last   *registry.Entry // that the path had when it last was a record; nil: it never was one
	commit string          // the first-parent commit that gave it that entry
	kept   string          // why the file cannot be removed: the hash that it names; empty: it can
}

// of returns what a change to the entry would repair; nil is a removal.
func (o *outlook) of(head *registry.Entry) repair {
	switch {
	case !o.broken:
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
	if s.Unchanged() || s.Run.Audit || s.candidate() {
		return noRepair, nil
	}
	o, err := s.prospect(s.Change.Head)
	if err != nil {
		return noRepair, err
	}
	return o.of(s.Change.Head), nil
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
		if is, err := s.Run.isRecord(rec); err != nil || is {
			s.outlook = none
			return none, err
		}
	}
	var err error
	s.outlook, err = s.Run.outlook(s)
	return s.outlook, err
}

// mayReturn reports whether a new file may be one that the history held, so that it is worth to look: a listing in date
// is judged as a new one. In the history only that of a revoked Receipt is refused as a new one.
func (s *Subject) mayReturn() bool {
	switch {
	case s.Kind != registry.KindListing:
		return !s.Run.merged
	case s.Listing == nil || s.Run.Now.Before(s.Listing.Expires):
		return false
	}
	return !s.Run.merged || s.Run.Revoked(s.Path, s.Listing.ReceiptSHA256) != ""
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
// that cannot be used refuses nothing here.
func (r *Run) isRecord(rec *registry.Record) (bool, error) {
	if rec.Document == nil || recordSlug(rec.Kind, rec.Path) == "" {
		return false, nil
	}
	schemas := r.Base.Schemas
	if schemas == nil { // a ledger keeps none
		var err error
		if schemas, err = readSchemas(r.Context, r.Range.Base); err != nil {
			return true, err
		}
	}
	return schemas.Of(rec.Kind) == nil || len(schemas.violations(subjectOf(rec))) == 0, nil
}

// outlook reads the first-parent history of a file that is not a record in the base tree.
func (r *Run) outlook(s *Subject) (*outlook, error) {
	history, err := r.past(s)
	if err != nil {
		return nil, err
	}
	o := &outlook{broken: s.Change.Base != nil}
	for _, v := range slices.Backward(history) {
		if v.Entry == nil {
			continue
		}
		rec, err := r.Repo.Record(r.Context, s.Path, *v.Entry)
		if err != nil {
			return nil, err
		}
		is, err := r.isRecord(rec)
		if err != nil {
			return nil, err
		}
		if is {
			o.broken, o.last, o.commit = true, v.Entry, v.Commit
			return o, nil
		}
		if o.kept == "" {
			if o.kept, err = r.holds(rec); err != nil {
				return nil, err
			}
		}
	}
	return o, nil
}

// past returns what the file held along the base branch's first parents, oldest first. The history is read once for all
// files of its directory that the range touches.
func (r *Run) past(s *Subject) ([]registry.Version, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if all, known := r.pasts[s.Kind]; known {
		return all[s.Path], nil
	}
	touched := map[string]bool{s.Path: true}
	for _, t := range r.Subjects {
		touched[t.Path] = true
	}
	versions, err := r.Repo.FolderHistory(r.Context, r.Range.Base.Commit(), s.Kind, r.Now,
		func(path string) bool { return touched[path] })
	if err != nil {
		return nil, err
	}
	all := map[string][]registry.Version{}
	for _, v := range versions {
		all[v.Path] = append(all[v.Path], v.Version)
	}
	if r.pasts == nil {
		r.pasts = map[registry.Kind]map[string][]registry.Version{}
	}
	r.pasts[s.Kind] = all
	return all[s.Path], nil
}

// maxSearched is how many bytes of a broken file are searched for hashes; a larger one is not removed.
const maxSearched = 64 << 20

// holds returns the hash that the name or the bytes of a file contain and that a listing of the history pins or pinned,
// or "".
func (r *Run) holds(rec *registry.Record) (string, error) {
	text, err := r.Repo.Bytes(rec.Entry, maxSearched)
	if errors.Is(err, gitstore.ErrTooLarge) {
		return fmt.Sprintf("has more than %d MiB, which are not searched for hashes", maxSearched>>20), nil
	}
	if err != nil {
		return "", err
	}
	texts := [][]byte{[]byte(rec.Path), text}
	if rec.Document != nil { // a hash that is spelled with escapes
		if p, is := pinOf(rec); is {
			texts = append(texts, []byte(p.sha256))
		}
	}
	for _, text := range texts {
		for run := range bytes.FieldsFuncSeq(text, func(c rune) bool { return !isHexDigit(c) }) {
			run = bytes.ToLower(run)
			for i := 0; i+64 <= len(run); i++ {
				path, err := r.everPinned(string(run[i : i+64]))
				if err != nil {
					return "", err
				}
				if path != "" {
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

// everPinned returns the path of a valid listing of the base tree's first-parent history that pinned a hash, empty if
// none did. The history is read once.
func (r *Run) everPinned(sha256 string) (string, error) {
	pins, err := r.everPins.get(r.findEverPins)
	if err != nil {
		return "", err
	}
	for _, v := range pins[sha256] {
		rec, err := r.Repo.Record(r.Context, v.Path, *v.Entry)
		if err != nil {
			return "", err
		}
		if is, err := r.isRecord(rec); err != nil || is {
			return v.Path, err
		}
	}
	return "", nil
}

func (r *Run) findEverPins() (map[string][]registry.PathVersion, error) {
	pins := map[string][]registry.PathVersion{}
	err := eachRecord(r.Context, r.Repo, r.Range.Base.Commit(), registry.KindListing, r.Now, isJSON,
		func(v registry.PathVersion, rec *registry.Record) error {
			sum := strings.ToLower(registry.ParseListing(rec).ReceiptSHA256)
			pins[strings.Clone(sum)] = append(pins[sum], v)
			return nil
		})
	return pins, err
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
