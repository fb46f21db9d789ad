package schema

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

// parityCase is one listing with the verdict of Ajv 2020 (allErrors, strict: false) and ajv-formats.
type parityCase struct {
	Name    string
	Listing string
	Valid   bool `json:"ajv_valid"`
	Errors  []struct {
		InstancePath, Keyword string
		Params                struct{ MissingProperty, AdditionalProperty string }
	} `json:"ajv_errors"`
}

func parityCases(t testing.TB) []parityCase {
	t.Helper()
	text := must.Read(t, filepath.Join("testdata", "ajv-parity.json"))
	var file struct{ Cases []parityCase }
	must.OK(t, json.Unmarshal(text, &file))
	return file.Cases
}

// keywords are the violations as Ajv would name them.
func (c parityCase) keywords() []string {
	out := []string{}
	for _, e := range c.Errors {
		at := e.InstancePath
		if name := e.Params.AdditionalProperty; name != "" {
			at += "/" + name
		}
		out = append(out, at+" "+e.Keyword+" "+e.Params.MissingProperty)
	}
	slices.Sort(out)
	return out
}

func keywords(violations []Violation) []string {
	out := []string{}
	for _, v := range violations {
		missing := ""
		if v.Keyword == "required" {
			missing = strings.Split(v.Message, `"`)[1]
		}
		out = append(out, v.Pointer+" "+v.Keyword+" "+missing)
	}
	slices.Sort(out)
	return out
}

func TestParity(t *testing.T) {
	cases := parityCases(t)
	if len(cases) != 30 {
		t.Fatalf("%d cases, want 30", len(cases))
	}
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			doc, err := strict.Parse("listing.json", []byte(c.Listing), strict.RegistryFile)
			root := any(nil)
			switch {
			case err == nil:
				root = doc.Root
			default: // the two that strict JSON refuses are read as JSON.parse reads them
				must.OK(t, json.Unmarshal([]byte(c.Listing), &root))
			}
			got := Builtin("listing").Validate(root)
			if (got == nil) != c.Valid {
				t.Errorf("violations %v, Ajv says valid: %v", got, c.Valid)
			}
			if !slices.Equal(keywords(got), c.keywords()) {
				t.Errorf("violations %q, Ajv has %q", keywords(got), c.keywords())
			}
		})
	}
}
