package docs_test

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/cli"
	"github.com/openagentprotocol-OAP/oap-gate/internal/cli/oapgate"
	"github.com/openagentprotocol-OAP/oap-gate/internal/frame"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/fixture"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/gittest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

// TestProofsPage runs the calls of proofs.md in their order, in a directory with a clone.
func TestProofsPage(t *testing.T) {
	w := must.Get(fixture.Build(t.TempDir(), []byte("base: [{commit: One}, {listing: tool}]\n")))(t)
	t.Cleanup(func() { w.Close() })
	beside := gittest.At(t, t.TempDir())
	beside.Git("clone", "-q", w.Repo.Dir, "oap-registry")
	calls := regexp.MustCompile(`(?m)^    oap-gate (.*?)(?: +>.*)?$`).FindAllStringSubmatch(page(t, "proofs.md"), -1)
	t.Chdir(beside.Dir)
	key, ran := "", 0
	for _, call := range calls {
		args := strings.Fields(strings.ReplaceAll(call[1], `"$(cat log.pub)"`, key))
		if args[0] == "audit" || args[0] == "prove" {
			args = append(args, "--at", w.Now.Format(time.RFC3339))
		}
		var out, told bytes.Buffer
		code := cli.Run(&oapgate.Program, args,
			frame.IO{Stdout: &out, Stderr: &told, Getenv: func(string) string { return "" }})
		if code != 0 {
			t.Fatalf("%q: exit status %d\n%s%s", args, code, out.String(), told.String())
		}
		if args[0] == "key" {
			key = strings.TrimSpace(out.String())
		}
		ran++
	}
	if ran != 5 {
		t.Errorf("%d calls ran", ran)
	}
}
