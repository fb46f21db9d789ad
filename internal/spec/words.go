package spec

import (
	"html"
	"slices"
	"strings"
	"unicode"

	"github.com/openagentprotocol-OAP/oap-gate/internal/markdown"
)

// clean takes out of a Markdown text what its author does not say in his own words, or does not show: code blocks,
// comments, HTML tags, link definitions, targets and titles, images, struck-out text, inline code, quotes. It goes
// through the text a fixed number of times, whatever is nested in it. Lines stay lines.
//
// Where Markdown and this reading differ, more is taken out: a phrase that is missed costs its author an edit, one
// that nobody saw would open a gate.
func clean(text string) string {
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	text = withoutCodeBlocks(text)
	text = withoutComments(text)
	text = withoutTags(text)
	lines := withoutDefinitions(strings.Split(text, "\n"))
	var out []string
	for len(lines) > 0 {
		n := 1
		for n < len(lines) && markdown.KindOf(lines[n-1]) != markdown.Blank &&
			markdown.KindOf(lines[n]) == markdown.Paragraph && markdown.KindOf(lines[n-1]) != markdown.Quote {
			n++
		}
		span := strings.Join(lines[:n], "\n")
		for _, pass := range []func(string) string{withoutTargets, withoutImages, withoutStruck, withoutCode} {
			span = pass(span)
		}
		if markdown.KindOf(span) != markdown.Quote && !quotedItem(span) {
			out = append(out, span)
		} else {
			out = append(out, "")
		}
		lines = lines[n:]
	}
	text = html.UnescapeString(strings.Join(out, "\n"))
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) {
			return -1 // not seen, but between the letters of a word
		}
		return r
	}, text)
}

// removed stands for a word that was taken out of a line: no phrase goes across it.
const removed = "\ufffc"

// withoutCodeBlocks drops fenced and indented code. Lists are followed, since what is indented in an item is no code.
func withoutCodeBlocks(text string) string {
	var out strings.Builder
	var items []int // columns at which the contents of open list items begin
	fence, open := "", false
	for line := range strings.SplitAfterSeq(text, "\n") {
		body := strings.TrimRight(line, "\n")
		column, rest := indentation(body)
		inner := func() int {
			if len(items) == 0 {
				return 0
			}
			return items[len(items)-1]
		}
		if fence != "" {
			if column-inner() < 4 && closes(rest, fence) {
				fence = ""
			}
			out.WriteString("\n")
			continue
		}
		if rest == "" {
			open = false
			out.WriteString(line)
			continue
		}
		for len(items) > 0 && column < inner() && (!open || markdown.KindOf(body) != markdown.Paragraph) {
			items = items[:len(items)-1]
		}
		code := false
		for {
			if column-inner() >= 4 {
				code = !open
				break
			}
			width := markdown.Marker(rest)
			if width == 0 {
				break
			}
			open = false
			gap, after := indentation(rest[width:])
			if after == "" || gap > 4 {
				gap = 1
			}
			items = append(items, column+width+gap)
			if after == "" {
				rest = ""
				break
			}
			more, _ := indentation(rest[width:])
			column, rest = column+width+more, after
		}
		switch {
		case code:
			out.WriteString("\n")
			continue
		case rest == "":
		case fenceOf(rest) != "":
			fence = fenceOf(rest)
			out.WriteString("\n")
			open = false
			continue
		default:
			open = markdown.KindOf(rest) != markdown.Heading
		}
		out.WriteString(line)
	}
	return out.String()
}

// indentation is how many columns of blanks a line begins with, tabs going to the next multiple of four, and the rest.
func indentation(line string) (columns int, rest string) {
	for i, c := range []byte(line) {
		switch c {
		case ' ':
			columns++
		case '\t':
			columns += 4 - columns%4
		case '\v', '\f', '\r':
		default:
			return columns, line[i:]
		}
	}
	return columns, ""
}

// fenceOf is the run of characters by which a line opens fenced code, empty where it does not.
func fenceOf(line string) string {
	for _, c := range []string{"`", "~"} {
		n := len(line) - len(strings.TrimLeft(line, c))
		if n >= 3 && (c == "~" || !strings.Contains(line[n:], "`")) {
			return line[:n]
		}
	}
	return ""
}

func closes(line, fence string) bool {
	line = strings.TrimRight(line, " \t")
	return len(line) >= len(fence) && strings.Trim(line, fence[:1]) == ""
}

func withoutComments(text string) string {
	var out strings.Builder
	for {
		before, after, found := strings.Cut(text, "<!--")
		out.WriteString(before)
		if !found {
			return out.String()
		}
		if _, text, found = strings.Cut(after, "-->"); !found {
			return out.String()
		}
	}
}

// lost are the elements whose content is not said, or is no longer.
var lost = []string{"blockquote", "code", "del", "pre", "s", "script", "strike", "style", "template", "textarea",
	"title"}

// blocks are the elements that begin a paragraph of their own.
var blocks = []string{"blockquote", "dd", "details", "div", "dl", "dt", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "li",
	"ol", "p", "pre", "section", "summary", "table", "tbody", "td", "th", "thead", "tr", "ul"}

// withoutTags drops tags with their attributes; one that does not end takes the rest of its paragraph along.
func withoutTags(text string) string {
	var out strings.Builder
	var open []string // of the lost ones
	write := func(s string) {
		if len(open) == 0 {
			out.WriteString(s)
		}
	}
	for {
		i := strings.IndexByte(text, '<')
		if i < 0 {
			write(text)
			return out.String()
		}
		write(text[:i])
		text = text[i:]
		name, closing, ok := tagName(text)
		if !ok {
			write("<")
			text = text[1:]
			continue
		}
		n := tagEnd(text)
		tag := text[:n]
		text = text[n:]
		switch {
		case name == "br":
			write("\n")
		case slices.Contains(blocks, name):
			write("\n\n")
		}
		switch {
		case !slices.Contains(lost, name):
		case closing && len(open) > 0 && open[len(open)-1] == name:
			open = open[:len(open)-1]
		case !closing && !strings.HasSuffix(tag, "/>"):
			open = append(open, name)
		}
	}
}

// tagName is the name of the tag that text begins with, in small letters.
func tagName(text string) (name string, closing, ok bool) {
	rest := text[1:]
	if strings.HasPrefix(rest, "/") {
		rest, closing = rest[1:], true
	}
	n := 0
	for n < len(rest) && n < 32 && (isASCIILetter(rest[n]) || n > 0 && '0' <= rest[n] && rest[n] <= '9') {
		n++
	}
	if n == 0 && !closing && rest != "" {
		return "", false, rest[0] == '?' || rest[0] == '!' && len(rest) > 1 &&
			(isASCIILetter(rest[1]) || rest[1] == '[')
	}
	return strings.ToLower(rest[:n]), closing, n > 0
}

func isASCIILetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// tagEnd is the length of the tag that text begins with. A quoted value may hold what else would end it.
func tagEnd(text string) int {
	quoted, last := byte(0), byte(0)
	for i := 1; i < len(text); i++ {
		c := text[i]
		switch {
		case c == '\n' && blankAfter(text[i+1:]):
			return i
		case quoted != 0:
			if c == quoted {
				quoted = 0
			}
		case c == '>':
			return i + 1
		case (c == '"' || c == '\'') && last == '=':
			quoted = c
		}
		if c != ' ' && c != '\t' && c != '\n' {
			last = c
		}
	}
	return len(text)
}

// blankAfter reports whether a blank line follows.
func blankAfter(text string) bool {
	for _, c := range []byte(text) {
		switch c {
		case '\n':
			return true
		case ' ', '\t':
		default:
			return false
		}
	}
	return true
}

// withoutDefinitions drops link reference definitions: a label, a target and a title, each on the line of the one
// before or on the next.
func withoutDefinitions(lines []string) []string {
	var out []string
	for i := 0; i < len(lines); i++ {
		target, ok := definition(lines[i])
		if !ok {
			out = append(out, lines[i])
			continue
		}
		out = append(out, "")
		next := func() string {
			if i+1 < len(lines) {
				return strings.TrimSpace(lines[i+1])
			}
			return ""
		}
		if target == "" {
			target = next()
			i++
		}
		_, title, _ := strings.Cut(target, " ")
		if title = strings.TrimSpace(title); title == "" && next() != "" && strings.IndexByte(`"'(`, next()[0]) >= 0 {
			title = next()
			i++
		}
		for title != "" && strings.IndexByte(`"'(`, title[0]) >= 0 && !titleEnds(title) && next() != "" {
			title = title[:1] + "." + next()
			i++
		}
	}
	return out
}

func titleEnds(title string) bool {
	last := title[len(title)-1]
	return len(title) > 1 && (last == title[0] || title[0] == '(' && last == ')')
}

// definition is what follows the label of a link reference definition. Footnotes are none: they are shown.
func definition(line string) (target string, ok bool) {
	line = strings.TrimSpace(line)
	for n := markdown.Marker(line); n > 0; n = markdown.Marker(line) {
		line = strings.TrimSpace(line[n:])
		if line == "" {
			return "", false
		}
	}
	if !strings.HasPrefix(line, "[") || strings.HasPrefix(line, "[^") {
		return "", false
	}
	label, target, ok := strings.Cut(line, "]:")
	return strings.TrimSpace(target), ok && len(label) > 1 && !strings.Contains(label[1:], "[")
}

// withoutTargets drops what stands in parentheses or brackets behind the text of a link.
func withoutTargets(text string) string {
	var out strings.Builder
	for {
		i := strings.IndexByte(text, ']')
		if i < 0 || i+1 == len(text) {
			out.WriteString(text)
			return out.String()
		}
		out.WriteString(text[:i+1])
		text = text[i+1:]
		if text[0] == '(' || text[0] == '[' && !strings.HasPrefix(text, "[ ]") {
			text = text[targetEnd(text):]
		}
	}
}

// targetEnd is the length of a target with its title, up to the bracket that closes the one it begins with.
func targetEnd(text string) int {
	open, end := text[0], byte(')')
	if open == '[' {
		end = ']'
	}
	depth, quoted := 0, byte(0)
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c == '\\':
			i++
		case quoted != 0:
			if c == quoted {
				quoted = 0
			}
		case (c == '"' || c == '\'') && open == '(' && i > 0 && (text[i-1] == ' ' || text[i-1] == '\t' ||
			text[i-1] == '\n'):
			quoted = c
		case c == open:
			depth++
		case c == end:
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return len(text)
}

// withoutImages drops the texts of images.
func withoutImages(text string) string {
	if !strings.Contains(text, "![") {
		return text
	}
	ends := map[int]int{} // by place of an opening bracket
	var open []int
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '[':
			open = append(open, i)
		case ']':
			if n := len(open); n > 0 {
				ends[open[n-1]] = i + 1
				open = open[:n-1]
			}
		}
	}
	var out strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '!' && ends[i+1] > 0 {
			out.WriteString(removed)
			i = ends[i+1] - 1
			continue
		}
		out.WriteByte(text[i])
	}
	return out.String()
}

// withoutStruck drops what stands between two tildes, or two pairs of them.
func withoutStruck(text string) string {
	if !strings.Contains(text, "~") {
		return text
	}
	out := make([]byte, 0, len(text))
	opened := [3]int{-1, -1, -1} // by length: where in out
	for i := 0; i < len(text); {
		n := len(text[i:]) - len(strings.TrimLeft(text[i:], "~"))
		if n == 0 || n > 2 {
			out = append(out, text[i:i+max(n, 1)]...)
			i += max(n, 1)
			continue
		}
		after := i+n < len(text) && !isBlank(text[i+n])
		before := i > 0 && !isBlank(text[i-1])
		switch {
		case opened[n] >= 0 && (n == 2 || before):
			out = out[:opened[n]]
			opened[n] = -1
			if other := 3 - n; opened[other] > len(out) {
				opened[other] = -1
			}
		case opened[n] < 0 && (n == 2 || after):
			opened[n] = len(out)
			out = append(out, text[i:i+n]...)
		default:
			out = append(out, text[i:i+n]...)
		}
		i += n
	}
	return string(out)
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\n' }

// withoutCode drops inline code: what stands between two runs of backticks of one length.
func withoutCode(text string) string {
	type run struct{ at, length int }
	var runs []run
	for i := 0; i < len(text); {
		n := len(text[i:]) - len(strings.TrimLeft(text[i:], "`"))
		if n > 0 {
			runs = append(runs, run{i, n})
		}
		i += max(n, 1)
	}
	if len(runs) < 2 {
		return text
	}
	next, last := make([]int, len(runs)), map[int]int{}
	for i, r := range slices.Backward(runs) {
		next[i] = last[r.length]
		last[r.length] = i
	}
	var out strings.Builder
	done := 0
	for i := 0; i < len(runs); i++ {
		escaped := runs[i].at > 0 && text[runs[i].at-1] == '\\' && runs[i].length == 1
		if end := next[i]; end > i && !escaped {
			out.WriteString(text[done:runs[i].at] + removed)
			done = runs[end].at + runs[end].length
			i = end
		}
	}
	return out.String() + text[done:]
}

// quotedItem reports whether a list item begins with a quote.
func quotedItem(text string) bool {
	text = strings.TrimSpace(text)
	n := markdown.Marker(text)
	return n > 0 && strings.HasPrefix(strings.TrimSpace(text[n:]), ">")
}
