package report

import (
	"errors"
	"fmt"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/openagentprotocol-OAP/oap-gate/docs/schemas"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/foreign"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// MaxRead is the size of a report that Read takes, in bytes.
const MaxRead = 256 << 20

// The schemas of a report, and of the records in it.
var (
	ownSchema        = compiledAt("")
	schemaOfListing  = compiledAt("#/$defs/Listing")
	schemaOfResult   = compiledAt("#/$defs/Result")
	schemaOfEvidence = compiledAt("#/$defs/Evidence")
)

func compiledAt(part string) func() *jsonschema.Schema {
	return sync.OnceValue(func() *jsonschema.Schema {
		var document any
		if err := json.Unmarshal(schemas.Text("report"), &document); err != nil {
			panic(err) // the program's own text
		}
		c := jsonschema.NewCompiler()
		c.AssertFormat()
		if err := c.AddResource(schemas.ID("report"), document); err != nil {
			panic(err)
		}
		return c.MustCompile(schemas.ID("report") + part)
	})
}

// Read takes a JSON report that a stranger may have made: strict JSON, valid under the schema
// report. name is what errors call it.
func Read(name string, data []byte) (*verdict.Report, error) {
	doc, err := strict.Parse(name, data, limits(len(data)))
	if err != nil {
		return nil, fmt.Errorf("reading report: %w", err)
	}
	if err := ownSchema().Validate(doc.Root); err != nil {
		return nil, fmt.Errorf("reading report %s: it does not validate against the report's schema: %s", name,
			first(err))
	}
	var r verdict.Report
	if err := json.Unmarshal(data, &r); err != nil {
		return nil, fmt.Errorf("reading report %s: %w", name, err)
	}
	return &r, nil
}

// limits returns the limits for a report of size bytes. A written report has more than 20 bytes per value; a text with
// fewer would take more memory than its size suggests.
func limits(size int) strict.Limits {
	return strict.Limits{Bytes: MaxRead, Depth: 16, Number: 32, Values: 1000 + size/8}
}

// first returns the first of the faults that the library found: all of them may be more text than the report.
func first(err error) string {
	var invalid *jsonschema.ValidationError
	if !errors.As(err, &invalid) {
		return foreign.Line(err.Error())
	}
	for len(invalid.Causes) > 0 {
		invalid = invalid.Causes[0]
	}
	return cut(foreign.Line(invalid.Error()), 500)
}
