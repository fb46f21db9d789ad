package page

import (
	"fmt"
	"html"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	extensionast "github.com/yuin/goldmark/extension/ast"
	xhtml "golang.org/x/net/html"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
)

// A Form is a phrase that an author writes at the start of a line.
type Form struct {
	words  string
	within bool // whether it also counts behind a punctuation mark and across the end of a line
	find   func() *regexp.Regexp
}

// NewForm returns the form of a phrase, in any letter case and with blanks or hyphens between the words. If within is
// true, the phrase also counts behind a punctuation mark and a blank, and across the end of a line.
func NewForm(words string, within bool) *Form {
	gap := `[ -]`
	if within {
		gap = `[\s-]`
	}
	find := func() *regexp.Regexp { return regexp.MustCompile(`(?i)` + strings.ReplaceAll(words, " ", gap)) }
	return &Form{words, within, sync.OnceValue(find)}
}

// A Body is a text that may have forms: the body of a pull request, the message of a commit, a review.
type Body struct{ passages []passage }

// passage is the lines of one block, or a part of a block where no form counts.
type passage struct {
	text    string // with the ends of its lines
	outside string // why no form counts, such as "in a quote"; empty where one does
	part    int    // the number of the part of the text: a paragraph, a list, a heading
	heading bool
}

// ReadBody reads a text in Markdown. The error is ErrLimit.
func ReadBody(text string) (*Body, error) {
	root, err := Parse(text)
	if err != nil {
		return nil, err
	}
	r := &bodyReader{source: []byte(text), tags: map[string]int{}}
	for n := root.FirstChild(); n != nil; n = n.NextSibling() {
		r.part++
		r.block(n, "")
	}
	return &Body{r.passages}, nil
}

// bodyReader collects the passages of a text.
type bodyReader struct {
	Body
	source  []byte
	part    int
	comment bool           // a comment of raw HTML is open
	tags    map[string]int // elements of raw HTML that are open, of those in which no form counts
	line    strings.Builder
}

// elements are those of raw HTML in which no form counts.
var elements = map[string]string{"s": "struck out", "del": "struck out", "strike": "struck out",
	"blockquote": "in a quote", "q": "in a quote", "table": "in a table", "code": "in code", "pre": "in code",
	"kbd": "in code", "samp": "in code", "tt": "in code"}

// broken replaces text that does not count as a part of a line: no phrase extends across it.
const broken = '\ufffc'

func (r *bodyReader) add(text, outside string, heading bool) {
	if strings.TrimSpace(text) != "" {
		r.passages = append(r.passages, passage{text, outside, r.part, heading})
	}
}

// block reads a block and those in it. outside says why no form counts there, if none does.
func (r *bodyReader) block(n ast.Node, outside string) {
	switch n := n.(type) {
	case *ast.CodeBlock, *ast.FencedCodeBlock:
		r.add(string(n.Lines().Value(r.source)), "in a code block", false)
		return
	case *ast.HTMLBlock:
		raw := n.Lines().Value(r.source)
		if n.HasClosure() {
			raw = append(slices.Clone(raw), n.ClosureLine.Value(r.source)...)
		}
		r.html(string(raw), true)
		return
	case *ast.Paragraph, *ast.TextBlock, *ast.Heading, *extensionast.TableCell:
		_, heading := n.(*ast.Heading)
		r.line.Reset()
		if why := r.closed(); why != "" {
			outside = why
		}
		r.inline(n, outside == "")
		text := r.line.String()
		if outside == "" && strings.HasPrefix(strings.TrimLeft(text, " *_"), "☐") {
			outside = "the box is not ticked"
		}
		r.add(text, outside, heading)
		return
	case *ast.Blockquote:
		outside = "in a quote"
	case *extensionast.TableHeader, *extensionast.TableRow:
		outside = "in a table"
	case *ast.ListItem:
		if first := n.FirstChild(); first != nil {
			if box, is := first.FirstChild().(*extensionast.TaskCheckBox); is && box.IsChecked {
				outside = strings.TrimPrefix(outside, "the box is not ticked")
			} else if is && outside == "" {
				outside = "the box is not ticked"
			}
		}
	}
	for child := n.FirstChild(); child != nil; child = child.NextSibling() {
		r.block(child, outside)
	}
}

// inline appends what is in a paragraph to the line.
func (r *bodyReader) inline(n ast.Node, counts bool) {
	for child := n.FirstChild(); child != nil; child = child.NextSibling() {
		why := r.closed()
		switch n := child.(type) {
		case *ast.Text:
			text := html.UnescapeString(string(n.Value(r.source)))
			if counts && why != "" {
				r.add(text, why, false)
				text = string(broken)
			}
			r.line.WriteString(text)
			if n.SoftLineBreak() || n.HardLineBreak() {
				r.line.WriteByte('\n')
			}
		case *ast.String:
			r.line.Write(n.Value)
		case *ast.CodeSpan:
			r.apart(n, "in code")
			// Its words are words of the line, between which no phrase extends.
			for c := n.FirstChild(); c != nil; c = c.NextSibling() {
				if t, is := c.(*ast.Text); is {
					r.line.WriteString(strings.Map(func(c rune) rune {
						if isWord(c) {
							return c
						}
						return broken
					}, string(t.Value(r.source))))
				}
			}
			r.line.WriteRune(broken)
		case *extensionast.Strikethrough:
			r.apart(n, "struck out")
		case *ast.RawHTML:
			r.html(string(n.Segments.Value(r.source)), false)
		case *ast.AutoLink:
			r.line.Write(n.Label(r.source))
		case *ast.Image:
			r.line.WriteRune(broken)
		case *extensionast.TaskCheckBox: // read with the item
		default:
			r.inline(n, counts)
		}
	}
}

// apart adds a passage of its own for what is in a part of a line that does not count.
func (r *bodyReader) apart(n ast.Node, why string) {
	line := r.line
	r.line = strings.Builder{}
	r.inline(n, false)
	r.add(r.line.String(), why, false)
	r.line = line
	r.line.WriteRune(broken)
}

// closed returns why no form counts in what follows, as far as raw HTML says so.
func (r *bodyReader) closed() string {
	if r.comment {
		return "in a comment"
	}
	for _, name := range slices.Sorted(maps.Keys(r.tags)) {
		if r.tags[name] > 0 {
			return elements[name]
		}
	}
	return ""
}

// html reads a piece of raw HTML: a block, or one tag or comment in a line.
func (r *bodyReader) html(raw string, block bool) {
	for raw != "" {
		if r.comment {
			inside, after, found := strings.Cut(raw, "-->")
			r.add(inside, "in a comment", false)
			r.comment, raw = !found, after
			continue
		}
		outer, inside, found := strings.Cut(raw, "<!--")
		r.comment, raw = found, inside
		z := xhtml.NewTokenizer(strings.NewReader(outer))
		for kind := z.Next(); kind != xhtml.ErrorToken; kind = z.Next() {
			z.NextIsNotRawText()
			switch name, _ := z.TagName(); {
			case kind == xhtml.TextToken && block:
				r.add(string(z.Text()), "in HTML", false)
			case kind == xhtml.StartTagToken && elements[string(name)] != "":
				r.tags[string(name)]++
			case kind == xhtml.EndTagToken && r.tags[string(name)] > 0:
				r.tags[string(name)]--
			case !block && string(name) == "br":
				r.line.WriteByte('\n')
			}
		}
	}
}

// A Statement is how a body says a form, or where else it has the words.
type Statement struct {
	Said   bool
	Line   string // the line, or the place
	Reason string // the rest of its line and paragraph, and the next paragraph or list up to a heading
	Where  string // where the words are if they are not said, such as "in code"; empty if the body lacks them
}

var (
	leading  = plain.Pattern(`^(?:[\s*_#]|[-+]\s|\[[xX]\]|☑)*`)
	boxes    = plain.Pattern(`^(?:[\s*_#]|[-+]\s)*(?:\[\s*\]|☐)[\s*_]*$`)
	followed = plain.Pattern(`^[\s*_]*(?:$|[:.,;!(–—-])`)
	denies   = plain.Pattern(`(?i)^\W*(?:(?:no|none|never|false|n/?a|tbd|todo|pending|unknown|\?)\W*$|not\b)`)
	afterDot = plain.Pattern(`[.,;:!]\s+[*_]*$`)
)

// Says returns the first line of the form that counts. Without one, it returns where the body has its words.
func (b *Body) Says(f *Form) Statement {
	var none Statement
	found := func(where string) {
		if none.Where == "" {
			none.Where = where
		}
	}
	spelled := ""
	for i, p := range b.passages {
		text := Lines(p.text)
		for _, at := range f.find().FindAllStringIndex(text, -1) {
			before, after := text[:at[0]], text[at[1]:]
			begin := strings.LastIndexByte(before, '\n') + 1
			line, below, _ := strings.Cut(after, "\n")
			rest := followed().FindString(line)
			rest = strings.TrimSpace(line[len(rest):])
			start := leading().FindString(before[begin:])
			switch {
			case isWord(last(before)) || isWord(first(after)): // other words
			case p.outside != "":
				found(p.outside)
			case boxes().MatchString(before[begin:]):
				found("the box is not ticked")
			case begin+len(start) != len(before) && !(f.within && afterDot().MatchString(before)):
				found("within a line")
			case !followed().MatchString(line):
				found("the line goes on without a colon")
			case denies().MatchString(rest) || !hasWord(rest) && denies().MatchString(b.next(i, below)):
				found("answered with no")
			default:
				end := at[1] + len(line)
				return Statement{Said: true, Line: strings.TrimSpace(text[begin:end]), Reason: rest + " " + below +
					" " + b.following(i)}
			}
		}
		for line := range strings.Lines(text) {
			if word := f.nearly(line[len(leading().FindString(line)):]); p.outside == "" && spelled == "" &&
				word != "" {
				spelled = fmt.Sprintf("spelt %q", word)
			}
		}
	}
	if none.Where == "" {
		none.Where = spelled
	}
	return none
}

// Lines returns a text in NFKC, without invisible characters, with plain hyphens, its white space folded line by line.
func Lines(text string) string {
	var out []string
	for line := range strings.Lines(text) {
		out = append(out, strings.ReplaceAll(Plain(line), "\u2010", "-"))
	}
	return strings.Join(out, "\n")
}

func first(text string) rune { r, _ := utf8.DecodeRuneInString(text); return r }

func last(text string) rune { r, _ := utf8.DecodeLastRuneInString(text); return r }

func hasWord(text string) bool { return strings.ContainsFunc(text, unicode.IsLetter) }

// next returns the first line after that of a passage.
func (b *Body) next(i int, below string) string {
	if strings.TrimSpace(below) == "" {
		below = b.following(i)
	}
	line, _, _ := strings.Cut(strings.TrimSpace(below), "\n")
	return line
}

// following returns the rest of the part of a passage, and the next part in which forms count, up to a heading.
func (b *Body) following(i int) string {
	var out []string
	part := b.passages[i].part
	for _, p := range b.passages[i+1:] {
		switch {
		case p.heading && p.outside == "", p.outside == "" && p.part != part && part != b.passages[i].part:
			return strings.Join(out, "\n")
		case p.outside == "":
			out, part = append(out, Lines(p.text)), p.part
		}
	}
	return strings.Join(out, "\n")
}

// nearly returns the start of a line that is one edit away from the form, empty if it is not.
func (f *Form) nearly(line string) string {
	runes, want := []rune(strings.TrimSpace(line)), []rune(strings.ToLower(f.words))
	for n := len(want) - 1; n <= min(len(want)+1, len(runes)); n++ {
		got := []rune(strings.ReplaceAll(strings.ToLower(string(runes[:n])), "-", " "))
		if (n == len(runes) || !isWord(runes[n])) && isWord(runes[n-1]) && plain.Distance(got, want, 1) == 1 {
			return string(runes[:n])
		}
	}
	return ""
}

// Words counts the words of a text that have a letter or a digit.
func Words(text string) int {
	n := 0
	for word := range strings.FieldsSeq(text) {
		if strings.ContainsFunc(word, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
			n++
		}
	}
	return n
}
