package mirrorcmd_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"github.com/openagentprotocol-OAP/oap-gate/internal/cli"
	"github.com/openagentprotocol-OAP/oap-gate/internal/cli/oapgate"
	"github.com/openagentprotocol-OAP/oap-gate/internal/frame"
	"github.com/openagentprotocol-OAP/oap-gate/internal/mirror/mirrorstate"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/clitest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/fixture"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/ghtest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/gittest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// mirrored is an origin that git serves, and the directory of its mirror.
type mirrored struct {
	t      *testing.T
	world  *fixture.World
	server *httptest.Server
	origin string // bare
	work   string // a clone that pushes there
	dir    string
}

func newMirrored(t *testing.T) *mirrored {
	t.Helper()
	return mirroredOf(t, twoSteps)
}

// running is a new mirror after its first run, and the commit that it verified.
func running(t *testing.T) (m *mirrored, first string) {
	t.Helper()
	m = newMirrored(t)
	first = m.git(m.work, "rev-parse", "HEAD")
	m.run(0, first)
	return m, first
}

// mirroredOf is newMirrored of a registry that is given; the origin serves its base.
func mirroredOf(t *testing.T, registry string) *mirrored {
	t.Helper()
	root := t.TempDir()
	server, err := ghtest.ServeGit(root)
	if err != nil {
		t.Skip("NOT TESTED: ", err)
	}
	t.Cleanup(server.Close)
	m := &mirrored{t: t, world: clitest.Build(t, registry), server: server, origin: filepath.Join(root, "origin.git"),
		work: filepath.Join(root, "work"), dir: filepath.Join(t.TempDir(), "mirror")}
	m.git(root, "clone", "-q", "--bare", m.world.Repo.Dir, m.origin)
	m.git(root, "clone", "-q", m.origin, m.work)
	return m
}

func (m *mirrored) git(dir string, args ...string) string {
	m.t.Helper()
	return (&gittest.Clone{T: m.t, Dir: dir, Date: int(time.Now().Unix())}).Git(args...)
}

// push commits a file as it is given, or its removal, and pushes it whatever was there.
func (m *mirrored) push(path, text string, args ...string) string {
	m.t.Helper()
	file := filepath.Join(m.work, path)
	if text == "" {
		must.OK(m.t, os.Remove(file))
	} else if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		m.t.Fatal(err)
	}
	m.git(m.work, "add", "-A")
	m.git(m.work, append([]string{"commit", "-q", "-m", "m"}, args...)...)
	m.git(m.work, "push", "-q", "-f", "origin", "HEAD:main")
	return m.git(m.work, "rev-parse", "HEAD")
}

func (m *mirrored) args(more ...string) []string {
	var flags []string
	all := m.world.Args()
	for i := 0; i < len(all); i++ {
		if all[i] == "--repo" {
			i++
			continue
		}
		flags = append(flags, all[i])
	}
	return slices.Concat([]string{"mirror", m.server.URL + "/origin.git", m.dir, "--retry-wait", "1ms"}, flags, more)
}

// run mirrors and holds the exit status, and that the verified branch stands at a commit, in a clone, too.
func (m *mirrored) run(want int, verified string, more ...string) string {
	m.t.Helper()
	out := clitest.Run(m.t, want, "", m.args(more...)...)
	m.shows(verified)
	return out
}

// says is run, whose output must have a text.
func (m *mirrored) says(text string, want int, verified string, more ...string) {
	m.t.Helper()
	if out := m.run(want, verified, more...); !strings.Contains(out, text) {
		m.t.Errorf("%q: no word of %q:\n%s", more, text, out)
	}
}

// shows checks what a clone of the mirror gets; an empty commit means a mirror without a branch.
func (m *mirrored) shows(verified string) {
	m.t.Helper()
	if verified == "" {
		if refs, err := os.ReadDir(filepath.Join(m.dir, "registry.git", "refs", "heads")); err != nil || len(refs) > 0 {
			m.t.Errorf("the mirror shows the branches %v, %v", refs, err)
		}
		return
	}
	clone := filepath.Join(m.t.TempDir(), "clone")
	m.git(".", "clone", "-q", "--mirror", "file://"+filepath.Join(m.dir, "registry.git"), clone)
	refs := m.git(clone, "for-each-ref", "--format=%(objectname) %(refname)")
	if want := verified + " refs/heads/main"; refs != want {
		m.t.Errorf("a clone of the mirror has %q, want %q", refs, want)
	}
	m.git(clone, "fsck", "--strict")
}

func (m *mirrored) report() (rep verdict.Report) {
	m.t.Helper()
	text := must.Read(m.t, filepath.Join(m.dir, "report.json"))
	must.OK(m.t, json.Unmarshal(text, &rep))
	clitest.Matches(m.t, "report", text)
	return rep
}

// state is what the mirror's readers take.
func (m *mirrored) state() *mirrorstate.State {
	m.t.Helper()
	s := must.Get(mirrorstate.Read(m.dir))(m.t)
	return s
}

// TestMirror follows an origin, which then tampers with its records, rewrites its history, and goes down.
func TestMirror(t *testing.T) {
	m, first := running(t)
	for _, name := range []string{"checkpoint", "archive", "cache", "report.json", "report.html", "metrics.prom",
		"lock"} {
		if _, err := os.Stat(filepath.Join(m.dir, name)); err != nil {
			t.Error(err)
		}
	}
	clitest.Matches(t, "mirror-state", must.Read(t, filepath.Join(m.dir, "state.json")))
	m.run(0, first)
	second := m.push("README.md", "# changed\n")
	m.run(0, second)
	if got := m.git(filepath.Join(m.dir, "registry.git"), "rev-list", "--count", "--all"); got != m.git(m.work,
		"rev-list", "--count", "HEAD") {
		t.Errorf("the mirror has %s commits", got)
	}

	bad := m.push("implementations/eve.json", "{}\n")
	m.run(1, second)
	if got := m.git(filepath.Join(m.dir, "registry.git"), "rev-parse", "refs/remotes/origin/main"); got != bad {
		t.Errorf("the origin is shown at %s, want %s", got, bad)
	}
	if rep := m.report(); rep.Head != bad || !slices.Equal(rep.Refused, []string{"implementations/eve.json"}) {
		t.Errorf("the report is of %s and refuses %q", rep.Head, rep.Refused)
	}

	m.git(m.work, "reset", "-q", "--hard", first)
	m.push("README.md", "# another past\n")
	m.says("history-rewritten", 1, second)
	if got := m.git(filepath.Join(m.dir, "registry.git"), "rev-parse", "refs/rewritten/"+bad); got != bad {
		t.Errorf("the tip before the rewrite is %s", got)
	}
	// A merge has the verified tip as its second parent: no way forward.
	m.git(m.work, "merge", "-q", "--no-ff", "-s", "ours", "-m", "merge", second)
	m.git(m.work, "push", "-q", "-f", "origin", "HEAD:main")
	m.run(1, second)
	// An ancestor is none either.
	m.serve(first)
	m.run(1, second)

	m.git(m.work, "reset", "-q", "--hard", second)
	third := m.push("README.md", "# on\n")
	m.run(0, third)

	// One rewrite is taken, and no other that comes after, nor the way back to where it led.
	m.git(m.work, "reset", "-q", "--hard", first)
	taken := m.push("README.md", "# a pull made the tip a second parent\n")
	m.run(1, third)
	file := filepath.Join(t.TempDir(), "accepted")
	line := taken + " consistency/history-rewritten the maintainers said so\n"
	must.OK(t, os.WriteFile(file, []byte(line), 0o666))
	m.run(0, taken, "--accepted", file)
	if rep := m.report(); rep.Accepted == nil || rep.Accepted.Lines[0].Commit != taken {
		t.Errorf("the report accepts %+v", rep.Accepted)
	}
	fourth := m.push("README.md", "# after it\n")
	m.run(0, fourth, "--accepted", file)
	m.serve(taken)
	m.run(1, fourth, "--accepted", file)
	must.OK(t, os.WriteFile(file, []byte(line+"# a file that no verification knows\n"), 0o666))
	m.run(1, fourth, "--accepted", file)
	m.push("README.md", "# beside it\n")
	m.run(1, fourth, "--accepted", file)
	m.serve(fourth)
	third = fourth
	m.run(0, third, "--accepted", file)

	report := must.Read(t, filepath.Join(m.dir, "report.json"))
	m.server.Close()
	m.says("try again later", 3, third, "--accepted", file)
	if !bytes.Equal(report, must.Read(t, filepath.Join(m.dir, "report.json"))) {
		t.Error("an origin that is down changed the report")
	}
}

// TestMirrorRefuses checks what ends a mirror before it touches anything, and what it says about its directory.
func TestMirrorRefuses(t *testing.T) {
	m, first := running(t)
	fails := func(want int, text string, args ...string) {
		t.Helper()
		clitest.Run(t, want, text, args...)
	}
	at := m.server.URL + "/origin.git"
	fails(2, "is the mirror of", "mirror", m.server.URL+"/other.git", m.dir)
	fails(2, "mirror of another branch", "mirror", at, m.dir, "--branch", "trunk")
	fails(2, "no such branch", "mirror", at, t.TempDir(), "--branch", "trunk")
	fails(2, "expected a directory or https", "mirror", "http://registry.example/r", m.dir)
	fails(2, "requires a URL and a DIR", "mirror", at)
	for _, slug := range []string{"", "A", "a/b", "../a", "a.json"} {
		fails(2, fmt.Sprintf("--watch %q is not a slug", slug), "mirror", at, m.dir, "--watch", slug)
	}
	fails(2, "--serve-git requires --listen", "mirror", at, m.dir, "--every", "1h", "--serve-git")
	fails(2, "--at with --every", "mirror", at, m.dir, "--at", "2026-05-04T12:00:00Z", "--every", "1h")
	for _, flag := range notOfMirror() {
		fails(2, "unknown flag: --"+flag, "mirror", at, m.dir, "--"+flag)
	}
	wide := filepath.Join(filepath.Dir(m.origin), "wide.git")
	m.git(".", "init", "-q", "--object-format=sha256", "-b", "main", wide)
	m.git(wide, "commit", "-q", "--allow-empty", "-m", "m")
	fails(2, "name a directory that git fetched", "mirror", m.server.URL+"/wide.git/.git", t.TempDir())
	// What a killed mirror leaves beside its files goes.
	for _, name := range []string{"quarantine/objects/pack/incoming", "registry.git/objects/pack/pack-half.pack",
		".report.json.AAAAAAAAAAAAAAAAAAAAAAAAAA.oap-gate.tmp"} {
		file := filepath.Join(m.dir, name)
		must.OK(t, os.MkdirAll(filepath.Dir(file), 0o777))
		must.OK(t, os.WriteFile(file, []byte("x"), 0o666))
	}
	// A lock that a process left is none.
	must.OK(t, os.WriteFile(filepath.Join(m.dir, "lock"), []byte("process 1 of elsewhere\n"), 0o666))
	m.run(0, first)
	for _, name := range []string{"quarantine", ".report.json.AAAAAAAAAAAAAAAAAAAAAAAAAA.oap-gate.tmp",
		"registry.git/objects/pack/pack-half.pack"} {
		if _, err := os.Lstat(filepath.Join(m.dir, name)); err == nil {
			t.Errorf("%s is still there", name)
		}
	}
	// The branch follows the checkpoint, which is written first.
	ref := filepath.Join(m.dir, "registry.git", "refs", "heads", "main")
	must.OK(t, os.Remove(ref))
	m.run(0, first)
	bad := m.push("implementations/eve.json", "{}\n")
	m.run(1, first)
	// A branch that somebody moved on to what was never verified stays there and is judged; no reader takes it.
	must.OK(t, os.WriteFile(ref, []byte(bad+"\n"), 0o666))
	m.run(1, bad)
	clitest.Run(t, 2, "[mirror-state]", "list", "--repo", m.dir)
	must.OK(t, os.WriteFile(ref, []byte(first+"\n"), 0o666))
	m.serve(first)
	// Without a checkpoint the branch is kept, and all is judged anew.
	must.OK(t, os.Remove(filepath.Join(m.dir, "checkpoint")))
	m.run(0, first)
	// Without a checkpoint the branch says what was verified.
	must.OK(t, os.Remove(filepath.Join(m.dir, "checkpoint")))
	m.push("README.md", "# another root\n", "--amend")
	m.run(1, first)
}

// TestMirrorFull checks that a mirror that holds as much as it may fetches nothing more.
func TestMirrorFull(t *testing.T) {
	m, first := running(t)
	packs := func() int {
		t.Helper()
		all := must.Get(filepath.Glob(filepath.Join(m.dir, "registry.git", "objects", "pack", "*.pack")))(t)
		return len(all)
	}
	var stream strings.Builder
	for i := range 100 {
		fmt.Fprintf(&stream, "commit refs/x\ncommitter R <r@r.example> %d +0000\ndata 1\nm\n", i)
	}
	clone := filepath.Join(m.dir, "registry.git")
	imported := exec.Command("git", "-C", clone, "fast-import", "--quiet")
	imported.Stdin = strings.NewReader(stream.String())
	if out, err := imported.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for id := range strings.FieldsSeq(m.git(clone, "rev-list", "refs/x")) {
		must.OK(t, os.WriteFile(filepath.Join(clone, "refs", "rewritten", id), []byte(id+"\n"), 0o666))
	}
	m.git(clone, "update-ref", "-d", "refs/x")
	// A tip that descends from the verified one comes in however often the history was rewritten before.
	m.push("README.md", "# another root\n", "--amend")
	m.says("history-rewritten", 1, first)
	other := m.push("README.md", "# and another\n", "--amend")
	m.says("[rewritten-not-kept]", 1, first)
	m.git(m.work, "reset", "-q", "--hard", first)
	second := m.push("README.md", "# on\n")
	m.says("the tip "+other+" before a rewrite is not kept: refs/rewritten has 100; expected at most 100", 0, second)
	if r := m.state().Rewritten; r.Count != 3 || r.First[2].From != other || r.First[2].To != second {
		t.Errorf("the state has the rewrites %+v", r)
	}
	large := filepath.Join(m.dir, "large")
	must.OK(t, os.WriteFile(large, nil, 0o666))
	must.OK(t, os.Truncate(large, 1<<30))
	m.push("README.md", "# further\n")
	had := packs()
	m.says("--max-disk allows 1073741824", 1, second, "--max-disk", "1")
	if now := packs(); now != had {
		t.Errorf("%d packs, before there were %d", now, had)
	}
	if got, err := os.ReadFile(filepath.Join(m.dir, "registry.git/refs/remotes/origin/main")); err != nil ||
		string(got) != second+"\n" {
		t.Errorf("the origin is shown at %s, %v", got, err)
	}
}

// TestMirrorFullOfPeer requires that the pack of a peer is fetched only if --max-disk has room for it.
func TestMirrorFullOfPeer(t *testing.T) {
	m, first := running(t)
	root := filepath.Dir(m.origin)
	m.git(root, "clone", "-q", m.origin, "other")
	var noise strings.Builder // does not compress
	for random := rand.New(rand.NewPCG(1, 2)); noise.Len() < 400_000; {
		fmt.Fprintf(&noise, "%016x", random.Uint64())
	}
	must.OK(t, os.WriteFile(filepath.Join(root, "other", "README.md"), []byte(noise.String()), 0o666))
	m.git(filepath.Join(root, "other"), "commit", "-q", "-a", "--amend", "-m", "Other")
	size := int64(100_000) // the reports differ a little from run to run
	if err := filepath.WalkDir(m.dir, func(_ string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if err == nil {
			size += info.Size()
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	large := filepath.Join(m.dir, "large")
	must.OK(t, os.WriteFile(large, nil, 0o666))
	must.OK(t, os.Truncate(large, 1<<30-size))
	other := []string{"--peer", m.server.URL + "/other/.git"}
	if out := m.run(3, first, append(other, "--max-disk", "1")...); !strings.Contains(out, "the mirror is full") ||
		!strings.Contains(out, "fix: name another copy, or give a larger --max-disk") {
		t.Errorf("no word of the limit:\n%s", out)
	}
	m.says("[split-view]", 1, first, append(other, "--max-disk", "2")...)
}

// TestMirrorTips checks that a branch of the origin that names no commit, or one that is not whole, is not admitted.
func TestMirrorTips(t *testing.T) {
	m, first := running(t)
	m.git(m.work, "-c", "user.name=R", "tag", "-a", "-m", "m", "v1")
	m.git(m.work, "push", "-q", "origin", "v1")
	for name, id := range map[string]string{"a blob": m.git(m.work, "rev-parse", "HEAD:README.md"),
		"a tree": m.git(m.work, "rev-parse", "HEAD^{tree}"), "a tag": m.git(m.work, "rev-parse", "v1")} {
		must.OK(t, os.WriteFile(filepath.Join(m.origin, "refs", "heads", "main"), []byte(id+"\n"), 0o666))
		m.says("the origin serves what is not admitted", 1, first)
		if got := m.git(filepath.Join(m.dir, "registry.git"), "rev-parse", "refs/remotes/origin/main"); got != first {
			t.Errorf("%s: the origin is shown at %s", name, got)
		}
	}
}

// TestMirrorPeers checks that a mirror compares with other copies, and that a copy with SHA-256 ids is not fetched.
func TestMirrorPeers(t *testing.T) {
	m := newMirrored(t)
	first := m.git(m.work, "rev-parse", "HEAD")
	root := filepath.Dir(m.origin)
	m.git(root, "clone", "-q", "--bare", m.origin, "same.git")
	m.git(root, "clone", "-q", m.origin, "other")
	m.git(filepath.Join(root, "other"), "commit", "-q", "--amend", "-m", "Other")
	m.git(root, "init", "-q", "--object-format=sha256", "-b", "main", "wide")
	m.git(filepath.Join(root, "wide"), "commit", "-q", "--allow-empty", "-m", "m")
	m.run(0, first, "--peer", m.server.URL+"/same.git")
	second := m.push("README.md", "# on\n")
	m.says("split view", 1, first, "--peer", m.server.URL+"/other/.git")
	wide := []string{"--peer", m.server.URL + "/wide/.git"}
	m.says("fix: name a directory that git fetched", 2, first, wide...)
	code, out := clitest.Program(t, append([]string{"audit", "--repo", m.work, "--only", "consistency"}, wide...)...)
	if code != 2 || !strings.Contains(out, "fix: name a directory that git fetched") {
		t.Errorf("audit: exit status %d: %s", code, out)
	}
	m.run(0, second)
	if left, err := filepath.Glob(filepath.Join(m.dir, "oap-gate-peer-*")); err != nil || left != nil {
		t.Errorf("%q is left, %v", left, err)
	}
}

// TestMirrorPeersNeeded checks that the branch moves while enough distinct peers hold the verified tip, and does not
// while fewer do.
func TestMirrorPeersNeeded(t *testing.T) {
	m := newMirrored(t)
	first := m.git(m.work, "rev-parse", "HEAD")
	root := filepath.Dir(m.origin)
	alive, dead := m.server.URL+"/alive.git", m.server.URL+"/dead.git"
	m.git(root, "clone", "-q", "--bare", m.origin, "alive.git")
	m.git(filepath.Join(root, "alive.git"), "symbolic-ref", "HEAD", "refs/heads/main")
	usage := func(text string, more ...string) {
		t.Helper()
		clitest.Run(t, 2, text, m.args(more...)...)
	}
	both := []string{"--peer", alive, "--peer", dead}
	usage("--peers-needed requires --peer", "--peers-needed", "1")
	usage("--peers-needed 0 is out of range", append(both, "--peers-needed", "0")...)
	usage("--peers-needed -1 is out of range", append(both, "--peers-needed", "-1")...)
	usage("--peers-needed 3 is out of range; --peer names 2 distinct peers", append(both, "--peers-needed", "3")...)
	// A peer that is named twice counts once.
	for _, again := range []string{alive, alive + "/", m.server.URL + "/alive", m.server.URL + "/./alive.git",
		m.server.URL + "/%61live.git"} {
		usage("--peer names 1 distinct peer", "--peer", alive, "--peer", again, "--peers-needed", "2")
	}
	usage("is the origin or the mirror itself", "--peer", m.server.URL+"/origin")
	usage("is the origin or the mirror itself", "--peer", filepath.Join(m.dir, "registry.git"))
	if _, err := os.Stat(m.dir); err == nil {
		t.Error("a usage error made the directory")
	}

	m.run(3, "", both...) // all of them are needed
	m.run(3, "", append(both, "--peers-needed", "2")...)
	m.run(0, first, append(both, "--peers-needed", "1")...)
	peers := func(state string) string { return fmt.Sprintf("state=%q} 1\n", state) }
	metrics := string(must.Read(t, filepath.Join(m.dir, "metrics.prom")))
	if !strings.Contains(metrics, peers("unavailable")) || !strings.Contains(metrics, peers("same")) {
		t.Errorf("the metrics say nothing of the dead peer:\n%s", metrics)
	}
	if got := m.report().History.Peers; len(got) != 2 || got[1].State != "unavailable" || got[1].Name != dead {
		t.Errorf("the report has the peers %+v", got)
	}
	m.run(0, first, "--peer", alive, "--peer", alive+"/") // one peer, named twice

	// A peer that holds the verified tip counts although it has not seen the new head; one that is older does not.
	second := m.push("README.md", "# on\n")
	m.run(0, second, "--peer", alive)
	m.push("README.md", "# on and on\n")
	if out := m.run(3, second, "--peer", alive); !strings.Contains(out,
		"0 of 1 peer answered and hold the verified tip "+second) || !strings.Contains(out, "[peers-too-few]") {
		t.Errorf("it says %s", out)
	}
	m.git(filepath.Join(root, "alive.git"), "fetch", "-q", "origin", "+refs/heads/main:refs/heads/main")
	third := m.git(m.work, "rev-parse", "HEAD")
	m.run(0, third, "--peer", alive)
	// An empty one counts no more.
	m.git(root, "init", "-q", "--bare", "-b", "main", "empty.git")
	empty := m.server.URL + "/empty.git"
	fourth := m.push("README.md", "# on and on and on\n")
	m.says("is empty", 3, third, "--peer", empty)
	// A split view fails however few are needed, and however many agree.
	m.git(root, "clone", "-q", "--branch", "main", m.origin, "split")
	m.git(filepath.Join(root, "split"), "commit", "-q", "--amend", "-m", "Other")
	m.run(1, third, "--peer", m.server.URL+"/split/.git", "--peer", alive, "--peers-needed", "1")
	// A copy that cannot be fetched from a URL ends no run that does not need it.
	m.git(root, "init", "-q", "--object-format=sha256", "-b", "main", "wide")
	m.git(filepath.Join(root, "wide"), "commit", "-q", "--allow-empty", "-m", "m")
	wide := m.server.URL + "/wide/.git"
	m.run(2, third, "--peer", wide, "--peer", alive)
	m.run(0, fourth, "--peer", wide, "--peer", alive, "--peers-needed", "1")
}

// TestMirrorsThatNameEachOther starts two mirrors from nothing, each with the other as its only peer: by URL, by the
// mirror's directory and by the clone in it.
func TestMirrorsThatNameEachOther(t *testing.T) {
	for _, by := range []string{"url", "directory", "clone"} {
		t.Run(by, func(t *testing.T) {
			m := newMirrored(t)
			first := m.git(m.work, "rev-parse", "HEAD")
			root := filepath.Dir(m.origin)
			dirs := []string{filepath.Join(root, "a"), filepath.Join(root, "b")}
			run := func(i, want int, verified string) {
				t.Helper()
				peer := dirs[1-i]
				switch by {
				case "url":
					peer = m.server.URL + "/" + filepath.Base(peer) + "/registry.git"
				case "clone":
					peer = filepath.Join(peer, "registry.git")
				}
				m.dir = dirs[i]
				m.run(want, verified, "--peer", peer)
			}
			run(0, 3, "")
			run(1, 0, first) // the first one is there now, and empty
			run(0, 0, first)
			run(1, 0, first)
			second := m.push("README.md", "# on\n")
			run(0, 0, second)
			run(1, 0, second)
		})
	}
}

// TestMirrorRefusesRecords checks that a mirror refuses a record whose own checks fail, and that its readers see that.
func TestMirrorRefusesRecords(t *testing.T) {
	m := newMirrored(t)
	first := m.git(m.work, "rev-parse", "HEAD")
	list := func() string {
		t.Helper()
		code, out := clitest.Program(t, "list", "--repo", m.dir, "--at", "2026-06-01T12:00:00Z")
		if code != 0 {
			t.Fatalf("list: exit status %d: %s", code, out)
		}
		return out
	}
	verify := func() string {
		t.Helper()
		_, out := clitest.Program(t, append([]string{"verify", "https://eve.example", "--registry", m.dir, "--at",
			"2026-06-01T12:00:00Z"}, m.world.WebArgs()...)...)
		return out
	}
	m.run(0, first)
	if out := list() + verify(); strings.Contains(out, "refused") ||
		!strings.Contains(out, "ok    registry-anchor ") {
		t.Errorf("before: %s", out)
	}
	receipt := "https://eve.example/oap-conformance-receipt.json"
	honest := m.world.Web.Body(receipt)
	m.world.Web.Page(receipt, []byte("{}"))
	m.run(1, first) // the history holds
	if rep := m.report(); !slices.Equal(rep.Refused, []string{"implementations/eve.json"}) {
		t.Errorf("the report refuses %q", rep.Refused)
	}
	if out := list(); !regexp.MustCompile(`(?m)^eve .* refused `).MatchString(out) {
		t.Errorf("list: %s", out)
	}
	// A Receipt that claims nothing is anchored nowhere; the honest one is not either, as long as it is refused.
	if out := verify(); !strings.Contains(out, "the Receipt claims no level") {
		t.Errorf("verify: %s", out)
	}
	m.world.Web.Page(receipt, honest)
	if out := verify(); !strings.Contains(out, "the mirror refused implementations/eve.json in its run of 2026-") ||
		!strings.Contains(out, "[mirror-refused]") || strings.Contains(out, "not-anchored") ||
		!strings.Contains(out, "ok    revocation         no revocation in force names it\n") {
		t.Errorf("verify: %s", out)
	}
	// A run that a signal ends judges too little to say that it is refused no more.
	slow, asked := stalling(t)
	before := must.Read(t, filepath.Join(m.dir, "report.json"))
	args := m.args("--every", "1h", "--peer", slow+"/r")
	at := slices.Index(args, "--at")
	cmd := exec.Command("oap-gate", slices.Delete(args, at, at+2)...)
	must.OK(t, cmd.Start())
	<-asked
	ends(t, cmd)
	if !bytes.Equal(before, must.Read(t, filepath.Join(m.dir, "report.json"))) {
		t.Error("a run that was interrupted changed the report")
	}
	// The report says what to mend; it is served again, and the operator's next run counts the listing.
	if !strings.Contains(string(before), `"fix":`) {
		t.Errorf("the report names no fix: %s", before)
	}
	m.run(0, first)
	if out := list() + verify(); strings.Contains(out, "refused") || !strings.Contains(out, "ok    registry-anchor ") {
		t.Errorf("after the fix: %s", out)
	}
}

// stalling is a server that tells of its first request, and answers none.
func stalling(t *testing.T) (url string, asked <-chan bool) {
	t.Helper()
	first := make(chan bool, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case first <- true:
		default:
		}
		<-r.Context().Done()
	}))
	t.Cleanup(server.Close)
	return server.URL, first
}

// ends sends a signal to a mirror that goes on, which then ends in good order.
func ends(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	must.OK(t, cmd.Process.Signal(syscall.SIGTERM))
	if err := cmd.Wait(); err != nil {
		t.Errorf("it ended with %v", err)
	}
}

// TestMirrorGoesOn checks that a mirror that goes on serves what it found, that a second mirror of its directory says
// which process holds it, and that a signal ends it.
func TestMirrorGoesOn(t *testing.T) {
	m := newMirrored(t)
	args := m.args("--every", "1h", "--listen", "127.0.0.1:0", "--serve-git")
	at := slices.Index(args, "--at")
	cmd := exec.Command("oap-gate", slices.Delete(args, at, at+2)...)
	out := must.Get(cmd.StdoutPipe())(t)
	messages := must.Get(cmd.StderrPipe())(t)
	must.OK(t, cmd.Start())
	serving, err := bufio.NewReader(messages).ReadString('\n')
	url, ok := strings.CutPrefix(strings.TrimSuffix(serving, "/\n"), "serving on ")
	if !ok {
		t.Errorf("it says %q, %v", serving, err)
	}
	line, err := bufio.NewReader(out).ReadString('\n') // a line a run
	if err != nil || !strings.HasSuffix(line, " "+m.git(m.work, "rev-parse", "HEAD")+"\n") {
		t.Errorf("it says %q, %v", line, err)
	}
	for path, want := range map[string]int{"/": 200, "/report.json": 200, "/metrics": 200, "/healthz": 200,
		"/livez": 200, "/readyz": 200, "/checkpoint": 200, "/registry.git/HEAD": 200, "/registry.git/config": 404,
		"/lock": 404} {
		resp := must.Get(http.Get(url + path))(t)
		resp.Body.Close()
		if resp.StatusCode != want || resp.Header.Get("Content-Security-Policy") == "" {
			t.Errorf("%s: status %d, want %d; %v", path, resp.StatusCode, want, resp.Header)
		}
	}
	resp := must.Get(http.Post(url+"/", "text/plain", strings.NewReader("x")))(t)
	resp.Body.Close()
	if resp.StatusCode != 405 {
		t.Errorf("POST: status %d", resp.StatusCode)
	}
	clitest.Run(t, 2, fmt.Sprintf("is held by process %d of ", cmd.Process.Pid), m.args()...)
	ends(t, cmd)
}

// TestMirrorEnds checks that a signal ends a mirror that waits for its origin.
func TestMirrorEnds(t *testing.T) {
	slow, asked := stalling(t)
	cmd := exec.Command("oap-gate", "mirror", slow+"/r", t.TempDir(), "--every", "1h")
	must.OK(t, cmd.Start())
	<-asked
	ends(t, cmd)
}

// TestMirrorKilled kills mirrors at many moments while the origin moves on, and serves what does not hold every tenth
// time: whatever is there is whole, and the branch is never beyond the checkpoint, nor that beyond what holds.
func TestMirrorKilled(t *testing.T) {
	m := newMirrored(t)
	place := map[string]int{m.git(m.work, "rev-parse", "HEAD"): 1} // of each commit that holds
	rounds, killed := 15, 0
	if os.Getenv("OAP_GATE_KILLS") != "" {
		rounds = 100
	}
	tip := regexp.MustCompile(`(?m)^tip ([0-9a-f]{40})$`)
	for i := range rounds {
		last := m.push("README.md", strings.Repeat("# on\n", i+1))
		if place[last] = i + 2; i%10 == 9 {
			m.push("implementations/eve.json", "{}\n")
		}
		cmd := exec.Command("oap-gate", m.args()...)
		must.OK(t, cmd.Start())
		timer := time.AfterFunc(time.Duration(50+i*37%451)*time.Millisecond, func() { _ = cmd.Process.Kill() })
		_ = cmd.Wait() // killed, or not
		timer.Stop()
		if !cmd.ProcessState.Exited() {
			killed++
		}
		m.git(m.work, "reset", "-q", "--hard", last)
		if data, err := os.ReadFile(filepath.Join(m.dir, "report.json")); err == nil && !json.Valid(data) {
			t.Fatal("the report is torn")
		}
		ref, err := os.ReadFile(filepath.Join(m.dir, "registry.git", "refs", "heads", "main"))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		} else if err != nil {
			t.Fatal(err)
		}
		found := tip.FindSubmatch(must.Read(t, filepath.Join(m.dir, "checkpoint")))
		if found == nil {
			t.Fatal("the checkpoint is torn")
		}
		shown, verified := place[strings.TrimSpace(string(ref))], place[string(found[1])]
		if shown == 0 || verified < shown {
			t.Fatalf("the branch is at commit %d, the checkpoint at %d", shown, verified)
		}
	}
	t.Logf("%d of %d runs were killed", killed, rounds)
	m.git(m.work, "push", "-q", "-f", "origin", "HEAD:main")
	m.run(0, m.git(m.work, "rev-parse", "HEAD"))
}

// TestMirrorRefusesUnjudged ends a run by its budget within the history, which an accepted file has it judge anew: a
// record that was refused stays so.
func TestMirrorRefusesUnjudged(t *testing.T) {
	m := newMirrored(t)
	first := m.git(m.work, "rev-parse", "HEAD")
	receipt := "https://eve.example/oap-conformance-receipt.json"
	honest := m.world.Web.Body(receipt)
	m.world.Web.Page(receipt, []byte("{}"))
	m.run(1, first)
	file := filepath.Join(t.TempDir(), "accepted")
	must.OK(t, os.WriteFile(file, []byte("# none\n"), 0o666))
	m.ends(3, "no record was judged", first, "--budget", "1ns", "--accepted", file)
	refused := func() bool {
		_, out := clitest.Program(t, "list", "--repo", m.dir, "--at", "2026-06-01T12:00:00Z")
		return regexp.MustCompile(`(?m)^eve .* refused `).MatchString(out)
	}
	if !refused() {
		t.Error("the listing is not refused any more")
	}
	m.world.Web.Page(receipt, honest)
	m.run(0, first, "--accepted", file)
	if refused() {
		t.Error("the listing is refused after it was mended")
	}
}

// TestMirrorRefusesWithoutState damages what a mirror wrote: a record that the state or else the report says was
// refused stays so. Without both, a record that is not decided is not refused, as in a new mirror.
func TestMirrorRefusesWithoutState(t *testing.T) {
	m := newMirrored(t)
	first := m.git(m.work, "rev-parse", "HEAD")
	receipt := "https://eve.example/oap-conformance-receipt.json"
	honest := m.world.Web.Body(receipt)
	m.world.Web.Page(receipt, []byte("{}"))
	m.run(1, first)
	m.world.Web.Page(receipt, honest)
	refused := func(want ...string) {
		t.Helper()
		if got := m.report().Refused; !slices.Equal(got, want) {
			t.Errorf("%q are refused, want %q", got, want)
		}
	}
	damage := func(files ...string) {
		t.Helper()
		for _, file := range files {
			must.OK(t, os.WriteFile(filepath.Join(m.dir, file), []byte("{"), 0o666))
		}
	}
	const eve = "implementations/eve.json"
	damage("state.json")
	m.run(0, first, "--offline")
	refused(eve)
	damage("state.json", "report.json")
	m.run(0, first, "--offline")
	refused()
}

// TestMirrorFrozenByClock runs a mirror once by a clock that is ahead, and then by the right one while the origin is
// down: readers learn that it is frozen, and its age is ignored.
func TestMirrorFrozenByClock(t *testing.T) {
	m := newMirrored(t)
	first := m.git(m.work, "rev-parse", "HEAD")
	m.run(0, first, "--at", "2036-06-01T12:00:00Z", "--offline")
	asks := func(want int, frozen bool) {
		t.Helper()
		code, out := clitest.Program(t, append([]string{"verify", "https://eve.example", "--registry", m.dir,
			"--max-age", "1d",
			"--at", "2026-06-02T12:00:00Z"}, m.world.WebArgs()...)...)
		_, listed := clitest.Program(t, "list", "--repo", m.dir, "--at", "2026-06-02T12:00:00Z")
		if code != want || strings.Contains(out, "mirror-frozen") != frozen ||
			strings.Contains(listed, "mirror-frozen") != frozen {
			t.Errorf("exit status %d; expected %d\n%s%s", code, want, out, listed)
		}
		if want == 3 && !strings.Contains(out, "its last run of 2036-06-01T12:00:00Z is ahead of now") {
			t.Errorf("verify says\n%s", out)
		}
	}
	asks(3, false)
	server := m.server.Config.Handler
	m.server.Config.Handler = http.NotFoundHandler()
	m.run(3, first, "--at", "2026-06-02T12:00:00Z", "--offline")
	asks(3, true)
	m.server.Config.Handler = server
	m.run(0, first, "--at", "2026-06-02T12:00:00Z", "--offline")
	asks(0, false)
}

// notOfMirror are the flags of audit that a mirror does not have.
func notOfMirror() (names []string) {
	root := cli.Command(&oapgate.Program, frame.IO{})
	audit, _, _ := root.Find([]string{"audit"})
	mirror, _, _ := root.Find([]string{"mirror"})
	audit.Flags().VisitAll(func(f *pflag.Flag) {
		if mirror.Flags().Lookup(f.Name) == nil {
			names = append(names, f.Name)
		}
	})
	return names
}
