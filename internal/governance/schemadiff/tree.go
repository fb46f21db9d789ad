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

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/links"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/governance/markdown"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
)

// limits are those of strict.Parse. A value takes some hundred bytes of memory, however short it is in the text.
var limits = strict.Limits{Bytes: MaxBytes, Depth: MaxDepth, Number: 64, Values: 1 << 17}

// Tree is the schemas of one Git tree, read once. It is not safe for concurrent use.
type Tree struct {
	files    map[string]*file
	resource map[string][]*schema // by absolute $id
	at       map[string]*file     // by path, as a URI has it
	dynamic  map[string][]*schema // by $dynamicAnchor
	words    map[string]int       // how many titles and descriptions use a word; nil: not asked for yet

	// Around reports whether the texts around the schemas use a word. Such a word in a requirement of the old tree is
	// not a misspelling that may be repaired. It may be nil.
	Around func(word string) bool

	// Links are the texts of the symbolic links on the way to the texts, by path.
	Links map[string]string
}

type file struct {
	path  string
	root  *schema
	fault error
	loose map[string]*schema // what references lead to below unknown keywords, by pointer
}

// NewTree reads texts by their paths in the tree. What references may lead to belongs to it too. In the order of paths,
// texts beyond MaxTree bytes in all are not read.
func NewTree(texts map[string][]byte) *Tree {
	t := &Tree{files: map[string]*file{}, resource: map[string][]*schema{}, at: map[string]*file{},
		dynamic: map[string][]*schema{}}
	left := MaxTree
	for _, p := range slices.Sorted(maps.Keys(texts)) {
		f := &file{path: p, loose: map[string]*schema{}}
		t.files[p] = f
		if left -= len(texts[p]); left < 0 {
			f.fault = fmt.Errorf("%s: the schemas of the tree up to here have more than %d bytes, at most that "+
				"are read",
				p, MaxTree)
			continue
		}
		document, err := strict.Parse(p, texts[p], limits)
		if err != nil {
			f.fault = err
			continue
		}
		f.root = &schema{file: f, value: document.Root}
		t.at[path.Clean("/"+p)] = f
		t.index(f.root)
	}
	return t
}

// Fault says why the text at path cannot be read as JSON: mostly a *strict.Error. It is nil where it is read, and
// where the tree has no such path.
func (t *Tree) Fault(path string) error {
	if f := t.files[path]; f != nil {
		return f.fault
	}
	return nil
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
	id       string             // a resource's absolute URI
	anchors  map[string]*schema // a resource's anchors
	subs     map[string]*schema // those that were asked for
	below    []*schema          // all of them, once they were walked
	walked   bool
	refusing answer // whether it may refuse something
}

// answer is to a question that is asked often.
type answer uint8

const (
	unknown answer = iota
	yes
	no
)

// absent is what a keyword that is not there says.
var absent = &schema{value: true, refusing: no}

func (s *schema) object() map[string]any {
	object, _ := s.value.(map[string]any)
	return object
}

// sole returns the one branch of allOf where s says nothing else that refuses: s and the branch are one schema.
func (s *schema) sole() *schema {
	branches, _ := s.object()["allOf"].([]any)
	if len(branches) != 1 {
		return nil
	}
	for keyword := range s.object() {
		if asserting[keyword] && keyword != "allOf" {
			return nil
		}
	}
	branch := s.at("allOf", "0")
	if object := branch.object(); !branch.wellFormed() || object["$id"] != nil || object["$schema"] != nil {
		return nil // it is a resource of its own
	}
	return branch
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
	key, form := keyword, s.form(keyword)
	if keyword == "items" && name == "" {
		form = single
	}
	if form != single {
		key = keyword + "/" + name
	}
	if sub := s.subs[key]; sub != nil {
		return sub
	}
	value, ok := s.object()[keyword]
	switch {
	case form == named:
		members, _ := value.(map[string]any)
		value, ok = members[name]
	case form == listed:
		items, _ := value.([]any)
		i, err := strconv.Atoi(name)
		if ok = err == nil && i >= 0 && i < len(items) && strconv.Itoa(i) == name; ok {
			value = items[i]
		}
	}
	if !ok {
		return nil
	}
	sub := &schema{file: s.file, parent: s, keyword: keyword, name: name, value: value, resource: s.resource}
	_, conditional := s.object()["if"]
	sub.unpaired = s.unpaired || form == listed || forms[keyword] == none ||
		(keyword == "then" || keyword == "else") && !conditional
	if s.subs == nil {
		s.subs = map[string]*schema{}
	}
	s.subs[key] = sub
	return sub
}

// list returns the subschemas in an array.
func (s *schema) list(keyword string) []*schema {
	items, _ := s.object()[keyword].([]any)
	subs := make([]*schema, len(items))
	for i := range items {
		subs[i] = s.at(keyword, strconv.Itoa(i))
	}
	return subs
}

// each returns the subschemas at the places of known keywords, in order. It searches for them once: each comparison of
// the tree walks a schema.
func (s *schema) each() []*schema {
	if s.walked {
		return s.below
	}
	s.walked = true
	object := s.object()
	for _, keyword := range slices.Sorted(maps.Keys(object)) {
		names := []string{""}
		switch s.form(keyword) {
		case none:
			continue
		case named:
			members, _ := object[keyword].(map[string]any)
			names = slices.Sorted(maps.Keys(members))
		case listed:
			items, _ := object[keyword].([]any)
			names = make([]string, len(items))
			for i := range items {
				names[i] = strconv.Itoa(i)
			}
		}
		for _, name := range names {
			s.below = append(s.below, s.at(keyword, name))
		}
	}
	return s.below
}

// index enters the identifiers of s and of what is below into the tree. A file without $id has its path as URI.
func (t *Tree) index(s *schema) {
	object := s.object()
	id, isResource := object["$id"].(string)
	if !isResource && strings.HasSuffix(s.draft(), "/draft-04/schema") {
		id, isResource = object["id"].(string)
	}
	if anchor, isAnchor := strings.CutPrefix(id, "#"); isAnchor && s.parent != nil { // of drafts up to 7
		isResource, s.resource.anchors[anchor] = false, s
	}
	if isResource || s.parent == nil {
		base := (&url.URL{Scheme: "tree", Path: path.Clean("/" + s.file.path)}).String()
		if s.parent != nil {
			base = s.resource.id
		}
		s.resource, s.anchors = s, map[string]*schema{}
		s.id = strings.TrimSuffix(Absolute(base, id), "#")
		t.resource[s.id] = append(t.resource[s.id], s)
	}
	for _, keyword := range []string{"$anchor", "$dynamicAnchor"} {
		if name, ok := object[keyword].(string); ok {
			s.resource.anchors[name] = s
			if keyword == "$dynamicAnchor" {
				t.dynamic[name] = append(t.dynamic[name], s)
			}
		}
	}
	for _, sub := range s.each() {
		t.index(sub)
	}
	if object["$recursiveAnchor"] == true {
		t.dynamic[""] = append(t.dynamic[""], s.resource)
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
// refers, else the file whose path the URI names. It returns nil if no resource or more than one remains.
func (t *Tree) named(s *schema, uri string) *schema {
	if found := t.resource[uri]; len(found) > 0 {
		if len(found) > 1 {
			found = slices.DeleteFunc(slices.Clone(found), func(other *schema) bool { return other.file != s.file })
		}
		if len(found) != 1 {
			return nil
		}
		return found[0]
	}
	at, outside := links.Resolve(s.file.pathOf(uri), func(at string) string { return t.Links[at] })
	if f := t.at["/"+at]; f != nil && !outside {
		return f.root
	}
	return nil
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
	here := path.Clean("/" + f.path)
	n := max(common(own.Path, here), 1) // the name may differ, not the directory
	published, inTree := above(own.Path, n), above(here, n)
	rest, ok := strings.CutPrefix(u.Path, published+"/")
	if !ok {
		return ""
	}
	return path.Clean(inTree + "/" + rest)
}

// above returns a path without its last n names.
func above(p string, n int) string {
	names := strings.Split(p, "/")
	return strings.Join(names[:max(len(names)-n, 0)], "/")
}

// common counts the names that two paths end with alike.
func common(a, b string) int {
	x, y := strings.Split(a, "/"), strings.Split(b, "/")
	n := 0
	for n < len(x)-1 && n < len(y)-1 && x[len(x)-1-n] == y[len(y)-1-n] {
		n++
	}
	return n
}

// follow gives what a JSON Pointer leads to from s, or nil. Below an unknown keyword it is a schema without a place.
func (s *schema) follow(pointer string) *schema {
	at := s
	for rest := pointer; rest != ""; {
		keyword, after := cutToken(rest)
		name := ""
		switch {
		case at.form(keyword) == none:
			return at.loose(pointer, rest)
		case at.form(keyword) != single:
			if after == "" { // what holds the schemas
				return at.loose(pointer, rest)
			}
			name, after = cutToken(after)
		}
		if at = at.at(keyword, name); at == nil {
			return nil
		}
		rest = after
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
	var b strings.Builder
	b.WriteString(s.file.path + "#")
	s.spell(&b)
	return b.String()
}

func (s *schema) spell(b *strings.Builder) {
	if s.parent == nil {
		b.WriteString(s.keyword) // the pointer of one without a place
		return
	}
	s.parent.spell(b)
	b.WriteString("/" + s.keyword)
	if s.parent.form(s.keyword) != single {
		b.WriteString("/" + strict.Escape(s.name))
	}
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

// used reports whether a word occurs in a title or a description of the tree besides the one that is compared, or in
// the texts around.
func (t *Tree) used(word string) bool {
	if t.words == nil {
		t.words = map[string]int{}
		var count func(s *schema)
		count = func(s *schema) {
			for _, keyword := range []string{"title", "description"} {
				text, _ := s.object()[keyword].(string)
				for word := range markdown.Words(text) {
					t.words[word]++
				}
			}
			for _, sub := range s.each() {
				count(sub)
			}
		}
		for _, f := range t.files {
			if f.root != nil {
				count(f.root)
			}
		}
	}
	return t.words[word] > 1 || t.Around != nil && t.Around(word)
}

// outside reports whether a reference leads out of the tree, to other than a meta-schema of JSON Schema.
func (t *Tree) outside(s *schema, reference string) bool {
	return t.resolve(s, reference) == nil && !metaSchema().MatchString(Absolute(s.resource.id, reference))
}

// metaSchema matches the URI of a meta-schema of JSON Schema, or of one that it consists of.
var metaSchema = plain.Pattern(`^(?:http://json-schema\.org/draft-0[467]/schema|` +
	`https://json-schema\.org/draft/20(?:20-12|19-09)/(?:schema|meta/(?:core|applicator|unevaluated|validation|` +
	`meta-data|format|format-annotation|format-assertion|content)))#?$`)

// Unresolved returns the names on the paths of the files that references lead to and that the tree lacks: true for that
// of a file, false for that of a directory. References under unknown keywords are among them.
func (t *Tree) Unresolved() map[string]bool {
	names := map[string]bool{}
	var look func(s *schema, v any)
	look = func(s *schema, v any) {
		switch v := v.(type) {
		case map[string]any:
			for _, keyword := range []string{"$ref", "$dynamicRef"} {
				text, _ := v[keyword].(string)
				uri, _, _ := strings.Cut(text, "#")
				if uri != "" && !metaSchema().MatchString(uri) && t.named(s, Absolute(s.resource.id, uri)) == nil {
					if u, err := url.Parse(uri); err == nil {
						for name := range strings.SplitSeq(path.Dir(u.Path), "/") {
							if !names[name] {
								names[name] = false
							}
						}
						names[path.Base(u.Path)] = true
					}
				}
			}
			for _, member := range v {
				look(s, member)
			}
		case []any:
			for _, item := range v {
				look(s, item)
			}
		}
	}
	for _, f := range t.files {
		if f.root != nil {
			look(f.root, f.root.value)
		}
	}
	return names
}
