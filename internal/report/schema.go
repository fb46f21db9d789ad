package report

import (
	"bytes"
	"encoding/json"

	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"

	"github.com/invopop/jsonschema"
)

// SchemaID identifies version 1 of the JSON report.
const SchemaID = "https://github.com/openagentprotocol-OAP/oap-gate/schemas/report.v1.json"

// Schema is the JSON Schema (draft 2020-12) of the json format. Members that it does not know are allowed:
// version 1 may gain some.
func Schema() []byte {
	reflector := jsonschema.Reflector{AllowAdditionalProperties: true, ExpandedStruct: true}
	schema := reflector.Reflect(verdict.Report{})
	schema.ID, schema.Title = SchemaID, "oap-gate report, version 1"
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(schema); err != nil {
		panic(err) // the types of this module make a schema that can be encoded, as the test shows
	}
	return b.Bytes()
}
