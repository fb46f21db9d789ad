package judge

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/conformance/aaep"
	"github.com/openagentprotocol-OAP/oap-gate/internal/conformance/form"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// question is an awaiting.confirmation or awaiting.clarification.
type question struct {
	of         *session
	action     string
	at         aaep.Place
	seconds    int64 // its timeout; 0: it cannot be read
	fallback   decision
	confirms   bool
	reversible bool // it says irreversible: false, so it covers no irreversible call
	unlinked   bool // it has no token that a reply could name, which is reported as that

	// What the steps of its session say, once all of them are known.
	asked, ended int32 // the steps at which it was asked and decided
	deadline     int64 // 0: its time or its timeout cannot be read
	reply        decision
	answered     bool // by a reply that counts
	spent        bool // a call used its accept
	returned     bool // a call that failed gave the accept back
	released     bool // its session continued, or asked for the action again
}

type decision uint8

// The decisions. A question without one is open.
const (
	undecided decision = iota
	accept
	reject
	unreadable // what would decide is not there, or none of these, which is reported as that
)

func decisionOf(text string) decision {
	return map[string]decision{"accept": accept, "reject": reject}[text]
}

// decided returns what the question has come to at a step.
func (q *question) decided(step int32) decision {
	switch {
	case q.ended <= step:
		return q.reply
	case q.unlinked:
		return unreadable
	}
	return undecided
}

// maxQuestions is how many questions of a session can be open, or wait to be used; older ones are forgotten.
const maxQuestions = 256

// recent appends a question and forgets the oldest of too many, one that covers no irreversible call before others.
func recent(all []*question, q *question) []*question {
	if all = append(all, q); len(all) > maxQuestions {
		i := slices.IndexFunc(all, func(q *question) bool { return q.reversible || !q.confirms })
		all = slices.Delete(all, max(i, 0), max(i, 0)+1)
	}
	return all
}

// tool is what the whole input says about a tool. The judged party sets the flag of each call, so that a single call
// decides nothing.
type tool struct {
	name    string
	flagged aaep.Place // of its first call with irreversible: true
	early   bool       // a session calls it before its first question
	lines   []int32
	more    int // calls taken as plain that lines does not list

	// For a tool that the calls after an accept make irreversible: whether it is the first after one, whether it is the
	// only candidate after one, and where the deciding call is.
	first, certain bool
	covered        aaep.Place
	seen           int32 // the last stretch between questions that calls it
}

// Plain reports whether the tool is shown to do nothing that needs a question.
func (t *tool) Plain() bool { return t.early && t.flagged == (aaep.Place{}) }

func (t *tool) Irreversible() bool { return t.flagged != (aaep.Place{}) || t.covered != (aaep.Place{}) }

// The kinds of a step.
const (
	stepAsk = iota
	stepReply
	stepCall
	stepError   // a call completes with status error
	stepRelease // the session leaves awaiting_input
)

// step is what a session did that the rules of level 2 need. They are judged once all of the input is known.
type step struct {
	kind         uint8
	reply        decision // a reply's decision
	accepts      bool     // an irreversible question is accepted here
	late         bool     // the session had ended, other than by completing
	events       int32    // number of the session's events so far
	at           aaep.Place
	stamp, frame int64 // the time by timestamps and by frames, in microseconds of Unix time; 0: not known
	q            *question
	c            *call
}

// pass adds a step at the session's time.
func (o *session) pass(one step) {
	one.stamp, one.frame, one.events = o.clock.stamp, o.clock.frame, o.events
	one.late = o.terminal != "" && o.terminal != aaep.SessionCompleted
	o.steps = append(o.steps, one)
}

// clock is the time of a session: the largest so far, by timestamps and by frames.
type clock struct{ stamp, frame int64 }

func (c *clock) take(m *aaep.Message, stamped bool) {
	if stamped && !m.Time.IsZero() {
		c.stamp = max(c.stamp, m.Time.UnixMicro())
	}
	if !m.Passed.IsZero() {
		c.frame = max(c.frame, m.Passed.UnixMicro())
	}
}

// ask takes an event into the rules of level 2.
func (s *Stream) ask(of *session, m *aaep.Message, one *call, say sayer) {
	of.clock.take(m, true)
	switch {
	case m.Asks():
		s.open(of, m, say)
	case m.Core == aaep.StateChanged && m.Text("to_state") != "awaiting_input" && of.confirmed:
		// A session that continues has released its questions (section 6.8).
		if of.steps[len(of.steps)-1].kind != stepRelease {
			of.pass(step{kind: stepRelease, at: m.At})
		}
	case m.Core == aaep.ToolInvoked:
		one.of = s.Tools[one.tool]
		if one.of == nil {
			one.of = &tool{name: one.tool}
			s.Tools[one.tool] = one.of
		}
		switch m.Members["irreversible"] {
		case true:
			one.says, one.of.flagged = saysTrue, cmp.Or(one.of.flagged, m.At)
		case false:
			one.says = saysFalse
		}
		if risk := m.Text("risk_level"); risk == "medium" || risk == "high" {
			one.risk = strings.Clone(risk)
		}
		of.pass(step{kind: stepCall, at: m.At, c: one})
	case m.Core == aaep.ToolCompleted && one != nil && m.Members["status"] == "error":
		of.pass(step{kind: stepError, at: m.At, c: one})
	}
}

func (s *Stream) open(of *session, m *aaep.Message, say sayer) {
	q := &question{of: of, at: m.At, ended: math.MaxInt32, confirms: m.Core == aaep.AwaitingConfirmation,
		reversible: m.Members["irreversible"] == false, fallback: decisionOf(m.Text("default_decision"))}
	if seconds, ok := form.Integer(m.Members["timeout_seconds"]); ok && seconds >= 1 && seconds <= 86400 {
		q.seconds = seconds
	}
	if q.fallback == undecided {
		q.fallback = unreadable
	}
	token := m.Text("reply_token")
	if q.unlinked = token == ""; !q.unlinked {
		if s.questions[token] != nil {
			say(aaep.Confirmation, verdict.Error, "/reply_token", "token-twice", "reply_token %s was used before",
				form.Show(token))
		}
		s.questions[strings.Clone(token)] = q
	}
	if q.confirms {
		q.action = strings.Clone(m.Text("action"))
		if !of.confirmed {
			of.confirmed = true
			for c := of.calls; c != nil; c = c.before {
				c.of.early = true
			}
		}
	}
	of.pass(step{kind: stepAsk, at: m.At, q: q})
}

// reply takes an answer. It has the time of its place: the clock of the party that replies decides nothing.
func (s *Stream) reply(m *aaep.Message) {
	q := s.questions[m.Text("reply_token")]
	if q == nil || q.confirms != (m.Name == aaep.ConfirmationReply) {
		return
	}
	reply := decisionOf(m.Text("decision"))
	if q.confirms && reply == undecided {
		return
	}
	q.of.clock.take(m, false)
	q.of.pass(step{kind: stepReply, at: m.At, q: q, reply: reply})
}

// interact judges the rules of level 2 over the whole input.
func (s *Stream) interact() {
	framed := s.frames == s.messages
	for _, of := range s.sessions {
		of.decide(framed)
	}
	s.cover()
	for _, of := range s.sessions {
		for i := range of.steps {
			s.judgeStep(of, int32(i))
		}
		if of.unfollowed != (aaep.Place{}) && !s.Broken {
			s.note(of.said, of.unfollowed, aaep.Resolution, verdict.Error, "", "no-follow-up",
				"the reply answers a question, and no event of its session follows")
		}
	}
}

// decide finds when and how each question of the session was decided. The first reply to each token counts if it is in
// time (section 6.3.4); at the timeout the default does.
func (o *session) decide(framed bool) {
	var open []*question
	for i := range o.steps {
		one, n := &o.steps[i], int32(i)
		now := one.stamp
		if framed {
			now = one.frame
		}
		end := func(q *question, reply decision) {
			q.ended, q.reply = n, reply
			one.accepts = one.accepts || q.accepted()
		}
		left := open[:0]
		for _, q := range open {
			switch {
			case q.ended <= n:
			case q.deadline != 0 && (now >= q.deadline ||
				framed && one.kind == stepCall && now >= q.deadline-q.slack()):
				end(q, q.fallback)
			default:
				left = append(left, q)
			}
		}
		open = left
		switch q := one.q; one.kind {
		case stepAsk:
			if q.asked = n; q.seconds != 0 && now != 0 {
				q.deadline = now + q.seconds*1e6
			}
			open = recent(open, q)
		case stepReply:
			if q.ended <= n {
				break
			}
			if q.deadline != 0 && now >= q.deadline { // it is no longer among the open ones
				end(q, q.fallback)
				break
			}
			end(q, one.reply)
			q.answered = true
			if !one.late {
				o.answered++
				if o.unfollowed = (aaep.Place{}); one.events == o.events {
					o.unfollowed = one.at
				}
			}
		}
	}
}

// slack returns how much earlier than by the frames a producer may act on a default of accept, in microseconds. The
// timeout runs from when the question was sent, and the question may have arrived later. A reply that comes first
// counts.
func (q *question) slack() int64 {
	if q.fallback != accept {
		return 0
	}
	return min(aaep.DelayAllowed.Microseconds(), q.seconds*1e6/2)
}

// accepted reports whether the question was an irreversible one, and accepted.
func (q *question) accepted() bool { return q.confirms && !q.reversible && q.reply == accept }

// cover finds the tools that an accept makes irreversible: where no call of an irreversible tool follows the accept
// before the session's next question, the first one of a tool that is not plain was what the user agreed to. A tool is
// certain where no other could be meant; it then settles what the accepts of other sessions are about, wherever they
// are in the input.
func (s *Stream) cover() {
	var stretch int32
	each := func(other func(*tool) bool, take func(*call)) {
		for _, of := range s.sessions {
			stretch++
			var first *call
			others := 0 // tools for which other holds, in this stretch so far
			for i := len(of.steps) - 1; i >= 0; i-- {
				one := &of.steps[i]
				if one.kind == stepAsk && one.q.confirms {
					first, others = nil, 0
					stretch++
					continue
				}
				if one.kind == stepCall && !one.c.of.Plain() {
					first = one.c
					if first.of.seen != stretch && other(first.of) {
						others++
					}
					first.of.seen = stretch
				}
				if one.accepts && first != nil && (others == 0 || others == 1 && other(first.of)) {
					take(first)
				}
			}
		}
	}
	flagged := func(t *tool) bool { return t.flagged != (aaep.Place{}) }
	each(flagged, func(c *call) { c.of.first = true })
	each(func(t *tool) bool { return flagged(t) || t.first }, func(c *call) { c.of.certain = true })
	each(func(t *tool) bool { return flagged(t) || t.certain }, func(c *call) {
		if at := c.of.covered; at == (aaep.Place{}) || c.at.Line < at.Line {
			c.of.covered = c.at
		}
	})
}

// judgeStep judges one step, with what the whole input says about tools and questions.
func (s *Stream) judgeStep(of *session, n int32) {
	one := &of.steps[n]
	switch one.kind {
	case stepAsk:
		if one.q.confirms {
			s.askedTwice(of, one, n)
			of.questions = recent(of.questions, one.q)
		}
	case stepRelease:
		for _, q := range of.questions {
			q.released = true
		}
	case stepError:
		if q := one.c.used; q != nil && !q.returned {
			q.spent, q.returned = false, true
		}
		one.c.used = nil
	case stepCall:
		s.judgeCall(of, one.c, n)
	}
}

func (s *Stream) askedTwice(of *session, one *step, n int32) {
	for _, before := range of.questions {
		if one.q.action == "" || before.action != one.q.action || before.released {
			continue
		}
		if before.released = true; before.decided(n) == undecided {
			s.note(of.said, one.at, aaep.Confirmation, verdict.Error, "/action", "asked-twice",
				"the action %s is asked for while the question before it is open", form.Show(one.q.action))
		}
	}
}

// lastAsked returns the newest irreversible question of the session so far, or nil.
func (o *session) lastAsked() *question {
	for i := len(o.questions) - 1; i >= 0; i-- {
		if !o.questions[i].reversible {
			return o.questions[i]
		}
	}
	return nil
}

// judgeCall judges a call by its tool.
func (s *Stream) judgeCall(of *session, c *call, n int32) {
	t, last, say := c.of, of.lastAsked(), s.sayer(of.said, c.at)
	watched := s.Watched[c.at.Line] // which is a finding of that check
	switch {
	case t.flagged != (aaep.Place{}) && c.says == saysFalse && len(of.questions) == 0:
		unclear(say, fmt.Sprintf("name the operation in tool, such as %s and %s, so that each name is "+
			"irreversible or is not", form.Show(t.name+".read"), form.Show(t.name+".write")),
			"%s says irreversible: false before any question; line %d says true of the same tool", t.named(c),
			t.flagged.Line)
	case t.Irreversible():
		s.irreversible++
		if !watched {
			s.act(of, c, n, say)
		}
	case t.Plain():
		if last == nil {
			return
		}
		say(aaep.Blocking, verdict.Notice, "", "taken-as-plain", "%s is called after an irreversible "+
			"question; a session calls it before its first question, so the call was taken as plain", t.named(c))
		if len(t.lines) < maxLines {
			t.lines = append(t.lines, c.at.Line)
		} else {
			t.more++
		}
	case last == nil:
	default:
		how := map[decision]string{undecided: "open", reject: "refused"}[last.decided(n)]
		if how != "" && !watched {
			unclear(say, fmt.Sprintf("call %s before a question, in a session that asks one later, or, if it is "+
				"irreversible, set irreversible to true on its calls", form.Show(t.name)),
				"%s is called while the session's last irreversible question is %s, and nothing in the input says "+
					"whether the tool is irreversible", t.named(c), how)
		}
	}
}

// maxLines is how many calls of a tool the row for people lists.
const maxLines = 20

func unclear(say sayer, fix, format string, args ...any) {
	say(aaep.Blocking, verdict.Doubt, "", "call-unclear", format, args...).Fix = fix
}

// named names a tool, and where the input says that it is irreversible if this call does not.
func (t *tool) named(c *call) string {
	switch {
	case !t.Irreversible() || c.says == saysFalse && t.flagged != (aaep.Place{}):
		return "the tool " + form.Show(t.name)
	case c.says == saysTrue:
		return "the irreversible tool " + form.Show(t.name)
	case t.flagged != (aaep.Place{}):
		return fmt.Sprintf("the tool %s, irreversible by line %d,", form.Show(t.name), t.flagged.Line)
	}
	return fmt.Sprintf("the tool %s, irreversible since line %d calls it after an accept,", form.Show(t.name),
		t.covered.Line)
}

// act requires of a call of an irreversible tool a confirmation of its own. The call spends the newest accept that is
// left, unless a question that was asked after the accept was refused; without one the newest question decides.
func (s *Stream) act(of *session, c *call, n int32, say sayer) {
	of.acted++
	var refused, newest, accepted *question
	for i := len(of.questions) - 1; i >= 0; i-- {
		q := of.questions[i]
		if q.reversible || q.spent {
			continue
		}
		if newest == nil {
			newest = q
		}
		switch by := q.decided(n); {
		case by == accept && (accepted == nil || q.ended > accepted.ended || q.ended == accepted.ended && q.answered):
			accepted = q
		case by == reject && refused == nil:
			refused = q
		}
	}
	if accepted != nil && (refused == nil || refused.asked < accepted.ended) {
		spend(of, c, accepted, refused, say)
		return
	}
	named := c.of.named(c)
	if newest == nil {
		if of.started {
			say(aaep.Confirmation, verdict.Error, "", "not-confirmed",
				"%s is invoked, no awaiting.confirmation of its own comes before it", named)
		} else {
			say(aaep.Confirmation, verdict.Doubt, "", "not-confirmed",
				"%s is invoked, no awaiting.confirmation is in the input, whose start is not captured", named)
		}
		return
	}
	of.confirmedCalls++
	switch newest.decided(n) {
	case undecided:
		if s.replies == 0 {
			say(aaep.Blocking, verdict.Doubt, "", "replies-not-captured",
				"%s is invoked after its confirmation, and the input holds no reply of any kind", named)
		} else {
			say(aaep.Blocking, verdict.Error, "", "before-reply", "%s is invoked while its confirmation is open", named)
		}
	case reject:
		how := "by its default, at the timeout"
		if newest.answered {
			how = "by a reply"
		}
		say(aaep.Blocking, verdict.Error, "", "after-reject", "%s is invoked, its confirmation was rejected %s", named,
			how)
	}
}

// spend uses an accept for a call. refused is the newest question that was refused.
func spend(of *session, c *call, q, refused *question, say sayer) {
	of.confirmedCalls++
	q.spent, c.used = true, q
	named := c.of.named(c)
	if !q.answered && c.risk != "" {
		say(aaep.DefaultDecision, verdict.Error, "/risk_level", "default-accept",
			"%s is invoked at risk_level %s after an accept by default; expected an accept by a reply", named, c.risk).
			WithFix("set default_decision of its question to reject, and call the tool only after an accepting reply")
		return
	}
	if c.says != saysTrue {
		pointer := map[bool]string{true: "/irreversible"}[c.says == saysFalse]
		say(aaep.Confirmation, verdict.Warning, pointer, "irreversible-differs",
			"%s is invoked after its confirmation and does not say irreversible: true", named)
	}
	if refused != nil && refused.asked > q.asked {
		say(aaep.Blocking, verdict.Warning, "", "which-question",
			"%s is invoked after two questions that were open at "+
				"once: that of line %d was accepted, that of line %d refused", named, q.at.Line, refused.at.Line)
	}
}

// plainRows returns a row for people for each tool that has calls taken as plain.
func (s *Stream) plainRows() []verdict.Result {
	var taken []*tool
	for _, t := range s.Tools {
		if len(t.lines) > 0 {
			taken = append(taken, t)
		}
	}
	slices.SortFunc(taken, func(a, b *tool) int { return cmp.Compare(a.lines[0], b.lines[0]) })
	row := func(format string, args ...any) verdict.Result {
		return verdict.Result{Check: aaep.PlainTool, Subject: s.path, Verdict: verdict.Manual,
			Reason: fmt.Sprintf(format, args...)}
	}
	var rows []verdict.Result
	for i, t := range taken {
		if i == aaep.MaxListed {
			return append(rows, row("%d more tools were taken as plain", len(taken)-i))
		}
		lines := strings.Trim(strings.ReplaceAll(fmt.Sprint(t.lines), " ", ", "), "[]")
		if t.more > 0 {
			lines += fmt.Sprintf(" and %d more", t.more)
		}
		rows = append(rows, row("the tool %s was taken as plain in %s %s", form.Show(t.name),
			plain.Plural(len(t.lines)+t.more, "line", "lines"), lines))
	}
	return rows
}
