// Package programs lists the tables of all programs, for what writes about all of them. No program links it.
package programs

import (
	"github.com/openagentprotocol-OAP/oap-gate/internal/cli/oapconform"
	"github.com/openagentprotocol-OAP/oap-gate/internal/cli/oapgate"
	"github.com/openagentprotocol-OAP/oap-gate/internal/cli/oapspec"
	"github.com/openagentprotocol-OAP/oap-gate/internal/cli/table"
)

// All has the program of the Action first.
var All = []*table.Program{&oapgate.Program, &oapspec.Program, &oapconform.Program}

// Of returns the program that a command line begins with, and the rest of the line; without one it is oap-gate's.
func Of(args []string) (*table.Program, []string) {
	for _, p := range All {
		if len(args) > 0 && args[0] == p.Name {
			return p, args[1:]
		}
	}
	return All[0], args
}
