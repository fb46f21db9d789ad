package verdict

import (
	"fmt"

	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
)

// Severity says what a finding does to the verdict.
type Severity uint8

// The severities: a MUST that does not hold is an Error, a SHOULD a Warning; Doubt is what another try may
// clear up; a Notice changes nothing.
const (
	Error Severity = iota
	Doubt
	Warning
	Notice
)

var severities = [...]string{"error", "inconclusive", "warning", "notice"}

// String is the severity's word in the report. What is none of the severities is an Error.
func (s Severity) String() string {
	if int(s) >= len(severities) {
		s = Error
	}
	return severities[s]
}

// MarshalText gives the severity's word.
func (s Severity) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText takes the severity's word, and no other.
func (s *Severity) UnmarshalText(text []byte) error {
	for i, word := range severities {
		if word == string(text) {
			*s = Severity(i)
			return nil
		}
	}
	return fmt.Errorf("%q is no severity", text)
}

// Finding is one thing that a check has to say.
type Finding struct {
	Severity Severity `json:"severity" jsonschema:"type=string,enum=error,enum=inconclusive,enum=warning,enum=notice"`
	Code     string   `json:"code"`
	Message  string   `json:"message"`        // what was observed, what was expected, why
	Fix      string   `json:"fix,omitempty"`  // the command or value that would pass
	Cite     string   `json:"cite,omitempty"` // the clause that demands it
	strict.Pos
	Pointer string `json:"pointer,omitempty"` // RFC 6901, of the member at fault
	Commit  string `json:"commit,omitempty"`  // where one commit is at fault
}

// WithFix sets what would pass.
func (f *Finding) WithFix(format string, args ...any) *Finding {
	f.Fix = fmt.Sprintf(format, args...)
	return f
}
