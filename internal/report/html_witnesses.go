package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// maxNodes is how many listings the picture of the witnesses shows at most.
const maxNodes = 200

// maxSlug is how much of a slug the picture shows; the schema of a listing allows less.
const maxSlug = 100

// maxNamed is how many listings a row of the table names at most.
const maxNamed = 40

// witnessView shows which listings in force witness which others.
type witnessView struct {
	Count, Vouched, Edges int // in the report
	Drawn, DrawnEdges     int // numbers of the listings that witness or have a witness, and of the signatures
	Nodes                 int
	Left, Right           []node
	Height                int
	Rows                  []chunk[impactRow]
	RowsCut               int
}

// node is a listing in the picture: a witness on the left, a witnessed listing on the right. A listing that is both is
// on both sides.
type node struct {
	Slug, Label string
	Y           int
	Paths       []edge
}

type edge struct {
	Curve string
	Last  bool // without it the listing has fewer than it needs
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

// vouching is the graph: listings by slug, and for each witness the slugs it vouches for, in order.
type vouching struct {
	listing map[string]*verdict.Listing
	by      map[string][]string // slug to its witnesses, each once
	of      map[string][]string // witness to the slugs it vouches for
}

func vouchings(r *verdict.Report) *vouching {
	v := &vouching{map[string]*verdict.Listing{}, map[string][]string{}, map[string][]string{}}
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
		v.by[l.Slug] = witnesses
		for _, w := range witnesses {
			v.of[w] = append(v.of[w], l.Slug)
		}
	}
	return v
}

// last reports whether slug has no witness to spare.
func (v *vouching) last(slug string) bool {
	n := needed(v.listing[slug].Level)
	return n > 0 && len(v.by[slug]) == n
}

// falls returns the listings that would have fewer witnesses than they require without witness.
func (v *vouching) falls(witness string) []string {
	var all []string
	for _, slug := range v.of[witness] {
		if v.last(slug) {
			all = append(all, slug)
		}
	}
	return all
}

// ranked returns the slugs of m, those with the most first.
func ranked(m map[string]int) []string {
	return slices.SortedFunc(maps.Keys(m),
		func(a, b string) int { return cmp.Or(cmp.Compare(m[b], m[a]), strings.Compare(a, b)) })
}

func newWitnesses(r *verdict.Report) *witnessView {
	g := vouchings(r)
	v := &witnessView{Count: len(g.of), Vouched: len(g.by)}
	degree := map[string]int{}
	for slug, witnesses := range g.by {
		degree[slug] += len(witnesses)
		v.Edges += len(witnesses)
	}
	for w, slugs := range g.of {
		degree[w] += len(slugs)
	}
	v.Nodes = len(degree)
	drawn := map[string]bool{}
	for _, slug := range ranked(degree)[:min(maxNodes, len(degree))] {
		drawn[slug] = true
	}
	v.Drawn = len(drawn)
	v.draw(g, drawn)
	v.table(g)
	return v
}

// rowHeight is the distance of two names in the picture; the curves run from leftEdge to rightEdge.
const (
	rowHeight = 20
	leftEdge  = 220
	rightEdge = 530
)

// maxEdges is how many lines the picture has at most: more are a surface.
const maxEdges = 2000

// draw places the witnesses by how much they vouch for, and the others near the middle of their witnesses, so
// that few lines cross. All of it is in integers: floating point is not the same on every machine.
func (v *witnessView) draw(g *vouching, drawn map[string]bool) {
	out := map[string]int{}
	in := map[string][]string{}
	for slug := range drawn {
		for _, w := range g.by[slug] {
			if drawn[w] {
				out[w]++
				in[slug] = append(in[slug], w)
			}
		}
	}
	left := ranked(out)
	at := map[string]int{}
	for i, w := range left {
		at[w] = i
	}
	middle := map[string]int{}
	for slug, witnesses := range in {
		sum := 0
		for _, w := range witnesses {
			sum += at[w]
		}
		middle[slug] = -sum * 1000 / len(witnesses) // ranked puts the greatest first
	}
	right := ranked(middle)
	v.Height = rowHeight * (max(len(left), len(right)) + 1)
	y := map[string]int{}
	for i, slug := range right {
		y[slug] = spread(i, len(right), v.Height)
		v.Right = append(v.Right, node{Slug: cut(line(slug), maxSlug), Y: y[slug],
			Label: fmt.Sprintf("%s · %s %d of %d", cut(line(slug), 26), cut(line(g.listing[slug].Level), 12),
				len(g.by[slug]), needed(g.listing[slug].Level))})
	}
	for i, w := range left {
		n := node{Slug: cut(line(w), maxSlug), Y: spread(i, len(left), v.Height),
			Label: fmt.Sprintf("%s · %d", cut(line(w), 26), len(g.of[w]))}
		for _, slug := range g.of[w] {
			if drawn[slug] && v.DrawnEdges < maxEdges {
				v.DrawnEdges++
				n.Paths = append(n.Paths,
					edge{fmt.Sprintf("M%d %dC%d %d %d %d %d %d", leftEdge+8, n.Y, leftEdge+120, n.Y, rightEdge-120,
						y[slug], rightEdge-8, y[slug]), g.last(slug)})
			}
		}
		v.Left = append(v.Left, n)
	}
}

// spread places the i-th of n over the height.
func spread(i, n, height int) int { return (2*i + 1) * height / (2 * n) }

func (v *witnessView) table(g *vouching) {
	falls := map[string][]string{}
	n := map[string]int{}
	for w := range g.of {
		falls[w] = g.falls(w)
		n[w] = len(falls[w])<<32 + len(g.of[w])
	}
	var rows []impactRow
	left := impactRoom
	for _, w := range ranked(n) {
		row := impactRow{w, "not listed", "not listed", few(falls[w]), few(g.of[w])}
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
}

func few(slugs []string) named {
	n := min(len(slugs), maxNamed)
	return named{slugs[:n], len(slugs), len(slugs) - n}
}
