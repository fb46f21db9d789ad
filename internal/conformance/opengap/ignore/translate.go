package ignore

import "strings"

const (
	// anyDirectories is "**" as a name: any number of directories.
	anyDirectories = "**"
	// mark begins each name, so that none is empty.
	mark = "n"
	// shift moves bytes to characters that are not syntax.
	shift = 0x100
)

// encode spells a path for path.Match, a name after the other.
func encode(path string) string {
	var b strings.Builder
	b.WriteString(mark)
	for i := range len(path) {
		if path[i] == '/' {
			b.WriteString("/" + mark)
			continue
		}
		writeByte(&b, path[i])
	}
	return b.String()
}

func writeByte(b *strings.Builder, c byte) {
	b.WriteRune(shift + rune(c))
}

// translation spells a pattern for path.Match.
type translation struct {
	text string
	at   int
	path bool // slashes separate names, and "**" may match directories
	name strings.Builder
	done []string
}

// names returns the names of the pattern, with anyDirectories for a "**" that matches directories; false if it can
// match no path.
func (t *translation) names() ([]string, bool) {
	t.name.WriteString(mark)
	for t.at < len(t.text) {
		c := t.text[t.at]
		t.at++
		switch c {
		case '/':
			t.end()
		case '\\':
			if t.at == len(t.text) {
				return nil, false
			}
			if c = t.text[t.at]; c == '/' {
				t.end()
			} else {
				writeByte(&t.name, c)
			}
			t.at++
		case '*':
			t.stars()
		case '?':
			t.name.WriteByte('?')
		case '[':
			s, ok := t.set()
			if !ok || !s.write(&t.name) {
				return nil, false
			}
		default:
			writeByte(&t.name, c)
		}
	}
	t.end()
	return t.done, true
}

// end ends a name. Consecutive "**" become one.
func (t *translation) end() {
	if name := t.name.String(); name != anyDirectories {
		t.done = append(t.done, name)
	} else if n := len(t.done); n == 0 || t.done[n-1] != anyDirectories {
		t.done = append(t.done, anyDirectories)
	}
	t.name.Reset()
	t.name.WriteString(mark)
}

// stars reads asterisks. Two or more match directories if they are a whole name; otherwise they mean the same as one.
func (t *translation) stars() {
	first := t.at - 1
	for t.at < len(t.text) && t.text[t.at] == '*' {
		t.at++
	}
	rest := t.text[t.at:]
	escaped := strings.HasPrefix(rest, `\/`)
	if !t.path || t.at-first < 2 || first > 0 && t.text[first-1] != '/' || rest != "" && rest[0] != '/' && !escaped {
		t.name.WriteByte('*')
		return
	}
	if escaped { // then git requires at least one directory
		t.name.WriteByte('*')
		t.end()
	}
	t.name.Reset()
	t.name.WriteString(anyDirectories)
}

// set is a set of bytes.
type set [256]bool

// set reads a bracket expression, as git's wildmatch does; false if it ends too early or names no class.
func (t *translation) set() (*set, bool) {
	s := &set{}
	next := func() byte { // 0 at the end: no pattern contains that byte
		if t.at == len(t.text) {
			return 0
		}
		t.at++
		return t.text[t.at-1]
	}
	c := next()
	negated := c == '!' || c == '^'
	if negated {
		c = next()
	}
	before := byte(0) // what a range may begin with
	for first := true; first || c != ']'; c, first = next(), false {
		rest := t.text[t.at:]
		switch {
		case c == 0:
			return nil, false
		case c == '\\':
			if c = next(); c == 0 {
				return nil, false
			}
			s[c] = true
		case c == '-' && before != 0 && rest != "" && rest[0] != ']':
			if c = next(); c == '\\' {
				c = next()
			}
			if c == 0 {
				return nil, false
			}
			for b := int(before); b <= int(c); b++ {
				s[b] = true
			}
			c = 0
		case c == '[' && strings.HasPrefix(rest, ":"):
			end := strings.IndexByte(rest[1:], ']')
			if end < 0 {
				return nil, false
			}
			name, ok := strings.CutSuffix(rest[1:1+end], ":")
			if !ok {
				s['['] = true
				break
			}
			class, ok := classes[name]
			if !ok {
				return nil, false
			}
			for b := range 128 {
				if class(byte(b)) {
					s[b] = true
				}
			}
			t.at += end + 2
			c = 0
		default:
			s[c] = true
		}
		before = c
	}
	for b := range s {
		s[b] = s[b] != negated
	}
	s['/'] = false
	return s, true
}

// write spells the set as ranges; false where it is empty.
func (s *set) write(out *strings.Builder) bool {
	empty := true
	for b := 0; b < len(s); b++ {
		if !s[b] {
			continue
		}
		if empty {
			out.WriteByte('[')
			empty = false
		}
		out.WriteRune(shift + rune(b))
		for b+1 < len(s) && s[b+1] {
			b++
		}
		out.WriteByte('-')
		out.WriteRune(shift + rune(b))
	}
	if !empty {
		out.WriteByte(']')
	}
	return !empty
}

// classes are those of git, which knows only ASCII, and neither VT nor FF for white space.
var classes = map[string]func(byte) bool{
	"alnum":  func(b byte) bool { return isAlpha(b) || isDigit(b) },
	"alpha":  isAlpha,
	"blank":  func(b byte) bool { return b == ' ' || b == '\t' },
	"cntrl":  func(b byte) bool { return b < ' ' || b == 0x7f },
	"digit":  isDigit,
	"graph":  func(b byte) bool { return ' ' < b && b < 0x7f },
	"lower":  isLower,
	"print":  func(b byte) bool { return ' ' <= b && b < 0x7f },
	"punct":  func(b byte) bool { return ' ' < b && b < 0x7f && !isAlpha(b) && !isDigit(b) },
	"space":  func(b byte) bool { return b == ' ' || b == '\t' || b == '\n' || b == '\r' },
	"upper":  isUpper,
	"xdigit": func(b byte) bool { return isDigit(b) || 'a' <= b|0x20 && b|0x20 <= 'f' },
}

func isAlpha(b byte) bool { return isLower(b) || isUpper(b) }
func isLower(b byte) bool { return 'a' <= b && b <= 'z' }
func isUpper(b byte) bool { return 'A' <= b && b <= 'Z' }
func isDigit(b byte) bool { return '0' <= b && b <= '9' }
