// Package signature holds what a signature of the registry's documents is made of: RFC 8785 canonical JSON,
// Ed25519 keys and the text of a signature.
package signature

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/gowebpki/jcs"
)

// Canonical is the RFC 8785 form of root, a strict.Document's root or a part of it. It is an error where root
// holds a number outside the range of an IEEE 754 double, or a Go value that is not of such a root.
func Canonical(root any) ([]byte, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(root); err != nil {
		return nil, fmt.Errorf("encoding JSON: %w", err)
	}
	canonical, err := jcs.Transform(text.Bytes())
	if err != nil {
		return nil, fmt.Errorf("canonicalizing JSON: %w", err)
	}
	return canonical, nil
}

// CanonicalWithout is Canonical of an object without some of its members. It is an error where root is no
// object.
func CanonicalWithout(root any, members ...string) ([]byte, error) {
	object, ok := root.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("canonicalizing JSON: root is %T, an object was expected", root)
	}
	rest := make(map[string]any, len(object))
	for name, value := range object {
		rest[name] = value
	}
	for _, name := range members {
		delete(rest, name)
	}
	return Canonical(rest)
}
