package governance

import (
	"bytes"
	"unicode/utf8"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/git/gitstore"
	"github.com/openagentprotocol-OAP/oap-gate/internal/governance/markdown"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

var rfcNumber = plain.Pattern(`(?i)^rfcs/RFC-0*([0-9]+)`)

// nothing is the document of a text that is not there.
var nothing = &markdown.Document{}

// document reads a text, once for each of its versions. A missing text is an empty document; a text that is not UTF-8
// is nil.
func (v *View) document(t *registry.Tree, path string, e *registry.Entry, budget *int) (*markdown.Document, error) {
	if e == nil {
		return nothing, nil
	}
	if known, ok := v.texts.documents[e.ID]; ok {
		return known, nil
	}
	data, err := read(t, path, maxText, budget)
	if err != nil {
		return nil, err
	}
	var d *markdown.Document
	if utf8.Valid(data) && bytes.IndexByte(data, 0) < 0 {
		if d, err = markdown.Read(string(data)); err != nil {
			return nil, remedy.Errorf("split the text into several files", "reading %q: %w", path, err)
		}
	}
	if v.texts.documents == nil {
		v.texts.documents = map[gitstore.ID]*markdown.Document{}
	}
	v.texts.documents[e.ID] = d
	return d, nil
}
