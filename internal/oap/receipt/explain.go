package receipt

import (
	"bytes"
	"crypto"
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

	"github.com/go-json-experiment/json/jsontext"

	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/did"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/signature"
)

// The bounds of an explanation. It is for the Receipts of people, which have some thousand bytes: what is larger gets
// none.
const (
	maxExplained = 32 << 10 // bytes of the Receipt
	maxTries     = 128      // keys on texts
	maxTriedKeys = 4
	maxDropped   = 24 // members that are left out in turn
)

// Known is a member of a Receipt and the value that it has elsewhere, such as in the listing.
type Known struct {
	Path  []string
	Value any
}

// Explain says which mistake would make an EdDSA signature by that name verify under a key of d: another JSON form, a
// signed digest instead of the text, another encoding of the signature, a member that was changed or added since. It
// returns "" if none of these does, and if the Receipt is too large to try. It decides nothing: a signature that needs
// an explanation does not verify.
func Explain(r *Receipt, d *did.Document, by string, known []Known) string {
	if len(r.text) > maxExplained {
		return ""
	}
	var keys []did.Key
	if named, ok := d.Key(by); ok {
		keys = append(keys, named)
	}
	for _, k := range d.Keys {
		if len(keys) < maxTriedKeys && !slices.ContainsFunc(keys, func(have did.Key) bool { return have.ID == k.ID }) {
			keys = append(keys, k)
		}
	}
	e := &explainer{keys: keys, root: r.root()}
	for _, s := range r.Signatures {
		if s.Alg != eddsa || s.By != by {
			continue
		}
		var how string
		if e.raw, how = looseText(s.Value); e.raw == nil {
			continue
		}
		if why := e.explain(r.text, how, known); why != "" {
			return why
		}
	}
	return ""
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

type explainer struct {
	keys  []did.Key
	root  map[string]any
	raw   []byte
	tried int
}

// verifies returns the name of the key under which the signature of message verifies, or "".
func (e *explainer) verifies(message []byte) string {
	for _, k := range e.keys {
		if e.tried == maxTries {
			return ""
		}
		e.tried++
		if signature.Verify(k.Public, message, e.raw) {
			return k.ID
		}
	}
	return ""
}

func (e *explainer) explain(text []byte, how string, known []Known) string {
	right, err := signature.CanonicalWithout(e.root, "signatures", "peer_witnesses")
	if err != nil {
		return ""
	}
	if how != "" {
		if key := e.verifies(right); key != "" {
			return fmt.Sprintf("it verifies under %q once it is written again: %s", key, how)
		}
	}
	is := func(message []byte, what string) string {
		if key := e.verifies(message); key != "" {
			return fmt.Sprintf("it verifies under %q over %s", key, what)
		}
		return ""
	}
	if why := e.digests(right, is); why != "" {
		return why
	}
	if why := e.members(is); why != "" {
		return why
	}
	if why := otherForms(text, right, is); why != "" {
		return why
	}
	return e.changed(known, is)
}

// digests tries what a signer makes who hashes first.
func (e *explainer) digests(right []byte, is func([]byte, string) string) string {
	short, long := sha256.Sum256(right), sha512.Sum512(right)
	for _, d := range []struct {
		message []byte
		what    string
	}{
		{short[:], "the SHA-256 of the canonical JSON: sign the text itself"},
		{[]byte(hex.EncodeToString(short[:])), "the SHA-256 of the canonical JSON in hex: sign the text itself"},
		{long[:], "the SHA-512 of the canonical JSON: sign the text itself"},
	} {
		if why := is(d.message, d.what); why != "" {
			return why
		}
	}
	for _, k := range e.keys {
		if e.tried == maxTries {
			return ""
		}
		e.tried++
		if ed25519.VerifyWithOptions(k.Public, long[:], e.raw, &ed25519.Options{Hash: crypto.SHA512}) == nil {
			return fmt.Sprintf("it verifies under %q as Ed25519ph, which hashes first: sign by plain Ed25519", k.ID)
		}
	}
	return ""
}

// members tries the Receipt with other members left out, or emptied, than those that are.
func (e *explainer) members(is func([]byte, string) string) string {
	blank := maps.Clone(e.root)
	blank["signatures"] = []any{}
	for _, t := range []struct {
		root    map[string]any
		without []string
		what    string
	}{
		{e.root, []string{"signatures"}, "the Receipt with peer_witnesses: leave them out too"},
		{blank, nil, "the Receipt with an empty signatures: leave the member out, and peer_witnesses too"},
		{blank, []string{"peer_witnesses"}, "the Receipt with an empty signatures: leave the member out"},
		{e.withoutValues(), []string{"peer_witnesses"}, "the Receipt with the signatures except their value: leave " +
			"the member out"},
		{e.withoutValues(), nil, "the Receipt with the signatures except their value, and peer_witnesses: leave " +
			"both out"},
	} {
		if message, err := signature.CanonicalWithout(t.root, t.without...); err == nil {
			if why := is(message, t.what); why != "" {
				return why
			}
		}
	}
	return ""
}

func (e *explainer) withoutValues() map[string]any {
	entries, _ := e.root["signatures"].([]any)
	bare := make([]any, len(entries))
	for i, entry := range entries {
		object, _ := entry.(map[string]any)
		object = maps.Clone(object)
		delete(object, "value")
		bare[i] = object
	}
	root := maps.Clone(e.root)
	root["signatures"] = bare
	return root
}

// otherForms tries other spellings of the same JSON.
func otherForms(text, right []byte, is func([]byte, string) string) string {
	const rule = ": sign the RFC 8785 form"
	if why := is(append(slices.Clone(right), '\n'), "the canonical JSON and a line break: leave that away"); why != "" {
		return why
	}
	for _, order := range []struct {
		text []byte
		what string
	}{{right, "sorted"}, {served(text), "in the order of the document"}} {
		if order.text == nil {
			continue
		}
		for _, f := range []struct {
			what    string
			options []jsontext.Options
		}{
			{"minified", []jsontext.Options{jsontext.Multiline(false)}},
			{"with blanks after commas and colons", []jsontext.Options{jsontext.SpaceAfterComma(true),
				jsontext.SpaceAfterColon(true)}},
			{"indented by two blanks", []jsontext.Options{jsontext.WithIndent("  ")}},
		} {
			value := jsontext.Value(slices.Clone(order.text))
			if value.Format(append(f.options, jsontext.PreserveRawStrings(true))...) != nil {
				continue
			}
			what := "JSON that is " + order.what + ", " + f.what + ", not canonical" + rule
			if why := is(value, what); why != "" {
				return why
			}
			if escaped := ascii(value); !bytes.Equal(escaped, value) {
				if why := is(escaped, "JSON that is "+order.what+", "+f.what+
					", with escapes for letters that are not ASCII"+rule); why != "" {
					return why
				}
			}
		}
	}
	return ""
}

// served returns the Receipt's text without signatures and peer_witnesses, with its members in their order.
func served(text []byte) []byte {
	d := jsontext.NewDecoder(bytes.NewReader(text))
	if _, err := d.ReadToken(); err != nil {
		return nil
	}
	out := []byte{'{'}
	for d.PeekKind() == '"' {
		name, err := d.ReadToken()
		if err != nil {
			return nil
		}
		word := name.String()
		value, err := d.ReadValue()
		if err != nil {
			return nil
		}
		if word == "signatures" || word == "peer_witnesses" {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		if out, err = jsontext.AppendQuote(out, word); err != nil {
			return nil
		}
		out = append(append(out, ':'), value...)
	}
	return append(out, '}')
}

// ascii writes the characters beyond ASCII as \u escapes, as several encoders do.
func ascii(text []byte) []byte {
	var out []byte
	for len(text) > 0 {
		c, size := utf8.DecodeRune(text)
		switch {
		case c < utf8.RuneSelf:
			out = append(out, byte(c))
		case c > 0xffff:
			high, low := utf16.EncodeRune(c)
			out = fmt.Appendf(out, `\u%04x\u%04x`, high, low)
		default:
			out = fmt.Appendf(out, `\u%04x`, c)
		}
		text = text[size:]
	}
	return out
}

// changed tries the values that are known from elsewhere, and then the Receipt without one member after the other.
func (e *explainer) changed(known []Known, is func([]byte, string) string) string {
	for _, k := range known {
		root := with(e.root, k.Path, k.Value)
		if root == nil {
			continue
		}
		message, err := signature.CanonicalWithout(root, "signatures", "peer_witnesses")
		if err != nil {
			continue
		}
		name := strings.Join(k.Path, ".")
		if why := is(message, fmt.Sprintf("the Receipt whose %s is %q: that member was changed after it was signed",
			name, fmt.Sprint(k.Value))); why != "" {
			return why
		}
	}
	names := slices.Sorted(maps.Keys(e.root))
	for _, name := range names[:min(len(names), maxDropped)] {
		message, err := signature.CanonicalWithout(e.root, "signatures", "peer_witnesses", name)
		if err != nil || len(name) > 100 {
			continue
		}
		if why := is(message, fmt.Sprintf("the Receipt without %q: that member was added after it was signed",
			name)); why != "" {
			return why
		}
	}
	return ""
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
