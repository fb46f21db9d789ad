package gate_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

// forbidden are the modules that a program which uses the gate must not link.
var forbidden = []string{"spf13/cobra", "vbauerster/mpb", "fatih/color", "google/go-github", "invopop/jsonschema",
	"sethvargo/go-githubactions"}

// TestStranger builds the program of docs/library.md in a module outside of this one, runs it, and reads what it links.
func TestStranger(t *testing.T) {
	if testing.Short() {
		t.Skip("links a program")
	}
	page := must.Read(t, filepath.Join("..", "docs", "library.md"))
	_, rest, _ := strings.Cut(string(page), "```go\n")
	program, _, found := strings.Cut(rest, "```\n")
	if !found {
		t.Fatal("docs/library.md has no program")
	}
	root := must.Get(filepath.Abs(".."))(t)
	text := must.Read(t, filepath.Join(root, "go.mod"))
	_, requirements, _ := strings.Cut(string(text), "\n")
	sums := must.Read(t, filepath.Join(root, "go.sum"))
	_, rest, _ = strings.Cut(rest, "```go\n")
	test, _, found := strings.Cut(rest, "```\n")
	if !found {
		t.Fatal("docs/library.md has no test")
	}
	dir := t.TempDir()
	const module = "github.com/openagentprotocol-OAP/oap-gate"
	for name, text := range map[string]string{"main.go": program, "main_test.go": test,
		"go.sum": string(sums),
		"go.mod": "module stranger.example/x\n" + requirements + "\nrequire " + module + " v0.0.0\n\nreplace " +
			module + " => " + root + "\n"} {
		must.OK(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	run := func(name string, args ...string) string {
		cmd := exec.CommandContext(t.Context(), name, args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOPROXY=off", "GOWORK=off")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s %q: %v\n%s", name, args, err, out)
		}
		return string(out)
	}
	binary := filepath.Join(dir, "x.exe")
	run("go", "build", "-trimpath", "-o", binary, ".")
	clone, remove := exampleClone()
	defer remove()
	bundle := must.Get(filepath.Abs(recorded))(t)
	if got := run(binary, clone, bundle); got != "pass\n" {
		t.Errorf("the program prints %q", got)
	}
	tests := filepath.Join(dir, "tests.exe")
	run("go", "test", "-c", "-o", tests, ".")
	if exec.CommandContext(t.Context(), "unshare", "-rn", "true").Run() == nil { // a network without interfaces
		run("unshare", "-rn", tests)
	} else {
		run(tests)
	}
	linked := run("go", "version", "-m", binary)
	for _, m := range forbidden {
		if strings.Contains(linked, m) {
			t.Errorf("the program links %s", m)
		}
	}
}
