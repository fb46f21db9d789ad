//go:build unix

package cli

import (
	"bytes"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/frame"
)

// TestFilesWithoutEnd checks that no command waits for a file that nobody writes, nor reads one without an end.
func TestFilesWithoutEnd(t *testing.T) {
	fifo := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Skip(err)
	}
	for _, name := range []string{fifo, "/dev/zero", "/dev/null", t.TempDir()} {
		for _, command := range [][]string{{"audit", "merge"}, {"verify", "did:web:a.example", "--ca-cert"},
			{"oap-conform", "aaep", "events"}, {"oap-conform", "opengap", "agent"},
			{"oap-conform", "oasis", "provider", "--response", fifo, "--profile"}} {
			var out bytes.Buffer
			status := Main(append(command, name),
				frame.IO{Stdout: &out, Stderr: &out, Getenv: func(string) string { return "" }})
			if status == 0 || !strings.Contains(out.String(), "fix: ") {
				t.Errorf("%s %s: exit status %d\n%s", command, name, status, out.String())
			}
		}
	}
}
