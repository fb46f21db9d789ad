package opengap

import (
	"cmp"
	"errors"
	"fmt"
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
			Message: "it is " + kindOf(root) + "; expected a mapping"}
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

// find returns the value that a JSON Pointer names, nil if it is not there, and the node that is its place: its key,
// or what is nearest. It does not look into lists.
func (m *mapping) find(pointer string) (value, at *yaml.Node) {
	value, at = m.root, m.root
	for reference := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		key, below := strictyaml.Member(value, reference)
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
	out.Add(m, severity, pointer, "missing-field", "%s %s; expected text", name, is).WithFix("write %s: TEXT", name)
	return "", false
}

func isText(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.Tag == "!!str" }

// kindOf says what a node is, for people.
func kindOf(n *yaml.Node) string {
	kinds := map[string]string{"!!map": "a mapping", "!!seq": "a list", "!!int": "the number " + n.Value,
		"!!float": "the number " + n.Value, "!!bool": "the truth value " + n.Value, "!!null": "empty",
		"!!timestamp": "the date " + n.Value}
	return cmp.Or(kinds[n.Tag], "text")
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

var (
	// sharp is what may begin a comment: a # at the beginning of a line or after a blank.
	sharp = plain.Pattern("(^|[ \t\r\n\u0085\u2028\u2029])#")
	mark  = plain.Pattern("\ue000[0-9]+\ue000")
	// marked is a line from its first mark on. A line ends as in YAML 1.1, by which the reader counts.
	marked = plain.Pattern("\ue000[^\r\n\u0085\u2028\u2029]*")
)

// comments returns the comments of the text, each on a line. The reader gives some of them to nodes and drops others.
// So it reads the text again with a mark behind each #: a comment is where no key and no value has the mark.
func (m *mapping) comments() string {
	n := 0
	text := sharp().ReplaceAllStringFunc(m.text, func(begin string) string {
		n++
		return fmt.Sprintf("%s\ue000%d\ue000", begin, n)
	})
	root, err := strictyaml.Parse(m.path, []byte(text), len(text))
	if err != nil {
		return "" // a key of almost 1,024 characters, which is the most that YAML allows, has a #
	}
	inside := map[string]bool{}
	walk(root, "", func(n, key *yaml.Node, _ string) {
		for _, one := range mark().FindAllString(key.Value+n.Value, -1) {
			inside[one] = true
		}
	})
	text = mark().ReplaceAllStringFunc(text, func(one string) string {
		if inside[one] {
			return ""
		}
		return one
	})
	return mark().ReplaceAllString(strings.Join(marked().FindAllString(text, -1), "\n"), "")
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
		if a.mode("agent.yml") != fs.ModeIrregular {
			f.WithFix("rename agent.yml to agent.yaml")
		}
	case errors.As(err, &e):
		out.Errorf(verdict.At(e.Pos), "", "manifest-unreadable", "%s", e.Message)
	default:
		out.Errorf(verdict.At{Path: manifestName}, "", "manifest-unreadable", "%v", err)
	}
	return out
}
