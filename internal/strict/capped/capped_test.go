package capped

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

func TestReadAll(t *testing.T) {
	for _, c := range []struct{ text, want string }{{"", ""}, {"abc", "abc"}, {"abcd", "abcd"}} {
		data, err := ReadAll(strings.NewReader(c.text), 3)
		if large := len(c.text) > 3; string(data) != c.want || errors.Is(err, ErrTooLarge) != large ||
			(err != nil) != large {
			t.Errorf("%q gives %q, %v", c.text, data, err)
		}
	}
	if _, err := ReadAll(iotest.ErrReader(fs.ErrClosed), 3); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("got %v", err)
	}
}

func TestReadPlain(t *testing.T) {
	dir := t.TempDir()
	root, err := OpenRoot(dir)
	must.OK(t, err)
	defer root.Close()
	err = errors.Join(os.WriteFile(filepath.Join(dir, "file"), []byte("abc"), 0o600),
		os.Mkdir(filepath.Join(dir, "directory"), 0o700), os.Symlink("file", filepath.Join(dir, "link")),
		os.Symlink(dir, filepath.Join(dir, "out")))
	must.OK(t, err)
	for name, want := range map[string]error{"file": nil, "link": nil, "directory": ErrNotPlain, "x": fs.ErrNotExist} {
		if data, err := ReadPlain(root, name, 3); !errors.Is(err, want) || err == nil && string(data) != "abc" {
			t.Errorf("%s gives %q, %v", name, data, err)
		}
	}
	if _, err := ReadPlain(root, "file", 2); !errors.Is(err, ErrTooLarge) {
		t.Errorf("got %v", err)
	}
	if data, err := ReadPlain(root, "out/file", 3); err == nil {
		t.Errorf("a link that leaves the root gives %q", data)
	}
}

func TestReadFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if _, err := ReadFile(path, 3); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
	must.OK(t, os.WriteFile(path, []byte("abc"), 0o600))
	if data, err := ReadFile(path, 3); string(data) != "abc" || err != nil {
		t.Errorf("got %q, %v", data, err)
	}
	if _, err := ReadFile(path, 2); !errors.Is(err, ErrTooLarge) {
		t.Errorf("got %v", err)
	}
	if _, err := ReadFile("/dev/zero", 2); !errors.Is(err, ErrTooLarge) && !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}

func TestTooLargeSaysTheLimit(t *testing.T) {
	for limit, want := range map[int64]string{5: "it exceeds 5 bytes", 1500: "it exceeds 1500 bytes",
		16 << 10: "it exceeds 16 KiB", 1536 << 10: "it exceeds 1536 KiB", 1 << 20: "it exceeds 1 MiB",
		2 << 30: "it exceeds 2048 MiB"} {
		if got := tooLarge(limit).Error(); got != want {
			t.Errorf("limit %d: %q, want %q", limit, got, want)
		}
	}
}
