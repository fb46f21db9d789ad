// Package strict reads JSON, YAML and schemas with one meaning.
//
// Each text has one meaning, or is an error with a position. The package itself reads JSON. It refuses what
// encoding/json lets pass: duplicate members (also by escapes), invalid UTF-8, lone surrogates, a byte order mark,
// anything after the value, deep nesting, and numbers that are longer than a cap or outside the range of an IEEE 754
// double (RFC 7493, I-JSON).
package strict

import "fmt"

// Pos is a place in a file: Line and Column count from 1, Column in bytes. The zero Line means the file
// as a whole.
type Pos struct {
	Path   string `json:"file,omitempty" jsonschema:"description=path of the file at fault"`
	Line   int    `json:"line,omitempty" jsonschema:"description=line\\, from 1"`
	Column int    `json:"column,omitempty" jsonschema:"description=column\\, from 1"`
}

// String gives path:line:column, or only the path where there is no line.
func (p Pos) String() string {
	if p.Line == 0 {
		return p.Path
	}
	return fmt.Sprintf("%s:%d:%d", p.Path, p.Line, p.Column)
}

// Limits caps what Parse accepts.
type Limits struct {
	Bytes  int // size of the text
	Depth  int // nesting of objects and arrays
	Number int // bytes of one number token
	Values int // objects, arrays, strings, numbers and words in all; 0: as many as fit in Bytes
}

// RegistryFile is what a file of the registry's data directories may hold.
var RegistryFile = Limits{Bytes: 64 << 10, Depth: 64, Number: 64}

// Remote returns the limits of a fetched document of at most maxBytes. A value takes some fifty bytes of memory,
// however short its text is, so the number of values has a limit, too.
func Remote(maxBytes int) Limits {
	return Limits{Bytes: maxBytes, Depth: 64, Number: 64, Values: 1 << 17}
}

// Codes of Error.
const (
	CodeSyntax          = "json-syntax"
	CodeTooLarge        = "file-too-large"
	CodeInvalidUTF8     = "invalid-utf8"
	CodeLoneSurrogate   = "lone-surrogate"
	CodeBOM             = "byte-order-mark"
	CodeDuplicateMember = "duplicate-member"
	CodeTrailingText    = "trailing-text"
	CodeTooDeep         = "nesting-too-deep"
	CodeLongNumber      = "number-too-long"
	CodeTooMany         = "too-many-values"
	CodeNumberRange     = "number-out-of-range"
)

// Code explains one code of a finding: what it means wherever it is reported, and what would pass. It is an alias of a
// type without a name so that every package's table of codes may be one line each: go vet asks for the names of the
// fields of another package's type.
type Code = struct{ ID, Meaning, Fix string }

// Codes explains the codes of Error.
var Codes = []Code{
	{CodeSyntax, "the text is not JSON", "correct the text at the place shown; a JSON linter names the same place"},
	{CodeTooLarge, "the file has more bytes than are read of its kind", "make it smaller: a record has at most 64 KiB"},
	{CodeInvalidUTF8, "the text has bytes that are not UTF-8", "save the file as UTF-8"},
	{CodeLoneSurrogate, "an escape names half of a surrogate pair",
		"write the character itself, or both halves together"},
	{CodeBOM, "the text begins with a byte order mark", "save the file as UTF-8 without a byte order mark"},
	{CodeDuplicateMember, "an object has two members of one name, which readers resolve differently",
		"keep one of the two"},
	{CodeTrailingText, "something follows the JSON value", "keep one JSON value in the file, and nothing after it"},
	{CodeTooDeep, "arrays and objects are nested deeper than is read", "flatten the document"},
	{CodeLongNumber, "a number has more digits than are read", "write it with fewer digits, or as a string"},
	{CodeTooMany, "the document has more values than are read", "serve a smaller document"},
	{CodeNumberRange, "a number is outside the range of a double, so that readers round it differently",
		"write a number that a double holds, or a string"},
}

// Error says why a text is not strict JSON, and where.
type Error struct {
	Pos     Pos
	Code    string
	Message string
	Pointer string // path of the value or member at fault, as far as it was read
}

func (e *Error) Error() string { return e.Pos.String() + ": " + e.Message }

// Document is one strict JSON text. Root is made of map[string]any, []any, string, json.Number
// (encoding/json), bool and nil. Neither Data nor Root may be changed.
type Document struct {
	Path string
	Data []byte
	Root any

	places places
}
