package listing

import (
	"fmt"

	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// Format is the text of a record in its one layout; see Text. Its value stays what it is, so that every signature of it
// holds. The error is a *strict.Error where the text, or what would become of it, is no strict JSON object.
func Format(path string, text []byte) ([]byte, error) {
	doc, err := strict.Parse(path, text, strict.RegistryFile)
	if err != nil {
		return nil, err
	}
	root, ok := doc.Root.(map[string]any)
	if !ok {
		return nil, &strict.Error{Pos: doc.Pos(""), Code: strict.CodeSyntax,
			Message: "text is no JSON object, a record is one"}
	}
	out := Text(registry.KindOf(path), root)
	if len(out) > strict.RegistryFile.Bytes {
		return nil, &strict.Error{Pos: registry.Pos{Path: path}, Code: strict.CodeTooLarge,
			Message: fmt.Sprintf("laid out it has %d bytes, a record has at most %d", len(out),
				strict.RegistryFile.Bytes)}
	}
	return out, nil
}
