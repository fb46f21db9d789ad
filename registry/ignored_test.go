package registry

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/gittest"
)

// write writes a file below a clone, with its directories.
func write(t *testing.T, c *gittest.Clone, path, text string) {
	t.Helper()
	name := filepath.Join(c.Dir, filepath.FromSlash(path))
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestLocate checks which files of a work tree are ignored, as git does, and where files lie.
func TestLocate(t *testing.T) {
	c := gittest.New(t)
	write(t, c, ".gitignore", "*.pem\n!keep.pem\n/secrets/\n/only\nforced\n")
	write(t, c, ".git/info/exclude", "excluded\n")
	write(t, c, "a/.gitignore", "!a.pem\nlocal\n")
	write(t, c, "secrets/.gitignore", "!x.key\n")
	write(t, c, "a/only/x", "")
	write(t, c, "implementations/x.json", "{}")
	write(t, c, "tracked.pem", "tracked although it is ignored")
	c.Git("add", "-f", "tracked.pem")
	for path, want := range map[string]bool{"x.pem": true, "keep.pem": false, "x.key": false, "secrets/x.key": true,
		"only": true, "a/only/y": false, "a/a.pem": false, "a/b.pem": true, "a/local": true, "excluded": true,
		"a/excluded": true, "tracked.pem": false, "implementations/k.pem": true} {
		l, err := Locate(filepath.Join(c.Dir, filepath.FromSlash(path)))
		_, refused := c.Try("", "check-ignore", "-q", path)
		if err != nil || l.Ignored != want || l.Ignored != (refused == nil) || l.Path != path || l.InGit ||
			l.InData != strings.HasPrefix(path, "implementations/") {
			t.Errorf("%s: %+v, error %v, git check-ignore %v", path, l, err, refused)
		}
	}
	for _, path := range []string{".git/k.pem", ".git/info/k.pem"} {
		if l, err := Locate(filepath.Join(c.Dir, filepath.FromSlash(path))); err != nil || !l.InGit || l.Ignored {
			t.Errorf("%s: %+v, error %v", path, l, err)
		}
	}
	if l, err := Locate(filepath.Join(t.TempDir(), "k.pem")); err != nil || l != (Location{}) {
		t.Errorf("outside: %+v, error %v", l, err)
	}
	if _, err := Locate(filepath.Join(c.Dir, "none", "k.pem")); err == nil {
		t.Error("a directory that is not there is located")
	}
	// A linked work tree has the patterns of its own files, a damaged one none.
	c.Git("commit", "-q", "--allow-empty", "-m", "x")
	linked := filepath.Join(t.TempDir(), "linked")
	c.Git("worktree", "add", "-q", linked)
	if l, err := Locate(filepath.Join(linked, "excluded")); err != nil || !l.Ignored {
		t.Errorf("linked: %+v, error %v", l, err)
	}
	if err := os.WriteFile(filepath.Join(linked, ".git"), []byte("gitdir: nowhere"), 0o644); err != nil {
		t.Fatal(err)
	}
	if l, err := Locate(filepath.Join(linked, "excluded")); err == nil || l.Ignored || l.Root == "" {
		t.Errorf("damaged: %+v, error %v", l, err)
	}
}

// TestLocateAsGitDoes compares random patterns with git.
func TestLocateAsGitDoes(t *testing.T) {
	c := gittest.New(t)
	random := rand.New(rand.NewPCG(1, 2))
	pick := func(all ...string) string { return all[random.IntN(len(all))] }
	paths := []string{"k", "a/k", "a/b/k", "b/k", "a/k.pem", "b/a/k"}
	for _, path := range paths {
		write(t, c, path+".other", "")
	}
	for range 60 {
		var texts []string
		for _, file := range []string{".gitignore", "a/.gitignore", "a/b/.gitignore", ".git/info/exclude"} {
			var text string
			for range random.IntN(3) {
				text += pick("", "!") + pick("", "/", "**/") + pick("k", "a", "b", "*", "a/k", "k*", "a/**") +
					pick("", "/") + "\n"
			}
			write(t, c, file, text)
			texts = append(texts, file+": "+text)
		}
		out, _ := c.Try("", append([]string{"check-ignore"}, paths...)...) // the status is 1 if it ignores none
		for _, path := range paths {
			l, err := Locate(filepath.Join(c.Dir, filepath.FromSlash(path)))
			if ignored := slices.Contains(strings.Fields(out), path); err != nil || l.Ignored != ignored {
				t.Errorf("%s: %t, error %v, git %t, by\n%s", path, l.Ignored, err, ignored, strings.Join(texts, ""))
			}
		}
	}
}
