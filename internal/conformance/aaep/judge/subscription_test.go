package judge

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/openagentprotocol-OAP/oap-gate/internal/conformance/aaep"
)

// framed makes a line a frame that passed at a time of the morning of sample_test.go, such as 00:05.25.
func framed(at, from, line string) string {
	return fmt.Sprintf(`{"at":"2026-06-01T10:%sZ","from":%q,"message":%s}`, at, from, line)
}

const capable = `{"max_events_per_second":2,"languages":["en-US","de"],"supports_confirmation_reply":true,` +
	`"coalesce_boundaries":["sentence","completion"]}`

func request(capabilities string) string {
	return `{"type":"subscription.request","aaep_version":"1.0.0","subscriber_id":"x","capabilities":` + capabilities +
		`}`
}

func accepted(capabilities string) string {
	return `{"type":"subscription.accepted","subscription_id":"sub_1","aaep_version":"1.0.0",` +
		`"producer":{"agent_id":"bank"},"honored_capabilities":` + capabilities + `}`
}

func renegotiated(capabilities string) string {
	return `{"type":"subscription.renegotiate","subscription_id":"sub_1","capabilities":` + capabilities + `}`
}

const (
	refused = `{"type":"subscription.rejected","reason_code":"unknown","reason_message":"no"}`
	left    = `{"type":"subscription.close","subscription_id":"sub_1","reason_code":"subscriber_shutdown"}`
)

// subscribedTo is the session of conforming under a subscription: a request on line 1, its answer on line 2, an event a
// second from line 3 to 18, the end on line 19. Changed terms stand in for those that both sides name.
func subscribedTo(asked, honored string, edits ...edit) string {
	lines := []string{framed("00:00", "subscriber", request(asked)), framed("00:00", "producer", accepted(honored))}
	for i, line := range strings.Split(strings.TrimSpace(conforming), "\n") {
		from := "producer"
		if strings.Contains(line, aaep.ConfirmationReply) {
			from = "subscriber"
		}
		lines = append(lines, framed(fmt.Sprintf("00:%02d", i), from, line))
	}
	lines = append(lines, framed("00:20", "subscriber", left))
	for _, e := range edits {
		lines = e(lines)
	}
	return strings.Join(lines, "\n")
}

// squeeze has the events of these lines pass with these gaps, and what follows a second apart. None passes before its
// timestamp.
func squeeze(from, to int, gap time.Duration) edit {
	return func(lines []string) []string {
		passed := time.Duration(to-3) * time.Second
		for i := from; i <= len(lines); i++ {
			at := strings.Index(lines[i-1], `","from"`)
			lines[i-1] = fmt.Sprintf(`{"at":"2026-06-01T10:00:%09.6fZ`, passed.Seconds()) + lines[i-1][at:]
			passed += map[bool]time.Duration{true: gap, false: time.Second}[i < to]
		}
		return lines
	}
}

// urgent adds a critical event.
func urgent(id string) edit {
	return insert(4, framed("00:01", "producer", event(id, 1, aaep.ProgressUpdated,
		`"progress":{},"urgency":"critical"`)))
}

// bare makes frames messages again.
func bare(lines []string) []string {
	for i, line := range lines {
		_, message, _ := strings.Cut(line, `"message":`)
		lines[i] = strings.TrimSuffix(message, "}")
	}
	return lines
}

var ofTerms = []struct {
	name, text string
	want       []string
}{
	{"honest", subscribedTo(capable, capable), nil},
	{"nothing said by either", subscribedTo("{}", "{}"), nil},
	{"less than requested", subscribedTo(capable, `{"max_events_per_second":1,"languages":["DE"],`+
		`"coalesce_boundaries":["SENTENCE"],"event_filters":{"exclude":["aaep:agent.progress.*"]}}`), nil},
	{"level 2 alone", conforming, []string{"handshake not-exercised inconclusive"}},
	{"a handshake beside a session", subscribedTo(capable, capable, move(1, 18), move(1, 18)),
		[]string{"handshake not-exercised inconclusive"}},

	{"no answer", subscribedTo(capable, capable, drop(2, 2)),
		[]string{"1 handshake no-answer error", "2 handshake event-before-accepted error",
			"handshake not-exercised inconclusive"}},
	{"a renegotiation without an answer", subscribedTo(capable, capable, insert(18, framed("00:16", "subscriber",
		renegotiated(`{"pace_wpm":100}`)))), []string{"19 handshake no-answer error"}},
	{"not asked", subscribedTo(capable, capable, insert(2, framed("00:00", "producer",
		accepted(`{"max_events_per_second":1000}`)))), []string{"3 handshake not-asked error"}},
	{"the same answer in the stream", subscribedTo(capable, capable, insert(2, framed("00:00", "producer",
		accepted(capable)))), nil},
	{"a producer that asks itself", subscribedTo(capable, capable, insert(2, framed("00:00", "producer",
		request(`{}`))), insert(3, framed("00:00", "producer", accepted(`{}`)))),
		[]string{"3 envelope frame error", "4 handshake not-asked error"}},
	{"a subscriber that accepts", subscribedTo(capable, capable, set(2, "producer", "subscriber")),
		[]string{"2 envelope frame error", "1 handshake no-answer error", "3 handshake event-before-accepted error",
			"handshake not-exercised inconclusive"}},
	{"rejected", subscribedTo(capable, capable, set(2, accepted(capable), refused)),
		[]string{"3 handshake event-after-rejected error", "handshake not-exercised inconclusive"}},
	{"rejected, then accepted", subscribedTo(capable, capable, insert(0, framed("00:00", "subscriber",
		request(capable))), insert(1, framed("00:00", "producer", refused))), nil},
	{"members are missing", subscribedTo(capable, capable, set(2, `"producer":{"agent_id":"bank"},`, ""),
		set(19, `"reason_code":"subscriber_shutdown"`, `"x":1`), set(10, `"subscription_id":"sub_1",`, "")),
		[]string{"2 handshake missing-member error", "10 handshake missing-member error",
			"19 handshake missing-member error"}},
	{"a request without members", subscribedTo(capable, `{"max_events_per_second":1}`,
		set(1, `"subscriber_id":"x",`, ""), set(1, `"capabilities"`, `"y"`)),
		[]string{"1 handshake missing-member error", "1 handshake missing-member error"}},
	{"a rate that is text", subscribedTo(capable, strings.Replace(capable, "2", `"2"`, 1)),
		[]string{"2 handshake member-value error"}},
	{"values that are none", subscribedTo(`{"event_filters":{"include":"x"},"pace_wpm":10,"languages":[],`+
		`"coalesce_boundaries":["line"],"supported_conformance_levels":[4],"preferred_verbosity":"x"}`, "{}"),
		slices.Repeat([]string{"1 handshake member-value error"}, 6)},
	{"a reason of its own", subscribedTo(capable, capable, insert(0, framed("00:00", "subscriber", request(capable))),
		insert(1, framed("00:00", "producer", strings.Replace(refused, "unknown", "no_idea", 1)))),
		[]string{"2 handshake member-value error"}},
	{"another subscription", subscribedTo(capable, capable, set(19, "sub_1", "sub_2"), set(10, "sub_1", "sub_2")),
		[]string{"10 handshake other-subscription error", "19 handshake other-subscription error"}},
	{"another subscription by renegotiation", subscribedTo(capable, capable, insert(17, framed("00:15", "subscriber",
		renegotiated("{}"))), insert(18, framed("00:15", "producer", strings.Replace(accepted(capable), "sub_1",
		"sub_2", 1)))), []string{"19 handshake other-subscription error"}},

	{"no rate honored", subscribedTo(capable, strings.Replace(capable, `"max_events_per_second":2,`, "", 1)),
		[]string{"2 honored more-permissive error"}},
	{"more of each", subscribedTo(`{"max_events_per_second":2,"supports_confirmation_reply":false,`+
		`"supports_clarification_reply":false,"languages":["de"],"coalesce_boundaries":["completion"],`+
		`"event_filters":{"include":["aaep:agent.t*"],"exclude":["aaep:agent.tool.*"]}}`,
		`{"max_events_per_second":3,"supports_confirmation_reply":true,"supports_clarification_reply":true}`),
		slices.Repeat([]string{"2 honored more-permissive error"}, 7)}, // of filters two
	{"a renegotiated rate that goes up", subscribedTo(capable, strings.Replace(capable, "2", "1", 1), insert(2,
		framed("00:00", "subscriber", renegotiated(`{"pace_wpm":90}`))), insert(3, framed("00:00", "producer",
		accepted(capable)))), []string{"4 honored more-permissive error"}},
	{"a reply that was refused, renegotiated by a word about another", subscribedTo(strings.Replace(capable, "true",
		"false", 1), strings.Replace(capable, "true", "false", 1), insert(2, framed("00:00", "subscriber",
		renegotiated(`{"pace_wpm":90}`))), insert(3, framed("00:00", "producer", accepted(capable)))),
		[]string{"4 honored more-permissive error"}},
	{"a reply that was not honored, renegotiated", subscribedTo(capable, strings.Replace(capable, "true", "false", 1),
		insert(2, framed("00:00", "subscriber", renegotiated("{}"))), insert(3, framed("00:00", "producer",
			accepted(capable)))), nil},
	{"a renegotiation of terms before the input", subscribedTo(capable, capable, set(1, request(capable),
		renegotiated(`{"pace_wpm":90}`))), []string{"handshake not-exercised inconclusive"}},
	{"more than a renegotiation of terms before the input", subscribedTo(capable, capable, set(1, request(capable),
		renegotiated(`{"max_events_per_second":1}`))),
		[]string{"2 honored more-permissive error", "handshake not-exercised inconclusive"}},

	{"a burst of the rate and a quarter", subscribedTo(strings.Replace(capable, "2", "4", 1), strings.Replace(capable,
		"2", "4", 1), squeeze(3, 7, time.Millisecond)), nil},
	{"a burst that is too large", subscribedTo(strings.Replace(capable, "2", "4", 1), strings.Replace(capable, "2", "4",
		1), squeeze(3, 8, time.Millisecond)), []string{"8 rate over-rate error"}},
	{"a rate kept with jitter", subscribedTo(capable, capable, squeeze(3, 8, 500*time.Millisecond)), nil},
	{"a full bucket for each subscription alone", subscribedTo(capable, capable, squeeze(3, 8, time.Millisecond),
		insert(4, framed("00:05.002", "subscriber", renegotiated("{}"))), insert(5, framed("00:05.002", "producer",
			accepted(capable)))), []string{"9 rate over-rate error"}},
	{"critical events beside the rate", subscribedTo(capable, capable, urgent("a"), urgent("b"), urgent("c"),
		urgent("d"), renumber), nil},
	{"a question that waits", subscribedTo(capable, capable, set(9, "10:00:06Z", "10:00:08.1Z")),
		[]string{"9 rate critical-delayed error"}},
	{"a question that waits, hours off", subscribedTo(capable, capable, set(9, "10:00:06Z", "10:00:08.1Z"),
		all(`"timestamp":"2026-06-01T10`, `"timestamp":"2026-06-01T18`)), []string{"9 rate critical-delayed error"}},
	{"a clock hours off", subscribedTo(capable, capable, all(`"timestamp":"2026-06-01T10`,
		`"timestamp":"2026-06-01T03`)), nil},
	{"no times", subscribedTo(capable, capable, bare), []string{"rate no-times inconclusive"}},
	{"over the rate, no times", subscribedTo(capable, capable, squeeze(3, 8, time.Millisecond), bare),
		[]string{"rate no-times inconclusive"}},

	{"an excluded event", subscribedTo(strings.Replace(capable, "{",
		`{"event_filters":{"exclude":["https://aaep-protocol.org/types/agent.progress.*"]},`, 1),
		strings.Replace(capable, "{", `{"event_filters":{"exclude":["aaep:agent.progress.*"]},`, 1),
		insert(4, framed("00:01.5", "producer", event("p", 1, aaep.ProgressUpdated, `"progress":{}`))), renumber),
		[]string{"5 filters filtered-out error"}},
	{"tool events taken away", subscribedTo(strings.Replace(capable, "{",
		`{"event_filters":{"exclude":["aaep:agent.tool.*"]},`, 1), strings.Replace(capable, "{",
		`{"event_filters":{"exclude":["aaep:agent.tool.*"]},`, 1), drop(6, 7), drop(10, 11)),
		[]string{"confirmation not-exercised inconclusive"}},
	{"tool events that nobody asked to take away", subscribedTo(capable, strings.Replace(capable, "{",
		`{"event_filters":{"exclude":["aaep:agent.tool.*"]},`, 1), drop(6, 7), drop(10, 11)),
		[]string{"10 state state-chain error", "tools not-exercised inconclusive",
			"confirmation not-exercised inconclusive"}},
	{"gaps without a filter", subscribedTo(capable, capable, drop(6, 7)),
		[]string{"6 envelope sequence error"}},
	{"an extension that is not included", subscribedTo(strings.Replace(capable, "{",
		`{"event_filters":{"include":["aaep:agent.*"]},`, 1), strings.Replace(capable, "{",
		`{"event_filters":{"include":["aaep:agent.*"]},`, 1), insert(4, framed("00:01.5", "producer",
		strings.Replace(event("p", 1, aaep.ProgressUpdated, `"x":1`), "aaep:", "medai:", 1))), renumber),
		[]string{"5 filters filtered-out error"}},
	{"an extension where no filter is named", subscribedTo(capable, capable, insert(4, framed("00:01.5", "producer",
		strings.Replace(event("p", 1, aaep.ProgressUpdated, `"x":1`), "aaep:", "medai:", 1))), renumber), nil},

	{"a chunk off the boundaries", subscribedTo(capable, capable, set(15, `"sentence"`, `"word"`)),
		[]string{"15 coalescing boundary error"}},
	{"a chunk without a hint", subscribedTo(capable, capable, set(15, `"coalesce_hint":"sentence",`, "")),
		[]string{"15 coalescing boundary error", "15 output no-coalesce-hint warning"}},
	{"a last chunk off the boundaries", subscribedTo(capable, capable, set(17, `"completion"`, `"none"`)), nil},
	{"a chunk within a word", subscribedTo(capable, capable, set(15, "Dóne. ", "Dóne ó")),
		[]string{"15 coalescing boundary-text warning"}},

	{"another language", subscribedTo(capable, capable, set(18, `"summary_normal"`,
		`"localization_hints":{"primary_language":"fr"},"summary_normal"`)), []string{"18 languages language error"}},
	{"a language in another case", subscribedTo(capable, capable, set(18, `"summary_normal"`,
		`"localization_hints":{"primary_language":"DE"},"summary_normal"`)), nil},

	{"on its way when it was closed", subscribedTo(capable, capable, move(19, 17)), nil},
	{"after the close", subscribedTo(capable, capable, move(19, 17), set(18, "00:20Z", "00:13.9Z")),
		[]string{"19 close event-after-close error"}},
	{"after the close of another subscription", subscribedTo(capable, capable, move(19, 17), set(18, "00:20Z",
		"00:13.9Z"), set(18, "sub_1", "sub_2")), []string{"18 handshake other-subscription error"}},
	{"after the close, no times", subscribedTo(capable, capable, move(19, 17), bare),
		[]string{"19 close event-after-close warning", "rate no-times inconclusive"}},
}

func TestTerms(t *testing.T) {
	covered := map[string]bool{}
	for _, c := range ofTerms {
		t.Run(c.name, func(t *testing.T) {
			want := slices.Sorted(slices.Values(c.want))
			verdictWanted := verdictOf(want, covered)
			v, got := judged(t, c.text, Options{Level: 3})
			if diff := cmp.Diff(want, got); diff != "" || string(v) != verdictWanted {
				t.Errorf("%s, want %s: %s", v, verdictWanted, diff)
			}
		})
	}
	for _, rule := range aaep.TermRules {
		for _, code := range rule.Codes {
			if key := strings.TrimPrefix(rule.ID, "aaep-") + " " + code.ID; !covered[key] {
				t.Errorf("no case has %s", key)
			}
		}
	}
}

// Below level 3 nothing is said about subscriptions.
func TestTermsBelow(t *testing.T) {
	for _, c := range ofTerms {
		for _, f := range func() []string { _, got := judged(t, c.text, Options{Level: 2}); return got }() {
			for _, rule := range aaep.TermRules {
				if strings.Contains(f, " "+strings.TrimPrefix(rule.ID, "aaep-")+" ") {
					t.Errorf("%s: %s at level 2", c.name, f)
				}
			}
		}
	}
}
