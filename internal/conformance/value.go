package conformance

import (
	"encoding/json"
	"strings"

	"go.yaml.in/yaml/v4"
)

// Value returns the value of a node as strict.Parse returns one of JSON. A number that JSON does not spell so, such as
// 0x10, is a text.
func Value(n *yaml.Node) any {
	switch n.Kind {
	case yaml.MappingNode:
		object := map[string]any{}
		for i := 0; i+1 < len(n.Content); i += 2 {
			object[n.Content[i].Value] = Value(n.Content[i+1])
		}
		return object
	case yaml.SequenceNode:
		list := []any{}
		for _, child := range n.Content {
			list = append(list, Value(child))
		}
		return list
	}
	switch {
	case n.Tag == "!!null":
		return nil
	case n.Tag == "!!bool":
		return strings.EqualFold(n.Value, "true")
	case (n.Tag == "!!int" || n.Tag == "!!float") && json.Valid([]byte(n.Value)):
		return json.Number(n.Value)
	}
	return n.Value
}
