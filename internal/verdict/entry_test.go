package verdict

import (
	"errors"
	"strings"
	"testing"
)

// The runner calls the selected entries in the order of the catalogue. An entry that says nothing ends the run with
// its id, as does one that fails with its error.
func TestRun(t *testing.T) {
	says := func(id string, o Outcome, err error) Entry[string] {
		return Entry[string]{Rule{ID: id, Cite: "section " + id}, func(s string) (Outcome, error) {
			said := o
			said.Verified += s
			return said, err
		}}
	}
	bug := errors.New("bug")
	first, second := says("b", Pass("of "), nil), says("a", Pass("is "), nil)
	for _, c := range []struct {
		name      string
		catalogue []Entry[string]
		only      string
		want      string
		fails     error
	}{
		{"all, in order", []Entry[string]{first, second}, "ba", "b: of x, a: is x", nil},
		{"the selected one", []Entry[string]{first, second}, "a", "a: is x", nil},
		{"silence that is not selected", []Entry[string]{first, silent("c")}, "b", "b: of x", nil},
		{"silence", []Entry[string]{first, silent("c")}, "bc", "check c said nothing of x.json", ErrUnsaid},
		{"a failure", []Entry[string]{says("b", Outcome{}, bug), silent("c")}, "bc", "bug", bug},
	} {
		results, err := Judge(c.catalogue, func(id string) bool { return strings.Contains(c.only, id) }, "x", "x.json")
		var got []string
		for _, r := range results {
			if r.Subject != "x.json" || r.Verdict != Passed {
				t.Errorf("%s: %+v", c.name, r)
			}
			got = append(got, r.Check+": "+r.Reason)
		}
		if err != nil {
			got = append(got, err.Error())
		}
		if !errors.Is(err, c.fails) || strings.Join(got, ", ") != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	if judged, err := Run([]Entry[string]{first, second}, nil, "x", "x.json"); err != nil || len(judged) != 2 {
		t.Errorf("without a selection: %+v, %v; want both", judged, err)
	}
}

func silent(id string) Entry[string] {
	return Entry[string]{Rule{ID: id}, func(string) (Outcome, error) { return Outcome{}, nil }}
}
