package claim

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/conformance/aaep"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// A claim of a level rests on the live rows up to that level, each of which must have been run.
func TestClaimLive(t *testing.T) {
	rowsOf := func(role string, level int) (all []string) {
		for _, rule := range aaep.Rules {
			if rule.Method == verdict.Live && rule.Role == role && rule.Level <= level && !aaep.ByOther(rule) {
				all = append(all, rule.ID)
			}
		}
		return all
	}
	rows := func(level int) []string { return rowsOf(aaep.Producer, level) }
	for _, c := range []struct {
		level string
		ran   []string
		want  int // rows that were not run
	}{
		{"3", rows(3), 0},
		{"3", rows(2), 6},
		{"3", rows(1), 11},
		{"3", slices.DeleteFunc(rows(3), func(id string) bool { return id == aaep.LiveClose.ID }), 1},
		{"2", rows(2), 0},
		{"2", nil, 5},
		{"1", nil, 0},
		{"1", rowsOf(aaep.Subscriber, 1), 0},
		{"2", rowsOf(aaep.Subscriber, 2), 0},
		{"3", rowsOf(aaep.Subscriber, 3), 0},
		{"3", rowsOf(aaep.Subscriber, 2), 4},
		{"1", []string{aaep.SubTransport.ID}, 2},
		{"3", slices.Concat(rowsOf(aaep.Subscriber, 3), []string{aaep.LiveStream.ID}), 11},
		// rows of both make no subscriber's
	} {
		var results []map[string]string
		if len(c.ran) == 0 || slices.Contains(c.ran, aaep.LiveStream.ID) {
			for _, rule := range aaep.StreamRules {
				results = append(results, map[string]string{"check": rule.ID, "verdict": "pass"})
			}
		}
		for _, id := range c.ran {
			results = append(results, map[string]string{"check": id, "verdict": "pass"})
		}
		report := must.Get(json.Marshal(map[string]any{"version": 1, "tool": map[string]string{"name": "oap-gate"},
			"mode": "conformance", "protocol": "aaep", "evaluated_at": "2026-08-15T10:00:00Z",
			"level": json.Number(c.level), "verdict": "pass",
			"results": results}))(t)
		claim := Claim{Path: "x", ReportPath: "r.json", Report: report, MaxAge: time.Hour * 24 * 365,
			Now: time.Date(2026, 9, 1, 0, 0, 0, 0, time.UTC),
			Text: []byte("Acme is AAEP Level " + c.level + " conformant, verified by AAEP Conformance Suite " +
				"version 1.0.0 on " +
				"2026-08-15.")}
		found, _, err := claim.Judge()
		must.OK(t, err)
		not := 0
		for _, r := range found {
			for _, f := range r.Findings {
				if f.Code == "claim-suite" {
					continue
				}
				if f.Code != "claim-live-not-run" {
					t.Errorf("level %s: %s %s", c.level, f.Code, f.Message)
				}
				not++
			}
		}
		if not != c.want {
			t.Errorf("level %s, run %s: %d rows were not run, want %d", c.level, strings.Join(c.ran, " "), not, c.want)
		}
	}
}
