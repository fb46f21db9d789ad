//go:build (linux || darwin) && !race

package hostile_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/clitest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/fixture"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/webtest"
)

// maxMemory is what a run may take, whatever the web serves. The race detector takes several times as much.
const maxMemory = 256 << 20

// peak runs a program and writes to stderr how many bytes it had resident at most. It stands between a test and
// the program because the kernel counts for a child what its parent had resident when it was started.
func peak() {
	run := exec.Command(os.Args[1], os.Args[2:]...)
	run.Stdout = os.Stdout
	if _, ok := errors.AsType[*exec.ExitError](run.Run()); run.ProcessState == nil || !ok &&
		run.ProcessState.ExitCode() != 0 {
		os.Exit(125)
	}
	most := run.ProcessState.SysUsage().(*syscall.Rusage).Maxrss
	if runtime.GOOS == "linux" { // which counts in KiB
		most <<= 10
	}
	fmt.Fprintln(os.Stderr, most)
	os.Exit(run.ProcessState.ExitCode())
}

func init() { clitest.Programs["peak"] = peak }

// TestHostileWebInMemory gates listings whose sites serve what costs most, all at once: eighty where what is kept of
// each would add up, and thirty-two where one document at a time must be decoded, as each takes tens of megabytes.
func TestHostileWebInMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long")
	}
	filled := func(element string) string {
		return `{"a":[` + strings.TrimSuffix(strings.Repeat(element+",", (1<<20-20)/(len(element)+1)), ",") + "]}"
	}
	page := func(body string) webtest.Behaviour { return webtest.Behaviour{Body: []byte(body)} }
	cases := map[string]struct {
		listings                    int
		document, manifest, receipt webtest.Behaviour
	}{
		"endless": {80, webtest.Behaviour{Bomb: 1 << 32}, webtest.Behaviour{HugeHeaders: 10 << 20},
			webtest.Behaviour{Endless: true}},
		"nested": {80, page(strings.Repeat("[", 256<<10)), page(strings.Repeat("[", 1<<20)),
			page(strings.Repeat(`{"a":`, 200<<10))},
		"numbers": {32, page(filled("0")[:256<<10]), page(filled("0")), page(filled("0"))},
		"objects": {32, page(filled(`{"a":0}`)[:256<<10]), page(filled(`{"a":0}`)), page(filled(`{"a":0}`))},
		"kept": {80, page(filled("[]")[:256<<10]), page(`{"tool":{"did":"x"},"b":"` + strings.Repeat("b", 1<<20-100) +
			`"}`), page(`{"b":"` + strings.Repeat("b", 900<<10) + `","a":[` + strings.Repeat(`{"a":0},`, 8100) +
			"0]}")},
		"text": {80, page(`"` + strings.Repeat("a", 250<<10) + `"`), page(filled(strings.Repeat(" ", 1<<15) + "0")),
			page(filled(`"` + strings.Repeat("a", 1<<15) + `"`))},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := begin(t)
			w.Pull("pr")
			receipt := string(c.receipt.Body)
			for n := range c.listings {
				i := fixture.Implementation{Slug: fmt.Sprintf("nova-%d", n)}
				if receipt != "" { // pinned, so that it is decoded
					i.Tampered = func(d *fixture.Doc) { d.Text(receipt) }
				}
				w.Add(i)
				must.OK(t, w.List(i.Slug))
				host := "https://" + i.Slug + ".example/"
				w.Web.Set(host+".well-known/did.json", c.document)
				w.Web.Set(host+".well-known/oap-tool.json", c.manifest)
				w.Web.Set(host+"oap-conformance-receipt.json", c.receipt)
			}
			w.Commit("Propose")
			peakOf(t, w, "--timeout", "60s")
		})
	}
}

// peakOf runs a check that must fail, and holds its memory to the bound.
func peakOf(t *testing.T, w *fixture.World, flags ...string) {
	t.Helper()
	must.OK(t, w.Repo.Sync())
	var usage bytes.Buffer
	run := exec.CommandContext(t.Context(), "peak", slices.Concat([]string{"oap-gate", "check"}, flags, w.Args(),
		w.RangeArgs())...)
	run.Env = append(os.Environ(), "GOMEMLIMIT=200MiB") // so that garbage does not count, however slow its collection
	run.Stderr = &usage
	out, err := run.Output()
	if run.ProcessState == nil || run.ProcessState.ExitCode() != 1 {
		t.Fatalf("%v, want exit status 1\n%s%s", err, out, &usage)
	}
	most := must.Get(strconv.Atoi(strings.TrimSpace(usage.String())))(t)
	t.Logf("%d MiB", most>>20)
	if most > maxMemory {
		t.Errorf("the run took %d MiB, want at most %d", most>>20, maxMemory>>20)
	}
}

// What a hostile web put into the cache over several runs, four large documents each, does not add up in a later one.
func TestHostileCacheInMemory(t *testing.T) {
	w := begin(t)
	w.Add(fixture.Implementation{Slug: "nova"})
	body := []byte(`"` + strings.Repeat("a", 16<<20-3) + `"`)
	cache := t.TempDir()
	propose := func(branch string, from, to int) {
		w.Repo.Checkout("main")
		w.Pull(branch)
		for i := from; i < to; i++ {
			url := fmt.Sprintf("https://a%d.nova.example/x.json", i)
			if err := w.PutAnchor(fixture.Anchor{Slug: fmt.Sprintf("flow-%d", i), Coordinator: "nova",
				URI: url}); err != nil {
				t.Fatal(err)
			}
			w.Web.Set(url, webtest.Behaviour{Body: body, ETag: fmt.Sprintf(`"%d"`, i)})
		}
		w.Commit("Propose")
		peakOf(t, w, "--cache", cache, "--retry-wait", "1ms", "--only", "workflow-anchors")
	}
	const all = 24
	for i := 0; i < all; i += 4 {
		propose(fmt.Sprintf("pr%d", i), i, i+4)
	}
	if kept, err := filepath.Glob(filepath.Join(cache, "*", "*")); err != nil || len(kept) < all {
		t.Fatalf("the cache holds %d files, want at least %d", len(kept), all)
	}
	propose("all", 0, all)
}
