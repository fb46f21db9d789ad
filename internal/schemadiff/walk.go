package schemadiff

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
)

// walk tells the differences of two schemas of one place.
func (c *comparison) walk(o, n *schema, at spot, in setting) {
	if !c.spend(1) {
		return
	}
	keywords := map[string]bool{}
	for keyword := range o.object() {
		keywords[keyword] = true
	}
	for keyword := range n.object() {
		keywords[keyword] = true
	}
	for _, keyword := range slices.Sorted(maps.Keys(keywords)) {
		was, isOld := o.object()[keyword]
		is, isNew := n.object()[keyword]
		if keyword == "properties" {
			c.properties(o, n, at, in)
		} else if !equal(was, is) || isOld != isNew {
			c.tell(at.below(keyword).new, in, Changed, !isNew, "%s differs", keyword)
		}
	}
}

func (c *comparison) properties(o, n *schema, at spot, in setting) {
	was, _ := o.object()["properties"].(map[string]any)
	is, _ := n.object()["properties"].(map[string]any)
	for name := range was {
		if _, ok := is[name]; !ok {
			c.tell(at.below("properties", name).old, in, Removed, true, "field %s is gone", quote(name))
		}
	}
	for name := range is {
		if _, ok := was[name]; !ok {
			c.tell(at.below("properties", name).new, in, Additive, false, "field %s is new", quote(name))
			continue
		}
		c.walk(o.at("properties", name), n.at("properties", name), at.below("properties", name), in)
	}
}

// tell adds a difference of class raw in a setting. Of one class at one pointer the first is told.
func (c *comparison) tell(at *step, in setting, raw Class, gone bool, message string, args ...any) {
	d := Difference{Class: in.class(raw), Pointer: at.pointer(), Gone: gone, Message: fmt.Sprintf(message, args...)}
	key := told{d.Pointer, d.Class}
	if _, ok := c.index[key]; ok {
		return
	}
	c.index[key] = len(c.told)
	c.told = append(c.told, d)
}

// quote spells foreign text in one line of bounded length.
func quote(s string) string {
	if r := []rune(s); len(r) > 80 {
		s = string(r[:80]) + "…"
	}
	return strconv.Quote(s)
}
