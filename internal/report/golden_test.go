package report

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/mirror/bulk"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files")

var samples = []struct {
	name   string
	report *verdict.Report
}{
	{"honest", honest()},
	{"mixed", mixed()},
	{"offline", offline()},
	{"many", many(5)},
	{"empty", counted(frame())},
	{"failed", failed()},
	{"audited", audited()},
	{"installed", installed()},
	{"declared", declared()},
	{"sessions", sessions(5)},
}

// rulesOf is the catalogue that a sample was judged by.
func rulesOf(r *verdict.Report) []verdict.Rule {
	if r.Mode == "conformance" {
		return companion
	}
	return catalogue
}

func TestGolden(t *testing.T) {
	for _, sample := range samples {
		for _, format := range Names(Formats) {
			t.Run(sample.name+"/"+format, func(t *testing.T) {
				o := Options{MaxAnnotations: AnnotationLimit, Rules: rulesOf(sample.report)}
				got := written(t, format, sample.report, o)
				if !strings.HasSuffix(got, "\n") {
					t.Error("no line break at the end")
				}
				if again := written(t, format, sample.report, o); again != got {
					t.Error("written twice, the report differs")
				}
				checkGolden(t, sample.name+"."+format, []byte(got))
			})
		}
	}
	t.Run("color", func(t *testing.T) {
		checkGolden(t, "mixed-color.text", []byte(written(t, "text", mixed(), Options{Color: true})))
	})
}

// TestSpooledReport checks that each format has the same bytes of results in a file as of results in memory.
func TestSpooledReport(t *testing.T) {
	for _, sample := range samples {
		rules := rulesOf(sample.report)
		memory, spooled := *sample.report, *sample.report
		sorted := verdict.Report{Results: verdict.NewResults(slices.Collect(sample.report.Results.All())...)}
		sorted.Settle(rules)
		memory.Results, spooled.Results = sorted.Results, verdict.Results{}
		bulk.Spool{Memory: 1, File: func() (bulk.File, error) {
			return os.Create(filepath.Join(t.TempDir(), "results"))
		}}.For(&spooled.Results, rules)
		spooled.Results.Add(slices.Collect(sorted.Results.All())...)
		for _, format := range Names(Formats) {
			o := Options{MaxAnnotations: AnnotationLimit, Rules: rules}
			if diff := cmp.Diff(written(t, format, &memory, o), written(t, format, &spooled, o)); diff != "" {
				t.Errorf("%s as %s: %s", sample.name, format, diff)
			}
		}
		if err := spooled.Results.Close(); err != nil {
			t.Error(err)
		}
	}
}

func checkGolden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		must.OK(t, os.WriteFile(path, got, 0o644))
	}
	want := must.Read(t, path)
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs (run with -update after a look):\n%s", path, cmp.Diff(string(want), string(got)))
	}
}

func TestUnknownFormat(t *testing.T) {
	var b bytes.Buffer
	err := Write(&b, "yaml", honest(), Options{})
	if err == nil || !strings.Contains(err.Error(), `"yaml" is not a report format: known are text, json,`) ||
		b.Len() > 0 {
		t.Errorf("error is %v, %d bytes written", err, b.Len())
	}
}

// NO_COLOR and the kind of output are for the caller to look at.
func TestColorIsNotTakenFromTheEnvironment(t *testing.T) {
	t.Setenv("NO_COLOR", "1")
	t.Setenv("TERM", "dumb")
	if got := written(t, "text", mixed(), Options{Color: true}); !strings.Contains(got, "\x1b[") {
		t.Error("no colour although it was asked for")
	}
	if got := written(t, "text", mixed(), Options{}); strings.Contains(got, "\x1b[") {
		t.Error("colour although it was not asked for")
	}
}
