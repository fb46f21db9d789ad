package mirrorcmd_test

import (
	"strings"
	"testing"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/clitest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/gittest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

const youngBackdated = `
base:
  - {at: "2026-05-20T12:00:00Z"}
  - {listing: other, name: Something Else}
  - {commit: Begin}
  - {at: "2026-04-01T12:00:00Z"}
  - {listing: young, provisional: true, issued: "2026-05-20T11:00:00Z"}
  - {commit: List}
`

// serve has the origin serve a commit.
func (m *mirrored) serve(rev string) string {
	m.t.Helper()
	m.git(m.work, "reset", "-q", "--hard", rev)
	m.git(m.work, "push", "-q", "-f", "origin", "HEAD:main")
	return m.git(m.work, "rev-parse", "HEAD")
}

// dated commits to README.md with a committer date.
func (m *mirrored) dated(at string) string {
	m.t.Helper()
	when := must.Get(time.Parse(time.RFC3339, at))(m.t)
	(&gittest.Clone{T: m.t, Dir: m.work, Date: int(when.Unix())}).Git("commit", "-q", "--allow-empty", "-m", at)
	return m.git(m.work, "rev-parse", "HEAD")
}

// TestMirrorBackdated follows an origin that fast-forwards to commits of last month: their time is that of the run that
// first saw them, for the mirror and for those that read its directory.
func TestMirrorBackdated(t *testing.T) {
	m := mirroredOf(t, youngBackdated)
	second := m.git(m.work, "rev-parse", "HEAD")
	first := m.serve("HEAD~1")
	m.run(0, first, "--at", "2026-06-01T12:00:00Z")
	m.serve(second)
	// A peer that does not answer holds the branch: the time stays that of the first run.
	m.run(3, first, "--at", "2026-06-02T12:00:00Z", "--peer", t.TempDir()+"/none")
	for _, at := range []string{"2026-06-02T18:00:00Z", "2026-06-03T12:00:00Z"} {
		out := m.run(0, second, "--at", at)
		if warned := strings.Contains(out, "[commit-backdated]"); warned != (at == "2026-06-02T18:00:00Z") {
			t.Errorf("the run at %s says\n%s", at, out)
		}
	}
	s := m.state()
	if len(s.Backdated) != 1 || s.Backdated[0].Commit != second ||
		s.Backdated[0].At.Format(time.RFC3339) != "2026-06-02T12:00:00Z" {
		t.Fatalf("the state has %+v", s.Backdated)
	}
	clitest.Matches(t, "mirror-state", must.Read(t, m.file("state.json")))
	// The flag provisional ends 30 days after that time, not after 2026-05-20.
	const ends = `"provisional_until": "2026-07-02T12:00:00Z"`
	_, out := clitest.Program(t, "list", "--repo", m.dir, "--status", "provisional", "--format", "json",
		"--at", "2026-07-02T11:59:59Z")
	if !strings.Contains(out, ends) {
		t.Errorf("list says\n%s", out)
	}
	m.run(0, second, "--at", "2026-07-02T11:59:59Z", "--offline")
	if l := m.report().Listings; len(l) != 2 || l[1].Status != "provisional" {
		t.Errorf("the report has %+v", l)
	}
	m.run(0, second, "--at", "2026-07-02T12:00:00Z", "--offline")
	if l := m.report().Listings; len(l) != 2 || l[1].Status != "valid" {
		t.Errorf("the report has %+v", l)
	}
	// Without the mirror's state, the dates of Git decide.
	if _, out := clitest.Program(t, "list", "--repo", m.work, "--rev", second, "--status", "provisional",
		"--format", "json",
		"--at", "2026-06-18T12:00:00Z"); !strings.Contains(out, `"provisional_until": "2026-06-19T12:00:00Z"`) {
		t.Errorf("list says\n%s", out)
	}
}

// TestMirrorNotBackdated runs a mirror again after a pause, and serves what no date makes look old.
func TestMirrorNotBackdated(t *testing.T) {
	m := mirroredOf(t, twoSteps)
	now := func(days, hours int) string {
		return m.world.Now.Add(time.Duration(24*days+hours) * time.Hour).UTC().Format(time.RFC3339)
	}
	head := m.git(m.work, "rev-parse", "HEAD")
	quiet := func(verified, at string) {
		t.Helper()
		if out := m.run(0, verified, "--at", at, "--offline"); strings.Contains(out, "commit-backdated") {
			t.Errorf("it says\n%s", out)
		}
	}
	quiet(head, now(0, 0))
	m.dated(now(1, 0)) // the mirror is down for a week
	next := m.serve(m.dated(now(6, 0)))
	quiet(next, now(7, 0))
	next = m.serve(m.dated(now(6, 1))) // a day before the last run, less an hour
	quiet(next, now(7, 1))
	m.dated(now(7, 2))
	m.dated(now(-40, 0)) // a branch of last month, merged
	next = m.serve(m.dated(now(8, 0)))
	quiet(next, now(8, 1))
	quiet(next, now(40, 0)) // a wrong clock for one run
	m.dated(now(8, 2))
	next = m.serve(m.dated(now(8, 3)))
	quiet(next, now(8, 4))
	if s := m.state(); len(s.Backdated) != 0 {
		t.Errorf("the state has %+v", s.Backdated)
	}
	// The cheapest dishonest twin: the first of many commits is last month's; the last is of now.
	quiet(next, now(12, 0))
	old := m.dated(now(-40, 0))
	m.dated(now(-39, 0))
	next = m.serve(m.dated(now(12, 0)))
	m.says("2 commits from it on bring", 0, next, "--at", now(12, 1), "--offline")
	if s := m.state(); len(s.Backdated) != 1 || s.Backdated[0].Commit != old {
		t.Errorf("the state has %+v", s.Backdated)
	}
}
