package mirror_test

import (
	"context"
	"errors"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/checks"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence/sources"
	"github.com/openagentprotocol-OAP/oap-gate/internal/judge"
	"github.com/openagentprotocol-OAP/oap-gate/internal/mirror"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/fixture"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// small returns a registry of two listings and a revocation, and its head.
func small(t *testing.T) (*registry.Repository, string) {
	t.Helper()
	w := must.Get(fixture.BuildUnserved(t.TempDir(), []byte(`
base: [{listing: ada, level: L4, witness: [bob]}, {listing: bob, level: L4, witness: [ada]}, {commit: Begin},
  {revoke: bob}]
`)))(t)
	repo := must.Get(registry.Open(w.Repo.Dir))(t)
	t.Cleanup(func() { repo.Close() })
	head := must.Get(repo.Resolve("main"))(t)
	return repo, head
}

// TestSilentCheck requires an error that names a check of the history that says nothing. One that a flag leaves out
// need not say anything.
func TestSilentCheck(t *testing.T) {
	repo, head := small(t)
	defer mirror.AddSilent("silent")()
	for only, want := range map[string]string{"silent": "check silent said nothing of registry", "history": ""} {
		_, err := mirror.Audit(t.Context(), repo, head, sources.Offline(fixture.Clock, 0), mirror.AuditConfig{
			Config: judge.Config{Selected: func(id string) bool { return id == only }}})
		if want == "" && err != nil || want != "" && (!errors.Is(err, verdict.ErrUnsaid) || err.Error() != want) {
			t.Errorf("--only %s: %v, want %q", only, err, want)
		}
	}
}

// TestInterruptedWalk checks that an audit which is asked to end while it walks through the history tells so, and
// judges no record: who brought one is not known yet.
func TestInterruptedWalk(t *testing.T) {
	repo, head := small(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	rep := must.Get(mirror.Audit(ctx, repo, head, sources.Offline(fixture.Clock, 0), mirror.AuditConfig{
		Config: judge.Config{Selected: func(string) bool { return true }}}))(t)
	if rep.Verdict != verdict.Inconclusive || rep.Counts.Records != 0 || rep.History.Walked != 0 {
		t.Errorf("verdict %s of %d records and %d commits, want inconclusive, 0, 0", rep.Verdict, rep.Counts.Records,
			rep.History.Walked)
	}
	open := map[string]bool{}
	for r := range rep.Results.All() {
		if r.Subject != checks.RegistrySubject {
			t.Errorf("%s judged %s", r.Check, r.Subject)
		}
		open[r.Check] = r.Verdict == verdict.Inconclusive
	}
	for _, id := range []string{"history", "layout", "receipt-fetch", "revocations"} {
		if !open[id] {
			t.Errorf("%s is not inconclusive", id)
		}
	}
}
