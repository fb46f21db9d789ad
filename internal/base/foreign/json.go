package foreign

import (
	"bytes"
	"fmt"
	"unicode/utf16"
	"unicode/utf8"
)

// JSON returns a JSON text of the same value that is as harmless in a log as after Line: what Line would spell out is
// an escape of JSON. Its strings have no control character, as in strict JSON.
func JSON(text []byte) []byte {
	var b bytes.Buffer
	done := 0
	for i, size := 0, 1; i < len(text); i += size {
		size = 1
		r := rune(text[i])
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRune(text[i:])
		}
		if isInert(r) || r == '[' && !bytes.HasSuffix(text[:i], []byte("##")) {
			continue
		}
		b.Write(text[done:i])
		if r <= 0xffff {
			fmt.Fprintf(&b, `\u%04x`, r)
		} else {
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		}
		done = i + size
	}
	b.Write(text[done:])
	return b.Bytes()
}

// isInert leaves '[' to be checked with the characters before it. A line break belongs to the indentation, because
// strings have none. All characters outside of ASCII are in a string, and so is "##[".
func isInert(r rune) bool {
	if r < utf8.RuneSelf {
		return r != '[' && r != 0x7f
	}
	return Visible(r)
}
