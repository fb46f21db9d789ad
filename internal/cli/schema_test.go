package cli_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/docs/schemas"
	"github.com/openagentprotocol-OAP/oap-gate/internal/cli/oapgate"
	"github.com/openagentprotocol-OAP/oap-gate/internal/frame"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/clitest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

// An object of each kind with a fault is seen to be one.
func TestInvalid(t *testing.T) {
	for text, want := range map[string]string{
		`{"mode": "verify", "steps": 1}`:             "schema verification-report",
		"{}\n{\"mode\": \"check\", \"results\": []}": "schema report",
		`{"slug": 1, "cosigned": 1}`:                 "schema proof-report",
		`{"commit": "x", "listings": []}`:            "schema listings",
		"pass: 1":                                    "", "{}": "", "{} and text": "",
	} {
		err := clitest.Invalid(text)
		if got := fmt.Sprint(err); want == "" && err != nil || !strings.HasPrefix(got, cmp.Or(want, "<nil>")) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// What is written validates against the schema that is printed for it.
func TestPrintedSchemas(t *testing.T) {
	w := clitest.Build(t, "base: [{listing: eve}]\npr: [{listing: ada}, {listing: bob, registered: none}]\n")
	none := clitest.NoEnvironment
	file := func(name string) string { return filepath.Join(w.Repo.Dir, "..", name) }
	for _, args := range [][]string{
		slices.Concat([]string{"check", "--record", file("check.bundle"), "--report", "json=" + file("check.report")},
			w.Args(), w.RangeArgs()),
		slices.Concat([]string{"audit", "--record", file("audit.bundle"), "--report", "json=" + file("audit.report")},
			w.Args()),
		{"check", "--report", "json=" + file("error.report"), "--repo", file("nowhere")},
		slices.Concat([]string{"verify", "eve", "--registry", w.Repo.Dir, "--canonical", "--level", "L1", "--record",
			file("verify.bundle"),
			"--report", "json=" + file("verify.report")}, w.WebArgs()),
		{"verify", "http://eve.example", "--report", "json=" + file("refused.report")},
	} {
		clitest.Main(args, frame.IO{Stdout: io.Discard, Stderr: io.Discard, Getenv: none})
	}
	var listed bytes.Buffer
	clitest.Main(slices.Concat([]string{"list", "--format", "json"}, w.Args()[:4]), frame.IO{Stdout: &listed,
		Stderr: io.Discard,
		Getenv: none})
	must.OK(t, os.WriteFile(file("listings"), listed.Bytes(), 0o666))
	written := map[string][]string{"bundle": {"check.bundle", "audit.bundle", "verify.bundle"},
		"report": {"check.report", "audit.report", "error.report"}, "listings": {"listings"},
		"verification-report": {"verify.report", "refused.report"}}
	for name, text := range clitest.Schemas() {
		program := "oap-gate"
		if !slices.Contains(oapgate.Program.Schemas, name) {
			program = "oap-conform"
		}
		var out bytes.Buffer
		sys := frame.IO{Stdout: &out, Stderr: io.Discard, Getenv: none}
		if code := clitest.Main([]string{program, "schema", name}, sys); code != 0 {
			t.Fatalf("schema %s: exit status %d", name, code)
		}
		file, err := os.ReadFile(filepath.Join("..", "..", "docs", "schemas", schemas.File(name)))
		if err != nil || !bytes.Equal(out.Bytes(), text) || !bytes.Equal(text, file) {
			t.Errorf("schema %s prints another text than its file: %v", name, err)
		}
		if clitest.Printed()[name].Validate(json.Number("1")) == nil {
			t.Errorf("schema %s takes a number", name)
		}
		for _, made := range written[name] {
			clitest.Matches(t, name, must.Read(t, filepath.Join(w.Repo.Dir, "..", made)))
		}
	}
}

// TestSchemaDiffEscaped requires the name of a member to be harmless in a log, and to be read as it is.
func TestSchemaDiffEscaped(t *testing.T) {
	t.Parallel()
	const name = "\u009b31m##[error]x\u202e"
	var files []string
	for _, properties := range []map[string]any{{}, {name: true}} {
		text := must.Get(json.Marshal(map[string]any{"$id": "https://a.example/x", "type": "object",
			"properties": properties}))(t)
		files = append(files, filepath.Join(t.TempDir(), "x.schema.json"))
		must.OK(t, os.WriteFile(files[len(files)-1], text, 0o644))
	}
	code, out := clitest.Program(t, "oap-spec", "schema", "diff", files[0], files[1], "--format", "json")
	var diff struct{ Differences []struct{ Pointer string } }
	if err := json.Unmarshal([]byte(out), &diff); err != nil || code != 0 || len(diff.Differences) != 1 ||
		diff.Differences[0].Pointer != "/properties/"+name || strings.ContainsAny(out, "\u009b\u202e") ||
		strings.Contains(out, "##[") {
		t.Errorf("exit status %d, %v: %q", code, err, out)
	}
}
