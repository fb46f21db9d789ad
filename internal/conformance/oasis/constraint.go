package oasis

import (
	"fmt"
	"strings"

	"golang.org/x/mod/semver"
)

// constraint is what a version must satisfy: each of its bounds.
type constraint struct {
	text   string
	bounds []bound
}

// bound is one comparison with a version.
type bound struct{ operator, version string }

// operators are those of a bound, the longer ones first.
var operators = []string{">=", "<=", ">", "<", "="}

// maxBounds is how many bounds a constraint has: each is compared with each version of an answer.
const maxBounds = 32

// readConstraint reads one or more of an operator and a version, joined by commas or blanks.
func readConstraint(text string) (constraint, error) {
	c := constraint{text: text}
	rest := strings.Trim(text, " \t")
	for rest != "" {
		b := bound{}
		for _, operator := range operators {
			if after, ok := strings.CutPrefix(rest, operator); ok {
				b.operator, rest = operator, strings.TrimLeft(after, " \t")
				break
			}
		}
		if b.operator == "" {
			return c, fmt.Errorf("%s: expected %s at %s", quoted(text), strings.Join(operators, ", "), quoted(rest))
		}
		end := strings.IndexAny(rest, ", \t")
		if end < 0 {
			end = len(rest)
		}
		if b.version = rest[:end]; !isSemVer(b.version) {
			return c, fmt.Errorf("%s: %s is not a version by SemVer 2.0.0", quoted(text), quoted(b.version))
		}
		if c.bounds = append(c.bounds, b); len(c.bounds) > maxBounds {
			return c, fmt.Errorf("%s holds more than %d bounds", quoted(text), maxBounds)
		}
		joint := strings.Trim(rest[end:], " \t")
		if rest = strings.TrimLeft(strings.TrimPrefix(joint, ","), " \t"); rest == "" && joint != "" {
			return c, fmt.Errorf("%s ends in a comma", quoted(text))
		}
	}
	if c.bounds == nil {
		return c, fmt.Errorf("%s holds no bound", quoted(text))
	}
	return c, nil
}

// admits reports whether a version satisfies each bound, by the precedence of SemVer 2.0.0 section 11: a pre-release
// is a version like any other.
func (c constraint) admits(version string) bool {
	if !isSemVer(version) {
		return false
	}
	for _, b := range c.bounds {
		order := semver.Compare("v"+version, "v"+b.version)
		if !compares(b.operator, order) {
			return false
		}
	}
	return true
}

// compares reports whether an order, as of a comparison with a bound, is one that the operator allows.
func compares(operator string, order int) bool {
	switch operator {
	case ">=":
		return order >= 0
	case ">":
		return order > 0
	case "<=":
		return order <= 0
	case "<":
		return order < 0
	}
	return order == 0
}

// isSemVer reports whether a text is a version by SemVer 2.0.0: three numbers, no v before them.
func isSemVer(text string) bool {
	v := "v" + text
	return semver.IsValid(v) && semver.Canonical(v)+semver.Build(v) == v
}

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
		there = there || isSemVer(v) && release(v) == release(c.bounds[0].version)
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
