package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

// program is a build whose port, process and milliseconds differ in each run.
const program = `#!/bin/sh
case "$1 $2" in
"__complete ") printf 'explain\twhat it explains\n:4\n' ;;
"__complete explain") printf 'alpha\nbeta\n:4\n' ;;
"__complete "*) printf 'one\n:4\n' ;;
"explain --help") printf 'usage:\n  oap-gate explain\n' ;;
*) echo "$* on 127.0.0.1:1$$ took $$ ms" ;;
esac
`

// TestRun checks that two runs of one program keep the same texts, and that a changed sentence is seen where it is.
func TestRun(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("NOT TESTED: the program is a shell script")
	}
	t.Chdir("../..")
	keep := func(text string) map[string]string {
		t.Helper()
		path, directory := filepath.Join(t.TempDir(), "oap-gate"), t.TempDir()
		must.OK(t, os.WriteFile(path, []byte(text), 0o755))
		must.OK(t, run(path, directory))
		kept := map[string]string{}
		err := filepath.WalkDir(directory, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			text, err := os.ReadFile(path)
			kept[filepath.ToSlash(strings.TrimPrefix(path, directory))] = string(text)
			return err
		})
		must.OK(t, err)
		return kept
	}
	first := keep(program)
	if diff := cmp.Diff(first, keep(program)); diff != "" {
		t.Errorf("two runs of one program differ:\n%s", diff)
	}
	for _, name := range []string{"/help/--help", "/help/explain --help", "/explain/explain beta", "/schema/schema one",
		"/completion/completion one", "/run/demo", "/replay/verify.text", "/replay/verify.html"} {
		if first[name] == "" {
			t.Errorf("%s was not kept", name)
		}
	}
	other := keep(strings.Replace(program, `*) echo`, `"explain beta") echo "another sentence" ;; *) echo`, 1))
	for name, text := range first {
		if differs := other[name] != text; differs != (name == "/explain/explain beta") {
			t.Errorf("%s: differs %v", name, differs)
		}
	}
}
