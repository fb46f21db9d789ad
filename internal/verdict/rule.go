package verdict

import (
	"fmt"

	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
)

// Method says how a requirement can be decided.
type Method uint8

// The methods: Mechanical is decided from the input, Live by talking to a running peer, and Attested by people, since
// nobody can see it from outside.
const (
	Mechanical Method = iota
	Live
	Attested
)

var methods = [...]string{"mechanical", "live", "manual"}

// String is the method's word in a catalogue.
func (m Method) String() string { return methods[m] }

// MarshalText gives the method's word.
func (m Method) MarshalText() ([]byte, error) {
	if int(m) >= len(methods) {
		return nil, fmt.Errorf("%d is no method", m)
	}
	return []byte(methods[m]), nil
}

// Rule is what a catalogue says of one check, one sentence each.
type Rule struct {
	ID, Title, Cite, Why, Fix string

	Role   string // whose requirement it is, where a protocol has several
	Level  int    // the lowest level that asks for it, where a protocol has levels
	Method Method

	// Codes explains each code that the check gives its findings.
	Codes []strict.Code
}

// Manual is the result of a requirement that people attest, on a subject.
func (r Rule) Manual(subject string) Result {
	return Result{Check: r.ID, Subject: subject, Verdict: Manual, Reason: r.Title}
}
