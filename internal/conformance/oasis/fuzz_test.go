package oasis

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// FuzzAnswer checks that every answer gets a result of each check, and that none passes whole that the endpoint check
// refuses.
func FuzzAnswer(f *testing.F) {
	dir := f.TempDir()
	for name, text := range map[string]string{RequirementsFile: requirementsYAML, ContractFile: contractMarkdown} {
		must.OK(f, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666))
	}
	c := must.Get(Read(Files{Dir: dir}))(f)
	f.Add([]byte(answerJSON))
	f.Add(bytes.ReplaceAll([]byte(answerJSON), []byte("true"), []byte("false")))
	f.Add([]byte(`{"requirements":{"cores":[1,"1.0.0"],"sources":[[]],"a/b":{}},"unmet_requirements":[{}]}`))
	f.Fuzz(func(t *testing.T, answer []byte) {
		results, err := Judge(Saved(c, "a", answer, 1), "a")
		if err != nil || len(results) != 8 {
			t.Fatalf("%d results, %v", len(results), err)
		}
		if results[1].Verdict == verdict.Failed && results[2].Verdict != verdict.Skipped {
			t.Errorf("no JSON, and the check of its members is %s", results[2].Verdict)
		}
	})
}

// FuzzContract checks that a contract that cannot be read fails, whatever a profile's files contain.
func FuzzContract(f *testing.F) {
	f.Add([]byte(requirementsYAML), []byte(contractMarkdown))
	f.Add([]byte("requirements: {a: {type: integer, expected: {comparison_operator: lt, value: "+
		"-9223372036854775808}}}"),
		[]byte("```json\n{\"$schema\":\"\"}\n~~~"))
	f.Fuzz(func(t *testing.T, yaml, markdown []byte) {
		dir := t.TempDir()
		for name, text := range map[string][]byte{RequirementsFile: yaml, ContractFile: markdown} {
			must.OK(t, os.WriteFile(filepath.Join(dir, name), text, 0o666))
		}
		c := must.Get(Read(Files{Dir: dir}))(t)
		results := must.Get(Judge(Saved(c, "a", []byte(answerJSON), 1), "a"))(t)
		if (!c.readable || c.schema == nil) && results[0].Verdict != verdict.Failed {
			t.Errorf("the contract cannot be read, and its check is %s", results[0].Verdict)
		}
	})
}
