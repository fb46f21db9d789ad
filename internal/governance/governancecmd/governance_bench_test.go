package governancecmd_test

import (
	"io"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/frame"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/clitest"
)

// BenchmarkEach judges every commit of the specification's history next to `git log -p` of the same commits, which
// reads the same objects. The metric gitlogs is how many of the latter take as long.
func BenchmarkEach(b *testing.B) {
	dir := specification(b)
	const repeats = 8 // git log is short
	var gate, git time.Duration
	for b.Loop() {
		start := time.Now()
		if code := clitest.Main([]string{"oap-spec", "governance", "--repo", dir, "--each", "--head", "HEAD"},
			frame.IO{Stdout: io.Discard,
				Stderr: io.Discard, Getenv: clitest.NoEnvironment}); code != 1 {
			b.Fatalf("exit status %d", code)
		}
		gate += time.Since(start)
		start = time.Now()
		for range repeats {
			cmd := exec.Command("git", "-C", dir, "log", "-p", "--first-parent")
			cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
			if _, err := cmd.Output(); err != nil {
				b.Fatal(err)
			}
		}
		git += time.Since(start)
	}
	b.ReportMetric(gate.Seconds()/(git.Seconds()/repeats), "gitlogs")
}
