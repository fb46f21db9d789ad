package schema

import (
	"cmp"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	library "github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
)

// finish puts the formats into every subschema that the compiled root can reach, and refuses what has no bound.
func finish(root *library.Schema, text map[string]any) *Error {
	reached := reach(root)
	slices.SortFunc(reached, byLocation)
	w := weigher{}
	for _, s := range reached {
		pointer := pointerOf(s)
		raw, ok := text[pointer]
		if !ok {
			return &Error{Pointer: pointer, Message: "a $ref leads here, and this is not a subschema"}
		}
		if fault := w.visit(s); fault != nil {
			return fault
		}
		name := strict.String(raw, "format")
		if f, ok := formats[name]; ok {
			s.Extensions = append(s.Extensions, assertion{name, f})
		}
	}
	return nil
}

func byLocation(a, b *library.Schema) int { return cmp.Compare(a.Location, b.Location) }

// reach gives every subschema that root leads to, root included.
func reach(root *library.Schema) []*library.Schema {
	seen := map[*library.Schema]bool{root: true}
	reached := []*library.Schema{root}
	for i := 0; i < len(reached); i++ {
		for _, sub := range slices.Concat(inPlace(reached[i]), below(reached[i])) {
			if !seen[sub] {
				seen[sub] = true
				reached = append(reached, sub)
			}
		}
	}
	return reached
}

// inPlace gives the subschemas of s that apply to the same value as s.
func inPlace(s *library.Schema) []*library.Schema {
	subs := slices.Concat(s.AllOf, s.AnyOf, s.OneOf, []*library.Schema{s.Ref, s.Not, s.If, s.Then, s.Else})
	subs = slices.AppendSeq(subs, maps.Values(s.DependentSchemas))
	for _, v := range s.Dependencies {
		if sub, ok := v.(*library.Schema); ok {
			subs = append(subs, sub)
		}
	}
	return slices.DeleteFunc(subs, func(s *library.Schema) bool { return s == nil })
}

// below gives the subschemas of s that apply to members, their names, and items.
func below(s *library.Schema) []*library.Schema {
	additional, _ := s.AdditionalProperties.(*library.Schema)
	subs := append([]*library.Schema{s.PropertyNames, additional, s.UnevaluatedProperties,
		s.Contains, s.Items2020, s.UnevaluatedItems}, s.PrefixItems...)
	subs = slices.AppendSeq(slices.AppendSeq(subs, maps.Values(s.Properties)), maps.Values(s.PatternProperties))
	return slices.DeleteFunc(subs, func(s *library.Schema) bool { return s == nil })
}

// weigher knows how many subschemas apply to a value where one does, itself included, and how deep they nest.
type weigher map[*library.Schema]weight

// weight is zero while the subschemas are being weighed.
type weight struct{ count, depth int }

func (g weigher) visit(s *library.Schema) *Error {
	if _, ok := g[s]; ok {
		return nil
	}
	g[s] = weight{}
	w := weight{1, 1}
	subs := inPlace(s)
	slices.SortFunc(subs, byLocation)
	for _, sub := range subs {
		if fault := g.visit(sub); fault != nil {
			return fault
		}
		under := g[sub]
		if under.count == 0 {
			return &Error{Pointer: pointerOf(s), Message: "leads back to itself on the same value by $ref"}
		}
		w = weight{w.count + under.count, max(w.depth, under.depth+1)}
		if w.count > maxInPlace || w.depth > maxRefDepth {
			return &Error{Pointer: pointerOf(s), Message: fmt.Sprintf(
				"applies more than %d subschemas to one value, or more than %d one inside the other", maxInPlace,
				maxRefDepth)}
		}
	}
	g[s] = w
	return nil
}

// pointerOf returns the JSON Pointer of a compiled schema in its text.
func pointerOf(s *library.Schema) string {
	_, fragment, _ := strings.Cut(s.Location, "#")
	pointer, err := url.PathUnescape(fragment)
	if err != nil {
		return fragment
	}
	return pointer
}

// assertion is a format as an extension of the library, which otherwise would end the judgement of a value
// at the first format that is violated.
type assertion struct {
	name string
	format
}

func (a assertion) Validate(ctx *library.ValidatorContext, v any) {
	ok := true
	switch v := v.(type) {
	case string:
		ok = a.text == nil || a.text(v)
	case float64:
		ok = a.number == nil || a.number(v)
	}
	if !ok {
		ctx.AddError(&kind.Format{Got: v, Want: a.name})
	}
}
