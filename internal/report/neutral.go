package report

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/foreign"
)

// maxField caps one foreign text in a log or a table, in UTF-16 code units: GitHub cuts messages at 4,096.
const maxField = 4000

// cut shortens s to at most limit characters, counted in UTF-16 code units as forges count them, with "…" for the rest.
// It never splits a character.
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
func line(s string) string { return cut(foreign.Line(cut(s, maxField)), maxField) }

var codeSpan = strings.NewReplacer("`", `\x60`, "|", `\x7c`)

// Markdown returns foreign text as a code span of GitHub-flavored Markdown, safe in a paragraph, a list or a table
// cell. Only in a code span do neither Markdown nor HTML, autolinks, mentions, issue references or emoji codes take
// effect: backslashes before punctuation do not stop the latter four, which the forge looks for in the rendered text.
// Backticks and pipes are spelled out as in Line: cmark does not accept a fence of more than 80 backticks, so a fence
// longer than the text's own backticks may not work. Empty text remains empty.
func Markdown(s string) string { return markdown(s, maxField) }

func markdown(s string, limit int) string {
	if s == "" {
		return ""
	}
	return "`" + cut(codeSpan.Replace(foreign.Line(cut(s, limit))), limit) + "`"
}
