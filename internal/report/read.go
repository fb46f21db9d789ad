package report

import (
	"encoding/json"
	"fmt"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/openagentprotocol-OAP/oap-gate/gate"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
)

// MaxRead is the size of a report that Read takes, in bytes.
const MaxRead = 256 << 20

var ownSchema = sync.OnceValue(func() *jsonschema.Schema {
	var document any
	if err := json.Unmarshal(Schema(), &document); err != nil {
		panic(err) // the program's own text
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource(SchemaID, document); err != nil {
		panic(err)
	}
	return c.MustCompile(SchemaID)
})

// Read takes a JSON report that a stranger may have made: strict JSON, valid under the schema that Schema
// gives. name is what errors call it.
func Read(name string, data []byte) (*gate.Report, error) {
	doc, err := strict.Parse(name, data, strict.Limits{Bytes: MaxRead, Depth: 16, Number: 32})
	if err != nil {
		return nil, fmt.Errorf("reading report: %w", err)
	}
	if err := ownSchema().Validate(doc.Root); err != nil {
		return nil, fmt.Errorf("reading report %s: it does not validate against the report's schema: %s", name, Line(err.Error()))
	}
	var r gate.Report
	if err := json.Unmarshal(data, &r); err != nil {
		return nil, fmt.Errorf("reading report %s: %w", name, err)
	}
	return &r, nil
}
