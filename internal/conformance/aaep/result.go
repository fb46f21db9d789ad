package aaep

import (
	"fmt"
	"slices"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/conformance"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// Limits of a report. What exceeds them counts as well, and is reported as a sum.
const (
	maxSubjects = 500 // sessions with results of their own
	maxListed   = 500 // findings of one subject and code
)

// said is what was found on one subject.
type said struct {
	subject string
	found   map[*rule][]verdict.Finding
	counts  map[kind]counted
}

// kind is what findings are counted by.
type kind struct {
	check *rule
	code  string
}

// counted is how many findings of a kind there are, and where the first is in the list of its check.
type counted struct{ n, first int }

// lists counts a finding, and reports whether it is listed.
func (s *said) lists(check *rule, code string) bool {
	if s.counts == nil {
		s.found, s.counts = map[*rule][]verdict.Finding{}, map[kind]counted{}
	}
	of, known := s.counts[kind{check, code}]
	if !known {
		of.first = len(s.found[check])
	}
	of.n++
	s.counts[kind{check, code}] = of
	return of.n <= maxListed
}

// outcome returns the findings of a check, and how many more there are than it lists.
func (s *said) outcome(check *rule) verdict.Outcome {
	o := verdict.Outcome{Findings: s.found[check]}
	for _, code := range check.Codes {
		of := s.counts[kind{check, code.ID}]
		more := of.n - maxListed
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
		of.end(func(at place, check *rule, severity verdict.Severity, code, format string, args ...any) {
			if !of.hides(check) {
				s.note(of.said, at, check, severity, "", code, format, args...)
			}
		}, s.broken)
	}
	if s.Level >= 3 && !s.Single {
		s.settle()
	}
	if s.Level >= 2 && !s.Single {
		s.interact()
	}
	if !s.broken {
		s.exercise()
	}
	all := conformance.Tally{Catalogue: catalogue}
	checks := slices.DeleteFunc(s.checks(), func(check *rule) bool { return check.Level >= 3 })
	for i, of := range s.sessions {
		if i == maxSubjects {
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
		folded := len(s.sessions) - maxSubjects
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
			of.broken = s.broken
			of.settle()
			of.ofTerms(&all)
		}
	}
	return append(all.Results, s.plainRows()...), all.Err
}

// checks returns the checks of the level.
func (o Options) checks() []*rule {
	return slices.DeleteFunc(slices.Clone(streamRules), func(r *rule) bool {
		return o.Single && !slices.Contains(alone, r) || !o.Single && r.Level > o.Level
	})
}

// alone are the checks that judge each message by itself.
var alone = []*rule{envelope, schema, summary, urgency, defaultDecision}

// exercise says what the input holds nothing of.
func (s *Stream) exercise() {
	missing := func(check *rule, code, format string, args ...any) {
		s.note(s.own, place{}, check, verdict.Doubt, "", code, format, args...)
	}
	switch {
	case s.Single && s.events == 0 && len(s.own.found[envelope]) == 0:
		missing(envelope, "no-events", "the input has no message")
	case s.events == 0 && !s.Single:
		missing(lifecycle, "no-events", "the input holds no event")
	}
	if s.events == 0 || s.Single {
		return
	}
	hidden := func(check *rule) bool {
		return !slices.ContainsFunc(s.sessions, func(of *session) bool { return !of.hides(check) })
	}
	if s.toolCalls == 0 && !hidden(tools) {
		missing(tools, notExercised, "the input holds no tool call, so that nothing is known of them")
	}
	if s.outputs == 0 && !hidden(output) {
		missing(output, notExercised, "the input holds no output, so that nothing is known of it")
	}
	if s.Level >= 2 && s.irreversible == 0 {
		missing(confirmation, notExercised,
			"no tool.invoked has irreversible: true, so that nothing is known of its confirmation")
	}
	switch {
	case s.Level < 3:
	case !s.subscription.began:
		missing(handshake, notExercised, "the input holds no subscription.request, so that nothing is known of level 3")
	case s.subscription.events == 0:
		missing(handshake, notExercised, "no event of the input comes under a subscription that was accepted")
	}
}

// unshown returns why a check had nothing to decide in a session, or "" if it had.
func (o *session) unshown(check *rule) string {
	switch {
	case o.hides(check):
		return "the subscription's filters remove events that the check needs"
	case check != envelope && !o.core:
		return "the session has only events of extensions"
	case check == state && o.state.n == 0:
		return "the session reports no state"
	case check == tools && o.calls == nil:
		return "the session calls no tool"
	case check == output && o.outputs == nil:
		return "the session streams no output"
	case check == defaultDecision && !o.confirmed:
		return "the session asks for no confirmation"
	case (check == confirmation || check == blocking) && o.acted == 0:
		return "the session takes no irreversible action"
	case check == blocking && o.confirmedCalls == 0:
		return "no irreversible action of the session was asked for"
	case check == resolution && o.answered == 0:
		return "no question of the session was answered"
	}
	return ""
}

// shown returns what a check looked at in a session.
func (o *session) shown(check *rule) string {
	switch check {
	case state:
		return plain.Count(int(o.state.n), "change") + " of state"
	case confirmation:
		return plain.Count(int(o.acted), "irreversible tool call")
	case blocking:
		return plain.Count(int(o.confirmedCalls), "irreversible tool call") + " with a confirmation"
	case resolution:
		return plain.Count(int(o.answered), "answered question")
	}
	return plain.Count(int(o.events), "event")
}
