package registry

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/git/gitobject"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

// TestParseLike edits directories, well and badly, and holds that decoding one by means of the version before gives
// what decoding it alone does.
func TestParseLike(t *testing.T) {
	rnd := rand.New(rand.NewPCG(8, 9))
	used := 0
	for range 3000 {
		var names []string
		for range rnd.IntN(12) {
			names = append(names, fmt.Sprintf("f%02d", rnd.IntN(40)))
		}
		slices.Sort(names)
		var raw []byte
		for _, name := range slices.Compact(names) {
			raw = append(raw, spelled(rnd, name)...)
		}
		like := must.Get(parseDirectory(raw, 20))(t)
		next := mutate(rnd, slices.Clone(raw), like)
		got, m := parseLike(next, like, 0, 0, nil)
		want, err := parseDirectory(next, 20)
		if got == nil {
			continue
		}
		used++
		if err != nil {
			t.Fatalf("%q after %q is accepted: %v", next, raw, err)
		}
		if !slices.Equal(got.starts, want.starts) || got.flat != want.flat {
			t.Fatalf("%q after %q: entries at %v, want %v", next, raw, got.starts, want.starts)
		}
		for i := range m.first {
			if string(got.span(i)) != string(like.span(i)) {
				t.Fatalf("%q after %q: entry %d differs, the middle is %v", next, raw, i, m)
			}
		}
		if got.len()-m.headEnd != like.len()-m.baseEnd {
			t.Fatalf("%q after %q: different ends after the middle %v", next, raw, m)
		}
		for i := range got.len() - m.headEnd {
			if string(got.span(m.headEnd+i)) != string(like.span(m.baseEnd+i)) {
				t.Fatalf("%q after %q: entry %d differs, the middle is %v", next, raw, m.headEnd+i, m)
			}
		}
	}
	if used < 500 {
		t.Errorf("only %d of 3000 were decoded by the version before", used)
	}
}

func spelled(rnd *rand.Rand, name string) string {
	mode := "100644"
	if rnd.IntN(30) == 0 {
		mode = "40000"
	}
	return mode + " " + name + "\x00" + strings.Repeat(string(rune('a'+rnd.IntN(3))), 20)
}

func mutate(rnd *rand.Rand, raw []byte, f *directory) []byte {
	for range 1 + rnd.IntN(2) {
		at := int(f.starts[rnd.IntN(len(f.starts))])
		if at > len(raw) || rnd.IntN(6) == 0 {
			at = rnd.IntN(len(raw) + 1)
		}
		switch rnd.IntN(4) {
		case 0: // delete
			raw = slices.Delete(raw, at, min(at+31, len(raw)))
		case 1, 2: // insert where it may belong
			raw = slices.Insert(raw, at, []byte(spelled(rnd, fmt.Sprintf("f%02d", rnd.IntN(40))))...)
		default:
			if at < len(raw) {
				raw[at] ^= byte(1 << rnd.IntN(8))
			}
		}
	}
	return raw
}

func FuzzDirectory(f *testing.F) {
	f.Add([]byte(entryText("100644", "a", absent)), []byte(entryText("100644", "b", absent)))
	f.Add([]byte(entryText("40000", "a", absent)), []byte(entryText("160000", "a-b", absent)))
	f.Fuzz(func(t *testing.T, base, head []byte) {
		r := newRepository(nil)
		for _, raw := range [][]byte{base, head} {
			parsed, err := parseDirectory(raw, 20)
			if err != nil {
				return
			}
			for i := range parsed.len() {
				e := parsed.at(i)
				if found, ok := parsed.find(string(e.name)); !ok || found != e.entry {
					t.Errorf("%q is not found", e.name)
				}
			}
			if again := spell(parsed, nil, nil); string(again) != string(raw) {
				t.Errorf("%q is spelled again as %q", raw, again)
			}
		}
		b := must.Get(r.composed.add(object{gitobject.Tree, base}, id(absent)))(t)
		if changes, err := r.compare(ctx, b, b); err != nil || len(changes) > 0 {
			t.Errorf("a directory differs from itself: %v, %v", changes, err)
		}
		like, _ := parseDirectory(base, 20)
		if got, _ := parseLike(head, like, 0, 0, nil); got != nil {
			if want, err := parseDirectory(head, 20); err != nil || !slices.Equal(got.starts, want.starts) {
				t.Errorf("entries at %v, want %v (%v)", got.starts, want.starts, err)
			}
		}
	})
}
