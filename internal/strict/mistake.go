package strict

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// LFSPointer, UTF16 and ByteOrderMark are messages of an Error with a fix of their own.
const (
	LFSPointer    = "this is a Git LFS pointer, not the record"
	UTF16         = "the text is UTF-16; JSON is UTF-8 throughout"
	ByteOrderMark = "text begins with a byte order mark, JSON has none"
)

// mistake names a known slip from other notations at the offset at which the text stops being JSON, or returns "". It
// only affects the message.
func mistake(data []byte, offset int, cause string) string {
	rest := data[offset:]
	c, _ := utf8.DecodeRune(rest)
	atValue := strings.Contains(cause, "start of value")
	start := bytes.LastIndexByte(data[:offset], '\n') + 1
	switch {
	case bytes.HasPrefix(data, []byte("\x1f\x8b")):
		return "the bytes are gzip; expected JSON"
	case isUTF16(data):
		return UTF16
	case isPointer(data):
		return LFSPointer
	case isConflict(data[start:]):
		return fmt.Sprintf("line %d is a merge conflict marker", 1+bytes.Count(data[:start], []byte("\n")))
	case c == ',':
		after := bytes.TrimLeft(rest[1:], " \t\r\n")
		if len(after) > 0 && (after[0] == '}' || after[0] == ']') {
			return fmt.Sprintf("trailing comma before %q: comma has no value on one side; expected commas only "+
				"between values", after[:1])
		}
		return "comma has no value on one side; expected commas only between values"
	case bytes.HasPrefix(rest, []byte("//")), bytes.HasPrefix(rest, []byte("/*")), c == '#':
		return "comment, JSON has none"
	case strings.ContainsRune("'`", c):
		return fmt.Sprintf("quote is %q, JSON has \" alone", c)
	case unicode.In(c, unicode.Pi, unicode.Pf): // what a word processor makes of a quote
		return fmt.Sprintf("quote is the typographic %q, JSON has the plain \" alone", c)
	case strings.Contains(cause, "(expecting ','") && (c == '"' || c == '{' || c == '['):
		return "comma is missing before this; expected a comma between two values"
	case strings.Contains(cause, "(expecting ':')"):
		return fmt.Sprintf("%q follows a member's name, a colon must", c)
	case strings.Contains(cause, "in string (expecting non-control"):
		return fmt.Sprintf("text in quotes holds the control character %q as it is, it must be escaped", c)
	case !atValue:
		return ""
	case c == '<':
		return "text is HTML or XML; expected JSON"
	case unicode.IsLetter(c) || c == '_' || c == '$':
		word := rest[:len(rest)-len(bytes.TrimLeftFunc(rest, func(r rune) bool {
			return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' || r == '$'
		}))]
		word = word[:min(len(word), 40)]
		if like := map[string]string{"true": "true", "false": "false", "none": "null", "null": "null",
			"undefined": "null"}[strings.ToLower(string(word))]; like != "" {
			return fmt.Sprintf("%q is not JSON, which writes %s", word, like)
		}
		return fmt.Sprintf("%q has no quotes; expected names and texts in \"", word)
	}
	return ""
}

// isPointer reports whether a text is the pointer that Git LFS commits instead of a file.
func isPointer(data []byte) bool {
	return bytes.HasPrefix(data, []byte("version https://git-lfs.github.com/spec/"))
}

// isUTF16 reports whether a text is UTF-16, with a byte order mark or without: JSON begins with an ASCII character.
func isUTF16(data []byte) bool {
	if len(data) < 2 || len(data)%2 != 0 || bytes.HasPrefix(data[2:], []byte{0, 0}) { // two zeros: UTF-32
		return false
	}
	a, b := data[0], data[1]
	return a == 0xff && b == 0xfe || a == 0xfe && b == 0xff || (a == 0) != (b == 0)
}

// isConflict reports whether a line begins with one of the markers that git leaves in a conflict.
func isConflict(line []byte) bool {
	return bytes.HasPrefix(line, []byte("<<<<<<< ")) || bytes.HasPrefix(line, []byte("=======\n")) ||
		bytes.HasPrefix(line, []byte(">>>>>>> "))
}
