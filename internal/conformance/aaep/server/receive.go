package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strconv"

	"github.com/openagentprotocol-OAP/oap-gate/internal/conformance/aaep"
	"github.com/openagentprotocol-OAP/oap-gate/internal/conformance/form"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// answered judges a reply to a question, and reports whether it counts. Its caller holds the lock.
func (r *hosting) answered(q *posed, m *aaep.Message) (counts bool) {
	check, line, title := q.scene.play.check, r.line, q.scene.title()
	q.replies++
	if q.replies > 1 {
		if q.repeated {
			r.noteAt(line, check, verdict.Error, "", "answered-twice",
				"the question of the play %s came twice with one event_id, and has two replies", title)
		} else {
			r.noteAt(line, aaep.SubReply, verdict.Warning, "", "answered-twice",
				"the question of the play %s has two replies", title)
		}
		return false
	}
	if q.code != "" {
		what := map[string]string{"answered-invalid": "the question lacks a member of its envelope",
			"answered-unasked":   "the tester was asked not to answer",
			"answered-withdrawn": "the session had gone on, which withdraws the question",
			"answered-stale":     "the session had gone on, by the sequence_number of the events"}[q.code]
		r.noteAt(line, check, verdict.Error, "", q.code, "a reply came in the play %s; %s", title, what)
		return false
	}
	late := r.Now().After(q.due)
	if late {
		where := aaep.SubReply
		if check == aaep.SubClarify {
			where = aaep.SubClarify
		}
		r.noteAt(line, where, verdict.Warning, "", "late-reply",
			"the reply in the play %s came more than %v after the question", title, r.Timeout)
	}
	if q.confirms != (m.Name == aaep.ConfirmationReply) {
		r.noteAt(line, aaep.SubReply, verdict.Error, "/type", "member-value",
			"type is %s, which does not answer the question of the play %s", form.Show(m.Name), title)
		return false
	}
	if q.confirms {
		got := m.Text("decision")
		if !late {
			q.got = got
		}
		severity := verdict.Error
		if q.decision == "accept" {
			severity = verdict.Doubt // the tester may not have wanted to
		}
		if q.decision != "" && got != q.decision && (got == "accept" || got == "reject") {
			r.noteAt(line, aaep.SubReply, severity, "/decision", "other-decision",
				"decision is %s in the play %s; the tester was asked to %s", form.Show(got), title, q.decision)
		}
		return !late
	}
	r.responds(q, m.Members["response"], title)
	return !late
}

// responds judges the response to a clarification. Its caller holds the lock.
func (r *hosting) responds(q *posed, v any, title string) {
	_, isNumber := v.(json.Number)
	text, isText := v.(string)
	_, isBool := v.(bool)
	if !isNumber && !isBool && text == "" {
		return // see judge
	}
	want, ok := "a text", isText
	switch q.kind {
	case "yes_no":
		want, ok = "true or false", isBool
	case "numeric":
		want, ok = "a number", isNumber
	}
	switch {
	case !ok:
		r.noteAt(r.line, aaep.SubClarify, verdict.Error, "/response", "response-kind",
			"response is %s in the play %s; expected %s", form.Show(v), title, want)
	case q.kind == "multiple_choice" && text != "a" && text != "b":
		r.noteAt(r.line, aaep.SubClarify, verdict.Error, "/response", "response-choice",
			"response is %s in the play %s; expected one of the choices, a or b", form.Show(v), title)
	}
}

// judge judges the members of a message of the subscriber. Its caller holds the lock.
func (r *hosting) judge(check *aaep.Rule, m *aaep.Message, line int) {
	aaep.JudgeMembers(nil, m.Name, m.Name, m.Members, func(_ *aaep.Rule, severity verdict.Severity, pointer, code,
		format string, args ...any) *verdict.Finding {
		return r.noteAt(line, check, severity, pointer, code, format, args...)
	})
}

// declares judges whether capabilities say that the subscriber can reply. A renegotiation may leave that out. Its
// caller holds the lock.
func (r *hosting) declares(m *aaep.Message, line int, again bool) {
	inner, is := m.Members["capabilities"].(aaep.Object)
	v, there := inner["supports_confirmation_reply"]
	if !is || v == true || again && !there {
		return
	}
	what := "is missing from the capabilities"
	if there {
		what = "is " + form.Show(v)
	}
	r.noteAt(line, aaep.SubReply, verdict.Error, "/capabilities", "no-reply-capability",
		"supports_confirmation_reply %s; expected true", what)
}

// answer is what the host answers to a message of the subscriber.
type answer struct {
	data  []byte // nil: no message
	grant *grant // terms of a request; nil: it was rejected
}

// receive takes a message that came over a link, or by a request of its own if that is nil, and sends the answer over
// the link: no event may come between. It reports whether the message counts: it may be another subscriber's, or
// nothing that can be read.
func (r *hosting) receive(l *connection, data []byte, asks bool) (a answer, counts bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	defer r.signal()
	defer func() {
		if l != nil && a.data != nil && !l.left {
			r.push(l, packet{data: a.data})
		}
	}()
	document, err := strict.Parse("", data, aaep.Limits)
	var m *aaep.Message
	if err == nil && aaep.IsObject(document.Root) {
		m = aaep.NewMessage(aaep.Place{}, document.Root.(aaep.Object))
	}
	if r.over || r.strange(l, m) {
		if !r.over && m != nil && asks && m.Name == aaep.SubscriptionRequested {
			return r.request(nil, m, 0), true
		}
		return a, false
	}
	r.sign = r.Now()
	r.received, r.messages = r.received+len(data), r.messages+1
	if r.received > maxReceived || r.messages > maxMessages {
		if l = r.link; l != nil {
			r.noteAt(r.line, aaep.SubTransport, verdict.Error, "", "stream-too-large",
				"the subscriber sent more than %d messages, or more than %d MiB with the answers", maxMessages,
				maxReceived>>20)
			r.full = true
			r.leave(l, "it sent too much")
		}
		return a, false
	}
	r.record(aaep.Subscriber, data)
	switch {
	case m == nil:
		what := "not a JSON object"
		if e, ok := errors.AsType[*strict.Error](err); ok {
			what = e.Message // its position is within the message, which has no name
		}
		r.noteAt(r.line, aaep.SubReply, verdict.Error, "", "not-an-object",
			"a message of the subscriber cannot be read: %s",
			what)
		return a, false
	case m.Foreign:
		return a, true
	}
	switch m.Name {
	case aaep.SubscriptionRequested:
		if !asks {
			return a, false
		}
		a = r.request(l, m, r.line)
		r.recordAnswer(a)
		if l != nil && a.grant != nil {
			r.use(l, a.grant)
		}
		return a, true
	case aaep.SubscriptionRenegotiated:
		return r.renegotiate(m)
	case aaep.SubscriptionClosed:
		r.judge(aaep.SubHandshake, m, r.line)
		g := r.granted[m.Text("subscription_id")]
		if g == nil {
			return a, false
		}
		if g.closed = true; g.signed && !r.proven {
			r.refuses()
		}
		return a, true
	case aaep.ConfirmationReply, aaep.ClarificationReply:
		return a, r.reply(m)
	}
	return a, false
}

// strange reports whether a message is not the subscriber's: it came by another way than the subscriber's messages, or
// names the subscription of another. Its caller holds the lock.
func (r *hosting) strange(l *connection, m *aaep.Message) bool {
	switch {
	case l != nil || r.link == nil:
		return false
	case r.link.ws != nil:
		return true
	case m == nil:
		return false
	case m.Name == aaep.SubscriptionRequested:
		return true
	}
	g := r.granted[m.Text("subscription_id")]
	return g != nil && !g.used
}

// request answers a request. Its line is that of the capture, 0 if it is not there. Its caller holds the lock.
func (r *hosting) request(l *connection, m *aaep.Message, line int) (a answer) {
	if len(r.granted) >= maxRequests {
		return answer{data: aaep.Marshaled(aaep.Object{"type": aaep.SubscriptionRejected, "reason_code": "rate_limit",
			"reason_message": fmt.Sprintf("The run has had %d subscriptions.", maxRequests)})}
	}
	inner, _ := m.Members["capabilities"].(aaep.Object)
	g := &grant{id: fmt.Sprintf("sub_%sx%d", r.run, len(r.granted)+1), request: m, line: line, asked: maps.Clone(inner)}
	r.granted[g.id] = g
	if inner["accept_signed_manifests_only"] == true {
		if r.requires = true; len(r.forgeries) > 0 && line > 0 {
			g.forged, r.forgeries = r.forgeries[0], r.forgeries[1:]
		}
		g.signed = g.forged == ""
	}
	return answer{r.accept(g), g}
}

// accept returns the message that accepts a subscription by its terms, which it sets. Its caller holds the lock.
func (r *hosting) accept(g *grant) []byte {
	honors := aaep.Object{}
	of := aaep.Shapes()[aaep.CapabilitiesName]
	for _, name := range of.Names() {
		if v, there := g.asked[name]; there && of.Member(name).Holds(v) {
			honors[name] = v
		}
	}
	if r.Level >= 3 { // less than was requested
		lower := int64(10)
		if asked, ok := form.Integer(honors["max_events_per_second"]); ok {
			lower = max(asked/2, 1)
		}
		honors["max_events_per_second"] = json.Number(strconv.FormatInt(lower, 10))
	}
	g.honored = aaep.Defaults().With(honors)
	g.bucket = aaep.NewBucket(g.honored.Rate, float64(g.honored.Rate), r.Now())
	accepted := aaep.Object{"type": aaep.SubscriptionAccepted, "subscription_id": g.id, "aaep_version": aaep.Version,
		"producer": aaep.Object{"agent_id": agentID}, "honored_capabilities": honors}
	if g.forged != "" || g.signed {
		accepted["signed_manifest"] = r.signManifest(g.forged)
	} else {
		accepted["manifest_uri"] = r.endpoint + "/.well-known/aaep-manifest.json"
	}
	return aaep.Marshaled(accepted)
}

// renegotiate answers a renegotiation. Its caller holds the lock.
func (r *hosting) renegotiate(m *aaep.Message) (a answer, counts bool) {
	r.judge(aaep.SubHandshake, m, r.line)
	r.declares(m, r.line, true)
	g := r.granted[m.Text("subscription_id")]
	if g == nil {
		a.data = aaep.Marshaled(aaep.Object{"type": aaep.SubscriptionRejected, "reason_code": "unknown",
			"reason_message": "The subscription is not known."})
	} else {
		inner, _ := m.Members["capabilities"].(aaep.Object)
		if g.asked == nil {
			g.asked = aaep.Object{}
		}
		maps.Copy(g.asked, inner)
		a.data = r.accept(g)
	}
	r.recordAnswer(a)
	return a, true
}

// recordAnswer records an answer. It counts as received: a short message may ask for a long answer. Its caller holds
// the lock.
func (r *hosting) recordAnswer(a answer) {
	r.received += len(a.data)
	r.record(aaep.Producer, a.data)
}

// reply judges an answer to a question. Its caller holds the lock.
func (r *hosting) reply(m *aaep.Message) (counts bool) {
	r.judge(aaep.SubReply, m, r.line)
	token, id := m.Text("reply_token"), m.Text("subscription_id")
	q := r.asked[token]
	if q == nil {
		if aaep.IsID(token, "rpl_") {
			r.noteAt(r.line, aaep.SubReply, verdict.Error, "/reply_token", "token-unknown",
				"reply_token is %s, which no question of the run has", form.Show(token))
		}
		return false
	}
	if l := q.scene.link; l.grant != nil && aaep.IsID(id, "sub_") && id != l.grant.id {
		r.noteAt(r.line, aaep.SubReply, verdict.Error, "/subscription_id", "other-subscription",
			"subscription_id is %s; expected %s", form.Show(id), form.Show(l.grant.id))
	}
	return r.answered(q, m)
}
