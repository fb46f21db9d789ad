//go:build unix

package atomicfile

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

// A name that is not that of a file, such as a device's, stays what it is.
func TestNotAFile(t *testing.T) {
	dir := t.TempDir()
	pipe, link := filepath.Join(dir, "pipe"), filepath.Join(dir, "link")
	must.OK(t, syscall.Mkfifo(pipe, 0o600))
	must.OK(t, os.Symlink(pipe, link))
	for _, path := range []string{pipe, link} {
		if Write(path, nil, 0o600) == nil || Probe(path) == nil {
			t.Errorf("%s is replaced", path)
		}
	}
	if info, err := os.Stat(link); err != nil || info.Mode().IsRegular() {
		t.Errorf("the pipe is now %v, %v", info, err)
	}
}
