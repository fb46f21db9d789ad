package schema

import (
	"sync"

	"github.com/openagentprotocol-OAP/oap-gate/docs/schemas"
)

// Names lists the schemas that records and policies are checked by. Each is a file of our own words whose structure is
// that of the schema which the registry or the specification publishes; the gate policy is the gate's own.
var Names = []string{"listing", "revocation", "workflow-anchor", "receipt", "gate-policy"}

var builtins = func() map[string]func() *Schema {
	all := map[string]func() *Schema{}
	for _, name := range Names {
		all[name] = sync.OnceValue(func() *Schema {
			s, err := Compile(name, schemas.Text(name))
			if err != nil {
				panic(err) // a file of the program is wrong
			}
			return s
		})
	}
	return all
}()

// Builtin returns the schema of that name, or nil if it is not one of Names.
func Builtin(name string) *Schema {
	if compiled := builtins[name]; compiled != nil {
		return compiled()
	}
	return nil
}
