// Package page reads the texts of a proposal as the forge shows them.
//
// A text of Markdown is rendered as the forge does, with GitHub's extensions and raw HTML. A reader of Markdown sees
// the page without comments and tags, with entities decoded. A reader of another text sees the text.
package page

import (
	"bufio"
	"bytes"
	"errors"
	"path"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extensionast "github.com/yuin/goldmark/extension/ast"
	markdownhtml "github.com/yuin/goldmark/renderer/html"
	source "github.com/yuin/goldmark/text"
	"golang.org/x/net/html"
	"golang.org/x/text/unicode/norm"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict/fold"
)

// Limits of a text of Markdown. The time of the parser grows with the square of what the last three limit.
const (
	maxMarkdown = 1 << 20 // bytes
	maxCells    = 500_000 // the most | of a line, times the lines: the parser fills up each row of a table
	maxNested   = 200     // quotes and lists that a line begins
	// The parser compares each mark of emphasis or of a link with those up to the next blank line.
	maxPairs = 5_000 * 5_000
)

// ErrLimit means that a text of Markdown is larger than what is rendered.
var ErrLimit = errors.New("too large to be rendered")

// fits returns ErrLimit for a text that is larger than what is rendered.
func fits(text string) error {
	lines, bars, nested, pairs, marks := 0, 0, 0, 0, 0 // marks: since the last blank line; pairs: before it
	for line := range strings.Lines(text) {
		lines++
		bars = max(bars, strings.Count(line, "|"))
		if strings.Trim(line, " \t\r\n\v\f") == "" { // another space is text
			pairs, marks = pairs+marks*marks, 0
		}
		for _, mark := range []string{"*", "_", "~", "["} {
			marks += strings.Count(line, mark)
		}
		inside := 0
		for i := 0; i < len(line) && strings.IndexByte("> \t-+*.)0123456789", line[i]) >= 0; i++ {
			if line[i] == '>' || i > 0 && line[i] <= ' ' && strings.IndexByte("-+*.)", line[i-1]) >= 0 {
				inside++
			}
		}
		nested = max(nested, inside)
	}
	for _, limit := range []struct {
		n, most int
		what    string
	}{
		{len(text), maxMarkdown, "bytes of Markdown"},
		{nested, maxNested, "quotes and lists within one another"},
		{pairs + marks*marks, maxPairs, "pairs of marks of emphasis and links without a blank line between"},
		{bars * lines, maxCells, "possible cells of a table, by the most | of a line times the lines"},
	} {
		if limit.n > limit.most {
			return remedy.Errorf("split the text into several files", "%w: it has %d %s; expected at most %d",
				ErrLimit, limit.n, limit.what, limit.most)
		}
	}
	return nil
}

// markdown renders as the forge does. Raw HTML is written as it is: without that, a comment and a tag are one.
var markdown = sync.OnceValue(func() goldmark.Markdown {
	return goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithRendererOptions(markdownhtml.WithUnsafe()))
})

// A Text is a text file.
type Text struct {
	Source   string
	Seen     func() string   // returns what a reader sees, on one line
	KeyWords func() []string // returns the words of RFC 2119 that a reader sees, in order

	root ast.Node // nil: it is not Markdown
}

// Read reads the text of a file. A nil Text means that the file is not UTF-8, or has a NUL. The error is ErrLimit.
func Read(name string, data []byte) (*Text, error) {
	if !utf8.Valid(data) || bytes.IndexByte(data, 0) >= 0 {
		return nil, nil
	}
	t := &Text{Source: string(data)}
	if IsMarkdown(name) {
		var err error
		if t.root, err = Parse(t.Source); err != nil {
			return nil, err
		}
	}
	t.Seen = sync.OnceValue(func() string {
		if !t.IsMarkdown() {
			return Plain(t.Source)
		}
		shown, _ := visible(t.HTML())
		return Plain(shown)
	})
	t.KeyWords = sync.OnceValue(func() []string { return KeyWords(t.Seen()) })
	return t, nil
}

// IsMarkdown reports whether a path is that of a text of Markdown.
func IsMarkdown(name string) bool {
	return slices.Contains([]string{".md", ".markdown"}, strings.ToLower(path.Ext(name)))
}

// Parse returns the tree of a text of Markdown, or ErrLimit.
func Parse(text string) (ast.Node, error) {
	if err := fits(text); err != nil {
		return nil, err
	}
	return markdown().Parser().Parse(source.NewReader([]byte(text))), nil
}

// IsMarkdown reports whether the text is rendered.
func (t *Text) IsMarkdown() bool { return t.root != nil }

// HTML returns the rendered page. The text must be Markdown.
func (t *Text) HTML() string { return render([]byte(t.Source), t.root) }

// render returns the HTML of a node.
func render(text []byte, n ast.Node) string {
	var b strings.Builder
	w := bufio.NewWriter(&b)
	_ = markdown().Renderer().Render(w, text, n) // writing to memory does not fail
	_ = w.Flush()
	return b.String()
}

// tokens yields the tokens of a page. The forge drops tags such as <plaintext>, and shows what is in them.
func tokens(page string, yield func(z *html.Tokenizer, kind html.TokenType)) {
	z := html.NewTokenizer(strings.NewReader(page))
	for kind := z.Next(); kind != html.ErrorToken; kind = z.Next() {
		z.NextIsNotRawText()
		yield(z, kind)
	}
}

// visible returns the text of a page between tags and comments, and what is in comments.
func visible(page string) (shown, hidden string) {
	var text, comments strings.Builder
	tokens(page, func(z *html.Tokenizer, kind html.TokenType) {
		switch name, _ := z.TagName(); {
		case kind == html.TextToken:
			text.Write(z.Text())
		case kind == html.CommentToken, kind == html.DoctypeToken:
			comments.Write(z.Text())
			comments.WriteByte(' ')
		case string(name) == "br":
			text.WriteByte('\n')
		}
	})
	return text.String(), comments.String()
}

// Plain returns a text in NFKC, without invisible characters, its white space folded.
func Plain(text string) string {
	for _, r := range text {
		if r >= utf8.RuneSelf {
			text = norm.NFKC.String(strings.Map(func(r rune) rune {
				if fold.DefaultIgnorable(r) {
					return -1
				}
				return r
			}, norm.NFKC.String(text)))
			break
		}
	}
	return strings.Join(strings.Fields(text), " ")
}

// KeyWords returns the words of RFC 2119 in a text that Plain returned, in order.
func KeyWords(text string) (out []string) {
	for part := range strings.FieldsFuncSeq(text, func(r rune) bool { return r != ' ' && !isWord(r) }) {
		before := ""
		for word := range strings.SplitSeq(part, " ") {
			switch word = strings.Trim(word, "_"); word {
			case "NOT":
				if before == "MUST" || before == "SHALL" || before == "SHOULD" {
					out[len(out)-1] += " NOT"
					word = ""
				}
			case "MUST", "SHALL", "SHOULD", "REQUIRED", "MAY", "OPTIONAL":
				out = append(out, word)
			case "RECOMMENDED":
				if before == "NOT" {
					word = "NOT RECOMMENDED"
				}
				out = append(out, word)
			}
			before = word
		}
	}
	return out
}

func isWord(r rune) bool {
	return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)
}

// A Block is a part of a text that has no other parts: a paragraph, a heading, a row of a table, a piece of code or
// HTML. The blocks of a text that is not Markdown are its paragraphs.
type Block struct {
	Line   int    // number of its first line, from 1
	Level  int    // level of a heading, from 1; 0 for other blocks
	Source string // its lines, and those up to the next block
	Header bool   // whether it is the first row of a table
	Above  *Block // the nearest heading above that has a lower level; nil without one

	document []byte
	node     ast.Node   // nil: the text is not Markdown
	shown    *[2]string // what Text and Hidden return; nil: not rendered yet
}

// Text returns what a reader sees of a block, as Plain returns it.
func (b *Block) Text() string { return b.render()[0] }

// Hidden returns what the comments in a block contain.
func (b *Block) Hidden() string { return b.render()[1] }

func (b *Block) render() [2]string {
	if b.shown == nil {
		text, hidden := b.Source, ""
		if b.node != nil {
			text, hidden = visible(render(b.document, b.node))
		}
		b.shown = &[2]string{Plain(text), Plain(hidden)}
	}
	return *b.shown
}

// Cells returns what a reader sees of each cell of a row, with ~~ around one that has struck text. It returns nil for
// another block.
func (b *Block) Cells() (cells []string) {
	if b.node == nil || b.node.Kind() != extensionast.KindTableHeader && b.node.Kind() != extensionast.KindTableRow {
		return nil
	}
	for cell := b.node.FirstChild(); cell != nil; cell = cell.NextSibling() {
		page := render(b.document, cell)
		shown, _ := visible(page)
		shown = Plain(shown)
		if struck().MatchString(page) {
			shown = "~~" + shown + "~~"
		}
		cells = append(cells, shown)
	}
	return cells
}

var struck = plain.Pattern(`(?i)<(?:del|s|strike)[\s/>]`)

// paragraph matches lines that are not blank, up to one that is.
var paragraph = plain.Pattern(`(?:[^\n]*\S[^\n]*\n?)+`)

// Blocks returns the blocks of a text, in order.
func (t *Text) Blocks() (out []*Block) {
	begins := []int{0} // offset of the first line of each block; what is above the first one is a part of it
	document := []byte(t.Source)
	add := func(at, level int, n ast.Node) {
		at = strings.LastIndexByte(t.Source[:max(at, 0)], '\n') + 1
		begins = append(begins, max(at, begins[len(begins)-1]))
		out = append(out, &Block{Level: level, document: document, node: n,
			Header: n != nil && n.Kind() == extensionast.KindTableHeader})
	}
	if !t.IsMarkdown() {
		for _, at := range paragraph().FindAllStringIndex(t.Source, -1) {
			add(at[0], 0, nil)
		}
	}
	walk(t.root, func(n ast.Node) (deeper bool) {
		level, at := 0, n.Pos()
		switch n := n.(type) {
		case *ast.Heading:
			level = n.Level
			if n.Lines().Len() > 0 {
				at = n.Lines().At(0).Start // its position is that of an underline
			}
		case *ast.Paragraph, *ast.TextBlock, *ast.CodeBlock, *ast.FencedCodeBlock, *ast.HTMLBlock,
			*extensionast.TableHeader, *extensionast.TableRow:
		default:
			return true
		}
		add(at, level, n)
		return false
	})
	var heading *Block // the last one
	begins = append(begins, len(t.Source))
	line := 1
	for i, b := range out {
		line += strings.Count(t.Source[begins[i]:begins[i+1]], "\n")
		source := t.Source[begins[i+1]:begins[i+2]]
		if i == 0 {
			source = t.Source[:begins[2]]
		}
		b.Line, b.Source = line, strings.Trim(source, "\r\n")
		for b.Level > 0 && heading != nil && heading.Level >= b.Level {
			heading = heading.Above
		}
		if b.Above = heading; b.Level > 0 {
			heading = b
		}
	}
	return out
}

// walk calls enter for a node and what is in it, in order. A nil node has nothing in it.
func walk(n ast.Node, enter func(ast.Node) (deeper bool)) {
	if n == nil {
		return
	}
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering && !enter(n) {
			return ast.WalkSkipChildren, nil
		}
		return ast.WalkContinue, nil
	})
}
