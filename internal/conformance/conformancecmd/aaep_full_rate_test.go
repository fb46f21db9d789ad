package conformancecmd_test

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/frame"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/aaeptest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/clitest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// TestProducerAtFullRate runs the command at level 3, at the rate that users get, against the honest peer: that takes
// about half a minute, and at most 90 s.
func TestProducerAtFullRate(t *testing.T) {
	if os.Getenv("OAP_GATE_FULL_RATE") == "" {
		t.Skip("OAP_GATE_FULL_RATE is not set: LEVEL 3 WAS NOT TRIED AT ITS OWN RATE, which takes half a minute")
	}
	p := must.Get(aaeptest.Start(aaeptest.Options{}))(t)
	defer p.Close()
	dir := t.TempDir()
	scenarios, capture := filepath.Join(dir, "scenarios.yml"), filepath.Join(dir, "capture.jsonl")
	must.OK(t, os.WriteFile(scenarios, []byte("- {name: a, start: pay, reply: accept}\n"+
		"- {name: held, start: held, reply: accept}\n"), 0o666))
	for _, args := range [][]string{
		{"producer", "--endpoint", p.URL, "--scenario", scenarios, "--capture", capture},
		{"events", capture},
	} {
		var out bytes.Buffer
		began := time.Now()
		code := clitest.Main(append([]string{"oap-conform", "aaep", args[0], "--level", "3", "--format", "json"},
			args[1:]...), frame.IO{Stdout: &out, Stderr: io.Discard, Getenv: clitest.NoEnvironment})
		took := time.Since(began)
		var r verdict.Report
		if err := json.Unmarshal(out.Bytes(), &r); err != nil || code != 0 || r.Verdict != verdict.Passed ||
			took > 90*time.Second {
			t.Fatalf("%s: exit status %d, %v, in %v\n%s", args[0], code, err, took, out.Bytes())
		}
		t.Logf("%s took %v", args[0], took.Round(time.Second))
		if args[0] == "producer" {
			shown := 0
			for result := range r.Results.All() {
				if result.Check == "aaep-live-signed" || result.Check == "aaep-live-close" {
					shown++
				}
			}
			if shown != 2 {
				t.Errorf("the live rows of level 3 have %d results of these", shown)
			}
		}
	}
}
