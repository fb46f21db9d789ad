package mirrorcmd_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/atomicfile"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/clitest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/fixture"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/webtest"
)

// tag gives the pages of these implementations entity tags, so that a cache keeps them.
func tag(w *fixture.World, slugs ...string) {
	for _, slug := range slugs {
		for _, page := range []string{"/.well-known/did.json", "/.well-known/oap-tool.json",
			"/oap-conformance-receipt.json"} {
			url := "https://" + slug + ".example" + page
			w.Web.Set(url, webtest.Behaviour{Body: w.Web.Body(url), ETag: `"1"`})
		}
	}
}

const twoSteps = `
base:
  - {listing: eve}
  - {commit: eve}
  - {listing: fay}
`

// TestAuditKilled kills audits at many moments: the checkpoint is the old or the new one, no cached document is
// half of one, and a run after it judges as one without a past.
func TestAuditKilled(t *testing.T) {
	clitest.SkipKills(t)
	t.Parallel()
	w := clitest.Build(t, twoSteps)
	tag(w, "eve", "fay")
	dir := t.TempDir()
	state, cache := filepath.Join(dir, "state"), filepath.Join(dir, "cache")
	args := slices.Concat([]string{"audit", "--checkpoint", state, "--origin", "registry.example", "--cache", cache},
		w.Args())
	if code, out := clitest.Program(t, append(args, "--rev", "main^")...); code != 1 && code != 0 {
		t.Fatalf("exit status %d: %s", code, out)
	}
	before := must.Read(t, state)
	args = append(args, "--rev", "main")
	clitest.Run(t, 0, "", args...)
	after := must.Read(t, state)
	if bytes.Equal(before, after) {
		t.Fatal("the checkpoint did not move")
	}
	must.OK(t, os.RemoveAll(cache))
	for i := range 16 {
		must.OK(t, os.WriteFile(state, before, 0o600))
		kill(t, w, i, args...)
		if now := must.Read(t, state); !bytes.Equal(now, before) && !bytes.Equal(now, after) {
			t.Fatalf("killed at moment %d, it left the checkpoint %q", i, now)
		}
		wholeDocuments(t, cache)
	}
	clitest.Run(t, 0, "", args...)
	if now := must.Read(t, state); !bytes.Equal(now, after) {
		t.Errorf("the checkpoint is %q", now)
	}
}

// kill runs the program and kills it after its n-th request to the web; from the requests that every run makes on,
// that many steps of half a millisecond later.
func kill(t *testing.T, w *fixture.World, n int, args ...string) {
	t.Helper()
	const requests = 6
	w.Web.Forget()
	cmd := exec.Command("oap-gate", args...)
	must.OK(t, cmd.Start())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = cmd.Wait()
	}()
	tick := time.NewTicker(500 * time.Microsecond)
	defer tick.Stop()
	for after := max(n-requests, 0); after >= 0; {
		select {
		case <-ended:
			return
		case <-tick.C:
			if len(w.Web.Requests()) >= min(n, requests) {
				after--
			}
		}
	}
	_ = cmd.Process.Kill()
	<-ended
}

// wholeDocuments requires that each document of a cache is what its name says.
func wholeDocuments(t *testing.T, cache string) {
	t.Helper()
	files, err := os.ReadDir(filepath.Join(cache, "documents"))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	for _, f := range files {
		if strings.HasPrefix(f.Name(), ".") {
			continue
		}
		if sum := sha256.Sum256(must.Read(t, filepath.Join(cache, "documents", f.Name()))); hex.EncodeToString(
			sum[:]) != f.Name() {
			t.Errorf("the cache holds %s with other bytes", f.Name())
		}
	}
}

// TestAuditKilledAtSize kills audits at random moments: a report is there as a whole or not at all, never without its
// checkpoint, and what is left over goes with the next run. With 100,000 listings:
//
//	OAP_GATE_KILLS=1 go test ./internal/mirror/mirrorcmd -run '^TestAuditKilledAtSize$' -v -timeout 2h
func TestAuditKilledAtSize(t *testing.T) {
	t.Parallel()
	size, moments := fixture.Bulk{Listings: 200, Commits: 20}, 6
	if os.Getenv("OAP_GATE_KILLS") != "" {
		size, moments = fixture.Bulk{Listings: 100_000, Commits: 1000}, 20
	}
	dir := t.TempDir()
	registry, temporary := filepath.Join(dir, "registry"), filepath.Join(dir, "temporary")
	state, reports := filepath.Join(dir, "kept", "state"), filepath.Join(dir, "kept", "audit.")
	for _, d := range []string{temporary, filepath.Dir(state)} {
		must.OK(t, os.Mkdir(d, 0o700))
	}
	if _, err := fixture.Generate(registry, size); err != nil {
		t.Fatal(err)
	}
	// start begins an audit of a revision.
	start := func(rev string) *exec.Cmd {
		t.Helper()
		cmd := exec.Command("oap-gate", "audit", "--repo", registry, "--rev", rev, "--offline",
			"--at", fixture.Clock.Format(time.RFC3339), "--origin", "registry.example", "--checkpoint", state,
			"--report", "json="+reports+"json", "--report", "html="+reports+"html")
		cmd.Env = append(os.Environ(), "TMPDIR="+temporary)
		must.OK(t, cmd.Start())
		return cmd
	}
	// there are the names of the files that an audit has left, the temporary ones first, and the digests of the others.
	there := func() (left []string, whole map[string]string) {
		t.Helper()
		whole = map[string]string{}
		for _, d := range []string{temporary, filepath.Dir(state)} {
			entries := must.Get(os.ReadDir(d))(t)
			for _, e := range entries {
				if path := filepath.Join(d, e.Name()); atomicfile.IsTemporary(e.Name()) {
					left = append(left, path)
				} else {
					whole[e.Name()] = digest(t, path)
				}
			}
		}
		return left, whole
	}

	must.OK(t, start("main~10").Wait())
	before := must.Read(t, state)
	begun := time.Now()
	must.OK(t, start("main").Wait())
	took := time.Since(begun)
	left, after := there()
	if len(left) > 0 || len(after) != 3 || bytes.Equal(must.Read(t, state), before) {
		t.Fatalf("a run that is not killed leaves %q and %q", left, after)
	}

	random, killed := rand.New(rand.NewPCG(1, uint64(size.Listings))), 0
	again := func() {
		t.Helper()
		must.OK(t, os.WriteFile(state, before, 0o600))
		for _, format := range []string{"json", "html"} {
			if err := os.Remove(reports + format); err != nil && !os.IsNotExist(err) {
				t.Fatal(err)
			}
		}
	}
	for range moments {
		again()
		at := time.Duration(random.Float64() * float64(took))
		cmd := start("main")
		timer := time.AfterFunc(at, func() { _ = cmd.Process.Kill() })
		_ = cmd.Wait() // killed, or not
		if timer.Stop(); !cmd.ProcessState.Exited() {
			killed++
		}
		left, now := there()
		for name, sum := range now {
			if sum != after[name] && (name != "state" || !bytes.Equal(must.Read(t, state), before)) {
				t.Errorf("killed after %v, an audit leaves a %s that is not whole", at, name)
			}
		}
		if moved := now["state"] == after["state"]; !moved && len(now) > 1 {
			t.Errorf("killed after %v, an audit leaves %q and its checkpoint where it was", at, now)
		}
		t.Logf("killed after %v of %v: %d files are whole, %d are left over", at, took, len(now), len(left))
	}
	again()
	left, _ = there()
	for _, path := range left {
		then := time.Now().Add(-24 * time.Hour)
		must.OK(t, os.Chtimes(path, then, then))
	}
	must.OK(t, start("main").Wait())
	if left, now := there(); len(left) > 0 || !maps.Equal(now, after) {
		t.Errorf("after %d of %d were killed the next run leaves %q and %q, want %q", killed, moments, left, now, after)
	}
	t.Logf("%d of %d audits were killed", killed, moments)
}

// digest is the SHA-256 of a file, which may be larger than memory.
func digest(t *testing.T, path string) string {
	t.Helper()
	f := must.Get(os.Open(path))(t)
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		t.Fatal(err)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// TestAuditKilledFails checks that no earlier run, whenever it was killed, makes one pass that must fail: one whose
// history is bad, and one whose Receipt is another than the pinned one.
func TestAuditKilledFails(t *testing.T) {
	clitest.SkipKills(t)
	t.Parallel()
	w := clitest.Build(t, `
base:
  - {listing: eve}
  - {commit: eve}
  - {listing: fay, pin: "0000000000000000000000000000000000000000000000000000000000000000"}
  - {commit: fay}
  - {edit: implementations/eve.json, set: {/name: Other}}
`)
	tag(w, "eve", "fay")
	dir := t.TempDir()
	state, cache := filepath.Join(dir, "state"), filepath.Join(dir, "cache")
	args := slices.Concat([]string{"audit", "--checkpoint", state, "--origin", "registry.example", "--cache", cache,
		"--rev", "main"}, w.Args())
	for i := range 12 {
		kill(t, w, 2*i, args...)
		if _, err := os.Stat(state); err == nil {
			t.Fatal("a bad history has a checkpoint")
		}
	}
	code, out := clitest.Program(t, args...)
	if code != 1 || !strings.Contains(out, "receipt-fetch") || !strings.Contains(out, "receipt-unchanged") &&
		!strings.Contains(out, "history: reissue") {
		t.Errorf("exit status %d: %s", code, out)
	}
}

// TestAuditFullDisk checks that on a disk without room the checkpoint stays, that the audit says that it could not run,
// and that the cache takes no part in a verdict.
func TestAuditFullDisk(t *testing.T) {
	t.Parallel()
	w := clitest.Build(t, twoSteps)
	tag(w, "eve", "fay")
	disk := t.TempDir()
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", disk).CombinedOutput(); err != nil {
		t.Skipf("NOT TESTED: no small disk can be mounted here: %v: %s", err, out)
	}
	t.Cleanup(func() { _ = exec.Command("umount", disk).Run() })
	state, cache := filepath.Join(disk, "state"), filepath.Join(disk, "cache")
	args := slices.Concat([]string{"audit", "--checkpoint", state, "--origin", "registry.example", "--cache", cache},
		w.Args())
	clitest.Run(t, 0, "", append(args, "--rev", "main^", "--offline")...)
	before := must.Read(t, state)
	must.OK(t, os.MkdirAll(filepath.Join(cache, "documents"), 0o700))
	must.OK(t, os.MkdirAll(filepath.Join(cache, "requests"), 0o700))
	fill(t, filepath.Join(disk, "full"))
	report := filepath.Join(t.TempDir(), "report.json")
	code, out := clitest.Program(t, append(args, "--rev", "main", "--report", "json="+report)...)
	if code != 2 || !strings.Contains(out, "writing --checkpoint") || !strings.Contains(out, "no space left") {
		t.Errorf("exit status %d: %s", code, out)
	}
	if !strings.Contains(string(must.Read(t, report)), `"verdict": "error"`) {
		t.Error("the report does not say that the run could not end")
	}
	if now := must.Read(t, state); !bytes.Equal(now, before) {
		t.Errorf("the checkpoint is %q", now)
	}
	wholeDocuments(t, cache)
	// Room again: the run is the one that it would have been.
	must.OK(t, os.Remove(filepath.Join(disk, "full")))
	clitest.Run(t, 0, "", append(args, "--rev", "main")...)
	if now := must.Read(t, state); bytes.Equal(now, before) {
		t.Error("the checkpoint did not move")
	}
	left, err := filepath.Glob(filepath.Join(disk, ".*"))
	if err != nil || slices.ContainsFunc(left, func(p string) bool { return strings.HasSuffix(p, ".oap-gate.tmp") }) {
		t.Errorf("%q are left over, %v", left, err)
	}
}

// fill takes all room that a disk has.
func fill(t *testing.T, path string) {
	t.Helper()
	f := must.Get(os.Create(path))(t)
	defer f.Close()
	for piece := make([]byte, 4096); len(piece) > 0; {
		if _, err := f.Write(piece); err != nil {
			piece = piece[:len(piece)/2]
		}
	}
}

// TestAuditLeftovers checks that what a killed run leaves beside its files is no part of a later one, which removes it.
func TestAuditLeftovers(t *testing.T) {
	t.Parallel()
	w := clitest.Build(t, twoSteps)
	dir := t.TempDir()
	state := filepath.Join(dir, "state")
	args := slices.Concat([]string{"audit", "--offline", "--checkpoint", state, "--origin", "registry.example", "--rev",
		"main"}, w.Args())
	left := filepath.Join(dir, ".state.ABCDEFGHIJKLMNOPQRSTUVWX27.oap-gate.tmp")
	must.OK(t, os.WriteFile(left, []byte("registry.exa"), 0o600))
	then := time.Now().Add(-24 * time.Hour)
	must.OK(t, os.Chtimes(left, then, then))
	for range 2 {
		clitest.Run(t, 0, "", args...)
	}
	if there, err := os.ReadDir(dir); err != nil || len(there) != 1 {
		t.Errorf("%v are left, %v", there, err)
	}
	whole := must.Read(t, state)
	// A checkpoint that is cut anywhere is none, and no run takes it for one. A file without bytes is free.
	for _, n := range []int{1, len(whole) / 2, len(whole) - 1} {
		must.OK(t, os.WriteFile(state, whole[:n], 0o600))
		if code, out := clitest.Program(t, args...); code != 2 {
			t.Errorf("%d bytes of a checkpoint: exit status %d: %s", n, code, out)
		}
		if now := must.Read(t, state); !bytes.Equal(now, whole[:n]) {
			t.Errorf("%d bytes of a checkpoint were written over", n)
		}
	}
}
