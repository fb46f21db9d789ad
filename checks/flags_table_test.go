package checks_test

import (
	"testing"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/checks"
	"github.com/openagentprotocol-OAP/oap-gate/internal/judge"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/checktest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/fixture"
)

// Without the network, what needs none is judged, and nothing else passes for it.
func TestOffline(t *testing.T) {
	with := func(all []checktest.Case) []checktest.Case {
		for i := range all {
			all[i].Config.Offline = true
		}
		return all
	}
	checktest.Run(t, with([]checktest.Case{
		{Name: "a new listing", World: `pr: [{listing: nova}]`, Want: `pass`,
			Says: []string{`signed dates not judged: offline`}},
		{Name: "expired", World: `pr: [{listing: nova, issued: -100d}]`,
			Want: `implementations/nova.json:10:3: error: receipt-validity: expired`},
		{Name: "a renewal", World: `{base: [{listing: ada}], pr: [{reissue: ada}]}`, Want: `pass`,
			Says: []string{`signature not judged: offline`}},
		{Name: "a renewal of the same second", World: `
base: [{listing: ada}]
pr: [{reissue: ada, issued: "2026-05-22T12:00:01Z"}]
`, Want: `implementations/ada.json:9:3: error: reissue: receipt-not-newer`},
		{Name: "a renewal two seconds later", World: `
base: [{listing: ada}]
pr: [{reissue: ada, issued: "2026-05-22T12:00:02Z"}]
`, Want: `pass`},
		{Name: "a revocation", World: `{base: [{listing: ada}], pr: [{revoke: ada}]}`, Want: `pass`,
			Says: []string{`signatures not judged: offline`}},
		{Name: "an audit", World: `base: [{listing: ada}, {listing: bob, level: L4, provisional: true}]`, Audit: true,
			Want: `README.md: warning: history: mixed`},
	}))
}

// The flags of a check change what its findings weigh.
func TestFlags(t *testing.T) {
	const governance = `pr: [{write: a.md, text: a}]`
	landing := func(at time.Time, landed bool) judge.Config {
		return judge.Config{Landing: &checks.Landing{At: at, Landed: landed}}
	}
	proposed := fixture.Clock.Add(-time.Hour)
	const late = `registry: error: append-only: commit-backdated`
	checktest.Run(t, only("append-only", []checktest.Case{
		{Name: "governance", World: governance, Want: `a.md: warning: append-only: governance`},
		{Name: "governance denied", World: governance, Config: judge.Config{DenyGovernance: true},
			Want: `a.md: error: append-only: governance`},
		{Name: "not landing", World: `pr: [{at: "-3d"}, {listing: ada}]`, Want: `pass`},
		{Name: "lands at once", World: `pr: [{listing: ada}]`, Config: landing(proposed, false), Want: `pass`},
		{Name: "lands a day later", World: `pr: [{listing: ada}]`,
			Config: landing(proposed.Add(checks.MaxBackdated), false), Want: `pass`},
		{Name: "lands later", World: `pr: [{listing: ada}]`,
			Config: landing(proposed.Add(checks.MaxBackdated+time.Second), false), Want: late,
			Says: []string{`24 hours 1 second|1 day, 1 second|1 day 1 second|24h0m1s`}},
		{Name: "landed later", World: `pr: [{listing: ada}]`,
			Config: landing(proposed.Add(checks.MaxBackdated+time.Second), true),
			Want:   `registry: warning: append-only: commit-backdated`, Says: []string{`the next push is judged by itself`}},
		{Name: "lands now, two days later", World: `pr: [{at: "-2d"}, {listing: ada}]`,
			Config: landing(time.Time{}, false), Want: late},
		{Name: "nothing lands", World: `{base: [{at: "-3d"}, {listing: ada}], pr: []}`,
			Config: landing(time.Time{}, false), Want: `registry: warning: append-only: nothing-judged`},
		{Name: "records on disk", World: `pr: [{listing: ada}]`,
			Config: judge.Config{Uncommitted: []string{"implementations/nova.json"}},
			Want:   `registry: notice: append-only: uncommitted`, Says: []string{`implementations/nova.json`}},
	}))
}

// A record whose time is ahead of the commit that lands is refused as an audit refuses it; a pull request may still
// land by another commit.
func TestAheadOfTheCommit(t *testing.T) {
	const revoked = `{base: [{listing: ada}], pr: [{at: "-2h"}, {revoke: ada, at: "-1h"}]}`
	const anchored = `{base: [{listing: ada}], pr: [{at: "-2h"}, {anchor: one, coordinator: ada, at: "-1h"}]}`
	const revocation = "revocations/" +
		`ada-0ee9e6ecb821a8e4eb7478a361b11af2dd4e4e1399aa4f0cc041538c028db54f.json:5:3: `
	lands := judge.Config{Landing: &checks.Landing{}}
	checktest.Run(t, only("revocations workflow-anchors", []checktest.Case{
		{Name: "revocation", World: revoked, Want: revocation + `warning: revocations: revoked-in-future`,
			Says: []string{`an audit refuses the record if that commit lands as it is`}},
		{Name: "revocation lands", World: revoked, Config: lands,
			Want: revocation + `error: revocations: revoked-in-future`},
		{Name: "revocation lands in the commit of its hour", Config: lands,
			World: `{base: [{listing: ada}], pr: [{at: "-2h"}, {revoke: ada, at: "-2h"}]}`, Want: `pass`},
		{Name: "anchor", World: anchored,
			Want: `workflow-anchors/one.json:9:3: warning: workflow-anchors: anchored-in-future`},
		{Name: "anchor lands", World: anchored, Config: lands,
			Want: `workflow-anchors/one.json:9:3: error: workflow-anchors: anchored-in-future`},
	}))
}
