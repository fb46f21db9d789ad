package verdict

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
)

// ErrUnsaid means that a check said nothing about a subject. That is not a pass.
var ErrUnsaid = errors.New("said nothing")

// Outcome is what a check makes of one subject. It says something by a finding or by one of Pass, Skip and Doubtful;
// without findings above Notice it is then what was said.
type Outcome struct {
	Findings   []Finding
	Skipped    string // why the check does not apply; nothing was judged
	DeferredTo string // the check that failed instead of this one, if Skipped is set
	Doubtful   string // why nothing could be decided, where another check reports the cause
	Verified   string // what was found true, for the report
	Passed     bool
	// Witnesses are the slugs of the peer witnesses whose signatures verified, for the report of a listing.
	Witnesses []string
}

// Pass says that what the check demands holds, and what was verified, which may be left empty.
func Pass(format string, args ...any) Outcome {
	return Outcome{Passed: true, Verified: fmt.Sprintf(format, args...)}
}

// Skip says why the check does not apply.
func Skip(format string, args ...any) Outcome { return Outcome{Skipped: fmt.Sprintf(format, args...)} }

// OrPass returns o, which passes if nothing else was said.
func (o Outcome) OrPass() Outcome {
	o.Passed = true
	return o
}

// Place knows where the members of a subject stand.
type Place interface {
	// Pos is the place of the member that an RFC 6901 JSON Pointer names.
	Pos(pointer string) strict.Pos
}

// At is one place, whatever the pointer. The zero At is the place of what is not in a file: the pointers of its
// findings lead into a document that the rule names.
type At strict.Pos

// Pos returns the place.
func (a At) Pos(string) strict.Pos { return strict.Pos(a) }

// Move appends the findings of another outcome, all at one member of a subject.
func (o *Outcome) Move(at Place, pointer string, from Outcome) {
	for _, f := range from.Findings {
		f.Pos, f.Pointer = at.Pos(pointer), pointer
		o.Findings = append(o.Findings, f)
	}
}

// Add appends a finding at a member of the subject and gives it for a fix to be set.
func (o *Outcome) Add(at Place, severity Severity, pointer, code, format string, args ...any) *Finding {
	o.Findings = append(o.Findings, Finding{Severity: severity, Code: code, Pos: at.Pos(pointer), Pointer: pointer,
		Message: fmt.Sprintf(format, args...)})
	return &o.Findings[len(o.Findings)-1]
}

// Errorf adds an Error.
func (o *Outcome) Errorf(at Place, pointer, code, format string, args ...any) *Finding {
	return o.Add(at, Error, pointer, code, format, args...)
}

// Doubtf adds a Doubt.
func (o *Outcome) Doubtf(at Place, pointer, code, format string, args ...any) *Finding {
	return o.Add(at, Doubt, pointer, code, format, args...)
}

// Warnf adds a Warning.
func (o *Outcome) Warnf(at Place, pointer, code, format string, args ...any) *Finding {
	return o.Add(at, Warning, pointer, code, format, args...)
}

// Noticef adds a Notice.
func (o *Outcome) Noticef(at Place, pointer, code, format string, args ...any) *Finding {
	return o.Add(at, Notice, pointer, code, format, args...)
}

// Has reports whether a finding of this severity is among the outcome's.
func (o *Outcome) Has(severity Severity) bool {
	return slices.ContainsFunc(o.Findings, func(f Finding) bool { return f.Severity == severity })
}

// Verdict returns the verdict of the outcome. The error is ErrUnsaid.
func (o Outcome) Verdict() (Verdict, error) {
	v := Passed
	switch {
	case o.Doubtful != "":
		v = Inconclusive
	case o.Skipped != "":
		v = Skipped
	case !o.Passed && o.Verified == "" && len(o.Findings) == 0:
		return Errored, ErrUnsaid
	}
	return worst(v, o.Findings), nil
}

// maxText is how many characters of a path, a message or a fix are in a report.
const maxText = 4096

// Abridged returns a path as reports have it. Git allows names of megabytes, which a report would repeat for each
// check: a path of more than 4,096 characters is cut, and its SHA-256 keeps it unlike others.
func Abridged(path string) string {
	cut := plain.Cut(path, maxText)
	if cut != path {
		cut += plain.SHA256([]byte(path))
	}
	return cut
}

// Result returns the outcome of the check of that rule on a subject, for the report. Paths are Abridged, and the
// messages and fixes are cut after as many characters. The error wraps ErrUnsaid.
func (o Outcome) Result(rule Rule, subject string) (Result, error) {
	v, err := o.Verdict()
	if err != nil {
		return Result{}, fmt.Errorf("check %s %w of %s", rule.ID, err, subject)
	}
	r := Result{Check: rule.ID, Subject: Abridged(subject), Verdict: v,
		Reason:   cmp.Or(o.Skipped, o.Doubtful, o.Verified),
		Findings: []Finding{}} // an array in JSON, never null
	for _, f := range o.Findings {
		f.Cite = rule.Cite
		f.Path, f.Message, f.Fix = Abridged(f.Path), plain.Cut(f.Message, maxText), plain.Cut(f.Fix, maxText)
		r.Findings = append(r.Findings, f)
	}
	sortFindings(r.Findings)
	return r, nil
}
