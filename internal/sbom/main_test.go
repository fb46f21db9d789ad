package main

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestSBOM(t *testing.T) {
	binary := filepath.Join(t.TempDir(), "oap-gate")
	if out, err := exec.Command("go", "build", "-o", binary, "../../cmd/oap-gate").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	const created = "2026-06-01T12:00:00Z"
	var first, second bytes.Buffer
	for _, out := range []*bytes.Buffer{&first, &second} {
		if err := run(out, binary, "../../NOTICE", created); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(first.Bytes(), second.Bytes()) {
		t.Error("two runs differ")
	}
	var d document
	if err := json.Unmarshal(first.Bytes(), &d); err != nil {
		t.Fatal(err)
	}
	modules, err := exec.Command("go", "version", "-m", binary).Output()
	if err != nil {
		t.Fatal(err)
	}
	if want := 2 + strings.Count(string(modules), "\tdep\t"); len(d.Packages) != want || len(d.Relationships) != want {
		t.Errorf("%d packages and %d relationships, want %d", len(d.Packages), len(d.Relationships), want)
	}
	if err := run(&first, binary, "../../NOTICE", "today"); err == nil {
		t.Error("no error for a time that is none")
	}
	if err := run(&first, "../../NOTICE", "../../NOTICE", created); err == nil {
		t.Error("no error for a file that is no binary")
	}
	if err := run(&first, binary, "../../LICENSE", created); err == nil {
		t.Error("no error for a file without the table of modules")
	}
}
