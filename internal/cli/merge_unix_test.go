//go:build unix

package cli

import (
	"bytes"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestMergeOfFIFO holds that merge does not wait for a report that nobody writes, nor reads one without an end.
func TestMergeOfFIFO(t *testing.T) {
	fifo := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Skip(err)
	}
	for _, name := range []string{fifo, "/dev/zero", "/dev/null", t.TempDir()} {
		var out bytes.Buffer
		status := Main([]string{"merge", name}, IO{Stdout: &out, Stderr: &out, Getenv: func(string) string { return "" }})
		if status != 2 || !strings.Contains(out.String(), "\nfix: ") {
			t.Errorf("%s: exit status %d\n%s", name, status, out.String())
		}
	}
}
