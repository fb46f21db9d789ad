package verify

import (
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/level"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// work returns what is known about an https target once its documents were sought.
func (w *builtWorld) work(t *testing.T, text string) *work {
	t.Helper()
	target, err := ParseTarget(text, false)
	if err != nil {
		t.Fatal(err)
	}
	of := &work{ctx: t.Context(), src: w.source(t), cfg: &Config{Without: true}, target: target,
		levels: map[string]map[level.Level]verdict.Verdict{}}
	if err := of.collect(); err != nil {
		t.Fatal(err)
	}
	return of
}

// What a check leaves to one that is not a step would be reported by nobody, so the step reports it.
func TestDeferred(t *testing.T) {
	t.Parallel()
	w := built(t, nova+web("edit: "+documentURL, `body: "[]"`)).work(t, "https://nova.example")
	w.subject.Listing.ToolDID = "did:web:NOVA.example" // which layout reports
	out, err := judgeSignature(w)
	if err != nil {
		t.Fatal(err)
	}
	if v, err := out.Verdict(); v != verdict.Failed {
		t.Errorf("the step signature is %s, %v: %+v", v, err, out)
	}
}

// A step on documents that is skipped while no step is at fault leaves every level open.
func TestSkipped(t *testing.T) {
	for i, rule := range catalogue {
		rep := &Report{ClaimedLevels: []level.Level{"L1"}}
		for _, s := range catalogue {
			rep.Steps = append(rep.Steps, Step{Step: s.ID, Verdict: verdict.Passed})
		}
		rep.Steps[i].Verdict = verdict.Skipped
		(&work{}).accept(rep)
		want := verdict.Inconclusive
		switch rule.ID {
		case "revocation", "peer-witnesses", "external-audit", "registry-anchor", "reverify":
			want = verdict.Passed
		}
		if rep.Verdict != want || rep.Accepted != (want == verdict.Passed) {
			t.Errorf("without the step %s: %s, accepted is %t, want %s", rule.ID, rep.Verdict, rep.Accepted, want)
		}
	}
}
