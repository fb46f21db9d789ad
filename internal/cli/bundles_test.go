package cli

import (
	"encoding/json"
	"io"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

// TestRecordedBundles holds that bundles which earlier programs wrote give the reports that those programs wrote then,
// but for their sentences, which may be mended, and for members that reports have gained at their root since: verdict,
// counts, and of each result its check, subject, verdict, codes and places stay.
// Each recording is a world, whose commits come out the same wherever it is built, the bundle and the report.
func TestRecordedBundles(t *testing.T) {
	recordings, err := filepath.Glob(filepath.Join("..", "..", "testdata", "bundles", "*.txtar"))
	if err != nil || len(recordings) < 8 {
		t.Fatalf("%d recordings, error %v", len(recordings), err)
	}
	for _, path := range recordings {
		t.Run(filepath.Base(path), func(t *testing.T) {
			recording, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			files := map[string][]byte{}
			for _, f := range recording.Files {
				files[f.Name] = f.Data
			}
			w := build(t, string(files["world.yaml"]))
			bundle, again := filepath.Join(w.Dir, "bundle.json"), filepath.Join(w.Dir, "again.json")
			if err := os.WriteFile(bundle, files["bundle.json"], 0o644); err != nil {
				t.Fatal(err)
			}
			quiet := IO{Stdout: io.Discard, Stderr: io.Discard, Getenv: func(string) string { return "" }}
			Main([]string{"replay", bundle, "--repo", w.Repo.Dir, "--report", "json=" + again}, quiet)
			text, err := os.ReadFile(again)
			if err != nil {
				t.Fatal(err)
			}
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
	if err := json.Unmarshal(report, &root); err != nil {
		t.Fatal(err)
	}
	var strip func(v any)
	strip = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			for _, name := range []string{"message", "fix", "reason", "retry_at"} {
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
