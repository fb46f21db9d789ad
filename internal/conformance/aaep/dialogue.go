package aaep

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict/capped"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// dialogueOf is the session of a row of level 3.
type dialogueOf struct {
	row  *rule
	hold func(*visit, context.Context, *probe, Scenario) error
}

// dialogues are those sessions, in their order. That of liveClose is the last: it leaves a session under way.
var dialogues = []dialogueOf{
	{liveHandshake, (*visit).shakeHands},
	{liveCritical, (*visit).filterAll},
	{liveRenegotiate, (*visit).slowDown},
	{liveManifest, (*visit).readManifest},
	{liveSigned, (*visit).requireSignature},
	{liveClose, (*visit).walkOut},
}

// negotiate holds the sessions of level 3. Their start is that of the first scenario that accepts.
func (v *visit) negotiate(ctx context.Context) error {
	at := slices.IndexFunc(v.Scenarios, func(s Scenario) bool { return s.Reply == replyAccept })
	for _, d := range dialogues {
		p := v.probes[d.row.ID]
		switch {
		case v.Layout == LayoutReference:
			p.skipped = "not run: the layout reference has no subscriptions"
		case at < 0:
			p.skipped = "not run: no scenario has reply accept"
		default:
			session, cancel := context.WithCancel(ctx)
			err := d.hold(v, session, p, v.Scenarios[at])
			if cancel(); err == errStop {
				return err
			}
		}
	}
	return nil
}

// ofDialogue returns what a row of level 3 comes to.
func (v *visit) ofDialogue(row *rule) verdict.Outcome {
	return v.outcome(v.probes[row.ID], v.doubt("the producer rejected the subscription of the check"))
}

// show notes what a row of level 3 verified.
func (p *probe) show(format string, args ...any) {
	p.shown++
	p.verified = fmt.Sprintf(format, args...)
}

// ratePerSecond returns the rate that a session of level 3 asks for.
func (l *Live) ratePerSecond() int64 { return cmp.Or(l.Rate, 2) }

// requestOf returns a subscription.request: that of level 3, with more capabilities, or other values of them.
func (l *Live) requestOf(version string, more object) []byte {
	capabilities := object{"max_events_per_second": l.ratePerSecond(), "preferred_verbosity": "normal",
		"languages": []string{"en-US"}, "supports_confirmation_reply": true, "supports_clarification_reply": true,
		"coalesce_boundaries": []string{"sentence", "completion"}, "supported_conformance_levels": []int{1, 2, 3}}
	if len(l.Extensions) > 0 {
		capabilities["supported_extensions"] = l.Extensions
	}
	maps.Copy(capabilities, more)
	return marshaled(object{"type": subscriptionRequested, "aaep_version": version,
		"subscriber_id": "oap-gate", "capabilities": capabilities})
}

func marshaled(v any) []byte {
	data, _ := json.Marshal(v) // maps, texts and numbers, which have no errors
	return data
}

// version is that of the specification whose clauses the catalogue cites.
const version = "1.0.0"

// dialogue opens a session. The errors are errStop, and errRejected where the producer rejected it.
func (v *visit) dialogue(ctx context.Context, mark string, s Scenario, more object) (*talk, error) {
	a, err := v.subscribe(ctx, mark, v.requestOf(version, more))
	if err != nil {
		return nil, err
	}
	t := &talk{visit: v, Scenario: s, mark: mark, subscription: a.id, accepted: a.message}
	if a.events == nil {
		return t, errRejected
	}
	t.listen(ctx, a.events)
	return t, nil
}

// unsubscribe closes the subscription. What the producer answers is ignored.
func (t *talk) unsubscribe(ctx context.Context) error {
	if t.Layout == LayoutReference {
		return nil
	}
	body := marshaled(object{"type": subscriptionClosed, "subscription_id": t.subscription,
		"reason_code": "subscriber_shutdown", "reason_message": "oap-gate has seen the session."})
	_, _, _ = t.try(ctx, http.MethodPost, t.below("replies"), body)
	return t.record(t.mark, subscriber, t.now(), body) // when it has passed for certain
}

// shakeHands asks for a version that does not exist, and then for one that does.
func (v *visit) shakeHands(ctx context.Context, p *probe, s Scenario) error {
	const unknown = "99.0.0"
	a, err := v.subscribe(ctx, liveHandshake.ID, v.requestOf(unknown, nil))
	if err != nil {
		return err
	}
	switch m := a.message; {
	case m == nil: // see unanswered
	case m.name == subscriptionRejected:
		v.reason(p, m, "version_unsupported")
		p.show("a request of version %s is rejected", unknown)
	case m.name == subscriptionAccepted:
		p.shown++
		if got := m.text("aaep_version"); got == unknown {
			p.Errorf(v.here(), "", "version-accepted", "a request of version %s is accepted as that", unknown)
		} else {
			p.Warnf(v.here(), "", "version-accepted", "a request of version %s is accepted as version %s", unknown,
				show(got))
		}
	}
	if t := (&talk{visit: v, mark: liveHandshake.ID, subscription: a.id}); a.events != nil {
		if err := t.unsubscribe(ctx); err != nil {
			return err
		}
	}
	t, err := v.dialogue(ctx, liveHandshake.ID, s, nil)
	if err != nil {
		return err
	}
	return t.whole(ctx)
}

// judgeMembers judges the members of what the producer sent by its type, and reports whether they are as they must be.
func (v *visit) judgeMembers(p *probe, kind, of string, object object) bool {
	before := len(p.Findings)
	judgeMembers(nil, of, membersOf[kind], object, "", func(_ *rule, severity verdict.Severity, pointer, code,
		format string, args ...any) *verdict.Finding {
		if kind == subscriptionRejected {
			code = "member-value"
		}
		return p.Add(v.here(), severity, pointer, code, format, args...)
	})
	return len(p.Findings) == before
}

// reason checks why the producer rejected a request, and reports whether it gave the reason that was expected.
func (v *visit) reason(p *probe, m *message, want string) bool {
	if !v.judgeMembers(p, m.name, "the rejection", m.members) {
		return false
	}
	is := m.text("reason_code")
	if is != want {
		p.Warnf(v.here(), "", "reason-code", "reason_code is %s; expected %s", show(is), want)
	}
	return is == want
}

// filterAll filters out what must not be filtered out.
func (v *visit) filterAll(ctx context.Context, p *probe, s Scenario) error {
	t, err := v.dialogue(ctx, liveCritical.ID, s, object{"event_filters": object{
		"include": []string{shortNamespace + "agent.*"},
		"exclude": []string{shortNamespace + "agent.tool.*", shortNamespace + "agent.awaiting.*"}}})
	if err != nil {
		return err
	}
	asked, called := false, false
	t.seen = func(_ context.Context, m *message) error {
		asked = asked || m.asks()
		if (m.core == toolInvoked || m.core == toolCompleted) && m.members["urgency"] != "critical" && !called {
			called = true
			p.Errorf(v.here(), "", "filtered-out", "%s came, although the subscription excludes it", m.core)
		}
		return nil
	}
	err = t.whole(ctx)
	switch {
	case err != nil && !v.silent:
	case asked:
		p.show("the question came, and no tool event")
	case v.asked[s.Name]:
		p.Errorf(v.here(), "", "critical-filtered", "no question came in scenario %s under a filter that excludes "+
			"questions; without the filter one did", show(s.Name))
	case len(p.Findings) == 0:
		p.Doubtf(v.here(), "", notExercised, "the session of scenario %s asks nothing", show(s.Name))
	}
	return err
}

// slowDown renegotiates half the rate when nothing is on its way: while a question is open, between two events, or at
// the end of the session.
func (v *visit) slowDown(ctx context.Context, p *probe, s Scenario) error {
	t, err := v.dialogue(ctx, liveRenegotiate.ID, s, nil)
	if err != nil {
		return err
	}
	var sent time.Time
	var got *message
	ask := func(ctx context.Context) error {
		sent = time.Now()
		return t.renegotiate(ctx, max(v.ratePerSecond()/2, 1))
	}
	quiet := time.Second * 6 / time.Duration(10*v.ratePerSecond())
	t.seen = func(ctx context.Context, m *message) error {
		switch {
		case m.name == subscriptionAccepted && !sent.IsZero():
			got = m
		case m.name == subscriptionRejected && !sent.IsZero():
			got = m
			t.ended = true // the subscription ends here, and so may the stream
			t.later(2*time.Second, func(context.Context) error { return errDone })
		case !sent.IsZero() || t.session == "":
		case m.core == awaitingConfirmation || m.terminal():
			return ask(ctx)
		case !v.asked[s.Name]:
			t.later(quiet, ask)
		}
		return nil
	}
	err = t.run(ctx)
	for listens := !sent.IsZero(); err == nil && got == nil && listens; { // it may come in the stream
		select {
		case h := <-t.all:
			if listens = h.err == nil; listens {
				err = t.event(ctx, h)
			}
		case <-time.After(time.Until(sent.Add(t.Timeout))):
			listens = len(t.all) > 0
		case <-ctx.Done():
			return v.overBudget()
		}
	}
	switch {
	case err != nil && !v.silent:
	case sent.IsZero():
		p.Doubtf(v.here(), "", notExercised, "the session of scenario %s gave no time to renegotiate", show(s.Name))
	case got == nil:
		p.Errorf(v.here(), "", "no-answer", "subscription.renegotiate was not answered in %v, "+
			"neither by its response nor in the stream", t.Timeout)
	case got.name == subscriptionRejected:
		p.Errorf(v.here(), "", "renegotiate-rejected", "subscription.renegotiate only lowers the rate, "+
			"and is rejected: %s", show(got.text("reason_code")))
	default:
		p.show("a lower rate is accepted")
	}
	if err == nil && (got == nil || got.name == subscriptionAccepted) {
		err = t.unsubscribe(ctx)
	}
	return err
}

// renegotiate asks for another rate. An answer in the response is taken in its place among the events.
func (t *talk) renegotiate(ctx context.Context, rate int64) error {
	body := marshaled(object{"type": subscriptionRenegotiated, "subscription_id": t.subscription,
		"capabilities": object{"max_events_per_second": rate}})
	if err := t.record(t.mark, subscriber, t.now(), body); err != nil {
		return err
	}
	_, answer, err := t.try(ctx, http.MethodPost, t.below("replies"), body)
	if err != nil && err != errHung { // it may still come in the stream
		return t.failed(ctx, http.MethodPost, t.below("replies"), err)
	}
	response := heard{data: answer, at: t.now()}
	if m := readMessage(answer); m == nil || !m.isSubscription() {
		return nil
	}
	for {
		select {
		case h := <-t.all:
			if h.err != nil || !h.at.Before(response.at) {
				if err := t.event(ctx, response); err != nil {
					return err
				}
				if h.err != nil {
					return t.over(ctx, h.err)
				}
				return t.event(ctx, h)
			}
			if err := t.event(ctx, h); err != nil {
				return err
			}
		default:
			return t.event(ctx, response)
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
	t, err := v.dialogue(ctx, liveClose.ID, s, nil)
	if err != nil {
		return err
	}
	second, err := v.dialogue(ctx, watcher, s, object{"supports_confirmation_reply": false,
		"supports_clarification_reply": false})
	if err == errRejected {
		if err := t.unsubscribe(ctx); err != nil {
			return err
		}
	}
	if err != nil {
		return err
	}
	var sent, closed time.Time // when subscription.close was sent, and when it was answered
	var asked time.Time        // by the producer's own clock
	goneOn, announced := false, false
	rejects, first := false, false                           // its default is reject; it is the session's first
	var token string                                         // token of the question
	sessions, tokens := map[string]bool{}, map[string]bool{} // that the second subscription got
	t.seen = func(ctx context.Context, m *message) error {
		if !closed.IsZero() || m.core != awaitingConfirmation || m.text("session_id") != t.session {
			return nil
		}
		if seconds, _ := integer(m.members["timeout_seconds"]); seconds < leastClosing {
			return nil
		}
		sent, asked, token = v.now(), m.time, strings.Clone(m.text("reply_token"))
		rejects, first = m.text("default_decision") == "reject", t.asked.IsZero()
		err := t.unsubscribe(ctx)
		closed = v.now()
		return err
	}
	if err := t.start(ctx); err != nil {
		return err
	}
	for done := false; !done; {
		until := t.Timeout
		if !closed.IsZero() {
			until = time.Until(closed.Add(listenAfter))
		} else if t.then != nil {
			until = max(time.Until(t.due), 0)
		}
		timer := time.NewTimer(until)
		select {
		case h := <-t.all:
			switch {
			case h.err != nil && closed.IsZero():
				err = t.over(ctx, h.err)
				done = err == nil
			case h.err != nil:
				t.all = nil
			case closed.IsZero():
				err = t.event(ctx, h)
			default:
				if after := h.at.Sub(closed); after > closeAllowed && !announced {
					announced = true
					p.Errorf(v.here(), "", "event-after-close", "an event came %v after subscription.close; "+
						"expected none "+
						"after %v", after.Round(time.Millisecond), closeAllowed)
				}
				err = v.record(t.mark, producer, h.at, h.data)
			}
		case h := <-second.all:
			if h.err != nil {
				second.all = nil
				break
			}
			if h.data == nil || second.passesOver(h.data) {
				break
			}
			m, fault := v.take(second.mark, producer, h.at, h.data)
			if err = fault; m == nil {
				break
			}
			session := m.text("session_id")
			sessions[strings.Clone(session)] = true
			// A message that was sent before the question was asked does not show that the session continues.
			follows := tokens[token] || !asked.IsZero() && m.time.After(asked)
			if m.asks() {
				tokens[strings.Clone(m.text("reply_token"))] = true
			}
			if !closed.IsZero() && session == t.session && follows && !m.asks() && m.core != progressUpdated &&
				!h.at.Before(sent) && h.at.Sub(closed) <= goesOnWithin {
				goneOn = true
			}
			// A call that was held on its way to the second subscription may rest on an earlier question.
			if m.core == toolInvoked && session == t.session && rejects && !sent.IsZero() &&
				(first || m.time.After(asked)) {
				v.watches = append(v.watches, watch{line: v.line, reply: liveClose.ID, scenario: s.Name,
					tool: strings.Clone(m.text("tool")), flagged: m.members["irreversible"] == true})
			}
			err = v.judge(m)
		case <-timer.C:
			if done = !closed.IsZero() && len(second.all) == 0; closed.IsZero() {
				err = t.timeUp(ctx)
			}
		case <-ctx.Done():
			err = v.overBudget()
		}
		timer.Stop()
		if errors.Is(err, errDone) {
			done, err = true, nil
		}
		if err != nil {
			return err
		}
	}
	switch {
	case closed.IsZero():
		p.Doubtf(v.here(), "", notExercised, "scenario %s asks no question whose timeout_seconds is at least %d; "+
			"name one that does held", show(s.Name), leastClosing)
		err = t.unsubscribe(ctx)
	case goneOn:
		p.show("the default is applied when the subscription is closed")
	case !sessions[t.session]:
		p.Doubtf(v.here(), "", notExercised, "the second subscription did not get the session")
	default:
		p.Errorf(v.here(), "", "close-default-not-applied", "the session did not continue within %v after its "+
			"subscription was closed with a question open", goesOnWithin)
	}
	if err != nil {
		return err
	}
	return second.unsubscribe(ctx)
}

// readManifest reads what the producer publishes of itself.
func (v *visit) readManifest(ctx context.Context, p *probe, s Scenario) error {
	t, err := v.dialogue(ctx, liveManifest.ID, s, nil)
	if err != nil {
		return err
	}
	document, wrong := v.fetch(ctx, t.accepted)
	if wrong == "" && isJWS(document) {
		if j, not := parseJWS(string(document)); not != "" {
			wrong = "the manifest is not JSON, and as a JWS " + not
		} else {
			document = j.payload
		}
	}
	root := readObject(document)
	if wrong == "" && root == nil {
		wrong = "the manifest is not a JSON object"
	}
	if wrong != "" {
		p.Errorf(v.here(), "", "no-manifest", "%s", wrong)
		return t.whole(ctx)
	}
	v.judgeMembers(p, producerManifest, "the manifest", root)
	v.sameAgent(p, root, t.accepted)
	if all, ok := root["conformance_levels_supported"].([]any); ok &&
		!slices.ContainsFunc(all, func(level any) bool { n, _ := integer(level); return n == int64(v.Level) }) {
		p.Errorf(v.here(), "/conformance_levels_supported", "manifest-level",
			"the manifest does not list level %d as supported", v.Level)
	}
	p.show("the manifest of %s", show(strict.String(root, "agent_id")))
	return t.whole(ctx)
}

// sameAgent checks that a manifest is of the producer that accepted.
func (v *visit) sameAgent(p *probe, root object, accepted *message) {
	var is string
	if accepted != nil {
		is = strict.String(accepted.members, "producer", "agent_id")
	}
	if named := strict.String(root, "agent_id"); named != "" && is != "" && named != is {
		p.Errorf(v.here(), "/agent_id", "manifest-agent", "the manifest is of %s; subscription.accepted is of %s",
			show(named), show(is))
	}
}

// maxManifest is how many bytes a manifest may have.
const maxManifest = 1 << 20

// fetch fetches the manifest from the address that was accepted, or else from the well-known one. It asks only the
// producer's own server or a public https address; wrong says why there is no manifest.
func (v *visit) fetch(ctx context.Context, accepted *message) (document []byte, wrong string) {
	at := v.URL.ResolveReference(&url.URL{Path: "/.well-known/aaep-manifest.json"})
	if accepted != nil && accepted.text("manifest_uri") != "" {
		var err error
		if at, err = url.Parse(accepted.text("manifest_uri")); err != nil || at.Host == "" || at.User != nil {
			return nil, fmt.Sprintf("manifest_uri is %s; expected an https URL", show(accepted.text("manifest_uri")))
		}
	}
	client := v.client
	if at.Scheme != v.URL.Scheme || at.Host != v.URL.Host {
		if at.Scheme != "https" || v.Public == nil {
			return nil, fmt.Sprintf("manifest_uri is %s; expected the producer's own server or a public https URL",
				show(at.Redacted()))
		}
		client.Transport = v.Public
	}
	ctx, cancel := context.WithTimeout(ctx, v.Timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), nil)
	if err != nil {
		return nil, fmt.Sprintf("%s cannot be requested", show(at.Redacted()))
	}
	req.Header.Set("User-Agent", v.UserAgent)
	req.Header.Set("Accept", "application/json, application/jose")
	resp, err := client.Do(req)
	if err != nil {
		return nil, fmt.Sprintf("fetching %s: %v", at.Redacted(), cause(err))
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		_, _ = io.CopyN(io.Discard, resp.Body, 64<<10)
		return nil, fmt.Sprintf("%s was answered with the status %d; expected 200", at.Redacted(), resp.StatusCode)
	}
	if document, err = capped.ReadAll(resp.Body, maxManifest); err != nil {
		return nil, fmt.Sprintf("fetching %s: %v", at.Redacted(), err)
	}
	return document, ""
}

// requireSignature asks for a signed manifest, which a producer may have.
func (v *visit) requireSignature(ctx context.Context, p *probe, s Scenario) error {
	t, err := v.dialogue(ctx, liveSigned.ID, s, object{"accept_signed_manifests_only": true})
	if err == errRejected && t.accepted != nil {
		if v.reason(p, t.accepted, "manifest_signature_required") {
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
	if t.accepted != nil {
		text = t.accepted.text("signed_manifest")
	}
	if text == "" {
		document, wrong := v.fetch(ctx, t.accepted)
		if wrong != "" || !isJWS(document) {
			p.Errorf(v.here(), "", "unsigned-accepted", "a subscriber that requires a signed manifest is accepted, "+
				"and the manifest is not signed")
			return
		}
		text = string(document)
	}
	j, wrong := parseJWS(text)
	switch {
	case wrong != "":
		p.Errorf(v.here(), "", "jws-form", "the signed manifest is not a compact JWS: %s", wrong)
		return
	case !j.known():
		p.Errorf(v.here(), "", "jws-alg", "alg of the signed manifest is %s; expected ES256, RS256, PS256 or EdDSA",
			show(j.alg))
		return
	}
	root := readObject(j.payload)
	if root == nil {
		p.Errorf(v.here(), "", "jws-form", "the payload of the signed manifest is not a JSON object")
		return
	}
	own := j.ownKey()
	switch {
	case v.ManifestKey != nil && j.by(v.ManifestKey):
		p.verified = "the manifest is signed by the key of --manifest-key, " + j.alg
	case v.ManifestKey == nil && own == nil:
		p.Doubtf(v.here(), "", "jws-no-key", "the signed manifest carries no key, and none was given")
	case own == nil || !j.by(own):
		p.Errorf(v.here(), "", "jws-signature", "the signature of the signed manifest does not verify")
	case v.ManifestKey != nil:
		p.Errorf(v.here(), "", "jws-signature", "the signature of the signed manifest is by another key than that of "+
			"--manifest-key")
	default:
		p.Warnf(v.here(), "", "jws-own-key", "the signed manifest is signed by the key that its own header carries, "+
			"which anyone can make")
	}
	v.sameAgent(p, root, t.accepted)
}
