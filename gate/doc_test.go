package gate_test

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

// TestGoDoc checks that the doc comment of each alias has the fields that testdata/api promises, so that go doc shows
// them. With -update it writes them.
func TestGoDoc(t *testing.T) {
	api := must.Read(t, filepath.Join("..", "testdata", "api", "gate.txt"))
	text := must.Read(t, "types.go")
	alias := regexp.MustCompile(`(?m)^(?:type |\t)(\w+) += (\w+\.\w+)$`)
	names := map[string]string{}
	for _, m := range alias.FindAllStringSubmatch(string(text), -1) {
		names[m[2]] = m[1]
	}
	fields := map[string][]string{}
	for _, m := range regexp.MustCompile(`(?m)^field (\w+)\.(\w+) (.*)$`).FindAllStringSubmatch(string(api), -1) {
		of := regexp.MustCompile(`\w+\.\w+`).ReplaceAllStringFunc(m[3], func(name string) string {
			if of := names[name]; of != "" {
				return of
			}
			return name
		})
		fields[m[1]] = append(fields[m[1]], m[2]+" "+of)
	}
	var out []string
	for _, line := range strings.Split(string(text), "\n") {
		indent := line[:len(line)-len(strings.TrimLeft(line, "\t"))]
		comment := strings.HasPrefix(strings.TrimSpace(line), "//")
		if comment && strings.HasPrefix(strings.TrimSpace(line), "//\t") || strings.TrimSpace(line) == "//" {
			continue // of an earlier run
		}
		if m := alias.FindStringSubmatch(line); m != nil && len(fields[m[1]]) > 0 {
			out = append(out, indent+"//")
			row := indent + "//\t"
			for i, field := range fields[m[1]] {
				if i < len(fields[m[1]])-1 {
					field += ";"
				}
				if len(row)+len(field) > 110 {
					out, row = append(out, strings.TrimRight(row, " ")), indent+"//\t"
				}
				row += field + " "
			}
			out = append(out, strings.TrimRight(row, " "))
		}
		out = append(out, line)
	}
	want := strings.Join(out, "\n")
	if want == string(text) {
		return
	}
	if flag.Lookup("update").Value.String() != "true" {
		t.Fatal("types.go does not have the promised fields: run the test with -update")
	}
	must.OK(t, os.WriteFile("types.go", []byte(want), 0o644))
}

// TestGoDocShows runs go doc for the report.
func TestGoDocShows(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "doc", "Report").CombinedOutput()
	if err != nil || !strings.Contains(string(out), " Verdict Verdict") {
		t.Errorf("%v\n%s", err, out)
	}
}
