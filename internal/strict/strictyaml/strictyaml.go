// Package strictyaml reads YAML the way a gate must: one meaning for each text, or an error with a position.
//
// It refuses what YAML readers disagree about or expand: duplicate and non-text keys, anchors, aliases, merge keys,
// tags, more than one document, a byte order mark, text that is not UTF-8, deep nesting, and characters that end a line
// in YAML 1.1 alone. It also refuses indentation that YAML 1.2 does not allow and many readers accept.
package strictyaml

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"

	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
)

const maxDepth = 64 // nesting of mappings and sequences

// Error says why a text is not strict YAML, and where.
type Error struct {
	Pos     strict.Pos
	Message string
}

func (e *Error) Error() string { return e.Pos.String() + ": " + e.Message }

// Parse returns the root value of the one document in data, which may have at most maxBytes. The error is always an
// *Error. Nodes carry Line and Column, both from 1; Column counts characters.
func Parse(path string, data []byte, maxBytes int) (root *yaml.Node, err error) {
	return parse(path, data, maxBytes, &checker{})
}

// ParseResolved parses as Parse does, and follows anchors: it replaces each alias by the node that it names, so that
// nodes are shared. The document may have at most maxNodes after that.
func ParseResolved(path string, data []byte, maxBytes, maxNodes int) (root *yaml.Node, err error) {
	return parse(path, data, maxBytes, &checker{follow: true, left: maxNodes})
}

func parse(path string, data []byte, maxBytes int, c *checker) (root *yaml.Node, err error) {
	fault := func(line, column int, format string, args ...any) (*yaml.Node, error) {
		return nil, &Error{Pos: strict.Pos{Path: path, Line: line, Column: column},
			Message: fmt.Sprintf(format, args...)}
	}
	switch {
	case len(data) > maxBytes:
		return fault(0, 0, "file has %d bytes; expected at most %d", len(data), maxBytes)
	case bytes.HasPrefix(data, []byte("\xef\xbb\xbf")):
		return fault(1, 1, "file starts with a byte order mark")
	case !utf8.Valid(data):
		return fault(0, 0, "file is not UTF-8")
	}
	lines := strings.Split(lineBreaks.Replace(string(data)), "\n")
	for i, line := range lines {
		if before := strings.IndexAny(line, "\u0085\u2028\u2029"); before >= 0 {
			r, _ := utf8.DecodeRuneInString(line[before:])
			return fault(i+1, utf8.RuneCountInString(line[:before])+1,
				"%U ends a line for some readers; expected a line feed or an escape", r)
		}
	}
	var document, more yaml.Node
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	if err := decoder.Decode(&document); err != nil {
		if errors.Is(err, io.EOF) {
			return fault(0, 0, "file holds no YAML document")
		}
		line, column, message := syntax(err)
		return fault(line, column, "%s", message)
	}
	switch err := decoder.Decode(&more); {
	case err == nil:
		return fault(more.Line, more.Column, "a second YAML document starts here; expected only one")
	case !errors.Is(err, io.EOF):
		line, column, message := syntax(err)
		return fault(line, column, "%s", message)
	}
	if len(document.Content) != 1 {
		return fault(0, 0, "file holds no YAML document")
	}
	root = document.Content[0]
	if n, message := c.check(root, 0); n != nil {
		return fault(n.Line, n.Column, "%s", message)
	}
	if c.followed { // the column of a node with an anchor is the anchor's
		return root, nil
	}
	if line, column, message := indented(root, lines); line > 0 {
		return fault(line, column, "%s", message)
	}
	return root, nil
}

// lineBreaks makes one of all line breaks that every reader knows.
var lineBreaks = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// syntax returns the position and the message of an error of the library.
func syntax(err error) (line, column int, message string) {
	if at, ok := errors.AsType[*yaml.LoadError](err); ok {
		return at.Mark.Line, at.Mark.Column, at.Message
	}
	return 0, 0, err.Error()
}

var plainTags = map[string]bool{
	"!!map": true, "!!seq": true, "!!str": true, "!!int": true, "!!float": true, "!!bool": true, "!!null": true,
	"!!timestamp": true,
}

// checker looks for nodes with more than one meaning.
type checker struct {
	follow   bool // aliases
	left     int  // the number of nodes that may follow, if aliases are followed
	followed bool // whether there was an anchor
}

// check returns the first node that does not have exactly one meaning, and why. The tag "!" of a scalar has one: the
// scalar is a string.
func (c *checker) check(n *yaml.Node, depth int) (*yaml.Node, string) {
	if c.follow {
		if c.left--; c.left < 0 {
			return n, "the text has more nodes than are read, once its aliases are followed"
		}
		c.followed = c.followed || n.Anchor != ""
	}
	if n.Tag == "!" && n.Kind == yaml.ScalarNode {
		n.Tag = "!!str"
	}
	switch {
	case depth > maxDepth:
		return n, fmt.Sprintf("nested deeper than %d", maxDepth)
	case n.Kind == yaml.AliasNode:
		return n, fmt.Sprintf("alias %q: aliases are not followed, write the value out", "*"+n.Value)
	case n.Anchor != "" && !c.follow:
		return n, fmt.Sprintf("anchor %q: anchors are not followed, write the value out", "&"+n.Anchor)
	case n.Style&yaml.TaggedStyle != 0 || !plainTags[n.Tag]:
		return n, fmt.Sprintf("tag %q: tags and merge keys are not allowed", n.Tag)
	}
	seen := map[string]int{}
	for i, child := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 0 {
			if child.Kind != yaml.ScalarNode {
				return child, "a key is not plain text"
			}
			if line, again := seen[child.Value]; again {
				return child, fmt.Sprintf("key %q again; it is on line %d already", child.Value, line)
			}
			seen[child.Value] = child.Line
		}
		if child.Kind == yaml.AliasNode && c.follow {
			child = child.Alias
			n.Content[i] = child
		}
		if at, message := c.check(child, depth+1); at != nil {
			return at, message
		}
	}
	return nil, ""
}

// Member returns the node of key in the mapping n, and the node of its value. Both are nil if n is not a mapping or
// lacks the key.
func Member(n *yaml.Node, key string) (name, value *yaml.Node) {
	if n == nil || n.Kind != yaml.MappingNode {
		return nil, nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i], n.Content[i+1]
		}
	}
	return nil, nil
}
