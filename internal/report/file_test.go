package report

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence/bundle"
	"github.com/openagentprotocol-OAP/oap-gate/internal/mirror/bulk"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

func TestWriteFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "report.json")
	for range 2 { // new, and in place of the old
		must.OK(t, Count(honest()).WriteFile(path, "json", Options{}))
		got, err := os.ReadFile(path)
		if err != nil || string(got) != written(t, "json", honest(), Options{}) {
			t.Errorf("the file holds %d bytes, error %v", len(got), err)
		}
	}
	info := must.Get(os.Stat(path))(t)
	if runtime.GOOS != "windows" && info.Mode() != 0o644 {
		t.Errorf("mode is %v", info.Mode())
	}
	checkAlone(t, dir, 1)
}

// TestModes checks that a new bundle is for the user alone, a new report for everybody, and that a file keeps its mode.
func TestModes(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("files have no such modes")
	}
	dir := t.TempDir()
	record, rep := filepath.Join(dir, "bundle.json"), filepath.Join(dir, "report.json")
	for _, want := range []struct{ record, report os.FileMode }{{0o600, 0o644}, {0o640, 0o600}, {0o666, 0o664}} {
		_ = errors.Join(os.Chmod(record, want.record), os.Chmod(rep, want.report)) // not there in the first round
		b := &bundle.Bundle{Mode: "check"}
		must.OK(t, errors.Join(Keep(record, b), Count(honest()).WriteFile(rep, "json", Options{})))
		for path, mode := range map[string]os.FileMode{record: want.record, rep: want.report} {
			if info, err := os.Stat(path); err != nil || info.Mode() != mode {
				t.Errorf("%s has the mode %v (%v); expected %v", path, info.Mode(), err, mode)
			}
		}
	}
}

// TestDiskFull checks that a report is whole or not written where a disk is full, be it that of its results or its own.
func TestDiskFull(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_RDWR, 0)
	if err != nil {
		t.Skip("no device that is always full here:", err)
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "report.json")
	must.OK(t, Count(honest()).WriteFile(path, "json", Options{}))
	r := honest()
	bulk.Spool{File: func() (bulk.File, error) { return full, nil }}.For(&r.Results, catalogue)
	r.Results.Add(onListing("implementations/other.json")...)
	for _, format := range Names(Formats) {
		if err := Count(r).WriteFile(path, format, Options{}); !errors.Is(err, syscall.ENOSPC) ||
			!strings.Contains(err.Error(), "keeping results in a file: write /dev/full: no space left on device") {
			t.Errorf("%s: error %v", format, err)
		}
		if err := Count(honest()).WriteFile("/dev/full", format, Options{}); !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("%s: error %v", format, err)
		}
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != written(t, "json", honest(), Options{}) {
		t.Errorf("the file holds %d bytes, error %v", len(got), err)
	}
	checkAlone(t, dir, 1)
}

func checkAlone(t *testing.T, dir string, want int) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != want {
		t.Errorf("%d files in the directory, want %d: %v %v", len(entries), want, entries, err)
	}
}

func TestWriteFileFollowsALink(t *testing.T) {
	dir := t.TempDir()
	target, path := filepath.Join(dir, "target"), filepath.Join(dir, "link")
	must.OK(t, os.WriteFile(target, nil, 0o644))
	if err := os.Symlink("target", path); err != nil {
		t.Skip("no symbolic links here:", err)
	}
	must.OK(t, Count(honest()).WriteFile(path, "text", Options{}))
	if info, err := os.Lstat(path); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is gone: %v %v", info, err)
	}
	if got, _ := os.ReadFile(target); len(got) == 0 {
		t.Error("the target is empty")
	}
}

func TestWriteFileIntoADevice(t *testing.T) {
	if err := Count(honest()).WriteFile(os.DevNull, "text", Options{}); err != nil {
		t.Error(err)
	}
	if info, err := os.Stat(os.DevNull); err != nil || info.Mode().IsRegular() {
		t.Errorf("%s was replaced", os.DevNull)
	}
}

func TestWriteFileLeavesNothingBehind(t *testing.T) {
	dir := t.TempDir()
	if err := Count(honest()).WriteFile(filepath.Join(dir, "gone", "report"), "text", Options{}); err == nil {
		t.Error("written into a directory that is not there")
	}
	if err := Count(honest()).WriteFile(filepath.Join(dir, "report"), "yaml", Options{}); err == nil {
		t.Error("written in an unknown format")
	}
	directory := filepath.Join(dir, "directory")
	must.OK(t, os.Mkdir(directory, 0o755))
	if err := Count(honest()).WriteFile(directory, "text", Options{}); err == nil {
		t.Error("written over a directory")
	}
	checkAlone(t, dir, 1)
}

func TestAppendFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "summary")
	must.OK(t, os.WriteFile(path, []byte("before\n"), 0o644))
	must.OK(t, Count(honest()).AppendFile(path, "markdown", Options{}))
	got, err := os.ReadFile(path)
	if want := "before\n" + written(t, "markdown", honest(), Options{}); err != nil || string(got) != want {
		t.Errorf("the file holds %q, %v", got, err)
	}
}
