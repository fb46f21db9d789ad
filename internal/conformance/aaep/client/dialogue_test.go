package client

import (
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/openagentprotocol-OAP/oap-gate/internal/conformance/aaep"
	"github.com/openagentprotocol-OAP/oap-gate/internal/conformance/aaep/judge"
	"github.com/openagentprotocol-OAP/oap-gate/internal/conformance/aaep/jws"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/aaeptest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

// negotiating has a question that can be left open.
const negotiating = `
- {name: yes, start: pay, reply: accept}
- {name: held, start: held, reply: reject}
`

// faultOfTerms is a fault of level 3 with what it comes to.
type faultOfTerms struct {
	o    aaeptest.Options
	want string
}

var faultsOfTerms = []faultOfTerms{
	{aaeptest.Options{}, ""},
	{aaeptest.Options{Prefix: "/aaep/v1"}, ""},
	{aaeptest.Options{InStream: true}, ""},
	{aaeptest.Options{SelfStart: true}, "aaep-live-close not-exercised inconclusive"},
	{aaeptest.Options{Fault: "any-version"}, "aaep-live-handshake version-accepted error"},
	{aaeptest.Options{Fault: "other-version"}, "aaep-live-handshake version-accepted warning"},
	{aaeptest.Options{Fault: "odd-reason"}, "aaep-live-handshake reason-code warning|aaep-live-signed reason-code " +
		"warning"},
	{aaeptest.Options{Fault: "no-reason"}, "aaep-handshake member-value error|aaep-live-handshake member-value error|" +
		"aaep-live-signed member-value error"},
	{aaeptest.Options{Fault: "deaf-version"}, "aaep-handshake no-answer error|aaep-live-handshake no-answer error"},
	{aaeptest.Options{Fault: "deaf-renegotiate"}, "aaep-handshake no-answer error|aaep-live-renegotiate no-answer " +
		"error"},
	{aaeptest.Options{Fault: "mute"}, "aaep-handshake event-before-accepted error|aaep-handshake no-answer error|" +
		"aaep-handshake not-exercised inconclusive|aaep-live-handshake no-answer error"},
	{aaeptest.Options{Fault: "late-accepted"}, "aaep-handshake event-before-accepted error|" +
		"aaep-live-handshake no-answer error"},
	{aaeptest.Options{Fault: "nameless"}, "aaep-handshake missing-member error"},
	{aaeptest.Options{Fault: "unasked"}, "aaep-handshake not-asked error"},
	{aaeptest.Options{Fault: "grants-more"}, "aaep-honored more-permissive error"},
	{aaeptest.Options{Fault: "no-rate"}, "aaep-rate over-rate error"},
	{aaeptest.Options{Fault: "ignores-terms"}, "aaep-rate over-rate error"},
	{aaeptest.Options{Fault: "mute-renegotiate"}, "aaep-handshake no-answer error|aaep-live-renegotiate no-answer " +
		"error"},
	{aaeptest.Options{Fault: "rejects-lower"}, "aaep-live-renegotiate renegotiate-rejected error"},
	{aaeptest.Options{Fault: "goes-on"}, "aaep-handshake event-after-rejected error|" +
		"aaep-live-renegotiate renegotiate-rejected error"},
	{aaeptest.Options{Fault: "renames"}, "aaep-handshake other-subscription error"},
	{aaeptest.Options{Fault: "holds-critical"}, "aaep-rate critical-delayed error"},
	{aaeptest.Options{Fault: "no-filter"}, "aaep-filters filtered-out error|aaep-live-critical filtered-out error"},
	{aaeptest.Options{Fault: "filters-critical"}, "aaep-live-critical critical-filtered error"},
	{aaeptest.Options{Fault: "no-coalesce"}, "aaep-coalescing boundary error"},
	{aaeptest.Options{Fault: "splits-words"}, "aaep-coalescing boundary-text warning"},
	{aaeptest.Options{Fault: "other-language"}, "aaep-languages language error"},
	{aaeptest.Options{Fault: "ignores-close"}, "aaep-close event-after-close error|aaep-live-close " +
		"event-after-close error"},
	{aaeptest.Options{Fault: "keeps-question"}, "aaep-live-close close-default-not-applied error"},
	{aaeptest.Options{Fault: "acts-on-close"}, "aaep-live-close close-default-not-applied error"},
	{aaeptest.Options{Refused: "read"}, "aaep-blocking taken-as-plain notice"},
	{aaeptest.Options{Refused: "look"}, "aaep-blocking call-unclear inconclusive|aaep-live-close call-unclear " +
		"inconclusive"},
	{aaeptest.Options{Fault: "no-manifest"}, "aaep-live-manifest no-manifest error"},
	{aaeptest.Options{Fault: "manifest-short"}, "aaep-live-manifest missing-member error"},
	{aaeptest.Options{Fault: "manifest-odd"}, "aaep-live-manifest member-value error"},
	{aaeptest.Options{Fault: "manifest-agent"}, "aaep-live-manifest manifest-agent error"},
	{aaeptest.Options{Fault: "manifest-level"}, "aaep-live-manifest manifest-level error"},
	{aaeptest.Options{Fault: "unsigned-accepted"}, "aaep-live-signed unsigned-accepted error"},
	{aaeptest.Options{Sign: "ES256"}, "aaep-live-signed jws-no-key inconclusive"},
	{aaeptest.Options{Sign: "EdDSA", OwnKey: true}, "aaep-live-signed jws-own-key warning"},
	{aaeptest.Options{Sign: "RS256", OwnKey: true}, "aaep-live-signed jws-own-key warning"},
	{aaeptest.Options{Sign: "ES256", OwnKey: true, Fault: "jws-form"}, "aaep-live-signed jws-form error"},
	{aaeptest.Options{Sign: "ES256", OwnKey: true, Fault: "jws-alg"}, "aaep-live-signed jws-alg error"},
	{aaeptest.Options{Sign: "ES256", OwnKey: true, Fault: "jws-signature"}, "aaep-live-signed jws-signature error"},
	{aaeptest.Options{Sign: "ES256", OwnKey: true, Fault: "jws-agent"}, "aaep-live-manifest manifest-agent error|" +
		"aaep-live-signed jws-own-key warning|aaep-live-signed manifest-agent error"},
}

func levelThree(l *Live) { l.Level = 3 }

func TestDialogues(t *testing.T) {
	for _, c := range faultsOfTerms {
		t.Run(c.o.Fault+c.o.Sign, func(t *testing.T) {
			v, got, captured := visited(t, c.o, negotiating, levelThree)
			want := strings.FieldsFunc(c.want, func(r rune) bool { return r == '|' })
			if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" || string(v) != aaeptest.VerdictOf(want) {
				t.Errorf("%s, want %s: %s\n%s", v, aaeptest.VerdictOf(want), diff, captured.Messages)
			}
			// The capture says the same again, the rows of the run apart.
			want = slices.DeleteFunc(want, func(f string) bool { return strings.HasPrefix(f, "aaep-live-") })
			_, again := judged(t, string(captured.Messages), judge.Options{Level: 3})
			for i, f := range again {
				words := strings.Fields(f)
				again[i] = "aaep-" + strings.Join(words[len(words)-3:], " ")
			}
			slices.Sort(again)
			if diff := cmp.Diff(want, slices.Compact(again), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("the capture: %s", diff)
			}
			if c.want == "" {
				for _, r := range captured.Results {
					if strings.HasPrefix(r.Check, "aaep-live-") && r.Verdict != "pass" &&
						!slices.Contains([]string{aaep.LiveForged.ID,
							aaep.LiveTwice.ID, aaep.LiveLate.ID, aaep.LiveTimeout.ID, aaep.LiveClarify.ID}, r.Check) {
						t.Errorf("%s: %s %s", r.Check, r.Verdict, r.Reason)
					}
				}
			}
		})
	}
}

// Each error of a live row of level 3 is one that a peer gets.
func TestDialoguesCover(t *testing.T) {
	var all strings.Builder
	for _, c := range faultsOfTerms {
		all.WriteString(c.want + "|")
	}
	for _, rule := range aaep.Rules {
		if !strings.HasPrefix(rule.ID, "aaep-live-") || rule.Level != 3 {
			continue
		}
		for _, code := range rule.Codes {
			if code.ID != aaep.NotExercised && !strings.Contains(all.String(), rule.ID+" "+code.ID+" ") {
				t.Errorf("no peer gets %s %s", rule.ID, code.ID)
			}
		}
	}
}

// termRows returns the rows of the sessions of level 3.
func termRows() (rows []*aaep.Rule) {
	for _, p := range probings() {
		if p.hold != nil {
			rows = append(rows, p.row)
		}
	}
	return rows
}

// Without a question that can be left open, or a session that asks at all, the checks say so.
func TestDialoguesUnshown(t *testing.T) {
	v, got, _ := visited(t, aaeptest.Options{}, "- {name: a, start: b, reply: accept}", levelThree)
	if want := []string{"aaep-live-close not-exercised inconclusive"}; cmp.Diff(want, got) != "" ||
		v != "inconclusive" {
		t.Errorf("%s %s", v, got)
	}
	v, got, _ = visited(t, aaeptest.Options{Fault: "ask-nothing"}, negotiating, levelThree)
	want := []string{"aaep-confirmation not-exercised inconclusive", "aaep-live-close not-exercised inconclusive",
		"aaep-live-critical not-exercised inconclusive"}
	if diff := cmp.Diff(want, got); diff != "" || v != "inconclusive" {
		t.Errorf("%s %s", v, diff)
	}
	v, got, _ = visited(t, aaeptest.Options{Fault: "rejects"}, negotiating, levelThree)
	want = []string{"aaep-lifecycle no-events inconclusive"}
	rows := termRows()
	for _, row := range rows {
		switch row {
		case aaep.LiveHandshake, aaep.LiveSigned:
			want = append(want, row.ID+" reason-code warning")
		default:
			want = append(want, row.ID+" not-exercised inconclusive")
		}
	}
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" || v != "inconclusive" {
		t.Errorf("%s %s", v, diff)
	}
	for _, o := range []struct {
		o         aaeptest.Options
		scenarios string
	}{{aaeptest.Options{Reference: true}, negotiating}, {aaeptest.Options{}, "- {name: a, start: b, reply: reject}"}} {
		_, _, captured := visited(t, o.o, o.scenarios, levelThree)
		for _, r := range captured.Results {
			if slices.ContainsFunc(rows, func(row *aaep.Rule) bool { return row.ID == r.Check }) &&
				r.Verdict != "skip" {
				t.Errorf("%s: %s %s", r.Check, r.Verdict, r.Reason)
			}
		}
	}
}

// A peer that does not answer, or sends what has no end, ends in a finding within the time of --timeout.
func TestDialoguesHostile(t *testing.T) {
	for fault, want := range map[string]string{"deaf": "session-hangs", "silent": "session-hangs",
		"hang": "no-stream",
		"drip": "session-hangs",
		"drop": "stream-dropped", "endless": "stream-too-large", "endless-line": "stream-too-large",
		"elsewhere": "no-subscription", "unavailable": "http-status"} {
		v, got, _ := visited(t, aaeptest.Options{Fault: fault}, negotiating, func(l *Live) {
			l.Level, l.most = 3, 4<<20
		})
		if fault == "deaf" && (v != "fail" || !slices.Contains(got, "aaep-live-handshake no-answer error")) {
			t.Errorf("%s: %s %s", fault, v, got)
		}
		if v == "pass" || !strings.Contains(strings.Join(got, "|"), "aaep-live-stream "+want) {
			t.Errorf("%s: %s %s", fault, v, got)
		}
	}
}

// The key that the operator gives decides.
func TestManifestKey(t *testing.T) {
	for _, alg := range []string{"ES256", "RS256", "PS256", "EdDSA"} {
		for _, known := range []bool{true, false} {
			synctest.Test(t, func(t *testing.T) {
				pipe := aaeptest.NewPipe()
				p := must.Get(aaeptest.Start(aaeptest.Options{Listener: pipe, Sign: alg, OwnKey: true}))(t)
				defer p.Close()
				v, got, _ := visitedOver(t, pipe, false, negotiating, func(l *Live) {
					l.Level, l.ManifestKey = 3, p.ManifestKey
					if !known {
						other := must.Get(jws.ParseKey([]byte(`{"kty":"OKP","crv":"Ed25519",` +
							`"x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}`)))(t)
						l.ManifestKey = other
					}
				})
				want := map[bool]string{true: "pass []", false: "fail [aaep-live-signed jws-signature error]"}[known]
				if announced := string(v) + " [" + strings.Join(got, " ") + "]"; announced != want {
					t.Errorf("%s: %s, want %s", alg, announced, want)
				}
			})
		}
	}
}

// tripper answers by its own name.
type tripper string

func (to tripper) RoundTrip(r *http.Request) (*http.Response, error) {
	resp := &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Request: r,
		Body: io.NopCloser(strings.NewReader(string(to)))}
	if r.URL.Path == "/elsewhere" {
		resp.StatusCode = http.StatusFound
		resp.Header.Set("Location", "/.well-known/aaep-manifest.json")
	}
	return resp, nil
}

// The manifest comes from the producer's own server or from a public one, by no redirect.
func TestManifestElsewhere(t *testing.T) {
	own := must.Get(url.Parse("http://127.0.0.1:8080/agent/"))(t)
	for at, want := range map[string]string{
		"":                                "own",
		"http://127.0.0.1:8080/m.json":    "own",
		"https://agent.example/m.json":    "public",
		"http://agent.example/m.json":     "expected the producer's own server",
		"http://127.0.0.1:8081/m.json":    "expected the producer's own server",
		"ftp://agent.example/m.json":      "expected the producer's own server",
		"/m.json":                         "expected an https URL",
		"https://a:b@agent.example/":      "expected an https URL",
		"https://agent.example/%zz":       "expected an https URL",
		"http://127.0.0.1:8080/elsewhere": "the status 302",
	} {
		v := &visit{Live: &Live{URL: own, Timeout: time.Second, Public: tripper("public")},
			client: http.Client{Transport: tripper("own"), CheckRedirect: noRedirect}}
		got, wrong := v.fetch(t.Context(), aaep.NewMessage(aaep.Place{}, map[string]any{"manifest_uri": at}))
		if string(got) != want && !strings.Contains(wrong, want) {
			t.Errorf("%s: %s %s, want %s", at, got, wrong, want)
		}
	}
}
