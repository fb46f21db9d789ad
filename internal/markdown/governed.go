package markdown

import (
	"html"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// maxRepairs is how many words of one block a repair replaces.
const maxRepairs = 3

// binding are words that a repair neither replaces nor introduces: they decide what a requirement asks for.
var binding = strings.Fields(`
	not never no none neither nor only unless except until without cannot all any each every
	both either some other least most more less fewer first last once twice before after zero
	one two three four five six seven eight nine ten`)

// governed is a block with a requirement, or one that such a block governs.
type governed struct {
	kind   Kind
	hidden bool
	words  []string
	shouts []bool // whether the word has a capital after its first letter, by index
}

// SameRequirements reports whether two texts ask for the same: whether their blocks with a requirement word, and the
// items, rows and quotes that these govern, have the same words in the same order. Spelling may be repaired: used
// reports whether a word occurs elsewhere, and such a word is not a misspelling. A nil used knows no other text.
func SameRequirements(old, new string, used func(word string) bool) bool {
	o, n := governedBlocks(old), governedBlocks(new)
	return slices.EqualFunc(o, n, func(o, n governed) bool {
		return o.kind == n.kind && o.hidden == n.hidden &&
			(slices.Equal(once(o.words), once(n.words)) || repaired(o, n, used))
	})
}

// governedBlocks returns the blocks of a text that a requirement word governs.
func governedBlocks(text string) []governed {
	var out []governed
	under, led, table := false, false, -1 // below a heading or a paragraph with a requirement; where a table began
	blocks := Blocks(normalized(text))
	for i, b := range blocks {
		has := hasKeyWord(b.Text)
		switch b.Kind {
		case Heading:
			under, led = has, false
		case Paragraph:
			led = has
		}
		switch {
		case b.Kind != Row:
			table = -1
		case table < 0:
			table = i
			for _, row := range blocks[i:] {
				if row.Kind != Row {
					break
				}
				has = has || hasKeyWord(row.Text)
			}
			led = led || has
		}
		if has || under || led {
			words, shouts := wordsOf(b.Text)
			out = append(out, governed{b.Kind, b.Hidden, words, shouts})
		}
	}
	return out
}

// normalized decodes entities and takes out of a text what is not seen in a word.
func normalized(text string) string {
	text = norm.NFKC.String(html.UnescapeString(text))
	return strings.Map(func(r rune) rune {
		switch {
		case r == '`', r == '*', unicode.Is(unicode.Cf, r), unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r),
			unicode.Is(unicode.Variation_Selector, r):
			return -1
		case r == '\u2010', r == '\u2011':
			return '-'
		case r == '\u2018', r == '\u2019':
			return '\''
		case r == '\u201c', r == '\u201d':
			return '"'
		}
		return r
	}, text)
}

// wordsOf returns the words of a block, in small letters but for requirement words, without the punctuation around
// those that have no digit.
func wordsOf(text string) (words []string, shouts []bool) {
	for _, word := range strings.Fields(text) {
		if !strings.ContainsFunc(word, unicode.IsDigit) {
			if word = strings.Trim(word, `,;:.?()"'`); word == "" {
				continue
			}
		}
		_, first := utf8.DecodeRuneInString(word)
		shouts = append(shouts, strings.ContainsFunc(word[first:], unicode.IsUpper))
		if !hasKeyWord(word) {
			word = strings.ToLower(word)
		}
		words = append(words, word)
	}
	return words, shouts
}

// once drops the second of a doubled word that decides nothing.
func once(words []string) []string {
	var out []string
	for i, word := range words {
		if i == 0 || word != words[i-1] || !isRepairable(word) {
			out = append(out, word)
		}
	}
	return out
}

// isRepairable reports whether a word consists of letters and decides nothing.
func isRepairable(word string) bool {
	other := func(r rune) bool { return !unicode.IsLetter(r) }
	return !strings.ContainsFunc(word, other) && !hasKeyWord(word) && !slices.Contains(binding, word)
}

// repaired reports whether at most a few misspelt words of a block differ.
func repaired(old, new governed, used func(string) bool) bool {
	if len(old.words) != len(new.words) {
		return false
	}
	count := 0
	for i, o := range old.words {
		n := new.words[i]
		if o == n {
			continue
		}
		count++
		letters := isRepairable(o) && isRepairable(n) && !old.shouts[i] && !new.shouts[i]
		if count > maxRepairs || !letters || !respelt(o, n, used) {
			return false
		}
	}
	return true
}

// respelt reports whether the new word is another number of the old one or its correct spelling.
func respelt(old, new string, used func(string) bool) bool {
	if plural(old, new) || plural(new, old) {
		return true
	}
	o, n := []rune(old), []rune(new)
	if o[0] != n[0] || used != nil && used(old) {
		return false
	}
	d := distance(o, n)
	return d <= 2 && 3*d < max(len(o), len(n))
}

func plural(one, many string) bool { return many == one+"s" || many == one+"es" }

// maxWord is the number of characters of a word that a repair may have.
const maxWord = 64

// distance counts the insertions, deletions, replacements and swaps of neighbours between two words, up to 3.
func distance(a, b []rune) int {
	if len(a) > maxWord || len(b) > maxWord || max(len(a), len(b))-min(len(a), len(b)) > 2 {
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

// Words returns the words of a text that SameRequirements compares, in small letters.
func Words(text string) []string {
	words := strings.FieldsFunc(strings.ToLower(normalized(text)), func(r rune) bool { return !unicode.IsLetter(r) })
	slices.Sort(words)
	return slices.Compact(words)
}
