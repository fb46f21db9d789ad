package report

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/docs/schemas"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

func compiled(t *testing.T) *jsonschema.Schema {
	t.Helper()
	document := must.Get(jsonschema.UnmarshalJSON(bytes.NewReader(schemas.Text("report"))))(t)
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	must.OK(t, c.AddResource(schemas.ID("report"), document))
	return c.MustCompile(schemas.ID("report"))
}

func TestReportsAreValid(t *testing.T) {
	schema := compiled(t)
	full := new(verdict.Report)
	fill(reflect.ValueOf(full).Elem(), "x")
	full.Version, full.Mode, full.Verdict, full.Kind = 1, "audit", verdict.Failed, "mixed"
	edit(full, func(_ int, result *verdict.Result) {
		result.Verdict = verdict.Warned
		for j := range result.Findings {
			result.Findings[j].Severity = verdict.Notice
		}
	})
	full.Kind = "mixed"
	for i := range full.History.Peers {
		full.History.Peers[i].State = "split"
	}
	for i := range full.Listings {
		full.Listings[i].Status, full.Listings[i].RefusedBy = verdict.StatusExpiring, "schema"
	}
	reports := map[string]*verdict.Report{"full": full}
	for _, sample := range samples {
		reports[sample.name] = sample.report
	}
	for name, r := range reports {
		value := must.Get(jsonschema.UnmarshalJSON(strings.NewReader(written(t, "json", r, Options{}))))(t)
		if err := schema.Validate(value); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestInvalidReports(t *testing.T) {
	schema := compiled(t)
	for name, edit := range map[string]func(map[string]any){
		"version 2":            func(r map[string]any) { r["version"] = 2 },
		"unknown verdict":      func(r map[string]any) { r["verdict"] = "green" },
		"unknown mode":         func(r map[string]any) { r["mode"] = "demo" },
		"no verdict":           func(r map[string]any) { delete(r, "verdict") },
		"no assumed":           func(r map[string]any) { delete(r, "assumed") },
		"null results":         func(r map[string]any) { r["results"] = nil },
		"time without zone":    func(r map[string]any) { r["evaluated_at"] = "2026-05-04 12:00:00" },
		"number for a text":    func(r map[string]any) { r["head"] = 1 },
		"result without check": func(r map[string]any) { delete(r["results"].([]any)[0].(map[string]any), "check") },
	} {
		var value map[string]any
		must.OK(t, json.Unmarshal([]byte(written(t, "json", mixed(), Options{})), &value))
		edit(value)
		if err := schema.Validate(value); err == nil {
			t.Errorf("%s: valid", name)
		}
	}
}

// A hostile report is told by its first fault, and many small values are not read at all.
func TestReadTellsTheFirstFault(t *testing.T) {
	for text, want := range map[string]string{
		`{"version":1,"results":[{}` + strings.Repeat(", {                  }", 5000) + `]}`: "missing propert",
		`{"version":1,"results":[{}` + strings.Repeat(",{}", 5000) + `]}`:                    "values",
	} {
		_, err := Read("r.json", []byte(text))
		if err == nil || !strings.Contains(err.Error(), want) || len(err.Error()) > 1000 {
			t.Errorf("want %q in %.1200v", want, err)
		}
	}
}

func TestEmptyArraysAreWritten(t *testing.T) {
	text := written(t, "json", failed(), Options{})
	for _, want := range []string{`"assumed": []`, `"results": []`, `"evidence": []`} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
}
