package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// The picture of the witnesses has at most maxDrawn names on each side, and maxLines lines: more are a surface.
const (
	maxDrawn = 100
	maxLines = 2000
)

// maxNamed is how many listings a row of the table names at most.
const maxNamed = 40

// witnessView shows which listings in force witness which others.
type witnessView struct {
	Count, Vouched, Signatures int
	Left, Right                []node
	Lines, Height              int // what the picture has
	Rows                       []chunk[impactRow]
	RowsCut                    int
}

// node is a listing in the picture: a witness on the left, a listing that it vouches for on the right.
type node struct {
	Slug, Label string
	Y           int
	Curves      []curve
}

type curve struct {
	Path string
	Last bool // without it the listing has fewer than it needs
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
	witnesses := ranked(n)
	v.draw(g, witnesses[:min(len(witnesses), maxDrawn)])
	for _, w := range witnesses {
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

// draw draws witnesses in the order of the table, and the listings that they vouch for as they are first named.
func (v *witnessView) draw(g *vouching, witnesses []string) {
	place := func(slug string, i int, label string) node {
		slug = line(slug)
		return node{Slug: cut(slug, 100), Label: fmt.Sprintf("%s · %s", cut(slug, 26), label), Y: 20 * (i + 1)}
	}
	at := map[string]int{}
	for i, w := range witnesses {
		from := place(w, i, fmt.Sprint(len(g.of[w])))
		for _, slug := range g.of[w] {
			l, k := g.listing[slug], len(at)
			if known, is := at[slug]; is {
				k = known
			} else if k < maxDrawn {
				v.Right = append(v.Right, place(slug, k, fmt.Sprintf("%s %d of %d", cut(line(l.Level), 12),
					len(slices.Compact(slices.Sorted(slices.Values(l.Witnesses)))), needed(l.Level))))
				at[slug] = k
			}
			if k < maxDrawn && v.Lines < maxLines {
				v.Lines++
				from.Curves = append(from.Curves, curve{fmt.Sprintf("M228 %dC340 %d 410 %d 522 %d", from.Y, from.Y,
					v.Right[k].Y, v.Right[k].Y), slices.Contains(g.falls[w], slug)})
			}
		}
		v.Left = append(v.Left, from)
	}
	v.Height = 20 * (max(len(v.Left), len(v.Right)) + 1)
}

func few(slugs []string) named {
	n := min(len(slugs), maxNamed)
	return named{slugs[:n], len(slugs), len(slugs) - n}
}
