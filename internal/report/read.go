package report

import (
	"errors"
	"fmt"
	"slices"
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
	r.Results = verdict.NewResults(together(slices.Collect(r.Results.All()))...)
	return &r, nil
}

// Contradiction returns an error if a report contradicts itself: counts or a verdict that are not those of its
// results, a result better than its findings, one that is there twice, or a pass without results. Results that Omitted
// names may be missing.
func Contradiction(r *verdict.Report) error {
	var counts verdict.Counts
	type key struct{ check, subject string }
	seen := map[key]bool{}
	for one := range r.Results.All() {
		k := key{one.Check, one.Subject}
		switch worst := one.Worst(); {
		case worst.Worse(one.Verdict):
			return fmt.Errorf("the result of %s on %q is %s; its findings make it %s", one.Check, one.Subject,
				one.Verdict, worst)
		case seen[k]:
			return fmt.Errorf("there are two results of %s on %q", one.Check, one.Subject)
		}
		seen[k] = true
		counts.Add(one.Verdict)
	}
	said := r.Counts
	for _, n := range []struct {
		of        verdict.Verdict
		said, are *int
	}{{verdict.Passed, &said.Pass, &counts.Pass}, {verdict.Skipped, &said.Skip, &counts.Skip}} {
		if slices.Contains(r.Omitted, string(n.of)) && *n.are == 0 && *n.said > 0 {
			*n.are = *n.said
		}
	}
	said.Records = 0
	switch {
	case said != counts:
		return fmt.Errorf("its counts are %+v; its results give %+v", said, counts)
	case r.Verdict != counts.Verdict():
		return fmt.Errorf("its verdict is %s; its results give %s", r.Verdict, counts.Verdict())
	case counts == verdict.Counts{}:
		return errors.New("its verdict is pass; it has no results")
	case r.Routine != nil && *r.Routine && (r.Verdict != verdict.Passed || said.Warn > 0 ||
		len(r.Assumed)+len(r.NotRun) > 0 ||
		len(r.Governance) > 0):
		return errors.New("it is routine, and does not pass completely without a warning, or changes governance files")
	case r.Counts.Records < 0:
		return fmt.Errorf("it counts %d records", r.Counts.Records)
	}
	return nil
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
