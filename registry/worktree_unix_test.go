//go:build unix

package registry

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestWorktreeDevices checks that what is no file neither hangs nor counts.
func TestWorktreeDevices(t *testing.T) {
	c := newClone(t)
	c.Commit(pathA, "1", "docs/x", "x")
	for _, path := range []string{pathA, pathB, "docs/x"} {
		c.remove(path)
		name := filepath.Join(c.Dir, path)
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := syscall.Mkfifo(name, 0o666); err != nil {
			t.Skip("NOT TESTED: no FIFO can be made")
		}
	}
	g, err := c.open().WorktreeRange(ctx, "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := spellChanges(g.Changes), "D docs/x\nD "+pathA; got != want {
		t.Errorf("changes:\n%s\nwant\n%s", got, want)
	}
}
