package mirrorcmd

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/mirror"
	"github.com/openagentprotocol-OAP/oap-gate/internal/report"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// TestMirrorRunLine checks the line that each run of a mirror writes if it goes on.
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
