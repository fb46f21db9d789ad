package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

func TestCreate(t *testing.T) {
	dir := t.TempDir()
	root := must.Get(os.OpenRoot(dir))(t)
	defer root.Close()
	must.OK(t, Create(root, "a.json", []byte("one"), 0o644))
	must.OK(t, os.Symlink("nowhere", filepath.Join(dir, "link")))
	for _, taken := range []string{"a.json", "link"} {
		if err := Create(root, taken, []byte("two"), 0o644); !errors.Is(err, fs.ErrExist) {
			t.Errorf("%s: error %v, want one that says that it is there", taken, err)
		}
	}
	holds(t, dir, "a.json", "one")
	must.OK(t, Replace(root, "a.json", []byte("three"), 0o644))
	holds(t, dir, "a.json", "three")
	stale := filepath.Join(dir, temporary("a.json"))
	then := time.Now().Add(-old)
	must.OK(t, errors.Join(os.WriteFile(stale, nil, 0o644), os.Chtimes(stale, then, then)))
	must.OK(t, Replace(root, "a.json", []byte("three"), 0o644))
	if info, err := os.Stat(filepath.Join(dir, "a.json")); err != nil || info.Mode().Perm()&0o111 != 0 {
		t.Errorf("mode %v, error %v", info.Mode(), err)
	}
	if got := list(t, dir); !slices.Equal(got, []string{"a.json", "link"}) {
		t.Errorf("%q stand there", got)
	}
	for _, name := range []string{"../b", "sub/b", ".", "..", "", "/b"} {
		if err := Create(root, name, nil, 0o644); err == nil {
			t.Errorf("%q is taken for a name", name)
		}
	}
}

func holds(t *testing.T, dir, name, want string) {
	t.Helper()
	if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != want {
		t.Errorf("%s holds %q, error %v, want %q", name, got, err, want)
	}
}
