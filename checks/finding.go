package checks

import (
	"fmt"

	"github.com/openagentprotocol-OAP/oap-gate/registry"
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

// String is the severity's word in the report.
func (s Severity) String() string {
	return [...]string{"error", "inconclusive", "warning", "notice"}[s]
}

// Finding is one thing that a check has to say.
type Finding struct {
	Severity Severity
	Code     string
	Pos      registry.Pos
	Pointer  string // RFC 6901, of the member at fault
	Message  string // what was observed, what was expected, why
	Fix      string // the command or value that would pass
	Commit   string // where one commit is at fault
}

// Outcome is what a check makes of one subject. Without findings above Notice it passed.
type Outcome struct {
	Findings []Finding
	Skipped  string // why the check does not apply; nothing was judged
	Blames   string // the check that failed in place of this one, where Skipped is set
	Doubtful string // why nothing could be decided, where another check reports the cause
	Verified string // what was found true, for the report
}

func skip(format string, args ...any) Outcome { return Outcome{Skipped: fmt.Sprintf(format, args...)} }

// add appends a finding at a member of the subject's file and gives it for a fix to be set.
func (o *Outcome) add(s *Subject, sev Severity, pointer, code, format string, args ...any) *Finding {
	o.Findings = append(o.Findings, Finding{Severity: sev, Code: code, Pos: s.Pos(pointer), Pointer: pointer,
		Message: fmt.Sprintf(format, args...)})
	return &o.Findings[len(o.Findings)-1]
}

func (o *Outcome) errorf(s *Subject, pointer, code, format string, args ...any) *Finding {
	return o.add(s, Error, pointer, code, format, args...)
}

func (o *Outcome) doubtf(s *Subject, pointer, code, format string, args ...any) *Finding {
	return o.add(s, Doubt, pointer, code, format, args...)
}

func (o *Outcome) warnf(s *Subject, pointer, code, format string, args ...any) *Finding {
	return o.add(s, Warning, pointer, code, format, args...)
}

func (o *Outcome) noticef(s *Subject, pointer, code, format string, args ...any) *Finding {
	return o.add(s, Notice, pointer, code, format, args...)
}

// fix sets what would pass.
func (f *Finding) fix(format string, args ...any) { f.Fix = fmt.Sprintf(format, args...) }

// has tells whether a finding of this severity is among the outcome's.
func (o *Outcome) has(sev Severity) bool {
	for _, f := range o.Findings {
		if f.Severity == sev {
			return true
		}
	}
	return false
}
