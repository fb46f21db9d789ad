package verdict

import "github.com/openagentprotocol-OAP/oap-gate/internal/strict"

// Rule is what a catalogue says of one check, one sentence each.
type Rule struct {
	ID, Title, Cite, Why, Fix string

	// Codes explains each code that the check gives its findings.
	Codes []strict.Code
}
