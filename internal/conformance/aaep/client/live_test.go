package client

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/conformance/aaep"
	"github.com/openagentprotocol-OAP/oap-gate/internal/conformance/aaep/judge"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/aaeptest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// every has a scenario of each reply.
const every = `
- {name: yes, start: pay, reply: accept}
- {name: "no", start: pay, reply: reject}
- {name: forged, start: pay, reply: forged}
- {name: twice, start: pay, reply: twice}
- {name: late, start: pay, reply: late}
- {name: none, start: {user_message: pay, user_id: 7}, reply: none}
`

// visited are the findings of a run, as "check code severity", its verdict, and what was captured. It takes no time:
// the clock is the bubble's, and so is the wire.
func visited(t *testing.T, o aaeptest.Options, scenarios string,
	change func(*Live)) (v verdict.Verdict, all []string, got *aaeptest.Captures) {
	synctest.Test(t, func(t *testing.T) {
		pipe := aaeptest.NewPipe()
		o.Listener = pipe
		p := must.Get(aaeptest.Start(o))(t)
		defer p.Close()
		v, all, got = visitedOver(t, pipe, o.Reference, scenarios, change)
	})
	return v, all, got
}

// visitedOver is visited with the producer of a pipe.
func visitedOver(t *testing.T, pipe *aaeptest.Pipe, reference bool, scenarios string,
	change func(*Live)) (verdict.Verdict, []string, *aaeptest.Captures) {
	transport := &http.Transport{DisableCompression: true, DialContext: pipe.Dial}
	defer transport.CloseIdleConnections()
	return visitedAt(t, "http://"+pipe.Addr().String(), reference, transport, scenarios, change)
}

func visitedAt(t *testing.T, base string, reference bool, transport http.RoundTripper, scenarios string,
	change func(*Live)) (verdict.Verdict, []string, *aaeptest.Captures) {
	u, err := url.Parse(base)
	must.OK(t, err)
	l := &Live{Transport: transport, URL: u, Layout: LayoutSpec, Level: 2, Path: "x", Timeout: 10 * time.Second}
	if reference {
		l.Layout = LayoutReference
	}
	if l.Scenarios, err = ReadScenarios("s.yml", []byte(scenarios)); err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(l)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	var lines bytes.Buffer
	l.Capture = &lines
	results := must.Get(l.Run(ctx))(t)
	v, all := aaeptest.Once(results)
	return v, all, &aaeptest.Captures{Results: results, Messages: lines.Bytes()}
}

func TestLive(t *testing.T) {
	for _, layout := range []string{LayoutSpec, LayoutReference} {
		for fault, want := range map[string]string{
			"":               "",
			"confirm-late":   "aaep-confirmation not-confirmed error",
			"no-wait":        "aaep-blocking before-reply error",
			"accept-forged":  "aaep-live-forged forged-accepted error",
			"honor-second":   "aaep-live-twice second-reply-honored error",
			"accept-late":    "aaep-live-late late-accepted error",
			"ignore-timeout": "aaep-live-timeout timeout-ignored error",
			"late-default":   "aaep-live-timeout timeout-late warning",
			"no-terminal":    "aaep-live-stream no-terminal error",
			"silent":         "aaep-live-stream session-hangs inconclusive",
			"hang":           "aaep-live-stream no-stream inconclusive",
			"drip":           "aaep-live-stream session-hangs inconclusive",
			"drop":           "aaep-live-stream stream-dropped inconclusive",
			"not-sse":        "aaep-live-stream not-sse error",
			"endless":        "aaep-live-stream stream-too-large error",
			"endless-line":   "aaep-live-stream stream-too-large error",
			"elsewhere":      "aaep-live-stream no-subscription error",
			"unavailable":    "aaep-live-stream http-status inconclusive",
		} {
			if layout == LayoutReference && (fault == "elsewhere" || fault == "unavailable" || strings.HasPrefix(fault,
				"endless")) {
				continue
			}
			t.Run(layout+"/"+fault, func(t *testing.T) {
				v, got, captured := visited(t, aaeptest.Options{Reference: layout == LayoutReference, Fault: fault},
					every, func(l *Live) { l.most = 4 << 20 })
				if diff := cmp.Diff(strings.Fields(want), strings.Fields(strings.Join(got, " "))); diff != "" {
					t.Errorf("%s: %s\n%s", v, diff, plain.Cut(string(captured.Messages), 20000))
				}
				if (v == "pass") != (fault == "" || fault == "late-default") {
					t.Errorf("verdict %s", v)
				}
				if fault != "" {
					return
				}
				// What was captured is judged alike without the producer.
				if v, got := judged(t, string(captured.Messages), judge.Options{Level: 2}); v != "pass" ||
					len(got) > 0 {
					t.Errorf("the capture: %s %s", v, got)
				}
				for _, r := range captured.Results {
					if strings.HasPrefix(r.Check, "aaep-live") && r.Verdict != "pass" &&
						r.Check != aaep.LiveClarify.ID {
						t.Errorf("%s: %s %s", r.Check, r.Verdict, r.Reason)
					}
				}
			})
		}
	}
}

// The whole run decides what a call is, wherever the scenario that shows it is in the file.
func TestLiveCalls(t *testing.T) {
	scenarios := func(list string) string {
		var text string
		for _, reply := range strings.Fields(list) {
			text += fmt.Sprintf("- {name: a%s, start: pay, reply: %q}\n", reply, reply)
		}
		return text
	}
	const every = "accept reject forged twice late none"
	for _, c := range []struct {
		name, scenarios string
		o               aaeptest.Options
		want            []string
	}{
		{"a reversible question first", every, aaeptest.Options{Reversible: true}, nil},
		{"a known lookup after a refusal", every, aaeptest.Options{Refused: "read"},
			[]string{"aaep-blocking taken-as-plain notice"}},
		{"an unknown tool after a refusal", "accept reject", aaeptest.Options{Refused: "look"},
			[]string{"aaep-blocking call-unclear inconclusive"}},
		{"an unknown tool in the probes", "accept twice late", aaeptest.Options{Refused: "look"},
			[]string{"aaep-blocking call-unclear inconclusive", "aaep-live-twice call-unclear inconclusive"}},
		{"an unknown tool after the real reply", "accept forged", aaeptest.Options{Refused: "look"},
			[]string{"aaep-blocking call-unclear inconclusive"}},
		{"the refused tool by another flag", every, aaeptest.Options{Refused: "pay"},
			[]string{"aaep-blocking after-reject error", "aaep-live-twice second-reply-honored error"}},
		{"refusals ignored", every, aaeptest.Options{Fault: "ignore-refusal"},
			[]string{"aaep-blocking after-reject error", "aaep-live-twice second-reply-honored error"}},
		{"a producer that answers itself", "accept reject", aaeptest.Options{Fault: "answers-itself"},
			[]string{"aaep-blocking before-reply error", "aaep-envelope frame error", "aaep-envelope sequence error"}},
		{"a forged reply accepted, the flag left out", "accept forged", aaeptest.Options{Fault: "accept-forged",
			FlagOnly: 1}, []string{"aaep-live-forged forged-accepted error"}},
		{"the accept comes last", "forged accept", aaeptest.Options{Fault: "accept-forged", FlagOnly: 2},
			[]string{"aaep-live-forged forged-accepted error"}},
		{"a second reply, the flag left out", "twice accept", aaeptest.Options{Fault: "honor-second", FlagOnly: 2},
			[]string{"aaep-live-twice second-reply-honored error"}},
		{"a late reply, the flag left out", "late accept", aaeptest.Options{Fault: "accept-late", FlagOnly: 1},
			[]string{"aaep-live-late late-accepted error"}},
		{"no flag at all", "accept forged", aaeptest.Options{Fault: "accept-forged", FlagOnly: 99},
			[]string{"aaep-confirmation irreversible-differs warning", "aaep-live-forged forged-accepted error"}},
		{"no accept at all", "forged", aaeptest.Options{Fault: "accept-forged", FlagOnly: 99},
			[]string{"aaep-confirmation not-exercised inconclusive", "aaep-live-forged call-unclear inconclusive"}},
	} {
		for _, reference := range []bool{false, true} {
			c.o.Reference = reference
			v, got, captured := visited(t, c.o, scenarios(c.scenarios), nil)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%s: %s %s\n%s", c.name, v, diff, plain.Cut(string(captured.Messages), 20000))
			}
			want := "pass"
			for _, f := range c.want {
				if _, severity, _ := strings.Cut(f[strings.Index(f, " ")+1:], " "); severity == "error" ||
					severity == "inconclusive" && want == "pass" {
					want = map[string]string{"error": "fail", "inconclusive": "inconclusive"}[severity]
				}
			}
			if string(v) != want {
				t.Errorf("%s: %s, want %s", c.name, v, want)
			}
		}
	}
}

// A probe of a producer that asks reversible questions alone shows nothing.
func TestLiveReversibleAlone(t *testing.T) {
	v, got, _ := visited(t, aaeptest.Options{Reversible: true, Fault: "ask-reversible"}, every, nil)
	want := []string{"aaep-confirmation not-exercised inconclusive", "aaep-live-forged not-exercised inconclusive",
		"aaep-live-late not-exercised inconclusive", "aaep-live-twice not-exercised inconclusive"}
	if diff := cmp.Diff(want, got); diff != "" || v != "inconclusive" {
		t.Errorf("%s %s", v, diff)
	}
}

func TestLiveBases(t *testing.T) {
	for _, o := range []aaeptest.Options{{Prefix: "/aaep/v1"}, {SelfStart: true}, {Status: http.StatusOK}} {
		if v, got, _ := visited(t, o, "- {name: a, start: b, reply: accept}", nil); v != "pass" || len(got) > 0 {
			t.Errorf("%+v: %s %s", o, v, got)
		}
	}
}

// Without subscription.accepted in its body an answer needs the status of the layout.
func TestLiveStatus(t *testing.T) {
	o := aaeptest.Options{Fault: "mute", Status: http.StatusOK}
	v, got, _ := visited(t, o, "- {name: a, start: b, reply: accept}", nil)
	if v != "fail" || strings.Join(got, "|") != "aaep-live-stream http-status error" {
		t.Errorf("%s %s", v, got)
	}
}

// A reply to a clarification is never empty: the producer would be held to what it did not send.
func TestResponseTo(t *testing.T) {
	for text, want := range map[string]any{
		`{}`:                                     "yes",
		`{"accepted_response_kinds":[]}`:         "yes",
		`{"accepted_response_kinds":["yes_no"]}`: true,
		`{"accepted_response_kinds":["numeric","freetext"]}`:                                       1,
		`{"accepted_response_kinds":["freetext"]}`:                                                 "yes",
		`{"accepted_response_kinds":["multiple_choice"]}`:                                          "yes",
		`{"accepted_response_kinds":["multiple_choice"],"choices":[{"value":"65","label":"Old"}]}`: "65",
		`{"accepted_response_kinds":["multiple_choice"],"choices":["65","67"]}`:                    "65",
		`{"accepted_response_kinds":["multiple_choice"],"choices":[{"id":"a"}]}`:                   "yes",
		`{"accepted_response_kinds":["multiple_choice"],"choices":[{"value":65}]}`:                 "yes",
	} {
		document := must.Get(strict.Parse("", []byte(text), aaep.Limits))(t)
		if got := responseTo(aaep.NewMessage(aaep.Place{}, document.Root.(map[string]any))); got != want {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
}

func TestLiveNothingAsked(t *testing.T) {
	v, got, _ := visited(t, aaeptest.Options{Fault: "ask-nothing"}, every, nil)
	want := []string{"aaep-confirmation not-exercised inconclusive", "aaep-live-forged not-exercised inconclusive",
		"aaep-live-late not-exercised inconclusive", "aaep-live-timeout not-exercised inconclusive",
		"aaep-live-twice not-exercised inconclusive"}
	if diff := cmp.Diff(want, got); diff != "" || v != "inconclusive" {
		t.Errorf("%s %s", v, diff)
	}
}

// Without scenarios for them the live checks are skipped, and at level 1 they are not there.
func TestLiveUnasked(t *testing.T) {
	for level, want := range map[int]string{1: "", 2: "skip skip skip skip skip "} {
		v, got, captured := visited(t, aaeptest.Options{}, "- {name: a, start: b, reply: accept}",
			func(l *Live) { l.Level = level })
		skips := ""
		for _, r := range captured.Results {
			if strings.HasPrefix(r.Check, "aaep-live") && r.Check != aaep.LiveStream.ID {
				skips += string(r.Verdict) + " "
			}
		}
		if v != "pass" || len(got) > 0 || skips != want {
			t.Errorf("level %d: %s %s, %q", level, v, got, skips)
		}
	}
}

func TestLiveBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pipe := aaeptest.NewPipe()
		p := must.Get(aaeptest.Start(aaeptest.Options{Listener: pipe}))(t)
		defer p.Close()
		transport := &http.Transport{DialContext: pipe.Dial}
		defer transport.CloseIdleConnections()
		u, _ := url.Parse(p.URL)
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		l := &Live{Transport: transport, URL: u, Layout: LayoutSpec, Level: 2, Path: "x", Timeout: time.Second}
		l.Scenarios,
			_ = ReadScenarios("s", []byte("- {name: a, start: b, reply: none}\n- {name: b, start: b, reply: late}"))
		captured := must.Get(l.Run(ctx))(t)
		for _, r := range captured {
			if (r.Check == aaep.LiveTimeout.ID || r.Check == aaep.LiveLate.ID) &&
				(r.Verdict != "skip" || !strings.Contains(r.Reason, "exceeds --budget")) {
				t.Errorf("%s: %s %s", r.Check, r.Verdict, r.Reason)
			}
		}
	})
}

// stalled answers nothing before its request ends.
type stalled struct{}

func (stalled) RoundTrip(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

// A producer fails for a request without an answer after --timeout, not at an earlier end of --budget.
func TestLiveBudgetBeforeAnswer(t *testing.T) {
	for timeout, want := range map[time.Duration]verdict.Verdict{2 * time.Second: "fail", time.Minute: "skip"} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
			defer cancel()
			l := &Live{Transport: stalled{}, URL: &url.URL{Scheme: "https", Host: "agent.example"}, Layout: LayoutSpec,
				Level: 3, Path: "x", Timeout: timeout, Scenarios: DefaultScenarios()}
			results := must.Get(l.Run(ctx))(t)
			i := slices.IndexFunc(results, func(r verdict.Result) bool { return r.Check == aaep.LiveHandshake.ID })
			if got := results[i].Verdict; got != want {
				t.Errorf("--timeout %v: %s, want %s", timeout, got, want)
			}
		})
	}
}

// The same over a loopback connection, by the machine's clock.
func TestLiveOnLoopback(t *testing.T) {
	p := must.Get(aaeptest.Start(aaeptest.Options{Reference: true}))(t)
	defer p.Close()
	if v, got, _ := visitedAt(t, p.URL, true, http.DefaultTransport, "- {name: a, start: b, reply: accept}",
		nil); v != "pass" || len(got) > 0 {
		t.Errorf("%s %s", v, got)
	}
}

func TestLiveNobody(t *testing.T) {
	p := must.Get(aaeptest.Start(aaeptest.Options{}))(t)
	p.Close()
	u, _ := url.Parse(p.URL)
	l := &Live{Transport: &http.Transport{}, URL: u, Layout: LayoutSpec, Level: 1, Path: "x", Timeout: time.Second,
		Scenarios: DefaultScenarios()}
	captured := must.Get(l.Run(context.Background()))(t)
	if found := captured[len(captured)-1].Findings; len(found) != 1 || found[0].Code != "no-connection" {
		t.Errorf("%q %s", found[0].Code, found[0].Message)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := l.Run(ctx); err != context.Canceled {
		t.Errorf("%v", err)
	}
}

func TestReadScenarios(t *testing.T) {
	for text, want := range map[string]string{
		"":                                     "no YAML document",
		"a: b":                                 "expected a list",
		"[]":                                   "expected a list",
		"- a":                                  `1:3: [0] is "a"; expected an object`,
		"- {name: a, start: b}":                "1:3: [0].reply is missing from s",
		"- {name: a, start: b, reply: yes}":    `1:23: [0].reply is "yes"; expected accept, reject`,
		"- {name: a, start: b, reply: maybe}":  `1:23: [0].reply is "maybe"`,
		"- {name: a, start: [b], reply: none}": "1:13: [0].start is a list",
		"- {name: a, start: 5, reply: none}":   `1:13: [0].start is 5`,
		"- {name: a, start: b, reply: none, wait: 5s}":                             `1:36: s has the member "[0].wait"`,
		"- {name: a, start: b, reply: none}\n- {name: a, start: b, reply: none}":   "2:3: two of the list",
		"- {name: a, start: {x: .nan}, reply: none}":                               "1:20: start is not a JSON",
		"- &x {name: a, start: b, reply: none}":                                    "anchor",
		strings.Repeat("- {name: a, start: b, reply: none}\n", 50+1):               "expected a list of 1 to 50",
		"- {name: a, start: b, reply: none}\n---\n- {name: a, start: b, reply: n}": "document",
	} {
		if all, err := ReadScenarios("s", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v %v, want %s", plain.Cut(text, 80), all, err, want)
		}
	}
	all, err := ReadScenarios("s",
		[]byte("- {name: a, start: 'b \"c\"', reply: none}\n- {name: d, start: {e: [1, true]}, reply: late}"))
	if got := fmt.Sprintf("%s %v", all,
		err); got != `[{a {"user_message":"b \"c\""} none} {d {"e":[1,true]} late}] <nil>` {
		t.Error(got)
	}
}

// Each error of levels 1 and 2 that a capture may have is one that a running producer with that one fault gets.
func TestLiveCodes(t *testing.T) {
	covered := map[string]bool{"blocking before-reply": true, "blocking after-reject": true,
		"confirmation not-confirmed": true} // of TestLive and TestLiveCalls
	for _, fault := range aaeptest.Edits() {
		_, got, captured := visited(t, aaeptest.Options{Fault: fault},
			"- {name: a, start: pay, reply: accept}\n- {name: b, start: pay, reply: reject}", nil)
		got = slices.DeleteFunc(got, func(f string) bool { return !strings.HasSuffix(f, " error") })
		name := strings.Replace(fault, "/", " ", 1)
		covered[name] = true
		if diff := cmp.Diff([]string{"aaep-" + name + " error"}, got); diff != "" {
			t.Errorf("%s: %s\n%s", fault, diff, captured.Messages)
		}
	}
	elsewhere := []string{"not-an-object", "sequence-gaps", "frame", "no-events", "capture-starts-late", "capture-ends",
		"calling-tool", "writing-output", "position-offset", "no-coalesce-hint", "irreversible-differs",
		aaep.NotExercised,
		"replies-not-captured", "which-question", "call-unclear", "taken-as-plain",
		"no-follow-up"} // after a reply: a session that says nothing more hangs
	for _, rule := range aaep.StreamRules {
		if rule.Level > 2 {
			continue
		}
		for _, code := range rule.Codes {
			name := strings.TrimPrefix(rule.ID, "aaep-") + " " + code.ID
			if !covered[name] && !slices.Contains(elsewhere, code.ID) && !slices.Contains(strict.Codes, code) {
				t.Errorf("no peer gets %s", name)
			}
		}
	}
}

// judged returns the verdict and the findings of a capture.
func judged(t *testing.T, text string, o judge.Options) (verdict.Verdict, []string) {
	t.Helper()
	s := judge.NewStream("x", o)
	must.OK(t, s.Read(strings.NewReader(text)))
	results, err := s.Results()
	return aaeptest.Announced(t, results, err)
}
