package schema

import (
	"errors"
	"strings"

	library "github.com/santhosh-tekuri/jsonschema/v6"
)

// Compiles holds that a JSON value, as in strict.Document, is a schema of the draft that its $schema names, 2020-12
// where it names none, and that its references within itself lead somewhere. References to other documents and the
// spelling of patterns are not looked at. The error is nil or an *Error without a Pos.
func Compiles(root any) error {
	c := library.NewCompiler()
	c.DefaultDraft(library.Draft2020)
	c.UseLoader(outside{})
	c.UseRegexpEngine(func(pattern string) (library.Regexp, error) { return anyPattern(pattern), nil })
	err := c.AddResource(location, inward(plain(root)))
	if err == nil {
		_, err = c.Compile(location)
	}
	if err == nil {
		return nil
	}
	if fault := libraryFault(err); !errors.As(err, new(*library.LoadURLError)) {
		return fault
	}
	return &Error{Pointer: "/$schema", Message: "its $schema names no draft of JSON Schema that is known"}
}

// inward drops the references that lead to other documents.
func inward(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name, member := range v {
			if to, ok := member.(string); ok && (name == "$ref" || name == "$dynamicRef") && !strings.HasPrefix(to, "#") {
				delete(v, name)
				continue
			}
			v[name] = inward(member)
		}
	case []any:
		for i := range v {
			v[i] = inward(v[i])
		}
	}
	return v
}

// anyPattern stands for a regular expression that is not run.
type anyPattern string

func (anyPattern) MatchString(string) bool { return true }
func (p anyPattern) String() string        { return string(p) }
