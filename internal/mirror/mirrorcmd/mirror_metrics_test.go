package mirrorcmd_test

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/mod/sumdb/note"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/clitest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/webtest"
)

// metrics are the samples of a mirror's metrics, without the label registry, which each has.
func (m *mirrored) metrics() map[string]string {
	m.t.Helper()
	label := fmt.Sprintf("registry=%q", strings.TrimPrefix(m.server.URL, "http://")+"/origin")
	samples := map[string]string{}
	for row := range strings.Lines(string(must.Read(m.t, filepath.Join(m.dir, "metrics.prom")))) {
		if strings.HasPrefix(row, "#") {
			continue
		}
		name, value, _ := strings.Cut(strings.TrimSuffix(row, "\n"), "} ")
		if !strings.Contains(name, "{"+label) {
			m.t.Errorf("%q has no label %s", row, label)
		}
		name = strings.NewReplacer("{"+label+",", "{", "{"+label, "{").Replace(name)
		samples[strings.TrimSuffix(name, "{")] = value
	}
	return samples
}

// TestMirrorMetrics checks that the metrics are written after each run, whatever its end.
func TestMirrorMetrics(t *testing.T) {
	m := newMirrored(t)
	first := m.git(m.work, "rev-parse", "HEAD")
	has := func(want map[string]string) {
		t.Helper()
		got := m.metrics()
		for name, value := range want {
			if got[name] != value {
				t.Errorf("%s is %q, want %q", name, got[name], value)
			}
		}
	}
	m.run(0, first, "--watch", "eve", "--watch", "nobody")
	commits := m.git(m.work, "rev-list", "--count", "--first-parent", "HEAD")
	date := m.git(m.work, "log", "-1", "--format=%ct")
	success := m.metrics()["oap_gate_last_success_timestamp_seconds"]
	expiry := m.metrics()[`oap_gate_listing_expiry_timestamp_seconds{slug="eve"`]
	if success == "" || expiry == "" {
		t.Fatalf("the metrics are %v", m.metrics())
	}
	has(map[string]string{`oap_gate_verdict{verdict="pass"`: "1", "oap_gate_mirror_last_exit_status": "0",
		"oap_gate_mirror_verified_commits": commits, "oap_gate_mirror_served_commits": commits,
		"oap_gate_mirror_verified_timestamp_seconds": date, "oap_gate_mirror_last_attempt_timestamp_seconds": success})

	has(map[string]string{"oap_gate_mirror_fresh_timestamp_seconds": success, "oap_gate_mirror_rewrites_total": "0"})

	// The origin serves what fails: the branch and the number of what is verified stay.
	m.push("implementations/eve.json", "{}\n")
	m.run(1, first)
	var n int
	if _, err := fmt.Sscan(commits, &n); err != nil {
		t.Fatal(err)
	}
	has(map[string]string{`oap_gate_verdict{verdict="fail"`: "1", "oap_gate_mirror_last_exit_status": "1",
		"oap_gate_mirror_verified_commits": commits, "oap_gate_mirror_served_commits": fmt.Sprint(n + 1),
		"oap_gate_mirror_verified_timestamp_seconds": date, "oap_gate_last_success_timestamp_seconds": success,
		"oap_gate_mirror_fresh_timestamp_seconds": success})
	if got := m.metrics(); got[`oap_gate_mirror_errors_total{code="no-object"`] == "" &&
		!slices.ContainsFunc(keysOf(got), func(name string) bool {
			return strings.HasPrefix(name, "oap_gate_mirror_errors_total{")
		}) {
		t.Errorf("no error is counted: %v", got)
	}

	// No verdict: the origin is down.
	m.server.Close()
	m.run(3, first)
	has(map[string]string{`oap_gate_verdict{verdict="error"`: "1", `oap_gate_verdict{verdict="fail"`: "0",
		"oap_gate_complete": "0", "oap_gate_mirror_last_exit_status": "3", "oap_gate_mirror_verified_commits": commits,
		"oap_gate_mirror_served_commits": fmt.Sprint(n + 1), "oap_gate_last_success_timestamp_seconds": success,
		`oap_gate_mirror_errors_total{code="origin-unavailable"`: "1"})
	m.run(3, first)
	has(map[string]string{`oap_gate_mirror_errors_total{code="origin-unavailable"`: "2",
		"oap_gate_mirror_served_commits": fmt.Sprint(n + 1), "oap_gate_last_success_timestamp_seconds": success})
}

func keysOf(m map[string]string) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	return keys
}

// TestMirrorAssumesNoArchive checks that a mirror's own archive is in what the report assumes only if a document came
// from it.
func TestMirrorAssumesNoArchive(t *testing.T) {
	m := newMirrored(t)
	first := m.git(m.work, "rev-parse", "HEAD")
	archived := func() bool {
		return slices.ContainsFunc(m.report().Assumed, func(a string) bool { return strings.HasPrefix(a, "--archive") })
	}
	m.run(0, first)
	if archived() {
		t.Errorf("the report assumes %q", m.report().Assumed)
	}
	m.world.Web.Set("https://eve.example/oap-conformance-receipt.json", webtest.Behaviour{Status: 404})
	m.run(0, first)
	if rep := m.report(); !archived() || slices.Index(rep.Assumed, "--archive") != 0 {
		t.Errorf("with a Receipt from the archive, the report assumes %q", rep.Assumed)
	}
	for _, name := range []string{"report.json", "report.html", "metrics.prom"} {
		if strings.Contains(string(must.Read(t, filepath.Join(m.dir, name))), filepath.Join(m.dir, "archive")) {
			t.Errorf("%s names a path of this machine", name)
		}
	}
}

// TestMirrorNamesNoPath checks that what a mirror serves names no path of the machine, whatever flags and peers have.
func TestMirrorNamesNoPath(t *testing.T) {
	m := newMirrored(t)
	first := m.git(m.work, "rev-parse", "HEAD")
	peers := t.TempDir()
	m.git(peers, "clone", "-q", "--bare", m.origin, "same.git")
	m.git(peers, "clone", "-q", "--branch", "main", m.origin, "split")
	m.git(filepath.Join(peers, "split"), "commit", "-q", "--amend", "-m", "Other")
	m.git(peers, "init", "-q", "--bare", "empty.git")
	m.git(peers, "init", "-q", "--object-format=sha256", "-b", "main", "wide")
	m.git(filepath.Join(peers, "wide"), "commit", "-q", "--allow-empty", "-m", "m")
	clean := func() {
		t.Helper()
		for _, name := range []string{"report.json", "report.html", "metrics.prom", "state.json", "checkpoint"} {
			text := string(must.Read(t, filepath.Join(m.dir, name)))
			for _, path := range []string{peers, m.dir, m.world.Dir, filepath.Dir(m.origin), os.TempDir() + "/"} {
				if at := strings.Index(text, path); at >= 0 {
					t.Errorf("%s names a path: %.300s", name, text[max(0, at-100):])
				}
			}
		}
	}
	accepted := filepath.Join(peers, "accepted")
	must.OK(t, os.WriteFile(accepted, []byte(first+" history/deleted no such finding here\n"), 0o666))
	flags := []string{"--accepted", accepted, "--peers-needed", "1"}
	for _, name := range []string{"same.git", "empty.git", "missing", "wide"} {
		flags = append(flags, "--peer", filepath.Join(peers, name))
	}
	m.run(0, first, flags...)
	clean()
	var shown []string
	for _, p := range m.report().History.Peers {
		shown = append(shown, p.Name+" "+p.State)
	}
	if want := []string{"same.git same", "empty.git behind", "missing unavailable", "wide unavailable"}; !slices.Equal(
		shown, want) {
		t.Errorf("the report has the peers %q, want %q", shown, want)
	}
	m.run(1, first, append(flags, "--peer", filepath.Join(peers, "split"))...)
	clean()
}

// TestMirrorFixes checks that what a mirror says to do names flags that it has.
func TestMirrorFixes(t *testing.T) {
	m := newMirrored(t)
	m.git(m.work, "checkout", "-q", "--orphan", "none")
	m.git(m.work, "rm", "-r", "-q", "-f", ".")
	m.git(m.work, "commit", "-q", "--allow-empty", "-m", "m")
	m.git(m.work, "push", "-q", "origin", "HEAD:none")
	holds := func(want string, more ...string) {
		t.Helper()
		out := clitest.Run(t, 2, "", m.args(more...)...)
		_, fix, _ := strings.Cut(out, "fix: ")
		if !strings.Contains(fix, want) {
			t.Errorf("%q: the fix is %q, want %q", more, fix, want)
		}
		for _, flag := range notOfMirror() {
			if strings.Contains(fix, "--"+flag) {
				t.Errorf("%q: the fix names --%s, which a mirror lacks: %s", more, flag, fix)
			}
		}
	}
	dir := m.dir
	m.dir = filepath.Join(t.TempDir(), "none")
	holds("name the URL of a registry, or its branch with --branch", "--branch", "none")
	m.dir = dir
	m.run(0, m.git(m.work, "rev-parse", "origin/main"))
	holds("give --origin ", "--origin", "other.example/r")
	archive := filepath.Join(m.dir, "archive")
	must.OK(t, errors.Join(os.RemoveAll(archive), os.WriteFile(archive, nil, 0o666)))
	holds("name a directory that can be written, and a PEM file with --ca-cert")
	_, public, err := note.GenerateKey(rand.Reader, "mirror.example")
	must.OK(t, err)
	if err := os.Remove(filepath.Join(m.dir, "checkpoint")); err != nil { // an unsigned one is damaged
		t.Fatal(err)
	}
	holds("give --sign-key FILE of the same pair", "--verify-key", public)
}
