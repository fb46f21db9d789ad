package oasis

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// shared is the directory of contracts and answers of the Software Infrastructure profile, with the findings expected
// for each. Tests that need it skip where it is missing.
var shared = filepath.Join("..", "..", "..", "..", "shared", "data", "oasis")

type finding struct{ Check, Code, Pointer, Severity, Key string }

func sharedFile(t *testing.T, to any, elements ...string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(shared, filepath.Join(elements...)))
	if err != nil {
		t.Skip(err)
	}
	if to != nil {
		must.OK(t, json.Unmarshal(data, to))
	}
	return data
}

// hold compares what Judge says about an answer with the verdict and the findings.
func hold(t *testing.T, c *Contract, answer []byte, tier int, want verdict.Verdict, findings, ofContract []finding) {
	t.Helper()
	results := must.Get(Judge(Saved(c, "answer.json", answer, tier), "answer.json"))(t)
	rep := verdict.Report{Results: verdict.NewResults(results...)}
	rep.Settle(Rules)
	if rep.Verdict != want {
		t.Errorf("the verdict is %s, want %s", rep.Verdict, want)
	}
	left := map[string]bool{}
	var expected, got []string
	for _, f := range ofContract {
		expected = append(expected, strings.Join([]string{"oasis-contract", f.Code, f.Severity}, " "))
		left["/requirements/"+f.Key] = f.Severity == "error"
	}
	for _, f := range findings {
		if !left[f.Pointer] {
			expected = append(expected, strings.Join([]string{f.Check, f.Code, f.Pointer}, " "))
		}
	}
	for _, r := range results {
		for _, f := range r.Findings {
			switch {
			case f.Severity == verdict.Notice:
			case r.Check == contractRule.ID:
				if ofContract != nil {
					got = append(got, strings.Join([]string{r.Check, f.Code, f.Severity.String()}, " "))
				}
			case f.Severity != verdict.Warning:
				got = append(got, strings.Join([]string{r.Check, f.Code, f.Pointer}, " "))
			}
		}
	}
	slices.Sort(expected)
	slices.Sort(got)
	if diff := cmp.Diff(expected, got); diff != "" {
		t.Error(diff)
	}
}

func TestRealProfiles(t *testing.T) {
	directories, err := filepath.Glob(filepath.Join(shared, "v*"))
	if err != nil || len(directories) == 0 {
		t.Skip("no profile at hand")
	}
	for _, dir := range directories {
		var examples []struct {
			Example            string
			Verdict            verdict.Verdict
			Contract, Findings []finding
		}
		tag := filepath.Base(dir)
		sharedFile(t, &examples, tag, "expected.json")
		c := must.Get(Read(Files{Dir: dir}))(t)
		for _, e := range examples {
			t.Run(tag+" "+e.Example, func(t *testing.T) {
				if e.Contract == nil {
					e.Contract = []finding{}
				}
				hold(t, c, sharedFile(t, nil, tag, "response-"+e.Example+".json"), 1, e.Verdict, e.Findings, e.Contract)
			})
		}
	}
}

func TestOneFaultEach(t *testing.T) {
	var all struct {
		Profile string
		Cases   []struct {
			Case     string
			Tier     int
			Response json.RawMessage
			Verdict  verdict.Verdict
			Findings []finding
		}
	}
	sharedFile(t, &all, "cases.json")
	c := must.Get(Read(Files{Dir: filepath.Join(shared, all.Profile)}))(t)
	for _, test := range all.Cases {
		t.Run(test.Case, func(t *testing.T) { hold(t, c, test.Response, test.Tier, test.Verdict, test.Findings, nil) })
	}
}
