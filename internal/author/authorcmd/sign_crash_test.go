package authorcmd_test

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/signing"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/clitest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/fixture"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

const quorum = `base:
  - {listing: ada, level: L4, witness: [cat]}
  - {listing: cat, level: L4, witness: [ada]}
  - {listing: eve}
`

// TestSignedKilled is TestRecordKilled for the commands that sign.
func TestSignedKilled(t *testing.T) {
	clitest.SkipKills(t)
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("a file is whole there too, but one that a killed writer leaves may not be")
	}
	revoked := func(t *testing.T, w *fixture.World) string {
		pin := must.Get(w.Pin("eve", 0))(t)
		return filepath.Join(w.Repo.Dir, "revocations", "eve-"+pin+".json")
	}
	t.Run("revoke", func(t *testing.T) {
		w := clitest.Build(t, quorum)
		killedAt(t, revoked(t, w), slices.Concat([]string{"revoke", "eve", "--reason", "superseded", "--key",
			keyOf(t, "eve")}, w.Args()))
	})
	t.Run("draft", func(t *testing.T) {
		w := clitest.Build(t, quorum)
		killedAt(t, revoked(t, w), slices.Concat([]string{"revoke", "eve", "--reason", "superseded", "--draft"},
			w.Args()))
	})
	t.Run("witness", func(t *testing.T) {
		w := clitest.Build(t, quorum)
		file := revoked(t, w)
		if code, out := clitest.Program(t, slices.Concat([]string{"revoke", "eve", "--reason", "superseded", "--forced",
			"--did", "did:web:ada.example", "--key", keyOf(t, "ada")}, w.Args())...); code != 0 {
			t.Fatalf("exit status %d\n%s", code, out)
		}
		killedAt(t, file, slices.Concat([]string{"witness", file, "--did", "did:web:cat.example", "--key",
			keyOf(t, "cat"), "--in-place"}, w.Args()))
	})
}

// TestKeyKilled checks that a key's file is whole or not there, and that on Linux nothing else of a key is left.
func TestKeyKilled(t *testing.T) {
	clitest.SkipKills(t)
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "key.pem")
	began := time.Now()
	if code, out := clitest.Program(t, "key", "new", file); code != 0 {
		t.Fatalf("exit status %d\n%s", code, out)
	}
	took := time.Since(began)
	const kills = 40
	written := 0
	for n := range kills {
		if err := os.Remove(file); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		cmd := exec.Command("oap-gate", "key", "new", file)
		must.OK(t, cmd.Start())
		time.Sleep(took * time.Duration(n+1) / kills)
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		switch _, _, err := signing.Read(file, nil); {
		case err == nil:
			written++
		case !errors.Is(err, fs.ErrNotExist):
			t.Fatalf("kill %d: %v", n, err)
		}
		for _, name := range namesIn(t, dir) {
			if runtime.GOOS == "linux" && name != "key.pem" {
				t.Fatalf("kill %d: %s is left", n, name)
			}
		}
	}
	if written == kills {
		t.Error("every kill came too late: this shows nothing")
	}
}
