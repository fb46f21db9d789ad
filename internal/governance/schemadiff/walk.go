package schemadiff

import (
	"encoding/json"
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

	texts []string // title or description that is new with a requirement, until it is known what else differs
	inner *schema  // the one of the two that a schema within it represents: a branch, or a reference's target
}

// direct is a difference that makes the object as a whole wider or narrower.
type direct struct {
	class   Class // Tightened or Loosened, as if in were positive
	in      setting
	keyword string
	gone    bool
	message string
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
	if o.seesEvaluated() || n.seesEvaluated() {
		in |= unevaluated
	}
	v := &visit{Comparison: c, o: o, n: n, at: at, in: in}
	if !o.wellFormed() || !n.wellFormed() {
		if !v.same(o.value, n.value) {
			v.note(Changed, false, "", "is not a schema on one side")
		}
		return
	}
	if v.branch(holder) {
		return
	}
	class := v.asWhole()
	never := o.never() && n.never() && (o.value == false || n.value == false)
	var reference *schema
	if class == "" && !never {
		reference = v.onlyReference()
	}
	v.marks()
	if in&unevaluated != 0 {
		v.evaluators()
	}
	switch {
	case never:
		if !v.same(identifiersIn(o.value, false), identifiersIn(n.value, false)) {
			v.note(Identity, false, "", "holds other identifiers")
		}
	case class != "":
		v.whole(class, holder)
	case reference != nil:
		v.followReference(reference)
	default:
		v.keywords()
	}
	v.olderKeywords()
	v.settle()
}

// olderKeywords walks what keywords of older drafts hold alike on both sides: references may lead to what differs.
func (v *visit) olderKeywords() {
	for _, keyword := range []string{"additionalItems", "dependencies", "items"} {
		was := v.o.object()[keyword]
		if was == nil || v.o.form(keyword) == forms[keyword] || !v.same(was, v.n.object()[keyword]) {
			continue
		}
		for _, sub := range v.o.each() {
			at := v.at.below(keyword)
			if keyword != "additionalItems" {
				at = at.below(sub.name)
			}
			if sub.keyword == keyword {
				v.sub(sub, v.n.at(keyword, sub.name), at, nil)
			}
		}
	}
}

// branch walks the one branch of allOf and the schema that says the same without allOf.
func (v *visit) branch(holder *visit) bool {
	o, n := v.o.sole(), v.n.sole()
	// Next to another allOf, the branch represents its holder only if it has an allOf itself: else the branches are
	// compared.
	follows := func(inner, other *schema) bool {
		_, within := inner.object()["allOf"]
		_, beside := other.object()["allOf"]
		return within || !beside
	}
	at, tokens := v.at, []string{"allOf", "0"}
	switch {
	case o != nil && n == nil && follows(o, v.n):
		v.inner, n, at = v.o, v.n, at.branch(tokens, nil)
	case n != nil && o == nil && follows(n, v.o):
		v.inner, o, at = v.n, v.o, at.branch(nil, tokens)
	default:
		return false
	}
	v.marks()
	v.settle()
	v.walk(o, n, at.inside(v.inner, v.inner == v.n), v.in, holder)
	return true
}

// elsewhere reports whether a keyword is compared around or within the schema that represents its holder, and not here.
func (v *visit) elsewhere(keyword string) bool {
	if v.inner != nil {
		byReference := v.inner.sole() == nil
		if _, here := v.inner.object()[keyword]; !here &&
			!(byReference && (identifiers[keyword] || v.defines(keyword))) {
			return true
		}
	}
	side := v.o
	if v.at.outerNew {
		side = v.n
	}
	_, here := side.object()[keyword]
	return v.at.outer[keyword] && !here
}

func (s *schema) wellFormed() bool {
	_, isBool := s.value.(bool)
	return isBool || s.object() != nil
}

// same is equal, paid for.
func (c *Comparison) same(a, b any) bool { return c.spend(size(a)/64) && equal(a, b) }

// size is about the bytes of a value.
func size(v any) int {
	n := 8
	switch v := v.(type) {
	case map[string]any:
		for name, member := range v {
			n += len(name) + size(member)
		}
	case []any:
		for _, item := range v {
			n += size(item)
		}
	case string:
		n += len(v)
	}
	return n
}

// note adds a difference at the keyword, "" for the object itself, and at names below. The pointer is the old schema's
// if the keyword is gone. Differences of one class at one pointer are reported as the first of them and their number.
func (v *visit) note(class Class, gone bool, keyword, message string, names ...string) {
	tokens := names
	if keyword != "" {
		tokens = append([]string{keyword}, names...)
	}
	at := v.at.below(tokens...)
	d := Difference{Class: v.in.class(class), Gone: gone && !at.newRef, Message: message}
	if d.Gone {
		d.Pointer = at.old.Pointer()
	} else {
		d.Pointer = at.new.Pointer()
	}
	side, followed := v.n, at.newRef
	if gone || side == absent {
		side, followed = v.o, at.oldRef
	}
	if followed {
		place := side.place() + below(nil, tokens).Pointer()
		d.Message = fmt.Sprintf("where it leads, at %s: %s", quote(place), message)
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
func (v *visit) turn(class Class, gone bool, keyword, message string) {
	v.direct = append(v.direct, direct{class, v.in, keyword, gone, message})
}

// settle reports what was kept: as it is if all is wider or all is narrower, else as one difference that cannot be
// weighed.
func (v *visit) settle() {
	for _, keyword := range v.texts {
		message := differs(nil, v.n.object()[keyword], false, true)
		if len(v.direct) > 0 { // it is new next to a rule that is reported
			v.note(Note, false, keyword, message)
		} else {
			v.note(Meaning, false, keyword, message+"; its key words are new")
		}
	}
	var wider, narrower []string
	for _, d := range v.direct {
		if d.class == Loosened {
			wider = append(wider, d.keyword)
		} else {
			narrower = append(narrower, d.keyword)
		}
	}
	if len(wider) > 0 && len(narrower) > 0 {
		v.note(Changed, false, "", fmt.Sprintf("is wider by %s and narrower by %s, which cannot be weighed",
			strings.Join(wider, ", "), strings.Join(narrower, ", ")))
		return
	}
	for _, d := range v.direct {
		in := v.in
		v.in = d.in
		v.note(d.class, d.gone, d.keyword, d.message)
		v.in = in
	}
}

// either gives the keywords that one of the two has, in order.
func (v *visit) either() []string {
	return eitherName(v.o.object(), v.n.object())
}

// eitherName gives the names that one of two objects has, in order.
func eitherName(a, b map[string]any) []string {
	all := map[string]any{}
	maps.Copy(all, a)
	maps.Copy(all, b)
	return sortedNames(all)
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

// draft returns the nearest $schema at or above s without an empty fragment, or "".
func (s *schema) draft() string {
	for ; s != nil; s = s.parent {
		if uri, ok := s.object()["$schema"].(string); ok {
			return strings.TrimSuffix(uri, "#")
		}
	}
	return ""
}

// marks reports the keywords that refuse nothing.
func (v *visit) marks() {
	for _, keyword := range v.either() {
		was, isOld := v.o.object()[keyword]
		is, isNew := v.n.object()[keyword]
		switch {
		case v.elsewhere(keyword):
		case v.defines(keyword):
			if !v.at.followed() {
				v.definitions(keyword)
			}
		case asserting[keyword], isOld == isNew && v.same(was, is):
		case keyword == "$schema" && isOld && isNew && v.o.draft() == v.n.draft():
			v.note(Note, false, keyword, differs(was, is, true, true))
		case identifiers[keyword]:
			if !v.at.followReference {
				v.note(Identity, !isNew, keyword, differs(was, is, isOld, isNew))
			}
		case keyword == "title", keyword == "description":
			v.wording(keyword, was, is, isOld, isNew)
		case keyword == "default":
			v.note(Meaning, !isNew, keyword, differs(was, is, isOld, isNew)+"; an absent member means something else")
		case keyword == "readOnly", keyword == "writeOnly":
			class := Meaning
			if (was == nil || was == false) && (is == nil || is == false) {
				class = Note
			}
			v.note(class, !isNew, keyword, differs(was, is, isOld, isNew))
		case !annotations[keyword] && (v.o.otherDraft() || v.n.otherDraft()):
			v.note(Changed, !isNew, keyword, "differs; draft 2020-12 has no such keyword, but the draft that $schema "+
				"names may")
		case (keyword == "contentSchema" || !annotations[keyword]) && v.idle(keyword):
		case strings.HasPrefix(keyword, "content") && annotations[keyword]:
			v.note(Meaning, !isNew, keyword, differs(was, is, isOld, isNew)+"; a text is decoded as something else")
		default:
			v.note(Note, !isNew, keyword, differs(was, is, isOld, isNew))
		}
	}
}

// keyWords returns the words of RFC 2119 in a title or description.
func keyWords(text string) []string { return page.KeyWords(page.Plain(text)) }

// wording reports a changed title or description. It changes its meaning if it has other key words.
func (v *visit) wording(keyword string, was, is any, isOld, isNew bool) {
	o, old := was.(string)
	n, new := is.(string)
	message := differs(was, is, isOld, isNew)
	switch {
	case isOld && !old || isNew && !new: // not an annotation of any draft
		v.note(Changed, !isNew, keyword, message)
	case !v.spend((len(o) + len(n)) / 32):
	case slices.Equal(keyWords(o), keyWords(n)):
		v.note(Note, !isNew, keyword, message)
	case !isOld:
		v.texts = append(v.texts, keyword)
	default:
		v.note(Meaning, !isNew, keyword, message+"; its key words differ")
	}
}

// Inner yields the members or items of a value, apart from those that are data in every draft. The others may contain
// schemas, which some validators read under unknown keywords too. byName says that the names in the value are not
// keywords; it is yielded for what is inside.
func Inner(v any, byName bool, yield func(token string, v any, byName bool)) {
	switch v := v.(type) {
	case map[string]any:
		for _, name := range sortedNames(v) {
			if byName || !slices.Contains([]string{"const", "enum", "default", "examples"}, name) {
				yield(name, v[name], !byName && holdsNamed(name))
			}
		}
	case []any:
		for i, item := range v {
			yield(strconv.Itoa(i), item, false)
		}
	}
}

// holdsNamed reports whether a keyword, of any draft, holds schemas by name.
func holdsNamed(keyword string) bool {
	return forms[keyword] == named || keyword == "definitions" || keyword == "dependencies"
}

// identifiersIn returns the identifiers of schemas in a value that a keyword holds.
func identifiersIn(v any, byName bool) any {
	found := []any{}
	Inner(v, byName, func(token string, v any, inner bool) {
		text, ok := v.(string)
		if ok && !byName && (token == "$id" || token == "$anchor" || token == "$dynamicAnchor") {
			found = append(found, token, text)
		}
		found = append(found, identifiersIn(v, inner).([]any)...)
	})
	return found
}

// differs words a difference of one keyword.
func differs(was, is any, isOld, isNew bool) string {
	switch {
	case !isOld:
		return "is new: " + show(is)
	case !isNew:
		return "is gone: " + show(was)
	}
	return fmt.Sprintf("is %s, was %s", show(is), show(was))
}

// evaluators reports added or removed keywords that decide which keyword evaluates a member or an item.
func (v *visit) evaluators() {
	for _, keyword := range []string{"additionalProperties", "contains", "items", "prefixItems", "unevaluatedItems",
		"unevaluatedProperties"} {
		_, isOld := v.o.object()[keyword]
		_, isNew := v.n.object()[keyword]
		if isOld != isNew {
			v.note(Changed, !isNew, keyword, "comes or goes where an unevaluated keyword sees what it evaluates")
		}
	}
}

// bare reports whether s is true, or an object that has no keyword but such as refuse nothing.
func (s *schema) bare() bool {
	if s.refusing == unknown {
		s.refusing = yes
		if s.value == true || s.object() != nil && !slices.ContainsFunc(slices.Collect(maps.Keys(s.object())),
			s.refuses) {
			s.refusing = no
		}
	}
	return s.refusing == no
}

// refuses reports whether a keyword of s may refuse something.
func (s *schema) refuses(keyword string) bool {
	switch keyword {
	case "additionalProperties", "items", "propertyNames", "unevaluatedItems", "unevaluatedProperties":
		return !s.at(keyword, "").bare()
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
	switch {
	case v.o.never() && v.n.never():
		return ""
	case v.o.never():
		return Loosened
	case v.n.never():
		return Tightened
	case v.o.bare() && !v.n.bare():
		return Tightened
	case v.n.bare() && !v.o.bare():
		return Loosened
	}
	return ""
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
		v.note(class, false, "", message)
		return
	}
	keyword := v.n.keyword
	if v.n == absent {
		keyword = v.o.keyword
	}
	holder.direct = append(holder.direct, direct{class, v.in, keyword, v.n == absent, message})
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

// onlyReference returns the side that is only a reference where the other side has none, else nil: then the
// reference's target is compared instead.
func (v *visit) onlyReference() *schema {
	o, n := v.old.references(v.o), v.new.references(v.n)
	if len(o)+len(n) != 1 {
		return nil
	}
	side := v.o
	if len(n) == 1 {
		side = v.n
	}
	for keyword := range side.object() {
		if asserting[keyword] && keyword != "$ref" && keyword != "$dynamicRef" {
			return nil
		}
	}
	for _, targets := range []map[string]*schema{o, n} {
		for _, target := range targets {
			if target != nil {
				v.inner = side
			}
		}
	}
	return side
}

// followReference compares what the only reference of one side leads to with the other side.
func (v *visit) followReference(side *schema) {
	isNew, tree := side == v.n, v.old
	if isNew {
		tree = v.new
	}
	for keyword, to := range tree.references(side) {
		at, o, n := v.at.branch([]string{keyword}, nil), to, v.n
		if isNew {
			at, o, n = v.at.branch(nil, []string{keyword}), v.o, to
		}
		at = at.inside(side, isNew)
		at.oldRef, at.newRef, at.followReference = at.oldRef || !isNew, at.newRef || isNew, true
		if to == nil {
			v.note(Changed, !isNew, keyword, "leads to nothing in the tree, so that it cannot be compared")
		} else if !v.follow(o, n, at) {
			v.note(Changed, !isNew, keyword, "leads back to itself, and so to no schema")
		}
	}
}

// follow compares two schemas. A reference leads to one of them, or to both. Each pair is compared once. The result is
// false if the references form a circle: they lead back to the pair and to no other keyword.
func (v *visit) follow(o, n *schema, at spot) bool {
	key := pair{o, n, v.in}
	if v.walked[key] {
		c := at.chain
		for c != nil && c.pair != key {
			c = c.before
		}
		return c == nil
	}
	v.walked[key], at.chain = true, &chain{at.chain, key}
	if v.depth++; v.depth > maxDepth {
		v.left = -1
	}
	v.walk(o, n, at, v.in, nil)
	v.depth--
	return true
}

// reference compares what a reference leads to, where both sides have it.
func (v *visit) reference(keyword string) {
	was, is := v.o.object()[keyword], v.n.object()[keyword]
	from, _ := was.(string)
	to, _ := is.(string)
	o, n := v.old.references(v.o)[keyword], v.new.references(v.n)[keyword]
	message := differs(was, is, true, true)
	switch {
	case was != is && document(v.o, from) != document(v.n, to) && !(local(from) && local(to)):
		v.note(Identity, false, keyword, fmt.Sprintf("%s: another document, %s instead of %s", message,
			quote(document(v.n, to)), quote(document(v.o, from))))
		return
	case o == nil && n == nil && fragment(from) == fragment(to):
		return // out of both trees
	case o == nil || n == nil:
		v.note(Changed, false, keyword, message+", and does not lead to a schema of the tree on both sides")
		return
	case keyword == "$dynamicRef" && was != is && (v.old.dynamical(o) || v.new.dynamical(n)):
		v.note(Changed, false, keyword, message+", and where it leads depends on the way to it")
		return
	case v.atOwnPlace(o, n):
		return
	}
	at := v.at.below(keyword).elsewhere()
	at.oldRef, at.newRef = true, true
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
		switch {
		case o == nil:
			if class, why := v.beyond(n); class != "" {
				v.note(class, false, keyword, "definition "+why+" is new", name)
				return
			}
			v.note(Note, false, keyword, "definition is new", name)
		default:
			v.note(Removed, true, keyword, "definition is gone", name)
		}
	})
}

// beyond returns the class of a new subschema that affects more than its own place. It is Identity if it holds an
// identifier, by which references elsewhere may lead to it, and Changed if it refers to a document that is not in the
// tree, without which the whole does not compile. It is "" in all other cases.
func (v *visit) beyond(s *schema) (class Class, why string) {
	if !v.spend(size(s.value)/64) || len(identifiersIn(s.value, false).([]any)) > 0 {
		return Identity, "with an identifier"
	}
	if why = v.leadsOut(s, map[*schema]bool{}); why != "" {
		return Changed, "with a reference that " + why
	}
	return "", ""
}

// leadsOut says where the first reference in a new subschema leads that does not remain in the tree. It is "" if all
// remain.
func (v *visit) leadsOut(s *schema, seen map[*schema]bool) string {
	if !v.spend(1) {
		return "was not followed"
	}
	for keyword, target := range v.new.references(s) {
		switch {
		case target != nil:
			fresh := !v.old.Reaches(target.file.path) || target.unpaired
			if fresh && !seen[target] {
				seen[target] = true
				if v.depth++; v.depth > maxDepth {
					v.left = -1
				}
				out := v.leadsOut(target, seen)
				v.depth--
				if out != "" {
					return "leads out of the tree in the end"
				}
			}
		case v.new.outside(s, s.object()[keyword].(string)):
			return "leads to nothing in the tree"
		}
	}
	for _, sub := range s.each() {
		if out := v.leadsOut(sub, seen); out != "" {
			return out
		}
	}
	return ""
}

// idle reports a keyword whose schema is applied to nothing, if the identifiers in it differ: references elsewhere may
// lead to them.
func (v *visit) idle(keyword string) bool {
	was, is := v.o.object()[keyword], v.n.object()[keyword]
	if byName := holdsNamed(keyword); v.same(identifiersIn(was, byName), identifiersIn(is, byName)) {
		return false
	}
	v.note(Identity, is == nil, keyword, "holds other identifiers")
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
		v.sub(o, n, v.at.below(keyword, name), nil)
	}
}

// sub walks two subschemas of the object. A side that is nil says what an absent keyword does.
func (v *visit) sub(o, n *schema, at spot, holder *visit) {
	in := setting(0)
	if o == nil {
		o = absent
		if n != nil { // as absent, but it has a place
			o = &schema{file: v.o.file, parent: v.o, keyword: n.keyword, value: true, resource: v.o.resource}
		}
	} else {
		in |= v.in.of(v.o, o)
	}
	if n == nil {
		n = absent
	} else {
		in |= v.in.of(v.n, n)
	}
	v.walk(o, n, at.elsewhere(), in, holder)
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
	case json.Number:
		return string(v)
	case bool:
		return strconv.FormatBool(v)
	}
	return "null"
}

// quote spells foreign text in one line of bounded length.
func quote(s string) string {
	return strconv.QuoteToGraphic(plain.Cut(s, 80))
}
