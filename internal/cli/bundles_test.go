package cli_test

import (
	"encoding/json"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/openagentprotocol-OAP/oap-gate/internal/frame"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/clitest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

// TestRecordedBundles checks that bundles of earlier programs still give the reports of those programs. Sentences may
// change, and reports may have new members at their root. The verdict and the counts stay, and so do the check,
// subject, verdict, codes and places of each result. A recording has the bundle, the report and a world. The world's
// commits have the same ids on every machine. If the mode needs no registry, the recording has input files and the
// command that replays them, and no world.
func TestRecordedBundles(t *testing.T) {
	directory := must.Get(filepath.Abs(filepath.Join("..", "..", "testdata", "bundles")))(t)
	recordings, err := filepath.Glob(filepath.Join(directory, "*.txtar"))
	if err != nil || len(recordings) < 10 {
		t.Fatalf("%d recordings, error %v", len(recordings), err)
	}
	for _, path := range recordings {
		t.Run(filepath.Base(path), func(t *testing.T) {
			recording := must.Get(txtar.ParseFile(path))(t)
			files := map[string][]byte{}
			for _, f := range recording.Files {
				files[f.Name] = f.Data
			}
			t.Chdir(t.TempDir())
			for name, text := range files {
				must.OK(t, os.WriteFile(name, text, 0o644))
			}
			args := strings.Fields(string(files["command"]))
			if len(args) == 0 {
				w := clitest.Build(t, string(files["world.yaml"]))
				args = []string{"replay", "bundle.json", "--repo", w.Repo.Dir}
			}
			quiet := frame.IO{Stdout: io.Discard, Stderr: io.Discard, Getenv: clitest.NoEnvironment}
			clitest.Main(append(args, "--report", "json=again.json"), quiet)
			text := must.Read(t, "again.json")
			recorded, replayed := withoutSentences(t, files["report.json"]), withoutSentences(t, text)
			maps.DeleteFunc(replayed, func(name string, _ any) bool { return recorded[name] == nil })
			if diff := cmp.Diff(recorded, replayed); diff != "" {
				t.Errorf("(-recorded +replayed):\n%s", diff)
			}
		})
	}
}

// withoutSentences is a JSON report without what it says in words of its own, and without what was added to a finding
// since.
func withoutSentences(t *testing.T, report []byte) map[string]any {
	var root map[string]any
	must.OK(t, json.Unmarshal(report, &root))
	var strip func(v any)
	strip = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			for _, name := range []string{"message", "fix", "reason", "reasons", "error", "retry_at"} {
				delete(v, name)
			}
			for _, child := range v {
				strip(child)
			}
		case []any:
			for _, child := range v {
				strip(child)
			}
		}
	}
	strip(root)
	return root
}
