package mirrorstate_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/mirror/mirrorstate"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

var (
	one  = strings.Repeat("1", 40)
	two  = strings.Repeat("2", 40)
	noon = time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)
)

func TestRoundTrip(t *testing.T) {
	dir := t.TempDir()
	if _, err := mirrorstate.Read(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("of an empty directory: %v", err)
	}
	s := &mirrorstate.State{Verified: one, LastAttempt: noon}
	s.Put(mirrorstate.Tip{Tip: one, FreshAt: noon, Refused: []string{"implementations/a.json"}})
	s.Put(mirrorstate.Tip{Tip: two})
	s.Put(mirrorstate.Tip{Tip: two, FreshAt: noon})
	must.OK(t, s.Write(dir))
	got := must.Get(mirrorstate.Read(dir))(t)
	if len(got.Tips) != 2 || !got.Of(two).FreshAt.Equal(noon) || got.Of(one).Refused[0] != "implementations/a.json" {
		t.Errorf("%+v", got)
	}
	got.Keep(two)
	if len(got.Tips) != 1 || got.Of(one) != nil {
		t.Errorf("%+v", got.Tips)
	}
}

func TestReadRefuses(t *testing.T) {
	for name, text := range map[string]string{
		"empty": "", "no object": "1", "twice": `{"version":1,"version":1}`, "another version": `{"version":2}`,
		"a tip":     `{"version":1,"tips":[{"tip":"main"}]}`,
		"verified":  `{"version":1,"verified":"../x"}`,
		"backdated": `{"version":1,"backdated":[{"commit":"main","at":"2026-06-01T12:00:00Z"}]}`,
		"a time":    `{"version":1,"last_attempt":"yesterday"}`,
		"torn":      `{"version":1,"tips":[`,
		"something": `{"version":1} {}`,
	} {
		dir := t.TempDir()
		must.OK(t, os.WriteFile(filepath.Join(dir, mirrorstate.File), []byte(text), 0o666))
		if _, err := mirrorstate.Read(dir); remedy.CodeOf(err) != "mirror-state" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestFor(t *testing.T) {
	s := &mirrorstate.State{Verified: two, LastAttempt: noon}
	s.Put(mirrorstate.Tip{Tip: one, FreshAt: noon.Add(-time.Hour), Refused: []string{"implementations/a.json",
		"revocations/a-" + strings.Repeat("0", 64) + ".json", "peer-witnesses/b.json", "workflow-anchors/c.json",
		"README.md"}})
	s.Put(mirrorstate.Tip{Tip: two, FreshAt: noon})
	v, err := s.For(one)
	if err != nil || v.Frozen == "" || !v.FreshAt.Equal(noon.Add(-time.Hour)) ||
		fmt.Sprint(v.Refused) != "[implementations/a.json peer-witnesses/b.json workflow-anchors/c.json]" {
		t.Errorf("%+v, %v", v, err)
	}
	if v, err := s.For(two); err != nil || v.Frozen != "" {
		t.Errorf("%+v, %v", v, err)
	}
	if _, err := s.For(strings.Repeat("3", 40)); remedy.CodeOf(err) != "mirror-state" {
		t.Error(err)
	}
	s.LastAttempt = noon.Add(time.Hour)
	if v, err := s.For(two); err != nil || v.Frozen == "" {
		t.Errorf("a later attempt did not verify it: %+v, %v", v, err)
	}
	s.LastAttempt = noon.Add(-time.Hour) // the run that verified it had a clock that was ahead
	if v, err := s.For(two); err != nil || v.Frozen == "" {
		t.Errorf("an attempt by an earlier clock did not verify it: %+v, %v", v, err)
	}
}

// TestOpenUnverified requires the code of a mirror whose branch has no commit yet, with or without a state.
func TestOpenUnverified(t *testing.T) {
	dir := t.TempDir()
	for range 2 {
		_, _, err := mirrorstate.Open(dir, func() (string, error) { return "", errors.New("no commit") })
		fixer, _ := errors.AsType[remedy.Fixer](err)
		if remedy.CodeOf(err) != "mirror-state" ||
			!strings.HasSuffix(err.Error(), "has no verified commit: no commit") ||
			fixer.Fix() != "run oap-gate mirror for this directory, and read its last line" {
			t.Errorf("%v, %+v", err, fixer)
		}
		must.OK(t, (&mirrorstate.State{}).Write(dir))
	}
}

// TestOpenWhileItMoves reads the branch before the mirror moves it, and the state after.
func TestOpenWhileItMoves(t *testing.T) {
	dir := t.TempDir()
	s := &mirrorstate.State{Verified: two, LastAttempt: noon}
	s.Put(mirrorstate.Tip{Tip: two, FreshAt: noon})
	must.OK(t, s.Write(dir))
	tips := []string{one, two}
	tip, v, err := mirrorstate.Open(dir, func() (tip string, _ error) {
		tip, tips = tips[0], tips[1:]
		return tip, nil
	})
	if err != nil || tip != two || v.Frozen != "" {
		t.Errorf("%s, %+v, %v", tip, v, err)
	}
}

func TestLists(t *testing.T) {
	var r mirrorstate.Rewritten
	var p mirrorstate.Repaired
	for i := range 300 {
		r.Add(mirrorstate.Rewrite{From: fmt.Sprint(i)})
		p.Add(mirrorstate.Repair{What: fmt.Sprint(i)})
	}
	if r.Count != 300 || len(r.First) != 50 || r.First[49].From != "49" || len(r.Last) != 50 ||
		r.Last[0].From != "250" {
		t.Errorf("%+v", r)
	}
	if p.Count != 300 || len(p.Last) != 100 || p.Last[99].What != "299" {
		t.Errorf("%+v", p)
	}
}

func TestBackdatedAdd(t *testing.T) {
	var b mirrorstate.Backdated
	for i := range 1001 {
		b.Add(fmt.Sprintf("%040x", i), noon.Add(time.Duration(i)*time.Hour))
	}
	if len(b) != 1000 || b[0].Commit != fmt.Sprintf("%040x", 1) {
		t.Errorf("%d entries, the first is %+v; expected the newest 1,000", len(b), b[0])
	}
	if at := b.Add(b[5].Commit, noon.Add(9999*time.Hour)); !at.Equal(b[5].At) || len(b) != 1000 {
		t.Errorf("a commit that a run saw before: %s, %d entries", at, len(b))
	}
}
