package schemadiff

import (
	"maps"
	"slices"
)

// applied are the keywords whose subschemas apply to the same place of the document as the object.
var applied = []string{"allOf", "anyOf", "oneOf", "if", "then", "else", "not", "dependentSchemas", "dependencies"}

// ofMembers and ofItems are the keywords whose subschemas apply to a member or an item.
var (
	ofMembers = []string{"properties", "patternProperties", "additionalProperties", "unevaluatedProperties"}
	ofItems   = []string{"prefixItems", "items", "additionalItems", "unevaluatedItems", "contains"}
)

// inPlace returns the old schemas that may apply to the same place of the document as s, s first.
func (c *Comparison) inPlace(s *schema) []*schema {
	if c.together == nil {
		c.placeAll()
	}
	if c.together[s] != nil || s.parent == nil {
		return c.together[s]
	}
	all := []*schema{s} // an absent one, which has a place all the same
	for _, holder := range c.inPlace(s.parent) {
		for _, sub := range holder.each() {
			if c.spend(1) && c.meet(s, sub) {
				all = append(all, c.together[sub]...)
			}
		}
	}
	return all
}

// placeAll finds the pairs of old schemas that may apply to the same place. Each schema is in a pair with itself; what
// one of a pair applies to its own place is there as well, and what both apply to a member or an item may meet there.
func (c *Comparison) placeAll() {
	c.together = map[*schema][]*schema{}
	known := map[[2]*schema]bool{}
	var queue [][2]*schema
	add := func(a, b *schema) {
		for _, p := range [][2]*schema{{a, a}, {b, b}, {a, b}, {b, a}} {
			if !known[p] && c.spend(2) {
				known[p] = true
				queue = append(queue, p)
				c.together[p[0]] = append(c.together[p[0]], p[1])
			}
		}
	}
	for _, path := range slices.Sorted(maps.Values(c.oldOf)) {
		if f := c.old.files[path]; f != nil && f.root != nil {
			add(f.root, f.root)
		}
	}
	for len(queue) > 0 {
		a, b := queue[0][0], queue[0][1]
		queue = queue[1:]
		targets := c.old.reachable(a)
		c.spend(1 + len(targets))
		for _, target := range targets {
			add(target, b)
		}
		for _, sub := range a.each() {
			if add(sub, sub); slices.Contains(applied, sub.keyword) {
				add(sub, b)
				continue
			}
			for _, other := range b.each() {
				if c.meet(sub, other) {
					add(sub, other)
				}
			}
			if !c.spend(len(b.each()) / 16) {
				return
			}
		}
	}
}

// meet reports whether subschemas of two objects of one place may apply to the same member or the same item.
func (c *Comparison) meet(a, b *schema) bool {
	keywords := ofMembers
	if slices.Contains(ofItems, a.keyword) {
		keywords = ofItems
	}
	first, second := slices.Index(keywords, a.keyword), slices.Index(keywords, b.keyword)
	if first > second {
		a, b, first, second = b, a, second, first
	}
	switch {
	case first < 0:
		return false
	case second == 0:
		return a.name == b.name
	case b.keyword == "contains", first > 0 && second == first:
		return true
	case b.keyword == "patternProperties":
		return c.matches(b.name, a.name)
	case a.keyword == "properties": // what is named is not additional
		return b.parent.at("properties", a.name) == nil
	}
	return a.parent != b.parent
}
