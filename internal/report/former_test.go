package report

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// TestFormer checks that each format takes its own former file, and no file of another format.
func TestFormer(t *testing.T) {
	dir := t.TempDir()
	r := Count(&verdict.Report{Mode: "check", Verdict: verdict.Passed})
	for _, w := range Formats {
		if w.Former == nil {
			t.Fatalf("%s has no recognizer of its former output", w.Name)
		}
		must.OK(t, r.WriteFile(filepath.Join(dir, w.Name), w.Name, Options{}))
	}
	for _, w := range Formats {
		for _, of := range Formats {
			err := Free("--report", filepath.Join(dir, of.Name), Options{}.FormerOf(w.Name))
			if refused := remedy.CodeOf(err) == codeRefused; refused != (w.Name != of.Name) {
				t.Errorf("%s over %s: %v", w.Name, of.Name, err)
			}
		}
	}
}

// TestFree checks what a run never replaces.
func TestFree(t *testing.T) {
	dir := t.TempDir()
	if err := Free("--report", filepath.Join(dir, "none"), nil); err != nil {
		t.Error(err)
	}
	for name, test := range map[string]struct{ text, want string }{
		"empty":  {"", ""},
		"notes":  {"# My notes\n", "is not a former output of this format"},
		"object": {`{"tool": {"name": "oap-gate"}}`, "is not a former output of this format"},
		"jwk": {`{"kty":"OKP","crv":"Ed25519","d":"nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A",` +
			`"x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}`, "holds a private key"},
		"jwk that claims to be a report": {`{"tool":{},"mode":"check","verdict":"pass","kty":"OKP","crv":"Ed25519",` +
			`"d":"nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A",` +
			`"x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}`, "holds a private key"},
		"log key": {"PRIVATE+KEY+log.example+00000000+AAAA\n", "holds a private key"},
		"broken":  {"{\"tool\": {}, \"mode\": ", "is not a former output of this format"},
	} {
		path := filepath.Join(dir, strings.ReplaceAll(name, " ", "-"))
		must.OK(t, os.WriteFile(path, []byte(test.text), 0o600))
		err := Save("--report "+name, path, Options{}.FormerOf("json"), []byte("new"))
		got, _ := os.ReadFile(path)
		if test.want == "" && err == nil && string(got) == "new" {
			continue
		}
		if err == nil || test.want == "" || !strings.Contains(err.Error(), test.want) ||
			!bytes.Equal(got, []byte(test.text)) {
			t.Errorf("%s: error %v, and the file holds %.40q; want an error that %s", name, err, got, test.want)
		}
	}
}
