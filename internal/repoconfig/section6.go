package repoconfig

import "strings"

// Row is one check of the table in RFC 0026 section 6, and the ids of the gate's checks that hold it.
type Row struct {
	Name   string   // as the RFC spells it
	Checks []string // in catalogue order
}

// Section6 maps the table of RFC 0026 section 6 to check ids. Section 7 requires "every check in Section 6": a
// registry holds that if the jobs that it requires run each of these ids. Each id of the catalogue stands in one row, so
// that ten jobs by these rows run the whole gate.
var Section6 = []Row{
	{"Schema", []string{"layout", "schema", "name-similarity"}},
	{"DID resolution", []string{"did-resolution"}},
	{"Manifest reachability", []string{"manifest-reachability"}},
	{"Manifest matches DID", []string{"manifest-did", "fallback-policy"}},
	{"Receipt fetch", []string{"receipt-fetch"}},
	{"Receipt signature", []string{"receipt-claims", "receipt-signature"}},
	{"Receipt validity window", []string{"receipt-validity"}},
	{"Peer witnesses (L4+)", []string{"peer-witnesses", "external-audit"}},
	{"Sybil filter", []string{"domain-age"}},
	{"No tampering", []string{"append-only", "reissue", "revocations", "workflow-anchors"}},
}

// Missing are the rows of Section6 that the given ids do not cover, each with the ids that are missing.
func Missing(covered map[string]bool) []Row {
	var rows []Row
	for _, row := range Section6 {
		var ids []string
		for _, id := range row.Checks {
			if !covered[id] {
				ids = append(ids, id)
			}
		}
		if ids != nil {
			rows = append(rows, Row{Name: row.Name, Checks: ids})
		}
	}
	return rows
}

// Minimum is what RFC 0026 section 7 demands, beside the required checks, and that pull requests are judged on the
// branch on which they land.
func Minimum() Protection {
	return Protection{BlockForcePush: true, BlockDeletion: true, RequirePullRequest: true, Approvals: 1, UpToDate: true}
}

// Table is Section6 in Markdown, for the documentation.
func Table() string {
	var b strings.Builder
	b.WriteString("| RFC 0026 section 6 | check ids |\n|---|---|\n")
	for _, row := range Section6 {
		b.WriteString("| " + row.Name + " | `" + strings.Join(row.Checks, "`, `") + "` |\n")
	}
	return b.String()
}
