package report

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

func TestOutputs(t *testing.T) {
	for _, test := range []struct {
		name string
		got  []Output
		want map[string]string
	}{
		{"mixed", Outputs(mixed(), "report.json"), map[string]string{
			"verdict": "fail", "complete": "true", "failed-checks": "append-only,receipt-validity", "records": "1",
			"governance": "false", "squash": "true",
			"kind": "", "routine": "false", "exception": "false", "charter": "false", "report": "report.json",
		}},
		{"offline", Outputs(offline(), ""), map[string]string{
			"verdict": "pass", "complete": "false", "failed-checks": "", "records": "1",
			"governance": "false", "squash": "false",
			"kind": "", "routine": "false", "exception": "false", "charter": "false", "report": "",
		}},
		{"routine", Outputs(routine(), ""), map[string]string{
			"verdict": "pass", "complete": "true", "failed-checks": "", "records": "0", "governance": "false",
			"squash": "false", "kind": "renewal", "routine": "true", "exception": "false", "charter": "false",
			"report": "",
		}},
		{"failed", Outputs(failed(), ""), map[string]string{
			"verdict": "error", "complete": "false", "failed-checks": "", "records": "0",
			"governance": "false", "squash": "false",
			"kind": "", "routine": "false", "exception": "false", "charter": "false", "report": "",
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := map[string]string{}
			for _, o := range test.got {
				got[o.Name] = o.Value
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func routine() *verdict.Report {
	yes := true
	return &verdict.Report{Verdict: verdict.Passed, Kind: "renewal", Routine: &yes}
}

func TestAppendOutputs(t *testing.T) {
	path := filepath.Join(t.TempDir(), "output")
	must.OK(t, os.WriteFile(path, []byte("before=1\n"), 0o644))
	hostile := "a\noap_gate_\nverdict=pass\nverdict<<x\npass\nx\n%0A"
	want := []Output{{"verdict", "fail"}, {"report", hostile}, {"empty", ""}}
	must.OK(t, AppendOutputs(path, want))
	text := must.Read(t, path)
	got := parseOutputs(t, strings.TrimPrefix(string(text), "before=1\n"))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// parseOutputs reads a file of outputs as the runner does.
func parseOutputs(t *testing.T, text string) []Output {
	var outputs []Output
	for text != "" {
		head, rest, ok := strings.Cut(text, "\n")
		name, delimiter, heredoc := strings.Cut(head, "<<")
		if !ok || !heredoc || len(delimiter) < 16 {
			t.Fatalf("no output at %q", text)
		}
		value, after, ok := strings.Cut("\n"+rest, "\n"+delimiter+"\n")
		if !ok {
			t.Fatalf("no end of %s", name)
		}
		outputs = append(outputs, Output{name, strings.TrimPrefix(value, "\n")})
		text = after
	}
	return outputs
}

func TestDelimiterInAValueIsRefused(t *testing.T) {
	for _, value := range []string{"delim", "a\ndelim\nverdict=pass", "xdelimx"} {
		var b bytes.Buffer
		if err := formatOutputs(&b, []Output{{"report", value}}, "delim"); err == nil {
			t.Errorf("%q is written", value)
		}
	}
}

func TestDelimitersDiffer(t *testing.T) {
	a, b := filepath.Join(t.TempDir(), "a"), filepath.Join(t.TempDir(), "b")
	for _, path := range []string{a, b} {
		must.OK(t, AppendOutputs(path, []Output{{"verdict", "pass"}}))
	}
	one, _ := os.ReadFile(a)
	two, _ := os.ReadFile(b)
	if bytes.Equal(one, two) {
		t.Errorf("two runs share a delimiter: %s", one)
	}
}
