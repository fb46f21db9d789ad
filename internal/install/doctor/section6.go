package doctor

import "github.com/openagentprotocol-OAP/oap-gate/checks"

// Section6 lists the rows of the table in RFC 0026 section 6, in the RFC's spelling. Section 7 requires "every check in
// Section 6": a registry meets that if its required jobs run each check of each row.
var Section6 = []string{
	"Schema",
	"DID resolution",
	"Manifest reachability",
	"Manifest matches DID",
	"Receipt fetch",
	"Receipt signature",
	"Receipt validity window",
	"Peer witnesses (L4+)",
	"Sybil filter",
	"No tampering",
}

// InRow returns the ids of the checks that implement a row of [Section6].
func InRow(row string) []string {
	var ids []string
	for _, c := range checks.All {
		if c.Row == row {
			ids = append(ids, c.ID)
		}
	}
	return ids
}
