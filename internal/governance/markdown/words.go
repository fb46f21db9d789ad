package markdown

import (
	"slices"
	"sort"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// word is a word of a block as it is compared.
type word struct {
	key  string
	text string // as it shows, with punctuation
	kind wordKind
}

// wordKind says what a word may be replaced by.
type wordKind uint8

const (
	// spelled has letters only, and no capital after the first: it may be respelled.
	spelled wordKind = iota
	// plainWord may be doubled.
	plainWord
	// targetWord is the target of a link.
	targetWord
	// binding decides what a requirement asks for.
	binding
	// mark is what parts or begins a part of a text: a cell, or content that is raised or hidden.
	mark
	// requirement is a requirement word.
	requirement
)

// cellMark is between the cells of a row.
const cellMark = "|"

// bindingWords are words that a repair neither replaces nor introduces, as it does no requirement word.
var bindingWords = wordSet(`
	not never no none neither nor only unless except until without cannot all any each every
	both either some other least most more less fewer first last once twice before after zero
	one two three four five six seven eight nine ten`)

func wordSet(words string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(words) {
		out[w] = true
	}
	return out
}

// keyWords are those of RFC 2119; MUST NOT and the like begin with one of them.
var keyWords = []string{"MUST", "REQUIRED", "SHALL", "SHOULD", "RECOMMENDED", "MAY", "OPTIONAL"}

// hasKeyWord reports whether a text has a requirement word, in capitals and as a whole word.
func hasKeyWord(text string) bool {
	for _, word := range keyWords {
		for rest := text; ; {
			i := strings.Index(rest, word)
			if i < 0 {
				break
			}
			// An underscore next to it is emphasis, unless more of a name follows.
			before, _ := utf8.DecodeLastRuneInString(strings.TrimRight(rest[:i], "_"))
			after, _ := utf8.DecodeRuneInString(strings.TrimLeft(rest[i+len(word):], "_"))
			if !IsWord(before) && !IsWord(after) {
				return true
			}
			rest = rest[i+1:]
		}
	}
	return false
}

// IsWord reports whether a word may have the character.
func IsWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) }

// requires reports whether a normalized word is a requirement word, or may look like one: a word that mixes scripts,
// or is in capitals of another script, or has its characters in another direction.
func requires(word string) bool {
	switch {
	case len(word) < 3:
		return false
	case isASCII(word):
		return hasKeyWord(word)
	case strings.ContainsFunc(word, isDirection):
		return true // whatever it is, it shows as something else
	case utf8.RuneCountInString(word) < 3:
		return false
	case !strings.ContainsFunc(word, unicode.IsUpper):
		return mixed(word)
	}
	bare := strings.Map(func(r rune) rune {
		if r >= 0x300 && unicode.In(r, unicode.Mn, unicode.Me) {
			return -1 // MUST, underlined
		}
		return r
	}, norm.NFD.String(word))
	return hasKeyWord(word) || hasKeyWord(bare) || mixed(word)
}

// mixed reports whether three or more letters in a row are of several scripts, or are capitals of one that is not
// Latin.
func mixed(text string) bool {
	letters, capitals, several, script := 0, 0, false, ""
	found := func() bool {
		return letters >= 3 && (several || capitals == letters && script != "" && script != "Latin")
	}
	for _, r := range text {
		switch {
		case unicode.IsLetter(r):
			letters++
			of := scriptOf(r)
			if 0x1d00 <= r && r <= 0x1d2b || r == 0xa730 || r == 0xa731 {
				of = "small capitals"
				capitals++
			} else if unicode.IsUpper(r) {
				capitals++
			}
			if script == "" {
				script = of
			}
			several = several || of != "" && of != script
		case unicode.IsMark(r):
		case found():
			return true
		default:
			letters, capitals, several, script = 0, 0, false, ""
		}
	}
	return found()
}

// scriptRange are characters of one script.
type scriptRange struct {
	first, last rune
	script      string
}

// scriptRanges are the ranges of all scripts, in order. Those that Chinese, Japanese and Korean mix are one.
var scriptRanges = sync.OnceValue(func() []scriptRange {
	var out []scriptRange
	for name, table := range unicode.Scripts {
		switch name {
		case "Common", "Inherited":
			continue
		case "Hiragana", "Katakana", "Hangul", "Bopomofo":
			name = "Han"
		}
		add := func(first, last, stride rune) {
			for ; stride > 1 && first < last; first += stride {
				out = append(out, scriptRange{first, first, name})
			}
			out = append(out, scriptRange{first, last, name})
		}
		for _, r := range table.R16 {
			add(rune(r.Lo), rune(r.Hi), rune(r.Stride))
		}
		for _, r := range table.R32 {
			add(rune(r.Lo), rune(r.Hi), rune(r.Stride))
		}
	}
	slices.SortFunc(out, func(a, b scriptRange) int { return int(a.first - b.first) })
	return out
})

// scriptOf returns the name of the script of a letter, empty if it is of several.
func scriptOf(r rune) string {
	if r < utf8.RuneSelf {
		return "Latin"
	}
	all := scriptRanges()
	i := sort.Search(len(all), func(i int) bool { return all[i].last >= r })
	if i == len(all) || all[i].first > r {
		return ""
	}
	return all[i].script
}

func isASCII(text string) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// normalized returns a text in NFKC, with typographic quotation marks and hyphens as ASCII, without characters that
// are not seen and marks of code.
func normalized(text string) string {
	if !isASCII(text) {
		text = norm.NFKC.String(text)
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r == '`', r < ' ' && r != '\n' && r != '\t', r == '\x7f', isUnseen(r):
			return -1
		case r < utf8.RuneSelf:
			return r
		case r == '\u2010', r == '\u2011':
			return '-'
		case r == '\u2018', r == '\u2019':
			return '\''
		case r == '\u201c', r == '\u201d':
			return '"'
		}
		return lettered(r)
	}, text)
}

// isDirection reports whether a character turns those that follow it. The marks U+061C and U+200F turn numbers:
// "2 : 3" shows as "3 : 2" after them.
func isDirection(r rune) bool {
	return 0x202a <= r && r <= 0x202e || 0x2066 <= r && r <= 0x2069 || r == 0x061c || r == 0x200f
}

// isUnseen reports whether a character is ignored by default.
func isUnseen(r rune) bool {
	if isDirection(r) {
		return false
	}
	if r < 0x300 || 0x3165 <= r && r < 0xfe00 {
		return r == '\u00ad'
	}
	return unicode.In(r, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// lettered returns the letter in a box, a disc or a flag.
func lettered(r rune) rune {
	for _, first := range []rune{0x1f150, 0x1f170, 0x1f1e6} {
		if r >= first && r < first+26 {
			return 'A' + r - first
		}
	}
	return r
}

// maxWord is the number of bytes that a word beyond ASCII may have.
const maxWord = 1 << 16

// word appends the words of a scanned text, mostly one, and reports whether one is a requirement word.
func (d *Document) word(out []word, source string, kind wordKind) (words []word, required bool) {
	if len(source) > maxWord && !isASCII(source) {
		d.size = maxWords + 1
		return nil, false
	}
	if kind != spelled {
		return append(out, word{"\x00" + source, source, kind}), false
	}
	if strings.IndexByte(source, joinMark) >= 0 {
		for part := range strings.SplitSeq(source, string(joinMark)) {
			required = required || requires(normalized(part))
		}
	}
	if strings.IndexByte(source, codeMark) >= 0 {
		return codeWord(out, source, required)
	}
	if i := strings.IndexAny(source, string([]rune{joinMark, dropMark})); i > 0 && isAddress(source[:i]) {
		out, _ = d.word(out, source[:i], kind) // it ends where a tag or a link begins
		out, more := d.word(out, source[i+1:], kind)
		return out, required || more
	}
	text, raised := source, false
	if strings.IndexByte(source, dropMark) >= 0 || strings.IndexByte(source, joinMark) >= 0 || !isASCII(source) {
		text, raised = normalized(source), strings.ContainsFunc(source, isRaised)
		if !isASCII(text) {
			d.size += len(text) / 2 // each character takes as long as a word
		}
		if strings.ContainsFunc(text, unicode.IsSpace) { // of NFKC
			for part := range strings.FieldsSeq(text) {
				w := d.look(part)
				required = required || w.required()
				if w.key != "" {
					out = append(out, w)
				}
			}
			return out, required
		}
	}
	w := d.look(text)
	if w.key == "" {
		return out, required
	}
	if raised {
		w.key, w.kind = source, max(w.kind, plainWord)
	}
	return append(out, w), required || w.required()
}

// look returns the word of a text, the zero word if nothing of it counts. A text repeats its words.
func (d *Document) look(text string) word {
	w, known := d.known[text]
	if !known {
		w, _ = newWord(text)
		if d.known != nil {
			d.known[text] = w
		}
	}
	return w
}

// required reports whether the word is a requirement word, or an address with one.
func (w word) required() bool {
	return w.kind == requirement || w.kind == targetWord && hasKeyWord(w.text)
}

// isRaised reports whether a character is a superscript, a subscript or a fraction, which NFKC joins to the number
// before it.
func isRaised(r rune) bool {
	return r <= '¾' && unicode.Is(unicode.No, r) || 0x2070 <= r && r <= 0x209f || 0x2150 <= r && r <= 0x215f ||
		r == 'ª' || r == 'º' || r == '↉' ||
		unicode.Is(unicode.Lm, r) && !norm.NFKC.IsNormalString(string(r))
}

// codeWord appends a word that is code, at least in part, as it is written.
func codeWord(out []word, source string, required bool) ([]word, bool) {
	text := strings.Trim(strings.Map(func(r rune) rune {
		switch r {
		case codeMark:
			return '`'
		case joinMark, dropMark:
			return -1
		}
		return r
	}, source), "*")
	kind := binding
	if !strings.ContainsFunc(text, unicode.IsNumber) {
		kind, text = plainWord, strings.TrimLeft(text, punctuation)
		if strings.Count(source, string(codeMark))%2 == 0 { // the end is not code
			text = strings.TrimRight(text, punctuation)
		}
	}
	if strings.Trim(text, "`") == "" {
		return out, required
	}
	return append(out, word{"`" + text, text, kind}), required || requires(starless(normalized(source)))
}

// punctuation does not count at the ends of a word without a digit.
const punctuation = `,;:.?()"'`

// around are the signs that are not of an address between them.
const around = punctuation + "*_~!"

// isAddress reports whether a text is an address that GitHub makes a link of.
func isAddress(text string) bool {
	text = strings.Trim(text, around)
	text = strings.ToLower(text[:min(len(text), len("https://"))])
	return strings.HasPrefix(text, "http://") || strings.HasPrefix(text, "https://") || strings.HasPrefix(text, "www.")
}

// newWord returns a word of a normalized text, false if nothing of it counts.
func newWord(text string) (word, bool) {
	if strings.TrimFunc(text, isDash) == "" {
		return word{"-", "-", plainWord}, true
	}
	if !isAddress(text) {
		text = withoutStars(text)
	}
	bare := text
	number := strings.ContainsFunc(text, unicode.IsNumber)
	if !number {
		bare = strings.Trim(text, punctuation)
	}
	lower := strings.ToLower(bare)
	_, first := utf8.DecodeRuneInString(bare)
	switch {
	case bare == "":
		return word{}, false
	case isAddress(text):
		if bare = strings.Trim(text, around); bare[0]|0x20 == 'w' {
			bare = "http://" + bare
		}
		address := target(bare)
		return word{"\x00" + address, address, targetWord}, true
	case requires(starless(bare)):
		return word{bare, text, requirement}, true
	case bare == "NOT":
		return word{bare, text, binding}, true
	case number, bindingWords[lower]:
		return word{lower, text, binding}, true
	case strings.ContainsFunc(bare, func(r rune) bool { return !unicode.IsLetter(r) }),
		strings.ContainsFunc(bare[first:], unicode.IsUpper):
		return word{lower, text, plainWord}, true
	}
	return word{lower, text, spelled}, true
}

func isDash(r rune) bool { return r == '-' || '\u2010' <= r && r <= '\u2015' || r == '\u2212' }

// withoutStars drops the asterisks at the ends of the words of a text. One that has no other sign is a word.
func withoutStars(text string) string {
	if !strings.Contains(text, "*") || strings.Trim(text, "*") == "" {
		return text
	}
	runes := []rune(text)
	out := make([]rune, 0, len(runes))
	for i := 0; i < len(runes); {
		end := i
		for end < len(runes) && runes[end] == '*' {
			end++
		}
		within := i > 0 && end < len(runes) && isStarred(runes[i-1]) && isStarred(runes[end])
		if end == i || within {
			end = max(end, i+1)
			out = append(out, runes[i:end]...)
		}
		i = end
	}
	return string(out)
}

// isStarred reports whether an asterisk next to the character, and to another such, may be more than emphasis.
func isStarred(r rune) bool { return IsWord(r) || r == '~' }

// starless returns a text without asterisks, which may be emphasis within a word.
func starless(text string) string { return strings.ReplaceAll(text, "*", "") }

// once drops the second of a doubled word that decides nothing.
func once(words []word) []word {
	again := func(a, b word) bool { return a.key == b.key && a.kind < binding }
	for i := 1; i < len(words); i++ {
		if again(words[i-1], words[i]) {
			return slices.CompactFunc(slices.Clone(words), again)
		}
	}
	return words
}

var cell = word{"\x00" + cellMark, cellMark, mark}
