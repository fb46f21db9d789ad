package markdown

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// part is one block of a random text.
type part struct {
	begin string   // its mark
	words []string // for a row, its cells
	row   bool
	code  bool
}

func (p part) String() string {
	switch {
	case p.row:
		return "| " + strings.Join(p.words, " | ") + " |"
	case p.code:
		return p.begin + "```\n" + p.begin + strings.Join(p.words, " ") + "\n" + p.begin + "```"
	}
	return p.begin + strings.Join(p.words, " ")
}

// randomText has words of a small vocabulary, in blocks of all kinds. Every word of it is at most once in a row.
type randomText struct {
	*rand.Rand
	parts []part
}

var (
	neutral = strings.Fields("agent key, signs record (of) every-day \"Receipt\" user; answer. [x] a/b " +
		"`code` **bold** time:")
	deciding = append(strings.Fields("MUST SHOULD **MAY** OPTIONAL SHALL 30 1.2 sha-256 3rd"), "not", "only", "each",
		"before", "ten", "first")
)

func (r *randomText) word() string {
	if r.IntN(6) == 0 {
		return deciding[r.IntN(len(deciding))]
	}
	return neutral[r.IntN(len(neutral))]
}

func newRandomText(r *rand.Rand) *randomText {
	t := &randomText{Rand: r}
	for range 3 + r.IntN(12) {
		p := part{begin: []string{"", "", "", "# ", "## ", "- ", "1. ", "> ", "  ", "| "}[r.IntN(10)]}
		p.code = p.begin == "" && r.IntN(6) == 0
		if p.begin == "  " && (len(t.parts) == 0 || t.parts[len(t.parts)-1].begin != "- ") {
			p.begin = ""
		}
		for range 2 + r.IntN(7) {
			word := t.word()
			if len(p.words) == 0 {
				word = neutral[r.IntN(4)]
			}
			if len(p.words) == 0 || p.words[len(p.words)-1] != word {
				p.words = append(p.words, word)
			}
		}
		if p.begin == "| " {
			p.words = []string{p.words[0], t.word()}
			ruler := part{words: []string{"---", "---"}, row: true}
			t.parts = append(t.parts, part{words: p.words, row: true}, ruler)
			p = part{words: []string{t.word(), t.word()}, row: true}
		}
		t.parts = append(t.parts, p)
	}
	return t
}

// text writes the blocks with blank lines between them, one of them replaced.
func (r *randomText) text(at int, by part) string {
	var out strings.Builder
	for i, p := range r.parts {
		if i == at {
			p = by
		}
		out.WriteString(p.String())
		out.WriteString("\n")
		if !p.row || i+1 == len(r.parts) || !r.parts[i+1].row {
			out.WriteString("\n")
		}
	}
	return out.String()
}

// block returns the block of a part, found by a word that no other part has.
func (r *randomText) block(t *testing.T, at int) *Block {
	p := r.parts[at]
	p.words = slices.Clone(p.words)
	p.words[len(p.words)-1] += " marker"
	d, err := Read(r.text(at, p))
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range d.Blocks {
		if strings.Contains(d.Text(b), "marker") {
			return b
		}
	}
	t.Fatalf("no block has the part %q", p)
	return nil
}

// above reports whether a governed block is below a heading.
func above(d *Document, heading string) bool {
	return slices.ContainsFunc(d.governed(), func(b *Block) bool {
		for h := b.Above; h != nil; h = h.Above {
			if d.Text(h) == heading {
				return true
			}
		}
		return false
	})
}

// TestEditorialProperty changes random texts: what decides is never editorial, what does not always is.
func TestEditorialProperty(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	counts := map[string]int{}
	check := func(what string, text *randomText, at int, by part, want bool) {
		old, new := text.text(-1, part{}), text.text(at, by)
		counts[what]++
		if editorial(t, old, new) != want {
			t.Fatalf("%s: editorial is %t, of\n%s\nand\n%s", what, !want, old, new)
		}
		if d, err := Read(new); err != nil || d.Requirements() == "" && strings.Contains(new, "MUST") {
			t.Fatalf("%v: no requirement is in\n%s", err, new)
		}
	}
	for range 4000 {
		text := newRandomText(r)
		at := r.IntN(len(text.parts))
		p := text.parts[at]
		if p.words[0] == "---" {
			continue
		}
		i := r.IntN(len(p.words))
		insert := func(i int, word string) part {
			by := p
			by.words = slices.Insert(slices.Clone(p.words), i, word)
			if p.row { // into a cell
				by.words = slices.Clone(p.words)
				by.words[i] += " " + word
			}
			return by
		}
		governed := text.block(t, at).Governed
		decides := slices.Contains(deciding, p.words[i])
		switch {
		case governed:
			check("insert a deciding word", text, at, insert(max(i, 1)%len(p.words), deciding[r.IntN(len(deciding))]),
				false)
			if decides && !p.row {
				by := p
				by.words = slices.Delete(slices.Clone(p.words), i, i+1)
				check("delete a deciding word", text, at, by, false)
			}
			switch {
			case decides:
				check("double a deciding word", text, at, insert(i, p.words[i]), false)
			case !p.code:
				check("double another word", text, at, insert(i, p.words[i]), true)
			}
			if i > 0 && !p.row && !p.code && !strings.HasPrefix(p.begin, "#") && !strings.ContainsAny(p.words[i][:1],
				"-#>|0123456789[") {
				by := p
				by.words = slices.Clone(p.words)
				by.words[i-1] += "\n" + by.words[i]
				by.words = slices.Delete(by.words, i, i+1)
				check("wrap", text, at, by, true)
			}
		case strings.HasPrefix(p.begin, "#"):
			d, err := Read(text.text(-1, part{}))
			if err != nil {
				t.Fatal(err)
			}
			if b := text.block(t, at); !above(d, strings.TrimSuffix(d.Text(b), " marker")) {
				check("edit a heading outside", text, at, insert(1, "kindly"), true)
			}
		default:
			check("edit outside", text, at, insert(i, "kindly"), true)
		}
	}
	for what, n := range counts {
		if n < 100 {
			t.Errorf("%s: only %d times", what, n)
		}
	}
}
