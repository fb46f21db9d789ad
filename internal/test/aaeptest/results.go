package aaeptest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/conformance/aaep"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// Announced returns the verdict of the results of a stream, and its findings, as "line check code severity". They must
// be complete.
func Announced(t *testing.T, results []verdict.Result, err error) (verdict.Verdict, []string) {
	t.Helper()
	must.OK(t, err)
	return Settled(results, func(check string, f verdict.Finding) string {
		if f.Message == "" || f.Fix == "" || f.Cite == "" {
			t.Errorf("%s says too little: %+v", check, f)
		}
		return AtLine(f) + strings.TrimPrefix(check, "aaep-") + " " + f.Code + " " + f.Severity.String()
	})
}

// AtLine returns the line of a finding and a blank, or empty.
func AtLine(f verdict.Finding) string { return strings.TrimPrefix(fmt.Sprintf("%d ", f.Line), "0 ") }

// Settled returns the verdict of results, and what say says of their findings, sorted.
func Settled(results []verdict.Result, say func(string, verdict.Finding) string) (verdict.Verdict, []string) {
	rep := &verdict.Report{Results: verdict.NewResults(results...)}
	rep.Settle(aaep.Rules)
	var all []string
	for r := range rep.Results.All() {
		for _, f := range r.Findings {
			all = append(all, say(r.Check, f))
		}
	}
	slices.Sort(all)
	return rep.Verdict, all
}

// Once returns what Settled does with each finding once, as "check code severity".
func Once(results []verdict.Result) (verdict.Verdict, []string) {
	v, all := Settled(results, func(check string, f verdict.Finding) string {
		return check + " " + f.Code + " " + f.Severity.String()
	})
	return v, slices.Compact(all)
}

// VerdictOf returns the verdict that findings come to.
func VerdictOf(findings []string) string {
	switch {
	case slices.ContainsFunc(findings, func(f string) bool { return strings.HasSuffix(f, " error") }):
		return "fail"
	case slices.ContainsFunc(findings, func(f string) bool { return strings.HasSuffix(f, " inconclusive") }):
		return "inconclusive"
	}
	return "pass"
}

// OnLoopback begins a test that takes seconds of the machine's clock.
func OnLoopback(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds of the machine's clock")
	}
	t.Parallel()
}

// Captures are what a run saw.
type Captures struct {
	Results  []verdict.Result
	Messages []byte
}

// Slowly returns delays of up to a time for the writes of both sides.
func Slowly(seed uint64, most time.Duration) func() time.Duration {
	var mu sync.Mutex
	random := rand.New(rand.NewPCG(seed, 0))
	return func() time.Duration {
		mu.Lock()
		defer mu.Unlock()
		return time.Duration(random.Int64N(int64(most)))
	}
}

// Slowness are the most that a write takes. Those of a session wait for one another, so that its last event is late by
// up to the 2 s that a rule allows.
var Slowness = []time.Duration{30 * time.Millisecond, 250 * time.Millisecond}
