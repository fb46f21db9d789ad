package page

import (
	"fmt"
	"iter"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	extensionast "github.com/yuin/goldmark/extension/ast"
	"golang.org/x/net/html"

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
	r := &bodyReader{source: []byte(text), open: map[string]int{}}
	for n := root.FirstChild(); n != nil; n = n.NextSibling() {
		r.part++
		r.block(n, "")
	}
	return &r.Body, nil
}

// bodyReader collects the passages of a text.
type bodyReader struct {
	Body
	source []byte
	part   int
	open   map[string]int // elements that are open, of those in which no form counts
}

// elements are those in which no form counts. The first two are a comment and a tag that raw HTML does not end.
var elements = map[string]string{"!--": "in a comment", "<": "in HTML", "s": "struck out", "del": "struck out",
	"strike": "struck out", "blockquote": "in a quote", "q": "in a quote", "table": "in a table", "code": "in code",
	"pre": "in code", "kbd": "in code", "samp": "in code", "tt": "in code"}

// broken replaces what does not count as a part of a line: no phrase extends across it.
const broken = "\ufffc"

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
		r.page(string(render(nil, r.source, n)), "in HTML", false)
		return
	case *ast.Paragraph, *ast.TextBlock, *ast.Heading, *extensionast.TableCell:
		r.page(string(render(nil, r.source, n)), outside, n.Kind() == ast.KindHeading)
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

// page reads a piece of the rendered page that has no other blocks. An open element goes on in the next piece.
func (r *bodyReader) page(piece, outside string, heading bool) {
	if r.open["!--"] > 0 {
		inside, after, closed := strings.Cut(piece, "-->")
		if r.add(inside, elements["!--"], false); closed {
			delete(r.open, "!--")
		}
		piece = after
	}
	var line strings.Builder
	read := 0
	tokens(piece, func(z *html.Tokenizer, kind html.TokenType) {
		raw := string(z.Raw())
		read += len(raw)
		text := string(z.Text())
		tag, _ := z.TagName()
		name := string(tag)
		switch why := r.inside(); {
		case kind == html.TextToken && (why == "" || strings.TrimSpace(text) == ""):
			line.WriteString(text)
		case kind == html.TextToken:
			r.add(text, why, false)
			line.WriteString(broken)
			if why == "in code" { // a reason may have the words
				line.WriteString(strings.Join(words().FindAllString(text, -1), broken) + broken)
			}
		case kind == html.CommentToken:
			if r.add(text, elements["!--"], false); strings.HasPrefix(raw, "<!--") && !strings.HasSuffix(raw, "-->") {
				r.open["!--"]++
			}
		case name == "br":
			line.WriteByte('\n')
		case name == "img":
			line.WriteString(broken)
		case kind != html.EndTagToken && elements[name] != "": // HTML ignores the slash of <del/>
			r.open[name]++
		case kind == html.EndTagToken && r.open[name] > 0:
			r.open[name]--
		}
	})
	if read < len(piece) { // a tag that does not end here has what follows among its attributes
		r.open["<"]++
	}
	if outside == "" && strings.HasPrefix(strings.TrimLeft(line.String(), " *_"), "☐") {
		outside = "the box is not ticked" // in each line of a paragraph, as in an item
	}
	r.add(line.String(), outside, heading)
}

// inside returns why no form counts in what follows, as far as an open element says so.
func (r *bodyReader) inside() string {
	for _, name := range slices.Sorted(maps.Keys(r.open)) {
		if r.open[name] > 0 {
			return elements[name]
		}
	}
	return ""
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

// maxGap is how many bytes the marks and blanks between a punctuation mark and a phrase may have.
const maxGap = 10

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
		begin, searched := 0, 0 // the line that has a match begins at begin
		for _, at := range f.find().FindAllStringIndex(text, -1) {
			before, after := text[:at[0]], text[at[1]:]
			if end := strings.LastIndexByte(text[searched:at[0]], '\n'); end >= 0 {
				begin = searched + end + 1
			}
			searched = at[0]
			start := leading().FindString(before[begin:])
			switch {
			case isWord(last(before)) || isWord(first(after)): // other words
			case p.outside != "":
				found(p.outside)
			case boxes().MatchString(before[begin:]):
				found("the box is not ticked")
			case begin+len(start) != len(before) &&
				!(f.within && afterDot().MatchString(before[max(begin, len(before)-maxGap):])):
				found("within a line")
			default:
				reason, why := b.rest(i, after)
				if found(why); why == "" {
					line, _, _ := strings.Cut(text[begin:], "\n")
					return Statement{Said: true, Line: strings.TrimSpace(line), Reason: reason}
				}
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

// rest reads what follows the words of a form in a passage: the reason, or why the form is not said.
func (b *Body) rest(i int, after string) (reason, why string) {
	line, below, _ := strings.Cut(after, "\n")
	reason = strings.TrimSpace(line[len(followed().FindString(line)):])
	next := below
	if strings.TrimSpace(below) == "" {
		for next = range b.following(i) {
			break
		}
	}
	next, _, _ = strings.Cut(strings.TrimSpace(next), "\n")
	switch {
	case !followed().MatchString(line):
		return "", "the line goes on without a colon"
	case denies().MatchString(reason) || !hasWord(reason) && denies().MatchString(next):
		return "", "answered with no"
	}
	return reason + " " + below + "\n" + strings.Join(slices.Collect(b.following(i)), "\n"), ""
}

// following yields the rest of the part of a passage, and the next part in which forms count, up to a heading.
func (b *Body) following(i int) iter.Seq[string] {
	return func(yield func(string) bool) {
		part := b.passages[i].part
		for _, p := range b.passages[i+1:] {
			switch {
			case p.outside != "":
			case p.heading || p.part != part && part != b.passages[i].part || !yield(Lines(p.text)):
				return
			default:
				part = p.part
			}
		}
	}
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

// words are those of a text that have a letter or a digit.
var words = plain.Pattern(`\S*[\pL\pN]\S*`)

// Words counts the words of a text that have a letter or a digit.
func Words(text string) int { return len(words().FindAllString(text, -1)) }
