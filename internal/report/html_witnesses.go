package report

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// maxNamed is how many listings a row of the table names at most.
const maxNamed = 40

// witnessView shows which listings in force witness which others.
type witnessView struct {
	Count, Vouched, Signatures int
	Rows                       []chunk[impactRow]
	RowsCut                    int
}

// impactRow is what the revocation of a witness would leave short.
type impactRow struct {
	Slug, Level, Status string
	Falls, Vouches      named
}

// named is a group of listings. Its row names the first of them.
type named struct {
	Slugs       []string
	Count, More int
}

// needed returns how many witnesses a level requires: duties follow the base level, whatever the suffix.
func needed(level string) int {
	switch {
	case strings.HasPrefix(level, "L4"):
		return 1
	case strings.HasPrefix(level, "L5"):
		return 3
	}
	return 0
}

// vouching has the listings that vouch for others, and those that they vouch for.
type vouching struct {
	listing map[string]*verdict.Listing // by slug, those that witness or have a witness
	of      map[string][]string         // witness to the slugs that it vouches for, in order
	falls   map[string][]string         // witness to those of them that have no witness to spare
	// How many have a witness, and how many signatures these are.
	vouched, signatures int
}

func vouchings(r *verdict.Report) *vouching {
	v := &vouching{listing: map[string]*verdict.Listing{}, of: map[string][]string{}, falls: map[string][]string{}}
	for i := range r.Listings { // most have no part in it
		if l := &r.Listings[i]; len(l.Witnesses) > 0 {
			v.listing[l.Slug] = nil
			for _, w := range l.Witnesses {
				v.listing[w] = nil
			}
		}
	}
	for i := range r.Listings {
		l := &r.Listings[i]
		if known, part := v.listing[l.Slug]; known != nil || !part {
			continue // no report of ours has a slug twice
		}
		v.listing[l.Slug] = l
		switch l.Status {
		case verdict.StatusExpired, verdict.StatusRevoked, verdict.StatusRefused, verdict.StatusInvalid:
			continue
		}
		witnesses := slices.Compact(slices.Sorted(slices.Values(l.Witnesses)))
		if len(witnesses) == 0 {
			continue
		}
		v.vouched++
		v.signatures += len(witnesses)
		for _, w := range witnesses {
			v.of[w] = append(v.of[w], l.Slug)
			if len(witnesses) == needed(l.Level) {
				v.falls[w] = append(v.falls[w], l.Slug)
			}
		}
	}
	return v
}

// ranked returns the slugs of m, those with the most first.
func ranked(m map[string]int) []string {
	return slices.SortedFunc(maps.Keys(m),
		func(a, b string) int { return cmp.Or(cmp.Compare(m[b], m[a]), strings.Compare(a, b)) })
}

func newWitnesses(r *verdict.Report) *witnessView {
	g := vouchings(r)
	v := &witnessView{Count: len(g.of), Vouched: g.vouched, Signatures: g.signatures}
	n := map[string]int{}
	for w := range g.of {
		n[w] = len(g.falls[w])<<32 + len(g.of[w])
	}
	var rows []impactRow
	left := impactRoom
	for _, w := range ranked(n) {
		row := impactRow{w, "not listed", "not listed", few(g.falls[w]), few(g.of[w])}
		if l := g.listing[w]; l != nil {
			row.Level, row.Status = l.Level, l.Status
		}
		slugs := slices.Concat(row.Falls.Slugs, row.Vouches.Slugs)
		if !left.take(220+4*len(slugs), append([]string{row.Slug, row.Level, row.Status}, slugs...)...) {
			break
		}
		rows = append(rows, row)
	}
	v.RowsCut = len(g.of) - len(rows)
	shown := 0
	v.Rows = chunks(rows, &shown)
	return v
}

func few(slugs []string) named {
	n := min(len(slugs), maxNamed)
	return named{slugs[:n], len(slugs), len(slugs) - n}
}
