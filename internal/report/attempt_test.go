package report

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// attempted writes the metrics of a mirror's run, and reads them.
func attempted(t *testing.T, r *verdict.Report, a Attempt) (string, map[string]int) {
	t.Helper()
	text := written(t, "prometheus", r, Options{Attempt: &a})
	series, err := exposition(text)
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return text, series
}

// TestAttempts writes the metrics of runs that follow each other, each with the file of the run before.
func TestAttempts(t *testing.T) {
	const origin = "registry.example/r"
	const own = `registry="registry.example/r"`
	has := func(series map[string]int, name string, want int) {
		t.Helper()
		name = strings.Replace(name, "*", own, 1)
		if got, ok := series[name]; !ok || got != want {
			t.Errorf("%s is %d (there: %v), want %d", name, got, ok, want)
		}
	}
	lacks := func(series map[string]int, name string) {
		t.Helper()
		for s := range series {
			if strings.Contains(s, name) {
				t.Errorf("%s is there", s)
			}
		}
	}
	pass := audited()
	pass.Origin, pass.Verdict = origin, verdict.Passed
	now := int(noon.Unix())
	a := Attempt{At: noon, Took: 1500 * time.Millisecond, Fresh: noon, Verified: 12,
		VerifiedTime: noon.Add(-time.Hour), Served: 12, Disk: 4096, Watch: []string{"late", "acme", "nobody"}}
	text, series := attempted(t, pass, a)
	for s := range series {
		if !strings.Contains(s, own) {
			t.Errorf("%s has no label registry", s)
		}
	}
	has(series, `oap_gate_build_info{*,version="v0.1.0",commit="unknown"}`, 1)
	has(series, `oap_gate_mirror_last_attempt_timestamp_seconds{*}`, now)
	has(series, `oap_gate_mirror_last_exit_status{*}`, 0)
	has(series, `oap_gate_mirror_last_duration_seconds{*}`, 1)
	has(series, `oap_gate_mirror_fresh_timestamp_seconds{*}`, now)
	has(series, `oap_gate_mirror_verified_commits{*}`, 12)
	has(series, `oap_gate_mirror_verified_timestamp_seconds{*}`, now-3600)
	has(series, `oap_gate_mirror_served_commits{*}`, 12)
	has(series, `oap_gate_mirror_rewrites_total{*}`, 0)
	has(series, `oap_gate_mirror_repaired_total{*}`, 0)
	has(series, `oap_gate_mirror_disk_bytes{*}`, 4096)
	has(series, `oap_gate_last_success_timestamp_seconds{*}`, now)
	// A watched listing has its series also after its end, another one does not.
	has(series, `oap_gate_listing_expiry_timestamp_seconds{*,slug="acme"}`, now+60*86400)
	for i := range pass.Listings {
		if l := pass.Listings[i]; l.Slug == "late" {
			has(series, `oap_gate_listing_expiry_timestamp_seconds{*,slug="late"}`, int(l.ExpiresAt.Unix()))
		}
	}
	lacks(series, `oap_gate_listing_expiry_timestamp_seconds{`+own+`,slug="gone"}`)
	lacks(series, `oap_gate_listing_seconds_to_expiry{`+own+`,slug="late"}`)
	lacks(series, `nobody`)
	lacks(series, `oap_gate_mirror_errors_total`)

	// A run that comes to no verdict keeps what the one before found, and says that there is none.
	down := &verdict.Report{Version: 1, Mode: "audit", Origin: origin, Verdict: verdict.Errored,
		EvaluatedAt: noon.Add(time.Hour), Tool: pass.Tool}
	a = Attempt{At: noon.Add(time.Hour), ExitStatus: 3, Codes: []string{"origin-unavailable"}, Fresh: noon,
		Verified: 12, VerifiedTime: noon.Add(-time.Hour), Disk: 4096, Rewrites: 1, Repaired: 2, Before: []byte(text)}
	text, series = attempted(t, down, a)
	has(series, `oap_gate_verdict{*,verdict="error"}`, 1)
	has(series, `oap_gate_verdict{*,verdict="pass"}`, 0)
	has(series, `oap_gate_complete{*}`, 0)
	has(series, `oap_gate_mirror_last_exit_status{*}`, 3)
	has(series, `oap_gate_mirror_last_attempt_timestamp_seconds{*}`, now+3600)
	has(series, `oap_gate_mirror_served_commits{*}`, 12)
	has(series, `oap_gate_mirror_rewrites_total{*}`, 1)
	has(series, `oap_gate_mirror_repaired_total{*}`, 2)
	has(series, `oap_gate_mirror_errors_total{*,code="origin-unavailable"}`, 1)
	has(series, `oap_gate_evaluated_timestamp_seconds{*}`, now)
	has(series, `oap_gate_last_success_timestamp_seconds{*}`, now)
	has(series, `oap_gate_listings{*,status="valid"}`, 4)
	has(series, `oap_gate_listing_expiry_timestamp_seconds{*,slug="late"}`,
		series[`oap_gate_listing_expiry_timestamp_seconds{`+own+`,slug="late"}`])
	lacks(series, "oap_gate_listing_expiry_timestamp_seconds{"+own+`,slug="gone"}`)

	// It does so each time, and counts on; a code counts once a run.
	a.Before, a.Codes = []byte(text), []string{"origin-unavailable", "origin-unavailable", "local-write"}
	text, series = attempted(t, down, a)
	has(series, `oap_gate_mirror_errors_total{*,code="origin-unavailable"}`, 2)
	has(series, `oap_gate_mirror_errors_total{*,code="local-write"}`, 1)
	has(series, `oap_gate_last_success_timestamp_seconds{*}`, now)
	has(series, `oap_gate_peers{*,state="split"}`, 1)

	// A run that fails keeps of the runs before only when one passed, and the counters.
	failed := audited()
	failed.Origin, failed.EvaluatedAt, failed.Listings = origin, noon.Add(2*time.Hour), nil
	a = Attempt{At: noon.Add(2 * time.Hour), ExitStatus: 1, Codes: []string{"split-view"}, Served: 13, Verified: 12,
		Before: []byte(text)}
	text, series = attempted(t, failed, a)
	has(series, `oap_gate_verdict{*,verdict="fail"}`, 1)
	has(series, `oap_gate_last_success_timestamp_seconds{*}`, now)
	has(series, `oap_gate_evaluated_timestamp_seconds{*}`, now+7200)
	has(series, `oap_gate_mirror_errors_total{*,code="origin-unavailable"}`, 2)
	has(series, `oap_gate_mirror_errors_total{*,code="split-view"}`, 1)
	has(series, `oap_gate_mirror_served_commits{*}`, 13)
	lacks(series, "oap_gate_mirror_fresh")
	lacks(series, "oap_gate_listing_expiry_timestamp_seconds{")

	// What another registry's file says, and what is no such file, is ignored.
	for _, before := range []string{strings.ReplaceAll(text, own, `registry="other.example/r"`), "", "\x00# HELP \n{",
		"# HELP oap_gate_x y\n# TYPE oap_gate_x gauge\noap_gate_x{" + own,
		"# HELP oap_gate_x y\n# TYPE oap_gate_x gauge\noap_gate_x{" + own + "} 1 2\n",
		"oap_gate_x{" + own + "} 1\n", `oap_gate_mirror_errors_total{` + own + `,code="local-write"} -1`} {
		_, series = attempted(t, down, Attempt{At: noon, Before: []byte(before)})
		lacks(series, "other.example")
		lacks(series, "oap_gate_last_success")
		lacks(series, "oap_gate_mirror_errors_total")
		if n := len(series); n > 14 {
			t.Errorf("of %.40q are %d series", before, n)
		}
	}
}

// TestWatchedListingsAreBeyondTheBound checks that a watched listing has a series although more than maxExpiries others
// end before it.
func TestWatchedListingsAreBeyondTheBound(t *testing.T) {
	r := frame()
	r.Mode = "audit"
	for i := range 2 * maxExpiries {
		end := noon.Add(time.Duration(i+1) * time.Hour)
		r.Listings = append(r.Listings, verdict.Listing{Slug: fmt.Sprintf("s-%d", i), Status: verdict.StatusValid,
			ExpiresAt: &end})
	}
	_, series := attempted(t, r, Attempt{At: noon, Watch: []string{"s-3", "s-999"}})
	n := 0
	for name := range series {
		if strings.HasPrefix(name, "oap_gate_listing_expiry_timestamp_seconds") {
			n++
		}
	}
	if at := series[`oap_gate_listing_expiry_timestamp_seconds{slug="s-999"}`]; n != maxExpiries+1 ||
		at != int(noon.Add(1000*time.Hour).Unix()) {
		t.Errorf("%d listings have a series, the watched one ends at %d", n, at)
	}
}
