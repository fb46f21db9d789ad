package markdown

import (
	"fmt"
	"html"
	"slices"
	"strings"
	"unicode"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
)

// Change is a requirement that differs: its old and its new block, one of them nil if it comes or goes.
type Change struct{ Old, New *Block }

// Describe quotes the two blocks around the first word that differs, each in at most a number of characters.
func (c Change) Describe(most int) string {
	switch {
	case c.Old == nil:
		return fmt.Sprintf("%q is new", plain.Cut(c.New.quote(0), most))
	case c.New == nil:
		return fmt.Sprintf("%q is removed", plain.Cut(c.Old.quote(0), most))
	}
	o, n := c.Old.compared(), c.New.compared()
	same := 0
	for same < min(len(o), len(n)) && o[same].key == n[same].key {
		same++
	}
	if same < max(len(o), len(n)) {
		same = max(same-shownBefore, 0)
		return fmt.Sprintf("%q becomes %q", plain.Cut(c.Old.quote(same), most), plain.Cut(c.New.quote(same), most))
	}
	text := plain.Cut(c.New.quote(0), most)
	switch {
	case c.Old.Kind != c.New.Kind:
		return fmt.Sprintf("%q was a %s and becomes a %s", text, c.Old.Kind, c.New.Kind)
	case c.Old.hidden != c.New.hidden || c.Old.quotes != c.New.quotes || c.Old.items != c.New.items:
		return fmt.Sprintf("%q is in other elements, quotes or items", text)
	}
	return fmt.Sprintf("%q moves from under %q to under %q", text, plain.Cut(c.Old.under(), most),
		plain.Cut(c.New.under(), most))
}

// shownBefore is how many words before the first that differs a description shows.
const shownBefore = 5

// quote returns the words that are compared from the first one on, with the targets of links.
func (b *Block) quote(first int) string {
	var out []string
	if first > 0 {
		out = append(out, "…")
	}
	for _, w := range b.compared()[min(first, len(b.compared())):] {
		if w.kind == targetWord {
			out = append(out, "<"+w.text+">")
		} else {
			out = append(out, w.text)
		}
	}
	return strings.Join(out, " ")
}

// under returns the headings above a block, the nearest last.
func (b *Block) under() string {
	var out []string
	for above := b.Above; above != nil; above = above.Above {
		out = append(out, above.quote(0))
	}
	slices.Reverse(out)
	return strings.Join(out, " / ")
}

// Repair is a word that is replaced by its correct spelling, or a link that leads nowhere by another.
type Repair struct{ Old, New string }

// Tree is what a comparison asks of the tree that the old text is in. Its functions may be nil.
type Tree struct {
	// Used reports whether the tree uses a word, in small letters, elsewhere than in the place that is compared.
	Used func(word string) bool
	// Lacks reports whether the target of a link is a path at which the tree has nothing.
	Lacks func(target string) bool
}

// maxRepairs is how many words of one block may be repaired.
const maxRepairs = 3

// Compare returns the requirements in which two documents differ, and the words that are repaired. The documents
// require the same if no requirement differs and the texts of their Status are equal.
func Compare(old, new *Document, t Tree) (changes []Change, repairs []Repair) {
	o, n := old.governed(), new.governed()
	c := comparison{Tree: t, keys: map[string]int{}}
	oldKeys, newKeys := c.number(o), c.number(n)
	if len(o) == len(n) {
		same := true
		for i := range o {
			same = same && (oldKeys[i] == newKeys[i] || c.same(o[i], n[i]))
		}
		if same {
			return nil, c.repairs
		}
	}
	return aligned(o, n, oldKeys, newKeys), nil
}

// Removed counts the requirements of the old document that the new one lacks. It is false if the new document has any
// that the old one lacks, or has them in another order.
func Removed(old, new *Document) (count int, only bool) {
	c := comparison{keys: map[string]int{}}
	rest := c.number(old.governed())
	for _, key := range c.number(new.governed()) {
		i := slices.Index(rest, key)
		if i < 0 {
			return 0, false
		}
		count += i
		rest = rest[i+1:]
	}
	return count + len(rest), true
}

// Requirements returns a text that is equal for documents of equal requirements and equal Status.
func (d *Document) Requirements() string {
	var out []byte
	for _, s := range d.Status {
		out = fmt.Appendf(out, "%q", s.Text)
	}
	for _, b := range d.governed() {
		out = b.spell(out)
	}
	return string(out)
}

// SameRequirements reports whether two texts require the same, which is not known about one over the limit.
func SameRequirements(old, new string, used func(word string) bool) bool {
	o, err := Read(old)
	if err != nil {
		return old == new
	}
	n, err := Read(new)
	if err != nil {
		return false
	}
	changes, _ := Compare(o, n, Tree{Used: used})
	return len(changes) == 0
}

func (d *Document) governed() []*Block {
	return slices.DeleteFunc(slices.Clone(d.Blocks), func(b *Block) bool { return !b.Governed })
}

// spell appends what is compared of a block.
func (b *Block) spell(out []byte) []byte {
	out = append(out, '\n', byte(b.Kind), byte(b.quotes), byte(b.items))
	out = append(out, b.hidden...)
	for above := b.Above; above != nil; above = above.Above {
		out = above.spellWords(out)
	}
	return b.spellWords(out)
}

func (b *Block) spellWords(out []byte) []byte {
	out = append(out, '\x01')
	for _, w := range b.compared() {
		out = append(append(out, w.key...), '\x02')
	}
	return out
}

// compared returns the words that are compared: in code all of them.
func (b *Block) compared() []word {
	if b.Kind == Code {
		return b.words
	}
	return once(b.words)
}

// Text returns the words of a block of the document as they show, with blanks between them.
func (d *Document) Text(b *Block) string {
	words := b.words
	if words == nil && b.Kind != Row && d.simple(b, "*") {
		return strings.Join(strings.Fields(strings.Join(b.Lines, " ")), " ")
	}
	if words == nil {
		c := *b
		(&Document{targets: d.targets, referred: map[string]bool{}}).words(&c)
		words = c.words
	}
	var out []string
	for _, w := range words {
		if w.kind != targetWord && w.kind != mark {
			out = append(out, w.text)
		}
	}
	return strings.Join(out, " ")
}

// comparison is one run of Compare.
type comparison struct {
	Tree
	keys    map[string]int
	repairs []Repair
}

// number returns a number for each block, equal for those that are equal.
func (c *comparison) number(blocks []*Block) []int {
	out := make([]int, len(blocks))
	var text []byte
	for i, b := range blocks {
		text = b.spell(text[:0])
		if c.keys[string(text)] == 0 {
			c.keys[string(text)] = len(c.keys) + 1
		}
		out[i] = c.keys[string(text)]
	}
	return out
}

// same reports whether two blocks differ in repairs only.
func (c *comparison) same(o, n *Block) bool {
	if o.Kind != n.Kind || o.quotes != n.quotes || o.items != n.items || o.hidden != n.hidden || !c.repaired(o, n) {
		return false
	}
	o, n = o.Above, n.Above
	for ; o != nil && n != nil; o, n = o.Above, n.Above {
		if !c.repaired(o, n) {
			return false
		}
	}
	return o == nil && n == nil
}

// repaired reports whether the words of two blocks differ in repairs only.
func (c *comparison) repaired(old, new *Block) bool {
	o, n := old.compared(), new.compared()
	if len(o) != len(n) {
		return false
	}
	count := 0
	for i := range o {
		if o[i].key == n[i].key {
			continue
		}
		if count++; count > maxRepairs || !c.repairable(o[i], n[i]) {
			return false
		}
	}
	return true
}

// repairable reports whether a word repairs another, and remembers it.
func (c *comparison) repairable(old, new word) bool {
	switch {
	case old.kind == spelled && new.kind == spelled:
		if !c.respelt(old.key, new.key) {
			return false
		}
	case old.kind == targetWord && new.kind == targetWord:
		if c.Lacks == nil || !c.Lacks(old.text) {
			return false
		}
	default:
		return false
	}
	r := Repair{old.text, new.text}
	if old.kind == spelled {
		r = Repair{strings.Trim(old.text, punctuation), strings.Trim(new.text, punctuation)}
	}
	if !slices.Contains(c.repairs, r) {
		c.repairs = append(c.repairs, r)
	}
	return true
}

// respelt reports whether the new word is another number of the old one or its correct spelling.
func (c *comparison) respelt(old, new string) bool {
	if plural(old, new) || plural(new, old) {
		return true
	}
	o, n := []rune(old), []rune(new)
	if o[0] != n[0] {
		return false
	}
	d := distance(o, n)
	return d <= 2 && 3*d < max(len(o), len(n)) && (c.Used == nil || !c.Used(old))
}

func plural(one, many string) bool { return many == one+"s" || many == one+"es" }

// maxAligned is the product of the numbers of blocks that are aligned.
const maxAligned = 1 << 22

// aligned returns the changes between two sequences of blocks with these numbers: a longest common subsequence stays.
// Of sequences that are too long, what is between their equal ends changes.
func aligned(o, n []*Block, oldKeys, newKeys []int) []Change {
	var begin int
	for begin < len(o) && begin < len(n) && oldKeys[begin] == newKeys[begin] {
		begin++
	}
	oldEnd, newEnd := len(o), len(n)
	for oldEnd > begin && newEnd > begin && oldKeys[oldEnd-1] == newKeys[newEnd-1] {
		oldEnd--
		newEnd--
	}
	o, oldKeys = o[begin:oldEnd], oldKeys[begin:oldEnd]
	n, newKeys = n[begin:newEnd], newKeys[begin:newEnd]
	columns := len(n) + 1
	var common []uint16 // common words of the rests from i and j on
	if len(o)*len(n) <= maxAligned {
		common = make([]uint16, (len(o)+1)*columns)
		for i := len(o) - 1; i >= 0; i-- {
			for j := len(n) - 1; j >= 0; j-- {
				if oldKeys[i] == newKeys[j] {
					common[i*columns+j] = common[(i+1)*columns+j+1] + 1
				} else {
					common[i*columns+j] = max(common[(i+1)*columns+j], common[i*columns+j+1])
				}
			}
		}
	}
	var out []Change
	var gone, come []*Block
	flush := func() {
		for k := range max(len(gone), len(come)) {
			var c Change
			if k < len(gone) {
				c.Old = gone[k]
			}
			if k < len(come) {
				c.New = come[k]
			}
			out = append(out, c)
		}
		gone, come = nil, nil
	}
	for i, j := 0, 0; i < len(o) || j < len(n); {
		switch {
		case i < len(o) && j < len(n) && common != nil && oldKeys[i] == newKeys[j]:
			flush()
			i++
			j++
		case j == len(n) || i < len(o) && (common == nil || common[(i+1)*columns+j] >= common[i*columns+j+1]):
			gone = append(gone, o[i])
			i++
		default:
			come = append(come, n[j])
			j++
		}
	}
	flush()
	return out
}

// maxRespelt is the number of characters of a word that may be respelt.
const maxRespelt = 64

// distance counts the insertions, deletions, replacements and swaps of neighbours between two words, up to 3.
func distance(a, b []rune) int {
	if len(a) > maxRespelt || len(b) > maxRespelt || max(len(a), len(b))-min(len(a), len(b)) > 2 {
		return 3
	}
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		for j := range rows[i] {
			switch {
			case i == 0 || j == 0:
				rows[i][j] = i + j
				continue
			case a[i-1] == b[j-1]:
				rows[i][j] = rows[i-1][j-1]
			default:
				rows[i][j] = 1 + min(rows[i-1][j-1], rows[i-1][j], rows[i][j-1])
			}
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return min(rows[len(a)][len(b)], 3)
}

// Words counts the words of a text that a repair looks for, in small letters.
func Words(text string) map[string]int {
	out := map[string]int{}
	for word := range strings.FieldsFuncSeq(strings.ToLower(normalized(html.UnescapeString(text))),
		func(r rune) bool { return !unicode.IsLetter(r) }) {
		if out[word] == 0 {
			word = strings.Clone(word) // not the whole text
		}
		out[word]++
	}
	return out
}
