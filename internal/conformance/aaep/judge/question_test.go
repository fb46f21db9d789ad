package judge

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/openagentprotocol-OAP/oap-gate/internal/conformance/aaep"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// play writes sessions as JSON Lines, from words; "|" begins the next session. It returns the word of each line.
//
//	read pay! pay-    a call: irreversible is absent, true or false; then its completion
//	pay!:error        which has that status; pay!:open has no completion yet, pay!:end is the completion alone
//	pay!:risk=medium  a call of that risk_level
//	?a ?a~            the question a: irreversible, reversible
//	?a:accept ?a:5    with a default of accept, with a timeout of 5 s rather than 30
//	+a -a             the replies to a; +a:7200 is 7200 s ahead by the replier's own clock
//	which             a clarification
//	5s                time passes, and the session says something
func play(text string, framed bool) (string, []int) {
	var lines []string
	var words []int
	now := time.Date(2026, 6, 1, 10, 0, 0, 0, time.UTC)
	session, n, calls, word := 1, 0, 0, 0
	write := func(from string, ahead time.Duration, members map[string]any) {
		n++
		members["timestamp"] = now.Add(ahead).Format("2006-01-02T15:04:05.000Z")
		if from == "producer" {
			members["@context"], members["producer"] = aaep.ContextURL, map[string]any{"agent_id": "bank"}
			members["event_id"], members["session_id"] = fmt.Sprint("evt_", n), fmt.Sprint("sess_", session)
			members["type"] = aaep.ShortNamespace + members["type"].(string)
			members["summary_normal"] = "s"
		}
		if framed {
			members = map[string]any{"at": now.Format(time.RFC3339Nano), "from": from, "message": members}
		}
		line, err := json.Marshal(members)
		if err != nil {
			panic(err)
		}
		lines, words = append(lines, string(line)), append(words, word)
		now = now.Add(100 * time.Millisecond)
	}
	open := map[string]string{}
	write("producer", 0, map[string]any{"type": aaep.SessionStarted})
	for _, w := range strings.Fields(text) {
		if w == "|" {
			write("producer", 0, map[string]any{"type": aaep.SessionCompleted})
			session++
			write("producer", 0, map[string]any{"type": aaep.SessionStarted})
			continue
		}
		word++
		name, option, _ := strings.Cut(w, ":")
		token := fmt.Sprint("rpl_", session, name[1:])
		switch {
		case strings.HasPrefix(w, "?"):
			members := map[string]any{"type": aaep.AwaitingConfirmation, "reply_token": strings.TrimSuffix(token, "~"),
				"urgency": "critical", "action": "Do " + name[1:], "consequence": "c", "timeout_seconds": 30,
				"default_decision": "reject", "irreversible": !strings.HasSuffix(name, "~")}
			for _, o := range strings.Split(option, ":") {
				if seconds, err := strconv.Atoi(o); err == nil {
					members["timeout_seconds"] = seconds
				} else if o == "accept" {
					members["default_decision"] = o
				}
			}
			write("producer", 0, members)
		case w == "which":
			write("producer", 0, map[string]any{"type": aaep.AwaitingClarification, "reply_token": fmt.Sprint("rpl_q",
				n),
				"urgency": "critical", "question": "q", "timeout_seconds": 30})
		case w[0] == '+' || w[0] == '-':
			ahead, _ := strconv.Atoi(option)
			write("subscriber", time.Duration(ahead)*time.Second, map[string]any{"type": aaep.ConfirmationReply,
				"reply_token": token, "decision": map[byte]string{'+': "accept", '-': "reject"}[w[0]]})
		case w[0] <= '9':
			wait, err := time.ParseDuration(w)
			if err != nil {
				panic(err)
			}
			now = now.Add(wait)
			write("producer", 0, map[string]any{"type": aaep.ProgressUpdated, "progress": map[string]any{}})
		default:
			tool := strings.TrimRight(name, "!-")
			if option != "end" {
				calls++
				open[tool] = fmt.Sprint("call_", calls)
				members := map[string]any{"type": aaep.ToolInvoked, "tool": tool, "tool_call_id": open[tool]}
				if tool != name {
					members["irreversible"] = strings.HasSuffix(name, "!")
				}
				if risk, ok := strings.CutPrefix(option, "risk="); ok {
					members["risk_level"] = risk
				}
				write("producer", 0, members)
			}
			if option != "open" {
				status := "success"
				if option == "error" || option == "timeout" {
					status = option
				}
				write("producer", 0, map[string]any{"type": aaep.ToolCompleted, "tool": tool,
					"tool_call_id": open[tool],
					"status":       status})
			}
		}
	}
	write("producer", 0, map[string]any{"type": aaep.SessionCompleted})
	return strings.Join(lines, "\n") + "\n", words
}

// played are the findings about questions and calls, as "word code", where the word is counted from 1.
func played(t *testing.T, text string, framed bool) []string {
	t.Helper()
	stream, words := play(text, framed)
	s := NewStream("x", Options{Level: 2})
	must.OK(t, s.Read(strings.NewReader(stream)))
	results := must.Get(s.Results())(t)
	var all []string
	for _, r := range results {
		for _, f := range r.Findings {
			checks := []string{aaep.DefaultDecision.ID, aaep.Confirmation.ID, aaep.Blocking.ID}
			switch {
			case strings.HasSuffix(f.Pointer, "/default_decision"):
			case slices.Contains(checks, r.Check) && f.Line > 0:
				all = append(all, fmt.Sprintf("%d %s", words[f.Line-1], f.Code))
				want := map[string]verdict.Severity{"call-unclear": verdict.Doubt,
					"replies-not-captured": verdict.Doubt, "which-question": verdict.Warning,
					"irreversible-differs": verdict.Warning, "taken-as-plain": verdict.Notice}[f.Code]
				if f.Severity != want || f.Fix == "" {
					t.Errorf("%s has severity %s and fix %q", f.Code, f.Severity, f.Fix)
				}
			case slices.Contains(checks, r.Check):
				all = append(all, f.Code)
			}
		}
	}
	slices.SortFunc(all, func(a, b string) int {
		x, _, _ := strings.Cut(a, " ")
		y, _, _ := strings.Cut(b, " ")
		i, _ := strconv.Atoi(x)
		j, _ := strconv.Atoi(y)
		return i - j
	})
	return all
}

// covers are the rules that link calls to questions: for each, honest sessions and the cheapest dishonest ones.
var covers = []struct{ name, text, want string }{
	{"asked and accepted", "?a +a pay!", ""},
	{"nothing asked", "pay!", "1 not-confirmed"},
	{"refused", "?a -a pay!", "3 after-reject"},
	{"not awaited", "?a pay! -a", "2 before-reply"},
	{"no reply in the input", "?a pay!", "2 replies-not-captured"},

	// 1. A tool is irreversible throughout.
	{"refused, the flag left out", "?a +a pay! | ?b -b pay", "6 after-reject"},
	{"refused, the flag false", "?a +a pay! | ?b -b pay-", "6 after-reject"},
	{"the flag left out before the flagged call", "?b -b pay | ?a +a pay!", "3 after-reject"},
	{"unasked, the flag left out", "?a +a pay! | pay", "4 not-confirmed"},
	{"the flag left out on a call that was accepted", "?a +a pay! | ?b +b pay", "6 irreversible-differs"},
	{"the flag on the refused call alone", "?a -a pay! | ?b +b pay", "3 after-reject, 6 irreversible-differs"},

	// 2. A tool is plain.
	{"a lookup between accept and call", "?a +a look pay!", ""},
	{"a lookup after a refusal, and before a question", "look ?a -a look | ?b +b pay!", "4 taken-as-plain"},
	{"in another session, which comes last", "?a -a look | look ?b +b pay!", "3 taken-as-plain"},
	{"before a reversible question", "look ?a~ -a | ?b -b look | ?c +c pay!", "6 taken-as-plain"},
	{"a lookup after a clarification", "which look ?a -a look | ?b +b pay!", "5 taken-as-plain"},
	{"in a session without a question", "look | ?a -a look | ?b +b pay!", "4 call-unclear"},
	{"in a session with a clarification alone", "look which | ?a -a look | ?b +b pay!", "5 call-unclear"},
	{"plain, and flagged elsewhere", "pay ?a -a pay | ?b +b pay!", "1 not-confirmed, 4 after-reject"},
	{"plain after an accept", "look ?a +a look pay!", "4 taken-as-plain"},
	{"plain, no irreversible question before", "look ?a~ -a look | ?b +b pay!", ""},

	// 3. The tool of an accepted irreversible question.
	{"accepted without a flag", "?a +a pay", "3 irreversible-differs"},
	{"accepted without a flag, refused before", "?b -b pay | ?a +a pay", "3 after-reject, 6 irreversible-differs"},
	{"accepted with the flag false", "?a +a pay- | ?b -b pay-", "3 irreversible-differs, 6 after-reject"},
	{"accepted without a flag, after a plain lookup", "look ?a +a look pay | ?b -b pay",
		"4 taken-as-plain, 5 irreversible-differs, 8 after-reject"},
	{"a lookup before the call that another accept settles", "?a +a pay | ?b +b look pay",
		"3 irreversible-differs, 7 irreversible-differs"},
	{"the same, the other way round", "?b +b look pay | ?a +a pay", "4 irreversible-differs, 7 irreversible-differs"},
	{"nothing settles which of two", "?a +a one two | ?b +b two one",
		"3 irreversible-differs, 4 not-confirmed, 7 irreversible-differs, 8 not-confirmed"},
	{"the next question ends what an accept covers", "?a +a ?b -b pay | ?c +c pay!", "5 after-reject"},
	{"accepted by default, without a flag", "?a:accept:2 3s pay | ?b -b pay", "3 irreversible-differs, 6 after-reject"},

	// 4. A reversible question covers nothing.
	{"anything after a refused reversible question", "?a~ -a look | ?b +b pay!", ""},
	{"an irreversible call after an accepted reversible one", "?a~ +a pay!", "3 not-confirmed"},
	{"a reversible question after the refusal", "?a -a ?b~ +b pay!", "5 after-reject"},
	{"a refused reversible question voids nothing", "?a +a ?b~ -b pay!", ""},
	{"an unknown call after it, an irreversible one refused", "?a -a ?b~ +b look | ?c +c pay!", "5 call-unclear"},

	// 5. An accept is spent once.
	{"one accept for two calls", "?a +a pay! pay!", "4 not-confirmed"},
	{"one accept for two tools", "?a +a pay! wipe!", "4 not-confirmed"},
	{"two accepts for two calls", "?a +a ?b +b pay! pay!", ""},
	{"a retry after an error", "?a +a pay!:error pay!", ""},
	{"a retry without the flag", "?a +a pay!:error pay", "4 irreversible-differs"},
	{"a retry before the error", "?a +a pay!:open pay!:open pay!:end", "4 not-confirmed"},
	{"a retry after a timeout", "?a +a pay!:timeout pay!", "4 not-confirmed"},
	{"a second retry", "?a +a pay!:error pay!:error pay!", "5 not-confirmed"},
	{"a retry after a newer refusal", "?a +a pay!:error ?b -b pay!", "6 after-reject"},
	{"an error after a newer refusal", "?a +a pay!:open ?b -b pay!:end pay!", "7 after-reject"},
	{"an accept before a newer refusal", "?a +a ?b -b pay!", "5 after-reject"},
	{"a newer refusal by default", "?a +a ?b:2 3s pay!", "5 after-reject"},
	{"an accept after an older refusal", "?a -a ?b +b pay!", ""},
	{"and no more than one", "?a -a ?b +b pay! pay!", "6 after-reject"},
	{"each call after a refusal", "?a -a pay! pay!", "3 after-reject, 4 after-reject"},
	{"an accept of another session", "?a +a | pay!", "3 not-confirmed"},
	{"a reply that nobody asked for", "+z pay!", "2 not-confirmed"},
	{"reject, then accept", "?a -a +a pay!", "4 after-reject"},
	{"accept, then reject", "?a +a -a pay!", ""},

	// 6. Two questions at once.
	{"the earlier accepted, the later refused", "?a ?b +a -b pay!", "5 which-question"},
	{"replied to the other way round", "?a ?b -b +a pay!", "5 which-question"},
	{"the later accepted, the earlier refused", "?a ?b -a +b pay!", ""},
	{"both refused", "?a ?b -a -b pay!", "5 after-reject"},
	{"a second call", "?a ?b +a -b pay! pay!", "5 which-question, 6 after-reject"},
	{"both accepted", "?a ?b +a +b pay! pay! pay!", "7 not-confirmed"},
	{"accepted last by a reply", "?a ?b:accept:1 2s look- +a pay!:risk=high", ""},
	{"accepted by a reply when the later is accepted by default", "?a ?b:accept:1 2s +a pay!:risk=high", ""},
	{"accepted last by default", "?a:accept:1 ?b +b 2s pay!:risk=high", "5 default-accept"},

	// 7. What is not known.
	{"an unknown call after a refusal", "?a +a pay! | ?b -b look", "6 call-unclear"},
	{"an unknown call while a question is open", "?a +a pay! | ?b look -b", "5 call-unclear"},
	{"an unknown call that says false", "?a +a pay! | ?b -b look-", "6 call-unclear"},
	{"an unknown call after an accept", "?a +a pay! look", ""},
	{"an unknown call after an accept that a newer refusal follows", "?a +a pay! ?b -b look", "6 call-unclear"},
	{"one general tool, false before a question", "shell- ?a +a shell!", "1 call-unclear"},
	{"one general tool, false in a session without a question", "shell- | ?a +a shell!", "1 call-unclear"},
	{"one general tool, the flag left out before a question", "shell ?a +a shell!", "1 not-confirmed"},
	{"one general tool, false after a question", "?a +a shell! shell-", "4 not-confirmed"},
	{"a name for each operation", "shell.read- ?a +a shell.delete! shell.read-", "5 taken-as-plain"},

	// 8. Times.
	{"a subscriber whose clock is hours ahead", "?a +a:7200 pay!", ""},
	{"a subscriber whose clock is hours behind", "?a +a:-7200 pay!", ""},
	{"late by its place", "?a:2 3s +a pay!", "4 after-reject"},
	{"late by its place, whatever its clock says", "?a:2 3s +a:-7200 pay!", "4 after-reject"},
	{"in time by its place", "?a:5 3s +a pay!", ""},
	{"refused by default", "?a:2 3s pay! | ?b +b", "3 after-reject"},
	{"accepted by default at low risk", "?a:accept:2 3s pay!:risk=low", ""},
	{"accepted by default at medium risk", "?a:accept:2 3s pay!:risk=medium", "3 default-accept"},
	{"accepted by default at high risk, without the flag", "?a:accept:2 3s pay:risk=high", "3 default-accept"},
	{"accepted by a reply at high risk", "?a:accept:2 +a 3s pay!:risk=high", ""},
	{"a default of accept is one accept", "?a:accept:2 3s pay! pay!", "4 not-confirmed"},
	{"a refusal after a default of accept", "?a:accept:2 3s ?b -b pay!", "5 after-reject"},
	{"before a default of accept", "?a:accept:30 3s pay! -a", "3 before-reply"},
}

func TestCovers(t *testing.T) {
	for _, c := range covers {
		for _, framed := range []bool{false, true} {
			if got := strings.Join(played(t, c.text, framed), ", "); got != c.want {
				t.Errorf("%s (framed %v): %q is %q, want %q", c.name, framed, c.text, got, c.want)
			}
		}
	}
}

// Questions that a session adds do not make it forget a refusal or a deadline.
func TestManyQuestions(t *testing.T) {
	var reversible []string
	for i := range maxQuestions {
		reversible = append(reversible, fmt.Sprintf("?r%d~", i))
	}
	many := strings.Join(reversible, " ")
	clarifications := strings.Repeat("which ", maxQuestions)
	for _, c := range []struct{ name, text, want string }{
		{"an unknown call after a refusal", "?a -a " + many + " look | ?b +b pay!", "259 call-unclear"},
		{"an unknown call after an accept", "?a +a " + many + " look", "not-exercised"},
		{"a late reply", "?a " + clarifications + "60s +a pay!", "260 after-reject"},
		{"a reply in time", "?a " + clarifications + "1s +a pay!", ""},
	} {
		if got := strings.Join(played(t, c.text, true), ", "); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// What is said about a session does not depend on where it is in the input.
func TestCoversInAnyOrder(t *testing.T) {
	for _, c := range covers {
		sessions := strings.Split(c.text, "|")
		slices.Reverse(sessions)
		codes := func(text string) []string {
			var all []string
			for _, f := range played(t, text, false) {
				all = append(all, f[strings.Index(f, " ")+1:])
			}
			slices.Sort(all)
			return all
		}
		if diff := cmp.Diff(codes(c.text), codes(strings.Join(sessions, " | "))); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}

// By frames, a question may have arrived up to 2 s later than its timeout began: a call may rest that much earlier on a
// default of accept. A reply that comes first still counts.
func TestDefaultOnTheWire(t *testing.T) {
	for _, c := range []struct{ text, framed, plain string }{
		{"?a:accept:5 4s pay!:risk=low -a", "", "3 before-reply"},
		{"?a:accept:5 2s pay!:risk=low -a", "3 before-reply", "3 before-reply"},
		{"?a:accept:2 1s pay!:risk=low -a", "", "3 before-reply"},
		{"?a:accept:5 4s -a pay!:risk=low", "4 after-reject", "4 after-reject"},
		{"?a:5 4s pay!:risk=low -a", "3 before-reply", "3 before-reply"},
	} {
		for framed, want := range map[bool]string{true: c.framed, false: c.plain} {
			if got := strings.Join(played(t, c.text, framed), ", "); got != want {
				t.Errorf("%s (framed %v): %q, want %q", c.text, framed, got, want)
			}
		}
	}
}

// By frames the time is that of the wire, and nobody's own clock; where one message is no frame, timestamps count.
func TestFrames(t *testing.T) {
	text, _ := play("?a:2 +a pay!", true)
	lines := strings.Split(strings.TrimSpace(text), "\n")
	late := func(lines []string) string { // the reply and what follows pass 3 s later than they say
		lines = slices.Clone(lines)
		for i := 2; i < len(lines); i++ {
			lines[i] = strings.Replace(lines[i], `"at":"2026-06-01T10:00:00`, `"at":"2026-06-01T10:00:03`, 1)
		}
		return strings.Join(lines, "\n")
	}
	bare := slices.Clone(lines)
	bare = append(bare, `{"type":"subscription.close","subscription_id":"sub_1","reason_code":"x"}`)
	change := func(old, text string) string {
		if !strings.Contains(strings.Join(lines, "\n"), old) {
			t.Fatal(old)
		}
		return strings.Replace(strings.Join(lines, "\n"), old, text, 1)
	}
	for _, c := range []struct{ text, want string }{
		{text, ""},
		{late(lines), "4 blocking after-reject error"},
		{late(bare), ""},
		{change(`"at":"2026-06-01T10:00:00.1Z"`, `"at":"soon"`), "2 envelope frame error"},
		{change(`"at":"2026-06-01T10:00:00.1Z",`, ``), "2 envelope frame error"},
		{change(`"from":"subscriber"`, `"from":"producer"`),
			"3 envelope frame error, 4 blocking replies-not-captured inconclusive"},
		{change(`"from":"producer"`, `"from":"subscriber"`), "1 envelope frame error"},
		{change(`"from":"producer"`, `"from":"me"`), "1 envelope frame error"},
	} {
		_, got := judged(t, c.text, Options{Level: 2})
		got = slices.DeleteFunc(got, func(f string) bool {
			return strings.Contains(f, " state ") || strings.Contains(f, "not-exercised")
		})
		if diff := cmp.Diff(c.want, strings.Join(got, ", ")); diff != "" {
			t.Errorf("%s: %s", c.text, diff)
		}
	}
	s := NewStream("x", Options{Level: 1})
	must.OK(t, s.Read(strings.NewReader(change(`"event_id":"evt_2"`, `"event_id":"2"`))))
	results := must.Get(s.Results())(t)
	if f := results[0].Findings; len(f) != 1 || f[0].Pointer != "/message/event_id" {
		t.Errorf("%+v", f)
	}
}

// People attest each tool that was taken as plain.
func TestPlainRows(t *testing.T) {
	text, _ := play("look ?a -a look look | save ?b -b save | ?c +c pay!"+strings.Repeat(" look", maxLines), false)
	s := NewStream("x", Options{Level: 2})
	must.OK(t, s.Read(strings.NewReader(text)))
	results := must.Get(s.Results())(t)
	var rows []string
	for _, r := range results {
		if r.Verdict == verdict.Manual {
			rows = append(rows, r.Check+" "+r.Subject+" "+r.Reason)
		}
	}
	var lines string
	for n := 24; n <= 58; n += 2 {
		lines += fmt.Sprintf(", %d", n)
	}
	want := []string{
		`AAEP-P2.2b x the tool "look" was taken as plain in lines 6, 8` + lines + ` and 2 more`,
		`AAEP-P2.2b x the tool "save" was taken as plain in line 16`}
	if diff := cmp.Diff(want, rows); diff != "" {
		t.Error(diff)
	}
}
