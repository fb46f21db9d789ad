package spec

import (
	"github.com/openagentprotocol-OAP/oap-gate/internal/markdown"
	"github.com/openagentprotocol-OAP/oap-gate/internal/plain"

	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// minJustification is how many words the paragraph behind a claimed exception has at least.
const minJustification = 15

// The phrases, a line break in them being a blank.
var (
	exceptionPhrase = phrase("Implementability Gate exception")
	clearedPhrase   = phrase("Charter Review Gate cleared")
	additivePhrase  = plain.Pattern(`(?i)additive[ -]only`)
)

func phrase(words string) *regexp.Regexp {
	return regexp.MustCompile(strings.ReplaceAll(words, " ", `(?:[ \t\x{a0}]+|[ \t]*\n[ \t]*)`))
}

// claim is what the words say of an exception to the Implementability Gate.
type claim uint8

const (
	noClaim claim = iota
	unjustified
	justified
)

// exception looks for the phrase, and for a paragraph of some length behind it.
func (w *Words) exception() (c claim, paragraph string) {
	for _, at := range exceptionPhrase.FindAllStringIndex(w.text, -1) {
		c = unjustified
		rest := strings.TrimLeftFunc(w.text[at[1]:], func(r rune) bool {
			return unicode.IsSpace(r) || strings.ContainsRune(":.*_#]", r) // the last ends a link
		})
		words := 0
		var said []string
		for line := range strings.SplitSeq(rest, "\n") {
			if strings.TrimSpace(line) == "" {
				break
			}
			said = append(said, strings.Fields(line)...)
			words += countWords(line)
			if words >= minJustification {
				return justified, strings.Join(said, " ")
			}
		}
	}
	return c, ""
}

func countWords(line string) int {
	n := 0
	for _, field := range strings.Fields(line) {
		if strings.ContainsFunc(field, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
			n++
		}
	}
	return n
}

var negations = []string{"not", "never", "no", "neither", "nor", "without", "non"}

// maxTold is how many times one sentence is heard to say the same.
const maxTold = 16

// declaration is the sentence that declares the change additive only, empty where none does.
func (w *Words) declaration() string {
	for _, b := range markdown.Blocks(w.text) {
		said := 0 // bytes of the block before the sentence
		for _, sentence := range markdown.Cut(b.Text) {
			before := said
			said += len(sentence) + len(" ")
			if strings.HasSuffix(strings.TrimRight(sentence, ` *_~"')]`), "?") {
				continue
			}
			for _, at := range additivePhrase().FindAllStringIndex(sentence, maxTold) {
				after, _ := utf8.DecodeRuneInString(sentence[at[1]:])
				if markdown.IsWord(after) || negated(sentence[:at[0]]) || unticked(b.Text[:before+at[0]]) {
					continue
				}
				return sentence
			}
		}
	}
	return ""
}

// unticked reports whether the last box before a phrase is empty, in a list or not.
func unticked(before string) bool {
	return strings.LastIndex(before, "[ ]") > max(strings.LastIndex(before, "[x]"), strings.LastIndex(before, "[X]"))
}

// negated reports whether a negation stands in the clause that ends what comes before a phrase, or the phrase begins
// within a word. Emphasis ends no clause, nor does what opens a quotation or a link that begins with the phrase.
func negated(before string) bool {
	before = strings.TrimRight(before, `"'“„«‘[*`)
	runes := []rune(strings.NewReplacer("*", "", "’", "'").Replace(strings.ToLower(before)))
	start := len(runes)
	for start > 0 && inClause(runes[start-1]) {
		start--
	}
	clause := string(runes[start:])
	words := strings.FieldsFunc(clause, func(r rune) bool { return r == '-' || r == '_' || unicode.IsSpace(r) })
	if n := len(runes); n > 0 && markdown.IsWord(runes[n-1]) {
		return true
	}
	if slices.ContainsFunc(words, func(word string) bool { return slices.Contains(negations, word) }) {
		return true
	}
	head := strings.Fields(string(runes[:start]) + "t")
	contraction := strings.HasSuffix(string(runes[:start]), "'") && len(words) > 0 && words[0] == "t" &&
		strings.HasPrefix(clause, "t")
	return contraction && slices.Contains([]string{"isn't", "aren't"}, trimWord(head[len(head)-1]))
}

// trimWord drops what stands before the last word.
func trimWord(s string) string {
	i := strings.LastIndexFunc(s, func(r rune) bool { return !markdown.IsWord(r) && r != '\'' })
	if i < 0 {
		return s
	}
	return strings.TrimLeftFunc(s[i:], func(r rune) bool { return !markdown.IsWord(r) })
}

func inClause(r rune) bool {
	return markdown.IsWord(r) || r == '_' || r == '-' || unicode.IsSpace(r) || string(r) == removed
}

// closing are the issues that the words close, as forges read them.
var closing = plain.Pattern(`(?i)(?:^|[^\pL\pN_])(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?):?\s+` +
	`(?:https://[\w.-]+/([\w.-]+/[\w.-]+)/issues/|([\w.-]+/[\w.-]+)?#)(\d{1,9})`)
