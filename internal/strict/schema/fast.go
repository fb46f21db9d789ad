package schema

import (
	"encoding/json"
	"reflect"
	"slices"
	"unicode/utf8"

	library "github.com/santhosh-tekuri/jsonschema/v6"
)

// node is a subschema of the keywords that registry schemas use. It knows valid from not, and nothing else:
// the library takes ten times as long, so it is asked only about documents that a node finds invalid, or
// whose schema has no node.
type node struct {
	types                types
	values               []any // of enum and const: strings, bools and nil
	closedValues         bool
	minLength, maxLength int
	pattern              *pattern
	format               format
	minimum, maximum     *float64
	properties           map[string]property
	required             int
	open                 bool // other members are allowed
	minItems, maxItems   int
	items                *node
	not                  *node
}

type property struct {
	node     *node // nil: any value
	required bool
}

type types uint8

const (
	typeNull types = 1 << iota
	typeBoolean
	typeNumber
	typeInteger
	typeString
	typeArray
	typeObject
)

var typeNames = map[string]types{"null": typeNull, "boolean": typeBoolean, "number": typeNumber,
	"integer": typeInteger, "string": typeString, "array": typeArray, "object": typeObject}

// supported are the fields of a library Schema that a node heeds, or that have no bearing on validity.
var supported = []string{"DraftVersion", "Location", "ID", "Anchor", "Title", "Description", "Default", "Comment",
	"ReadOnly",
	"WriteOnly", "Examples", "Deprecated", "Bool", "Types", "Enum", "Const", "Not", "Properties", "Required",
	"AdditionalProperties", "MinItems", "MaxItems", "Items2020", "MinLength", "MaxLength", "Pattern",
	"Minimum", "Maximum", "Extensions"}

// newNode makes the node of a schema, if its keywords and all below are supported.
func newNode(s *library.Schema) (*node, bool) {
	fields := reflect.ValueOf(s).Elem()
	for i := range fields.NumField() {
		f := fields.Type().Field(i)
		if f.IsExported() && !fields.Field(i).IsZero() && !slices.Contains(supported, f.Name) {
			return nil, false
		}
	}
	if s.Bool != nil {
		return nil, *s.Bool
	}
	n := &node{types: ^types(0), maxLength: -1, maxItems: -1}
	if s.Types != nil {
		n.types = 0
		for _, name := range s.Types.ToStrings() {
			n.types |= typeNames[name]
		}
	}
	return n, n.scalars(s) && n.strings(s) && n.object(s) && n.array(s) && n.negation(s)
}

// sub makes the node of a subschema, if there is one.
func sub(n **node, s *library.Schema) bool {
	if s == nil {
		return true
	}
	var ok bool
	*n, ok = newNode(s)
	return ok
}

func (n *node) negation(s *library.Schema) bool {
	return sub(&n.not, s.Not) && (s.Not == nil || n.not != nil)
}

func (n *node) scalars(s *library.Schema) bool {
	if s.Enum != nil && s.Const != nil {
		return false
	}
	n.closedValues = s.Enum != nil || s.Const != nil
	if s.Enum != nil {
		n.values = s.Enum.Values
	}
	if s.Const != nil {
		n.values = []any{*s.Const}
	}
	for _, v := range n.values {
		switch v.(type) {
		case string, bool, nil:
		default:
			return false
		}
	}
	if s.Minimum != nil {
		f, _ := s.Minimum.Float64()
		n.minimum = &f
	}
	if s.Maximum != nil {
		f, _ := s.Maximum.Float64()
		n.maximum = &f
	}
	return true
}

func (n *node) strings(s *library.Schema) bool {
	if s.MinLength != nil {
		n.minLength = *s.MinLength
	}
	if s.MaxLength != nil {
		n.maxLength = *s.MaxLength
	}
	for _, e := range s.Extensions {
		n.format = e.(assertion).format
	}
	if s.Pattern == nil {
		return true
	}
	n.pattern = s.Pattern.(*pattern)
	return n.pattern.size <= maxFastProgram
}

// maxFastProgram caps the patterns of a node, which no meter watches.
const maxFastProgram = 200

func (n *node) object(s *library.Schema) bool {
	n.properties = make(map[string]property, len(s.Properties))
	for name, schema := range s.Properties {
		p := property{required: slices.Contains(s.Required, name)}
		if !sub(&p.node, schema) {
			return false
		}
		n.properties[name] = p
	}
	for _, name := range s.Required {
		if _, ok := n.properties[name]; !ok && s.AdditionalProperties != nil {
			return false // a required member that would fall under additionalProperties
		}
		n.properties[name] = property{n.properties[name].node, true}
	}
	n.required = len(s.Required)
	n.open = s.AdditionalProperties == nil || s.AdditionalProperties == true
	return n.open || s.AdditionalProperties == false
}

func (n *node) array(s *library.Schema) bool {
	if s.MinItems != nil {
		n.minItems = *s.MinItems
	}
	if s.MaxItems != nil {
		n.maxItems = *s.MaxItems
	}
	return sub(&n.items, s.Items2020)
}

// valid reports whether v satisfies the node; the nil node is satisfied by anything.
func (n *node) valid(v any) bool {
	if n == nil {
		return true
	}
	if n.closedValues && !slices.Contains(n.values, v) {
		return false
	}
	if n.not != nil && n.not.valid(v) {
		return false
	}
	switch v := v.(type) {
	case string:
		return n.validString(v)
	case map[string]any:
		return n.validObject(v)
	case []any:
		return n.validArray(v)
	case json.Number:
		return n.validNumber(v)
	case bool:
		return n.types&typeBoolean != 0
	case nil:
		return n.types&typeNull != 0
	}
	return false
}

func (n *node) validString(v string) bool {
	if n.types&typeString == 0 {
		return false
	}
	if n.minLength > 0 || n.maxLength >= 0 {
		length := utf8.RuneCountInString(v)
		if length < n.minLength || n.maxLength >= 0 && length > n.maxLength {
			return false
		}
	}
	return (n.pattern == nil || n.pattern.MatchString(v)) && (n.format.text == nil || n.format.text(v))
}

func (n *node) validObject(v map[string]any) bool {
	if n.types&typeObject == 0 || len(v) < n.required {
		return false
	}
	required := 0
	for name, member := range v {
		p, ok := n.properties[name]
		if !ok {
			if !n.open {
				return false
			}
			continue
		}
		if p.required {
			required++
		}
		if !p.node.valid(member) {
			return false
		}
	}
	return required == n.required
}

func (n *node) validArray(v []any) bool {
	if n.types&typeArray == 0 || len(v) < n.minItems || n.maxItems >= 0 && len(v) > n.maxItems {
		return false
	}
	if n.items != nil {
		for _, item := range v {
			if !n.items.valid(item) {
				return false
			}
		}
	}
	return true
}

func (n *node) validNumber(v json.Number) bool {
	f, err := v.Float64()
	if err != nil || n.types&typeNumber == 0 && (n.types&typeInteger == 0 || !isInteger(f)) {
		return false
	}
	if n.minimum != nil && f < *n.minimum || n.maximum != nil && f > *n.maximum {
		return false
	}
	return n.format.number == nil || n.format.number(f)
}
