package conformancecmd_test

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/frame"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/clitest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// TestReferenceProducer talks to the public reference producer, examples/producers/python-minimal of Ramseyxlil/aaep,
// where one runs: AAEP_PRODUCER is its URL on loopback.
func TestReferenceProducer(t *testing.T) {
	at := os.Getenv("AAEP_PRODUCER")
	if at == "" {
		t.Skip("AAEP_PRODUCER names no running producer: THE PUBLIC REFERENCE PRODUCER WAS NOT TRIED")
	}
	var out bytes.Buffer
	args := []string{"oap-conform", "aaep", "producer", "--url", at, "--layout", "reference", "--format", "json",
		"--budget", "1m"}
	code := clitest.Main(args, frame.IO{Stdout: &out, Stderr: io.Discard, Getenv: clitest.NoEnvironment})
	var r verdict.Report
	if err := json.Unmarshal(out.Bytes(), &r); err != nil || code == verdict.Errored.ExitStatus() {
		t.Fatalf("exit status %d, %v\n%s", code, err, out.Bytes())
	}
	for result := range r.Results.All() {
		if result.Check == "aaep-envelope" && result.Verdict != verdict.Passed {
			t.Errorf("its events are not read as events: %+v", result)
		}
	}
}
