package checks

import (
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/receipt"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// suiteName is the name of the suite that a Receipt must be of.
const suiteName = "oap-conformance-test-suite"

// SuiteNotTrusted is the code of a Receipt of another suite, or of a version of it that is not trusted.
const SuiteNotTrusted = "suite-not-trusted"

// ReceiptSuite checks that a Receipt is of the conformance suite, in a version that is trusted; what is not has the
// given severity. Pointers are into the Receipt.
func ReceiptSuite(r *receipt.Receipt, trusted receipt.Suites, severity verdict.Severity) verdict.Outcome {
	var out verdict.Outcome
	if r.SuiteName != suiteName {
		out.Add(verdict.At{}, severity, "/suite/name", SuiteNotTrusted, "suite.name is %.100q; expected %q",
			r.SuiteName, suiteName).
			WithFix("attest with the conformance suite of the specification")
	}
	if !trusted.Trust(r.SuiteVersion) {
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
