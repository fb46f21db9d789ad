package mirror

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestDistinct holds which names are of one peer.
func TestDistinct(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for _, sub := range []string{"a/registry.git/objects", "work/.git/objects", "b"} {
		if err := os.MkdirAll(filepath.Join(dir, filepath.FromSlash(sub)), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	linked := os.Symlink("a", "link") == nil
	same := [][]string{
		{"https://mirror.example/r", "https://mirror.example/r/", "https://mirror.example/r.git",
			"https://mirror.example/r.git/", "https://Mirror.EXAMPLE/r", "https://mirror.example:443/r",
			"https://mirror.example./r", "https://token@mirror.example/r", "https://mirror.example//r",
			"https://mirror.example/x/../r", "https://mirror.example/%72"},
		{"http://127.0.0.1/r", "http://127.0.0.1:80/r"},
		{"a", "./a", "a/", filepath.Join(dir, "a"), "file://" + filepath.ToSlash(filepath.Join(dir, "a")),
			"a/registry.git", "b/../a"},
		{"work", "work/.git"},
	}
	if linked {
		same[2] = append(same[2], "link", "link/registry.git")
	}
	for _, names := range same {
		if got := Distinct(names); !slices.Equal(got, names[:1]) {
			t.Errorf("%q are %q, want one", names, got)
		}
	}
	differ := []string{"https://mirror.example/r", "https://mirror.example/R", "https://mirror.example/r/s",
		"https://mirror.example:8443/r", "https://other.example/r", "http://127.0.0.1/r", "http://127.0.0.1:8080/r",
		"http://127.0.0.2/r", "a", "b", "a.git", "nowhere"}
	if got := Distinct(differ); !slices.Equal(got, differ) {
		t.Errorf("%q are %q, want all", differ, got)
	}
}
