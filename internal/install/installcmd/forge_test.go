package installcmd

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/frame"
)

// The run that a comment links to is the one that its workflow waited for, else its own.
func TestRunOf(t *testing.T) {
	event := filepath.Join(t.TempDir(), "event.json")
	if err := os.WriteFile(event, []byte(`{"workflow_run": {"html_url": "https://forge.example/a/b/actions/runs/7"}}`),
		0o600); err != nil {
		t.Fatal(err)
	}
	own := map[string]string{"GITHUB_SERVER_URL": "https://forge.example", "GITHUB_REPOSITORY": "a/b",
		"GITHUB_RUN_ID": "8"}
	for _, c := range []struct {
		event, file, want string
	}{
		{"workflow_run", event, "https://forge.example/a/b/actions/runs/7"},
		{"workflow_run", "none", ""},
		{"pull_request", event, "https://forge.example/a/b/actions/runs/8"},
	} {
		own["GITHUB_EVENT_NAME"], own["GITHUB_EVENT_PATH"] = c.event, c.file
		if got := runOf(frame.IO{Getenv: func(name string) string { return own[name] }}); got != c.want {
			t.Errorf("event %s of %s: %q, want %q", c.event, c.file, got, c.want)
		}
	}
	if got := runOf(frame.IO{Getenv: func(string) string { return "" }}); got != "" {
		t.Errorf("without a workflow: %q", got)
	}
}
