package pytoken

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// literal appends the value of the String token at i; false where that is of bytes.
func (s *Source) literal(to []byte, i int) ([]byte, bool) {
	text := s.text(i)
	q := strings.IndexAny(text, `"'`)
	prefix := strings.ToLower(text[:q])
	size := 1
	if rest := text[q:]; len(rest) >= 6 && rest[1] == rest[0] && rest[2] == rest[0] {
		size = 3
	}
	body := text[q+size : len(text)-size]
	if strings.Contains(prefix, "b") {
		return to, false
	}
	return unescape(to, body, strings.Contains(prefix, "r")), true
}

// escapes are those of one character.
var escapes = map[byte]byte{'\\': '\\', '\'': '\'', '"': '"', 'a': 7, 'b': 8, 'f': 12, 'n': 10, 'r': 13, 't': 9,
	'v': 11}

// lineFeeds makes the ends of lines what they are in a value, however they are spelled in the text.
var lineFeeds = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// unescape appends what the body of a string means. A character that is given by its name, or by a number that is
// none, is U+FFFD.
func unescape(to []byte, body string, raw bool) []byte {
	if strings.Contains(body, "\r") {
		body = lineFeeds.Replace(body)
	}
	for body != "" {
		i := strings.IndexByte(body, '\\')
		if raw || i < 0 || i+1 == len(body) {
			return append(to, body...)
		}
		to = append(to, body[:i]...)
		c := body[i+1]
		body = body[i+2:]
		switch {
		case c == '\n':
		case escapes[c] != 0:
			to = append(to, escapes[c])
		case '0' <= c && c <= '7':
			n := 1
			for n < 3 && n <= len(body) && '0' <= body[n-1] && body[n-1] <= '7' {
				n++
			}
			to, body = numbered(to, string(c)+body[:n-1], 8), body[n-1:]
		case c == 'x' || c == 'u' || c == 'U':
			n := min(map[byte]int{'x': 2, 'u': 4, 'U': 8}[c], len(body))
			to, body = numbered(to, body[:n], 16), body[n:]
		case c == 'N' && strings.HasPrefix(body, "{"):
			_, body, _ = strings.Cut(body, "}")
			to = utf8.AppendRune(to, utf8.RuneError)
		default:
			to = append(to, '\\', c)
		}
	}
	return to
}

func numbered(to []byte, digits string, base int) []byte {
	n, err := strconv.ParseUint(digits, base, 32)
	if err != nil {
		n = utf8.RuneError
	}
	return utf8.AppendRune(to, rune(n))
}
