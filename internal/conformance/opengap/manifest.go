package opengap

import (
	"errors"
	"io/fs"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict/strictyaml"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

const manifestName = "agent.yaml"

// mapping is a YAML mapping with its places.
type mapping struct {
	path string
	text string
	root *yaml.Node
	line int // lines of the file before the text
}

// readMapping reads YAML that follows some lines of a file. The error is a *strictyaml.Error.
func readMapping(name string, text []byte, line int) (*mapping, error) {
	root, err := strictyaml.Parse(name, text, MaxFile)
	if err != nil {
		var e *strictyaml.Error
		if errors.As(err, &e) && e.Pos.Line > 0 {
			e.Pos.Line += line
		}
		return nil, err
	}
	if root.Kind != yaml.MappingNode {
		return nil, &strictyaml.Error{Pos: strict.Pos{Path: name, Line: root.Line + line, Column: root.Column},
			Message: "it is " + kindOf(root) + ", a mapping is needed"}
	}
	return &mapping{name, string(text), root, line}, nil
}

// Pos returns the place of the member that a JSON Pointer names, or of the nearest that exists.
func (m *mapping) Pos(pointer string) strict.Pos {
	_, at := m.find(pointer)
	return strict.Pos(m.at(at))
}

// at returns the place of a node.
func (m *mapping) at(n *yaml.Node) verdict.At {
	return verdict.At{Path: m.path, Line: n.Line + m.line, Column: n.Column}
}

// find gives the value that a JSON Pointer names, nil where it is not there, and the node that is its place: its key,
// or what is nearest.
func (m *mapping) find(pointer string) (value, at *yaml.Node) {
	value, at = m.root, m.root
	for rest, more := strings.CutPrefix(pointer, "/"); more; {
		var reference string
		reference, rest, more = strings.Cut(rest, "/")
		if value.Kind == yaml.SequenceNode {
			i, err := strconv.Atoi(reference)
			if err != nil || i < 0 || i >= len(value.Content) {
				return nil, at
			}
			value, at = value.Content[i], value.Content[i]
			continue
		}
		key, below := strictyaml.Member(value, plain.Unescape(reference))
		if below == nil {
			return nil, at
		}
		value, at = below, key
	}
	return value, at
}

// value returns the value that a JSON Pointer names, or nil.
func (m *mapping) value(pointer string) *yaml.Node {
	v, _ := m.find(pointer)
	return v
}

// needText adds a finding of code missing-field where a member is not text that says something; true where it is.
func (m *mapping) needText(out *verdict.Outcome, severity verdict.Severity, pointer string) (text string, ok bool) {
	v := m.value(pointer)
	name := strings.ReplaceAll(pointer[1:], "/", ".")
	is := "is not there"
	switch {
	case v == nil:
	case !isText(v):
		is = "is " + kindOf(v)
	case strings.TrimSpace(v.Value) == "":
		is = "is empty"
	default:
		return v.Value, true
	}
	out.Add(m, severity, pointer, "missing-field", "%s %s, text is needed", name, is).WithFix("write %s: TEXT", name)
	return "", false
}

func isText(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.Tag == "!!str" }

// kindOf says what a node is, for people.
func kindOf(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.MappingNode:
		return "a mapping"
	case n.Kind == yaml.SequenceNode:
		return "a list"
	case n.Tag == "!!int" || n.Tag == "!!float":
		return "the number " + n.Value
	case n.Tag == "!!bool":
		return "the truth value " + n.Value
	case n.Tag == "!!null":
		return "empty"
	case n.Tag == "!!timestamp":
		return "the date " + n.Value
	}
	return "text"
}

// walk visits each value below a node, with its JSON Pointer, and its key; in a list that is the value itself.
func walk(n *yaml.Node, pointer string, visit func(n, key *yaml.Node, pointer string)) {
	for i, c := range n.Content {
		key, below := c, pointer+"/"+strconv.Itoa(i)
		if n.Kind == yaml.MappingNode {
			if i%2 == 0 {
				continue
			}
			key = n.Content[i-1]
			below = pointer + "/" + strict.Escape(key.Value)
		}
		visit(c, key, below)
		walk(c, below, visit)
	}
}

// lineBreak is what ends a line in YAML 1.1, by which the reader counts.
var lineBreak = plain.Pattern("\r\n|[\r\n\u0085\u2028\u2029]")

// comments returns the comments of the text, each on a line. The reader gives some of them to nodes and drops others;
// here a comment follows a # at the beginning of a line or after a blank, outside of quotes and block scalars, whose
// places the nodes have. No plain scalar can have such a #.
func (m *mapping) comments() string {
	lines := lineBreak().Split(m.text, -1)
	inside := make([]bool, len(lines)) // the line is of a block scalar
	quotes := map[int][]int{}          // the columns where one opens, by line
	var visit func(n *yaml.Node, indent int)
	visit = func(n *yaml.Node, indent int) {
		switch {
		case n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
			for i := range blockScalar(lines, n, indent) {
				inside[n.Line+i] = true
			}
		case n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0:
			quotes[n.Line-1] = append(quotes[n.Line-1], n.Column)
		}
		for i, c := range n.Content {
			switch {
			case n.Kind == yaml.MappingNode && i%2 == 1:
				visit(c, n.Content[i-1].Column-1)
			case n.Kind == yaml.SequenceNode:
				visit(c, n.Column-1)
			default:
				visit(c, indent)
			}
		}
	}
	visit(m.root, -1)
	var out strings.Builder
	quote := rune(0) // the one that is open
	for i, line := range lines {
		if inside[i] {
			continue
		}
		column, last, escaped, opens := 0, ' ', false, quotes[i]
		for at, r := range line {
			column++
			switch {
			case quote != 0 && escaped:
				escaped = false
			case quote == '"' && r == '\\':
				escaped = true
			case quote != 0 && r == quote:
				quote = 0
			case quote != 0:
			case len(opens) > 0 && column == opens[0]:
				opens = opens[1:]
				quote = r
			case r == '\'' && last == '\'': // two single quotes are one, and end nothing
				quote = r
			}
			if quote == 0 && r == '#' && (last == ' ' || last == '\t') {
				out.WriteString(line[at+1:] + "\n")
				break
			}
			last = r
		}
	}
	return out.String()
}

// blockScalar returns how many lines a literal or folded scalar has below its first: those that are blank or
// indented as its text is; indent is the column, from 0, of what it is the value of.
func blockScalar(lines []string, n *yaml.Node, indent int) int {
	head := []rune(lines[n.Line-1])
	text := -1 // the indentation of the text
	for _, r := range head[min(n.Column, len(head)):min(n.Column+2, len(head))] {
		if '1' <= r && r <= '9' {
			text = max(indent, 0) + int(r-'0')
		}
	}
	count := 0
	for i, line := range lines[n.Line:] {
		rest := strings.TrimLeft(line, " ")
		column := len(line) - len(rest)
		switch {
		case rest == "":
			continue
		case text < 0 && column > indent:
			text = column
		}
		if text < 0 || column < text {
			break
		}
		count = i + 1
	}
	return count
}

// readManifest reads agent.yaml. The error is fs.ErrNotExist, ErrTooLarge, or says why it is unreadable.
func (f *folder) readManifest() (*mapping, error) {
	text, err := f.read(manifestName)
	if err != nil {
		return nil, err
	}
	return readMapping(manifestName, text, 0)
}

// judgeManifest returns the outcome of reading agent.yaml.
func (a *agent) judgeManifest() verdict.Outcome {
	var out verdict.Outcome
	m, err := a.manifest, a.unread
	var e *strictyaml.Error
	switch {
	case err == nil:
		return verdict.Pass("%d members", len(m.root.Content)/2)
	case errors.Is(err, fs.ErrNotExist):
		f := out.Errorf(verdict.At{Path: manifestName}, "", "no-manifest", "agent.yaml is not there")
		f.WithFix("add agent.yaml, under that name, or name the folder that has it")
		if a.stat("agent.yml") != nil {
			f.WithFix("rename agent.yml to agent.yaml")
		}
	case errors.As(err, &e):
		out.Errorf(verdict.At(e.Pos), "", "manifest-unreadable", "%s", e.Message)
	default:
		out.Errorf(verdict.At{Path: manifestName}, "", "manifest-unreadable", "%v", err)
	}
	return out
}
