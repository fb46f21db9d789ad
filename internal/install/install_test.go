package install

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var release = Release{Commit: strings.Repeat("a", 40), Version: "v1.2.3", Image: "sha256:" + strings.Repeat("b", 64),
	Owner: "@acme/maintainers"}

// all is every file of a tree, by its path.
func all(t *testing.T, root *os.Root) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := fs.WalkDir(root.FS(), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := fs.ReadFile(root.FS(), path)
		files[path] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func open(t *testing.T) *os.Root {
	t.Helper()
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	return root
}

// write writes files and gives how many there came of each state.
func write(t *testing.T, root *os.Root, files []File) map[State]int {
	t.Helper()
	count := map[State]int{}
	for _, f := range files {
		state, _, err := Write(root, f, false)
		if err != nil {
			t.Fatal(err)
		}
		count[state]++
	}
	return count
}

// Files are written one by one, each whole: whichever is the last of a run that was killed, the next run writes the
// rest, and the one after it nothing.
func TestAfterEachFile(t *testing.T) {
	files := Files(release)
	want := map[string]string{}
	for _, f := range files {
		want[f.Path] = string(f.Text)
	}
	for n := range len(files) + 1 {
		root := open(t)
		write(t, root, files[:n])
		if got := write(t, root, files); got[Same] != n || got[Written] != len(files)-n {
			t.Errorf("after %d files: %v", n, got)
		}
		if got := write(t, root, files); got[Same] != len(files) {
			t.Errorf("again after %d files: %v", n, got)
		}
		if got := all(t, root); !maps.Equal(got, want) {
			t.Errorf("after %d files there are %q", n, slices.Collect(maps.Keys(got)))
		}
	}
}

// GitHub heeds the first of the places of CODEOWNERS that has one: a new one must not put the registry's out of force.
func TestOwnersElsewhere(t *testing.T) {
	for _, name := range []string{"CODEOWNERS", "docs/CODEOWNERS"} {
		root := open(t)
		if err := root.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := root.WriteFile(name, []byte("* @acme/everyone\n"), 0o666); err != nil {
			t.Fatal(err)
		}
		for _, f := range Files(release) {
			state, difference, err := Write(root, f, false)
			kept := f.Path == ".github/CODEOWNERS"
			if err != nil || (state == Differs) != kept ||
				kept && !strings.Contains(string(difference), "--- "+name+" (here)\n") {
				t.Errorf("%s: %s %s %v", f.Path, state, difference, err)
			}
		}
	}
}

// What stands in the way and is no file that could be compared is an error, and stays.
func TestNoPlainFile(t *testing.T) {
	f := Files(release)[0]
	for name, put := range map[string]func(*os.Root) error{
		"folder": func(root *os.Root) error { return root.MkdirAll(f.Path, 0o777) },
		"too large": func(root *os.Root) error {
			if err := root.MkdirAll(filepath.Dir(f.Path), 0o777); err != nil {
				return err
			}
			return root.WriteFile(f.Path, make([]byte, maxFile+1), 0o666)
		},
		"file in place of the folder": func(root *os.Root) error { return root.WriteFile(".github", nil, 0o666) },
	} {
		root := open(t)
		if err := put(root); err != nil {
			t.Fatal(err)
		}
		before := all(t, root)
		if state, _, err := Write(root, f, false); err == nil || !maps.Equal(all(t, root), before) {
			t.Errorf("%s: %s, %v", name, state, err)
		}
	}
}
