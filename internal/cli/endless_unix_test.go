//go:build unix

package cli_test

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/clitest"
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
			status, out := clitest.Program(t, append(command, name)...)
			if status == 0 || !strings.Contains(out, "fix: ") {
				t.Errorf("%s %s: exit status %d\n%s", command, name, status, out)
			}
		}
	}
}
