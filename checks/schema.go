package checks

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/internal/git/gitobject"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	jsonschema "github.com/openagentprotocol-OAP/oap-gate/internal/strict/schema"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

var schema = &Check{
	ID:    "schema",
	Title: "every record is valid under the base tree's JSON Schema",
	Cite:  "RFC 0026 section 6",
	Row:   "Schema",
	Why: "readers of the log rely on each record's shape, and a proposer must not bring the schema that " +
		"judges the proposal",
	Fix:         "correct the member at the place shown, or propose the schema change in a pull request of its own",
	Kinds:       registry.DataKinds,
	First:       true,
	After:       []*Check{appendOnly, layout},
	Run:         runSchema,
	RunRegistry: runSchemaRegistry,
	Blocks: func(s *Subject, reads []string) (pointer, code, message string) {
		for _, p := range reads {
			if refused(s, p) || refused(s, "") && strict.Member(s.Record.Document.Root, p[1:]) == nil {
				return p, "schema", "the schema refuses " + p
			}
		}
		return "", "", ""
	},
	Codes: schemaCodes,
}

// maxSchema is the size of a schema file in bytes.
const maxSchema = 256 << 10

// schemaFiles names the schema of each kind, in the tree and in the binary.
var schemaFiles = []schemaFile{
	{[]registry.Kind{registry.KindListing, registry.KindPeerWitness}, "schemas/implementation.schema.json", "listing"},
	{[]registry.Kind{registry.KindRevocation}, "schemas/revocation.schema.json", "revocation"},
	{[]registry.Kind{registry.KindWorkflowAnchor}, "schemas/workflow-anchor.schema.json", "workflow-anchor"},
}

type schemaFile struct {
	kinds      []registry.Kind
	path, name string
}

// Schemas are the schemas by which a tree judges: its own, or the built-in ones where it has none.
type Schemas struct {
	byKind map[registry.Kind]*jsonschema.Schema
	source map[registry.Kind]string // where to read what is allowed
	broken map[string]error         // by path
}

func newSchemas() *Schemas {
	return &Schemas{byKind: map[registry.Kind]*jsonschema.Schema{}, source: map[registry.Kind]string{},
		broken: map[string]error{}}
}

func (s *Schemas) set(f schemaFile, schema *jsonschema.Schema) {
	source := f.path
	if schema == jsonschema.Builtin(f.name) {
		source = "oap-gate schema " + f.name
	}
	for _, k := range f.kinds {
		s.byKind[k], s.source[k] = schema, source
	}
}

// builtinSchemas returns the schemas of a tree that has none.
func builtinSchemas() *Schemas {
	out := newSchemas()
	for _, f := range schemaFiles {
		out.set(f, jsonschema.Builtin(f.name))
	}
	return out
}

// readSchemas compiles a tree's schemas. A schema that does not compile is not an error here: the check says so.
func readSchemas(ctx context.Context, t *registry.Tree) (*Schemas, error) {
	out := newSchemas()
	for _, f := range schemaFiles {
		s, broken, err := readSchema(ctx, t, f)
		if err != nil {
			return nil, err
		}
		if broken != nil {
			out.broken[f.path] = broken
			continue
		}
		out.set(f, s)
	}
	return out, nil
}

func readSchema(ctx context.Context, t *registry.Tree, f schemaFile) (s *jsonschema.Schema, broken, err error) {
	e, found, err := t.Entry(f.path)
	if err != nil {
		return nil, nil, err
	}
	if !found {
		return jsonschema.Builtin(f.name), nil, nil
	}
	if e.Mode != registry.ModeFile && e.Mode != registry.ModeExecutable {
		return nil, fmt.Errorf("%s is not a regular file", f.path), nil
	}
	text, err := t.File(ctx, f.path, maxSchema)
	if errors.Is(err, gitobject.ErrTooLarge) {
		return nil, fmt.Errorf("%s has more than %d bytes", f.path, maxSchema), nil
	}
	if err != nil {
		return nil, nil, err
	}
	s, broken = jsonschema.Compile(f.path, text)
	return s, broken, nil
}

// Of returns the schema of a kind, or nil if it does not compile.
func (s *Schemas) Of(k registry.Kind) *jsonschema.Schema { return s.byKind[k] }

// times are the members that must be readable times, by kind.
var times = map[registry.Kind][]string{
	registry.KindListing:        {"issued_at", "expires_at"},
	registry.KindPeerWitness:    {"issued_at", "expires_at"},
	registry.KindRevocation:     {"revoked_at"},
	registry.KindWorkflowAnchor: {"anchored_at"},
}

// violations judges one readable file by the schema of its kind, one finding per violated keyword.
func (s *Schemas) violations(sub *Subject) []verdict.Finding {
	var out verdict.Outcome
	root := sub.Record.Document.Root
	found := s.Of(sub.Kind).Validate(root)
	for _, v := range found {
		keyword := cmp.Or(v.Keyword, "unjudged")
		f := out.Errorf(sub, v.Pointer, "schema-"+keyword, "%s", withValue(root, v))
		f.Fix = schemaFix(sub, s.Of(sub.Kind), v)
		if sub.Kind == registry.KindRevocation && v.Pointer == "/signature" && v.Keyword == "type" {
			f.WithFix("%s", signatureForm)
		}
	}
	for i := range out.Findings {
		f := &out.Findings[i]
		if f.Pointer != "" {
			f.Message = strings.TrimPrefix(f.Pointer, "/") + ": " + f.Message
		}
		if f.Fix == "" {
			f.WithFix("set %s to a value that %s allows", cmp.Or(strings.TrimPrefix(f.Pointer, "/"), "the record"),
				s.source[sub.Kind])
		}
	}
	for _, name := range times[sub.Kind] {
		text, isText := strict.Member(root, name).(string)
		if _, readable := strict.Time(text); !isText || readable {
			continue
		}
		pointer := "/" + name
		if !slices.ContainsFunc(found, func(v jsonschema.Violation) bool { return v.Pointer == pointer }) {
			out.Errorf(sub, pointer, "unreadable-time", "%s is %q, which is not an RFC 3339 time as this gate reads it",
				name, text).
				WithFix("write it like 2026-05-04T08:00:00Z: capital T, Z or ±hh:mm, a point before fractions, no " +
					"leap second")
		}
	}
	return out.Findings
}

func runSchema(s *Subject) (verdict.Outcome, error) {
	schemas := s.Run.Base.Schemas
	if schemas.Of(s.Kind) == nil {
		return verdict.Skip("the base tree's schema does not compile; see %s", RegistrySubject), nil
	}
	out := verdict.Outcome{Findings: schemas.violations(s)}
	forgive(&out, s)
	s.violations, s.validated = out.Findings, true
	return out.OrPass(), nil
}

// refused reports whether schema refuses the member at that place.
func refused(s *Subject, pointer string) bool {
	return slices.ContainsFunc(s.violations, func(f verdict.Finding) bool {
		return f.Severity == verdict.Error && f.Pointer == pointer
	})
}

func runSchemaRegistry(r *Run) (verdict.Outcome, error) {
	var out verdict.Outcome
	for _, f := range schemaFiles {
		passing, err := r.passing(f.path)
		if err != nil {
			return out, err
		}
		if len(passing) > 0 || changeOf(r.Range.Changes, f.path) != nil {
			if err := schemaChange(&out, r, f, passing); err != nil {
				return out, err
			}
		} else if broken := r.Base.Schemas.broken[f.path]; broken != nil {
			out.Add(verdict.At{Path: f.path}, errorIf(len(r.Subjects) > 0), "", "schema-broken",
				"the base tree's schema does not compile: %v", broken).
				WithFix("fix %s in a pull request of its own, or remove it to fall back on the built-in schema",
					f.path)
		}
	}
	return out.OrPass(), nil
}

// maxBrokenRecords is how many records that a new schema refuses are named.
const maxBrokenRecords = 10

// schemaChange judges a pull request that brings a new schema: it compiles, and no record that was valid
// becomes invalid. So does each schema that a single commit has in passing.
func schemaChange(o *verdict.Outcome, r *Run, f schemaFile, passing []*registry.Tree) error {
	old := r.Base.Schemas.Of(f.kinds[0])
	for i, t := range append(passing, r.Range.Result) {
		next, broken, err := readSchema(r.Context, t, f)
		if err != nil {
			return err
		}
		from := len(o.Findings)
		if broken != nil {
			o.Errorf(verdict.At{Path: f.path}, "", "schema-broken", "the proposed schema does not compile: %v", broken).
				WithFix("correct the schema; it is read as JSON Schema draft 2020-12 without remote references")
		} else if err := refusesRecords(o, r, f, old, next); err != nil {
			return err
		} else {
			old = next
		}
		if i < len(passing) {
			r.inPassing(o.Findings[from:], t)
		}
	}
	return nil
}

// refusesRecords reports the records of the base tree that a schema refuses and the one before it accepts.
func refusesRecords(o *verdict.Outcome, r *Run, f schemaFile, old, next *jsonschema.Schema) error {
	if old == nil {
		return nil
	}
	at := verdict.At{Path: f.path}
	var refused []string
	for _, k := range f.kinds {
		scan := func(rec *registry.Record) string {
			if rec.Document == nil || len(old.Validate(rec.Document.Root)) > 0 {
				return ""
			}
			if bad := next.Validate(rec.Document.Root); len(bad) > 0 {
				return rec.Document.Pos(bad[0].Pointer).String() + ": " + bad[0].Message
			}
			return ""
		}
		for bad, err := range registry.Scan(r.Context, r.Range.Base, k, scan) {
			if err != nil {
				return err
			}
			if bad != "" {
				refused = append(refused, bad)
			}
		}
	}
	for i, bad := range refused {
		if i == maxBrokenRecords {
			o.Errorf(at, "", "schema-refuses-records", "the proposed schema refuses %d more records", len(refused)-i)
			break
		}
		o.Errorf(at, "", "schema-refuses-records", "the proposed schema refuses a record that the base schema "+
			"accepts: %s", bad).
			WithFix("keep what is valid today valid; publish tighter rules under a new schema")
	}
	return nil
}

var unreadableTime = Code{"unreadable-time", "the text is not an RFC 3339 time as this gate reads it",
	"write it like 2026-05-04T08:00:00Z: capital T, Z or an offset, no leap second"}

// schemaCodes has one code for each keyword that a value can violate.
var schemaCodes = []Code{
	{"schema", "the schema refuses a member that another check reads", "run schema too; it says what would pass"},
	{"schema-broken", "a schema file of the registry does not compile", "fix it in a pull request of its own"},
	{"schema-refuses-records", "the proposed schema refuses records that are valid today",
		"keep them valid; publish tighter rules under a new schema"},
	{"schema-unjudged", "JSON cannot hold the value, or there are more violations than are shown",
		"correct those that are shown"},
	{"schema-required", "a member that the schema requires is missing", "add it"},
	{"schema-additionalProperties", "the schema knows no member of this name here", "remove it, or correct its name"},
	{"schema-unevaluatedProperties", "the schema knows no member of this name here", "remove it, or correct its name"},
	{"schema-unevaluatedItems", "the schema allows no further item here", "remove it"},
	{"schema-propertyNames", "a member has a name that the schema does not allow", "rename it"},
	{"schema-dependencies", "a member needs another one, which is missing", "add the other one, or remove both"},
	{"schema-dependentRequired", "a member needs another one, which is missing", "add the other one, or remove both"},
	{"schema-false", "the schema allows nothing here", "remove it"},
	{"schema-not", "the value is one that the schema rules out", "choose another value"},
	{"schema-type", "the value has another JSON type than the schema requires",
		"write it as the type that the message names"},
	{"schema-const", "the value is not the only one that is allowed", "set the value that the message names"},
	{"schema-enum", "the value is not one of the allowed values", "set one of the values that the message names"},
	{"schema-format", "the text does not have the required form, such as a URI or a date",
		"write it in the form that the message names"},
	{"schema-pattern", "the text does not match the required pattern", "write it so that the pattern matches"},
	{"schema-minLength", "the text is too short", "write at least as many characters as the message says"},
	{"schema-maxLength", "the text is too long", "write at most as many characters as the message says"},
	{"schema-minItems", "the array has too few items", "add items"},
	{"schema-maxItems", "the array has too many items", "remove items"},
	{"schema-uniqueItems", "two items of the array are equal", "remove one of the two"},
	{"schema-minProperties", "the object has too few members", "add members"},
	{"schema-maxProperties", "the object has too many members", "remove members"},
	{"schema-minimum", "the number is too small", "raise it to the bound that the message names"},
	{"schema-maximum", "the number is too large", "lower it to the bound that the message names"},
	{"schema-exclusiveMinimum", "the number is too small", "raise it above the bound that the message names"},
	{"schema-exclusiveMaximum", "the number is too large", "lower it below the bound that the message names"},
	{"schema-multipleOf", "the number is not a multiple of the one that the schema names",
		"set a multiple of the number that the message names"},
	{"schema-contains", "the array has no item of the required kind", "add such an item"},
	{"schema-minContains", "the array has too few items of the required kind", "add such items"},
	{"schema-maxContains", "the array has too many items of one kind", "remove some of them"},
	{"schema-anyOf", "the value matches none of the allowed forms", "change it to match one of them"},
	{"schema-oneOf", "the value matches none or several of the forms; it must match exactly one",
		"change it to match exactly one of them"},
	unreadableTime,
}
