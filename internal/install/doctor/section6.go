package doctor

import (
	"github.com/openagentprotocol-OAP/oap-gate/checks"
	"github.com/openagentprotocol-OAP/oap-gate/internal/forge/repoconfig"
)

// Section6 returns the rows of the table in RFC 0026 section 6, with the checks that implement each.
func Section6() []repoconfig.Row {
	var rows []repoconfig.Row
	for _, name := range checks.Section6 {
		rows = append(rows, repoconfig.Row{Name: name, Checks: checks.InRow(name)})
	}
	return rows
}
