package script_test

import (
	"cmp"
	"os"
	"slices"

	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
)

// result is one result of a JSON report, as scripts look at it.
type result struct {
	check, subject, verdict string
	findings                [][2]string // code, severity
}

func readResults(file string) ([]result, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	doc, err := strict.Parse(file, data, strict.Limits{Bytes: 1 << 26, Depth: 64, Number: 64})
	if err != nil {
		return nil, err
	}
	var out []result
	results, _ := strict.Member(doc.Root, "results").([]any)
	steps, _ := strict.Member(doc.Root, "steps").([]any) // of a Verification Report
	for _, r := range slices.Concat(results, steps) {
		one := result{cmp.Or(strict.String(r, "check"), strict.String(r, "step")), strict.String(r, "subject"),
			strict.String(r, "verdict"), nil}
		findings, _ := strict.Member(r, "findings").([]any)
		for _, f := range findings {
			one.findings = append(one.findings, [2]string{strict.String(f, "code"), strict.String(f, "severity")})
		}
		out = append(out, one)
	}
	return out, nil
}
