package schemadiff

import "slices"

// applied are the keywords whose subschemas apply to the same place of the document as the object.
var applied = []string{"allOf", "anyOf", "oneOf", "if", "then", "else", "not", "dependentSchemas", "dependencies"}

// ofMembers and ofItems are the keywords whose subschemas apply to a member or an item.
var (
	ofMembers = []string{"properties", "patternProperties", "additionalProperties", "unevaluatedProperties"}
	ofItems   = []string{"prefixItems", "items", "additionalItems", "unevaluatedItems", "contains"}
)

// group is the old schemas that may apply to the same place of the document as the first of them.
type group struct {
	list  []*schema
	has   map[*schema]bool
	round int // the last one that looked for more
}

// inPlace returns the old schemas that may apply to the same place of the document as s, s first.
func (c *Comparison) inPlace(s *schema) []*schema {
	if g := c.complete[s]; g != nil {
		return g.list
	}
	groups := map[*schema]*group{}
	for round := 1; ; round++ { // a place may be inside itself, by references
		if grew := c.collect(groups, s, round); !grew || !c.spend(1) {
			break
		}
	}
	for s, g := range groups {
		c.complete[s] = g
	}
	return groups[s].list
}

// collect looks for schemas of the place of s, and of the places around it, each once in a round. It reports whether
// it found any.
func (c *Comparison) collect(groups map[*schema]*group, s *schema, round int) (grew bool) {
	g := groups[s]
	if g == nil {
		g = &group{has: map[*schema]bool{}}
		groups[s] = g
	}
	if g.round == round || c.complete[s] != nil {
		return false
	}
	g.round = round
	add := func(s *schema) {
		if !g.has[s] {
			g.has[s], grew = true, true
			g.list = append(g.list, s)
		}
	}
	above := map[*schema]bool{s: true}
	up := []*schema{s}
	for i := 0; i < len(up) && c.spend(1); i++ {
		next := c.before.users[up[i]]
		if up[i].parent != nil && slices.Contains(applied, up[i].keyword) {
			next = append(slices.Clone(next), up[i].parent)
		}
		for _, s := range next {
			if !above[s] {
				above[s] = true
				up = append(up, s)
			}
		}
	}
	for _, s := range up {
		add(s)
		if s.parent == nil || !slices.Contains(ofMembers, s.keyword) && !slices.Contains(ofItems, s.keyword) {
			continue
		}
		holders := c.complete[s.parent]
		if holders == nil {
			grew = c.collect(groups, s.parent, round) || grew
			holders = groups[s.parent]
		}
		for _, holder := range holders.list {
			for _, sub := range holder.each() {
				if c.spend(1) && c.meet(s, sub) {
					add(sub)
				}
			}
		}
	}
	for i := 0; i < len(g.list) && c.spend(1); i++ {
		for _, sub := range g.list[i].each() {
			if slices.Contains(applied, sub.keyword) {
				add(sub)
			}
		}
		targets := c.old.reachable(g.list[i])
		c.spend(len(targets))
		for _, target := range targets {
			add(target)
		}
	}
	return grew
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
