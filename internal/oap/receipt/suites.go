package receipt

import (
	"fmt"
	"slices"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
)

// Suites are the versions of the suite that the caller trusts: a version, or N.x for all of a major one.
type Suites []string

// TrustedSuites are the versions that are trusted by default: the suite calls itself 1.0.0 to 1.3.0.
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

// Trust reports whether a version is among those. A pre-release is not a version of N.x.
func (s Suites) Trust(version string) bool {
	return slices.ContainsFunc(s, func(trusted string) bool {
		if suiteMajor().MatchString(trusted) {
			major := strings.TrimSuffix(trusted, "x")
			return strings.HasPrefix(version, major) && numbers().MatchString(version)
		}
		return trusted == version
	})
}

func (s Suites) String() string { return strings.Join(s, ",") }
