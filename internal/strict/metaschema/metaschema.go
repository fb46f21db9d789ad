// Package metaschema checks that a JSON value is a JSON Schema of its draft.
package metaschema

import (
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"

	library "github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict/schema"
)

// maxShown is how many characters of a foreign text a message has.
const maxShown = 80

// drafts are the meta-schemas that $schema may name, each compiled when it is first asked for.
var drafts = func() map[string]func() *library.Schema {
	out := map[string]func() *library.Schema{}
	for _, uri := range []string{schema.LatestDraft, "https://json-schema.org/draft/2019-09/schema",
		"http://json-schema.org/draft-07/schema", "http://json-schema.org/draft-06/schema",
		"http://json-schema.org/draft-04/schema"} {
		out[uri] = sync.OnceValue(func() *library.Schema { return library.NewCompiler().MustCompile(uri) })
	}
	return out
}()

// Check checks that a JSON value, as in strict.Document, is a schema of the draft that its $schema names, or of
// 2020-12 if it names none, and that its references by JSON Pointer within itself exist. It ignores references to other
// documents and the spelling of patterns. The error is nil or a *schema.Error without a Pos.
//
// It takes time in proportion to the size of the value. The library's compiler does not: for each subschema it searches
// all those found before.
func Check(root any) error {
	uri := schema.LatestDraft
	if named := strict.String(root, "$schema"); named != "" {
		uri = strings.TrimSuffix(named, "#")
	}
	meta := drafts[uri]
	if meta == nil {
		return &schema.Error{Pointer: "/$schema", Message: strconv.Quote(plain.Cut(uri, maxShown)) +
			" is not a known draft of JSON Schema"}
	}
	if err := meta().Validate(schema.Floats(root)); err != nil {
		e := &schema.Error{Message: "it is not a schema of its draft"}
		if v := schema.Violations(err); len(v) > 0 {
			e.Pointer, e.Message = v[0].Pointer, "no schema of its draft: "+v[0].Message
		}
		return e
	}
	l := locals{root: root}
	l.walk(root, nil)
	if l.embedded || l.fault == nil {
		return nil
	}
	return l.fault
}

// locals looks for references by JSON Pointer that lead nowhere.
type locals struct {
	root     any
	embedded bool          // a subschema has an $id, which references in it may be relative to
	fault    *schema.Error // the first
}

func (l *locals) walk(v any, at *strict.Step) {
	if l.embedded {
		return
	}
	switch v := v.(type) {
	case map[string]any:
		if _, ok := v["$id"].(string); ok && at != nil {
			l.embedded = true
		}
		to, ok := v["$ref"].(string)
		if pointer, local := strings.CutPrefix(to, "#"); ok && local && strings.HasPrefix(pointer, "/") &&
			l.fault == nil && !leads(l.root, pointer) {
			l.fault = &schema.Error{Pointer: (&strict.Step{Above: at, Token: "$ref"}).Pointer(),
				Message: "$ref " + strconv.Quote(plain.Cut(to, maxShown)) + " leads nowhere"}
		}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if name != "const" && name != "enum" && name != "default" && name != "examples" {
				l.walk(v[name], &strict.Step{Above: at, Token: name})
			}
		}
	case []any:
		for i, item := range v {
			l.walk(item, &strict.Step{Above: at, Token: strconv.Itoa(i)})
		}
	}
}

// leads reports whether a JSON Pointer, as a URI's fragment spells it, leads to a value.
func leads(v any, pointer string) bool {
	if text, err := url.PathUnescape(pointer); err == nil {
		pointer = text
	}
	_, found := plain.Value(v, pointer)
	return found
}
