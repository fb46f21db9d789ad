package verify

import (
	"github.com/openagentprotocol-OAP/oap-gate/internal/plain"

	"fmt"
	"slices"
	"strings"
)

// SuiteName is the name of the suite that a Receipt must be of.
const SuiteName = "oap-conformance-test-suite"

// Suites are the versions of the suite that the caller trusts: a version, or N.x for all of a major one.
type Suites []string

// TrustedSuites are those that are trusted where the caller says nothing: the suite says 1.0.0 to 1.3.0 of itself.
var TrustedSuites = Suites{"1.x"}

var (
	suiteVersion = plain.Pattern(`^[0-9]+(\.[0-9]+)*([-+][0-9A-Za-z.+-]+)?$`)
	suiteMajor   = plain.Pattern(`^[0-9]+\.x$`)
	numbers      = plain.Pattern(`^[0-9]+(\.[0-9]+)+$`)
)

// ParseSuites reads versions and N.x, joined by commas.
func ParseSuites(text string) (Suites, error) {
	var out Suites
	for s := range strings.SplitSeq(text, ",") {
		s = strings.TrimSpace(s)
		if !suiteVersion().MatchString(s) && !suiteMajor().MatchString(s) {
			return nil, fmt.Errorf("%.60q is neither a version nor N.x", s)
		}
		out = append(out, s)
	}
	return out, nil
}

// trust reports whether a version is among those. A pre-release is no version of N.x.
func (s Suites) trust(version string) bool {
	return slices.ContainsFunc(s, func(trusted string) bool {
		major, all := strings.CutSuffix(trusted, "x")
		if all {
			return strings.HasPrefix(version, major) && numbers().MatchString(version)
		}
		return trusted == version
	})
}

func (s Suites) String() string { return strings.Join(s, ",") }
