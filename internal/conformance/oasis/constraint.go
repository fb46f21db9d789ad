package oasis

import (
	"fmt"
	"slices"
	"strings"

	"golang.org/x/mod/semver"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/conformance/form"
)

// constraint is what a version must satisfy: each of its bounds.
type constraint struct {
	text   string
	bounds []bound
}

// bound is one comparison with a version.
type bound struct{ operator, version string }

// maxBounds is how many bounds a constraint has: each is compared with each version of an answer.
const maxBounds = 32

var (
	oneBound  = plain.Pattern(`(>=|<=|>|<|=)[ \t]*([^, \t]+)`)
	allBounds = plain.Pattern(`^[ \t]*(?:(?:>=|<=|>|<|=)[ \t]*[^, \t]+(?:[ \t]*,[ \t]*|[ \t]+|$))+$`)
)

// readConstraint reads one or more of an operator and a version, joined by commas or blanks.
func readConstraint(text string) (constraint, error) {
	c := constraint{text: text}
	if !allBounds().MatchString(text) || strings.HasSuffix(strings.TrimRight(text, " \t"), ",") {
		return c, fmt.Errorf("%s: expected bounds like >=1.0.0, joined by commas or blanks; the operators are "+
			">=, <=, >, < and =", quoted(text))
	}
	for _, m := range oneBound().FindAllStringSubmatch(text, -1) {
		if !form.IsSemVer(m[2]) {
			return c, fmt.Errorf("%s: %s is not a version by SemVer 2.0.0", quoted(text), quoted(m[2]))
		}
		if c.bounds = append(c.bounds, bound{m[1], m[2]}); len(c.bounds) > maxBounds {
			return c, fmt.Errorf("%s holds more than %d bounds", quoted(text), maxBounds)
		}
	}
	return c, nil
}

// admits reports whether a version satisfies each bound, by the precedence of SemVer 2.0.0 section 11: a pre-release
// is a version like any other.
func (c constraint) admits(version string) bool {
	if !form.IsSemVer(version) {
		return false
	}
	for _, b := range c.bounds {
		if !slices.Contains(orders[b.operator], semver.Compare("v"+version, "v"+b.version)) {
			return false
		}
	}
	return true
}

// orders has the results that each operator allows when a version or a number is compared with the bound.
var orders = map[string][]int{">=": {0, 1}, ">": {1}, "<=": {-1, 0}, "<": {-1}, "=": {0}}

// release is MAJOR.MINOR.PATCH of a version.
func release(version string) string {
	version, _, _ = strings.Cut(version, "+")
	version, _, _ = strings.Cut(version, "-")
	return version
}

// runnerDiffers says in what the runner that exists judges versions otherwise, empty where it does not: it drops the
// operator and takes a version of the same MAJOR.MINOR.PATCH. What it makes of several bounds is not known.
func (c constraint) runnerDiffers(versions []string) string {
	if len(c.bounds) != 1 {
		return ""
	}
	here, there := false, false
	for _, v := range versions {
		here = here || c.admits(v)
		there = there || form.IsSemVer(v) && release(v) == release(c.bounds[0].version)
	}
	switch {
	case here && !there:
		return fmt.Sprintf("a runner that takes only %s, whatever follows, refuses these versions",
			release(c.bounds[0].version))
	case there && !here:
		return fmt.Sprintf("a runner that takes any version of %s lets these pass", release(c.bounds[0].version))
	}
	return ""
}
