package checks

// Section6 are the rows of the table in RFC 0026 section 6, as the RFC spells them. Section 7 requires "every check in
// Section 6": a registry holds that if the jobs that it requires run each check of each row.
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

// InRow are the ids of the checks that hold a row of [Section6].
func InRow(row string) []string {
	var ids []string
	for _, c := range All {
		if c.Row == row {
			ids = append(ids, c.ID)
		}
	}
	return ids
}
