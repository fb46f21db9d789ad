package page

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/yuin/goldmark/ast"
	extensionast "github.com/yuin/goldmark/extension/ast"
	"golang.org/x/net/html"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
)

// A Form is a phrase that an author writes at the start of a line.
type Form struct {
	words    string
	anywhere func() *regexp.Regexp // matches the phrase
	start    func() *regexp.Regexp // matches the phrase behind marks that do not count
}

// NewForm returns the form of a phrase, in any letter case and with blanks or hyphens between the words. If within is
// true, the phrase also counts behind a punctuation mark and a blank, and across the end of a line.
func NewForm(words string, within bool) *Form {
	gap, before := `[ -]`, `^`
	if within {
		gap, before = `[\s-]`, `(?:^|[.,;:!]\s+)`
	}
	phrase := strings.ReplaceAll(words, " ", gap)
	pattern := func(text string) func() *regexp.Regexp {
		return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
	}
	return &Form{words, pattern(`(?i)\b` + phrase + `\b`), pattern(`(?im)` + before + leading + phrase + `\b`)}
}

// leading matches the marks that do not count at the start of a line.
const leading = `(?:[ *_#]|[-+] |\[[xX]\]|☑)*`

// A Body is a text that may have forms: the body of a pull request, the message of a commit, a review.
type Body struct{ passages []passage }

// passage is the lines of one block, or a part of a block where no form counts.
type passage struct {
	text    string // as lines returns it
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
	if text = lines(text); strings.TrimSpace(text) != "" {
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
		r.page(render(r.source, n), "in HTML", false)
		return
	case *ast.Paragraph, *ast.TextBlock, *ast.Heading, *extensionast.TableCell:
		r.page(render(r.source, n), outside, n.Kind() == ast.KindHeading)
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
	marks    = plain.Pattern(`^` + leading)
	box      = plain.Pattern(`\[ *\]|☐`)
	followed = plain.Pattern(`^[\s*_]*(?:$|[:.,;!(–—-])`)
	denies   = plain.Pattern(`(?i)^\W*(?:(?:no|none|never|false|n/?a|tbd|todo|pending|unknown|\?)\W*$|not\b)`)
)

// Says returns the first line of the form that counts. Without one, it returns where the body has its words.
func (b *Body) Says(f *Form) Statement {
	where, spelled := "", ""
	for i, p := range b.passages {
		at := f.anywhere().FindStringIndex(p.text)
		switch {
		case at == nil && p.outside == "" && spelled == "":
			spelled = f.nearly(p.text)
			continue
		case at == nil:
			continue
		case p.outside != "":
			where = cmp.Or(where, p.outside)
			continue
		}
		why := "within a line"
		if box().MatchString(p.text[strings.LastIndexByte(p.text[:at[0]], '\n')+1 : at[0]]) {
			why = "the box is not ticked"
		}
		for _, at := range f.start().FindAllStringIndex(p.text, -1) {
			var reason string
			if reason, why = b.rest(i, p.text[at[1]:]); why == "" {
				line, _, _ := strings.Cut(p.text[strings.LastIndexByte(p.text[:at[1]], '\n')+1:], "\n")
				return Statement{Said: true, Line: line, Reason: reason}
			}
		}
		where = cmp.Or(where, why)
	}
	return Statement{Where: cmp.Or(where, spelled)}
}

// lines returns a text in NFKC, without invisible characters, with plain hyphens, its white space folded line by line.
func lines(text string) string {
	var out []string
	for line := range strings.Lines(text) {
		out = append(out, strings.ReplaceAll(Plain(line), "\u2010", "-"))
	}
	return strings.Join(out, "\n")
}

// rest reads what follows the words of a form in a passage: the reason, or why the form is not said.
func (b *Body) rest(i int, after string) (reason, why string) {
	line, below, _ := strings.Cut(after, "\n")
	reason = strings.TrimSpace(line[len(followed().FindString(line)):])
	below += "\n" + b.following(i)
	next, _, _ := strings.Cut(strings.TrimSpace(below), "\n")
	switch {
	case !followed().MatchString(line):
		return "", "the line goes on without a colon"
	case denies().MatchString(reason) || !strings.ContainsFunc(reason, unicode.IsLetter) && denies().MatchString(next):
		return "", "answered with no"
	}
	return reason + " " + below, ""
}

// maxReason is how many bytes the passages of a reason have before no other is added.
const maxReason = 1000

// following returns the rest of the part of a passage, and the next part in which forms count, up to a heading.
func (b *Body) following(i int) string {
	var text strings.Builder
	part := b.passages[i].part
	for _, p := range b.passages[i+1:] {
		if p.outside != "" {
			continue
		}
		if p.heading || p.part != part && part != b.passages[i].part || text.Len() > maxReason {
			break
		}
		part = p.part
		text.WriteString(p.text + "\n")
	}
	return text.String()
}

// nearly says how a line begins that is one edit away from the form; empty if none is.
func (f *Form) nearly(text string) string {
	want := []rune(strings.ToLower(f.words))
	for line := range strings.Lines(text) {
		runes := []rune(strings.TrimSpace(line[len(marks().FindString(line)):]))
		for n := len(want) - 1; n <= min(len(want)+1, len(runes)); n++ {
			got := []rune(strings.ReplaceAll(strings.ToLower(string(runes[:n])), "-", " "))
			if (n == len(runes) || !isWord(runes[n])) && isWord(runes[n-1]) && plain.Distance(got, want, 1) == 1 {
				return fmt.Sprintf("spelt %q", string(runes[:n]))
			}
		}
	}
	return ""
}

// words are those of a text that have a letter or a digit.
var words = plain.Pattern(`\S*[\pL\pN]\S*`)

// Words counts the words of a text that have a letter or a digit.
func Words(text string) int { return len(words().FindAllString(text, -1)) }
