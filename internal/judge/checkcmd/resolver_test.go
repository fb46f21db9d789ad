package checkcmd_test

import (
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/clitest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/dnstest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// knowing are the answers of a resolver that knows no name but the control.
var knowing = map[string][]string{evidence.Control: {"192.0.2.1"}}

// TestResolverDeniesAll checks what is said if the resolver denies all names: one finding of the registry has the fix,
// no record has one, and none fails. An owner fails whose name is denied by a resolver that knows the control.
func TestResolverDeniesAll(t *testing.T) {
	const advice = "use a resolver that knows public names"
	w := clitest.Build(t, "base:\n  - {listing: ada}\npr:\n  - {listing: nova}\n  - {listing: nia}\n")
	common := []string{"--at", w.Now.Format(time.RFC3339), "--retry-wait", "1ms"}
	report := filepath.Join(t.TempDir(), "report.json")
	check := slices.Concat([]string{"check", "--repo", w.Repo.Dir, "--report", "json=" + report}, w.RangeArgs(), common)
	for _, c := range []struct {
		known  map[string][]string
		status int
		found  string // the codes of the findings of each subject
	}{
		{nil, 3, "nia resolver-denies-all, nova resolver-denies-all, registry resolver-denies-all"},
		{knowing, 1, "nia domain-age-unsure, nia no-such-host, nova domain-age-unsure, nova no-such-host"},
	} {
		dnstest.Use(t, c.known)
		status, said := clitest.Program(t, check...)
		var rep verdict.Report
		must.OK(t, json.Unmarshal(must.Read(t, report), &rep))
		found, fixes := map[string]bool{}, 0
		for r := range rep.Results.All() {
			for _, f := range r.Findings {
				subject := strings.TrimSuffix(strings.TrimPrefix(r.Subject, "implementations/"), ".json")
				found[subject+" "+f.Code] = true
				if f.Code == evidence.CodeDeniesAll && f.Fix != "" {
					fixes++
				}
			}
		}
		if got := strings.Join(slices.Sorted(maps.Keys(found)), ", "); status != c.status || got != c.found ||
			fixes != strings.Count(said, advice) || fixes > 1 || (fixes == 1) != (c.known == nil) {
			t.Errorf("known are %v: exit status %d, found %s\n%s", c.known, status, got, said)
		}
		for _, args := range [][]string{{"verify", "https://nova.example", "--without-registry"},
			{"renew", "ada", "--repo", w.Repo.Dir}} {
			status, said = clitest.Program(t, append(args, common...)...)
			if status != c.status || strings.Contains(said, advice) != (c.known == nil) {
				t.Errorf("known are %v: %s: exit status %d\n%s", c.known, args[0], status, said)
			}
		}
	}
}
