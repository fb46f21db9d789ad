package atomicfile

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

// old is what a file's time is moved back by, so that it is stale.
const old = 2 * stale

func put(t *testing.T, path string, age time.Duration) {
	t.Helper()
	must.OK(t, os.WriteFile(path, []byte("left over"), 0o600))
	then := time.Now().Add(-age)
	must.OK(t, os.Chtimes(path, then, then))
}

func list(t *testing.T, dir string) []string {
	t.Helper()
	entries := must.Get(os.ReadDir(dir))(t)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

const random = "ABCDEFGHIJKLMNOPQRSTUVWX27"

func TestSweep(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "state")
	gone := []string{".state." + random + suffix, ".state.ZZZZZZZZZZZZZZZZZZZZZZZZZZ" + suffix}
	other := ".state.old." + random + suffix // of the file state.old
	foreign := []string{
		".state." + random, "state." + random + suffix, ".state." + random[1:] + suffix, ".state.1" + random[1:] +
			suffix,
		".state.abcdefghijklmnopqrstuvwx27" + suffix, "." + random + suffix, ".state." + random + suffix + "~",
	}
	for _, name := range slices.Concat(gone, []string{other}, foreign) {
		put(t, filepath.Join(dir, name), old)
	}
	young := ".state." + random[:25] + "A" + suffix
	put(t, filepath.Join(dir, young), stale/2)
	directory := ".state." + random[:25] + "B" + suffix
	must.OK(t, os.Mkdir(filepath.Join(dir, directory), 0o700))
	then := time.Now().Add(-old)
	must.OK(t, os.Chtimes(filepath.Join(dir, directory), then, then))
	stay := append([]string{"state", young, directory}, foreign...)
	link := ".state." + random[:25] + "C" + suffix
	if os.Symlink(other, filepath.Join(dir, link)) == nil { // to a stale file
		stay = append(stay, link)
	}
	slices.Sort(stay)

	want := slices.Sorted(slices.Values(append(slices.Clone(stay), other)))
	for range 2 {
		must.OK(t, Write(path, []byte("new"), 0o644))
		if got := list(t, dir); !slices.Equal(got, want) {
			t.Errorf("%q are left, want %q", got, want)
		}
	}
	// A directory of many files is swept of all of them, once.
	var u Unsynced
	for range 2 {
		must.OK(t, u.Write(path, []byte("new"), 0o644))
		if got := list(t, dir); !slices.Equal(got, stay) {
			t.Errorf("%q are left, want %q", got, stay)
		}
		put(t, filepath.Join(dir, gone[0]), old)
		stay = slices.Sorted(slices.Values(append(stay, gone[0])))
	}
}

// TestSideBySide checks that writers of one file who sweep at the same time take nothing from each other.
func TestSideBySide(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "state")
	var writers sync.WaitGroup
	for n := range 8 {
		writers.Go(func() {
			for range 20 {
				if err := Write(path, bytes.Repeat([]byte{'a' + byte(n)}, 1<<12), 0o644); err != nil {
					t.Error(err)
				}
			}
		})
	}
	writers.Wait()
	data, err := os.ReadFile(path)
	if err != nil || len(data) != 1<<12 || len(bytes.Trim(data, string(data[:1]))) != 0 {
		t.Errorf("the file has %d bytes of several writers, %v", len(data), err)
	}
	if got := list(t, dir); len(got) != 1 {
		t.Errorf("%q are left", got)
	}
}

func TestErrors(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "directory")
	must.OK(t, os.Mkdir(path, 0o700))
	if err := Probe(path); err != nil {
		t.Error(err)
	}
	for _, path := range []string{path, filepath.Join(dir, "gone", "state")} {
		var u Unsynced
		if Write(path, nil, 0o644) == nil || u.Write(path, nil, 0o644) == nil {
			t.Errorf("%q is written", path)
		}
	}
	if err := Probe(filepath.Join(dir, "gone", "state")); err == nil {
		t.Error("a file could be written to a directory that is not there")
	}
	former, full := filepath.Join(dir, "former"), errors.New("the disk takes a part")
	must.OK(t, os.WriteFile(former, []byte("whole"), 0o600))
	err := WriteFunc(former, 0o644, func(w io.Writer) error {
		_, err := w.Write([]byte("ha"))
		return errors.Join(err, full)
	})
	if text, _ := os.ReadFile(former); !errors.Is(err, full) || string(text) != "whole" {
		t.Errorf("the file holds %q, error %v", text, err)
	}
	if got := list(t, dir); len(got) != 2 {
		t.Errorf("%q are left", got)
	}
	for _, name := range []string{"", ".", suffix, "." + suffix, "." + random + suffix, ".." + random + suffix} {
		if got := nameOf(name); got != "" {
			t.Errorf("%q is of %q", name, got)
		}
	}
}
