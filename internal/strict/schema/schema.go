// Package schema judges JSON documents by JSON Schema draft 2020-12, as RFC 0026 section 6 requires. The verdicts are
// those of Ajv 2020 (allErrors, strict: false) and ajv-formats, which the section names. Formats are asserted, unknown
// keywords and formats ignored, `pattern` is ECMA-262 with the u flag.
//
// A schema may come from a stranger's pull request. So the package follows no reference out of the schema,
// refuses what it could read in another sense than Ajv ($dynamicRef, a nested $id, formatMinimum, nullable,
// a pattern that needs more than RE2), and bounds what one document can cost.
//
// Known to differ from Ajv: multipleOf is reckoned in decimals, not in binary fractions; unevaluatedProperties
// follows the standard where Ajv counts members that a failed subschema saw; the format regex is read as the
// keyword pattern; a value of the wrong type, or that is not the constant or in the enumeration, is one
// violation, whatever else it breaks.
package schema

import (
	"errors"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	library "github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
)

// Limits of a schema. One that exceeds them does not compile.
const (
	maxValues   = 5_000 // JSON values in the text
	maxInPlace  = 1_000 // subschemas that apply to one and the same value
	maxRefDepth = 64    // depth of references inside each other
)

var limits = strict.Limits{Bytes: 256 << 10, Depth: 64, Number: 64}

// Schema is a compiled schema, safe for concurrent use.
type Schema struct {
	library *library.Schema
	fast    *node // the same verdict at less cost; nil where the schema is not simple enough
	raw     map[string]any
}

// Error says why a text cannot be used as a schema.
type Error struct {
	Pos     strict.Pos
	Pointer string
	Message string
}

func (e *Error) Error() string { return e.Pos.String() + ": " + e.Message }

// Compile reads a schema. The name is the path in positions. The error is always *Error.
func Compile(name string, text []byte) (*Schema, error) {
	doc, err := strict.Parse(name, text, limits)
	if err != nil {
		e := err.(*strict.Error)
		return nil, &Error{e.Pos, e.Pointer, e.Message}
	}
	s, fault := compile(doc.Root)
	if fault != nil {
		fault.Pos = doc.Pos(fault.Pointer)
		return nil, fault
	}
	return s, nil
}

// Violation is one keyword that a document does not satisfy.
type Violation struct {
	Pointer string // RFC 6901: the value at fault; for an extra member that member, for a missing one the object
	Keyword string // "false" where the subschema is false; empty where the document could not be judged
	Message string // the value, then what is expected; foreign text is quoted and cut
}

// String returns where the violation is, and its message.
func (v Violation) String() string {
	if v.Pointer == "" {
		return "at the root: " + v.Message
	}
	return "at " + strconv.Quote(v.Pointer) + ": " + v.Message
}

// Members returns the names under properties of the schema itself, sorted.
func (s *Schema) Members() []string {
	properties, _ := strict.Member(s.raw[""], "properties").(map[string]any)
	return slices.Sorted(maps.Keys(properties))
}

// Subschemas returns the schema and each schema in it, by pointer. The caller must not change them.
func (s *Schema) Subschemas() map[string]any { return s.raw }

// Validate returns the violations of root, a value as in strict.Document, sorted by pointer and keyword, each once. It
// returns nil if root is valid, else at most 100 violations; if there are more, the last one has the number of keywords
// that failed in addition to the others. Validate does not change root.
func (s *Schema) Validate(root any) []Violation {
	if s.fast != nil && s.fast.valid(root) {
		return nil
	}
	m := newMeter(root)
	if !m.affords(s.library, root) {
		return []Violation{{Message: m.message()}}
	}
	err := s.library.Validate(Floats(root))
	if err == nil {
		return nil
	}
	return s.violations(root, err)
}

// location is the URL that the library knows the schema by.
const location = "https://schema.invalid/"

// outside is the loader of documents other than the schema. It loads none.
type outside struct{}

func (outside) Load(string) (any, error) {
	return nil, errors.New("references out of the schema are not followed")
}

// compile makes a Schema of a strict JSON value. The Error has no Pos.
func compile(root any) (*Schema, *Error) {
	s := newSurvey(root)
	if s.fault != nil {
		return nil, s.fault
	}
	c := library.NewCompiler()
	c.UseLoader(outside{})
	c.UseRegexpEngine(s.pattern)
	err := c.AddResource(location, Floats(root))
	var compiled *library.Schema
	if err == nil {
		compiled, err = c.Compile(location)
	}
	if err != nil {
		return nil, libraryFault(err)
	}
	out := &Schema{library: compiled, raw: s.subschemas}
	if fault := finish(compiled, s.subschemas); fault != nil {
		return nil, fault
	}
	if n, ok := newNode(compiled); ok {
		out.fast = n
	}
	return out, nil
}

// libraryFault says why the library does not take a schema.
func libraryFault(err error) *Error {
	var invalid *library.SchemaValidationError
	if errors.As(err, &invalid) {
		if v := Violations(invalid.Err); len(v) > 0 {
			_, at, _ := strings.Cut(invalid.URL, "#")
			at, _ = url.PathUnescape(at)
			return &Error{Pointer: at + v[0].Pointer, Message: "no schema of draft 2020-12: " + v[0].Message}
		}
	}
	return &Error{Message: "no schema of draft 2020-12: " + quote(err.Error())}
}
