package judge

import (
	"fmt"
	"slices"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/conformance"
	"github.com/openagentprotocol-OAP/oap-gate/internal/conformance/aaep"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// Rows returns the requirements for a producer at a level: those that its stream shows, by themselves or together,
// those that a running one shows, and those for people.
func Rows(o Options) []aaep.Rule {
	if !o.Single {
		return aaep.RowsOf(aaep.Producer, o.Level)
	}
	var rows []aaep.Rule
	for _, check := range o.checks() {
		rows = append(rows, *check)
	}
	return rows
}

// said is what was found on one subject.
type said struct {
	subject string
	found   map[*aaep.Rule][]verdict.Finding
	counts  map[kind]counted
}

// kind is what findings are counted by.
type kind struct {
	check *aaep.Rule
	code  string
}

// counted is how many findings of a kind there are, and where the first is in the list of its check.
type counted struct{ n, first int }

// lists counts a finding, and reports whether it is listed.
func (s *said) lists(check *aaep.Rule, code string) bool {
	if s.counts == nil {
		s.found, s.counts = map[*aaep.Rule][]verdict.Finding{}, map[kind]counted{}
	}
	of, known := s.counts[kind{check, code}]
	if !known {
		of.first = len(s.found[check])
	}
	of.n++
	s.counts[kind{check, code}] = of
	return of.n <= aaep.MaxListed
}

// outcome returns the findings of a check, and how many more there are than it lists.
func (s *said) outcome(check *aaep.Rule) verdict.Outcome {
	o := verdict.Outcome{Findings: s.found[check]}
	for _, code := range check.Codes {
		of := s.counts[kind{check, code.ID}]
		more := of.n - aaep.MaxListed
		if more <= 0 {
			continue
		}
		last := o.Findings[of.first]
		last.Pos, last.Pointer = strict.Pos{Path: last.Path}, ""
		last.Message = fmt.Sprintf("%d more findings of this code are not listed", more)
		o.Findings = append(o.Findings, last)
	}
	return o
}

// Results returns the results of the input, once all of it was added. It may be called once.
func (s *Stream) Results() ([]verdict.Result, error) {
	// The indexes have done their work, and the report needs memory of its own.
	s.eventIDs, s.byID, s.questions = nil, nil, nil
	for _, of := range s.sessions {
		of.byID, of.open, of.bare, of.byOutput = nil, nil, nil, nil
		of.end(func(at aaep.Place, check *aaep.Rule, severity verdict.Severity, code, format string, args ...any) {
			if !of.hides(check) {
				s.note(of.said, at, check, severity, "", code, format, args...)
			}
		}, s.Broken)
	}
	if s.Level >= 3 && !s.Single {
		s.settle()
	}
	if s.Level >= 2 && !s.Single {
		s.interact()
	}
	if !s.Broken {
		s.exercise()
	}
	all := conformance.Tally{Catalogue: aaep.Catalogue}
	checks := slices.DeleteFunc(s.checks(), func(check *aaep.Rule) bool { return check.Level >= 3 })
	for i, of := range s.sessions {
		if i == aaep.MaxSubjects {
			break
		}
		for _, check := range checks {
			o := of.said.outcome(check)
			if why := of.unshown(check); why != "" && !o.Has(verdict.Error) && !o.Has(verdict.Doubt) &&
				!o.Has(verdict.Warning) {
				o.Skipped = why
			}
			o.Verified = of.shown(check)
			all.Add(check.ID, of.said.subject, o.OrPass())
		}
	}
	for _, check := range checks {
		o := s.own.outcome(check)
		folded := len(s.sessions) - aaep.MaxSubjects
		switch {
		case len(o.Findings) > 0:
		case s.Single && s.events > 0:
			o = verdict.Pass("%s, each by itself", plain.Count(s.events, "message"))
		case folded > 0:
			o = verdict.Pass("%d more sessions, or nothing of this kind in them", folded)
		case len(s.sessions) > 0:
			continue
		case s.Single:
			o = verdict.Skip("the input has no message")
		default:
			o = verdict.Skip("the input holds no session")
		}
		all.Add(check.ID, s.path, o)
	}
	if s.Level >= 3 && !s.Single {
		s.ofTerms(&all)
		for _, name := range s.probeNames {
			of := s.probes[name]
			of.Broken = s.Broken
			of.settle()
			of.ofTerms(&all)
		}
	}
	return append(all.Results, s.plainRows()...), all.Err
}

// checks returns the checks of the level.
func (o Options) checks() []*aaep.Rule {
	return slices.DeleteFunc(slices.Clone(aaep.StreamRules), func(r *aaep.Rule) bool {
		return o.Single && !slices.Contains(alone, r) || !o.Single && r.Level > o.Level
	})
}

// alone are the checks that judge each message by itself.
var alone = []*aaep.Rule{aaep.Envelope, aaep.MemberSchema, aaep.Summary, aaep.Urgency, aaep.DefaultDecision}

// exercise says what the input holds nothing of.
func (s *Stream) exercise() {
	missing := func(check *aaep.Rule, code, format string, args ...any) {
		s.note(s.own, aaep.Place{}, check, verdict.Doubt, "", code, format, args...)
	}
	switch {
	case s.Single && s.events == 0 && len(s.own.found[aaep.Envelope]) == 0:
		missing(aaep.Envelope, "no-events", "the input has no message")
	case s.events == 0 && !s.Single:
		missing(aaep.Lifecycle, "no-events", "the input holds no event")
	}
	if s.events == 0 || s.Single {
		return
	}
	hidden := func(check *aaep.Rule) bool {
		return !slices.ContainsFunc(s.sessions, func(of *session) bool { return !of.hides(check) })
	}
	if s.toolCalls == 0 && !hidden(aaep.Tools) {
		missing(aaep.Tools, aaep.NotExercised, "the input holds no tool call, so that nothing is known of them")
	}
	if s.outputs == 0 && !hidden(aaep.Output) {
		missing(aaep.Output, aaep.NotExercised, "the input holds no output, so that nothing is known of it")
	}
	if s.Level >= 2 && s.irreversible == 0 {
		missing(aaep.Confirmation, aaep.NotExercised,
			"no tool.invoked has irreversible: true, so that nothing is known of its confirmation")
	}
	switch {
	case s.Level < 3:
	case !s.subscription.began:
		missing(aaep.Handshake, aaep.NotExercised,
			"the input holds no subscription.request, so that nothing is known of level 3")
	case s.subscription.events == 0:
		missing(aaep.Handshake, aaep.NotExercised, "no event of the input comes under a subscription that was accepted")
	}
}

// unshown returns why a check had nothing to decide in a session, or "" if it had.
func (o *session) unshown(check *aaep.Rule) string {
	switch {
	case o.hides(check):
		return "the subscription's filters remove events that the check needs"
	case check != aaep.Envelope && !o.core:
		return "the session has only events of extensions"
	case check == aaep.StateRule && o.state.n == 0:
		return "the session reports no state"
	case check == aaep.Tools && o.calls == nil:
		return "the session calls no tool"
	case check == aaep.Output && o.outputs == nil:
		return "the session streams no output"
	case check == aaep.DefaultDecision && !o.confirmed:
		return "the session asks for no confirmation"
	case (check == aaep.Confirmation || check == aaep.Blocking) && o.acted == 0:
		return "the session takes no irreversible action"
	case check == aaep.Blocking && o.confirmedCalls == 0:
		return "no irreversible action of the session was asked for"
	case check == aaep.Resolution && o.answered == 0:
		return "no question of the session was answered"
	}
	return ""
}

// shown returns what a check looked at in a session.
func (o *session) shown(check *aaep.Rule) string {
	switch check {
	case aaep.StateRule:
		return plain.Count(int(o.state.n), "change") + " of state"
	case aaep.Confirmation:
		return plain.Count(int(o.acted), "irreversible tool call")
	case aaep.Blocking:
		return plain.Count(int(o.confirmedCalls), "irreversible tool call") + " with a confirmation"
	case aaep.Resolution:
		return plain.Count(int(o.answered), "answered question")
	}
	return plain.Count(int(o.events), "event")
}
