package listing

import (
	"bytes"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/openagentprotocol-OAP/oap-gate/internal/level"
	"github.com/openagentprotocol-OAP/oap-gate/internal/receipt"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
)

// Renewal is what a new Receipt says of a listing.
type Renewal struct {
	Receipt *receipt.Receipt
	SHA256  string      // of the bytes that are served
	URI     string      // where they are; empty: where the listing says
	Level   level.Level // empty: the listing's stays
}

// Renew gives a listing's text the values that a new Receipt signs. Only the bytes of values that change do: a value
// that means the same in another spelling stays.
func Renew(text []byte, n Renewal) ([]byte, error) {
	doc, err := strict.Parse("", text, strict.RegistryFile)
	if err != nil {
		return nil, err
	}
	for _, m := range []struct{ name, value string }{
		{"name", n.Receipt.ImplementationName},
		{"conformance_level", string(n.Level)},
		{"conformance_receipt_uri", n.URI},
		{"conformance_receipt_sha256", n.SHA256},
		{"issued_at", n.Receipt.NotBefore.Text},
		{"expires_at", Expires(n.Receipt)},
	} {
		if m.value == "" || strict.String(doc.Root, m.name) == m.value {
			continue
		}
		if text, err = Set(text, m.name, Quote(m.value)); err != nil {
			return nil, err
		}
	}
	return text, nil
}

// Diff is the difference of two texts of a file in unified form, empty where there is none.
func Diff(path string, was, now []byte) string {
	text := diff.Diff("a/"+path, was, "b/"+path, now)
	_, text, _ = bytes.Cut(text, []byte("\n")) // the command line that diff(1) would have
	return string(text)
}
