package mirror

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence/live"
	"github.com/openagentprotocol-OAP/oap-gate/internal/git/peer"
	"github.com/openagentprotocol-OAP/oap-gate/internal/mirror/mirrorstate"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/ghtest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/gittest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

// TestPassStops ends a pass over the stored objects by its context: it keeps its position, and the next one ends it.
func TestPassStops(t *testing.T) {
	root := t.TempDir()
	smart, err := ghtest.ServeGit(root)
	if err != nil {
		t.Skip("NOT TESTED: ", err)
	}
	t.Cleanup(smart.Close)
	gittest.At(t, root).Git("init", "-q", "-b", "main", "origin")
	work := gittest.At(t, filepath.Join(root, "origin"))
	work.Commit("implementations/a.json", "a\n")
	d, err := OpenDir(filepath.Join(t.TempDir(), "mirror"), smart.URL+"/origin/.git", "", "main")
	must.OK(t, err)
	t.Cleanup(func() { d.Close() })
	now := time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)
	o := Origin{URL: smart.URL + "/origin/.git", MaxDisk: 1 << 30, Now: now}
	fetch := func() {
		t.Helper()
		tip, err := d.Fetch(t.Context(), o)
		if err == nil {
			err = d.SetVerified(tip)
		}
		must.OK(t, err)
	}
	must.OK(t, errors.Join(d.Load(now), d.Repair(t.Context(), o, Reverify{Every: time.Hour})))
	if !d.State.ReverifiedAt.Equal(now) {
		t.Errorf("an empty clone is reverified at %s", d.State.ReverifiedAt)
	}
	fetch()
	work.Commit("implementations/b.json", "b\n")
	fetch()
	ctx, stop := context.WithCancel(t.Context())
	var outcome []bool
	err = d.Repair(ctx, o, Reverify{All: true, Busy: func(begins bool) { outcome = append(outcome, begins); stop() }})
	if !errors.Is(err, context.Canceled) || fmt.Sprint(outcome) != "[true false]" {
		t.Errorf("%v, told %v", err, outcome)
	}
	must.OK(t, d.Attempted(now))
	later := now.Add(time.Minute)
	o.Now = later
	must.OK(t, errors.Join(d.Load(later), d.Repair(t.Context(), o, Reverify{Every: time.Hour})))
	if d.State.Pass != nil || !d.State.ReverifiedAt.Equal(later) || d.State.Repaired.Count != 0 {
		t.Errorf("the pass did not go on: %+v", d.State)
	}
	for at, want := range map[time.Time]time.Time{later.Add(time.Second): later, later: later,
		later.Add(-time.Hour): later, later.Add(-time.Minute): later.Add(-time.Minute)} {
		d.State.ReverifiedAt = at
		if err := d.Repair(t.Context(), o, Reverify{Every: time.Hour}); err != nil ||
			!d.State.ReverifiedAt.Equal(want) {
			t.Errorf("reverified at %s, now %s: %s, %v; expected %s", at, later, d.State.ReverifiedAt, err, want)
		}
	}
}

// refusing is a way to a server with an address that is not asked.
type refusing struct{}

func (refusing) RoundTrip(*http.Request) (*http.Response, error) {
	return nil, fmt.Errorf("dialing 10.0.0.1:443: %w", live.ErrForbidden)
}

func TestUnserved(t *testing.T) {
	d := &Dir{Path: t.TempDir(), Branch: "main", State: &mirrorstate.State{}}
	_, err := peer.Fetch(t.Context(), peer.Source{URL: "https://registry.example/r", Branch: "main",
		Transport: refusing{}}, t.TempDir())
	if err = d.Unserved(err); remedy.CodeOf(err) != "address-refused" || !strings.Contains(err.Error(), "10.0.0.1") {
		t.Error(err)
	}
	if err := d.Unserved(fmt.Errorf("%w: main", peer.ErrBranch)); remedy.CodeOf(err) != "" {
		t.Errorf("of a branch that was never verified: %v", err)
	}
}
