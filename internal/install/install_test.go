package install

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/atomicfile"
	"github.com/openagentprotocol-OAP/oap-gate/internal/forge/repoconfig"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

var release = Release{Commit: strings.Repeat("a", 40), Version: "v1.2.3", Owner: "@acme/maintainers"}

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
	must.OK(t, err)
	return files
}

func open(t *testing.T) *os.Root {
	t.Helper()
	root := must.Get(os.OpenRoot(t.TempDir()))(t)
	t.Cleanup(func() { root.Close() })
	return root
}

// run carries out the installation of a release, and returns how many files there were of each state.
func run(t *testing.T, root *os.Root, r Release) map[State]int {
	t.Helper()
	plan := must.Get(Look(root, r))(t)
	count := map[State]int{}
	for _, s := range plan.Steps {
		count[s.State]++
	}
	must.OK(t, plan.Write(root, func(string) {}))
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
		for _, f := range files[:n] {
			must.OK(t, place(root, f, atomicfile.Create))
		}
		if got := run(t, root, release); got[Same] != n || got[Missing] != len(files)-n {
			t.Errorf("after %d files: %v", n, got)
		}
		if got := run(t, root, release); got[Same] != len(files) {
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
		put(t, root, name, "* @acme/everyone\n")
		plan := must.Get(Look(root, release))(t)
		for _, s := range plan.Steps {
			kept := s.Path == ".github/CODEOWNERS"
			if (s.State == Differs) != kept ||
				kept && !strings.Contains(string(s.Difference), "--- "+name+" (here)\n") {
				t.Errorf("%s: %s %s", s.Path, s.State, s.Difference)
			}
		}
	}
}

func put(t *testing.T, root *os.Root, name, text string) {
	t.Helper()
	must.OK(t, root.MkdirAll(filepath.Dir(name), 0o777))
	must.OK(t, root.WriteFile(name, []byte(text), 0o666))
}

// A file in the way that cannot be compared is an error, and remains.
func TestNoPlainFile(t *testing.T) {
	f := Files(release)[0]
	for name, set := range map[string]func(*os.Root) error{
		"directory": func(root *os.Root) error { return root.MkdirAll(f.Path, 0o777) },
		"too large": func(root *os.Root) error {
			put(t, root, f.Path, strings.Repeat("x", maxFile+1))
			return nil
		},
		"file instead of the directory": func(root *os.Root) error { return root.WriteFile(".github", nil, 0o666) },
	} {
		root := open(t)
		must.OK(t, set(root))
		before := all(t, root)
		plan, err := Look(root, release)
		if err == nil {
			err = plan.Write(root, func(string) {})
		}
		if err == nil || !maps.Equal(all(t, root), before) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A page of prose moves as it is, and never onto a file; a configuration, whatever its faults, is never moved.
func TestProseMoves(t *testing.T) {
	root := open(t)
	put(t, root, repoconfig.Path, page)
	plan, err := Look(root, release)
	if err != nil || plan.Move == nil || plan.Move.Blocked || len(plan.Move.Otherwise) != 4 {
		t.Fatalf("%+v, %v", plan, err)
	}
	if count := run(t, root, release); count[Missing] != len(Files(release)) {
		t.Errorf("%v", count)
	}
	if got := all(t, root); got[repoconfig.ProsePath] != page || got[repoconfig.Path] == page {
		t.Errorf("there are %q", got)
	}
	if count := run(t, root, release); count[Same] != len(Files(release)) {
		t.Errorf("again: %v", count)
	}

	root = open(t)
	put(t, root, repoconfig.Path, page)
	put(t, root, repoconfig.ProsePath, "something else\n")
	before := all(t, root)
	run(t, root, release)
	if !maps.Equal(all(t, root), before) {
		t.Errorf("the target exists: %q", all(t, root))
	}

	root = open(t)
	const faulty = "# Settings\nversion: 1\nprotection: {approvals: *x}\n"
	put(t, root, repoconfig.Path, faulty)
	run(t, root, release)
	if got := all(t, root); got[repoconfig.Path] != faulty || got[repoconfig.ProsePath] != "" {
		t.Errorf("a configuration with a fault: %q", got)
	}
}

// Every workflow of an installation names the default branch, and no other.
func TestBranch(t *testing.T) {
	for branch, want := range map[string]string{"master": "branches: [master]",
		"release/1.x": "branches: [release/1.x]", "2026": `branches: ["2026"]`, "on": `branches: ["on"]`} {
		r := release
		r.Branch = branch
		if err := r.Check(); err != nil {
			t.Error(err)
		}
		named := 0
		for _, f := range Files(r) {
			if !strings.HasSuffix(f.Path, ".yml") || !strings.HasPrefix(f.Path, ".github/workflows/") {
				continue
			}
			named += strings.Count(string(f.Text), want)
			if regexp.MustCompile(`\bmain\b`).Match(f.Text) {
				t.Errorf("%s names main", f.Path)
			}
		}
		if named != 3 { // pull_request and push of check.yml, push of protect.yml
			t.Errorf("%s is named %d times", branch, named)
		}
	}
	for _, branch := range []string{"a*", "a b", "x]", "!x", "a#b", "-x", "é"} {
		if r := (Release{Commit: release.Commit, Branch: branch}); !errors.Is(r.Check(), ErrBranch) {
			t.Errorf("%q: %v", branch, r.Check())
		}
	}
}

// TestTrial checks that a trial writes two files, which the installation replaces later, whatever release they name,
// and keeps if somebody edited them.
func TestTrial(t *testing.T) {
	root := open(t)
	trial := release
	trial.Trial, trial.Commit, trial.Version = true, strings.Repeat("c", 40), "v0.9.0"
	if got := run(t, root, trial); got[Missing] != 2 || len(got) != 1 {
		t.Errorf("the trial: %v, want two files", got)
	}
	if check := all(t, root)[".github/workflows/check.yml"]; !strings.Contains(check, "\n  "+TrialJob+":\n") {
		t.Errorf("the job of a trial has another name:\n%s", check)
	}
	if got := run(t, root, trial); got[Same] != 2 {
		t.Errorf("the trial again: %v", got)
	}
	if got := run(t, root, release); got[Replace] != 2 || got[Differs] != 0 {
		t.Errorf("the installation: %v, want two files replaced", got)
	}
	if got := run(t, root, release); len(got) != 1 || got[Same] == 0 {
		t.Errorf("the installation again: %v", got)
	}
	check := all(t, root)[".github/workflows/check.yml"]
	if got := run(t, root, trial); got[Differs] != 2 || all(t, root)[".github/workflows/check.yml"] != check {
		t.Errorf("a trial of what is installed: %v, want both files kept", got)
	}
	root = open(t)
	run(t, root, trial)
	edited := strings.Replace(all(t, root)[".github/workflows/check.yml"], "timeout-minutes: 15", "timeout-minutes: 16",
		1)
	put(t, root, ".github/workflows/check.yml", edited)
	if got := run(t, root, release); got[Replace] != 1 || got[Differs] != 1 ||
		all(t, root)[".github/workflows/check.yml"] != edited {
		t.Errorf("a trial that somebody edited: %v, want the file kept", got)
	}
}
