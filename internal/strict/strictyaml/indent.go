package strictyaml

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
)

// indented returns the first place below the block collection n at which a value that spans lines is not indented as
// YAML 1.2 requires (sections 6.3, 7.4 and 8.1.1.1), and what is wrong there. The library accepts such lines; other
// readers refuse them. A closing bracket may be anywhere: no reader takes it for something else.
func indented(n *yaml.Node, lines []string) (line, column int, message string) {
	if n.Style&yaml.FlowStyle != 0 || n.Kind == yaml.ScalarNode {
		return 0, 0, "" // the root: nothing is around it
	}
	for _, child := range n.Content {
		switch {
		case child.Style&yaml.FlowStyle != 0, child.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0:
			line, column, message = flow(child, lines, n.Column)
		case child.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
			line, column, message = block(child, lines, n.Column)
		default:
			line, column, message = indented(child, lines)
		}
		if line > 0 {
			return line, column, message
		}
	}
	return 0, 0, ""
}

// flow checks the lines of a quoted text or a flow collection behind the first: each begins with at least so many
// spaces, unless it is blank, a comment, or begins with a closing bracket.
func flow(n *yaml.Node, lines []string, spaces int) (line, column int, message string) {
	depth, quote := 0, byte(0)
	before := byte(' ') // the last character that is not blank, or a blank
	at := len(string([]rune(lines[n.Line-1])[:n.Column-1]))
	for i := n.Line - 1; i < len(lines); i++ {
		text := lines[i]
		if rest := strings.TrimLeft(text, " \t"); i >= n.Line && rest != "" {
			at = len(text) - len(rest)
			open := quote != 0 || !strings.Contains("#]}", rest[:1])
			if open && (len(text) < spaces || strings.Trim(text[:spaces], " ") != "") {
				return i + 1, 1, fmt.Sprintf("the line continues the value of line %d and is indented less than it; "+
					"expected at least %s before it", n.Line, plain.Count(spaces, "space"))
			}
		} else if i >= n.Line {
			continue
		}
		for ; at < len(text); at++ {
			c := text[at]
			switch {
			case quote == '"' && c == '\\':
				at++
			case quote == '\'' && c == quote && at+1 < len(text) && text[at+1] == quote:
				at++
			case quote != 0:
				if c == quote {
					quote = 0
				}
			case c == '#' && (at == 0 || text[at-1] == ' ' || text[at-1] == '\t'):
				at = len(text)
			case c == '[', c == '{':
				depth++
			case c == ']', c == '}':
				depth--
			case (c == '"' || c == '\'') && strings.IndexByte(" [{,:", before) >= 0:
				quote = c
			}
			if quote == 0 && depth == 0 {
				return 0, 0, ""
			}
			if c != ' ' && c != '\t' {
				before = c
			}
		}
	}
	return 0, 0, ""
}

// block checks that no blank line at the start of a block scalar is longer than the line that sets its indentation.
func block(n *yaml.Node, lines []string, parent int) (line, column int, message string) {
	head, _, _ := strings.Cut(string([]rune(lines[n.Line-1])[n.Column-1:]), " ")
	if strings.ContainsAny(head, "123456789") {
		return 0, 0, "" // the indentation is written
	}
	longest, at := 0, 0
	for i := n.Line; i < len(lines); i++ {
		text := lines[i]
		spaces := len(text) - len(strings.TrimLeft(text, " "))
		switch {
		case spaces == len(text):
			if spaces > longest {
				longest, at = spaces, i+1
			}
		case spaces >= parent && longest > spaces:
			return at, 1, fmt.Sprintf("the blank line has %s, and the first line of the text has %s; expected no more",
				plain.Count(longest, "space"), plain.Count(spaces, "space"))
		default:
			return 0, 0, ""
		}
	}
	return 0, 0, ""
}
