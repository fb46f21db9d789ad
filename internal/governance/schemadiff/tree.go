package schemadiff

import (
	"cmp"
	"fmt"
	"maps"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
)

// Limits are those of a schema's text. A value takes some hundred bytes of memory, however short it is in the text.
var Limits = strict.Limits{Bytes: MaxBytes, Depth: MaxDepth, Number: 64, Values: 1 << 17}

// Tree is the schemas of one Git tree, read once. It is not safe for concurrent use.
type Tree struct {
	files    map[string]*file
	resource map[string][]*schema // by absolute $id, of the published files
	reached  map[string][]*schema // by absolute $id, of the files that these reach by path
	dynamic  map[string][]*schema // by $dynamicAnchor
}

type file struct {
	path      string
	document  *strict.Document // nil: fault says why it cannot be read
	fault     error
	root      *schema
	named     bool               // references can find it by its identifiers
	resources []*schema          // the root and each schema below that has an $id
	dynamic   []*schema          // those that have a dynamic anchor
	loose     map[string]*schema // what references lead to below unknown keywords, by pointer
}

// NewTree reads texts by their paths in the tree. References find the published texts by $id and all texts by path.
// A text that is not published but that a published one reaches by path, over others too, is found by the $ids in it
// as well, where no published one has them and no path is meant. If published is nil, all texts are published.
//
// other returns the text of a file that the texts lack, nil if there is no file. It may be nil. In the order in which
// they are read, texts beyond MaxTree bytes in all are not read.
func NewTree(texts map[string][]byte, published func(path string) bool, other func(path string) []byte) *Tree {
	t := &Tree{files: map[string]*file{}, resource: map[string][]*schema{}, reached: map[string][]*schema{},
		dynamic: map[string][]*schema{}}
	left := MaxTree
	add := func(p string, text []byte) *file {
		left -= len(text)
		t.files[p] = read(p, text, left)
		return t.files[p]
	}
	asked := map[string]bool{}
	var queue []*file
	for _, p := range slices.Sorted(maps.Keys(texts)) {
		if f := add(p, texts[p]); f.root != nil && (published == nil || published(p)) {
			t.name(f, t.resource)
			queue = append(queue, f)
		}
	}
	for len(queue) > 0 {
		f := queue[0]
		queue = queue[1:]
		for _, uri := range f.references() {
			if t.resource[uri] != nil {
				continue
			}
			p := f.pathOf(uri)
			if p == "" {
				continue
			}
			found := t.files[p]
			if found == nil && other != nil && !asked[p] {
				asked[p] = true
				if text := other(p); text != nil {
					found = add(p, text)
				}
			}
			if found != nil && found.root != nil && !found.named {
				t.name(found, t.reached)
				queue = append(queue, found)
			}
		}
	}
	return t
}

// read parses the text of a file. left is how many bytes of a tree's texts remain after it.
func read(p string, text []byte, left int) *file {
	f := &file{path: p, loose: map[string]*schema{}}
	if left < 0 {
		f.fault = fmt.Errorf("%s: the schemas of the tree up to here have more than %d bytes, at most that are read", p,
			MaxTree)
		return f
	}
	if f.document, f.fault = strict.Parse(p, text, Limits); f.fault != nil {
		return f
	}
	f.root = &schema{file: f, value: f.document.Root}
	f.index(f.root)
	return f
}

// name enters the identifiers in a file into those of the tree.
func (t *Tree) name(f *file, ids map[string][]*schema) {
	f.named = true
	for _, s := range f.resources {
		ids[s.id] = append(ids[s.id], s)
	}
	for _, s := range f.dynamic {
		name := s.object()["$dynamicAnchor"].(string)
		t.dynamic[name] = append(t.dynamic[name], s)
	}
}

// Reaches reports whether a reference finds the file at path, by its path or by an $id in it.
func (t *Tree) Reaches(path string) bool { return t.files[path] != nil && t.files[path].named }

// Refers reports whether a reference leads out of the file at path.
func (t *Tree) Refers(path string) bool {
	f := t.files[path]
	return f != nil && f.root != nil && len(f.references()) > 0
}

// Document returns the text at path as it was read. The error says why it cannot be read as JSON; it is mostly a
// *strict.Error. Both are nil if the tree has no such path.
func (t *Tree) Document(path string) (*strict.Document, error) {
	if f := t.files[path]; f != nil {
		return f.document, f.fault
	}
	return nil, nil
}

// schema is a subschema at its place in a file.
type schema struct {
	file     *file
	parent   *schema
	keyword  string // keyword of the parent that has it
	name     string // the member or the index under that keyword
	value    any    // a bool or an object where it is a schema at all
	unpaired bool   // the other side's schema at the same pointer need not be its counterpart
	resource *schema
	id       string                // a resource's absolute URI
	anchors  map[string]*schema    // a resource's anchors
	below    []*schema             // its subschemas, once they were walked
	subs     map[[2]string]*schema // by keyword and name
	walked   bool
	isBare   *bool // as bare returns it; nil: not known yet

	// One in which another schema replaces the keyword that leads to it has no place of its own.
	outer, inner *schema // the schema that has the keyword, or such a one again; the other one
	by           string  // the keyword
}

// absent is what a keyword that is not there says.
var absent = &schema{value: true, walked: true}

func (s *schema) object() map[string]any {
	object, _ := s.value.(map[string]any)
	return object
}

// only returns the keyword by which s may refuse something, if there is just one; else "".
func (s *schema) only() string {
	only := ""
	for keyword := range s.object() {
		switch {
		case !asserting[keyword]:
		case only != "":
			return ""
		default:
			only = keyword
		}
	}
	return only
}

// sole returns the one branch of allOf where s says nothing else that refuses: s and the branch are one schema.
func (s *schema) sole() *schema {
	if branches, _ := s.object()["allOf"].([]any); len(branches) != 1 || s.only() != "allOf" {
		return nil
	}
	branch := s.at("allOf", "0")
	if object := branch.object(); !branch.wellFormed() || object["$id"] != nil || object["$schema"] != nil {
		return nil // it is a resource of its own
	}
	return branch
}

// replaced returns s with what inner says instead of the keyword that leads to inner.
func (s *schema) replaced(keyword string, inner *schema) *schema {
	all := map[string]any{}
	for name, value := range inner.object() {
		if keyword == "allOf" || !identifiers[name] && !inner.defines(name) {
			all[name] = value
		}
	}
	for name, value := range s.object() {
		if name != keyword {
			all[name] = value
		}
	}
	return &schema{file: inner.file, parent: s.parent, keyword: s.keyword, name: s.name, value: all,
		resource: inner.resource, outer: s, inner: inner, by: keyword}
}

// holder returns the schema that has a keyword of s at its place.
func (s *schema) holder(keyword string) *schema {
	if s.inner == nil {
		return s
	}
	if _, ok := s.outer.object()[keyword]; ok && keyword != s.by || keyword == "" {
		return s.outer.holder(keyword)
	}
	return s.inner
}

// form is how a keyword holds subschemas.
type form uint8

const (
	none form = iota
	single
	listed
	named
)

var forms = map[string]form{
	"$defs": named, "dependentSchemas": named, "patternProperties": named, "properties": named,
	"allOf": listed, "anyOf": listed, "oneOf": listed, "prefixItems": listed,
	"additionalProperties": single, "contains": single, "else": single, "if": single, "items": single, "not": single,
	"propertyNames": single, "then": single, "unevaluatedItems": single, "unevaluatedProperties": single,
}

// older are the keywords of older drafts that hold subschemas. Validators heed them under other drafts too.
var older = map[string]form{"additionalItems": single, "definitions": named, "dependencies": named}

// form returns how a keyword of s holds subschemas. Older drafts have an array under items.
func (s *schema) form(keyword string) form {
	if _, isList := s.object()[keyword].([]any); isList && keyword == "items" {
		return listed
	}
	return cmp.Or(forms[keyword], older[keyword])
}

// at returns the subschema under a keyword, or nil; name is "" for a keyword that has only one.
func (s *schema) at(keyword, name string) *schema {
	s = s.holder(keyword)
	s.each()
	return s.subs[[2]string{keyword, name}]
}

// list returns the subschemas in an array.
func (s *schema) list(keyword string) []*schema {
	return slices.DeleteFunc(slices.Clone(s.holder(keyword).each()), func(sub *schema) bool {
		return sub.keyword != keyword || s.form(keyword) != listed
	})
}

// each returns the subschemas at the places of known keywords, in order. It searches for them once: each comparison of
// the tree walks a schema.
func (s *schema) each() []*schema {
	if s.walked {
		return s.below
	}
	s.walked = true
	object := s.object()
	_, conditional := object["if"]
	for _, keyword := range sortedNames(object) {
		form := s.form(keyword)
		unpaired := s.unpaired || form == listed || forms[keyword] == none && !s.defines(keyword) ||
			(keyword == "then" || keyword == "else") && !conditional
		add := func(name string, value any) {
			if s.subs == nil {
				s.subs = map[[2]string]*schema{}
			}
			sub := &schema{file: s.file, parent: s, keyword: keyword, name: name, value: value, resource: s.resource,
				unpaired: unpaired}
			s.below, s.subs[[2]string{keyword, name}] = append(s.below, sub), sub
		}
		switch value := object[keyword].(type) {
		case []any:
			for i := 0; i < len(value) && form == listed; i++ {
				add(strconv.Itoa(i), value[i])
			}
		case map[string]any:
			for _, name := range sortedNames(value) {
				if form == named {
					add(name, value[name])
				}
			}
		}
		if form == single {
			add("", object[keyword])
		}
	}
	return s.below
}

// idKeyword returns the keyword that names an object of a draft.
func idKeyword(object map[string]any, draft string) string {
	if object["$id"] == nil && strings.HasSuffix(draft, "/draft-04/schema") {
		return "id"
	}
	return "$id"
}

// index finds the identifiers of s and of what is below. A file without $id has its path as URI.
func (f *file) index(s *schema) {
	object := s.object()
	id, isResource := object[idKeyword(object, s.draft())].(string)
	if anchor, isAnchor := strings.CutPrefix(id, "#"); isAnchor && s.parent != nil { // of drafts up to 7
		isResource, s.resource.anchors[anchor] = false, s
	}
	if isResource || s.parent == nil {
		base := f.uri()
		if s.parent != nil {
			base = s.resource.id
		}
		s.resource, s.anchors = s, map[string]*schema{}
		var fragment string // of drafts up to 7
		s.id, fragment, _ = strings.Cut(Absolute(base, id), "#")
		s.anchors[fragment] = s
		f.resources = append(f.resources, s)
	}
	for _, keyword := range []string{"$anchor", "$dynamicAnchor"} {
		if name, ok := object[keyword].(string); ok {
			s.resource.anchors[name] = s
			if keyword == "$dynamicAnchor" {
				f.dynamic = append(f.dynamic, s)
			}
		}
	}
	for _, sub := range s.each() {
		f.index(sub)
	}
}

// uri returns the URI of a file that has no $id.
func (f *file) uri() string {
	return (&url.URL{Scheme: "tree", Path: path.Clean("/" + f.path)}).String()
}

// Identifiers yields each $id in the file at path, absolute by those around it and without its fragment. The function
// returns its pointer, which is long below long names. Schemas under unknown keywords are among them, since some
// validators read these. A file that cannot be read has none.
func (t *Tree) Identifiers(path string, yield func(id string, pointer func() string)) {
	f := t.files[path]
	if f == nil || f.root == nil {
		return
	}
	objects(f.root.value, position{base: f.uri()}, func(object map[string]any, at position) {
		if at.id != "" {
			yield(at.base, (&strict.Step{Above: at.step, Token: at.id}).Pointer)
		}
	})
}

// references returns the URIs without fragment that references in a file lead to, those under unknown keywords too, in
// the order of the file. References within a document are not among them.
func (f *file) references() (uris []string) {
	objects(f.root.value, position{base: f.uri()}, func(object map[string]any, at position) {
		for _, keyword := range []string{"$ref", "$dynamicRef"} {
			text, _ := object[keyword].(string)
			if uri, _, _ := strings.Cut(text, "#"); uri != "" {
				uris = append(uris, Absolute(at.base, uri))
			}
		}
	})
	return uris
}

// position is where an object is in a document.
type position struct {
	step   *strict.Step
	base   string // URI, its own if it has one
	id     string // keyword of its own identifier, or ""
	draft  string // nearest $schema
	byName bool   // the names in it are not keywords
}

// objects yields each object in a value that may be a schema, with its place. at is the place of the value. It passes
// over what is data in every draft; the rest may contain schemas, which some validators read under unknown keywords.
func objects(v any, at position, yield func(object map[string]any, at position)) {
	at.id = ""
	inner := func(token string, v any, byName bool) {
		below := at
		below.step, below.byName = &strict.Step{Above: at.step, Token: token}, byName
		objects(v, below, yield)
	}
	object, _ := v.(map[string]any)
	if object != nil && !at.byName {
		if uri, ok := object["$schema"].(string); ok {
			at.draft = strings.TrimSuffix(uri, "#")
		}
		keyword := idKeyword(object, at.draft)
		if id, ok := object[keyword].(string); ok && !strings.HasPrefix(id, "#") {
			at.id = keyword
			at.base, _, _ = strings.Cut(Absolute(at.base, id), "#")
		}
		yield(object, at)
	}
	for _, name := range sortedNames(object) {
		if at.byName || !slices.Contains([]string{"const", "enum", "default", "examples"}, name) {
			inner(name, object[name], !at.byName && holdsNamed(name))
		}
	}
	items, _ := v.([]any)
	for i, item := range items {
		inner(strconv.Itoa(i), item, false)
	}
}

// Absolute resolves a reference, or returns the reference itself where one of the two is not a URI.
func Absolute(base, reference string) string {
	if reference == "" {
		return base
	}
	b, err := url.Parse(base)
	if err != nil {
		return reference
	}
	r, err := b.Parse(reference)
	if err != nil {
		return reference
	}
	r.Host = strings.ToLower(r.Host)
	return r.String()
}

// resolve gives what a reference in s leads to, or nil.
func (t *Tree) resolve(s *schema, reference string) *schema {
	uri, fragment, _ := strings.Cut(reference, "#")
	fragment, err := url.PathUnescape(fragment)
	if err != nil {
		return nil
	}
	root := s.resource
	if uri != "" {
		root = t.named(s, Absolute(root.id, uri))
	}
	switch {
	case root == nil:
		return nil
	case fragment == "":
		return root
	case fragment[0] == '/':
		return root.follow(fragment)
	}
	return root.anchors[fragment]
}

// named returns the resource with that absolute URI: the one that has it as $id, if several do the one of the file that
// refers, among those of published files, else the file whose path the URI names, else the one among those of files
// that are reached by path. It returns nil if no resource or more than one remains.
func (t *Tree) named(s *schema, uri string) *schema {
	if found := t.resource[uri]; found != nil {
		return s.one(found)
	}
	if f := t.files[s.file.pathOf(uri)]; f != nil && f.root != nil {
		return f.root
	}
	return s.one(t.reached[uri])
}

// one returns the one of some resources with one $id that a reference in s means, or nil.
func (s *schema) one(found []*schema) *schema {
	if len(found) > 1 {
		found = slices.DeleteFunc(slices.Clone(found), func(other *schema) bool { return other.file != s.file })
	}
	if len(found) != 1 {
		return nil
	}
	return found[0]
}

// pathOf returns the path that a URI names if the files are published as this one is: its $id and its path end alike,
// and what comes before these ends is the place of the tree. It is empty where the URI is elsewhere.
func (f *file) pathOf(uri string) string {
	u, err := url.Parse(uri)
	own, ownErr := url.Parse(f.root.id)
	if err != nil || ownErr != nil || u.Scheme != own.Scheme || u.Host != own.Host || u.User != nil ||
		u.RawQuery != "" || u.Fragment != "" || !strings.HasPrefix(u.Path, "/") {
		return ""
	}
	published, _ := cutLast(own.Path) // the name may differ, not the directory
	inTree, _ := cutLast(path.Clean("/" + f.path))
	for {
		above, name := cutLast(published)
		aboveHere, here := cutLast(inTree)
		if name != here || name == "" {
			break
		}
		published, inTree = above, aboveHere
	}
	rest, ok := strings.CutPrefix(u.Path, published+"/")
	if !ok {
		return ""
	}
	return path.Clean(inTree + "/" + rest)[1:]
}

// cutLast cuts the last name from a path, with the slash before it.
func cutLast(p string) (above, name string) {
	i := max(strings.LastIndexByte(p, '/'), 0)
	return p[:i], p[i:]
}

// follow gives what a JSON Pointer leads to from s, or nil. Below an unknown keyword it is a schema without a place.
func (s *schema) follow(pointer string) *schema {
	at, rest := s, pointer
	for rest != "" {
		keyword, after := cutToken(rest)
		name, form := "", at.form(keyword)
		if form != single && after != "" {
			name, after = cutToken(after)
		} else if form != single {
			form = none // what holds the schemas
		}
		sub := at.at(keyword, name)
		if form == none || sub == nil {
			return at.loose(pointer, rest)
		}
		at, rest = sub, after
	}
	return at
}

// loose follows what is left of a pointer through values of whatever kind.
func (s *schema) loose(pointer, rest string) *schema {
	if found := s.file.loose[s.resource.id+"#"+pointer]; found != nil {
		return found
	}
	value, leads := plain.Value(s.value, rest)
	if !leads {
		return nil
	}
	found := &schema{file: s.file, keyword: pointer, value: value, resource: s.resource, unpaired: true}
	s.file.loose[s.resource.id+"#"+pointer] = found
	return found
}

// cutToken cuts the first reference token from a pointer that begins with a slash.
func cutToken(pointer string) (token, rest string) {
	token, rest, more := strings.Cut(pointer[1:], "/")
	if more {
		rest = "/" + rest
	}
	return plain.Unescape(token), rest
}

// place spells the place of s, for a message.
func (s *schema) place() string {
	pointer, at := "", s
	for ; at.parent != nil; at = at.parent {
		if at.parent.form(at.keyword) != single {
			pointer = "/" + strict.Escape(at.name) + pointer
		}
		pointer = "/" + at.keyword + pointer
	}
	return s.file.path + "#" + at.keyword + pointer // one without a place has a pointer for a keyword
}

// counterpart reports whether s and o stand at the same place of their files, so that the walk through the files brings
// them together.
func (s *schema) counterpart(o *schema) bool {
	for ; s != nil && o != nil; s, o = s.parent, o.parent {
		if s.unpaired || o.unpaired || s.keyword != o.keyword || s.name != o.name {
			return false
		}
	}
	return s == nil && o == nil
}

// outside reports whether a reference leads out of the tree, to other than a meta-schema of JSON Schema.
func (t *Tree) outside(s *schema, reference string) bool {
	return t.resolve(s, reference) == nil && !metaSchema().MatchString(Absolute(s.resource.id, reference))
}

// metaSchema matches the URI of a meta-schema of JSON Schema, or of one that it consists of.
var metaSchema = plain.Pattern(`^(?:http://json-schema\.org/draft-0[467]/schema|` +
	`https://json-schema\.org/draft/20(?:20-12|19-09)/(?:schema|meta/(?:core|applicator|unevaluated|validation|` +
	`meta-data|format|format-annotation|format-assertion|content)))#?$`)
