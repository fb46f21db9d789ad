package schema

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	library "github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/openagentprotocol-OAP/oap-gate/internal/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
)

// maxViolations caps what is told of one document; where there are more, the last says how many.
const maxViolations = 100

// violations makes an error of the library into violations. Its messages are not used: they are of several
// voices, and quote foreign text whole.
func (s *Schema) violations(root any, err error) []Violation {
	l := list{raw: s.raw, root: root}
	l.add(err.(*library.ValidationError))
	slices.SortFunc(l.found, func(a, b Violation) int {
		return cmp.Or(cmp.Compare(a.Pointer, b.Pointer), cmp.Compare(a.Keyword, b.Keyword),
			cmp.Compare(a.Message, b.Message))
	})
	found := slices.Compact(l.found)
	if more := len(found) - maxViolations + 1; more > 1 {
		found = append(found[:maxViolations-1:maxViolations-1],
			Violation{Message: fmt.Sprintf("has %d more violations", more)})
	}
	return found
}

type list struct {
	raw   map[string]any // subschemas by pointer
	root  any
	found []Violation
}

func (l *list) add(e *library.ValidationError) {
	at := pointer(e.InstanceLocation)
	put := func(keyword, message string, args ...any) {
		l.found = append(l.found, Violation{at, keyword, fmt.Sprintf(message, args...)})
	}
	switch k := e.ErrorKind.(type) {
	case *kind.Schema, *kind.Group, *kind.Reference, *kind.AllOf:
		for _, cause := range e.Causes {
			l.add(cause)
		}
	case *kind.Required:
		for _, name := range k.Missing {
			put("required", "has no %s, which is required", quote(name))
		}
	case *kind.AdditionalProperties:
		parent := at
		for _, name := range k.Properties {
			at = parent + "/" + strict.Escape(name)
			put("additionalProperties", "%s is no member that is allowed here", quote(name))
		}
	case *kind.PropertyNames:
		at = l.member(at, k.Property)
		put("propertyNames", "%s is no name that a member may have here", quote(k.Property))
	case *kind.Dependency:
		l.dependency(at, "dependencies", k.Prop, k.Missing)
	case *kind.DependentRequired:
		l.dependency(at, "dependentRequired", k.Prop, k.Missing)
	case *kind.FalseSchema:
		put(falseKeyword(e.SchemaURL), "is not allowed here")
	case *kind.Not:
		put("not", "%s is what must not stand here%s", l.show(e.InstanceLocation), l.forbidden(e.SchemaURL))
	default:
		keyword, message := scalar(k)
		put(keyword, "%s", message)
	}
}

func (l *list) dependency(at, keyword, name string, missing []string) {
	for _, m := range missing {
		l.found = append(l.found,
			Violation{at, keyword, fmt.Sprintf("has %s and no %s, which is then required", quote(name), quote(m))})
	}
}

// scalar tells of the kinds that concern one value and need nothing but themselves.
func scalar(k library.ErrorKind) (keyword, message string) {
	switch k := k.(type) {
	case *kind.Type:
		return "type", fmt.Sprintf("is %s, %s is required", withArticle(k.Got), either(k.Want))
	case *kind.Const:
		return "const", fmt.Sprintf("%s is not %s", show(k.Got), show(k.Want))
	case *kind.Enum:
		return "enum", fmt.Sprintf("%s is none of %s", show(k.Got), oneOf(k.Want))
	case *kind.Format:
		return "format", fmt.Sprintf("%s is no %s: %s is required", show(k.Got), k.Want, formats[k.Want].wants)
	case *kind.Pattern:
		return "pattern", fmt.Sprintf("%s does not match %s", show(k.Got), showPattern(k.Want))
	case *kind.MinLength:
		return "minLength", fmt.Sprintf("is %s long, at least %d %s required", plain.Count(k.Got, "character"), k.Want,
			are(k.Want))
	case *kind.MaxLength:
		return "maxLength", fmt.Sprintf("is %s long, at most %d %s allowed", plain.Count(k.Got, "character"), k.Want,
			are(k.Want))
	case *kind.MinItems:
		return "minItems", fmt.Sprintf("has %s, at least %d %s required",
			plain.Count(k.Got, "item"), k.Want, are(k.Want))
	case *kind.MaxItems:
		return "maxItems", fmt.Sprintf("has %s, at most %d %s allowed", plain.Count(k.Got, "item"), k.Want, are(k.Want))
	case *kind.MinProperties:
		return "minProperties", fmt.Sprintf("has %s, at least %d %s required", plain.Count(k.Got, "member"), k.Want,
			are(k.Want))
	case *kind.MaxProperties:
		return "maxProperties", fmt.Sprintf("has %s, at most %d %s allowed", plain.Count(k.Got, "member"), k.Want,
			are(k.Want))
	case *kind.UniqueItems:
		return "uniqueItems", fmt.Sprintf("items %d and %d are equal, all must differ", k.Duplicates[0],
			k.Duplicates[1])
	case *kind.Minimum:
		return "minimum", fmt.Sprintf("is %s, at least %s is required", number(k.Got), number(k.Want))
	case *kind.Maximum:
		return "maximum", fmt.Sprintf("is %s, at most %s is allowed", number(k.Got), number(k.Want))
	case *kind.ExclusiveMinimum:
		return "exclusiveMinimum", fmt.Sprintf("is %s, more than %s is required", number(k.Got), number(k.Want))
	case *kind.ExclusiveMaximum:
		return "exclusiveMaximum", fmt.Sprintf("is %s, less than %s is required", number(k.Got), number(k.Want))
	case *kind.MultipleOf:
		return "multipleOf", fmt.Sprintf("is %s, a multiple of %s is required", number(k.Got), number(k.Want))
	case *kind.Contains:
		return "contains", "has no item of the kind that is required"
	case *kind.MinContains:
		return "minContains", fmt.Sprintf("has %s of the kind that is required, at least %d %s",
			plain.Count(len(k.Got), "item"), k.Want, are(k.Want))
	case *kind.MaxContains:
		return "maxContains", fmt.Sprintf("has %s of a kind of which at most %d %s allowed",
			plain.Count(len(k.Got), "item"), k.Want, are(k.Want))
	case *kind.AnyOf:
		return "anyOf", "fits none of the forms that are allowed"
	case *kind.OneOf:
		if len(k.Subschemas) > 1 {
			return "oneOf", fmt.Sprintf("fits forms %d and %d, exactly one is allowed", k.Subschemas[0],
				k.Subschemas[1])
		}
		return "oneOf", "fits none of the forms that are allowed"
	}
	return "", "is not a value that JSON can hold"
}

// member is the pointer to a member whose name is at fault. The library gives the object's place in a slice
// that it may since have overwritten, so the place is held against the document.
func (l *list) member(at, name string) string {
	if object, ok := lookup(l.root, at).(map[string]any); ok {
		if _, ok := object[name]; ok {
			return at + "/" + strict.Escape(name)
		}
	}
	return ""
}

func lookup(v any, pointer string) any {
	found, _ := plain.Value(v, pointer)
	return found
}

func (l *list) show(location []string) string { return show(lookup(l.root, pointer(location))) }

// forbidden tells of the subschema under not, where it is a pattern.
func (l *list) forbidden(schemaURL string) string {
	_, at, _ := strings.Cut(schemaURL, "#")
	text, ok := lookup(l.raw[at], "/not/pattern").(string)
	if !ok {
		return ""
	}
	return ": it matches " + showPattern(text)
}

// falseKeyword names the keyword whose subschema is false.
func falseKeyword(schemaURL string) string {
	for _, keyword := range []string{"additionalProperties", "unevaluatedProperties", "unevaluatedItems"} {
		if strings.HasSuffix(schemaURL, "/"+keyword) {
			return keyword
		}
	}
	return "false"
}

// pointer is the JSON Pointer of a location.
func pointer(location []string) string {
	var b strings.Builder
	for _, token := range location {
		b.WriteByte('/')
		b.WriteString(strict.Escape(token))
	}
	return b.String()
}

// maxShown caps the characters of a foreign text in a message.
const maxShown = 80

// showPattern shows a pattern as it is, unless it holds what is not printable.
func showPattern(text string) string {
	if strings.ContainsFunc(text, func(r rune) bool { return !strconv.IsPrint(r) }) {
		return quote(text)
	}
	return plain.Cut(text, maxShown)
}

func quote(text string) string { return strconv.Quote(plain.Cut(text, maxShown)) }

func show(v any) string {
	switch v := v.(type) {
	case string:
		return quote(v)
	case map[string]any:
		return "an object"
	case []any:
		return "an array"
	case nil:
		return "null"
	case bool:
		return strconv.FormatBool(v)
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	case json.Number:
		return plain.Cut(v.String(), maxShown)
	}
	return "a value that JSON cannot hold"
}

func oneOf(values []any) string {
	const most = 12
	var shown []string
	for i, v := range values {
		if i == most {
			shown = append(shown, fmt.Sprintf("%d more", len(values)-most))
			break
		}
		shown = append(shown, show(v))
	}
	return plain.Cut(strings.Join(shown, ", "), 2*maxShown)
}

func number(r *big.Rat) string {
	f, _ := r.Float64()
	return strconv.FormatFloat(f, 'g', -1, 64)
}

func are(n int) string { return plain.Plural(n, "is", "are") }

func withArticle(typeName string) string {
	switch typeName {
	case "null":
		return typeName
	case "array", "object", "integer":
		return "an " + typeName
	}
	return "a " + typeName
}

func either(typeNames []string) string {
	all := make([]string, len(typeNames))
	for i, t := range typeNames {
		all[i] = withArticle(t)
	}
	return strings.Join(all, " or ")
}
