// Package mirrorstate reads and writes state.json, which says what a mirror verified, when, and which records a reader
// must not take for valid.
//
// The file is written before the checkpoint and before the branch of the clone, so a reader may see it next to the
// branch as it was. It therefore has one entry per tip: one for the tip that the branch names, and one for the tip to
// which the branch moves.
package mirrorstate

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/atomicfile"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/git/gitobject"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict/capped"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// File is the name of the file in a mirror's directory.
const File = "state.json"

// State is what a mirror leaves for its readers and for its own next run.
type State struct {
	Version      int       `json:"version" jsonschema:"enum=1,description=version of this format"`
	Verified     string    `json:"verified,omitempty" jsonschema:"description=last verified tip; not that of the branch: the mirror is frozen"`
	Fetched      string    `json:"fetched,omitempty" jsonschema:"description=tip that the origin served last"`
	LastAttempt  time.Time `json:"last_attempt" jsonschema:"description=start of the last run"`
	LastSuccess  time.Time `json:"last_success,omitzero" jsonschema:"description=last run that passed"`
	ReverifiedAt time.Time `json:"reverified_at,omitzero" jsonschema:"description=end of the last complete pass over the stored objects"`
	Tips         []Tip     `json:"tips" jsonschema:"description=of the tip of the branch and of the one that it moves to"`
	Rewritten    Rewritten `json:"rewritten" jsonschema:"description=rewrites of the history that the origin served"`
	Moved        []Move    `json:"moved,omitempty" jsonschema:"description=URLs that --moved-from replaced\\, oldest first"`
	Repaired     Repaired  `json:"repaired" jsonschema:"description=repairs of the stored clone"`
	Backdated    Backdated `json:"backdated,omitempty" jsonschema:"description=commits that are dated long before the run that first saw them: the newest 1\\,000\\, each the first of those that came with it"`
	Pass         *Pass     `json:"pass,omitempty" jsonschema:"description=position of a pass over the stored objects that has not ended"`
}

// Tip is what a run found of one tip.
type Tip struct {
	Tip     string    `json:"tip" jsonschema:"description=commit of the branch"`
	FreshAt time.Time `json:"fresh_at,omitzero" jsonschema:"description=last run at which this tip was verified and the fetched one"`
	Refused []string  `json:"refused" jsonschema:"description=paths of listings\\, workflow anchors and peer witness entries whose own checks failed"`
}

// Rewritten is every rewrite that the mirror saw, also one that was undone: the first 50, the last 50 and how many.
type Rewritten struct {
	Count int       `json:"count" jsonschema:"description=number of rewrites"`
	First []Rewrite `json:"first,omitempty" jsonschema:"description=the first rewrites"`
	Last  []Rewrite `json:"last,omitempty" jsonschema:"description=those after the first 50"`
}

// Rewrite is one: the origin served From, and then To, which does not descend from it by first parents.
type Rewrite struct {
	At   time.Time `json:"at" jsonschema:"description=when it was seen"`
	From string    `json:"from" jsonschema:"description=commit that the branch had"`
	To   string    `json:"to" jsonschema:"description=commit that the origin served"`
}

// Move is one: the registry was at From and is at To.
type Move struct {
	From string    `json:"from" jsonschema:"description=URL that the mirror had"`
	To   string    `json:"to" jsonschema:"description=URL that it took"`
	At   time.Time `json:"at" jsonschema:"description=start of the run that took it"`
}

// Repaired is what the mirror repaired in its clone: the newest 100 repairs and how many there were.
type Repaired struct {
	Count int      `json:"count" jsonschema:"description=number of repairs"`
	Last  []Repair `json:"last,omitempty" jsonschema:"description=the last repairs"`
}

// Repair is one: a file of the clone, or an object by its id, and what was wrong.
type Repair struct {
	At     time.Time `json:"at" jsonschema:"description=when it was made"`
	What   string    `json:"what" jsonschema:"description=what was repaired"`
	Reason string    `json:"reason" jsonschema:"description=why"`
}

// Backdated are commits whose first-parent time is that of the run that first saw them, oldest sighting first. The
// commits after them landed no earlier.
type Backdated []Sighting

// Sighting is a commit and the time of the run that first saw it.
type Sighting struct {
	Commit string    `json:"commit" jsonschema:"description=object id"`
	At     time.Time `json:"at" jsonschema:"description=when it was first seen"`
}

// Pass is the position of a pass over the stored objects.
type Pass struct {
	Begun time.Time `json:"begun" jsonschema:"description=start of the pass"`
	Packs []string  `json:"packs" jsonschema:"description=checksums of the packs of which every object was hashed"`
}

// Bounds of the lists of a state.
const (
	maxRewritten = 50
	maxRepaired  = 100
	maxBackdated = 1000
	maxBytes     = 64 << 20 // room for a refused path for each of 100,000 listings, of two tips
)

// Codes explains the codes of this package's errors.
var Codes = []strict.Code{
	{"mirror-state", "the state of a mirror cannot be read, or has no entry for the tip of the mirror's branch, or " +
		"no commit was verified", again},
}

// again is the fix of a state that cannot be read.
const again = "run oap-gate mirror, which writes it again"

// unreadable returns the error of a state that no reader can use.
func unreadable(format string, args ...any) error {
	return remedy.Coded("mirror-state", again, format, args...)
}

// Read reads the state in a mirror's directory. If the file does not exist, the error is fs.ErrNotExist. If a mirror
// did not write the file, the error has the code mirror-state.
func Read(dir string) (*State, error) {
	path := filepath.Join(dir, File)
	text, err := capped.ReadFile(path, maxBytes)
	if err != nil && !errors.Is(err, capped.ErrTooLarge) {
		return nil, remedy.With(fmt.Errorf("reading the state of the mirror: %w", err),
			"let the user who runs oap-gate read it")
	}
	s := &State{}
	if err == nil {
		_, err = strict.Parse(path, text, strict.Limits{Bytes: maxBytes, Depth: 8, Number: 32})
	}
	if err == nil {
		err = json.Unmarshal(text, s)
	}
	if err == nil {
		err = s.check()
	}
	if err != nil {
		return nil, unreadable("reading the state of the mirror: %w", err)
	}
	return s, nil
}

func (s *State) check() error {
	if s.Version != 1 {
		return fmt.Errorf("version %d of %s; expected 1", s.Version, File)
	}
	for _, id := range []string{s.Verified, s.Fetched} {
		if _, err := gitobject.ParseID(id); id != "" && err != nil {
			return err
		}
	}
	for _, t := range s.Tips {
		if _, err := gitobject.ParseID(t.Tip); err != nil {
			return err
		}
	}
	for _, b := range s.Backdated {
		if _, err := gitobject.ParseID(b.Commit); err != nil {
			return err
		}
	}
	return nil
}

// Write replaces the state in a mirror's directory.
func (s *State) Write(dir string) error {
	s.Version = 1
	if s.Tips == nil {
		s.Tips = []Tip{}
	}
	for i := range s.Tips {
		if s.Tips[i].Refused == nil {
			s.Tips[i].Refused = []string{}
		}
	}
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	if err := atomicfile.Write(filepath.Join(dir, File), append(text, '\n'), 0o666); err != nil {
		return err
	}
	return atomicfile.SyncDirectory(dir)
}

// Of returns the entry of a tip, or nil.
func (s *State) Of(tip string) *Tip {
	for i := range s.Tips {
		if s.Tips[i].Tip == tip {
			return &s.Tips[i]
		}
	}
	return nil
}

// Put sets the entry of a tip.
func (s *State) Put(t Tip) {
	if at := s.Of(t.Tip); at != nil {
		*at = t
		return
	}
	s.Tips = append(s.Tips, t)
}

// Keep removes the entries of all tips but these.
func (s *State) Keep(tips ...string) {
	s.Tips = slices.DeleteFunc(s.Tips, func(t Tip) bool { return !slices.Contains(tips, t.Tip) })
}

// Add records a rewrite.
func (r *Rewritten) Add(one Rewrite) {
	r.Count++
	if len(r.First) < maxRewritten {
		r.First = append(r.First, one)
		return
	}
	r.Last = append(r.Last, one)
	r.Last = r.Last[max(0, len(r.Last)-maxRewritten):]
}

// Add records repairs.
func (r *Repaired) Add(some ...Repair) {
	r.Count += len(some)
	r.Last = append(r.Last, some...)
	r.Last = r.Last[max(0, len(r.Last)-maxRepaired):]
}

// Add records the commit that a run saw and returns the time of the first run that saw it.
func (b *Backdated) Add(commit string, now time.Time) time.Time {
	for _, known := range *b {
		if known.Commit == commit {
			return known.At
		}
	}
	*b = append(*b, Sighting{Commit: commit, At: now.UTC()})
	*b = (*b)[max(0, len(*b)-maxBackdated):]
	return now.UTC()
}

// Times returns the time of each commit.
func (b Backdated) Times() map[string]time.Time {
	times := make(map[string]time.Time, len(b))
	for _, s := range b {
		times[s.Commit] = s.At
	}
	return times
}

// Refusable reports whether a record of that path can be refused. A revocation never is: it counts in any case.
func Refusable(path string) bool {
	switch registry.KindOf(path) {
	case registry.KindListing, registry.KindWorkflowAnchor, registry.KindPeerWitness:
		return true
	}
	return false
}

// View is what a reader takes from a mirror's directory, for the tip that the branch of its clone names.
type View struct {
	Tip     string
	FreshAt time.Time // last run at which the tip was verified and the fetched one; zero: none
	Refused []string  // paths of records that do not count
	// Frozen says why the mirror shows what it verified at FreshAt and nothing newer; empty: it does not.
	Frozen string
	Seen   map[string]time.Time // for registry.Repository.Sight
}

// For returns what the state says about the tip that the branch names. The error has the code mirror-state if
// there is no entry for it.
func (s *State) For(tip string) (*View, error) {
	t := s.Of(tip)
	if t == nil {
		return nil, unreadable("%s has no entry for %s, the tip of the mirror's branch", File, tip)
	}
	v := &View{Tip: tip, FreshAt: t.FreshAt, Seen: s.Backdated.Times()}
	for _, path := range t.Refused {
		if Refusable(path) {
			v.Refused = append(v.Refused, path)
		}
	}
	switch {
	case s.Verified != tip:
		v.Frozen = fmt.Sprintf("the mirror verified %s, and its branch is still at %s", s.Verified, tip)
	case !s.LastAttempt.IsZero() && !s.LastAttempt.Equal(t.FreshAt): // also earlier: a run had a wrong clock
		v.Frozen = fmt.Sprintf("the mirror ran at %s and did not verify this tip as the origin's",
			s.LastAttempt.UTC().Format(time.RFC3339))
	}
	return v, nil
}

// Open returns what a mirror's directory says about the tip that the branch of its clone names. tip reads that branch.
// A directory without state.json is read by its report.json if the head there is the tip.
func Open(dir string, tip func() (string, error)) (string, *View, error) {
	for try := 0; ; try++ {
		at, err := tip()
		if err != nil {
			return "", nil, remedy.Coded("mirror-state",
				"run oap-gate mirror for this directory, and read its last line",
				"the mirror %s has no verified commit: %w", dir, err)
		}
		s, err := Read(dir)
		if errors.Is(err, fs.ErrNotExist) {
			v, err := FromReport(dir, at)
			return at, v, err
		}
		if err != nil {
			return "", nil, err
		}
		v, err := s.For(at)
		if err == nil || try == 2 { // the mirror may have moved on between the two reads
			return at, v, err
		}
	}
}

// maxReport caps a mirror's report in bytes.
const maxReport = 256 << 20

// FromReport reads the directory of a mirror that has not written a state yet.
func FromReport(dir, tip string) (*View, error) {
	path := filepath.Join(dir, "report.json")
	text, err := capped.ReadFile(path, maxReport)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, unreadable("the mirror %s has neither %s nor report.json: nothing was verified there", dir, File)
	}
	var doc *strict.Document
	if err == nil {
		doc, err = strict.Parse(path, text, strict.Limits{Bytes: maxReport, Depth: 64, Number: 64})
	}
	if err != nil {
		return nil, unreadable("reading the mirror %s: %w", dir, err)
	}
	if head := strict.String(doc.Root, "head"); head != tip {
		return nil, unreadable("the mirror %s has no %s, and its report.json is of %.80q; expected %s, the tip of its "+
			"branch", dir, File, head, tip)
	}
	v := &View{Tip: tip}
	var readable bool
	if v.FreshAt, readable = strict.Time(strict.String(doc.Root, "evaluated_at")); !readable {
		return nil, unreadable("report.json of the mirror %s does not say when it was made", dir)
	}
	refused, _ := strict.Member(doc.Root, "refused").([]any)
	for _, r := range refused {
		path, isText := r.(string)
		if !isText {
			path = strict.String(r, "path")
		}
		if Refusable(path) {
			v.Refused = append(v.Refused, path)
		}
	}
	return v, nil
}
