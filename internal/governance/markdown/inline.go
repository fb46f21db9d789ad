package markdown

import (
	"html"
	"slices"
	"sort"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict/fold"
)

// The marks of a scanned text. No text has these characters: control characters are dropped.
const (
	codeMark = '\x02' // around code
	joinMark = '\x03' // a tag in a word
	dropMark = '\x04' // nothing: a bracket of a link
)

// span is a word of a scanned text, of kind targetWord the target of a link, of kind mark a mark.
type span struct {
	from, to int32
	kind     wordKind
}

// scanner reads the inline marks of one block.
type scanner struct {
	doc      *Document
	raw      bool // HTML
	text     string
	out      []byte
	spans    []span
	start    int // start of the open word
	after    []pending
	brackets []bracket
	runs     map[int][]int // where runs of backticks begin, by their length
	missing  map[string]bool
	level    int // level of the last heading that a tag opens
	comments []*Block
	line     int  // the number of lines before the last comment
	counted  int  // bytes
	swallows bool // a tag of HTML does not end
	exact    bool // an element of code is open
}

// pending is a word that follows the open one.
type pending struct {
	text string
	kind wordKind
}

// bracket is an opening bracket that may begin a link.
type bracket struct{ at, source int }

// maxBrackets is how many brackets may be open at once. Those before them begin no link.
const maxBrackets = 1000

func (s *scanner) scan() {
	s.inCode()
	for i := 0; i < len(s.text); {
		c := s.text[i]
		n := 1
		switch {
		case c == ' ' || '\n' <= c && c <= '\r':
			s.end()
		case c < ' ' || c == '\x7f': // not seen, but between the letters of a word
			s.out = append(s.out, joinMark)
		case c == '<':
			if n = s.angle(i); n == 0 {
				n = 1
				s.out = append(s.out, c)
			}
		case c == '&':
			n = s.entity(i)
		case s.raw:
			n = s.character(i)
		case c == '\\':
			n = s.escape(i)
		case c == '`':
			n = s.code(i)
		case c == '[':
			if len(s.brackets) == maxBrackets {
				s.brackets = slices.Delete(s.brackets, 0, maxBrackets/2)
			}
			s.brackets = append(s.brackets, bracket{len(s.out), i})
			s.out = append(s.out, c)
		case c == ']':
			n = s.link(i)
		default:
			n = s.character(i)
		}
		i += n
	}
	s.end()
}

// inCode marks where an element of code begins or ends.
func (s *scanner) inCode() {
	was := s.exact
	s.exact = slices.Contains(s.doc.hiding.names, "code") || slices.Contains(s.doc.hiding.names, "pre")
	if s.exact != was {
		s.out = append(s.out, codeMark)
	}
}

// end ends the open word.
func (s *scanner) end() {
	if s.start < len(s.out) {
		s.spans = append(s.spans, span{int32(s.start), int32(len(s.out)), spelled})
		s.start = len(s.out)
	}
	for _, p := range s.after {
		s.out = append(s.out, p.text...)
		s.spans = append(s.spans, span{int32(s.start), int32(len(s.out)), p.kind})
		s.start = len(s.out)
	}
	s.after = s.after[:0]
	if s.exact {
		s.out = append(s.out, codeMark) // the next word is code too
	}
}

func (s *scanner) character(i int) int {
	if c := s.text[i]; c < utf8.RuneSelf {
		if c == '~' && s.raw {
			s.out = append(s.out, '\\') // it strikes nothing
		}
		s.out = append(s.out, c)
		return 1
	}
	r, n := utf8.DecodeRuneInString(s.text[i:])
	if unicode.IsSpace(r) {
		s.end()
	} else {
		s.out = append(s.out, s.text[i:i+n]...)
	}
	return n
}

func (s *scanner) escape(i int) int {
	if i+1 == len(s.text) || s.text[i+1] == '\n' {
		return 1
	}
	if c := s.text[i+1]; c > ' ' && c < utf8.RuneSelf && !isNameByte(c) || c == '-' {
		if c == '~' {
			s.out = append(s.out, '\\')
		}
		if c != '`' {
			s.out = append(s.out, c)
		}
		return 2
	}
	s.out = append(s.out, '\\')
	return 1
}

// maxEntity is the length of the longest entity, with its ampersand and semicolon.
const maxEntity = 33

func (s *scanner) entity(i int) int {
	part := s.text[i:min(len(s.text), i+maxEntity)]
	n := 1 + len(part[1:]) - len(strings.TrimLeftFunc(part[1:], func(r rune) bool {
		return r == '#' || r < utf8.RuneSelf && isNameByte(byte(r))
	}))
	if n < len(part) && part[n] == ';' {
		n++
	}
	decoded := withEntities(part[:n])
	if s.raw { // a browser needs no semicolon
		decoded = html.UnescapeString(part[:n])
	}
	if decoded == part[:n] {
		s.out = append(s.out, '&')
		return 1
	}
	for _, r := range decoded {
		switch {
		case unicode.IsSpace(r):
			s.end()
		case r == '~':
			s.out = append(s.out, `\~`...)
		case r >= ' ' && r != '`' && r != '\x7f':
			s.out = utf8.AppendRune(s.out, r)
		}
	}
	return n
}

// code reads a code span. A backtick that begins none is dropped.
func (s *scanner) code(i int) int {
	if s.runs == nil {
		s.runs = map[int][]int{}
		for at := 0; at < len(s.text); {
			n := backticks(s.text[at:])
			if n > 0 {
				s.runs[n] = append(s.runs[n], at)
			}
			at += max(n, 1)
		}
	}
	n := backticks(s.text[i:])
	ends := s.runs[n]
	k := sort.SearchInts(ends, i+n)
	if k == len(ends) {
		return n
	}
	s.out = append(s.out, codeMark)
	for j := i + n; j < ends[k]; {
		r, size := utf8.DecodeRuneInString(s.text[j:])
		switch {
		case unicode.IsSpace(r):
			s.end()
			s.out = append(s.out, codeMark)
		case r >= ' ' && r != '\x7f':
			s.out = append(s.out, s.text[j:j+size]...)
		}
		j += size
	}
	s.out = append(s.out, codeMark)
	return ends[k] + n - i
}

func backticks(text string) int { return len(text) - len(strings.TrimLeft(text, "`")) }

// link reads a closing bracket and what follows it, if this is a link.
func (s *scanner) link(i int) int {
	if len(s.brackets) == 0 {
		s.out = append(s.out, ']')
		return 1
	}
	open := s.brackets[len(s.brackets)-1]
	s.brackets = s.brackets[:len(s.brackets)-1]
	rest := s.text[i+1:]
	if strings.HasPrefix(rest, "(") {
		if target, title, n := linkTarget(rest); n > 0 {
			s.out[open.at] = dropMark
			s.target(withEntities(target))
			for _, word := range strings.Fields(title) {
				s.after = append(s.after, pending{word, spelled})
			}
			return 1 + n
		}
	}
	label, n := s.text[open.source+1:i], 1
	if strings.HasPrefix(label, "^") {
		s.doc.referred[folded(label[1:])] = true
	}
	if end := labelEnd(rest); end > 0 {
		n += end + 1
		if end > 1 {
			label = rest[1:end]
		}
	}
	target := s.doc.targets[folded(label)]
	if target == "" {
		s.out = append(s.out, ']')
		return 1
	}
	s.out[open.at] = dropMark
	s.after = append(s.after, pending{target, targetWord})
	return n
}

// maxLabel is the bytes of a link label, which has at most 999 characters in CommonMark.
const maxLabel = 4000

// labelEnd returns the place of the bracket that closes the label that a text begins with, 0 if it begins with none.
func labelEnd(text string) int {
	if !strings.HasPrefix(text, "[") {
		return 0
	}
	for i := 1; i < min(len(text), maxLabel); i++ {
		switch text[i] {
		case '\\':
			i++
		case '[':
			return 0
		case ']':
			return i
		}
	}
	return 0
}

// behindLabel is the rest of a link definition. It may be none if its address has a parenthesis.
var behindLabel = plain.Pattern(`(?s)^[ \t]*\n?[ \t]*(?:<[^<>\n\\]*>|[^\s<()][^\s()]*)` +
	`(?:\s+(?:"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|\((?:\\.|[^()\\])*\)))?[ \t]*(?:\n|$)`)

// Definitions returns the length of the link definitions that a paragraph begins with. What looks like one behind them
// is text.
func Definitions(text string) (length int) {
	for {
		n := DefinitionLength(text[length:])
		if n == 0 {
			return length
		}
		rest := behindLabel().FindString(text[length+n:])
		if rest == "" {
			return length
		}
		length += n + len(rest)
	}
}

// DefinitionLength returns the length of the label of a link definition or a footnote with its colon, 0 if a text does
// not begin with one.
func DefinitionLength(text string) int {
	end := labelEnd(text)
	if end == 0 || !strings.HasPrefix(text[end:], "]:") || strings.TrimSpace(text[1:end]) == "" {
		return 0
	}
	return end + 2
}

// folded returns a label as it is compared.
func folded(label string) string {
	if !isASCII(label) {
		label = fold.Text(label)
	}
	return strings.ToLower(strings.Join(strings.Fields(label), " "))
}

func (s *scanner) target(address string) {
	s.after = append(s.after, pending{target(address), targetWord})
}

// target returns the target of a link as it is compared: http is https.
func target(address string) string {
	if scheme, rest, ok := strings.Cut(address, "://"); ok && strings.EqualFold(scheme, "http") {
		return "https://" + rest
	}
	return address
}

var entity = plain.Pattern(`&#?[0-9A-Za-z]{1,31};`)

// withEntities returns a text of Markdown with the characters that its entities mean.
func withEntities(text string) string {
	return entity().ReplaceAllStringFunc(text, func(name string) string {
		if decoded := html.UnescapeString(name); decoded == ";" || !strings.HasSuffix(decoded, ";") {
			return decoded
		}
		return name // only a part of it is one, without a semicolon
	})
}

// linkTarget reads what follows the text of a link in parentheses. The length is 0 if it is not a target.
func linkTarget(text string) (address, title string, n int) {
	i := skipBlanks(text, 1)
	begin := i
	if i < len(text) && text[i] == '<' {
		end := strings.IndexAny(text[i+1:], "<>\n")
		if end < 0 || text[i+1+end] != '>' {
			return "", "", 0
		}
		address = text[i+1 : i+1+end]
		i += end + 2
	} else {
		depth := 0
	address:
		for ; i < len(text); i++ {
			switch c := text[i]; {
			case c == '\\' && i+1 < len(text):
				i++
			case c == '(':
				if depth++; depth > maxNesting {
					return "", "", 0
				}
			case c == ')':
				if depth--; depth < 0 {
					break address
				}
			case c <= ' ':
				break address
			}
		}
		i = min(i, len(text))
		address = text[begin:i]
	}
	blanks := skipBlanks(text, i)
	if blanks > i && blanks < len(text) {
		if k := strings.IndexByte(`"'(`, text[blanks]); k >= 0 {
			end := blanks + 1
			for end < len(text) && text[end] != `"')`[k] {
				if text[end] == '\\' {
					end++
				}
				end++
			}
			if end >= len(text) {
				return "", "", 0
			}
			title = text[blanks+1 : end]
			blanks = skipBlanks(text, end+1)
		}
	}
	if blanks == len(text) || text[blanks] != ')' {
		return "", "", 0
	}
	return address, title, blanks + 1
}

// unseen are the marks around what neither Markdown nor a browser shows.
var unseen = [...]struct{ begin, end string }{{"<!--", "-->"}, {"<?", "?>"}, {"<![CDATA[", "]]>"}, {"<!", ">"}}

// angle reads a comment, an address or a tag, and returns its length. It returns 0 for anything else.
func (s *scanner) angle(i int) int {
	rest := s.text[i:]
	for _, c := range unseen {
		if !strings.HasPrefix(rest, c.begin) || c.end == ">" && !s.raw && (len(rest) < 3 || !isLetter(rest[2])) {
			continue
		}
		if strings.HasPrefix(rest, "<!-->") || strings.HasPrefix(rest, "<!--->") {
			return strings.IndexByte(rest, '>') + 1
		}
		from := i + len(c.begin)
		end := s.find(from, c.end)
		if s.raw || end >= 0 {
			end, c.end = s.browserEnd(from, c.begin)
		}
		if end >= 0 {
			s.line += strings.Count(s.text[s.counted:from], "\n")
			s.counted = from
			s.comments = append(s.comments,
				&Block{Kind: Comment, Line: s.line, Lines: strings.Split(s.text[from:end], "\n")})
			return end + len(c.end) - i
		}
		if s.raw {
			s.doc.hiding.open(c.begin)
		}
		return 0
	}
	if address, ok := autolink(rest); ok && !s.raw {
		s.target(withEntities(address))
		return len(address) + 2
	}
	t, ok := ParseTag(rest)
	if s.raw && !s.swallows {
		t, ok = LooseTag(rest)
	}
	switch {
	case !ok || s.swallows:
		return 0
	case t.Length == 0: // a browser takes all that follows for its attributes
		s.swallows = true
		s.doc.hiding.open("<" + t.Name)
		return 0
	}
	s.tag(t, rest[:t.Length])
	return t.Length
}

// browserEnd returns the place and the mark at which a browser ends what begins with an unseen mark before i.
func (s *scanner) browserEnd(i int, begin string) (end int, mark string) {
	if begin != "<!--" {
		return s.find(i, ">"), ">"
	}
	end, other := s.find(i, "-->"), s.find(i, "--!>")
	if other >= 0 && (other < end || end < 0) {
		return other, "--!>"
	}
	return end, "-->"
}

// find returns the place of a mark from i on, or -1.
func (s *scanner) find(i int, mark string) int {
	if s.missing[mark] {
		return -1
	}
	if n := strings.Index(s.text[i:], mark); n >= 0 {
		return i + n
	}
	if s.missing == nil {
		s.missing = map[string]bool{}
	}
	s.missing[mark] = true
	return -1
}

// autolink returns the address between angle brackets.
func autolink(text string) (address string, ok bool) {
	end := strings.IndexAny(text[1:], " \n<>")
	if end < 0 || text[1+end] != '>' {
		return "", false
	}
	address = text[1 : 1+end]
	scheme, _, ok := strings.Cut(address, ":")
	return address, ok && len(scheme) >= 2 && len(scheme) <= 32 && isLetter(scheme[0]) &&
		strings.Trim(strings.ToLower(scheme), "abcdefghijklmnopqrstuvwxyz0123456789+.-") == ""
}

// tag reads a tag of that source. It adds the words that a reader may see or use: an address, the text of an image, and
// a requirement.
func (s *scanner) tag(t Tag, source string) {
	open := len(s.doc.hiding.names)
	s.doc.hiding.tag(t)
	s.inCode()
	hides := len(s.doc.hiding.names) != open
	for rest := source[1:]; ; { // some readers see a tag in a tag
		i := strings.IndexByte(rest, '<')
		if i < 0 {
			break
		}
		rest = rest[i:]
		if name, closing := elementName(rest); !closing && hiders[name] {
			s.doc.hiding.open("<" + name)
		}
		rest = rest[1:]
	}
	if parting[t.Name] {
		s.end()
	} else if s.start < len(s.out) {
		s.out = append(s.out, joinMark)
	}
	if hides || t.Name == "sub" || t.Name == "sup" {
		name := source[:strings.Index(strings.ToLower(source), t.Name)] + t.Name
		s.after = append(s.after, pending{name + ">" + strconv.Itoa(len(s.out)-s.start), mark})
	}
	if t.Closing {
		return
	}
	if len(t.Name) == 2 && t.Name[0] == 'h' && '1' <= t.Name[1] && t.Name[1] <= '6' {
		s.level = int(t.Name[1] - '0')
	}
	for _, name := range []string{"href", "src"} {
		if address, ok := t.attribute(name); ok {
			s.target(address)
		}
	}
	if name := map[string]string{"img": "alt", "input": "value"}[t.Name]; name != "" { // a browser shows it
		value, _ := t.attribute(name)
		for _, word := range strings.Fields(value) {
			s.after = append(s.after, pending{word, spelled})
		}
	}
	if hasKeyWord(normalized(source)) {
		for _, word := range strings.Fields(source) {
			s.after = append(s.after, pending{word, spelled})
		}
	}
	if t.Name == "td" || t.Name == "th" {
		s.after = append(s.after, pending{cellMark, mark})
	}
}
