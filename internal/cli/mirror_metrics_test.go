package cli

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/mirror"
	"github.com/openagentprotocol-OAP/oap-gate/internal/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/report"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/webtest"
)

// metrics are the samples of a mirror's metrics, without the label registry, which each has.
func (m *mirrored) metrics() map[string]string {
	m.t.Helper()
	label := fmt.Sprintf("registry=%q", strings.TrimPrefix(m.server.URL, "http://")+"/origin")
	samples := map[string]string{}
	for row := range strings.Lines(string(read(m.t, filepath.Join(m.dir, "metrics.prom")))) {
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

// TestMirrorMetrics holds that the metrics are written after each run, whatever its end.
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

	// The origin serves what fails: the branch and the number of what is verified stay.
	m.push("implementations/eve.json", "{}\n")
	m.run(1, first)
	var n int
	if _, err := fmt.Sscan(commits, &n); err != nil {
		t.Fatal(err)
	}
	has(map[string]string{`oap_gate_verdict{verdict="fail"`: "1", "oap_gate_mirror_last_exit_status": "1",
		"oap_gate_mirror_verified_commits": commits, "oap_gate_mirror_served_commits": fmt.Sprint(n + 1),
		"oap_gate_mirror_verified_timestamp_seconds": date, "oap_gate_last_success_timestamp_seconds": success})
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

// TestMirrorAssumesNoArchive holds that a mirror's own archive is in what the report assumes only if a document came
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
		if strings.Contains(string(read(t, filepath.Join(m.dir, name))), filepath.Join(m.dir, "archive")) {
			t.Errorf("%s names a path of this machine", name)
		}
	}
}

// TestMirrorRunLine holds the line that each run of a mirror that goes on writes.
func TestMirrorRunLine(t *testing.T) {
	head := strings.Repeat("a", 40)
	with := func(findings ...verdict.Finding) *report.Counted {
		r := &verdict.Report{Mode: "audit", Head: head, History: &verdict.History{Commits: 14}}
		r.Results.Add(verdict.Result{Check: "history", Subject: "registry", Verdict: verdict.Passed})
		one := verdict.Result{Check: "consistency", Subject: "registry", Findings: findings}
		one.Verdict = one.Worst()
		r.Results.Add(one)
		r.Settle(mirror.Rules())
		return report.Count(r)
	}
	doubt := verdict.Finding{Severity: verdict.Doubt, Code: "peers-too-few"}
	fault := verdict.Finding{Severity: verdict.Error, Code: "split-view"}
	took := 1240 * time.Millisecond
	for want, run := range map[string]mirrorRun{
		"pass: 3 new commits, 14 commits, 1.2 s; head " + head: {rep: with(), fresh: 3},
		"fail consistency/split-view: 1 new commit, 14 commits, 1.2 s; head " + head: {rep: with(doubt, fault),
			fresh: 1},
		"inconclusive consistency/peers-too-few: 0 new commits, 14 commits, 1.2 s; head " + head: {rep: with(doubt)},
		"inconclusive: fetching the origin: connection refused; 1.2 s": {
			err: fmt.Errorf("%w: connection refused", errFetching)},
		"fail: fetching the origin: the mirror is full: \\x1b; 1.2 s": {
			err: fmt.Errorf("%w: %w: \x1b", errFetching, mirror.ErrFull)},
		"error: the checkpoint is torn [checkpoint-damaged]; 1.2 s": {
			err: remedy.Coded("checkpoint-damaged", "x", "the checkpoint is torn")},
	} {
		run.took = took
		if got := run.String(); got != want {
			t.Errorf("the line is %q, want %q", got, want)
		}
	}
}
