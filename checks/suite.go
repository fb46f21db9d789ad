package checks

import (
	"fmt"
	"slices"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/receipt"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// suiteName is the name of the suite that a Receipt must be of.
const suiteName = "oap-conformance-test-suite"

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

// trust reports whether a version is among those. A pre-release is not a version of N.x.
func (s Suites) trust(version string) bool {
	return slices.ContainsFunc(s, func(trusted string) bool {
		if suiteMajor().MatchString(trusted) {
			major := strings.TrimSuffix(trusted, "x")
			return strings.HasPrefix(version, major) && numbers().MatchString(version)
		}
		return trusted == version
	})
}

func (s Suites) String() string { return strings.Join(s, ",") }

// SuiteNotTrusted is the code of a Receipt of another suite, or of a version of it that is not trusted.
const SuiteNotTrusted = "suite-not-trusted"

// ReceiptSuite checks that a Receipt is of the conformance suite, in a version that is trusted; what is not has the
// given severity. Pointers are into the Receipt.
func ReceiptSuite(r *receipt.Receipt, trusted Suites, severity verdict.Severity) verdict.Outcome {
	var out verdict.Outcome
	if r.SuiteName != suiteName {
		out.Add(verdict.At{}, severity, "/suite/name", SuiteNotTrusted, "suite.name is %.100q; expected %q",
			r.SuiteName, suiteName).
			WithFix("attest with the conformance suite of the specification")
	}
	if !trusted.trust(r.SuiteVersion) {
		fix := "attest again with a suite of " + trusted.String()
		if severity == verdict.Error { // of verify
			fix += ", or name this one with --trusted-suites"
		}
		out.Add(verdict.At{}, severity, "/suite/version", SuiteNotTrusted, "suite.version is %.100q, trusted are %s",
			r.SuiteVersion, trusted).
			WithFix("%s", fix)
	}
	return out
}

// TargetDiffers is the code of a Receipt whose signed target.uri is not shown to be the implementation's.
const TargetDiffers = "target-differs"

// ReceiptTarget warns of a Receipt by a did:web whose signed target.uri is neither on the Manifest's host nor in the
// DID's registrable domain. Where the Manifest's URL is not known, it is empty. Pointers are into the Receipt.
func (run *Run) ReceiptTarget(r *receipt.Receipt, manifestURI string) verdict.Outcome {
	var out verdict.Outcome
	if webHost(r.ImplementationDID) == "" || run.InDomain(r.TargetURI, r.ImplementationDID) ||
		SameHost(manifestURI, r.TargetURI) {
		return out
	}
	out.Warnf(verdict.At{}, "/target/uri", TargetDiffers,
		"the suite ran against %.200q, which is outside the domain of %.200s", r.TargetURI, r.ImplementationDID).
		WithFix("attest against the deployment that is engaged")
	return out
}
