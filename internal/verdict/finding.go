package verdict

import (
	"fmt"
	"time"

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

// String returns the severity's word in the report. An unknown severity is an Error.
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
	return fmt.Errorf("%q is not a severity", text)
}

// Basis is what a finding rests on, and so what happens to it once the record is merged.
type Basis uint8

// The bases. Text is the files themselves, and what a listing's own documents must continue to say: it is as true today
// as at the merge. World is a document, key or registration of others, which was judged at the merge and need not say
// the same today. Lapsed is only time or a revocation; neither is a fault of the registry.
const (
	Text Basis = iota
	World
	Lapsed
)

// Finding is one thing that a check has to say.
type Finding struct {
	Severity Severity `json:"severity" jsonschema:"type=string,enum=error,enum=inconclusive,enum=warning,enum=notice,description=effect on the verdict"`
	Code     string   `json:"code" jsonschema:"description=stable name of the problem; oap-gate explain CODE describes it"`
	Message  string   `json:"message" jsonschema:"description=what was observed and what was expected"` // observed, expected, why
	Fix      string   `json:"fix,omitempty" jsonschema:"description=command or value that passes"`      // the command or value that would pass
	Cite     string   `json:"cite,omitempty" jsonschema:"description=clause that requires it"`          // the clause that requires it
	strict.Pos
	Pointer string `json:"pointer,omitempty" jsonschema:"description=RFC 6901 pointer to the member at fault"` // RFC 6901, of the member at fault
	Commit  string `json:"commit,omitempty" jsonschema:"description=commit at fault"`                          // where one commit is at fault
	// RetryAt is when the finding may change by the passing of time; zero where it never does.
	RetryAt time.Time `json:"retry_at,omitempty,omitzero" jsonschema:"description=when the finding may change by the passing of time"`
	Basis   Basis     `json:"-"`
	// Value is what would pass where code acts on the finding: a path, a mode or a JSON value. It is not in the report.
	Value string `json:"-"`
}

// Until says when the finding may change by the passing of time.
func (f *Finding) Until(t time.Time) *Finding {
	if t = t.UTC(); t.Year() <= 9999 { // no report can hold a later one
		f.RetryAt = t
	}
	return f
}

// Rests sets what the finding rests on, where that is not Text.
func (f *Finding) Rests(on Basis) *Finding {
	f.Basis = on
	return f
}

// WithValue sets the value that would pass.
func (f *Finding) WithValue(value string) *Finding {
	f.Value = value
	return f
}

// WithFix sets what would pass.
func (f *Finding) WithFix(format string, args ...any) *Finding {
	f.Fix = fmt.Sprintf(format, args...)
	return f
}

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

// String returns the method's word in a catalogue.
func (m Method) String() string { return methods[m] }

// MarshalText gives the method's word.
func (m Method) MarshalText() ([]byte, error) {
	if int(m) >= len(methods) {
		return nil, fmt.Errorf("%d is not a method", m)
	}
	return []byte(methods[m]), nil
}

// Rule is what a catalogue says about one check, one sentence each.
type Rule struct {
	ID, Title, Cite, Why, Fix string

	Role   string // whose requirement it is, where a protocol has several
	Level  int    // the lowest level that asks for it, where a protocol has levels
	Method Method

	// Codes explains each code that the check gives its findings.
	Codes []strict.Code
}

// FixOf returns the fix of a finding of that code: the code's, or else the rule's.
func (r Rule) FixOf(code string) string {
	for _, c := range r.Codes {
		if c.ID == code {
			return c.Fix
		}
	}
	return r.Fix
}
