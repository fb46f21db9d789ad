package mirrorcmd_test

import (
	"bytes"
	"crypto/sha1"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/mirror/mirrorstate"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/clitest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

// only returns the one file of the mirror that a pattern matches.
func (m *mirrored) only(pattern string) string {
	m.t.Helper()
	found, err := filepath.Glob(m.file(pattern))
	if err != nil || len(found) != 1 {
		m.t.Fatalf("%s matches %q, %v", pattern, found, err)
	}
	return found[0]
}

func edit(t *testing.T, path string, change func([]byte) []byte) {
	t.Helper()
	text := change(must.Read(t, path))
	if err := os.Remove(path); err != nil { // git makes packs read-only
		t.Fatal(err)
	}
	if text == nil {
		return
	}
	must.OK(t, os.WriteFile(path, text, 0o666))
}

// flipped returns a text with one other bit, so far into it, from the end if at is negative.
func flipped(at int) func([]byte) []byte {
	return func(text []byte) []byte {
		if at < 0 {
			at += len(text)
		}
		text[at%len(text)] ^= 1
		return text
	}
}

func vanished([]byte) []byte { return nil }
func emptied([]byte) []byte  { return []byte{} }

// TestMirrorRepairs damages each file of the clone: one run notices, names and repairs it, and accuses nobody.
func TestMirrorRepairs(t *testing.T) {
	m, first := running(t)
	other := m.push("README.md", "# a tip before a rewrite\n")
	m.run(0, other)
	m.git(m.work, "reset", "-q", "--hard", first)
	m.push("README.md", "# a rewrite\n")
	m.run(1, other)
	m.serve(other)
	m.run(0, other)
	first = other
	checkpoint := must.Read(t, m.file("checkpoint"))
	if s := m.state(); s.Repaired.Count != 0 || s.ReverifiedAt.IsZero() {
		t.Errorf("before: %+v", s)
	}
	const pack, index = "registry.git/objects/pack/pack-*.pack", "registry.git/objects/pack/pack-*.idx"
	rewritten := "registry.git/refs/rewritten/*"
	for name, c := range map[string]struct {
		pattern, names string
		change         func([]byte) []byte
	}{
		"pack, its magic":          {pack, ".pack", flipped(1)},
		"pack, its version":        {pack, ".pack", flipped(7)},
		"pack, its count":          {pack, ".pack", flipped(9)},
		"pack, its first object":   {pack, ".pack", flipped(20)},
		"pack, in the middle":      {pack, ".pack", flipped(1000)},
		"pack, near its end":       {pack, ".pack", flipped(-30)},
		"pack, its trailer":        {pack, ".pack", flipped(-1)},
		"pack, torn":               {pack, ".pack", func(b []byte) []byte { return b[:len(b)/2] }},
		"pack, empty":              {pack, ".pack", emptied},
		"pack, gone":               {pack, ".pack", vanished},
		"index, its magic":         {index, ".idx", flipped(0)},
		"index, its fan-out":       {index, ".idx", flipped(500)},
		"index, its names":         {index, ".idx", flipped(1040)},
		"index, its trailer":       {index, ".idx", flipped(-1)},
		"index, empty":             {index, ".idx", emptied},
		"index, gone":              {index, ".idx", vanished},
		"the verified ref":         {"registry.git/refs/heads/main", "refs/heads/main", flipped(3)},
		"the verified ref, no hex": {"registry.git/refs/heads/main", "refs/heads/main", flipped(-1)},
		"the verified ref, empty":  {"registry.git/refs/heads/main", "refs/heads/main", emptied},
		"the served ref":           {"registry.git/refs/remotes/origin/main", "refs/remotes/origin/main", flipped(3)},
		"the served ref, empty":    {"registry.git/refs/remotes/origin/main", "refs/remotes/origin/main", emptied},
		"a rewritten ref":          {rewritten, "refs/rewritten/", flipped(3)},
		"a rewritten ref, empty":   {rewritten, "refs/rewritten/", emptied},
		"HEAD":                     {"registry.git/HEAD", "HEAD", flipped(20)},
		"HEAD, empty":              {"registry.git/HEAD", "HEAD", emptied},
		"config":                   {"registry.git/config", "config", flipped(3)},
		"config, its URL":          {"registry.git/config", "config", flipped(85)},
		"config, empty":            {"registry.git/config", "config", emptied},
		"config, gone":             {"registry.git/config", "config", vanished},
		"state":                    {"state.json", "state.json", flipped(0)},
		"state, empty":             {"state.json", "state.json", emptied},
	} {
		t.Run(name, func(t *testing.T) {
			m := *m
			m.t = t
			found, err := filepath.Glob(m.file(c.pattern))
			if err != nil || len(found) == 0 {
				t.Fatalf("%s matches %q, %v", c.pattern, found, err)
			}
			edit(t, found[0], c.change)
			before := 0
			if c.pattern != "state.json" {
				before = m.state().Repaired.Count
			}
			out := m.run(0, first)
			if !strings.Contains(out, "[clone-repaired]") ||
				strings.Contains(out, "history-rewritten") {
				t.Errorf("it says\n%s", out)
			}
			s := m.state()
			if s.Repaired.Count <= before || !slices.ContainsFunc(s.Repaired.Last, func(r mirrorstate.Repair) bool {
				return strings.Contains(r.What, c.names)
			}) {
				t.Errorf("the state has the repairs %+v; expected one of %q", s.Repaired, c.names)
			}
			if !bytes.Equal(checkpoint, must.Read(t, m.file("checkpoint"))) {
				t.Error("the checkpoint changed")
			}
			if out := m.run(0, first); strings.Contains(out, "clone-repaired") {
				t.Errorf("repaired again:\n%s", out)
			}
		})
	}
}

// forged changes a byte of a pack and makes its trailer and its index fit.
func forged(t *testing.T, pack string, at int) {
	t.Helper()
	var sum [20]byte
	edit(t, pack, func(text []byte) []byte {
		text[at] ^= 1
		sum = sha1.Sum(text[:len(text)-20])
		copy(text[len(text)-20:], sum[:])
		return text
	})
	edit(t, strings.TrimSuffix(pack, ".pack")+".idx", func(text []byte) []byte {
		copy(text[len(text)-40:], sum[:])
		own := sha1.Sum(text[:len(text)-20])
		copy(text[len(text)-20:], own[:])
		return text
	})
}

// within returns a place of a pack inside an object, -1 if the pack does not have it.
func (m *mirrored) within(pack, object string) int {
	m.t.Helper()
	id := m.git(m.work, "rev-parse", object)
	for line := range strings.Lines(m.git(".", "verify-pack", "-v", strings.TrimSuffix(pack, ".pack")+".idx")) {
		var kind string
		var size, packed, at int
		if rest, ok := strings.CutPrefix(line, id+" "); ok {
			if _, err := fmt.Sscan(rest, &kind, &size, &packed, &at); err != nil {
				m.t.Fatal(err)
			}
			return at + packed/2
		}
	}
	return -1
}

// TestMirrorReverify damages objects that no run reads, behind trailers that fit: a pass over all of them finds it.
func TestMirrorReverify(t *testing.T) {
	m := newMirrored(t)
	root := m.git(m.work, "rev-parse", "HEAD")
	first := m.push("README.md", "# what each run reads\n")
	m.run(0, first)
	forge := func() {
		t.Helper()
		pack := m.only("registry.git/objects/pack/pack-*.pack")
		forged(t, pack, m.within(pack, root+":README.md"))
	}
	forge()
	if out := m.ends(0, "", first); strings.Contains(out, "clone-repaired") {
		t.Errorf("a run that looks at trailers found it:\n%s", out)
	}
	if out := m.run(0, first, "--verify-all"); !strings.Contains(out, "[clone-repaired]") ||
		strings.Contains(out, "history-rewritten") {
		t.Errorf("it says\n%s", out)
	}
	forge()
	m.ends(0, "", first, "--at", "2026-06-05T12:00:00Z")
	m.says("[clone-repaired]", 0, first, "--at", "2026-06-09T12:00:00Z")
	if s := m.state(); s.ReverifiedAt.Format("2006-01-02") != "2026-06-09" || s.Pass != nil {
		t.Errorf("reverified at %s, the pass is %+v", s.ReverifiedAt, s.Pass)
	}
	// A pass that was stopped goes on where it was: what it has hashed is not hashed again.
	second := m.push("README.md", "# on\n")
	m.run(0, second)
	packs := m.all("registry.git/objects/pack/pack-*.pack")
	if len(packs) != 2 {
		t.Fatalf("%q", packs)
	}
	old := packs[0]
	if m.within(old, first+":README.md") < 0 {
		old = packs[1]
	}
	done := strings.TrimSuffix(filepath.Base(old), ".pack")
	edit(t, m.file("state.json"), func(text []byte) []byte {
		return bytes.Replace(text, []byte(`"version": 1,`),
			[]byte(`"version": 1, "pass": {"begun": "2026-06-01T12:00:00Z", `+
				`"packs": ["`+done+`"]},`), 1)
	})
	forged(t, old, m.within(old, first+":README.md"))
	m.ends(0, "", second)
	if s := m.state(); s.Pass != nil || s.Repaired.Count != 2 {
		t.Errorf("the pass is %+v, %d repairs", s.Pass, s.Repaired.Count)
	}
}

// TestMirrorUndamaged checks that a pass over an undamaged directory asks the origin nothing, and changes no file that
// others take.
func TestMirrorUndamaged(t *testing.T) {
	m := newMirrored(t)
	var asked []string
	behind := m.server.Config.Handler
	m.server.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.Method+" "+r.URL.Path)
		behind.ServeHTTP(w, r)
	})
	first := m.git(m.work, "rev-parse", "HEAD")
	m.run(0, first)
	before := slices.Concat(must.Read(t, m.file("checkpoint")),
		must.Read(t, m.only("registry.git/objects/pack/pack-*.idx")))
	asked = nil
	if out := m.run(0, first, "--verify-all"); strings.Contains(out, "clone-repaired") {
		t.Errorf("it says\n%s", out)
	}
	if want := []string{"GET /origin.git/info/refs"}; !slices.Equal(asked, want) {
		t.Errorf("the origin was asked for %q; expected %q", asked, want)
	}
	after := slices.Concat(must.Read(t, m.file("checkpoint")),
		must.Read(t, m.only("registry.git/objects/pack/pack-*.idx")))
	if !bytes.Equal(before, after) || m.state().Repaired.Count != 0 {
		t.Error("the checkpoint or the index changed, or a repair is recorded")
	}
}

// TestMirrorLost damages what the origin no longer serves, or cannot serve now: an error of the clone, and no finding.
func TestMirrorLost(t *testing.T) {
	m, first := running(t)
	pack := m.only("registry.git/objects/pack/pack-*.pack")
	edit(t, pack, flipped(60))
	m.push("README.md", "# another root\n", "--amend")
	m.git(m.work, "checkout", "-q", "--orphan", "alone")
	m.git(m.work, "commit", "-q", "-m", "Alone")
	m.git(m.work, "push", "-q", "-f", "origin", "HEAD:main")
	for range 2 {
		if out := m.ends(2, "[clone-damaged]", first); strings.Contains(out, "history-rewritten") {
			t.Errorf("it says\n%s", out)
		}
	}
	m.git(m.work, "push", "-q", "-f", "origin", first+":main")
	m.run(0, first)
	m.server.Close()
	for _, pack := range m.all("registry.git/objects/pack/pack-*.pack") {
		edit(t, pack, flipped(60))
	}
	out := m.ends(2, "[clone-damaged]", first)
	if !strings.Contains(out, "fix: run again when the origin can be reached") {
		t.Errorf("it says\n%s", out)
	}
}

func (m *mirrored) all(pattern string) []string {
	m.t.Helper()
	found := must.Get(filepath.Glob(m.file(pattern)))(m.t)
	return found
}

// TestMirrorSalvages damages a pack that alone has what was verified, in an object that nothing needs any more.
func TestMirrorSalvages(t *testing.T) {
	m, _ := running(t)
	second := m.push("README.md", "# on\n")
	m.run(0, second)
	m.git(m.work, "checkout", "-q", "--orphan", "alone")
	m.git(m.work, "commit", "-q", "-m", "Alone")
	m.git(m.work, "push", "-q", "-f", "origin", "HEAD:main")
	m.run(1, second)
	for _, pack := range m.all("registry.git/objects/pack/pack-*.pack") {
		edit(t, pack, func(text []byte) []byte { // the head says another version; each object is as it was
			text[7] = 3
			return text
		})
	}
	m.run(1, second) // a rewrite still, and a clone of the mirror has all that was verified
	if s := m.state(); s.Repaired.Count == 0 {
		t.Error("no repair is recorded")
	}
}

// TestMirrorOriginGone has an origin that serves nothing, in each way.
func TestMirrorOriginGone(t *testing.T) {
	m := newMirrored(t)
	first := m.git(m.work, "rev-parse", "HEAD")
	status := 0
	behind := m.server.Config.Handler
	m.server.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if status != 0 {
			http.Error(w, "no", status)
			return
		}
		behind.ServeHTTP(w, r)
	})
	m.run(0, first)
	for code, says := range map[int]string{401: "the origin no longer shows the registry",
		403: "the origin no longer shows", 404: "the origin no longer shows", 500: "could not be fetched",
		503: "could not be fetched"} {
		status = code
		if out := m.ends(3, says, first); !strings.Contains(out, "[origin-unavailable]") ||
			code >= 500 && strings.Contains(out, "no longer shows") {
			t.Errorf("%d: it says\n%s", code, out)
		}
	}
	status = 0
	m.run(0, first)
	m.git(m.work, "push", "-q", "origin", "HEAD:other")
	m.git(m.origin, "update-ref", "-d", "refs/heads/main")
	m.ends(1, "[origin-vanished]", first)
	for _, ref := range strings.Fields(m.git(m.origin, "for-each-ref", "--format=%(refname)")) {
		m.git(m.origin, "update-ref", "-d", ref)
	}
	m.ends(1, "it is empty", first)
	m.ends(1, "[origin-vanished]", first)
	m.git(m.work, "push", "-q", "origin", "HEAD:main")
	m.run(0, first)
	code, out := clitest.Program(t, "mirror", "https://registry.example/r", t.TempDir(), "--connect-to",
		"registry.example=127.0.0.1:1")
	if code != 3 || !strings.Contains(out, "[origin-unavailable]") {
		t.Errorf("exit status %d: %s", code, out)
	}
}

// TestMirrorShallowOrigin has an origin that leaves out what its branch needs: nobody can repair that but the origin.
func TestMirrorShallowOrigin(t *testing.T) {
	m, first := running(t)
	m.push("README.md", "# on\n")
	last := m.push("README.md", "# and on\n")
	must.OK(t, os.Rename(m.origin, m.origin+".full"))
	m.git(m.work, "clone", "-q", "--bare", "--branch=main", "--depth=1", "file://"+m.origin+".full", m.origin)
	const fix = "; the origin leaves it out\nfix: have the origin serve a repository that `git fsck` accepts"
	m.ends(1, fix, first)
	dir := m.dir
	m.dir = filepath.Join(t.TempDir(), "new")
	clitest.Run(t, 2, fix, m.args()...)
	m.dir = dir
	must.OK(t, errors.Join(os.RemoveAll(m.origin), os.Rename(m.origin+".full", m.origin)))
	m.run(0, last)
}

// TestAuditDamagedClone audits a clone whose bytes are damaged, and writes nothing to it.
func TestAuditDamagedClone(t *testing.T) {
	w := clitest.Build(t, twoSteps)
	clone := filepath.Join(t.TempDir(), "clone.git")
	m := &mirrored{t: t, dir: clone}
	m.git(".", "clone", "-q", "--bare", "--no-local", w.Repo.Dir, clone)
	files := func() (all []string) {
		t.Helper()
		err := filepath.WalkDir(clone, func(path string, e fs.DirEntry, err error) error {
			if err == nil && e.Type().IsRegular() {
				all = append(all, path+" "+string(must.Read(t, path)))
			}
			return err
		})
		must.OK(t, err)
		return all
	}
	audit := func(want int, text string, more ...string) {
		t.Helper()
		before := files()
		code, out := clitest.Program(t, append([]string{"audit", "--offline", "--repo", clone, "--at",
			"2026-06-01T12:00:00Z"},
			more...)...)
		if code != want || !strings.Contains(out, text) || strings.Contains(out, "history-rewritten") {
			t.Errorf("%q: exit status %d, expected %d and %q\n%s", more, code, want, text, out)
		}
		if !slices.Equal(before, files()) {
			t.Errorf("%q: the clone changed", more)
		}
	}
	audit(0, "pass", "--verify-all")
	pack := m.only("objects/pack/pack-*.pack")
	whole := must.Read(t, pack)
	index := must.Read(t, m.only("objects/pack/pack-*.idx"))
	for _, at := range []int{20, 300, -1} {
		edit(t, pack, flipped(at))
		audit(2, "[clone-damaged]")
		audit(2, "[clone-damaged]", "--verify-all")
		edit(t, pack, func([]byte) []byte { return bytes.Clone(whole) })
	}
	audit(0, "pass")
	m.work = w.Repo.Dir
	forged(t, pack, m.within(pack, "main:README.md"))
	audit(2, "[clone-damaged]", "--verify-all")
	edit(t, pack, func([]byte) []byte { return whole })
	edit(t, m.only("objects/pack/pack-*.idx"), func([]byte) []byte { return index })
	audit(0, "pass", "--verify-all")
}

// TestMirrorRepairsNameNoPath damages files of the directory: what the mirror says about it, which --listen serves,
// names no path of this machine.
func TestMirrorRepairsNameNoPath(t *testing.T) {
	m, first := running(t)
	for i, name := range []string{"registry.git/config", "registry.git/HEAD", "registry.git/refs/heads/main",
		"registry.git/objects/pack/*.idx", "registry.git/objects/pack/*.pack", "registry.git/refs/remotes/origin/main",
		"state.json"} {
		path := m.only(name)
		must.OK(t, os.Remove(path))
		must.OK(t, os.WriteFile(path, []byte("{"), 0o666))
		m.run(0, first)
		if s := m.state(); s.Repaired.Count < i+1 && name != "state.json" { // which begins again
			t.Errorf("%s: %d repairs are recorded; expected at least %d", name, s.Repaired.Count, i+1)
		}
		for _, served := range []string{"report.json", "report.html", "state.json", "metrics.prom", "checkpoint"} {
			if text := must.Read(t, m.file(served)); bytes.Contains(text, []byte(m.dir)) {
				t.Errorf("%s was damaged: %s names the directory", name, served)
			}
		}
	}
}
