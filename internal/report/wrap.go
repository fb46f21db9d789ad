package report

import "strings"

// Columns is the width of tables and of help on a pipe, in a file, and on a terminal that is not wider.
const Columns = 80

func (o Options) columns() int { return max(Columns, o.Columns) }

// maxIndent leaves room for the text of a line whose lead comes from a file.
const maxIndent = Columns / 2

// Hang returns lead and text, broken before words so that lines have at most columns characters. Lines after the first
// are indented. A word that fits no line, such as a URL or a hash, stays where it is. So does a word that begins with
// "::", since a runner takes a line that begins with it for a command.
func Hang(lead, text string, indent, columns int) string {
	var b strings.Builder
	indent = min(indent, maxIndent)
	between, at := lead, len([]rune(lead))
	for _, word := range strings.Fields(text) {
		n := len([]rune(word))
		if at+n > columns && at > indent && indent+n <= columns && !strings.HasPrefix(word, "::") {
			between, at = "\n"+strings.Repeat(" ", indent), indent
			if b.Len() == 0 {
				between = strings.TrimRight(lead, " ") + between
			}
		}
		b.WriteString(between + word)
		between, at = " ", at+n+1
	}
	if b.Len() == 0 {
		return lead
	}
	return b.String()
}
