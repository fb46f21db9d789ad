package judge

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/aaeptest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// judged are the findings of an input, as "line check code severity", and its verdict.
func judged(t *testing.T, text string, o Options) (verdict.Verdict, []string) {
	t.Helper()
	s := NewStream("x", o)
	must.OK(t, s.Read(strings.NewReader(text)))
	return announced(t, s)
}

func announced(t *testing.T, s *Stream) (verdict.Verdict, []string) {
	t.Helper()
	results, err := s.Results()
	return aaeptest.Announced(t, results, err)
}

func TestSharedStreams(t *testing.T) {
	dir := filepath.Join("..", "..", "..", "..", "..", "shared", "data", "aaep")
	data, err := os.ReadFile(filepath.Join(dir, "expected.json"))
	if err != nil {
		t.Skip("the streams are not beside this clone")
	}
	var cases []struct {
		File, Verdict string
		Level         int
		Findings      []struct {
			Check, Code, Severity string
			Line                  *int
		}
	}
	must.OK(t, json.Unmarshal(data, &cases))
	for _, c := range cases {
		text := must.Get(os.ReadFile(filepath.Join(dir, c.File)))(t)
		var want []string
		for _, f := range c.Findings {
			line := ""
			if f.Line != nil {
				line = fmt.Sprintf("%d ", *f.Line)
			}
			want = append(want, line+strings.TrimPrefix(f.Check, "aaep-")+" "+f.Code+" "+f.Severity)
		}
		v, got := judged(t, string(text), Options{Level: c.Level})
		slices.Sort(want)
		got = slices.DeleteFunc(got, func(f string) bool { return strings.HasSuffix(f, " notice") })
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" || string(v) != c.Verdict {
			t.Errorf("%s at level %d: %s, want %s %s", c.File, c.Level, v, c.Verdict, diff)
		}
	}
}
