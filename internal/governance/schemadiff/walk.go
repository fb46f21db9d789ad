package schemadiff

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/governance/page"
)

// visit is the comparison of two schema objects.
type visit struct {
	*Comparison
	o, n   *schema
	at     spot
	in     setting
	direct []direct // reported once it is known whether all point one way
}

// direct is a difference that makes the object as a whole wider or narrower.
type direct struct {
	class            Class // Tightened or Loosened, as if in were positive
	in               setting
	keyword, message string
}

// walk reports the differences of two schemas of one place. Those that make a schema as a whole wider or narrower go to
// its holder, if there is one, which weighs them with its own keywords.
func (c *Comparison) walk(o, n *schema, at spot, in setting, holder *visit) {
	if !c.spend(1 + (len(o.object())+len(n.object()))/4) {
		return
	}
	if !at.followed() {
		in |= c.before[o] | c.after[n]
	}
	if in&undirected == 0 {
		in |= positive
	}
	v := &visit{Comparison: c, o: o, n: n, at: at, in: in}
	if !o.wellFormed() || !n.wellFormed() {
		if !v.same(o.value, n.value) {
			v.note(Changed, "", "is not a schema on one side")
		}
		return
	}
	compared := v.standIns()
	if v.o.seesEvaluated() || v.n.seesEvaluated() {
		v.in |= unevaluated
	}
	if v.o.unknownDraft() && v.n.unknownDraft() {
		v.in |= undirected
	}
	class := v.asWhole()
	switch {
	case !compared:
	case v.neverAlike():
		if !v.same(identifiersIn(v.o.value, false), identifiersIn(v.n.value, false)) {
			v.note(Identity, "", "holds other identifiers")
		}
	case class != "":
		v.whole(class, holder)
	default:
		v.keywords()
	}
	for _, keyword := range v.either() {
		v.mark(keyword)
	}
	v.settle()
}

// standIns replaces each of the two schemas by the one that it consists of, if the other does not consist of one: by
// the one branch of allOf, or by what a reference leads to. It returns false if such a reference leads to no schema.
func (v *visit) standIns() bool {
	for {
		before := [2]*schema{v.o, v.n}
		if v.o = v.standIn(v.old, v.o, v.n, v.before); v.o == before[0] {
			v.n = v.standIn(v.new, v.n, v.o, v.after)
		}
		switch {
		case v.o == nil || v.n == nil:
			v.o, v.n = before[0], before[1]
			return false
		case v.o == before[0] && v.n == before[1]:
			return true
		}
	}
}

// standIn returns the schema that replaces s next to other: s itself if there is no such schema, nil if a reference
// leads to none.
func (v *visit) standIn(t *Tree, s, other *schema, settings map[*schema]setting) *schema {
	keyword := s.only()
	if keyword != "allOf" && keyword != "$ref" && keyword != "$dynamicRef" {
		return s
	}
	gone, inner := s == v.o, s.sole()
	switch to, isReference := t.references(s)[keyword]; {
	case inner != nil:
		_, within := inner.object()["allOf"]
		_, beside := other.object()["allOf"]
		if other.sole() != nil || beside && !within {
			return s // the branches are compared
		}
		v.in |= settings[inner]
	case !isReference || len(v.old.references(v.o))+len(v.new.references(v.n)) > 1 || other.sole() != nil ||
		v.asWhole() != "" || v.neverAlike():
		return s
	case to == nil:
		v.note(Changed, keyword, "leads to nothing in the tree, so that it cannot be compared")
		return nil
	default:
		for x := s; x != nil; x = x.outer {
			if x == to || x.inner == to || !v.spend(1) {
				v.note(Changed, keyword, "leads back to itself, and so to no schema")
				return nil
			}
		}
		inner = to
	}
	if inner.value == false || !inner.wellFormed() || inner.otherDraft() != s.otherDraft() {
		return s
	}
	all := s.replaced(keyword, inner)
	for _, name := range sortedNames(inner.object()) {
		if _, twice := s.object()[name]; twice && name != keyword && all.holder(name) != inner {
			side := *v
			if gone {
				side.o, side.at.old = inner, v.at.old.inside(all)
			} else {
				side.n, side.at.new = inner, v.at.new.inside(all)
			}
			if !identifiers[name] && !side.defines(name) {
				side.mark(name)
			}
		}
	}
	return all
}

// neverAlike reports whether neither schema allows anything, and one of them is false.
func (v *visit) neverAlike() bool {
	return v.o.never() && v.n.never() && (v.o.value == false || v.n.value == false)
}

func (s *schema) wellFormed() bool {
	_, isBool := s.value.(bool)
	return isBool || s.object() != nil
}

// same reports whether two values are equal.
func (c *Comparison) same(a, b any) bool {
	if a, isText := a.(string); isText {
		return a == b
	}
	x, y := canonical(a), canonical(b)
	return c.spend((len(x)+len(y))/128) && x == y
}

// below returns the spot of a keyword of the two, and of names below it.
func (v *visit) below(keyword string, names ...string) spot {
	return spot{v.at.old.to(v.o, keyword, names...), v.at.new.to(v.n, keyword, names...)}
}

// note adds a difference at the keyword, "" for the object itself, and at names below. The pointer is the old schema's
// if the keyword is gone. Differences of one class at one pointer are reported as the first of them and their number.
func (v *visit) note(class Class, keyword, message string, names ...string) {
	at := v.below(keyword, names...)
	value, isNew := v.n.object()[keyword]
	if members, ok := value.(map[string]any); ok && len(names) > 0 {
		_, isNew = members[names[0]]
	}
	gone := !isNew && keyword != ""
	d := Difference{Class: v.in.class(class), Gone: gone && !at.new.ref, Message: message}
	if d.Gone {
		d.Pointer = at.old.step.Pointer()
	} else {
		d.Pointer = at.new.step.Pointer()
	}
	side, leads := v.n, at.new.ref
	if gone || side == absent {
		side, leads = v.o, at.old.ref
	}
	if leads {
		target := side.holder(keyword)
		below := (place{}).to(target, keyword, names...).step.Pointer()
		d.Message = fmt.Sprintf("where it leads, at %s: %s", quote(target.place()+below), message)
	}
	if !v.spend(1 + (len(d.Pointer)+len(d.Message))/32) {
		return
	}
	if len(names) == 0 && keyword != "" {
		d.Old, d.New = v.o.object()[keyword], v.n.object()[keyword]
	}
	v.add(d)
}

func (c *Comparison) add(d Difference) {
	key := noted{d.Pointer, d.Class}
	if first, ok := c.index[key]; ok {
		c.more[first]++
		return
	}
	c.index[key] = len(c.noted)
	c.noted = append(c.noted, d)
}

// turn keeps a difference until all of the object are known.
func (v *visit) turn(class Class, keyword, message string) {
	v.direct = append(v.direct, direct{class, v.in, keyword, message})
}

// settle reports what was kept: as it is if all is wider or all is narrower, else as one difference that cannot be
// weighed.
func (v *visit) settle() {
	by := map[Class][]string{}
	for _, d := range v.direct {
		by[d.class] = append(by[d.class], d.keyword)
	}
	if len(by) > 1 {
		v.note(Changed, "", fmt.Sprintf("is wider by %s and narrower by %s, which cannot be weighed",
			strings.Join(by[Loosened], ", "), strings.Join(by[Tightened], ", ")))
		return
	}
	for _, d := range v.direct {
		in := v.in
		v.in = d.in
		v.note(d.class, d.keyword, d.message)
		v.in = in
	}
}

// either gives the keywords that one of the two has, in order.
func (v *visit) either() []string {
	return eitherName(v.o.object(), v.n.object())
}

// eitherName gives the names that one of two objects has, in order.
func eitherName(a, b map[string]any) []string {
	return slices.Compact(slices.Sorted(slices.Values(slices.AppendSeq(slices.Collect(maps.Keys(a)), maps.Keys(b)))))
}

var identifiers = map[string]bool{"$id": true, "$schema": true, "$vocabulary": true, "$anchor": true,
	"$dynamicAnchor": true}

// asserting are the keywords by which a schema can refuse a document.
var asserting = func() map[string]bool {
	all := map[string]bool{"$ref": true, "$dynamicRef": true, "type": true, "enum": true, "const": true,
		"multipleOf": true, "pattern": true, "format": true, "uniqueItems": true, "required": true,
		"dependentRequired": true,
		"dependencies":      true}
	for keyword := range forms {
		all[keyword] = keyword != "$defs"
	}
	for keyword := range bounds {
		all[keyword] = true
	}
	return all
}()

// annotations are the keywords that refuse nothing under any draft.
var annotations = map[string]bool{"title": true, "description": true, "default": true, "examples": true,
	"$comment": true, "deprecated": true, "readOnly": true, "writeOnly": true, "contentEncoding": true,
	"contentMediaType": true, "contentSchema": true}

// otherDraft reports whether s is of another draft than 2020-12, which is the one whose keywords are known here.
func (s *schema) otherDraft() bool {
	return !slices.Contains([]string{"", "https://json-schema.org/draft/2020-12/schema"}, s.draft())
}

// unknownDraft reports whether s is of a draft that is not compared keyword by keyword: one before draft 6, or 2019-09.
func (s *schema) unknownDraft() bool {
	return s.otherDraft() && !strings.Contains(s.draft(), "/draft-06/") && !strings.Contains(s.draft(), "/draft-07/")
}

// draft returns the nearest $schema at or above s without an empty fragment, or "".
func (s *schema) draft() string {
	for ; s != nil; s = s.parent {
		if uri, ok := s.object()["$schema"].(string); ok {
			return strings.TrimSuffix(uri, "#")
		}
	}
	return ""
}

// mark reports a keyword that refuses nothing, if it differs.
func (v *visit) mark(keyword string) {
	was, isOld := v.o.object()[keyword]
	is, isNew := v.n.object()[keyword]
	switch {
	case v.defines(keyword):
		if !v.at.followed() {
			v.definitions(keyword)
		}
	case asserting[keyword], isOld == isNew && v.same(was, is):
	case keyword == "$schema" && isOld && isNew && v.o.draft() == v.n.draft():
		v.note(Note, keyword, v.differs(keyword))
	case identifiers[keyword]:
		v.note(Identity, keyword, v.differs(keyword))
	case keyword == "title", keyword == "description":
		v.wording(keyword, was, is)
	case keyword == "default":
		v.note(Meaning, keyword, v.differs(keyword)+"; an absent member means something else")
	case keyword == "readOnly", keyword == "writeOnly":
		class := Meaning
		if (was == nil || was == false) && (is == nil || is == false) {
			class = Note
		}
		v.note(class, keyword, v.differs(keyword))
	case !annotations[keyword] && (v.o.otherDraft() || v.n.otherDraft()):
		v.note(Changed, keyword, "differs; draft 2020-12 has no such keyword, but the draft that $schema "+
			"names may")
	case (keyword == "contentSchema" || !annotations[keyword]) && v.idle(keyword):
	case strings.HasPrefix(keyword, "content") && annotations[keyword]:
		v.note(Meaning, keyword, v.differs(keyword)+"; a text is decoded as something else")
	default:
		v.note(Note, keyword, v.differs(keyword))
	}
}

// keyWords returns the words of RFC 2119 in a title or description.
func keyWords(text string) []string { return page.KeyWords(page.Plain(text)) }

// wording reports a changed title or description. It changes its meaning if it has other key words.
func (v *visit) wording(keyword string, was, is any) {
	o, old := was.(string)
	n, new := is.(string)
	message := v.differs(keyword)
	switch {
	case was != nil && !old || is != nil && !new: // not an annotation of any draft
		v.note(Changed, keyword, message)
	case !v.spend((len(o) + len(n)) / 32):
	case slices.Equal(keyWords(o), keyWords(n)):
		v.note(Note, keyword, message)
	case was == nil && len(v.direct) > 0: // it is new next to a rule that is reported
		v.note(Note, keyword, message)
	default:
		v.note(Meaning, keyword, message+"; its key words differ")
	}
}

// holdsNamed reports whether a keyword, of any draft, holds schemas by name.
func holdsNamed(keyword string) bool {
	return forms[keyword] == named || keyword == "definitions" || keyword == "dependencies"
}

// identifiersIn returns the identifiers of schemas in a value that a keyword holds.
func identifiersIn(v any, byName bool) (found []any) {
	objects(v, position{byName: byName}, func(object map[string]any, _ position) {
		for _, keyword := range []string{"$id", "$anchor", "$dynamicAnchor"} {
			if text, ok := object[keyword].(string); ok {
				found = append(found, keyword, text)
			}
		}
	})
	return found
}

// differs words the difference of a keyword.
func (v *visit) differs(keyword string) string {
	was, isOld := v.o.object()[keyword]
	is, isNew := v.n.object()[keyword]
	switch {
	case !isOld:
		return "is new: " + show(is)
	case !isNew:
		return "is gone: " + show(was)
	}
	return fmt.Sprintf("is %s, was %s", show(is), show(was))
}

// bare reports whether s is true, or an object that has no keyword but such as refuse nothing.
func (s *schema) bare() bool {
	if s.isBare == nil && s.value != true {
		is := s.object() != nil && !slices.ContainsFunc(slices.Collect(maps.Keys(s.object())), s.refuses)
		s.isBare = &is
	}
	return s.value == true || *s.isBare
}

// refuses reports whether a keyword of s may refuse something.
func (s *schema) refuses(keyword string) bool {
	switch keyword {
	case "additionalProperties", "items", "propertyNames", "unevaluatedItems", "unevaluatedProperties":
		sub := s.at(keyword, "")
		return sub == nil || !sub.bare()
	case "uniqueItems":
		return s.object()[keyword] == true
	case "then", "else":
		return s.at("if", "") != nil
	case "allOf":
		if branches := s.list(keyword); len(branches) == 1 {
			return !branches[0].bare()
		}
	}
	return asserting[keyword]
}

// never reports whether s is false, or an object that says as much.
func (s *schema) never() bool {
	not := s.at("not", "")
	return s.value == false || not != nil && not.bare() || slices.ContainsFunc(s.list("allOf"), (*schema).never)
}

// asWhole returns the class of a schema that becomes true or false, or ceases to be; "" for any other.
func (v *visit) asWhole() Class {
	o, n := v.n.never(), v.o.never()
	if !o && !n {
		o, n = v.o.bare(), v.n.bare()
	}
	switch {
	case o == n:
		return ""
	case o:
		return Tightened
	}
	return Loosened
}

// whole reports a schema that changes as a whole: its fields by name, all else as one.
func (v *visit) whole(class Class, holder *visit) {
	switch {
	case v.o.never() || v.n.never():
	case !v.o.refusesBesideFields() && !v.n.refusesBesideFields():
		v.keywords()
		return
	default:
		v.fields()
	}
	message := fmt.Sprintf("as a whole, %s, before %s", summary(v.n), summary(v.o))
	if holder == nil {
		v.note(class, "", message)
		return
	}
	keyword := cmp.Or(v.n.keyword, v.o.keyword) // one may be absent
	holder.direct = append(holder.direct, direct{class, v.in, keyword, message})
}

// refusesBesideFields reports whether s may refuse something by a keyword other than properties.
func (s *schema) refusesBesideFields() bool {
	for keyword := range s.object() {
		if keyword != "properties" && s.refuses(keyword) {
			return true
		}
	}
	return false
}

func summary(s *schema) string {
	switch {
	case s.never():
		return "nothing is allowed"
	case s.bare():
		return "anything is allowed"
	}
	return "some values are refused"
}

// follow compares two schemas to which references lead. Each pair is compared once.
func (v *visit) follow(o, n *schema, at spot) {
	key := pair{o, n, v.in}
	if v.walked[key] {
		return
	}
	v.walked[key] = true
	if v.depth++; v.depth > maxDepth {
		v.left = -1
	}
	v.walk(o, n, at, v.in, nil)
	v.depth--
}

// reference compares what a reference leads to, where both sides have it.
func (v *visit) reference(keyword string) {
	was, is := v.o.object()[keyword], v.n.object()[keyword]
	from, _ := was.(string)
	to, _ := is.(string)
	o, n := v.old.references(v.o)[keyword], v.new.references(v.n)[keyword]
	message := v.differs(keyword)
	switch {
	case was != is && document(v.o, from) != document(v.n, to) && !(local(from) && local(to)):
		v.note(Identity, keyword, fmt.Sprintf("%s: another document, %s instead of %s", message,
			quote(document(v.n, to)), quote(document(v.o, from))))
		return
	case o == nil && n == nil && fragment(from) == fragment(to):
		return // out of both trees
	case o == nil || n == nil:
		v.note(Changed, keyword, message+", and does not lead to a schema of the tree on both sides")
		return
	case keyword == "$dynamicRef" && was != is && (v.old.dynamical(o) || v.new.dynamical(n)):
		v.note(Changed, keyword, message+", and where it leads depends on the way to it")
		return
	case v.atOwnPlace(o, n):
		return
	}
	at := v.below(keyword)
	at.old.ref, at.new.ref = true, true
	v.follow(o, n, at)
}

// document returns the absolute URI of a reference in s, without its fragment.
func document(s *schema, reference string) string {
	uri, _, _ := strings.Cut(reference, "#")
	return Absolute(s.resource.id, uri)
}

// local reports whether a reference leads into the document that has it.
func local(reference string) bool { return reference == "" || reference[0] == '#' }

func fragment(reference string) string {
	_, fragment, _ := strings.Cut(reference, "#")
	return fragment
}

// dynamical reports whether s is one of several subschemas with its dynamic anchor.
func (t *Tree) dynamical(s *schema) bool {
	name, ok := s.object()["$dynamicAnchor"].(string)
	return ok && len(t.dynamic[name]) > 1
}

// atOwnPlace reports whether two targets meet where they stand, in the walk through their files.
func (c *Comparison) atOwnPlace(o, n *schema) bool {
	old, ok := c.oldOf[n.file.path]
	return ok && old == o.file.path && o.counterpart(n)
}

// defines reports whether a keyword holds definitions on both sides: $defs, and definitions up to draft 7.
func (v *visit) defines(keyword string) bool { return v.o.defines(keyword) && v.n.defines(keyword) }

func (s *schema) defines(keyword string) bool {
	return keyword == "$defs" || keyword == "definitions" && strings.Contains(s.draft(), "json-schema.org/draft-0")
}

// definitions compares the entries of a keyword that holds definitions.
func (v *visit) definitions(keyword string) {
	v.entries(keyword, func(name string, o, n *schema) {
		if o != nil {
			v.note(Removed, keyword, "definition is gone", name)
			return
		}
		class, what := v.beyond(n)
		v.note(cmp.Or(class, Note), keyword, "definition "+what, name)
	})
}

// beyond returns the class of a new subschema that affects more than its own place, and what it is. The class is
// Identity if it holds an identifier, by which references elsewhere may lead to it, and Changed if it refers to a
// document that is not in the tree, without which the whole does not compile. It is "" in all other cases.
func (v *visit) beyond(s *schema) (class Class, what string) {
	if !v.spend(len(canonical(s.value))/64) || len(identifiersIn(s.value, false)) > 0 {
		return Identity, "with an identifier is new"
	}
	if v.leadsOut(s) {
		return Changed, "with a reference that leads out of the tree is new"
	}
	return "", "is new"
}

// leadsOut reports whether a reference in a new subschema, or in what it leads to and the old tree lacks, leads out of
// the tree.
func (v *visit) leadsOut(s *schema) bool {
	seen := map[*schema]bool{s: true}
	for queue := []*schema{s}; len(queue) > 0; queue = queue[1:] {
		next := slices.Clone(queue[0].each())
		for keyword, target := range v.new.references(queue[0]) {
			switch {
			case target == nil && v.new.outside(queue[0], queue[0].object()[keyword].(string)):
				return true
			case target != nil && (!v.old.Reaches(target.file.path) || target.unpaired):
				next = append(next, target)
			}
		}
		for _, s := range next {
			if !seen[s] {
				seen[s] = true
				queue = append(queue, s)
			}
		}
		if !v.spend(1) {
			return true
		}
	}
	return false
}

// idle reports a keyword whose schema is applied to nothing, if the identifiers in it differ: references elsewhere may
// lead to them.
func (v *visit) idle(keyword string) bool {
	was, is := v.o.object()[keyword], v.n.object()[keyword]
	if byName := holdsNamed(keyword); v.same(identifiersIn(was, byName), identifiersIn(is, byName)) {
		return false
	}
	v.note(Identity, keyword, "holds other identifiers")
	return true
}

// entries walks the members that both sides have under a keyword, and gives the others to one, with nil for the side
// that has none.
func (v *visit) entries(keyword string, one func(name string, o, n *schema)) {
	was, _ := v.o.object()[keyword].(map[string]any)
	is, _ := v.n.object()[keyword].(map[string]any)
	for _, name := range eitherName(was, is) {
		o, n := v.o.at(keyword, name), v.n.at(keyword, name)
		if o == nil || n == nil {
			one(name, o, n)
			continue
		}
		v.sub(o, n, v.below(keyword, name), nil)
	}
}

// sub walks two subschemas of the object. A side that is nil says what an absent keyword does.
func (v *visit) sub(o, n *schema, at spot, holder *visit) {
	in := setting(0)
	if o == nil {
		o = absent
		if n != nil { // as absent, but it has a place
			holder := v.o.holder(n.keyword)
			o = &schema{file: holder.file, parent: holder, keyword: n.keyword, value: true, resource: holder.resource}
		}
	} else {
		in |= v.in.of(v.o, o)
	}
	if n == nil {
		n = absent
	} else {
		in |= v.in.of(v.n, n)
	}
	v.walk(o, n, at, in, holder)
}

// show spells a value of bounded length.
func show(v any) string {
	switch v := v.(type) {
	case map[string]any:
		return "an object"
	case []any:
		return "an array"
	case string:
		return quote(v)
	case nil:
		return "null"
	}
	return fmt.Sprint(v)
}

// quote spells foreign text in one line of bounded length.
func quote(s string) string {
	return strconv.QuoteToGraphic(plain.Cut(s, 80))
}
