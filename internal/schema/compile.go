package schema

import (
	"errors"
	"net/url"
	"strings"

	library "github.com/santhosh-tekuri/jsonschema/v6"
)

// location is the URL that the library knows the schema by.
const location = "https://schema.invalid/"

// outside is the loader of what is not in the schema: there is none.
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
	err := c.AddResource(location, withFloats(root))
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
		if v := new(Schema).violations(nil, invalid.Err); len(v) > 0 {
			_, at, _ := strings.Cut(invalid.URL, "#")
			at, _ = url.PathUnescape(at)
			pointer := at + v[0].Pointer
			return &Error{Pointer: pointer, Message: "no schema of draft 2020-12: " + v[0].Message}
		}
	}
	return &Error{Message: "no schema of draft 2020-12: " + quote(err.Error())}
}
