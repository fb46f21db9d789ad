package mirrorcmd

import (
	"path/filepath"
	"runtime"
	"testing"
)

func TestSpoolWithoutTemporaryDirectory(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("SKIPPED: TMPDIR names no directory there")
	}
	t.Setenv("TMPDIR", t.TempDir())
	if spool("").File == nil {
		t.Error("a temporary directory is there, and results stay in memory")
	}
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "absent"))
	if spool("").File != nil {
		t.Error("results go to a directory that is not there")
	}
	if spool(t.TempDir()).File == nil {
		t.Error("results stay in memory, where a directory was given for them")
	}
}
