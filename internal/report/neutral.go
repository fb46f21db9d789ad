package report

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// maxField caps one foreign text in a log or a table, in UTF-16 code units: GitHub cuts messages at 4,096.
const maxField = 4000

// maxMarks is how many combining marks may follow a letter; more would grow over the lines around them.
const maxMarks = 4

// Line makes foreign text safe to stand anywhere in a line of a log or terminal, at its start too. What it
// changes stays visible, in the spelling of a Go string literal (\n, \x1b, \u202e, \xff for a byte that is no
// UTF-8). The result
//   - is one line of printable characters: no controls, line or paragraph separators, escape sequences,
//     bidirectional, zero-width, private-use or unassigned characters, and no blank but U+0020;
//   - holds no combining mark without a letter, nor more than four on one;
//   - holds no "##[" and does not start, after blanks, with a colon: so it neither is a workflow command
//     of the GitHub runner nor holds one. The caller must not write it next to a '#' or behind a ':' that
//     starts the line.
//
// Backslashes are left alone, so that the text may spell what looks like an escape; it has no effect.
func Line(s string) string {
	if isPlain(s) {
		return s
	}
	var b strings.Builder
	start, marks := true, 0
	for i, size := 0, 0; i < len(s); i += size {
		var r rune
		r, size = utf8.DecodeRuneInString(s[i:])
		if unicode.IsLetter(r) {
			marks = maxMarks
		} else if !unicode.IsMark(r) {
			marks = 0
		}
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case !visible(r),
			unicode.IsMark(r) && marks == 0,
			r == ':' && start,
			r == '[' && strings.HasSuffix(s[:i], "##"):
			b.WriteString(spell(r))
		default:
			b.WriteRune(r)
		}
		if unicode.IsMark(r) && marks > 0 {
			marks--
		}
		start = start && r == ' '
	}
	return b.String()
}

// isPlain tells at a glance that Line has nothing to do: most text is plain.
func isPlain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c >= 0x7f || c == '[' || c == ':' && i == 0 || c == ' ' && i == 0 {
			return false
		}
	}
	return true
}

// visible reports whether r shows as itself. unicode.IsPrint lets pass what only shapes its neighbours or
// looks like nothing.
func visible(r rune) bool {
	const brailleBlank = '\u2800'
	return unicode.IsPrint(r) && r != brailleBlank &&
		!unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

func spell(r rune) string {
	switch {
	case r == '\n':
		return `\n`
	case r == '\r':
		return `\r`
	case r == '\t':
		return `\t`
	case r < utf8.RuneSelf:
		return fmt.Sprintf(`\x%02x`, r)
	case r <= 0xffff:
		return fmt.Sprintf(`\u%04x`, r)
	}
	return fmt.Sprintf(`\U%08x`, r)
}

// cut shortens s to at most limit characters, counted in UTF-16 code units as forges count them, with "…" in
// place of what is left out. It never splits a character.
func cut(s string, limit int) string {
	if len(s) <= limit {
		return s // a character has no more UTF-16 units than bytes
	}
	units, end := 0, 0
	for i, size := 0, 0; i < len(s); i += size {
		var r rune
		r, size = utf8.DecodeRuneInString(s[i:])
		units += utf16.RuneLen(r)
		if units > limit {
			return s[:end] + "…"
		}
		if units < limit {
			end = i + size
		}
	}
	return s
}

// line is Line for one field of a log: capped. Text is cut before too, since it only grows.
func line(s string) string { return cut(Line(cut(s, maxField)), maxField) }

var codeSpan = strings.NewReplacer("`", `\x60`, "|", `\x7c`)

// Markdown makes foreign text a code span of GitHub-flavoured Markdown, safe in a paragraph, a list or a
// table cell. A code span is the one place where neither Markdown nor HTML, autolinks, mentions, issue
// references nor emoji codes take effect: backslashes before punctuation do not stop the latter four, which
// are looked for in the rendered text. Backticks and pipes are spelled out as in Line: a fence longer than
// the text's own backticks is no fence to cmark beyond 80. Empty text stays empty.
func Markdown(s string) string { return markdown(s, maxField) }

func markdown(s string, limit int) string {
	if s == "" {
		return ""
	}
	return "`" + cut(codeSpan.Replace(Line(cut(s, limit))), limit) + "`"
}
