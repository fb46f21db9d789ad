package pytoken

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// keywords are the words that are no names. None, True and False are left out.
var keywords = map[string]bool{"and": true, "as": true, "assert": true, "async": true, "await": true, "break": true,
	"class": true, "continue": true, "def": true, "del": true, "elif": true, "else": true, "except": true,
	"finally": true,
	"for":     true, "from": true, "global": true, "if": true, "import": true, "in": true, "is": true, "lambda": true,
	"nonlocal": true, "not": true, "or": true, "pass": true, "raise": true, "return": true, "try": true, "while": true,
	"with": true, "yield": true}

var braces = strings.NewReplacer("{{", "{", "}}", "}")

// group is an open bracket, or an open formatted string, with the argument that is being read in it.
type group struct {
	use       *Use // the call that it is of, nil where that is not wanted
	open      int  // its token
	formatted bool // it is a formatted string
	reading   bool // what is in it is wanted
	raw       bool // of a formatted string
	only      bool // of a formatted string: it is a text, not a template, and has no fields

	tokens   int    // of the argument; a text in brackets counts as one
	texts    int    // of them, those that are texts
	computed bool   // one of the texts has fields
	keyword  string // of the argument
	none     bool
	word     string // the first token, where it is a name
	text     []byte
	commas   int
}

func (g *group) next() {
	*g = group{use: g.use, open: g.open, reading: g.reading, text: g.text[:0], commas: g.commas + 1}
}

// argument is what was read since the last comma.
func (g *group) argument() Argument {
	a := Argument{Keyword: g.keyword, None: g.none && g.tokens == 1}
	if g.texts > 0 && g.texts == g.tokens {
		a.Value, a.Text = string(g.text), !g.computed
	}
	return a
}

// calls finds the calls and subscriptions of names that are wanted, each by the token of its bracket, and tells them,
// where they end, with their arguments.
func (s *Source) calls(want func(open int, u Use) bool, tell func(open int, u Use)) {
	groups := make([]group, 1)
	for i, t := range s.Tokens {
		top := &groups[len(groups)-1]
		switch {
		case t.Kind == FStart:
			prefix := strings.ToLower(s.text(i))
			groups = append(groups, group{formatted: true, reading: top.reading && !strings.Contains(prefix, "t"),
				raw: strings.Contains(prefix, "r"), only: true})
		case t.Kind == FText:
			if top.formatted && top.reading {
				top.text = unescape(top.text, braces.Replace(s.text(i)), top.raw)
			}
		case t.Kind == FEnd:
			groups = groups[:len(groups)-1]
			groups[len(groups)-1].add(top.text, top.only, top.reading)
		case t.Kind == Op && s.opens(i) > 0:
			top.only = false
			g := group{open: i, reading: s.Text[t.Start] == '('}
			if name, at := s.callee(i); name != "" && s.Text[t.Start] != '{' {
				if u := (Use{Name: name, Subscript: s.Text[t.Start] == '[', At: at}); want(i, u) {
					g.use, g.reading = &u, true
				}
			}
			groups = append(groups, g)
		case t.Kind == Op && s.opens(i) < 0:
			groups = groups[:len(groups)-1]
			outer := &groups[len(groups)-1]
			if top.use != nil {
				if top.tokens > 0 {
					top.use.Arguments = append(top.use.Arguments, top.argument())
				}
				if top.use.Subscript && top.commas > 0 { // a tuple, which is no text
					top.use.Arguments = make([]Argument, 1)
				}
				tell(top.open, *top.use)
			}
			whole := top.use == nil && top.commas == 0 && top.keyword == "" && top.texts > 0 && top.texts == top.tokens
			none := top.use == nil && top.commas == 0 && top.keyword == "" && top.none && top.tokens == 1
			outer.add(top.text, !top.computed, whole)
			outer.none = outer.none || none && outer.tokens == 1
		case !top.reading:
		case t.Kind == String:
			n := len(top.text)
			text, ok := s.literal(top.text, i)
			top.text = text[:n]
			top.add(text[n:], true, ok)
		case t.Kind == Op && s.is(i, ","):
			if top.use != nil {
				top.use.Arguments = append(top.use.Arguments, top.argument())
			}
			top.next()
		case t.Kind == Op && s.is(i, "=") && top.tokens == 1 && top.word != "":
			top.keyword, top.tokens, top.none, top.word = top.word, 0, false, ""
		case t.Kind == Op && s.is(i, "**") && top.tokens == 0 && top.keyword == "":
			top.keyword = "**"
			top.tokens++
		default:
			if t.Kind == Name && top.tokens == 0 {
				top.word, top.none = s.name(i), s.is(i, "None")
			}
			top.tokens++
		}
	}
}

// add counts a piece of the argument: a text, whole or with fields, or what is none.
func (g *group) add(text []byte, only, is bool) {
	if !g.reading || g.formatted {
		return
	}
	g.tokens++
	if is {
		g.texts++
		g.text = append(g.text, text...)
		g.computed = g.computed || !only
	}
}

// callee is the name with dots before the bracket at i, and where it begins; empty where there is none, or where it is
// of something that is no name.
func (s *Source) callee(i int) (name string, at int32) {
	first := i
	for first > 0 && s.Tokens[first-1].Kind == Name && !keywords[s.text(first-1)] {
		first--
		if first == 0 || !s.is(first-1, ".") {
			break
		}
		first--
	}
	if first == i || s.Tokens[first].Kind != Name || first > 0 && (s.is(first-1, "def") || s.is(first-1, "class")) {
		return "", 0
	}
	name, _ = s.dotted(first)
	return name, s.Tokens[first].Start
}

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
