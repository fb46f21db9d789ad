// Package foreign makes foreign text safe for a terminal or a log.
package foreign

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxMarks is how many combining marks may follow a letter; more would grow over the lines around them.
const maxMarks = 4

// Line makes foreign text safe anywhere in a line of a log or terminal, also at the start of the line. What it changes
// stays visible, in the spelling of a Go string literal (\n, \x1b, \u202e, \xff for a byte that is not UTF-8). The
// result
//
//   - is one line of printable characters: no controls, line or paragraph separators, escape sequences,
//     bidirectional, zero-width, private-use or unassigned characters, and no blank but U+0020;
//   - has no combining mark without a letter, and at most four on one;
//   - has no "##[" and does not start, after blanks, with a colon: so it neither is nor contains a workflow
//     command of the GitHub runner. The caller must not write it next to a '#' or after a ':' that starts the
//     line.
//
// Line does not escape backslashes, so the text may spell what looks like an escape; this has no effect.
func Line(s string) string {
	if isPlain(s) {
		return s
	}
	var b strings.Builder
	start, marks, written := true, 0, 0
	for i, size := 0, 0; i < len(s); i += size {
		var r rune
		r, size = utf8.DecodeRuneInString(s[i:])
		mark := r >= utf8.RuneSelf && unicode.IsMark(r)
		if unicode.IsLetter(r) {
			marks = maxMarks
		} else if !mark {
			marks = 0
		}
		spelled := ""
		switch {
		case r == utf8.RuneError && size == 1:
			spelled = fmt.Sprintf(`\x%02x`, s[i])
		case !Visible(r),
			mark && marks == 0,
			r == ':' && start,
			r == '[' && strings.HasSuffix(s[:i], "##"):
			spelled = spell(r)
		}
		if spelled != "" {
			b.WriteString(s[written:i])
			b.WriteString(spelled)
			written, marks = i+size, 0 // a mark that follows would be on the escape
		} else if mark {
			marks--
		}
		start = start && r == ' '
	}
	b.WriteString(s[written:])
	return b.String()
}

// isPlain reports at a glance whether Line has nothing to do: most text is plain.
func isPlain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c >= 0x7f || c == '[' || c == ':' && i == 0 || c == ' ' && i == 0 {
			return false
		}
	}
	return true
}

// Visible reports whether r shows as itself. unicode.IsPrint lets pass what only shapes its neighbours or
// looks like nothing.
func Visible(r rune) bool {
	const brailleBlank = '\u2800'
	if r < utf8.RuneSelf {
		return ' ' <= r && r <= '~'
	}
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

// Lines makes each line of a text safe for a terminal.
func Lines(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(Line(strings.TrimSuffix(line, "\n")) + "\n")
	}
	return b.String()
}
