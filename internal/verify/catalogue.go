package verify

import (
	"slices"

	"github.com/openagentprotocol-OAP/oap-gate/checks"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/proof"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/receipt"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

const reverify = "reverify" // the id of the step that nobody performs

const section6 = "RFC 0019 section 6"

// aReceipt is what a step needs that judges what a Receipt says.
var aReceipt = []evidence.Kind{evidence.ReceiptText, evidence.Receipt}

// catalogue are the steps in the order of the report.
var catalogue = []step{
	{judge: judgeManifest, Rule: verdict.Rule{
		ID: "manifest", Title: "the target serves a Manifest, which names the target's DID", Cite: section6,
		Method: verdict.Live,
		Why:    "an implementation that serves no Manifest cannot be engaged or judged",
		Fix: "serve the Manifest as strict JSON with status 200 over https at /.well-known/oap-tool.json, with " +
			"tool.did",
		Codes: slices.Concat(codesOf("manifest-reachability"), codesOf("manifest-did", "manifest-did-differs"),
			[]strict.Code{
				{"revocation-endpoint-missing",
					"the Manifest does not name where its revocations are published (RFC 0019 section 10)",
					"set governance.revocation_status_url in the Manifest"},
				{"publisher-differs", "tool.publisher.did is neither the signer's DID nor in its registrable domain",
					"set tool.publisher.did in the Manifest to tool.did"},
			}),
	}},
	{judge: judgeDiscovery, needs: []evidence.Kind{evidence.Manifest}, Rule: verdict.Rule{
		ID: "receipt-discovery", Title: "the Manifest's conformance block names the Receipt", Cite: section6,
		Why: "without the block the target is unattested, and its principal's policy for unattested targets applies",
		Fix: "add conformance with an https receipt_uri to the Manifest",
		Codes: slices.Concat([]strict.Code{
			{"unattested", "the Manifest has no conformance block and no conformance_receipt_uri: it claims no level",
				"add conformance with a receipt_uri to the Manifest"},
			{"no-receipt-uri", "the Manifest names no https URL of a Receipt",
				"set conformance.receipt_uri to the https URL of the signed Receipt"},
		}, codesOf("manifest-did", "manifest-receipt-differs", "receipt-uri-differs", "manifest-contradicts")),
	}},
	{judge: judgeFetch, Rule: verdict.Rule{
		ID: "receipt-fetch", Title: "the Receipt is served, with the pinned bytes if a listing pins it",
		Cite: section6, Method: verdict.Live,
		Why:   "nobody can check a claim whose evidence is not published",
		Fix:   "serve the Receipt with status 200 over https, at most 1 MiB, within 10 seconds",
		Codes: codesOf("receipt-fetch"),
	}},
	{judge: judgeSchema, needs: []evidence.Kind{evidence.ReceiptText}, costly: true, Rule: verdict.Rule{
		ID: "schema", Title: "the Receipt is strict JSON and valid under the receipt schema", Cite: section6,
		Why: "a document that two readers read differently proves nothing to either",
		Fix: "attest again with a runner that follows the receipt schema",
		Codes: slices.Concat(codesOf("receipt-claims", "receipt-schema", "rounded-number", receipt.CodeShape),
			strict.Codes),
	}},
	{judge: judgeSuite, needs: aReceipt, Rule: verdict.Rule{
		ID: "suite-trust", Title: "the Receipt is of a version of the conformance suite that the caller trusts",
		Cite:  section6,
		Why:   "another suite may require less",
		Fix:   "attest with a trusted version of the suite, or name the version with --trusted-suites",
		Codes: codesOf("receipt-claims", checks.SuiteNotTrusted),
	}},
	{judge: judgeValidity, needs: aReceipt, Rule: verdict.Rule{
		ID: "validity", Title: "the Receipt is in date", Cite: "RFC 0019 sections 6 and 7.2",
		Why: "implementations change, so a claim that is never renewed becomes untrue",
		Fix: "attest again, with validity.not_before and validity.not_after at most 90 days apart",
		Codes: slices.Concat([]strict.Code{
			{"expired", "the Receipt's validity.not_after is in the past", "attest again"},
			{"not-yet-valid", "the Receipt's validity.not_before is ahead of now", "wait until then"},
			{"window-empty", "the Receipt's validity.not_after is not later than its not_before", "attest again"},
			{"window-too-long", "the Receipt's dates are more than 90 days apart, which no listing may have",
				"attest at least every 90 days"},
		}, codesOf("receipt-validity", "validity-missing")),
	}},
	{judge: judgeIdentity, needs: slices.Concat([]evidence.Kind{evidence.Manifest}, aReceipt), Rule: verdict.Rule{
		ID: "identity", Title: "the Receipt is that of this implementation, at this address",
		Cite: "RFC 0019 sections 6 and 10",
		Why:  "anyone who has a Receipt can show it",
		Fix: "publish the Receipt that was issued for the Manifest's tool.did, " +
			"and attest against the address that is engaged",
		Codes: slices.Concat([]strict.Code{
			{"target-folder", "the target is the root of a host, the Receipt is of a directory or port below it; " +
				"or the target is below a root whose owner confirms it",
				"verify the implementation by its DID, or at the root of its host"},
		}, codesOf("receipt-claims", checks.ReceiptDIDDiffers, checks.TargetDiffers),
			codesOf("manifest-did", "manifest-host", "policy-unreadable", evidence.CodeSuffixList)),
	}},
	{judge: judgeSignature, needs: aReceipt, costly: true, Rule: verdict.Rule{
		ID: "signature", Title: "a key of the implementation's DID Document signed the Receipt, " +
			"and no signature of it is a placeholder",
		Cite: "RFC 0019 sections 6 and 7.3", Method: verdict.Live,
		Why: "without the implementation's signature anyone could have written the Receipt",
		Fix: checks.SignAgain,
		Codes: slices.Concat(signatureCodes, codesOf("receipt-claims",
			"placeholder")),
	}},
	{judge: judgeClaims, needs: aReceipt, Rule: verdict.Rule{
		ID: "claims", Title: "each claimed level exists and has what its profile needs, and no test failed",
		Cite: "RFC 0019 sections 6 and 7, RFC 0025",
		Why:  "a signature does not make a level valid",
		Fix:  "attest again at levels that exist, with no failed test",
		Codes: slices.Concat([]strict.Code{
			{"no-such-level", "the Receipt claims a level that the standard does not know, or none",
				"attest at levels that exist"},
		}, codesOf("receipt-claims", "tests-failed", "no-tests-passed", "results-incoherent", "tests-skipped",
			"profile", "revenue-source")),
	}},
	{judge: thawed(judgeRevocation), registry: true, costly: true, Rule: verdict.Rule{
		ID: "revocation", Title: "no revocation in force withdraws the Receipt, or a later one of the implementation",
		Cite: "RFC 0019 section 10, RFC 0026 section 5",
		Why:  "an implementation can still show a Receipt that was withdrawn",
		Fix:  "name a clone of the registry that is up to date with --registry DIR",
		Codes: slices.Concat([]strict.Code{
			{"revoked", "a revocation withdraws the Receipt, the same in other bytes, or a later one",
				"the implementation must sign a new Receipt"},
			{"revocation-unclear",
				"only the date of the commit that pinned a revoked Receipt says that the revocation may be of this one",
				"have the renewal merged, and fetch the clone"},
			{"clone-unreadable", "a file of the clone that cannot be read may be about the implementation",
				"have a pull request remove the file, or restore its last content that was a record"},
			{"misplaced-revocation", "a revocation of the implementation has a name that no revocation has, and counts",
				"add it under its right name"},
			{"revocation-removed", "the head lacks or changed a revocation that the registry held, and it counts",
				"restore the file from the commit that the finding names"},
			noRegistryCode, cloneOld, mirrorFrozen,
		}, proofCodes),
	}},
	{judge: thawed(judgeWitnesses), needs: aReceipt, each: true, costly: true, Rule: verdict.Rule{
		ID: "peer-witnesses", Title: "an L4 Receipt carries the signature of one peer witness, " +
			"an L5 Receipt those of three independent ones",
		Cite:   "RFC 0019 section 7.1, RFC 0026 sections 6 and 10",
		Method: verdict.Live,
		Why:    "at L4 and above, implementations that passed the same tests must confirm the claim",
		Fix: "have listed L4 or L5 implementations sign the Receipt; for L5 three of different publishers and " +
			"domains",
		Codes: slices.Concat(codesOf("peer-witnesses"), []strict.Code{noRegistryCode, cloneOld, mirrorFrozen}),
	}},
	{judge: judgeAudit, needs: aReceipt, each: true, Rule: verdict.Rule{
		ID: "external-audit", Title: "an L5 Receipt declares an external security audit in force",
		Cite:  "RFC 0026 section 10",
		Why:   "at L5 somebody other than the witnesses must have examined the implementation",
		Fix:   "attest again with external_audit: framework, auditor_did and a valid_until in the future",
		Codes: codesOf("external-audit"),
	}},
	{judge: thawed(judgeAnchor), each: true, registry: true, costly: true, Rule: verdict.Rule{
		ID: "registry-anchor", Title: "a listing of the DID pins the served bytes, in date and at the claimed level",
		Cite: "RFC 0019 sections 7.1 and 12, RFC 0026 section 9",
		Why:  "what the registry pins cannot be changed unseen",
		Fix:  "list the Receipt in the registry, and name a clone of it with --registry DIR",
		Codes: slices.Concat([]strict.Code{
			{"not-anchored", "no listing of the DID in the clone pins exactly these bytes, in date, at that level",
				"oap-gate new SLUG URL, or oap-gate renew SLUG if the DID is listed"},
			{"provisional", "the listing is provisional: the domain is young, or of unknown age",
				"wait until it is issued again without it"},
			{"anchored", "the commit that brought the listing which pins these bytes", "nothing to do"},
			{"anchor-claim", "the Receipt's own registry_anchor names a commit or path that the clone does not show",
				"leave registry_anchor out: nothing depends on it"},
			noRegistryCode, cloneOld, mirrorFrozen, mirrorRefused,
		}, proof.Codes),
	}},
	{judge: func(*work) (verdict.Outcome, error) {
		return verdict.Skip("live re-execution of the suite was not performed"), nil
	}, Rule: verdict.Rule{
		ID: reverify, Title: "the suite is run again against the live target", Cite: section6,
		Method: verdict.Attested,
		Why:    "what a deployment does today may differ from what it did when it was tested",
		Fix:    "run the conformance suite against the target; no verdict here depends on it",
	}},
}

var (
	noRegistryCode = strict.Code{"no-registry",
		"without a clone of the registry, revocations and listings are not known", nameClone}
	cloneOld = strict.Code{"clone-old",
		"the clone was not fetched for longer than --max-age allows, or for 14 days without the flag",
		"run git fetch in the clone"}
	mirrorRefused = strict.Code{"mirror-refused",
		"the mirror's own checks refused the listing of the DID, so that it does not count",
		"read report.json in the mirror's directory, or ask the mirror's operator"}
	mirrorFrozen = strict.Code{"mirror-frozen",
		"the mirror does not show what it verified last, or its last run did not verify what it shows",
		"run oap-gate mirror, and read its last line"}
)

// signatureCodes are those of the two checks that read the owner's DID Document.
var signatureCodes = func() []strict.Code {
	all := slices.Clone(codesOf("did-resolution"))
	for _, c := range codesOf("receipt-signature") {
		if !slices.Contains(all, c) {
			all = append(all, c)
		}
	}
	return all
}()

// codesOf returns the codes of a check as it explains them: the named ones, or all.
func codesOf(check string, only ...string) []strict.Code {
	all := checks.ByID(check).Codes
	if len(only) == 0 {
		return all
	}
	return slices.DeleteFunc(slices.Clone(all), func(c strict.Code) bool { return !slices.Contains(only, c.ID) })
}
