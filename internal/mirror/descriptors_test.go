//go:build unix

package mirror

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/mirror/mirrorstate"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

// TestClients requires that clients leave half of the files that the process may open to the runs.
func TestClients(t *testing.T) {
	var limit syscall.Rlimit
	must.OK(t, syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit))
	t.Cleanup(func() {
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
			t.Error(err)
		}
	})
	few := limit
	few.Cur = 256
	must.OK(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &few))
	if got := clients(); got != 64 {
		t.Errorf("%d clients may be connected while 256 files may be open; expected 64", got)
	}
}

// TestLoadAgain requires that a run after one that could not read the state reads it, and does not end the program.
func TestLoadAgain(t *testing.T) {
	d := must.Get(OpenDir(filepath.Join(t.TempDir(), "mirror"), "https://registry.example/r", "", "main"))(t)
	t.Cleanup(func() { d.Close() })
	state := d.File(mirrorstate.File)
	if err := os.Symlink(state, state); err != nil { // it leads nowhere
		t.Fatal(err)
	}
	for range 2 {
		if err := d.Load(time.Now()); err == nil {
			t.Error("the state was read")
		}
	}
	must.OK(t, os.Remove(state))
	if err := d.Load(time.Now()); err != nil || d.State == nil {
		t.Errorf("%+v, %v", d.State, err)
	}
}
