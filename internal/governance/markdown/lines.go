package markdown

import (
	"slices"
	"strings"
)

// expanded returns a line with blanks for its tabs, which go to the next multiple of four columns.
func expanded(line string) string {
	if !strings.Contains(line, "\t") {
		return line
	}
	out := make([]byte, 0, len(line)+16)
	for _, c := range []byte(line) {
		if c != '\t' {
			out = append(out, c)
			continue
		}
		out = append(out, "    "[len(out)%4:]...)
	}
	return string(out)
}

// indentation counts the blanks that a line begins with.
func indentation(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }

// headingLevel returns the number of number signs before the text of a heading, 0 if the line is not one.
func headingLevel(line string) int {
	n := len(line) - len(strings.TrimLeft(line, "#"))
	if n > 6 || n < len(line) && line[n] != ' ' {
		return 0
	}
	return n
}

// headingText returns the text between the number signs of a heading.
func headingText(line string) string {
	line = strings.Trim(strings.TrimLeft(line, "#"), " ")
	if text := strings.TrimRight(line, "#"); text == "" || strings.HasSuffix(text, " ") {
		return strings.TrimRight(text, " ")
	}
	return line
}

// underline returns the level of the heading that a line underlines, 0 if it does not underline one.
func underline(line string) int {
	line = strings.TrimRight(line, " ")
	if level := strings.IndexByte("=-", line[0]) + 1; level > 0 && strings.Trim(line, line[:1]) == "" {
		return level
	}
	return 0
}

// isBreak reports whether a line is a thematic break.
func isBreak(line string) bool {
	if strings.IndexByte("-_*", line[0]) < 0 {
		return false
	}
	return strings.Trim(line, line[:1]+" ") == "" && strings.Count(line, line[:1]) >= 3
}

// fenceOf returns the run of characters by which a line opens fenced code, empty if it does not.
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
	line = strings.TrimRight(line, " ")
	return len(line) >= len(fence) && strings.Trim(line, fence[:1]) == ""
}

// marker returns the length of the list marker that a line begins with, or 0.
func marker(line string) int {
	n := 0
	for n < len(line) && n < 9 && '0' <= line[n] && line[n] <= '9' {
		n++
	}
	switch {
	case n > 0 && n < len(line) && (line[n] == '.' || line[n] == ')'):
		n++
	case n == 0 && line != "" && strings.IndexByte("-*+", line[0]) >= 0:
		n = 1
	default:
		return 0
	}
	if n < len(line) && line[n] != ' ' {
		return 0
	}
	return n
}

// interrupts reports whether a list item with a mark of that width may follow a line of a paragraph.
func interrupts(line string, width int) bool {
	return strings.TrimSpace(line[width:]) != "" && (width == 1 || line[:width-1] == "1")
}

// Cells returns the cells of a row, without the blanks around them: a bar alone has none. A backslash before a bar
// makes it text.
func Cells(row string) []string {
	row = strings.TrimSpace(row)
	row = strings.TrimPrefix(row, "|")
	var out []string
	start := 0
	for i := 0; i < len(row); i++ {
		switch row[i] {
		case '\\':
			i++
		case '|':
			out = append(out, strings.TrimSpace(row[start:i]))
			start = i + 1
		}
	}
	if rest := strings.TrimSpace(row[start:]); rest != "" {
		out = append(out, rest)
	}
	return out
}

// ruler returns the number of cells of the line that rules a table's header off from its rows.
func ruler(line string) (columns int, ok bool) {
	if strings.Trim(line, "|-: ") != "" || !strings.Contains(line, "-") {
		return 0, false
	}
	cells := Cells(line)
	return len(cells), !slices.ContainsFunc(cells, func(cell string) bool {
		dashes := strings.TrimSuffix(strings.TrimPrefix(cell, ":"), ":")
		return dashes == "" || strings.Trim(dashes, "-") != ""
	})
}

// htmlBlocks are the elements by which a block of HTML begins, even in a paragraph.
const htmlBlocks = `
	address article aside base basefont blockquote body caption center col colgroup dd details dialog dir div dl dt
	fieldset figcaption figure footer form frame frameset h1 h2 h3 h4 h5 h6 head header hr html iframe legend li link
	main menu menuitem nav noframes ol optgroup option p param search section summary table tbody td tfoot th thead
	title tr track ul`

var isHTMLBlock = wordSet(htmlBlocks)

// verbatim are the elements the content of which ends only at their closing tag.
var verbatim = []string{"pre", "script", "style", "textarea"}

// htmlStart returns the leaf that a line opens if HTML begins there, and the mark that ends it.
func htmlStart(line string, continued bool) (l leaf, end string) {
	if line[0] != '<' || len(line) < 2 {
		return noLeaf, ""
	}
	switch {
	case strings.HasPrefix(line, "<!--"):
		return rawLeaf, "-->"
	case line[1] == '?':
		return rawLeaf, "?>"
	case strings.HasPrefix(line, "<![CDATA["):
		return rawLeaf, "]]>"
	case line[1] == '!' && len(line) > 2 && isLetter(line[2]):
		return rawLeaf, ">"
	}
	name, closing := elementName(line)
	after := line[1+len(name):]
	if closing {
		after = line[2+len(name):]
	}
	delimited := after == "" || after[0] == ' ' || after[0] == '>'
	switch {
	case name == "":
	case !closing && delimited && slices.Contains(verbatim, name):
		return rawLeaf, "</" + name + ">"
	case (delimited || strings.HasPrefix(after, "/>")) && isHTMLBlock[name]:
		return htmlLeaf, ""
	case !continued:
		if t, ok := ParseTag(line); ok && strings.TrimSpace(line[t.Length:]) == "" {
			return htmlLeaf, ""
		}
	}
	return noLeaf, ""
}
