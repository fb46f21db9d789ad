package capped

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
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

func TestReadFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if _, err := ReadFile(path, 3); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
	if err := os.WriteFile(path, []byte("abc"), 0o600); err != nil {
		t.Fatal(err)
	}
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
