package repoconfig

// Row is one check of the table in RFC 0026 section 6, and the ids of the gate's checks that hold it.
type Row struct {
	Name   string   // as the RFC spells it
	Checks []string // in catalogue order
}

// Missing are the rows of section6 that the given ids do not cover, each with the ids that are missing.
func Missing(section6 []Row, covered map[string]bool) []Row {
	var rows []Row
	for _, row := range section6 {
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
