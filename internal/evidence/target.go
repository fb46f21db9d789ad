package evidence

import (
	"context"
	"net/url"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/memo"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/did"
)

// Target is an implementation whose documents are sought without a listing that names them.
type Target struct {
	Manifest    Request
	Receipt     Request // zero: the one that the Manifest names by an https URL
	DIDDocument Request // for a did:web; zero: where the DID says
	SHA256      string  // pin of the Receipt; empty: whatever is served is judged
	Memo        *memo.Memo
}

// CollectTarget seeks the Manifest, then the Receipt, then what both lead to. With these two in place want is called,
// once and in this goroutine. It gives the DID whose document is sought, empty for none, whether the witnesses'
// Manifests matter, and what decides whose documents are sought: of its Kinds, Witnesses alone counts. A Receipt that
// nothing names stays Unsought.
func CollectTarget(ctx context.Context, s Source, t Target,
	want func(*Facts) (id string, independence bool, w Wanted)) *Facts {
	f := &Facts{}
	c := &collector{ctx: ctx, s: s, memo: t.Memo}
	f.Manifest = c.manifestOf(t.Manifest)
	at := t.Receipt
	if at == (Request{}) && f.Manifest.State == Obtained && IsHTTPS(f.Manifest.Value.ReceiptURI) {
		at = Request{HTTPS, f.Manifest.Value.ReceiptURI, MaxReceipt}
	}
	if at != (Request{}) {
		sum := t.SHA256
		if sum == "" { // no record pins it: it is what is served
			sum = Ask(ctx, s, at).SHA256
		}
		f.ReceiptText, f.Receipt = c.receiptOf(at, sum)
	}
	id, independence, w := want(f)
	c.seek(id != "", func() {
		if d, err := did.Parse(id); err == nil && d.Method == "web" && t.DIDDocument != (Request{}) {
			f.DIDDocument = c.documentOf(d, Ask(ctx, s, t.DIDDocument), w.Clock)
			return
		}
		f.DIDDocument, f.DIDFallback = c.didDocument(id, w.Clock)
	})
	if w.Kinds.Has(Witnesses) && f.Receipt.State == Obtained {
		c.vouchers(f, w, independence)
	}
	c.wait.Wait()
	c.crashed.Rethrow()
	return f
}

// MaxURL caps a URL in bytes.
const MaxURL = 8 << 10

// IsHTTPS reports whether a text is an https URL that names a host, and is no longer than a URL may be.
func IsHTTPS(uri string) bool {
	if len(uri) > MaxURL {
		return false
	}
	u, err := url.Parse(uri)
	return err == nil && u.Scheme == "https" && u.Hostname() != ""
}

// The documents that may be at hand.
const (
	FileManifest    = "manifest"
	FileReceipt     = "receipt"
	FileDIDDocument = "did-document"
)
