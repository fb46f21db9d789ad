package client

import (
	"cmp"
	"context"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/conformance/aaep"
	"github.com/openagentprotocol-OAP/oap-gate/internal/conformance/aaep/jws"
	"github.com/openagentprotocol-OAP/oap-gate/internal/conformance/form"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// negotiate holds the sessions of level 3. Their start is that of the first scenario that accepts.
func (v *visit) negotiate(ctx context.Context) error {
	at := slices.IndexFunc(v.Scenarios, func(s Scenario) bool { return s.Reply == replyAccept })
	for _, by := range probings() {
		p := v.probes[by.row]
		switch {
		case by.hold == nil:
		case v.Layout == LayoutReference:
			p.skipped = "not run: the layout reference has no subscriptions"
		case at < 0:
			p.skipped = "not run: no scenario has reply accept"
		default:
			err := v.within(ctx, func(ctx context.Context) error { return by.hold(v, ctx, p, v.Scenarios[at]) })
			if err == errStop {
				return err
			}
		}
	}
	return nil
}

// ratePerSecond returns the rate that a session of level 3 asks for.
func (l *Live) ratePerSecond() int64 { return cmp.Or(l.Rate, 2) }

// requestOf returns a subscription.request: that of level 3, with more capabilities, or other values of them.
func (l *Live) requestOf(version string, more aaep.Object) []byte {
	capabilities := aaep.Object{"max_events_per_second": l.ratePerSecond(), "preferred_verbosity": "normal",
		"languages": []string{"en-US"}, "supports_confirmation_reply": true, "supports_clarification_reply": true,
		"coalesce_boundaries": []string{"sentence", "completion"}, "supported_conformance_levels": []int{1, 2, 3}}
	if len(l.Extensions) > 0 {
		capabilities["supported_extensions"] = l.Extensions
	}
	maps.Copy(capabilities, more)
	return aaep.Marshaled(aaep.Object{"type": aaep.SubscriptionRequested, "aaep_version": version,
		"subscriber_id": "oap-gate", "capabilities": capabilities})
}

// dialogue opens a session. The errors are errStop, and errRejected where the producer rejected it.
func (v *visit) dialogue(ctx context.Context, mark string, s Scenario, more aaep.Object) (*talk, error) {
	t, err := v.subscribe(ctx, mark, v.requestOf(aaep.Version, more))
	if err != nil {
		return nil, err
	}
	if t.Scenario = s; t.events == nil {
		return t, errRejected
	}
	t.listen(ctx)
	return t, nil
}

// unsubscribe closes the subscription. What the producer answers is ignored.
func (t *talk) unsubscribe(ctx context.Context) error {
	if t.Layout == LayoutReference {
		return nil
	}
	body := aaep.Marshaled(aaep.Object{"type": aaep.SubscriptionClosed, "subscription_id": t.subscription,
		"reason_code": "subscriber_shutdown", "reason_message": "oap-gate has seen the session."})
	_, _, _ = t.post(ctx, t.below("replies"), body)
	t.closed = t.Now()
	_, err := t.record(t.mark, aaep.Subscriber, t.closed, body) // when it has passed for certain
	return err
}

// shakeHands asks for a version that does not exist, and then for one that does.
func (v *visit) shakeHands(ctx context.Context, p *probe, s Scenario) error {
	const unknown = "99.0.0"
	t, err := v.subscribe(ctx, aaep.LiveHandshake.ID, v.requestOf(unknown, nil))
	if err != nil {
		return err
	}
	switch m := t.answer; {
	case m == nil: // see unanswered
	case m.Name == aaep.SubscriptionRejected:
		v.reason(p, m, "version_unsupported")
		p.show("a request of version %s is rejected", unknown)
	case m.Name == aaep.SubscriptionAccepted:
		p.shown++
		if got := m.Text("aaep_version"); got == unknown {
			p.Errorf(v.here(), "", "version-accepted", "a request of version %s is accepted as that", unknown)
		} else {
			p.Warnf(v.here(), "", "version-accepted", "a request of version %s is accepted as version %s", unknown,
				form.Show(got))
		}
	}
	if t.events != nil {
		if err := t.unsubscribe(ctx); err != nil {
			return err
		}
	}
	if t, err = v.dialogue(ctx, aaep.LiveHandshake.ID, s, nil); err != nil {
		return err
	}
	return t.whole(ctx)
}

// judgeMembers judges the members of what the producer sent by its type, and reports whether they are as they must be.
func (v *visit) judgeMembers(p *probe, kind, of string, object aaep.Object) bool {
	before := len(p.Findings)
	aaep.JudgeMembers(nil, kind, of, object, func(_ *aaep.Rule, severity verdict.Severity, pointer, code,
		format string, args ...any) *verdict.Finding {
		if kind == aaep.SubscriptionRejected {
			code = "member-value"
		}
		return p.Add(v.here(), severity, pointer, code, format, args...)
	})
	return len(p.Findings) == before
}

// reason checks why the producer rejected a request, and reports whether it gave the reason that was expected.
func (v *visit) reason(p *probe, m *aaep.Message, want string) bool {
	if !v.judgeMembers(p, m.Name, "the rejection", m.Members) {
		return false
	}
	is := m.Text("reason_code")
	if is != want {
		p.Warnf(v.here(), "", "reason-code", "reason_code is %s; expected %s", form.Show(is), want)
	}
	return is == want
}

// filterAll filters out what must not be filtered out.
func (v *visit) filterAll(ctx context.Context, p *probe, s Scenario) error {
	t, err := v.dialogue(ctx, aaep.LiveCritical.ID, s, aaep.Object{"event_filters": aaep.Object{
		"include": []string{aaep.ShortNamespace + "agent.*"},
		"exclude": []string{aaep.ShortNamespace + "agent.tool.*", aaep.ShortNamespace + "agent.awaiting.*"}}})
	if err != nil {
		return err
	}
	asked, called := false, false
	t.seen = func(_ context.Context, m *aaep.Message) error {
		asked = asked || m.Asks()
		if (m.Core == aaep.ToolInvoked || m.Core == aaep.ToolCompleted) && m.Members["urgency"] != "critical" &&
			!called {
			called = true
			p.Errorf(v.here(), "", "filtered-out", "%s came, although the subscription excludes it", m.Core)
		}
		return nil
	}
	err = t.whole(ctx)
	switch {
	case err != nil && !v.silent:
	case asked:
		p.show("the question came, and no tool event")
	case v.confirms[s.Name]:
		p.Errorf(v.here(), "", "critical-filtered", "no question came in scenario %s under a filter that excludes "+
			"questions; without the filter one did", form.Show(s.Name))
	case len(p.Findings) == 0:
		p.Doubtf(v.here(), "", aaep.NotExercised, "the session of scenario %s asks nothing", form.Show(s.Name))
	}
	return err
}

// slowDown renegotiates half the rate when nothing is on its way: while a question is open, between two events, or at
// the end of the session.
func (v *visit) slowDown(ctx context.Context, p *probe, s Scenario) error {
	t, err := v.dialogue(ctx, aaep.LiveRenegotiate.ID, s, nil)
	if err != nil {
		return err
	}
	var sent time.Time
	var got *aaep.Message
	ask := func(ctx context.Context) error {
		sent = v.Now()
		return t.renegotiate(ctx, max(v.ratePerSecond()/2, 1))
	}
	quiet := time.Second * 6 / time.Duration(10*v.ratePerSecond())
	t.seen = func(ctx context.Context, m *aaep.Message) (err error) {
		switch {
		case m.Name == aaep.SubscriptionAccepted && !sent.IsZero():
			got = m
		case m.Name == aaep.SubscriptionRejected && !sent.IsZero():
			got = m
			t.ended = true // the subscription ends here, and so may the stream
			t.end(2 * time.Second)
			return nil
		case !sent.IsZero() || t.session == "":
		case m.Core == aaep.AwaitingConfirmation || m.Terminal():
			err = ask(ctx)
		case !v.confirms[s.Name]:
			t.later(quiet, ask)
		}
		if t.ended = t.ended || m.Terminal() && m.Text("session_id") == t.session; t.ended && !rejects(got) {
			t.end(pause)
			if !sent.IsZero() && got == nil { // it may come in the stream
				t.due = sent.Add(t.Timeout)
			}
		}
		return err
	}
	err = t.run(ctx)
	switch {
	case err != nil && !v.silent:
	case sent.IsZero():
		p.Doubtf(v.here(), "", aaep.NotExercised, "the session of scenario %s gave no time to renegotiate",
			form.Show(s.Name))
	case got == nil:
		p.Errorf(v.here(), "", "no-answer", "subscription.renegotiate was not answered in %v, "+
			"neither by its response nor in the stream", t.Timeout)
	case rejects(got):
		p.Errorf(v.here(), "", "renegotiate-rejected", "subscription.renegotiate only lowers the rate, "+
			"and is rejected: %s", form.Show(got.Text("reason_code")))
	default:
		p.show("a lower rate is accepted")
	}
	if err == nil && !rejects(got) {
		err = t.unsubscribe(ctx)
	}
	return err
}

// rejects reports whether an answer, which may be nil, rejects.
func rejects(answer *aaep.Message) bool {
	return answer != nil && answer.Name == aaep.SubscriptionRejected
}

// renegotiate asks for another rate. An answer in the response is taken in its place among the events.
func (t *talk) renegotiate(ctx context.Context, rate int64) error {
	body := aaep.Marshaled(aaep.Object{"type": aaep.SubscriptionRenegotiated, "subscription_id": t.subscription,
		"capabilities": aaep.Object{"max_events_per_second": rate}})
	if _, err := t.record(t.mark, aaep.Subscriber, t.Now(), body); err != nil {
		return err
	}
	_, answer, err := t.post(ctx, t.below("replies"), body)
	if err != nil && err != errHung { // it may still come in the stream
		return t.failed(ctx, http.MethodPost, t.below("replies"), err)
	}
	response := heard{of: t, data: answer, at: t.Now()}
	if m := aaep.ReadMessage(answer); m == nil || !m.IsSubscription() {
		return nil
	}
	for {
		h, ok, err := t.next(ctx, response.at)
		switch {
		case err != nil:
			return err
		case !ok:
			return t.event(ctx, response)
		case h.err != nil:
			return cmp.Or(t.event(ctx, response), t.over(ctx, h.err))
		}
		if err := t.event(ctx, h); err != nil {
			return err
		}
	}
}

// Times of walkOut.
const (
	leastClosing = 10 // seconds of the timeout of a question that is left open
	listenAfter  = 3 * time.Second
	goesOnWithin = 2 * time.Second
	watcher      = "aaep-live-close-watcher"
)

// walkOut closes a subscription whose question is open, while a second one watches the session.
func (v *visit) walkOut(ctx context.Context, p *probe, s Scenario) error {
	if i := slices.IndexFunc(v.Scenarios, func(s Scenario) bool { return s.Name == "held" }); i >= 0 {
		s = v.Scenarios[i]
	}
	s.Reply = replyAccept // in a session whose question must not remain open
	t, err := v.dialogue(ctx, aaep.LiveClose.ID, s, nil)
	if err != nil {
		return err
	}
	second, err := v.dialogue(ctx, watcher, s, aaep.Object{"supports_confirmation_reply": false,
		"supports_clarification_reply": false})
	if err == errRejected {
		err = cmp.Or(t.unsubscribe(ctx), err)
	}
	if err != nil {
		return err
	}
	second.ended = true                                      // it answers nothing
	var sent time.Time                                       // when subscription.close was sent
	var question *aaep.Message                               // that is open then
	first, goneOn := false, false                            // it is the session's first; the session continued
	sessions, tokens := map[string]bool{}, map[string]bool{} // that the second subscription got
	t.seen = func(ctx context.Context, m *aaep.Message) error {
		if !sent.IsZero() || m.Core != aaep.AwaitingConfirmation || m.Text("session_id") != t.session {
			return nil
		}
		if seconds, _ := form.Integer(m.Members["timeout_seconds"]); seconds < leastClosing {
			return nil
		}
		sent, question, first = v.Now(), m, t.asked.IsZero()
		t.ended = true
		err := t.unsubscribe(ctx)
		t.end(listenAfter)
		return err
	}
	second.seen = func(_ context.Context, m *aaep.Message) error {
		sessions[strings.Clone(m.Text("session_id"))] = true
		// A message that was sent before the question was asked does not show that the session continues.
		follows := question != nil && (tokens[question.Text("reply_token")] ||
			!question.Time.IsZero() && m.Time.After(question.Time))
		if m.Asks() {
			tokens[strings.Clone(m.Text("reply_token"))] = true
		}
		if question == nil || m.Text("session_id") != t.session {
			return nil
		}
		goneOn = goneOn || follows && !m.Asks() && m.Core != aaep.ProgressUpdated && !second.heard.Before(sent) &&
			second.heard.Sub(t.closed) <= goesOnWithin
		// A call that was held on its way to the second subscription may rest on an earlier question.
		if m.Core == aaep.ToolInvoked && question.Text("default_decision") == "reject" &&
			(first || m.Time.After(question.Time)) {
			second.watch(aaep.LiveClose, m)
		}
		return nil
	}
	if err := t.run(ctx); err != nil {
		return err
	}
	switch {
	case sent.IsZero():
		p.Doubtf(v.here(), "", aaep.NotExercised, "scenario %s asks no question whose timeout_seconds is at least %d; "+
			"name one that does held", form.Show(s.Name), leastClosing)
		err = t.unsubscribe(ctx)
	case goneOn:
		p.show("the default is applied when the subscription is closed")
	case !sessions[t.session]:
		p.Doubtf(v.here(), "", aaep.NotExercised, "the second subscription did not get the session")
	default:
		p.Errorf(v.here(), "", "close-default-not-applied", "the session did not continue within %v after its "+
			"subscription was closed with a question open", goesOnWithin)
	}
	return cmp.Or(err, second.unsubscribe(ctx))
}

// afterClose reports an event that comes after the subscription was closed.
func (t *talk) afterClose(at time.Time) {
	if after := at.Sub(t.closed); !t.closed.IsZero() && after > aaep.CloseAllowed && !t.reported {
		t.reported = true
		t.probes[aaep.LiveClose].Errorf(t.here(), "", "event-after-close",
			"an event came %v after subscription.close; "+
				"expected none after %v", after.Round(time.Millisecond), aaep.CloseAllowed)
	}
}

// readManifest reads what the producer publishes of itself.
func (v *visit) readManifest(ctx context.Context, p *probe, s Scenario) error {
	t, err := v.dialogue(ctx, aaep.LiveManifest.ID, s, nil)
	if err != nil {
		return err
	}
	document, wrong := v.fetch(ctx, t.answer)
	if wrong == "" && jws.Is(document) {
		if j, not := jws.Parse(string(document)); not != "" {
			wrong = "the manifest is not JSON, and as a JWS " + not
		} else {
			document = j.Payload
		}
	}
	root := aaep.ReadObject(document)
	if wrong == "" && root == nil {
		wrong = "the manifest is not a JSON object"
	}
	if wrong != "" {
		p.Errorf(v.here(), "", "no-manifest", "%s", wrong)
		return t.whole(ctx)
	}
	v.judgeMembers(p, aaep.ProducerManifest, "the manifest", root)
	v.sameAgent(p, root, t.answer)
	if all, ok := root["conformance_levels_supported"].([]any); ok &&
		!slices.ContainsFunc(all, func(level any) bool { n, _ := form.Integer(level); return n == int64(v.Level) }) {
		p.Errorf(v.here(), "/conformance_levels_supported", "manifest-level",
			"the manifest does not list level %d as supported", v.Level)
	}
	p.show("the manifest of %s", form.Show(strict.String(root, "agent_id")))
	return t.whole(ctx)
}

// sameAgent checks that a manifest is of the producer that accepted.
func (v *visit) sameAgent(p *probe, root aaep.Object, accepted *aaep.Message) {
	var is string
	if accepted != nil {
		is = strict.String(accepted.Members, "producer", "agent_id")
	}
	if named := strict.String(root, "agent_id"); named != "" && is != "" && named != is {
		p.Errorf(v.here(), "/agent_id", "manifest-agent", "the manifest is of %s; subscription.accepted is of %s",
			form.Show(named), form.Show(is))
	}
}

// requireSignature asks for a signed manifest, which a producer may have.
func (v *visit) requireSignature(ctx context.Context, p *probe, s Scenario) error {
	t, err := v.dialogue(ctx, aaep.LiveSigned.ID, s, aaep.Object{"accept_signed_manifests_only": true})
	if err == errRejected && t.answer != nil {
		if v.reason(p, t.answer, "manifest_signature_required") {
			p.show("a subscriber that requires a signed manifest is rejected: the producer has no such manifest")
		} else {
			p.shown++
		}
	}
	if err != nil {
		return err
	}
	v.signature(ctx, p, t)
	return t.whole(ctx)
}

// signature verifies the signed manifest of a subscription that requires one.
func (v *visit) signature(ctx context.Context, p *probe, t *talk) {
	p.shown++
	var text string
	if t.answer != nil {
		text = t.answer.Text("signed_manifest")
	}
	if text == "" {
		document, wrong := v.fetch(ctx, t.answer)
		if wrong != "" || !jws.Is(document) {
			p.Errorf(v.here(), "", "unsigned-accepted", "a subscriber that requires a signed manifest is accepted, "+
				"and the manifest is not signed")
			return
		}
		text = string(document)
	}
	j, wrong := jws.Parse(text)
	switch {
	case wrong != "":
		p.Errorf(v.here(), "", "jws-form", "the signed manifest is not a compact JWS: %s", wrong)
		return
	case !j.Known():
		p.Errorf(v.here(), "", "jws-alg", "alg of the signed manifest is %s; expected ES256, RS256, PS256 or EdDSA",
			form.Show(j.Alg))
		return
	}
	root := aaep.ReadObject(j.Payload)
	if root == nil {
		p.Errorf(v.here(), "", "jws-form", "the payload of the signed manifest is not a JSON object")
		return
	}
	own := j.OwnKey()
	switch {
	case v.ManifestKey != nil && j.By(v.ManifestKey):
		p.verified = "the manifest is signed by the key of --manifest-key, " + j.Alg
	case v.ManifestKey == nil && own == nil:
		p.Doubtf(v.here(), "", "jws-no-key", "the signed manifest carries no key, and none was given")
	case own == nil || !j.By(own):
		p.Errorf(v.here(), "", "jws-signature", "the signature of the signed manifest does not verify")
	case v.ManifestKey != nil:
		p.Errorf(v.here(), "", "jws-signature", "the signature of the signed manifest is by another key than that of "+
			"--manifest-key")
	default:
		p.Warnf(v.here(), "", "jws-own-key", "the signed manifest is signed by the key that its own header carries, "+
			"which anyone can make")
	}
	v.sameAgent(p, root, t.answer)
}
