package verifycmd_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/frame"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/clitest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

// endingWords are the first words of the last line of verify, by exit status.
var endingWords = map[int]string{0: "accepted", 1: "refused", 2: "error", 3: "undecided"}

// TestVerifyEndings runs written cases with and without --without-registry: the last line begins with the word of the
// exit status, and no other line begins with "accepted".
func TestVerifyEndings(t *testing.T) {
	text, err := os.ReadFile(filepath.FromSlash("../../../../shared/data/verify/cases.json"))
	if err != nil {
		t.Skipf("THE WRITTEN CASES OF VERIFY WERE NOT RUN: %v", err)
	}
	var cases []struct {
		Name, At              string
		Receipt, Manifest     string
		DIDDocument           string   `json:"did_document"`
		Accepted              bool     `json:"accepted"`
		FailedSteps           []string `json:"failed_steps"`
		InconclusiveSteps     []string `json:"inconclusive_steps"`
		WarnedSteps, Unlooked []string `json:"-"`
	}
	must.OK(t, json.Unmarshal(text, &cases))
	if len(cases) < 18 {
		t.Fatalf("%d cases, want at least 18", len(cases))
	}
	seen := map[int]bool{}
	for _, c := range cases {
		dir := t.TempDir()
		file := func(name, text string) string {
			path := filepath.Join(dir, name)
			must.OK(t, os.WriteFile(path, []byte(text), 0o600))
			return path
		}
		args := []string{"verify", "--at", c.At, "--receipt", file("receipt", c.Receipt), "--manifest",
			file("manifest", c.Manifest), "--did-document", file("did", c.DIDDocument)}
		want := 1
		if len(c.FailedSteps) == 0 {
			want = 3
		}
		alone := endsInItsWord(t, c.Name, want, args)
		if c.Accepted {
			want = 0
		}
		told := endsInItsWord(t, c.Name, want, append(args, "--without-registry"))
		seen[want] = true
		switch {
		case want == 0 && !strings.HasSuffix(told, "; revocations not looked at"):
			t.Errorf("%s: %q", c.Name, told)
		case want != 0 && strings.Contains(told, "until"):
			t.Errorf("%s: %q has a date", c.Name, told)
		case want == 0 && !strings.HasSuffix(alone,
			": name a clone with --registry DIR, or say --without-registry"):
			t.Errorf("%s: without a clone: %q", c.Name, alone)
		}
	}
	for _, status := range []int{0, 1, 3} {
		if !seen[status] {
			t.Errorf("no case ends with %d", status)
		}
	}
}

// endsInItsWord runs verify and returns the last line of stdout, which begins with the word of the exit status.
func endsInItsWord(t *testing.T, name string, want int, args []string) string {
	t.Helper()
	var out, complaint bytes.Buffer
	code := clitest.Main(args, frame.IO{Stdout: &out, Stderr: &complaint, Getenv: clitest.NoEnvironment})
	lines := strings.Split(strings.TrimRight(out.String(), "\n"), "\n")
	last := lines[len(lines)-1]
	if code != want || !strings.HasPrefix(last, endingWords[code]+": ") {
		t.Errorf("%s: exit status %d, want %d; the last line is %q\n%s", name, code, want, last, &complaint)
	}
	if slices.ContainsFunc(lines[:len(lines)-1], func(s string) bool { return strings.HasPrefix(s, "accepted") }) {
		t.Errorf("%s: another line begins with accepted:\n%s", name, &out)
	}
	return last
}

// TestActionVerifies runs the mode verify: without the input path no clone is named.
func TestActionVerifies(t *testing.T) {
	w := clitest.Build(t, "base: [{listing: nova}]\n")
	list := filepath.Join(t.TempDir(), "partners.txt")
	must.OK(t, os.WriteFile(list, []byte("https://nova.example\n# one more\nhttps://ada.example\n"), 0o600))
	with := func(more ...string) map[string]string {
		inputs := map[string]string{"mode": "verify", "offline": "true", "targets": "https://nova.example"}
		for i := 0; i < len(more); i += 2 {
			inputs[more[i]] = more[i+1]
		}
		return inputs
	}
	for _, c := range []struct {
		name, event string
		inputs      map[string]string
		code        int
		log         string
		not         string
	}{
		{"no clone", "push", with(), 3, "no-registry", "registry: commit"},
		{"a clone", "pull_request", with("path", w.Repo.Dir), 3, "manifest", "no-registry"},
		{"a slug of the clone", "push", with("path", w.Repo.Dir, "targets", "nova"), 3, "manifest", "not a target"},
		{"a slug without a clone", "push", with("targets", "nova"), 2, "may be a slug", ""},
		{"several", "push", with("targets", "https://nova.example\nhttps://ada.example"), 3, "https://ada.example", ""},
		{"a file", "push", with("targets", list), 3, "https://ada.example", ""},
		{"a file that is not there", "push", with("targets", "no/list.txt"), 2, "reading --targets", ""},
		{"no targets", "push", with("targets", ""), 2, "no target was given", ""},
		{"a value like a flag", "push", with("targets", "--help"), 2, "reading --targets", ""},
		{"several like flags", "push", with("targets", "--help\n--offline"), 2, "not a target", "Usage"},
		{"a level", "push", with("level", "L9"), 2, "--level", ""},
		{"an age", "push", with("path", w.Repo.Dir, "max-age", "1ms"), 2, "less than a second", ""},
		{"another mode's input", "push", with("dialect", "0.4"), 2, "does not take the input dialect", ""},
		{"a check", "push", with("checks", "schema"), 2, "does not take the input checks", ""},
		{"with rights", "pull_request_target", with(), 2, "pull_request_target", ""},
	} {
		code, log, outputs, summary := clitest.StepOf(t, c.event, c.inputs)
		if code != c.code || !strings.Contains(log, c.log) || c.not != "" && strings.Contains(log, c.not) {
			t.Errorf("%s: exit status %d, want %d, %q and not %q\n%s", c.name, code, c.code, c.log, c.not, log)
		}
		want := "\ninconclusive\n"
		if code == 2 {
			want = "\nerror\n"
		}
		if !strings.Contains(outputs, want) || summary == "" {
			t.Errorf("%s: outputs %s, a summary of %d bytes", c.name, outputs, len(summary))
		}
	}
}
