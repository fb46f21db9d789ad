package outside

import (
	"bytes"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"github.com/openagentprotocol-OAP/oap-gate/internal/report"
)

// reports writes each sample report of the product's own tests in a format.
func reports(r *run, format string, f func(name string, text []byte)) {
	files, err := filepath.Glob(filepath.Join("..", "..", "internal", "report", "testdata", "*.json"))
	if err != nil || len(files) == 0 {
		r.Fatal("there are no samples of reports")
	}
	for _, file := range files {
		doc, err := report.Read(filepath.Base(file), readFile(r, file))
		if err != nil {
			continue // not a report
		}
		var out bytes.Buffer
		if err := report.Write(&out, format, doc, report.Options{}); err != nil {
			r.Fatal(err)
		}
		f(strings.TrimSuffix(filepath.Base(file), ".json"), out.Bytes())
	}
}

var promlintJudge = &judge{name: "promlint", version: goVersion("github.com/prometheus/client_golang"), cases: 10,
	run: func(r *run) {
		reports(r, "prometheus", func(name string, text []byte) {
			r.compare(name, accepts, func() (string, error) {
				problems, err := promlint.New(bytes.NewReader(text)).Lint()
				if err != nil || len(problems) > 0 {
					return "", fmt.Errorf("%v %v", err, problems)
				}
				return "", nil
			})
		})
	}}

// End tags that HTML lets a page leave out are left out, which the rules that are off do not like.
var htmlValidate = &judge{name: "html-validate", version: npmVersion("html-validate"), cases: 10,
	needs: []string{"node", "npm"}, run: func(r *run) {
		pages := map[string]string{}
		reports(r, "html", func(name string, text []byte) { pages[name] = string(text) })
		var found map[string][]string
		node(r, `import { HtmlValidate, StaticConfigLoader } from 'html-validate'
const judge = new HtmlValidate(new StaticConfigLoader(
  { extends: ['html-validate:standard'], rules: { 'no-implicit-close': 'off' } }))
const out = {}
for (const [name, text] of Object.entries(input)) out[name] = (await judge.validateString(text)).results.flatMap(
  r => r.messages.map(m => m.line + ': ' + m.ruleId + ': ' + m.message))
print(out)`, pages, &found)
		for _, name := range slices.Sorted(maps.Keys(pages)) {
			r.compare(name, accepts, func() (string, error) {
				if len(found[name]) > 0 {
					return "", fmt.Errorf("%q", found[name])
				}
				return "", nil
			})
		}
	}}
