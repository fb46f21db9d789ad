package checks

import (
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/level"
)

// The receipt schema knows no tier yet, so that no listing can show a Receipt that names one.
func TestKeptLevel(t *testing.T) {
	for _, c := range []struct {
		then    level.Level
		claimed []level.Level
		want    level.Level
	}{
		{"L5-FINANCE", []level.Level{"L5-ORG"}, "L5-ORG"},
		{"L5-FINANCE", []level.Level{"L5-ORG", "L5"}, "L5-FINANCE"},
		{"L5-FINANCE", []level.Level{"L5-ORG", "L5-FINANCE"}, "L5-FINANCE"},
		{"L5", []level.Level{"L5-ORG", "L5-FINANCE"}, "L5-ORG"},
		{"L5", []level.Level{"L5-ORG", "L5"}, "L5"},
		{"L3-NC", []level.Level{"L5"}, "L5"}, // there is no L5-NC
		{"L3-NC", []level.Level{"L1", "L1-NC"}, "L1-NC"},
		{"L3", []level.Level{"L0"}, "L0"},               // the lowest level
		{"L9-NC", []level.Level{"L3-NC", "L3"}, "L3"},   // no level, no suffix
		{"L5-ORG", []level.Level{"L4", "L4-ORG"}, "L4"}, // there is no L4-ORG
		{"L3", []level.Level{"L9"}, ""},
		{"L3", []level.Level{"L-1"}, ""},
		{"L3", nil, ""},
	} {
		if got := Kept(c.claimed, c.then); got != c.want {
			t.Errorf("Kept(%v, %s) = %q, want %q", c.claimed, c.then, got, c.want)
		}
	}
}
