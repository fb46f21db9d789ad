package verdict

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

type nowhere struct{}

func (nowhere) Pos(string) strict.Pos { return strict.Pos{Path: "x.json"} }

func TestOutcomeVerdict(t *testing.T) {
	with := func(severities ...Severity) Outcome {
		var o Outcome
		for _, s := range severities {
			o.Add(nowhere{}, s, "", "code", "message")
		}
		return o
	}
	also := func(o Outcome, skipped, doubtful string) Outcome {
		o.Skipped, o.Doubtful = skipped, doubtful
		return o
	}
	for name, test := range map[string]struct {
		of   Outcome
		want Verdict
	}{
		"pass":                      {Pass(""), Passed},
		"pass, with what was found": {Pass("sha256 %s", "00"), Passed},
		"found true":                {Outcome{Verified: "it is"}, Passed},
		"else a pass":               {Outcome{}.OrPass(), Passed},
		"skip":                      {Skip("because"), Skipped},
		"doubt of another check":    {Outcome{Doubtful: "see there"}, Inconclusive},
		"notice":                    {with(Notice), Passed},
		"warning":                   {with(Notice, Warning), Warned},
		"doubt":                     {with(Doubt, Warning), Inconclusive},
		"error":                     {with(Warning, Doubt, Error, Notice), Failed},
		"error, else a pass":        {with(Error).OrPass(), Failed},
		"error, though skipped":     {also(with(Error), "because", ""), Failed},
		"error, though doubtful":    {also(with(Error), "", "see there"), Failed},
		"doubt, though passed":      {also(Pass(""), "", "see there"), Inconclusive},
		"doubt, though skipped":     {also(with(), "because", "see there"), Inconclusive},
		"warning, though skipped":   {also(with(Warning), "because", ""), Warned},
		"an unknown severity":       {with(Severity(9)), Failed},
	} {
		if got, err := test.of.Verdict(); got != test.want || err != nil {
			t.Errorf("%s: %q, %v; want %q", name, got, err, test.want)
		}
	}
}

func TestNothingSaidIsNoPass(t *testing.T) {
	if v, err := (Outcome{}).Verdict(); v != Errored || !errors.Is(err, ErrUnsaid) {
		t.Errorf("%q, %v; want ErrUnsaid", v, err)
	}
	_, err := Outcome{DeferredTo: "another"}.Result(Rule{ID: "layout"}, "x.json")
	if !errors.Is(err, ErrUnsaid) || err.Error() != "check layout said nothing of x.json" {
		t.Errorf("%v; want ErrUnsaid that names check and subject", err)
	}
}

func TestSeverityText(t *testing.T) {
	for s := range Severity(len(severities)) {
		text := must.Get(json.Marshal(s))(t)
		var back Severity
		if err := json.Unmarshal(text, &back); err != nil || back != s {
			t.Errorf("%s: %v, %v", text, back, err)
		}
	}
	for _, text := range []string{`""`, `"Error"`, `"fatal"`, `0`, `null and void`} {
		var s Severity
		if err := json.Unmarshal([]byte(text), &s); err == nil {
			t.Errorf("%s is taken for %v", text, s)
		}
	}
}

// TestLongTexts checks that a report cuts what is very long, and keeps long paths apart.
func TestLongTexts(t *testing.T) {
	long := strings.Repeat("é", maxText)
	var o Outcome
	o.Errorf(At{Path: long + "/a"}, "", "code", "%s", long+"b").WithFix("%s", long+"c")
	r := must.Get(o.Result(Rule{ID: "x"}, long+"/a"))(t)
	f := r.Findings[0]
	if r.Subject != f.Path || f.Path != Abridged(long+"/a") || len(f.Path) != len(long)+len("…")+64 ||
		f.Message != long+"…" || f.Fix != long+"…" {
		t.Errorf("subject %d, path %d, message %d, fix %d bytes", len(r.Subject), len(f.Path), len(f.Message),
			len(f.Fix))
	}
	if Abridged(long) != long || Abridged(long+"a") == Abridged(long+"b") {
		t.Error("a path that fits is cut, or two long paths are one")
	}
}

// A time that JSON cannot hold would end the run when the report is written.
func TestFixOf(t *testing.T) {
	rule := Rule{Fix: "look", Codes: []strict.Code{{ID: "a", Fix: "add it"}, {ID: "b", Fix: "drop it"}}}
	for code, want := range map[string]string{"a": "add it", "b": "drop it", "c": "look"} {
		if got := rule.FixOf(code); got != want {
			t.Errorf("the fix of %s is %q", code, got)
		}
	}
}

func TestUntil(t *testing.T) {
	zone := time.FixedZone("", -12*60*60)
	for _, c := range []struct {
		at   time.Time
		kept bool
	}{
		{time.Date(2026, 6, 1, 12, 0, 0, 0, zone), true},
		{time.Date(9999, 12, 31, 11, 0, 0, 0, zone), true},
		{time.Date(9999, 12, 31, 12, 0, 0, 0, zone), false},
		{time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC), false},
	} {
		f := (&Finding{}).Until(c.at)
		if _, err := json.Marshal(f); err != nil || f.RetryAt.IsZero() == c.kept {
			t.Errorf("%v: %v, %v", c.at, f.RetryAt, err)
		}
	}
}

func TestJoin(t *testing.T) {
	finding := func(s Severity, line int) Finding { return Finding{Severity: s, Pos: strict.Pos{Line: line}} }
	r := Result{Verdict: Warned, Reason: "warned", Findings: []Finding{finding(Warning, 2)}}
	r.Join(Result{Verdict: Failed, Reason: "failed", Findings: []Finding{finding(Error, 1), finding(Warning, 2)}})
	r.Join(Result{Verdict: Skipped, Reason: "skipped"})
	if r.Verdict != Failed || r.Reason != "failed" || len(r.Findings) != 2 || r.Findings[0].Line != 1 {
		t.Errorf("joined to %+v", r)
	}
}
