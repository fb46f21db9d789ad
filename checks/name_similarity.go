package checks

import (
	"math/bits"
	"runtime"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"github.com/openagentprotocol-OAP/oap-gate/checks/internal/listed"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/crash"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/domainage"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

var nameSimilarity = &Check{
	ID:      "name-similarity",
	Title:   "a new listing does not look like another one",
	Cite:    "RFC 0026 section 11",
	Row:     "Schema",
	Why:     "people choose by name, and an impostor needs only one letter",
	Fix:     "choose a name that cannot be mistaken, or tell the maintainers why it is yours",
	Kinds:   []registry.Kind{registry.KindListing},
	reads:   []string{"/slug", "/name", "/tool_did"},
	applies: noNewName,
	After:   wellFormed,
	Run:     runNameSimilarity,
	Codes: []Code{
		{"control-character", "name holds an invisible character", "leave it out"},
		{"look-alike", "slug, name or domain looks like another listing's",
			"choose one that cannot be mistaken, or tell the maintainers why it is yours"},
	},
}

// The facets of a listing by which it can be mistaken.
const (
	facetSlug = iota
	facetName
	facetHost
	facets
)

var facetPointers = [facets]string{"/slug", "/name", "/tool_did"}
var facetWords = [facets]string{"slug", "name", "DID host"}

// lookAlike is one listing's facets, prepared for comparison.
type lookAlike struct {
	path  string
	texts [facets]folded
}

// folded is a text as the eye may take it.
type folded struct {
	plain    string // NFKC, case-folded
	length   int    // of plain, in code points
	skeleton string // look-alike letters unified, separators dropped
	letters  uint64 // which letters occur; bounds the edit distance from below
}

// neighbour is another listing that one can be mistaken for, by a facet.
type neighbour struct {
	facet       int
	plain, path string
}

// maxNeighbours is how many look-alikes are named.
const maxNeighbours = 3

// noNewName returns why no name is judged, or "" if one is.
func noNewName(s *Subject) string {
	if s.Run.Asks.AsIs {
		return "judged when it was merged"
	}
	if s.modified() && s.baseListing != nil && s.baseListing.Name == s.Listing.Name {
		return "no new name"
	}
	return ""
}

func runNameSimilarity(s *Subject) (verdict.Outcome, error) {
	var out verdict.Outcome
	for _, r := range s.Listing.Name {
		if unicode.Is(unicode.C, r) {
			out.Warnf(s, "/name", "control-character", "name holds the invisible character U+%04X", r).
				WithFix("leave it out")
			break
		}
	}
	mine := look(listed.New(s.Path, s.Listing))
	for _, n := range neighbours(s) {
		out.Warnf(s, facetPointers[n.facet], "look-alike", "%s %q looks like %q of %s", facetWords[n.facet],
			mine.texts[n.facet].plain, n.plain, n.path).
			WithFix("choose one that cannot be mistaken, or tell the maintainers why it is yours")
	}
	return out.OrPass(), nil
}

// neighbours returns the first listings, in path order, that a subject resembles, among the present ones and those that
// the range adds.
func neighbours(s *Subject) []neighbour {
	r := s.Run
	all, _ := r.neighbours.get(func() (map[*Subject][]neighbour, error) {
		return r.compareNames(r.landingListings(func(s *Subject) bool { return noNewName(s) == "" })), nil
	})
	if found, compared := all[s]; compared {
		return found
	}
	return r.compareNames([]*Subject{s})[s] // a draft, which no range brings
}

// landingListings returns the listings, in path order, whose file is added or changed and can be read, as far as they
// are wanted.
func (r *Run) landingListings(wanted func(*Subject) bool) []*Subject {
	var out []*Subject
	for _, s := range r.Subjects {
		// Not by Record, which is released once the subject is judged: the result would hang on who comes first.
		if s.Listing != nil && !s.Unchanged() && wanted(s) {
			out = append(out, s)
		}
	}
	return out
}

// compareNames compares listings with all that stand and that the range adds, in one pass, on all processors: what a
// million listings look like is not kept.
func (r *Run) compareNames(subjects []*Subject) map[*Subject][]neighbour {
	found := make(map[*Subject][]neighbour, len(subjects))
	if len(subjects) == 0 {
		return found
	}
	mine := make([]lookAlike, len(subjects))
	for i, s := range subjects {
		mine[i] = look(listed.New(s.Path, s.Listing))
	}
	others := r.Base.listings.Parts(runtime.GOMAXPROCS(0))
	others = append(others, func(yield func(*Listed) bool) {
		for _, s := range r.landingListings((*Subject).Added) {
			if !yield(listed.New(s.Path, s.Listing)) {
				return
			}
		}
	})
	near := make([][][]neighbour, len(others)) // by part of the others, and by subject
	var running sync.WaitGroup
	var crashed crash.Carrier
	for i, part := range others {
		near[i] = make([][]neighbour, len(subjects))
		running.Go(func() {
			defer crashed.Catch(nil)
			for l := range part {
				compareName(near[i], subjects, mine, look(l))
			}
		})
	}
	running.Wait()
	crashed.Rethrow()
	for i, s := range subjects {
		var all []neighbour
		for _, part := range near {
			all = append(all, part[i]...)
		}
		slices.SortFunc(all, func(a, b neighbour) int { return strings.Compare(a.path, b.path) })
		found[s] = all[:min(len(all), maxNeighbours)]
	}
	return found
}

// compareName notes another listing with each subject that looks like it and has not as many already as are named.
func compareName(near [][]neighbour, subjects []*Subject, mine []lookAlike, other lookAlike) {
	for i, s := range subjects {
		from, to := 0, facets
		if s.modified() {
			from, to = facetName, facetName+1
		}
		for facet := from; facet < to && other.path != s.Path && len(near[i]) < maxNeighbours; facet++ {
			if resembles(mine[i].texts[facet], other.texts[facet]) {
				near[i] = append(near[i], neighbour{facet, other.texts[facet].plain, other.path})
				break
			}
		}
	}
}

func look(l *Listed) lookAlike {
	host := webHost(l.ToolDID)
	suffix := (*domainage.Suffixes)(nil).Suffix(host)
	host = strings.TrimSuffix(strings.TrimSuffix(host, suffix), ".")
	return lookAlike{l.Path, [facets]folded{foldText(l.Slug), foldText(l.Name), foldText(host)}}
}

func foldText(s string) folded {
	f := folded{plain: strings.ToLower(s)}
	seen := f.plain
	if strings.IndexFunc(s, func(r rune) bool { return r >= utf8.RuneSelf }) >= 0 {
		whole := norm.NFKC.String(s)
		f.plain = cases.Fold().String(whole)
		seen = cases.Fold().String(capitals.Replace(whole))
	}
	for _, r := range f.plain {
		f.letters |= 1 << (uint(r) % 64)
		f.length++
	}
	f.skeleton = skeleton(seen)
	return f
}

// unify returns the letter that represents a letter or digit and its lookalikes. rn and vv are unified elsewhere.
func unify(r rune) rune {
	switch r {
	case '0':
		return 'o'
	case '1', 'i':
		return 'l'
	case '5':
		return 's'
	}
	if r < utf8.RuneSelf {
		return r
	}
	if to, found := alike[r]; found {
		return to
	}
	return r
}

// alike are the Cyrillic and Greek letters whose usual shapes are Latin ones.
var alike = map[rune]rune{
	'а': 'a', 'в': 'b', 'е': 'e', 'ё': 'e', 'һ': 'h', 'і': 'l', 'ї': 'l', 'ј': 'j', 'к': 'k', 'ӏ': 'l', 'м': 'm',
	'н': 'h',
	'о': 'o', 'р': 'p', 'с': 'c', 'ѕ': 's', 'т': 't', 'у': 'y', 'х': 'x', 'ԁ': 'd', 'ԛ': 'q', 'ԝ': 'w', 'г': 'r',
	'п': 'n',
	'α': 'a', 'β': 'b', 'γ': 'y', 'ε': 'e', 'η': 'n', 'ι': 'l', 'κ': 'k', 'ν': 'v', 'ο': 'o', 'ρ': 'p', 'σ': 'o',
	'τ': 't',
	'υ': 'u', 'χ': 'x', 'ω': 'w', 'ζ': 'z', 'μ': 'u',
}

// capitals are the Greek ones that are taken for other Latin letters than their small forms are.
var capitals = strings.NewReplacer("Η", "h", "Μ", "m", "Ν", "n", "Υ", "y")

func skeleton(seen string) string {
	var room [128]byte
	all := room[:0]
	for _, r := range seen {
		switch r {
		case '-', '.', ' ', '_':
			continue
		}
		all = utf8.AppendRune(all, unify(r))
		if n := len(all); n > 1 {
			switch string(all[n-2:]) {
			case "rn":
				all = append(all[:n-2], 'm')
			case "vv":
				all = append(all[:n-2], 'w')
			}
		}
	}
	if string(all) == seen {
		return seen
	}
	return string(all)
}

// maxLength is the maximum length of a text, in characters, that is compared by edits; the longest host name has 253. A
// pull request may add thousands of names of some thousand characters each, and every two are compared.
const maxLength = 256

// resembles reports whether two texts of four characters or more can be mistaken for one another. Texts that
// differ only in a trailing number are versions, not impostors.
func resembles(a, b folded) bool {
	if a.length < 4 || b.length < 4 {
		return false
	}
	if a.plain == b.plain || a.skeleton == b.skeleton {
		return true
	}
	most := 1
	if min(a.length, b.length) >= 8 {
		most = 2
	}
	if d := a.length - b.length; d > most || -d > most {
		return false
	}
	if bits.OnesCount64(a.letters&^b.letters) > most || bits.OnesCount64(b.letters&^a.letters) > most {
		return false
	}
	if min(a.length, b.length) > maxLength || stem(a.plain) == stem(b.plain) {
		return false
	}
	return plain.Distance([]rune(a.plain), []rune(b.plain), most) <= most
}

func stem(s string) string { return strings.TrimRight(strings.TrimRight(s, "0123456789"), "-. ") }
