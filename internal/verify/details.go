package verify

import "github.com/openagentprotocol-OAP/oap-gate/internal/strict"

// The commands that show a value at fault, for those codes that only verify has.
const (
	showClaims  = "curl -sS MANIFEST_URI | jq '.conformance, .conformance_receipt_uri'"
	showListing = "oap-gate list --repo DIR --did DID --status valid,provisional,expiring,expired,revoked,invalid"
	showProof   = "head -c 400 FILE"
)

// Details says about each error code that only verify has what usually causes it, and which command shows the value at
// fault.
var Details = map[string]strict.Detail{
	"unattested": {"the implementation never ran the suite, or its Manifest was not updated",
		showClaims},
	"no-receipt-uri": {"the Manifest has a conformance block without the URL, or with an http: URL",
		showClaims},
	"not-yet-valid": {"the Receipt is dated ahead, or the clock of this machine is slow",
		"date -u"},
	"revoked": {"the owner or three witnesses withdrew the Receipt",
		"git -C DIR ls-tree --name-only HEAD revocations/"},
	"not-anchored": {"the renewed Receipt is not merged yet, or the clone is old",
		showListing},
	"not-listed": {"the slug has a typing error, or the listing is not merged",
		"oap-gate list --repo DIR"},
	"proof-malformed": {"the file was edited, or converted to other line ends",
		showProof},
	"proof-unsigned": {"the policy names another log, or the key of a log that was replaced",
		showProof},
	"proof-quorum": {"the log was published without some witnesses of the policy",
		showProof},
	"proof-not-current": {"the registry published a new entry after the proof was written",
		showProof},
	"proof-subject": {"the proof of another slug was passed on",
		"oap-gate prove --check FILE"},
	"proof-files": {"parts of two proofs were joined",
		"oap-gate prove --check FILE"},
	"proof-root": {"the entry and the log checkpoint are of different proofs",
		"oap-gate prove --check FILE"},
}
