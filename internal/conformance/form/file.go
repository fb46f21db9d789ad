// Package form checks values of JSON and YAML by tables of members, and reads YAML with the places of its values.
package form

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict/strictyaml"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// A File is strict YAML with the places of its values.
type File struct {
	Path string
	Text string
	Root *yaml.Node
	line int // lines of the file before the text
}

// Read reads YAML of at most so many bytes, which follows some lines of a file. The error is a *strictyaml.Error.
func Read(path string, text []byte, most, line int) (*File, error) {
	root, err := strictyaml.Parse(path, text, most)
	if err == nil {
		return &File{path, string(text), root, line}, nil
	}
	if e, ok := errors.AsType[*strictyaml.Error](err); ok && e.Pos.Line > 0 {
		e.Pos.Line += line
	}
	return nil, err
}

// ReadMapping reads YAML as Read does, and requires a mapping.
func ReadMapping(path string, text []byte, most, line int) (*File, error) {
	f, err := Read(path, text, most, line)
	if err == nil && f.Root.Kind != yaml.MappingNode {
		return nil, f.Fault(f.Root, "it is %s; expected a mapping", Show(Plain(f.Root)))
	}
	return f, err
}

// Pos returns the place of the value that a JSON Pointer names, or of the nearest that exists.
func (f *File) Pos(pointer string) strict.Pos {
	_, at := f.find(pointer)
	return strict.Pos(f.At(at))
}

// At returns the place of a node.
func (f *File) At(n *yaml.Node) verdict.At {
	return verdict.At{Path: f.Path, Line: n.Line + f.line, Column: n.Column}
}

// Fault returns an error at a node.
func (f *File) Fault(n *yaml.Node, format string, args ...any) *strictyaml.Error {
	return &strictyaml.Error{Pos: strict.Pos(f.At(n)), Message: fmt.Sprintf(format, args...)}
}

// Check returns the first that is wrong with the file by a table; nil: nothing is.
func (f *File) Check(by *Shape) error {
	var first *strictyaml.Error
	by.Judge(f.Values(), f.Path, func(pointer, _, message, _ string) {
		if at := f.Pos(pointer); first == nil || at.Line < first.Pos.Line {
			first = &strictyaml.Error{Pos: at, Message: message}
		}
	})
	if first == nil {
		return nil
	}
	return first
}

// Value returns the value that a JSON Pointer names, or nil.
func (f *File) Value(pointer string) *yaml.Node {
	v, _ := f.find(pointer)
	return v
}

// find returns the value that a JSON Pointer names, nil if it is not there, and the node that is its place: its key,
// itself in a list, or what is nearest.
func (f *File) find(pointer string) (value, at *yaml.Node) {
	value, at = f.Root, f.Root
	if pointer == "" {
		return value, at
	}
	for name := range strings.SplitSeq(pointer[1:], "/") {
		key, below := strictyaml.Member(value, plain.Unescape(name))
		if i, err := strconv.ParseUint(name, 10, 32); err == nil && value.Kind == yaml.SequenceNode &&
			int(i) < len(value.Content) {
			key, below = value.Content[i], value.Content[i]
		}
		if below == nil {
			return nil, at
		}
		value, at = below, key
	}
	return value, at
}

// IsText reports whether a value is a text.
func IsText(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.Tag == "!!str" }

// Walk visits each value below a node, with its JSON Pointer, and its key; in a list that is the value itself.
func Walk(n *yaml.Node, visit func(n, key *yaml.Node, pointer string)) { walk(n, "", visit) }

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

// Plain returns the value of a node as strict.Parse returns one of JSON. A number that JSON does not spell so, such as
// 0x10, is a text, and so is a date.
func Plain(n *yaml.Node) any {
	return plainOf(n, func(n *yaml.Node) any {
		if (n.Tag == "!!int" || n.Tag == "!!float") && json.Valid([]byte(n.Value)) {
			return json.Number(n.Value)
		}
		return n.Value
	})
}

// date is a value that YAML reads as a date, and JSON does not have.
type date string

// Values returns the value of the file for a Shape. A date is not a text there, and a number is one however it is
// spelled.
func (f *File) Values() any {
	return plainOf(f.Root, func(n *yaml.Node) any {
		switch n.Tag {
		case "!!timestamp":
			return date(n.Value)
		case "!!int", "!!float":
			return json.Number(n.Value)
		}
		return n.Value
	})
}

// plainOf returns the value of a node; scalar that of a node which is neither null nor a boolean.
func plainOf(n *yaml.Node, scalar func(*yaml.Node) any) any {
	switch {
	case n.Kind == yaml.MappingNode:
		object := map[string]any{}
		for i := 0; i+1 < len(n.Content); i += 2 {
			object[n.Content[i].Value] = plainOf(n.Content[i+1], scalar)
		}
		return object
	case n.Kind == yaml.SequenceNode:
		list := []any{}
		for _, child := range n.Content {
			list = append(list, plainOf(child, scalar))
		}
		return list
	case n.Tag == "!!null":
		return nil
	case n.Tag == "!!bool":
		return strings.EqualFold(n.Value, "true")
	}
	return scalar(n)
}
