package checks

import (
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

func TestFirstDifference(t *testing.T) {
	parse := func(text string) any {
		d := must.Get(strict.Parse("a", []byte(text), strict.Limits{Bytes: 1000, Depth: 10, Number: 64}))(t)
		return d.Root
	}
	for _, c := range []struct{ a, b, pointer string }{
		{`{"a": 1, "b": [2]}`, `{"b": [2], "a": 1}`, ""}, // order is no difference
		{`{"a": 1}`, `{"a": 2}`, "/a"},
		{`{"a": 1}`, `{"a": "1"}`, "/a"},
		{`{"a": null}`, `{}`, "/a"},
		{`{}`, `{"x/y~z": 1}`, "/x~1y~0z"},
		{`{"b": 1, "a": 1}`, `{"b": 2, "a": 2}`, "/a"}, // the first by name
		{`[]`, `{}`, ""},
		{`{}`, `[]`, ""},
	} {
		pointer, same := firstDifference(parse(c.a), parse(c.b))
		if pointer != c.pointer || same != (c.a[0] == c.b[0] && c.pointer == "") {
			t.Errorf("firstDifference(%s, %s) = %q, %v, want %q", c.a, c.b, pointer, same, c.pointer)
		}
	}
}

// Twins are reported in the order of their paths, so that those beyond the bound are the last ones.
func TestTwinsInOrder(t *testing.T) {
	w, repo := built(t, "base: [{listing: ada}]\npr: [{write: a, text: a}, {write: ａ, text: a}, {write: b, text: a}, "+
		"{write: B, text: a}]")
	rng := must.Get(repo.Range(t.Context(), w.Base, w.Head))(t)
	out, err := newTwins(&Run{Context: t.Context(), Repo: repo, Range: rng})
	if err != nil || len(out.Findings) != 2 || out.Findings[0].Pos.Path != "B" || out.Findings[1].Pos.Path != "ａ" {
		t.Errorf("%+v, %v; expected B, then ａ", out.Findings, err)
	}
}
