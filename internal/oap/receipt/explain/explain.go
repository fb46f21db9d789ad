// Package explain finds the mistake by which a Receipt's signature does not verify. It decides nothing: a signature
// that needs an explanation does not verify.
package explain

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/did"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/receipt"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/signature"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
)

// The bounds of an explanation. It is for the Receipts of people, which have some thousand bytes: what is larger gets
// none.
const (
	maxReceipt = 32 << 10 // bytes
	maxTries   = 128      // keys on texts
	maxKeys    = 4
	maxDropped = 24 // members that are left out in turn
)

// Signature says which mistake would make an EdDSA signature by that name verify under a key of d: another JSON form, a
// signed digest instead of the text, another encoding of the signature, a member that was changed or added since. It
// returns "" if none of these does, and if the Receipt is too large to try.
func Signature(r *receipt.Receipt, d *did.Document, by string, known []receipt.Known) string {
	doc, err := strict.Parse("", r.Text(), strict.Remote(maxReceipt))
	if err != nil {
		return ""
	}
	e := &explainer{text: doc.Data, left: maxTries}
	e.root, _ = doc.Root.(map[string]any)
	if named, ok := d.Key(by); ok {
		e.keys = append(e.keys, named)
	}
	for _, k := range d.Keys {
		if len(e.keys) < maxKeys && !slices.ContainsFunc(e.keys, func(have did.Key) bool { return have.ID == k.ID }) {
			e.keys = append(e.keys, k)
		}
	}
	for _, s := range r.Signatures {
		if s.Alg == "EdDSA" && s.By == by {
			e.explain(s.Value, known)
		}
	}
	return e.why
}

type explainer struct {
	text []byte         // the Receipt, as it was served
	root map[string]any // the Receipt, decoded
	keys []did.Key
	raw  []byte // the signature
	left int    // how many more times a key is tried on a text
	why  string // the mistake, once it is found
}

// explain tries what a signer may have signed instead of the canonical JSON, the likeliest first.
func (e *explainer) explain(value string, known []receipt.Known) {
	right, err := signature.CanonicalWithout(e.root, "signatures", "peer_witnesses")
	var how string
	if e.raw, how = looseText(value); e.raw == nil || err != nil {
		return
	}
	if how != "" {
		e.try(right, "once it is written again: %s", how)
	}
	short, long := sha256.Sum256(right), sha512.Sum512(right)
	e.try(short[:], "over the SHA-256 of the canonical JSON: sign the text itself")
	e.try(hex.AppendEncode(nil, short[:]), "over the SHA-256 of the canonical JSON in hex: sign the text itself")
	e.try(long[:], "over the SHA-512 of the canonical JSON: sign the text itself")

	blank, bare := with(e.root, []string{"signatures"}, []any{}), e.withoutValues()
	e.members(e.root, []string{"signatures"}, "the Receipt with peer_witnesses: leave them out too")
	e.members(blank, nil, "the Receipt with an empty signatures: leave the member out, and peer_witnesses too")
	e.members(blank, []string{"peer_witnesses"}, "the Receipt with an empty signatures: leave the member out")
	e.members(bare, []string{"peer_witnesses"},
		"the Receipt with the signatures except their value: leave the member out")
	e.members(bare, nil, "the Receipt with the signatures except their value, and peer_witnesses: leave both out")

	e.try(append(right[:len(right):len(right)], '\n'), "over the canonical JSON and a line break: leave that away")
	e.spellings(right, "sorted")
	e.spellings(served(e.text), "in the order of the document")

	for _, k := range known {
		e.members(with(e.root, k.Path, k.Value), []string{"signatures", "peer_witnesses"},
			fmt.Sprintf("the Receipt whose %s is %q: that member was changed after it was signed",
				strings.Join(k.Path, "."), fmt.Sprint(k.Value)))
	}
	names := slices.Sorted(maps.Keys(e.root))
	for _, name := range names[:min(len(names), maxDropped)] {
		if len(name) <= 100 {
			e.members(e.root, []string{"signatures", "peer_witnesses", name},
				fmt.Sprintf("the Receipt without %q: that member was added after it was signed", name))
		}
	}
}

// try says how the signature verifies if it does over that message.
func (e *explainer) try(message []byte, how string, args ...any) {
	for _, k := range e.keys {
		if e.why != "" || e.left == 0 {
			return
		}
		e.left--
		if signature.Verify(k.Public, message, e.raw) {
			e.why = fmt.Sprintf("it verifies under %q "+how, append([]any{k.ID}, args...)...)
		}
	}
}

// members tries the canonical JSON of an object without some of its members.
func (e *explainer) members(root map[string]any, without []string, what string) {
	if message, err := signature.CanonicalWithout(root, without...); err == nil && root != nil {
		e.try(message, "over %s", what)
	}
}

// spellings tries other spellings of the JSON of the signed members.
func (e *explainer) spellings(text []byte, order string) {
	for _, f := range []struct {
		what    string
		options []jsontext.Options
	}{
		{"minified", []jsontext.Options{jsontext.Multiline(false)}},
		{"with blanks after commas and colons", []jsontext.Options{jsontext.SpaceAfterComma(true),
			jsontext.SpaceAfterColon(true)}},
		{"indented by two blanks", []jsontext.Options{jsontext.WithIndent("  ")}},
	} {
		value := jsontext.Value(bytes.Clone(text))
		if value.Format(append(f.options, jsontext.PreserveRawStrings(true))...) != nil {
			return
		}
		what := "JSON that is " + order + ", " + f.what
		e.try(value, "over %s, not canonical: sign the RFC 8785 form", what)
		if escaped := ascii(value); !bytes.Equal(escaped, value) {
			e.try(escaped, "over %s, with escapes for letters that are not ASCII: sign the RFC 8785 form", what)
		}
	}
}

// looseText reads a signature also where it is hex, or base64 in white space, and says how it is written then.
func looseText(text string) (raw []byte, how string) {
	if raw, err := signature.Text(text); err == nil {
		return raw, ""
	}
	if raw, err := hex.DecodeString(text); err == nil && len(raw) == ed25519.SignatureSize {
		return raw, "the value is written in hex; expected base64url"
	}
	if raw, err := signature.Text(strings.Join(strings.Fields(text), "")); err == nil {
		return raw, "the value has white space in it, base64url has none"
	}
	return nil, ""
}

// withoutValues returns the Receipt whose signatures have no value yet.
func (e *explainer) withoutValues() map[string]any {
	entries, _ := e.root["signatures"].([]any)
	bare := make([]any, len(entries))
	for i, entry := range entries {
		object, _ := entry.(map[string]any)
		object = maps.Clone(object)
		delete(object, "value")
		bare[i] = object
	}
	return with(e.root, []string{"signatures"}, bare)
}

// served returns the Receipt's text without signatures and peer_witnesses, with its members in their order.
func served(text []byte) []byte {
	var parts struct {
		Signatures jsontext.Value `json:"signatures"`
		Witnesses  jsontext.Value `json:"peer_witnesses"`
		Rest       jsontext.Value `json:",embed"`
	}
	if json.Unmarshal(text, &parts) != nil {
		return nil
	}
	return parts.Rest
}

// ascii writes the characters beyond ASCII as \u escapes, as several encoders do.
func ascii(text []byte) (out []byte) {
	for _, unit := range utf16.Encode([]rune(string(text))) {
		if unit < utf8.RuneSelf {
			out = append(out, byte(unit))
		} else {
			out = fmt.Appendf(out, `\u%04x`, unit)
		}
	}
	return out
}

// with returns the object with another value at the path, or nil if there is nothing at the path.
func with(root map[string]any, path []string, value any) map[string]any {
	old, there := root[path[0]]
	if !there {
		return nil
	}
	if len(path) > 1 {
		below, _ := old.(map[string]any)
		if below = with(below, path[1:], value); below == nil {
			return nil
		}
		value = below
	}
	out := maps.Clone(root)
	out[path[0]] = value
	return out
}
