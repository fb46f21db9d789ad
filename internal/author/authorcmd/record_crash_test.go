package authorcmd_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/frame"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/clitest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

// TestRecordKilled kills the commands that write records at many moments: what stands in the work tree is what stood
// there before, or the whole record, and nothing beside it but a whole one that has no name yet.
func TestRecordKilled(t *testing.T) {
	clitest.SkipKills(t)
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("a file is whole there too, but one that a killed writer leaves may not be")
	}
	for name, c := range map[string]struct {
		world, path string
		command     []string
	}{
		"new": {"pr: [{publish: nova}]\n", "implementations/nova.json",
			[]string{"new", "nova", "https://nova.example"}},
		"renew": {"pr: [{reissue: eve, issued: \"-2h\"}]\n", "implementations/eve.json", []string{"renew", "eve"}},
		"fix": {"worktree: [{listing: nova, pin: minified}]\n", "implementations/nova.json",
			[]string{"check", "--worktree", "--fix"}},
	} {
		t.Run(name, func(t *testing.T) { killed(t, c.world, c.path, c.command) })
	}
}

// TestRecordJudgedFirst checks that a record is written only after its verdict was printed, and its path last.
func TestRecordJudgedFirst(t *testing.T) {
	w := clitest.Build(t, "pr: [{publish: nova}]\n")
	if out, err := exec.Command("git", "-C", w.Repo.Dir, "checkout", "-q", "main").CombinedOutput(); err != nil {
		t.Fatalf("%s: %v", out, err)
	}
	var order []string
	note := func(stream string) writerFunc {
		return func(text []byte) (int, error) {
			_, err := os.Stat(filepath.Join(w.Repo.Dir, "implementations", "nova.json"))
			for _, part := range []string{"pass: checked", "implementations/nova.json\n", "next:"} {
				if strings.Contains(string(text), part) {
					order = append(order, fmt.Sprintf("%s %q %t", stream, part, err == nil))
				}
			}
			return len(text), nil
		}
	}
	code := clitest.Main(slices.Concat([]string{"new", "nova", "https://nova.example"}, w.Args()),
		frame.IO{Stdout: note("stdout"), Stderr: note("stderr"), Getenv: clitest.NoEnvironment})
	want := []string{`stderr "pass: checked" false`, `stdout "implementations/nova.json\n" true`, `stderr "next:" true`}
	order = slices.DeleteFunc(order, func(s string) bool { return strings.HasPrefix(s, `stderr "imp`) })
	if code != 0 || !slices.Equal(order, want) {
		t.Errorf("exit status %d, %q", code, order)
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(text []byte) (int, error) { return f(text) }

func killed(t *testing.T, description, path string, command []string) {
	w := clitest.Build(t, "base: [{listing: eve}]\n"+description)
	if description[0] == 'p' { // what the branch holds was published, and is to be proposed anew
		if out, err := exec.Command("git", "-C", w.Repo.Dir, "checkout", "-q", "main").CombinedOutput(); err != nil {
			t.Fatalf("%s: %v", out, err)
		}
	}
	killedAt(t, filepath.Join(w.Repo.Dir, filepath.FromSlash(path)), slices.Concat(command, w.Args()))
}

// killedAt kills the program, which writes a file, at many moments.
func killedAt(t *testing.T, file string, args []string) {
	t.Helper()
	before, missing := os.ReadFile(file)
	restore := func() {
		err := os.WriteFile(file, before, 0o644)
		if missing != nil {
			err = os.Remove(file)
		}
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
	}
	began := time.Now()
	if code, out := clitest.Program(t, args...); code != 0 {
		t.Fatalf("exit status %d\n%s", code, out)
	}
	took := time.Since(began)
	after, others := must.Read(t, file), namesIn(t, filepath.Dir(file))
	const kills = 30
	written := 0
	for n := range kills {
		restore()
		cmd := exec.Command("oap-gate", args...)
		must.OK(t, cmd.Start())
		time.Sleep(took * time.Duration(n+1) / kills)
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		got, err := os.ReadFile(file)
		switch {
		case err == nil && string(got) == string(after):
			written++
		case missing != nil && os.IsNotExist(err), err == nil && missing == nil && string(got) == string(before):
		default:
			t.Fatalf("kill %d: the record holds %q, error %v", n, got, err)
		}
		for _, name := range namesIn(t, filepath.Dir(file)) {
			if beside := filepath.Join(filepath.Dir(file), name); !slices.Contains(others, name) {
				if left := must.Read(t, beside); runtime.GOOS == "linux" && string(left) != string(after) {
					t.Fatalf("kill %d: %s is left, with %q", n, name, left)
				}
				must.OK(t, os.Remove(beside))
			}
		}
	}
	if written == kills {
		t.Error("every kill came too late: this shows nothing")
	}
}

// namesIn are the names in a directory.
func namesIn(t *testing.T, dir string) []string {
	t.Helper()
	entries := must.Get(os.ReadDir(dir))(t)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}
