package schemadiff

import (
	"cmp"
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
		o, n := v.o.at(keyword, ""), v.n.at(keyword, "")
		if isOld != isNew && v.in&unevaluated != 0 && evaluating[keyword] {
			v.note(Changed, keyword, "comes or goes where an unevaluated keyword sees what it evaluates")
		}
		if isOld != isNew && conditions[keyword] {
			v.weighs(isNew, isOld, keyword, v.differs(keyword))
			continue
		}
		switch keyword {
		case "$ref", "$dynamicRef":
			v.reference(keyword)
		case "type":
			o, n := typeSet(was), typeSet(is)
			v.weighs(len(n.beyond(o)) == 0, len(o.beyond(n)) == 0, keyword,
				fmt.Sprintf("is %s, was %s", listNames(is), listNames(was)))
		case "multipleOf":
			v.numbers(keyword, was, is, func(o, n *big.Rat) (bool, bool) { return isMultiple(n, o), isMultiple(o, n) })
		case "pattern", "format":
			if !v.same(was, is) {
				v.note(Changed, keyword, v.differs(keyword))
			}
		case "uniqueItems":
			v.weighs(was != true || is == true, was == true || is != true, keyword, v.differs(keyword))
		case "required":
			v.names(keyword, was, is)
		case "dependentRequired":
			o, old := was.(map[string]any)
			n, new := is.(map[string]any)
			if !old && !new {
				v.names(keyword, was, is)
			}
			for _, name := range eitherName(o, n) {
				v.names(keyword, o[name], n[name], name)
			}
		case "properties":
			v.fields()
		case "patternProperties", "dependencies":
			v.entries(keyword, func(name string, _, n *schema) {
				v.note(Changed, keyword, "comes or goes, and with it what governs names", name)
			})
		case "additionalProperties", "unevaluatedProperties", "items", "unevaluatedItems", "propertyNames",
			"prefixItems":
			old, new := v.o.list(keyword), v.n.list(keyword)
			switch {
			case v.o.form(keyword) != listed && v.n.form(keyword) != listed:
				v.sub(o, n, v.below(keyword), v)
			case len(old) != len(new) || v.o.form(keyword) != v.n.form(keyword):
				v.note(Changed, keyword, fmt.Sprintf("has %d schemas, had %d", len(new), len(old)))
			}
			for i := range min(len(old), len(new)) {
				v.sub(old[i], new[i], v.below(keyword, strconv.Itoa(i)), nil)
			}
		case "additionalItems": // of older drafts; references may lead to what differs
			if v.same(was, is) {
				v.sub(o, n, v.below(keyword), nil)
			}
		case "contains", "not":
			v.sub(o, n, v.below(keyword), nil)
		case "dependentSchemas":
			v.entries(keyword, func(name string, _, n *schema) {
				class := Tightened
				if n == nil {
					class = Loosened
				}
				v.note(class, keyword, "comes or goes", name)
			})
		case "allOf", "anyOf", "oneOf":
			v.branches(keyword)
		case "if", "then", "else":
			v.condition(keyword)
		default:
			v.bound(keyword, was, is)
		}
	}
	v.values()
}

// weighs reports a keyword that is narrower, wider, both if it is equal, or neither.
func (v *visit) weighs(narrower, wider bool, keyword, message string) {
	switch {
	case narrower && wider:
	case narrower:
		v.turn(Tightened, keyword, message)
	case wider:
		v.turn(Loosened, keyword, message)
	default:
		v.note(Changed, keyword, message)
	}
}

// numbers weighs the numbers of a keyword.
func (v *visit) numbers(keyword string, was, is any, weigh func(o, n *big.Rat) (narrower, wider bool)) {
	old, _ := was.(json.Number)
	new, _ := is.(json.Number)
	if o, n := rational(old), rational(new); o != nil && n != nil {
		narrower, wider := weigh(o, n)
		v.weighs(narrower, wider, keyword, v.differs(keyword))
	} else if !v.same(was, is) {
		v.note(Changed, keyword, "is not a number on one side, or one with a long exponent")
	}
}

// typeSet returns the set of types; a number is an integer or not. What is not a type is only equal to itself.
func typeSet(v any) set {
	items, ok := v.([]any)
	if !ok {
		items = []any{v}
	}
	all := set{}
	for _, item := range items {
		if item == "number" {
			all.add("integer")
			item = "fraction"
		}
		all.add(item)
	}
	return all
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
	keyword := ""
	for _, k := range []string{"const", "enum"} {
		was, isOld := v.o.object()[k]
		is, isNew := v.n.object()[k]
		if isOld != isNew || isOld && !v.same(was, is) {
			keyword = k
		}
	}
	switch {
	case o == nil || n == nil:
		v.weighs(o == nil, n == nil, keyword, v.differs(keyword))
	default:
		if lost, added := o.beyond(n), n.beyond(o); len(lost)+len(added) > 0 {
			v.note(Enum, keyword, valueChange(lost, added))
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
	if !v.spend(len(canonical([]any{enum, constant})) / 32) {
		return all
	}
	items, ok := enum.([]any)
	if isEnum && !ok {
		items = []any{enum}
	}
	for _, item := range items {
		all.add(item)
	}
	switch {
	case !isConst:
		return all
	case s.unknownDraft(): // it may not know const
		all["const "+canonical(constant)] = constant
		return all
	}
	only := set{}
	if only.add(constant); isEnum && len(only.beyond(all)) > 0 {
		return set{}
	}
	return only
}

// bound compares a keyword that is a bound. One that is absent may be implied.
func (v *visit) bound(keyword string, was, is any) {
	direction, without := bounds[keyword], v.o.at("contains", "") == nil || v.n.at("contains", "") == nil
	if direction == 0 || without && strings.HasSuffix(keyword, "Contains") {
		return // such a bound says nothing, or comes or goes with contains
	}
	if value, ok := implied[keyword]; ok {
		was, is = cmp.Or[any](was, value), cmp.Or[any](is, value)
	}
	if was == nil || is == nil {
		v.weighs(was == nil, is == nil, keyword, v.differs(keyword))
		return
	}
	v.numbers(keyword, was, is, func(o, n *big.Rat) (narrower, wider bool) {
		more := n.Cmp(o) * direction
		return more <= 0, more >= 0
	})
}

// names compares two lists of required names, at the keyword required or at an entry of dependentRequired.
func (v *visit) names(keyword string, was, is any, under ...string) {
	o, oldOK := texts(was)
	n, newOK := texts(is)
	more, less := n.beyond(o), o.beyond(n)
	switch {
	case was != nil && !oldOK || is != nil && !newOK:
		if !v.same(was, is) {
			v.note(Changed, keyword, "is not a list of names on one side", under...)
		}
		return
	case len(more) > 0:
		v.note(Tightened, keyword, "names are new: "+listNames(more), under...)
	}
	if len(less) > 0 {
		v.note(Loosened, keyword, "names are gone: "+listNames(less), under...)
	}
}

// branches compares the schemas of allOf, anyOf or oneOf: equal ones are paired first, the rest by order.
func (v *visit) branches(keyword string) {
	o, n := v.o.list(keyword), v.n.list(keyword)
	walk := func(o, n *schema) {
		v.sub(o, n, spot{v.at.old.to(v.o, keyword, o.name), v.at.new.to(v.n, keyword, n.name)}, nil)
	}
	equals := map[string][]*schema{}
	for _, s := range o {
		key := canonical(s.value)
		equals[key] = append(equals[key], s)
		v.spend(len(key) / 8)
	}
	paired := map[*schema]bool{}
	isPaired := func(s *schema) bool { return paired[s] }
	for _, s := range n {
		key := canonical(s.value)
		if same := equals[key]; v.spend(len(key)/8) && len(same) > 0 {
			equals[key] = same[1:]
			paired[same[0]], paired[s] = true, true
			walk(same[0], s)
		}
	}
	message := fmt.Sprintf("has %d branches, had %d", len(n), len(o))
	fewer, more := slices.DeleteFunc(o, isPaired), slices.DeleteFunc(n, isPaired)
	switch {
	case len(more) == len(fewer):
		for i := range more {
			walk(fewer[i], more[i])
		}
	case keyword == "oneOf" || len(more) > 0 && len(fewer) > 0:
		v.note(Changed, keyword, message)
	default: // one more is narrower in allOf, wider in anyOf
		narrower := (len(more) > 0) == (keyword == "allOf")
		v.weighs(narrower, !narrower, keyword, message)
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
		v.turn(Tightened, keyword, "is new")
	case n == nil && !o.bare():
		v.note(Changed, keyword, "no longer says anything")
	default: // one that is absent is true
		v.sub(o, n, v.below(keyword), nil)
	}
}

// fields compares the entries of properties.
func (v *visit) fields() {
	required, _ := texts(v.n.object()["required"])
	closed := v.o.at("additionalProperties", "")
	if closed == nil {
		closed = v.o.at("unevaluatedProperties", "")
	}
	var governing []*schema
	v.entries("properties", func(name string, _, n *schema) {
		if n == nil {
			v.note(Removed, "properties", "field is gone", name)
			return
		}
		if governing == nil {
			governing = v.inPlace(v.o.holder("properties"))
		}
		class, what := v.beyond(n)
		switch by := v.governor(name, governing); {
		case required.has(name) && closed != nil && !closed.bare():
			class, what = Changed, "is new and required, in an object that refused or constrained it"
		case required.has(name):
			class, what = Tightened, "is new and required"
		case by != "":
			class, what = Changed, "is new, but "+by+" governed that name"
		case n.never():
			class, what = Tightened, "is new and must not be there"
		case class != "":
		case closed != nil && closed.never():
			class, what = Additive, "is new and optional, in a closed object"
		default:
			class = Additive
			what = "is new and optional, in an open object, where a member of that name was free and now is constrained"
		}
		v.note(class, "properties", "field "+what, name)
	})
}

// governor names what of the schemas, the first of which is the object itself, governed a name; "" where nothing did.
func (v *visit) governor(name string, schemas []*schema) string {
	has := func(value any) bool {
		members, _ := value.(map[string]any)
		_, ok := members[name]
		return ok
	}
	for i, s := range schemas {
		object := s.object()
		values, _ := object["enum"].([]any)
		if !v.spend(1 + len(values)/8) {
			return "something"
		}
		if slices.ContainsFunc(values, has) || has(object["const"]) {
			return quote(s.place()) + ", by a value that it allows,"
		}
		for _, keyword := range sortedNames(object) {
			members, _ := object[keyword].(map[string]any)
			governs := false
			switch keyword {
			case "properties", "dependentSchemas":
				governs = has(members) && (i > 0 || keyword != "properties")
			case "patternProperties":
				governs = slices.ContainsFunc(sortedNames(members), func(p string) bool { return v.matches(p, name) })
			case "required":
				names, _ := texts(object[keyword])
				governs = names.has(name)
			case "dependentRequired", "dependencies":
				governs = has(members) || slices.ContainsFunc(sortedNames(members), func(key string) bool {
					names, _ := texts(members[key])
					return names.has(name)
				})
			case "additionalProperties", "unevaluatedProperties":
				sub := s.at(keyword, "")
				governs = !sub.bare() && !sub.never()
			}
			if governs {
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
