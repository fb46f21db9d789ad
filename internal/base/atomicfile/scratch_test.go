package atomicfile

import (
	"bytes"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

func TestScratch(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, temporary(scratch)), old) // where an open file keeps its name, a killed process leaves it
	put(t, filepath.Join(dir, temporary("state")), old)
	f := must.Get(NewScratch(dir))(t)
	want := bytes.Repeat([]byte("scratch"), 1<<12)
	for range 2 {
		if _, err := f.Write(want[:len(want)/2]); err != nil {
			t.Fatal(err)
		}
	}
	got := make([]byte, len(want)+1)
	if n, err := f.ReadAt(got, 0); err != io.EOF || !bytes.Equal(got[:n], want) {
		t.Errorf("%d bytes are read, %v", n, err)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	if left := list(t, dir); len(left) != 1 || nameOf(left[0]) != "state" {
		t.Errorf("%q are left", left)
	}
	if _, err := f.Write(want); err == nil || strings.Contains(err.Error(), suffix) {
		t.Errorf("written to a closed file: %v", err)
	}
	if _, err := NewScratch(filepath.Join(dir, "gone")); err == nil || strings.Contains(err.Error(), suffix) {
		t.Errorf("made in a directory that is not there: %v", err)
	}
}
