// Package level holds the Conformance Levels of RFC 0019 and the profiles that later RFCs add.
package level

import "strings"

// Level is a Conformance Level as a listing or Receipt spells it, such as "L1-NC".
type Level string

// levels are all that exist: RFC 0025 section 3 permits -NC on L1 and L3 only; RFC 0028 and RFC 0030 define
// the two L5 tiers.
var levels = map[Level]int{
	"L0": 0, "L1": 1, "L2": 2, "L3": 3, "L4": 4, "L5": 5,
	"L1-NC": 1, "L3-NC": 3, "L5-FINANCE": 5, "L5-ORG": 5,
}

// Base returns the number of the level without its suffix, or -1 if there is no such level.
func (l Level) Base() int {
	if n, ok := levels[l]; ok {
		return n
	}
	return -1
}

// Exists reports whether a Receipt may claim the level: those of a listing, and W1 to W3 and C1 to C3, which no listing
// has.
func (l Level) Exists() bool {
	if l.Base() >= 0 {
		return true
	}
	return len(l) == 2 && (l[0] == 'W' || l[0] == 'C') && '1' <= l[1] && l[1] <= '3'
}

// NonCommercial reports whether the level is of the Non-Commercial Profile (RFC 0025).
func (l Level) NonCommercial() bool { return strings.HasSuffix(string(l), "-NC") }
