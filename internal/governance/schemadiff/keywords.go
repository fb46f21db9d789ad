package schemadiff

import (
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	jsonschema "github.com/openagentprotocol-OAP/oap-gate/internal/strict/schema"
)

// bounds are the keywords whose value is a number, with 1 where a greater one is wider and -1 where it is narrower.
var bounds = map[string]int{
	"maximum": 1, "exclusiveMaximum": 1, "maxLength": 1, "maxItems": 1, "maxProperties": 1, "maxContains": 1,
	"minimum": -1, "exclusiveMinimum": -1, "minLength": -1, "minItems": -1, "minProperties": -1, "minContains": -1,
}

// implied is what a bound is where it is absent.
var implied = map[string]json.Number{"minLength": "0", "minItems": "0", "minProperties": "0", "minContains": "1"}

// conditions are the keywords that each add one condition to a schema.
var conditions = map[string]bool{"$ref": true, "$dynamicRef": true, "type": true, "multipleOf": true, "pattern": true,
	"format": true, "contains": true, "not": true, "allOf": true, "anyOf": true, "oneOf": true}

// evaluating are the keywords that decide which keyword evaluates a member or an item.
var evaluating = map[string]bool{"additionalProperties": true, "contains": true, "items": true, "prefixItems": true,
	"unevaluatedItems": true, "unevaluatedProperties": true}

// keywords compares what can refuse a document, keyword by keyword.
func (v *visit) keywords() {
	for _, keyword := range v.either() {
		was, isOld := v.o.object()[keyword]
		is, isNew := v.n.object()[keyword]
		if isOld != isNew && v.in&unevaluated != 0 && evaluating[keyword] {
			v.note(Changed, !isNew, keyword, "comes or goes where an unevaluated keyword sees what it evaluates")
		}
		if isOld != isNew && conditions[keyword] {
			v.comesOrGoes(keyword, isNew)
			continue
		}
		switch keyword {
		case "$ref", "$dynamicRef":
			v.reference(keyword)
		case "type":
			v.types(was, is)
		case "multipleOf":
			v.multipleOf(was, is)
		case "pattern", "format":
			if !v.same(was, is) {
				v.note(Changed, false, keyword, differs(was, is, true, true))
			}
		case "uniqueItems":
			if (was == true) != (is == true) {
				v.comesOrGoes(keyword, is == true)
			}
		case "required":
			v.names(keyword, was, is, isNew)
		case "dependentRequired":
			v.dependentRequired(was, is)
		case "properties":
			v.fields()
		case "patternProperties", "dependencies":
			v.entries(keyword, func(name string, _, n *schema) {
				v.note(Changed, n == nil, keyword, "comes or goes, and with it what governs names", name)
			})
		case "additionalProperties", "unevaluatedProperties", "items", "unevaluatedItems", "propertyNames",
			"prefixItems":
			if v.o.form(keyword) != listed || v.n.form(keyword) != listed {
				v.sub(v.o.at(keyword, ""), v.n.at(keyword, ""), v.below(keyword), v)
				continue
			}
			o, n := v.o.list(keyword), v.n.list(keyword)
			if len(o) != len(n) {
				v.note(Changed, !isNew, keyword, fmt.Sprintf("has %d schemas, had %d", len(n), len(o)))
				continue
			}
			for i := range o {
				v.sub(o[i], n[i], v.below(keyword, strconv.Itoa(i)), nil)
			}
		case "additionalItems": // of older drafts; references may lead to what differs
			if v.same(was, is) {
				v.sub(v.o.at(keyword, ""), v.n.at(keyword, ""), v.below(keyword), nil)
			}
		case "contains", "not":
			v.sub(v.o.at(keyword, ""), v.n.at(keyword, ""), v.below(keyword), nil)
		case "dependentSchemas":
			v.entries(keyword, func(name string, _, n *schema) {
				class := Tightened
				if n == nil {
					class = Loosened
				}
				v.note(class, n == nil, keyword, "comes or goes", name)
			})
		case "allOf", "anyOf", "oneOf":
			v.branches(keyword)
		case "if", "then", "else":
			v.condition(keyword)
		default:
			if direction := bounds[keyword]; direction != 0 {
				v.bound(keyword, direction, was, is, isOld, isNew)
			}
		}
	}
	v.values()
}

// comesOrGoes reports a keyword that is one more condition, or one less.
func (v *visit) comesOrGoes(keyword string, added bool) {
	if added {
		v.turn(Tightened, false, keyword, differs(nil, v.n.object()[keyword], false, true))
	} else {
		_, isNew := v.n.object()[keyword]
		v.turn(Loosened, !isNew, keyword, differs(v.o.object()[keyword], v.n.object()[keyword], true, isNew))
	}
}

// weighs reports a keyword that is narrower, wider, both if it is equal, or neither.
func (v *visit) weighs(narrower, wider, gone bool, keyword, message string) {
	switch {
	case narrower && wider:
	case narrower:
		v.turn(Tightened, gone, keyword, message)
	case wider:
		v.turn(Loosened, gone, keyword, message)
	default:
		v.note(Changed, false, keyword, message)
	}
}

// numbers returns the values of a keyword as numbers. If one has no number, it reports a difference.
func (v *visit) numbers(keyword string, was, is any) (o, n *big.Rat, ok bool) {
	old, _ := was.(json.Number)
	new, _ := is.(json.Number)
	if o, n = rational(old), rational(new); o != nil && n != nil {
		return o, n, true
	}
	if !v.same(was, is) {
		v.note(Changed, false, keyword, "is not a number on one side, or one with a long exponent")
	}
	return o, n, false
}

// typeSet returns the set of types, nil if one is not a type; a number is an integer or not.
func typeSet(v any) set {
	items, ok := v.([]any)
	if !ok {
		items = []any{v}
	}
	all := set{}
	for _, item := range items {
		switch item {
		case "number":
			all.add("integer")
			all.add("fraction")
		case "null", "boolean", "object", "array", "string", "integer":
			all.add(item)
		default:
			return nil
		}
	}
	return all
}

func (v *visit) types(was, is any) {
	o, n := typeSet(was), typeSet(is)
	if o != nil && n != nil {
		v.weighs(len(n.beyond(o)) == 0, len(o.beyond(n)) == 0, false, "type",
			fmt.Sprintf("is %s, was %s", listNames(is), listNames(was)))
	} else if !v.same(was, is) {
		v.note(Changed, false, "type", "is not a type on one side")
	}
}

// listNames spells a name or an array of names, of bounded length.
func listNames(v any) string {
	items, ok := v.([]any)
	if !ok {
		return show(v)
	}
	var shown []string
	for i, item := range items {
		if i == 8 {
			shown = append(shown, fmt.Sprintf("%d more", len(items)-i))
			break
		}
		shown = append(shown, show(item))
	}
	return strings.Join(shown, ", ")
}

// values compares enum and const as the one set that both allow.
func (v *visit) values() {
	o, n := v.valueSet(v.o), v.valueSet(v.n)
	if o == nil && n == nil {
		return
	}
	keyword, gone, constant := "", false, false
	for _, k := range []string{"const", "enum"} {
		was, isOld := v.o.object()[k]
		is, isNew := v.n.object()[k]
		constant = constant || k == "const" && (isOld || isNew)
		if isOld != isNew || isOld && !equal(was, is) {
			keyword, gone = k, !isNew
		}
	}
	switch {
	case o == nil:
		v.turn(Tightened, false, keyword, differs(nil, v.n.object()[keyword], false, true))
	case n == nil:
		v.turn(Loosened, true, keyword, differs(v.o.object()[keyword], nil, true, false))
	case constant && keyword != "" && strings.HasSuffix(v.n.draft(), "/draft-04/schema"):
		v.note(Changed, gone, keyword, "differs, and draft 4 has no const")
	default:
		lost, added := o.beyond(n), n.beyond(o)
		if len(lost)+len(added) > 0 {
			v.note(Enum, gone, keyword, valueChange(lost, added))
		}
	}
}

// valueChange names values of an enumeration that went and that came, up to a few.
func valueChange(lost, added []any) string {
	switch {
	case len(lost) == 0:
		return "also allows " + listNames(added)
	case len(added) == 0:
		return "no longer allows " + listNames(lost)
	}
	return fmt.Sprintf("allows %s, and no longer %s", listNames(added), listNames(lost))
}

// valueSet returns the values that enum and const allow; nil if the schema has neither.
func (v *visit) valueSet(s *schema) set {
	enum, isEnum := s.object()["enum"]
	constant, isConst := s.object()["const"]
	if !isEnum && !isConst {
		return nil
	}
	all := set{}
	if !v.spend((size(enum) + size(constant)) / 32) {
		return all
	}
	items, ok := enum.([]any)
	if isEnum && !ok {
		items = []any{enum}
	}
	for _, item := range items {
		all.add(item)
	}
	if !isConst {
		return all
	}
	only := set{}
	if only.add(constant); isEnum && len(only.beyond(all)) > 0 {
		return set{}
	}
	return only
}

func (v *visit) bound(keyword string, direction int, was, is any, isOld, isNew bool) {
	if strings.HasSuffix(keyword, "Contains") {
		_, old := v.o.object()["contains"]
		_, new := v.n.object()["contains"]
		if !old || !new { // it says nothing, or what it says comes or goes with contains
			return
		}
	}
	message := differs(was, is, isOld, isNew)
	if value, ok := implied[keyword]; ok && !isOld {
		was, isOld = value, true
	}
	if value, ok := implied[keyword]; ok && !isNew {
		is = value
	}
	gone := !isNew
	isNew = isNew || is != nil
	if !isOld || !isNew {
		v.comesOrGoes(keyword, isNew)
		return
	}
	if o, n, ok := v.numbers(keyword, was, is); ok {
		more := n.Cmp(o) * direction
		v.weighs(more <= 0, more >= 0, gone, keyword, message)
	}
}

func (v *visit) multipleOf(was, is any) {
	if o, n, ok := v.numbers("multipleOf", was, is); ok {
		v.weighs(isMultiple(n, o), isMultiple(o, n), false, "multipleOf", differs(was, is, true, true))
	}
}

// names compares two lists of required names, at the keyword required or at an entry of dependentRequired.
func (v *visit) names(keyword string, was, is any, isNew bool, under ...string) {
	o, oldOK := texts(was)
	n, newOK := texts(is)
	if was != nil && !oldOK || is != nil && !newOK {
		if !v.same(was, is) {
			v.note(Changed, !isNew, keyword, "is not a list of names on one side", under...)
		}
		return
	}
	if more := n.beyond(o); len(more) > 0 {
		v.note(Tightened, false, keyword, "names are new: "+listNames(more), under...)
	}
	if less := o.beyond(n); len(less) > 0 {
		v.note(Loosened, !isNew, keyword, "names are gone: "+listNames(less), under...)
	}
}

func (v *visit) dependentRequired(was, is any) {
	o, oldOK := was.(map[string]any)
	n, newOK := is.(map[string]any)
	if was != nil && !oldOK || is != nil && !newOK {
		if !v.same(was, is) {
			v.note(Changed, is == nil, "dependentRequired", "is not an object on one side")
		}
		return
	}
	for _, name := range eitherName(o, n) {
		_, isNew := n[name]
		v.names("dependentRequired", o[name], n[name], isNew, name)
	}
}

// branches compares the schemas of allOf, anyOf or oneOf: equal ones are paired first, the rest by order.
func (v *visit) branches(keyword string) {
	o, n := v.o.list(keyword), v.n.list(keyword)
	if !v.spend((size(v.o.object()[keyword]) + size(v.n.object()[keyword])) / 32) {
		return
	}
	equals := map[string][]*schema{}
	for _, s := range o {
		d := canonical(s.value)
		equals[d] = append(equals[d], s)
	}
	paired := map[*schema]bool{}
	walk := func(o, n *schema) {
		v.sub(o, n, spot{v.at.old.to(v.o, keyword, o.name), v.at.new.to(v.n, keyword, n.name)}, nil)
	}
	var more []*schema
	for _, s := range n {
		d := canonical(s.value)
		if same := equals[d]; len(same) > 0 {
			equals[d], paired[same[0]] = same[1:], true
			walk(same[0], s)
		} else {
			more = append(more, s)
		}
	}
	fewer := slices.DeleteFunc(o, func(s *schema) bool { return paired[s] })
	message := fmt.Sprintf("has %d branches, had %d", len(n), len(o))
	class := Tightened
	if keyword == "anyOf" {
		class = Loosened
	}
	switch {
	case len(more) == len(fewer):
		for i := range more {
			walk(fewer[i], more[i])
		}
	case keyword == "oneOf" || len(more) > 0 && len(fewer) > 0:
		v.note(Changed, false, keyword, message)
	case len(more) > 0:
		v.turn(class, false, keyword, message)
	default:
		v.turn(map[Class]Class{Tightened: Loosened, Loosened: Tightened}[class], false, keyword, message)
	}
}

// condition compares if, then or else, of which the last two say nothing without the first.
func (v *visit) condition(keyword string) {
	o, n := v.o.at(keyword, ""), v.n.at(keyword, "")
	if v.o.at("if", "") == nil {
		o = nil
	}
	if v.n.at("if", "") == nil {
		n = nil
	}
	switch {
	case o == nil && n == nil:
		v.idle(keyword)
	case o == nil && !n.bare():
		v.turn(Tightened, false, keyword, "is new")
	case n == nil && !o.bare():
		_, still := v.n.object()[keyword]
		v.note(Changed, !still, keyword, "no longer says anything")
	default: // one that is absent is true
		v.sub(o, n, v.below(keyword), nil)
	}
}

// fields compares the entries of properties.
func (v *visit) fields() {
	required, _ := texts(v.n.object()["required"])
	var governing []*schema
	v.entries("properties", func(name string, o, n *schema) {
		if n == nil {
			v.note(Removed, true, "properties", "field is gone", name)
			return
		}
		if governing == nil {
			governing = v.inPlace(v.o.holder("properties"))
		}
		closed := v.o.at("additionalProperties", "")
		if closed == nil {
			closed = v.o.at("unevaluatedProperties", "")
		}
		class, why := v.beyond(n)
		switch by := v.governor(name, governing); {
		case required.has(name) && closed != nil && !closed.bare():
			v.note(Changed, false, "properties",
				"field is new and required, in an object that refused or constrained it", name)
		case required.has(name):
			v.note(Tightened, false, "properties", "field is new and required", name)
		case by != "":
			v.note(Changed, false, "properties", "field is new, but "+by+" governed that name", name)
		case n.never():
			v.note(Tightened, false, "properties", "field is new and must not be there", name)
		case class != "":
			v.note(class, false, "properties", "field "+why+" is new", name)
		case closed != nil && closed.never():
			v.note(Additive, false, "properties", "optional field is new in a closed object", name)
		default:
			v.note(Additive, false, "properties",
				"optional field is new in an open object, where a member of that name was free and now is constrained",
				name)
		}
	})
}

// governor names what of the schemas, the first of which is the object itself, governed a name; "" where nothing did.
func (v *visit) governor(name string, schemas []*schema) string {
	for i, s := range schemas {
		if !v.spend(1) {
			return "something"
		}
		object := s.object()
		if properties, _ := object["properties"].(map[string]any); i > 0 && properties != nil {
			if _, ok := properties[name]; ok {
				return quote(s.place() + "/properties")
			}
		}
		patterns, _ := object["patternProperties"].(map[string]any)
		for _, pattern := range sortedNames(patterns) {
			if v.matches(pattern, name) {
				return quote(s.place() + "/patternProperties")
			}
		}
		if required, _ := texts(object["required"]); required.has(name) {
			return quote(s.place() + "/required")
		}
		for _, keyword := range []string{"dependentRequired", "dependencies"} {
			dependent, _ := object[keyword].(map[string]any)
			for _, key := range sortedNames(dependent) {
				if names, _ := texts(dependent[key]); key == name || names.has(name) {
					return quote(s.place() + "/" + keyword)
				}
			}
		}
		if s.at("dependentSchemas", name) != nil {
			return quote(s.place() + "/dependentSchemas")
		}
		values, _ := object["enum"].([]any)
		if !v.spend(len(values) / 8) {
			return "something"
		}
		for _, value := range append(slices.Clip(values), object["const"]) {
			if allowed, _ := value.(map[string]any); allowed != nil {
				if _, ok := allowed[name]; ok {
					return quote(s.place()) + ", by a value that it allows,"
				}
			}
		}
		for _, keyword := range []string{"additionalProperties", "unevaluatedProperties"} {
			if sub := s.at(keyword, ""); sub != nil && !sub.bare() && !sub.never() {
				return quote(s.place() + "/" + keyword)
			}
		}
	}
	return ""
}

// maxName is the length of a name that is matched with patterns. For a longer name the result is unknown.
const maxName = 1000

// matches reports whether a pattern matches a name, or may.
func (c *Comparison) matches(pattern, name string) bool {
	if len(name) > maxName || !c.spend(20+4*len(name)) {
		return true
	}
	match, ok := c.patterns[pattern]
	if !ok {
		if !c.spend(1000) {
			return true
		}
		match, _ = jsonschema.Pattern(pattern)
		c.patterns[pattern] = match
	}
	return match == nil || match(name)
}
