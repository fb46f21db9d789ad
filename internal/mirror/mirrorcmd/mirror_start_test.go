package mirrorcmd_test

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/atomicfile"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/clitest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

// stands checks what git ls-remote shows of the mirror.
func (m *mirrored) stands(verified string) {
	m.t.Helper()
	got := m.git(".", "ls-remote", "file://"+filepath.Join(m.dir, "registry.git"), "refs/heads/main")
	if !strings.HasPrefix(got, verified) {
		m.t.Errorf("the branch is at %q; expected %s", got, verified)
	}
}

// ends runs the mirror and checks its exit status and what it says, and that a branch did not move.
func (m *mirrored) ends(want int, text, verified string, more ...string) string {
	m.t.Helper()
	out := clitest.Run(m.t, want, text, m.args(more...)...)
	m.stands(verified)
	return out
}

func (m *mirrored) file(name string) string { return filepath.Join(m.dir, filepath.FromSlash(name)) }

func (m *mirrored) write(name, text string) {
	m.t.Helper()
	must.OK(m.t, os.WriteFile(m.file(name), []byte(text), 0o666))
}

// TestMirrorStartCheckpoint edits the checkpoint in each way: nothing moves before it is verified.
func TestMirrorStartCheckpoint(t *testing.T) {
	m, first := running(t)
	old := string(must.Read(t, m.file("checkpoint")))
	second := m.push("README.md", "# on\n")
	m.run(0, second)
	good := string(must.Read(t, m.file("checkpoint")))
	lines := strings.SplitAfter(good, "\n")
	line := func(i int, text string) string {
		edited := append([]string{}, lines...)
		edited[i] = text
		return strings.Join(edited, "")
	}
	bad := m.push("implementations/eve.json", "{}\n") // never verified
	m.run(1, second)
	for name, c := range map[string]struct{ text, says string }{
		"the tip is one that the origin served": {line(5, "tip "+bad+"\n"), "its root is not that of its tip " + bad},
		"the tip is one verified before": {line(5, "tip "+first+"\n"), "its root is not that of its tip " +
			first},
		"the tip is nowhere": {line(5, "tip "+strings.Repeat("0", 40)+"\n"), "the clone has no commit " +
			strings.Repeat("0", 40)},
		"the root":            {line(2, strings.SplitAfter(old, "\n")[2]), "its root is not that of its tip " + second},
		"the size":            {line(1, "77\n"), "its size is 77; expected "},
		"a flipped bit":       {strings.Replace(good, "policy", "pomicy", 1), "malformed checkpoint"},
		"torn":                {good[:100], "malformed checkpoint"},
		"empty":               {"", "is damaged: it is empty"},
		"an earlier text":     {"hello\n", "malformed checkpoint"},
		"a tip that no id is": {line(5, "tip main\n"), "malformed checkpoint"},
	} {
		m.write("checkpoint", c.text)
		out := m.ends(2, c.says, second)
		if !strings.Contains(out, "[checkpoint-damaged]") || strings.Contains(out, "history-rewritten") ||
			!strings.Contains(out, "fix: put a good copy of the checkpoint back, or remove it") {
			t.Errorf("%s: it says\n%s", name, out)
		}
		if got := string(must.Read(t, m.file("checkpoint"))); got != c.text {
			t.Errorf("%s: the checkpoint was replaced by %q", name, got)
		}
	}
	m.serve(second)
	// Both fixes lead to a green run.
	m.write("checkpoint", good)
	m.run(0, second)
	must.OK(t, os.Remove(m.file("checkpoint")))
	m.run(0, second)
	if got := string(must.Read(t, m.file("checkpoint"))); got != good {
		t.Errorf("the checkpoint is %q; expected %q", got, good)
	}
	// A backup of an honest registry is put back: what is between is judged again.
	third := m.push("README.md", "# further\n")
	m.run(0, third)
	m.write("checkpoint", old)
	m.says("[checkpoint-behind]", 0, third)
	if rep := m.report(); rep.History.Walked != 2 {
		t.Errorf("%d commits were judged again; expected 2", rep.History.Walked)
	}
	if out := m.run(0, third); strings.Contains(out, "checkpoint-behind") {
		t.Errorf("a second warning:\n%s", out)
	}
	// The same while the origin serves a commit between the two: the branch stays.
	m.write("checkpoint", old)
	m.serve(second)
	if out := m.run(1, third); !strings.Contains(out, "the tip is 1 commit behind the verified one: a lagging "+
		"replica, or a reset") || strings.Contains(out, "history-rewritten") {
		t.Errorf("it says\n%s", out)
	}
	if s := m.state(); s.Rewritten.Count != 1 { // that one was from what was never verified
		t.Errorf("the state has %d rewrites; expected 1", s.Rewritten.Count)
	}
	m.serve(third)
	m.run(0, third)
}

// TestMirrorStartSignature requires the checkpoint's signature before anything moves.
func TestMirrorStartSignature(t *testing.T) {
	m := newMirrored(t)
	private, public, err := note.GenerateKey(rand.Reader, "mirror.example")
	must.OK(t, err)
	key := filepath.Join(t.TempDir(), "note.key")
	must.OK(t, os.WriteFile(key, []byte(private+"\n"), 0o600))
	flags := []string{"--sign-key", key, "--verify-key", public}
	first := m.git(m.work, "rev-parse", "HEAD")
	m.run(0, first, flags...)
	good := string(must.Read(t, m.file("checkpoint")))
	m.run(0, first, flags...)
	body, _, _ := strings.Cut(good, "\n\n")
	second := m.push("README.md", "# on\n")
	for name, text := range map[string]string{"without": body + "\n", "another text": strings.Replace(good, "policy 2",
		"policy 0", 1)} {
		m.write("checkpoint", text)
		if out := m.ends(2, "[checkpoint-damaged]", first, flags...); strings.Contains(out, "history-rewritten") {
			t.Errorf("%s: it says\n%s", name, out)
		}
	}
	m.write("checkpoint", good)
	m.run(0, second, flags...)
}

// TestMirrorDiverged has a checkpoint and a branch that do not descend from each other.
func TestMirrorDiverged(t *testing.T) {
	m, first := running(t)
	second := m.push("README.md", "# on\n")
	m.run(0, second)
	ref := "registry.git/refs/heads/main"
	file := filepath.Join(t.TempDir(), "accepted")
	m.git(m.work, "reset", "-q", "--hard", first)
	taken := m.push("README.md", "# another way\n")
	must.OK(t, os.WriteFile(file, []byte(taken+" consistency/history-rewritten the maintainers said so\n"),
		0o666))
	m.run(0, taken, "--accepted", file)
	moved := string(must.Read(t, m.file("state.json")))
	// Killed between checkpoint and ref: the next run completes the rewrite that was accepted.
	m.write(ref, second+"\n")
	m.run(0, taken, "--accepted", file)
	m.write(ref, second+"\n")
	m.write("state.json", moved)
	third := m.push("README.md", "# on this way\n")
	m.run(0, third, "--accepted", file)
	// Without the file, or with another, the two diverge, and nothing moves.
	m.write(ref, second+"\n")
	m.ends(1, "[checkpoint-diverged]", second)
	other := filepath.Join(t.TempDir(), "other")
	must.OK(t, os.WriteFile(other, []byte(taken+" consistency/history-rewritten somebody else said so\n"),
		0o666))
	m.ends(1, "[checkpoint-diverged]", second, "--accepted", other)
	if got := string(must.Read(t, m.file("checkpoint"))); !strings.Contains(got, "tip "+third) {
		t.Errorf("the checkpoint is %q", got)
	}
	m.run(0, third, "--accepted", file)
}

// TestMirrorUnwritable has one file of the directory that cannot be written: what comes after it is not.
func TestMirrorUnwritable(t *testing.T) {
	for _, name := range []string{"state.json", "report.json", "report.html", "metrics.prom", "checkpoint"} {
		t.Run(name, func(t *testing.T) {
			m := newMirrored(t)
			first := m.git(m.work, "rev-parse", "HEAD")
			m.run(0, first)
			if name == "checkpoint" || name == "state.json" {
				// Both are read first: what cannot be replaced is a directory that nobody can write to.
				unwritable(t, m.dir)
			} else {
				must.OK(t, os.Remove(m.file(name)))
				must.OK(t, os.MkdirAll(m.file(name+"/x"), 0o777))
			}
			before := must.Read(t, m.file("checkpoint"))
			m.push("implementations/eve.json", m.edited("implementations/eve.json"))
			for range 2 {
				if out := m.ends(2, "[local-write]", first); !strings.Contains(out, "fix: free space on its disk") {
					t.Errorf("it says\n%s", out)
				}
			}
			if !bytes.Equal(before, must.Read(t, m.file("checkpoint"))) {
				t.Error("the checkpoint moved")
			}
		})
	}
}

// edited is the text of a file of the registry with a change that leaves it what it was.
func (m *mirrored) edited(path string) string {
	return string(must.Read(m.t, filepath.Join(m.work, path))) + "\n"
}

// unwritable has a directory refuse new files until the test ends.
func unwritable(t *testing.T, dir string) {
	t.Helper()
	must.OK(t, os.Chmod(dir, 0o555))
	t.Cleanup(func() {
		if err := os.Chmod(dir, 0o777); err != nil {
			t.Error(err)
		}
	})
	if atomicfile.Probe(filepath.Join(dir, "probe")) == nil {
		t.Skip("NOT TESTED: this user can write to every directory")
	}
}

// TestMirrorKilledInRewrite kills mirrors within a rewrite that was accepted: the next run completes it.
func TestMirrorKilledInRewrite(t *testing.T) {
	m, first := running(t)
	file := filepath.Join(t.TempDir(), "accepted")
	for i := range 6 {
		m.git(m.work, "reset", "-q", "--hard", first)
		taken := m.push("README.md", strings.Repeat("# another way\n", i+1))
		line := taken + " consistency/history-rewritten the maintainers said so\n"
		must.OK(t, os.WriteFile(file, []byte(line), 0o666))
		cmd := exec.Command("oap-gate", m.args("--accepted", file)...)
		must.OK(t, cmd.Start())
		timer := time.AfterFunc(time.Duration(100+i*67)*time.Millisecond, func() { _ = cmd.Process.Kill() })
		_ = cmd.Wait() // killed, or not
		timer.Stop()
		m.run(0, taken, "--accepted", file)
	}
}

// TestMirrorReportUnwritable refuses a record in a run whose report cannot be written: no reader takes it for valid.
func TestMirrorReportUnwritable(t *testing.T) {
	m, first := running(t)
	must.OK(t, os.Remove(m.file("report.json")))
	must.OK(t, os.MkdirAll(m.file("report.json/x"), 0o777))
	m.world.Web.Page("https://eve.example/oap-conformance-receipt.json", []byte("{}"))
	m.ends(2, "[local-write]", first)
	code, out := clitest.Program(t, "list", "--repo", m.dir, "--at", "2026-06-01T12:00:00Z")
	if code != 0 || !regexp.MustCompile(`(?m)^eve .* refused `).MatchString(out) {
		t.Errorf("list: exit status %d: %s", code, out)
	}
}

// TestMirrorFrozen has a branch that cannot be written for three runs, while the origin goes on and revokes: readers
// are told, and the mirror is as old as its branch.
func TestMirrorFrozen(t *testing.T) {
	m := mirroredOf(t,
		"base: [{listing: eve}, {commit: List}, {listing: fay}, {commit: List another}, {revoke: eve}]\n")
	revoked := m.git(m.work, "rev-parse", "HEAD")
	m.serve("HEAD~1")
	first := m.git(m.work, "rev-parse", "HEAD")
	m.run(0, first)
	heads := m.file("registry.git/refs/heads")
	unwritable(t, heads)
	for i, day := range []string{"02", "03", "04"} {
		m.push("README.md", strings.Repeat("# on\n", i+1))
		if i == 1 {
			m.git(m.work, "cherry-pick", revoked)
			m.git(m.work, "push", "-q", "origin", "HEAD:main")
		}
		m.ends(2, "[local-write]", first, "--at", "2026-06-"+day+"T12:00:00Z")
	}
	verify := func(maxAge string) (int, string) {
		t.Helper()
		return clitest.Program(t, append([]string{"verify", "https://eve.example", "--registry", m.dir,
			"--max-age", maxAge,
			"--at", "2026-06-04T13:00:00Z"}, m.world.WebArgs()...)...)
	}
	if code, out := verify("1d"); code != 3 || !strings.Contains(out, "[mirror-frozen]") {
		t.Errorf("exit status %d: %s", code, out)
	}
	if code, out := verify("30d"); code != 0 || !strings.Contains(out, "[mirror-frozen]") {
		t.Errorf("exit status %d: %s", code, out)
	}
	must.OK(t, os.Chmod(heads, 0o777))
	m.run(0, m.git(m.work, "rev-parse", "HEAD"), "--at", "2026-06-04T12:00:00Z")
	if code, out := verify("1d"); code != 1 || strings.Contains(out, "mirror-frozen") || // revoked, as it now shows
		!strings.Contains(out, "[revoked]") {
		t.Errorf("exit status %d: %s", code, out)
	}
}

// TestMirrorArchiveFull has an archive at its bound: what no listing pins makes room, oldest first, and where there is
// none, documents are not stored. New commits arrive in any case.
func TestMirrorArchiveFull(t *testing.T) {
	m := newMirrored(t)
	first := m.git(m.work, "rev-parse", "HEAD")
	m.run(0, first, "--max-disk", "1")
	sparse := func(sum string, size int64, age time.Duration) string {
		t.Helper()
		path := m.file("archive/" + sum[:2] + "/" + sum)
		must.OK(t, os.MkdirAll(filepath.Dir(path), 0o777))
		must.OK(t, os.WriteFile(path, nil, 0o666))
		must.OK(t, os.Truncate(path, size))
		when := time.Now().Add(-age)
		must.OK(t, os.Chtimes(path, when, when))
		return path
	}
	there := func(path string) bool { _, err := os.Lstat(path); return err == nil }
	old := sparse(strings.Repeat("a", 64), 400<<20, 2*time.Hour)
	newer := sparse(strings.Repeat("b", 64), 100<<20, time.Hour)
	second := m.push("README.md", "# on\n")
	m.run(0, second, "--max-disk", "1")
	if there(old) || !there(newer) {
		t.Errorf("the old one is there: %t, the newer one: %t", there(old), there(newer))
	}
	// One that a listing pins stays; nothing else is stored, and the branch goes on.
	receipt := "https://eve.example/oap-conformance-receipt.json"
	pinned := sparse(fmt.Sprintf("%x", sha256.Sum256(m.world.Web.Body(receipt))), 700<<20, 3*time.Hour)
	m.world.Web.Page("https://fay.example/oap-conformance-receipt.json", []byte(`{"another": "text"}`))
	third := m.push("README.md", "# further\n")
	m.run(1, third, "--max-disk", "1")
	if !there(pinned) || there(newer) {
		t.Errorf("the pinned one is there: %t, the other one: %t", there(pinned), there(newer))
	}
	sum := fmt.Sprintf("%x", sha256.Sum256([]byte(`{"another": "text"}`)))
	if there(m.file("archive/" + sum[:2] + "/" + sum)) {
		t.Error("a document was stored beyond the bound")
	}
}

// TestMirrorFrozenByItsOrigin reads a mirror whose origin serves a history that does not hold, or is down: its branch
// says nothing of what came after.
func TestMirrorFrozenByItsOrigin(t *testing.T) {
	m, first := running(t)
	m.push("implementations/eve.json", "{}\n")
	m.run(1, first, "--at", "2026-06-03T12:00:00Z")
	code, out := clitest.Program(t, "list", "--repo", m.dir, "--at", "2026-06-03T12:00:00Z")
	if code != 0 || !strings.Contains(out, "warning: the mirror is frozen since 2026-06-01T12:00:00Z: ") ||
		strings.Contains(out, "refused") {
		t.Errorf("exit status %d: %s", code, out)
	}
	if s := m.state(); s.Verified != first || s.Fetched == first || len(s.Tips) != 1 {
		t.Errorf("%+v", s)
	}
}

// TestMirrorPackedRefs packs the refs of the clone by git: what was verified is known all the same.
func TestMirrorPackedRefs(t *testing.T) {
	m := newMirrored(t)
	first := m.git(m.work, "rev-parse", "HEAD")
	second := m.push("README.md", "# on\n")
	m.run(0, second)
	clone := m.file("registry.git")
	m.git(clone, "pack-refs", "--all", "--prune")
	m.run(0, second)
	m.git(clone, "pack-refs", "--all", "--prune")
	must.OK(t, os.Remove(m.file("checkpoint")))
	m.serve(first)
	m.push("README.md", "# another past\n")
	m.ends(1, "history-rewritten", second)
	third := m.serve(second)
	m.run(0, third)
}
