package judge

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/conformance/aaep"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

// Each message of a stream stands where it begins, and what is no message is a finding at its place.
func TestRead(t *testing.T) {
	const x = `{"type":"subscription.x"}`
	for _, c := range []struct{ name, text, want string }{
		{"lines", x + "\n\n  " + x + "\r\n" + x, "3"},
		{"an object over lines", "\n{\n \"type\":\n \"subscription.x\"}\n", "1"},
		{"an object over lines, broken", "{\n \"type\":\n nul}\n", "1 [3:5 json-syntax]"},
		{"a broken line", x + "\n{\"a\":\n" + x, "3 [2:6 json-syntax]"},
		{"a broken first line", "{\"a\":\n" + x, "2 [1:6 json-syntax]"},
		{"a number", "5", "1 [1:1 not-an-object]"},
		{"a text line", "hello\n" + x, "2 [1:1 json-syntax]"},
		{"an array line", x + "\n[]", "2 [2:1 not-an-object]"},
		{"two on a line", x + x, "1 [1:26 trailing-text]"},
		{"array", "[" + x + ",\n " + x + "]\n", "2"},
		{"empty array", " [ ] ", "0"},
		{"array of others", "[5, \"],\", [[1]],\n{}]",
			"4 [1:11 not-an-object] [1:2 not-an-object] [1:5 not-an-object]"},
		{"array without end", "[" + x + ",", "1 [1:28 json-syntax]"},
		{"array without end, in an element", "[" + x + ",{\"a\"", "1 [1:32 json-syntax]"},
		{"array without end, at once", "[", "0 [1:2 json-syntax]"},
		{"array with a comma too many", "[" + x + ",]", "1 [1:27 json-syntax]"},
		{"array closed by a brace", "[" + x + "}", "1 [1:27 json-syntax]"},
		{"an element that is not JSON", "[" + x + ",\n {\"a\" 1}," + x + "]", "1 [2:7 json-syntax]"},
		{"array with text after it", "[" + x + "]\n x", "1 [2:2 trailing-text]"},
		{"two arrays", "[][]", "0 [1:3 trailing-text]"},
		{"fault in an array", "[\n " + x + ",\n {\"a\":1,\n\"a\":2}]", "2 [4:1 duplicate-member]"},
		{"byte order mark", "\ufeff" + x, "1 [1:1 byte-order-mark]"},
		{"NUL", x + "\x00\n\x00", "2 [1:26 trailing-text] [2:1 json-syntax]"},
		{"lone surrogate", `{"type":"\ud800"}`, "1 [1:10 lone-surrogate]"},
		{"no UTF-8", "{\"type\":\"\xff\"}", "1 [1:10 invalid-utf8]"},
		{"duplicate member", x + "\n" + `{"a":1,"a":2}`, "2 [2:8 duplicate-member]"},
		{"deep", strings.Repeat(`{"a":`, 65), "1 [1:321 nesting-too-deep]"},
	} {
		s := NewStream("x", Options{Level: 1, Single: true})
		if err := s.Read(strings.NewReader(c.text)); err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		var found []string
		for _, f := range s.own.found[aaep.Envelope] {
			if f.Code != "missing-member" && f.Code != "type-unknown" {
				found = append(found, fmt.Sprintf("[%d:%d %s]", f.Line, f.Column, f.Code))
			}
		}
		slices.Sort(found)
		if got := strings.TrimSpace(fmt.Sprint(s.messages, " ", strings.Join(found, " "))); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// endless repeats a text for ever.
type endless string

func (e endless) Read(p []byte) (int, error) {
	return copy(p, strings.Repeat(string(e), len(p)/len(e)+1)), nil
}

// What is larger than is read ends with an error that names the cap, whatever it is.
func TestReadCaps(t *testing.T) {
	long := `{"a":"` + strings.Repeat("x", aaep.MaxMessage) + `"}`
	const less = 4 << 20 // to judge 64 MiB takes a minute under the race detector
	for _, c := range []struct {
		name string
		from io.Reader
		want error
	}{
		{"64 MiB in a line", endless(`{"a":"`), aaep.ErrLongMessage},
		{"64 MiB of blanks", endless(" \n"), aaep.ErrTooLarge},
		{"64 MiB of one string in an array", io.MultiReader(strings.NewReader(`["`), endless("x")), aaep.ErrTooLarge},
		{"lines without end", endless(`{"a":"` + strings.Repeat("x", 10_000) + "\"}\n"), aaep.ErrTooLarge},
		{"an object over lines without end", io.MultiReader(strings.NewReader("{\n"), endless("\"a\":1,\n")),
			aaep.ErrLongMessage},
		{"a long line after a short one", strings.NewReader("{}\n" + long), aaep.ErrLongMessage},
		{"a long element", strings.NewReader("[{}," + long + "]"), aaep.ErrLongMessage},
		{"200,001 messages", strings.NewReader(strings.Repeat("{}\n", aaep.MaxMessages+1)), aaep.ErrTooMany},
		{"200,001 elements", strings.NewReader("[" + strings.Repeat("1,", aaep.MaxMessages) + "1]"), aaep.ErrTooMany},
	} {
		s := NewStream("x", Options{Level: 1})
		if s.most != aaep.MaxBytes {
			t.Fatalf("%d bytes are read", s.most)
		}
		if !strings.HasPrefix(c.name, "64 MiB") {
			s.most = less
		}
		if err := s.Read(c.from); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
	}
}

func TestManySessions(t *testing.T) {
	s := NewStream("x", Options{Level: 2})
	for i := range aaep.MaxSessions + 1 {
		err := s.Add(i+1, 1, fmt.Appendf(nil, `{"type":"aaep:agent.tool.invoked","session_id":"sess_%d"}`, i))
		if want := i == aaep.MaxSessions; errors.Is(err, aaep.ErrSessions) != want || (err != nil) != want {
			t.Fatalf("session %d: %v", i+1, err)
		}
	}
	results := must.Get(s.Results())(t)
	subjects := map[string]int{}
	for _, r := range results {
		subjects[r.Subject] += len(r.Findings)
	}
	if len(subjects) != aaep.MaxSubjects+1 || subjects["x"] > 20*aaep.MaxListed {
		t.Errorf("%d subjects, %d findings on the whole", len(subjects), subjects["x"])
	}
}

// What is over the findings that are listed is counted, and fails no less.
func TestManyFindings(t *testing.T) {
	line := strings.Split(strings.TrimSpace(conforming), "\n")[3]
	v, got := judged(t, strings.Repeat(line+"\n", 2*aaep.MaxListed), Options{Level: 1})
	if n := slices.Index(got, "envelope event-id-twice error"); v != "fail" || n < 0 || len(got) > 10*aaep.MaxListed {
		t.Errorf("%s, %d findings, the sum at %d", v, len(got), n)
	}
}

// Whatever is read ends in a verdict or an error, and an empty or broken input never in a pass.
func FuzzRead(f *testing.F) {
	for _, c := range cases {
		if text := edited(c.edits...); len(text) < 10_000 {
			f.Add(text, c.level == 2, false)
		}
	}
	f.Add("[{},]", true, true)
	f.Add("{\n}", true, false)
	f.Fuzz(func(t *testing.T, text string, two, single bool) {
		o := Options{Level: 1, Single: single}
		if two {
			o.Level = 2
		}
		s := NewStream("x", o)
		if err := s.Read(strings.NewReader(text)); err != nil {
			return
		}
		messages, broken := s.messages, len(s.own.found[aaep.Envelope]) > 0
		v, _ := announced(t, s)
		if v == "pass" && (messages == 0 || broken) {
			t.Fatalf("%q passes", text)
		}
	})
}
