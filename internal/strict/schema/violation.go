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

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
)

// maxViolations is the maximum number of violations that are reported of one document.
const maxViolations = 100

// violations makes an error of the library into violations. Its messages are not used: they are of several
// voices, and quote foreign text whole.
func (s *Schema) violations(root any, err error) []Violation {
	l := list{raw: s.raw, root: root}
	l.add(err.(*library.ValidationError))
	if len(l.first) <= maxViolations {
		return l.first
	}
	printed := l.first[: maxViolations-1 : maxViolations-1]
	return append(printed, Violation{Message: fmt.Sprintf("has %d more violations", l.count-len(printed))})
}

// Violations makes an error of the library into violations without a document that they are of.
func Violations(err error) []Violation { return new(Schema).violations(nil, err) }

type list struct {
	raw   map[string]any // subschemas by pointer
	root  any
	first []Violation // sorted, each once, one more than is reported: a record of 64 KiB can have 32,000
	count int
}

// put adds a violation, whose message is asked for only where it may be among the first.
func (l *list) put(at, keyword string, message func() string) {
	l.count++
	v := Violation{Pointer: at, Keyword: keyword}
	if len(l.first) > maxViolations && v.compare(l.first[maxViolations]) > 0 {
		return
	}
	v.Message = message()
	if i, found := slices.BinarySearchFunc(l.first, v, Violation.compare); !found {
		l.first = slices.Insert(l.first, i, v)
		l.first = l.first[:min(len(l.first), maxViolations+1)]
	}
}

func (v Violation) compare(other Violation) int {
	return cmp.Or(strings.Compare(v.Pointer, other.Pointer), strings.Compare(v.Keyword, other.Keyword),
		strings.Compare(v.Message, other.Message))
}

func (l *list) add(e *library.ValidationError) {
	at := pointer(e.InstanceLocation)
	switch k := e.ErrorKind.(type) {
	case *kind.Schema, *kind.Group, *kind.Reference, *kind.AllOf:
		for _, cause := range e.Causes {
			l.add(cause)
		}
	case *kind.Required:
		for _, name := range k.Missing {
			l.put(at, "required", func() string { return "has no " + quote(name) + ", which is required" })
		}
	case *kind.AdditionalProperties:
		for _, name := range k.Properties {
			l.put(at+"/"+strict.Escape(name), "additionalProperties",
				func() string { return quote(name) + " is not a member that is allowed here" })
		}
	case *kind.PropertyNames:
		l.put(l.member(at, k.Property), "propertyNames",
			func() string { return quote(k.Property) + " is not a name that a member may have here" })
	case *kind.Dependency:
		l.dependency(at, "dependencies", k.Prop, k.Missing)
	case *kind.DependentRequired:
		l.dependency(at, "dependentRequired", k.Prop, k.Missing)
	case *kind.FalseSchema:
		l.put(at, falseKeyword(e.SchemaURL), func() string { return "is not allowed here" })
	case *kind.Not:
		l.put(at, "not", func() string {
			return show(lookup(l.root, at)) + " is not allowed here" + l.forbidden(e.SchemaURL)
		})
	default:
		l.put(at, strings.Join(k.KeywordPath(), ""), func() string { return scalar(k) })
	}
}

func (l *list) dependency(at, keyword, name string, missing []string) {
	for _, m := range missing {
		l.put(at, keyword,
			func() string { return "has " + quote(name) + " and no " + quote(m) + ", which is then required" })
	}
}

// scalar describes the kinds that concern one value and need no other context.
func scalar(k library.ErrorKind) string {
	switch k := k.(type) {
	case *kind.Type:
		return fmt.Sprintf("is %s; expected %s", withArticle(k.Got), either(k.Want))
	case *kind.Const:
		return fmt.Sprintf("%s is not %s", show(k.Got), show(k.Want))
	case *kind.Enum:
		return fmt.Sprintf("%s is not one of %s", show(k.Got), oneOf(k.Want))
	case *kind.Format:
		return fmt.Sprintf("%s is not of the format %s; expected %s", show(k.Got), k.Want, formats[k.Want].wants)
	case *kind.Pattern:
		return fmt.Sprintf("%s does not match %s", show(k.Got), showPattern(k.Want))
	case *kind.MinLength:
		return fmt.Sprintf("is %s long; expected at least %d", plain.Count(k.Got, "character"), k.Want)
	case *kind.MaxLength:
		return fmt.Sprintf("is %s long; expected at most %d", plain.Count(k.Got, "character"), k.Want)
	case *kind.MinItems:
		return fmt.Sprintf("has %s; expected at least %d", plain.Count(k.Got, "item"), k.Want)
	case *kind.MaxItems:
		return fmt.Sprintf("has %s; expected at most %d", plain.Count(k.Got, "item"), k.Want)
	case *kind.MinProperties:
		return fmt.Sprintf("has %s; expected at least %d", plain.Count(k.Got, "member"), k.Want)
	case *kind.MaxProperties:
		return fmt.Sprintf("has %s; expected at most %d", plain.Count(k.Got, "member"), k.Want)
	case *kind.UniqueItems:
		return fmt.Sprintf("items %d and %d are equal; expected items that differ", k.Duplicates[0],
			k.Duplicates[1])
	case *kind.Minimum:
		return fmt.Sprintf("is %s; expected at least %s", number(k.Got), number(k.Want))
	case *kind.Maximum:
		return fmt.Sprintf("is %s; expected at most %s", number(k.Got), number(k.Want))
	case *kind.ExclusiveMinimum:
		return fmt.Sprintf("is %s; expected more than %s", number(k.Got), number(k.Want))
	case *kind.ExclusiveMaximum:
		return fmt.Sprintf("is %s; expected less than %s", number(k.Got), number(k.Want))
	case *kind.MultipleOf:
		return fmt.Sprintf("is %s; expected a multiple of %s", number(k.Got), number(k.Want))
	case *kind.Contains:
		return "has no item of the required kind"
	case *kind.MinContains:
		return fmt.Sprintf("has %s of the required kind; expected at least %d", plain.Count(len(k.Got), "item"), k.Want)
	case *kind.MaxContains:
		return fmt.Sprintf("has %s of one kind; expected at most %d", plain.Count(len(k.Got), "item"), k.Want)
	case *kind.AnyOf:
		return "matches none of the allowed forms"
	case *kind.OneOf:
		if len(k.Subschemas) > 1 {
			return fmt.Sprintf("matches forms %d and %d; expected exactly one", k.Subschemas[0],
				k.Subschemas[1])
		}
		return "matches none of the allowed forms"
	}
	return "is not a value that JSON can hold"
}

// member returns the pointer to a member whose name is at fault. The library returns the object's place in a slice that
// it may since have overwritten, so member checks the place against the document.
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

// forbidden describes the subschema under not, if it is a pattern.
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

// pointer returns the JSON Pointer of a location.
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
