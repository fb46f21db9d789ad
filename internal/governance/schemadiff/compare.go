package schemadiff

import (
	"fmt"
	"iter"
	"maps"
	"slices"

	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
)

// maxSteps bounds what all that one comparison does may cost; a step is about a microsecond.
const maxSteps = 400_000

// maxDepth is how many references are followed one inside the other; each takes some kilobytes of stack.
const maxDepth = 2_000

// setting is what surrounds a subschema: how its verdict counts, and whether another keyword sees what it evaluates. A
// subschema that references reach from several places has the union.
type setting uint8

const (
	positive    setting = 1 << iota // what it refuses is refused
	negative                        // what it refuses is accepted
	unevaluated                     // at or below an unevaluatedProperties or unevaluatedItems
)

// undirected is the setting of a subschema whose verdict may count either way: in a oneOf, or next to maxContains.
const undirected = positive | negative

func (x setting) turned() setting {
	return x&unevaluated | x&positive<<1 | x&negative>>1
}

// class returns what a difference of class c means in the setting.
func (x setting) class(c Class) Class {
	direction := x & undirected
	switch {
	case c == Note:
	case direction == undirected:
		return Changed
	case (c == Tightened || c == Loosened) && x&unevaluated != 0:
		return Changed
	case direction == positive:
	case c == Additive:
		return Changed
	case c == Tightened:
		return Loosened
	case c == Loosened:
		return Tightened
	}
	return c
}

// of returns the setting of a subschema in an object that has the setting x.
func (x setting) of(holder, sub *schema) setting {
	switch sub.keyword {
	case "not":
		return x.turned()
	case "oneOf", "if", "then", "else", "additionalItems", "dependencies":
		return x | undirected
	case "contains":
		if _, ok := holder.object()["maxContains"]; ok {
			return x | undirected
		}
	case "$defs", "definitions": // only by its references
		return x & unevaluated
	}
	return x
}

// seesEvaluated reports whether s has a keyword that depends on what others evaluate.
func (s *schema) seesEvaluated() bool {
	return slices.ContainsFunc([]string{"unevaluatedProperties", "unevaluatedItems"}, func(keyword string) bool {
		sub := s.at(keyword, "")
		return sub != nil && !sub.bare()
	})
}

// references returns the targets of s in its tree, by keyword; nil for one that does not resolve.
func (t *Tree) references(s *schema) map[string]*schema {
	var targets map[string]*schema
	for _, keyword := range []string{"$ref", "$dynamicRef"} {
		text, ok := s.object()[keyword].(string)
		if !ok {
			continue
		}
		if targets == nil {
			targets = map[string]*schema{}
		}
		targets[keyword] = t.resolve(s, text)
	}
	return targets
}

// reachable returns the schemas that the references of s may lead to: all that have the anchor of a dynamic one.
func (t *Tree) reachable(s *schema) (all []*schema) {
	for keyword, target := range t.references(s) {
		if target == nil {
			continue
		}
		all = append(all, target)
		if name, ok := target.object()["$dynamicAnchor"].(string); ok && keyword == "$dynamicRef" {
			all = append(all, t.dynamic[name]...)
		}
	}
	return all
}

// surroundings returns the settings of all subschemas that the schemas at some paths of a tree lead to.
func (c *Comparison) surroundings(t *Tree, paths iter.Seq[string]) map[*schema]setting {
	all := map[*schema]setting{}
	var queue []*schema
	add := func(s *schema, x setting) {
		old, seen := all[s]
		if all[s] = old | x; !seen || old|x != old {
			queue = append(queue, s)
		}
	}
	for _, path := range slices.Sorted(paths) {
		if f := t.files[path]; f != nil && f.root != nil {
			add(f.root, positive)
		}
	}
	for len(queue) > 0 && c.spend(1) {
		s := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		x := all[s]
		if s.seesEvaluated() {
			x |= unevaluated
		}
		for _, sub := range s.each() {
			add(sub, x.of(s, sub))
		}
		targets := t.reachable(s)
		c.spend(len(targets))
		for _, target := range targets {
			add(target, x)
		}
	}
	return all
}

// Comparison is of two trees. It is not safe for concurrent use, and what all its calls take has one bound.
type Comparison struct {
	old, new      *Tree
	oldOf         map[string]string   // new path to old path, for schemas that are reported at their own places
	before, after map[*schema]setting // what surrounds the schemas of the two
	known         map[[2]string][]Difference
	left          int // steps
	depth         int // references that are being followed
	noted         []Difference
	index         map[noted]int
	more          map[int]int // number of further differences, by the index of the reported one
	walked        map[pair]bool
	patterns      map[string]func(string) bool
	together      map[*schema][]*schema // old schemas that may apply to one place
}

type noted struct {
	pointer string
	class   Class
}

type pair struct {
	old, new *schema
	in       setting
}

func newComparison(old, new *Tree, oldOf map[string]string) *Comparison {
	return &Comparison{old: old, new: new, oldOf: oldOf, left: maxSteps, known: map[[2]string][]Difference{},
		patterns: map[string]func(string) bool{}}
}

// spend takes steps from what is left, and reports whether there were as many.
func (c *Comparison) spend(steps int) bool {
	c.left -= steps
	return c.left >= 0
}

// Schemas returns how the schema newPath of the new tree differs from oldPath of the old one, as Compare does.
func (c *Comparison) Schemas(oldPath, newPath string) []Difference {
	key := [2]string{oldPath, newPath}
	if known, ok := c.known[key]; ok {
		return known
	}
	if c.before == nil { // many views touch JSON files that are not schemas
		c.before, c.after = c.surroundings(c.old, maps.Values(c.oldOf)), c.surroundings(c.new, maps.Keys(c.oldOf))
	}
	c.noted, c.index, c.more, c.walked = nil, map[noted]int{}, map[int]int{}, map[pair]bool{}
	o, n := c.old.files[oldPath], c.new.files[newPath]
	switch {
	case o == nil || o.root == nil:
		c.add(Difference{Class: Changed, Message: unread("old", oldPath, o)})
	case n == nil || n.root == nil:
		c.add(Difference{Class: Changed, Message: unread("new", newPath, n)})
	default:
		c.walk(o.root, n.root, spot{}, positive, nil)
	}
	for i, n := range c.more {
		c.noted[i].Message += fmt.Sprintf(" (and %d more)", n)
	}
	if c.left < 0 {
		c.noted = append(c.noted, Difference{Class: Changed, Message: fmt.Sprintf(
			"comparing takes more than %d steps, or %d references one inside the other; what is beyond is not known",
			maxSteps, maxDepth)})
	}
	c.known[key] = sorted(c.noted)
	return c.known[key]
}

func unread(side, path string, f *file) string {
	if f == nil {
		return fmt.Sprintf("there is no %s schema at %s", side, quote(path))
	}
	return fmt.Sprintf("the %s schema cannot be read: %s", side, quote(f.fault.Error()))
}

// spot is where differences are reported: the places of the two schemas in the compared files.
type spot struct{ old, new place }

func (s spot) followed() bool { return s.old.ref || s.new.ref }

// place is that of a schema in a compared file.
type place struct {
	step *strict.Step
	ref  bool // a reference was followed, and this is its place
}

// to returns the place of a keyword of s, and of names below it.
func (p place) to(s *schema, keyword string, names ...string) place {
	switch {
	case keyword == "":
	case s.inner != nil && s.holder(keyword) == s.inner:
		return p.inside(s).to(s.inner, keyword, names...)
	case s.inner != nil:
		return p.to(s.outer, keyword, names...)
	case !p.ref:
		for _, token := range append([]string{keyword}, names...) {
			p.step = &strict.Step{Above: p.step, Token: token}
		}
	}
	return p
}

// inside returns the place of the inner schema of s.
func (p place) inside(s *schema) place {
	if s.by == "allOf" {
		return p.to(s.outer, s.by, "0")
	}
	p = p.to(s.outer, s.by)
	p.ref = true
	return p
}
