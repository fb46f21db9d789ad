package needs

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

// ending notes how a test ends.
type ending struct{ got string }

func (e *ending) Skip(args ...any)  { e.end("skip", args) }
func (e *ending) Fatal(args ...any) { e.end("fail", args) }

func (e *ending) end(how string, args []any) {
	e.got = how + ": " + fmt.Sprint(args...)
	panic(e)
}

func TestScript(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", dir)
	for _, name := range []string{"here", "here.exe"} {
		must.OK(t, os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"), 0o755))
	}
	const must = "fail: NOT RUN: x: gone is not installed, and CI must have it: see stage_programs of .ci/run"
	for _, c := range []struct {
		ci       string
		programs []string
		want     string
	}{
		{"", nil, ""},
		{"true", []string{"here"}, ""},
		{"", []string{"here", "gone"}, "skip: NOT RUN: x: gone is not installed"},
		{"true", []string{"here", "gone"}, must},
		{"true", []string{"kubectl"}, "skip: NOT RUN: x: kubectl is not installed"},
		{"true", []string{"gone", "kubectl"}, must},
	} {
		t.Setenv("CI", c.ci)
		var e ending
		func() {
			defer func() {
				if r := recover(); r != nil && r != &e {
					panic(r)
				}
			}()
			Script(&e, "x", c.programs...)
		}()
		if e.got != c.want {
			t.Errorf("CI=%s, %q: %q, want %q", c.ci, c.programs, e.got, c.want)
		}
	}
}

func TestHas(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	t.Setenv("CI", "true")
	if Has(t, "a part", "man") {
		t.Error("there is a man in an empty directory")
	}
	if !Has(t, "a part") {
		t.Error("a part that needs nothing is not run")
	}
}
