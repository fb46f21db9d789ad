package live

import (
	"bufio"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence/sources"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict/capped"
)

// body reads an answer's body and undoes its encoding on the way, so that a compressed bomb ends at its
// cap. What is sent may not exceed limit either: identity is what was asked for.
func (w *web) body(ctx context.Context, resp *http.Response, limit int64) ([]byte, *sources.Refusal) {
	if resp.ContentLength > limit {
		return nil, sources.Refuse(evidence.Invalid, evidence.CodeTooLarge,
			"the body has %d bytes by its Content-Length; expected at most %d", resp.ContentLength, limit)
	}
	encoding, refused := contentEncoding(resp.Header)
	if refused != nil {
		return nil, refused
	}
	sent := &wire{from: resp.Body, left: limit}
	body, err := capped.ReadAll(newDecoder(encoding, sent), limit)
	switch {
	case errors.Is(err, capped.ErrTooLarge), errors.Is(sent.err, capped.ErrTooLarge):
		return nil, sources.TooLarge(limit)
	case err == nil && !w.quota.take(int64(len(body))):
		return nil, totalTooLarge()
	case err == nil:
		return body, nil
	case sent.err == nil:
		return nil, sources.Refuse(evidence.Invalid, evidence.CodeEncoding,
			"the body is not %s, as its Content-Encoding says", encoding)
	case strings.Contains(sent.err.Error(), io.ErrUnexpectedEOF.Error()) && ctx.Err() == nil:
		// By its text: net/http has an error of its own for a connection that ends behind the last chunk.
		return nil, sources.Refuse(evidence.Unavailable, evidence.CodeConnect,
			"the connection ended before the body did")
	}
	refused, _ = classify(ctx, sent.err)
	return nil, refused
}

// wire reads what is sent, up to left bytes, and keeps the error that is not its end: decoders wrap it.
type wire struct {
	from io.Reader
	left int64
	err  error
}

func (w *wire) Read(p []byte) (int, error) {
	n, err := w.from.Read(p)
	if w.left -= int64(n); w.left < 0 {
		n, err = 0, capped.ErrTooLarge
	}
	if err != nil && err != io.EOF {
		w.err = err
	}
	return n, err
}

func totalTooLarge() *sources.Refusal {
	return sources.Refuse(evidence.Unavailable, evidence.CodeTotal, "the documents of this run together are too large")
}

// contentEncoding returns the one encoding of a body, or "".
func contentEncoding(h http.Header) (string, *sources.Refusal) {
	one := ""
	for token := range strings.SplitSeq(strings.ToLower(strings.Join(h.Values("Content-Encoding"), ",")), ",") {
		switch token = strings.TrimSpace(token); {
		case token == "", token == "identity":
		case one == "" && (token == "gzip" || token == "x-gzip" || token == "deflate"):
			one = strings.TrimPrefix(token, "x-")
		default:
			return "", sources.Refuse(evidence.Invalid, evidence.CodeEncoding,
				"the body has the Content-Encoding %q, expected none", h.Values("Content-Encoding"))
		}
	}
	return one, nil
}

// newDecoder undoes an encoding. Its errors come from Read.
func newDecoder(encoding string, sent io.Reader) io.Reader {
	switch encoding {
	case "gzip":
		return &opening{open: func() (io.Reader, error) { return gzip.NewReader(sent) }}
	case "deflate":
		return &opening{open: func() (io.Reader, error) { return openDeflate(sent) }}
	}
	return sent
}

// openDeflate reads zlib, which RFC 9110 means by deflate, or what some servers send: what the name says.
func openDeflate(sent io.Reader) (io.Reader, error) {
	buffered := bufio.NewReader(sent)
	head, err := buffered.Peek(2)
	if err != nil {
		return nil, err
	}
	if head[0]&0x0f == 8 && (int(head[0])<<8|int(head[1]))%31 == 0 {
		return zlib.NewReader(buffered)
	}
	return flate.NewReader(buffered), nil
}

// opening makes its reader at the first read.
type opening struct {
	open func() (io.Reader, error)
	from io.Reader
}

func (o *opening) Read(p []byte) (int, error) {
	if o.from == nil {
		from, err := o.open()
		if err != nil {
			if err == io.EOF { // before the encoding's own end
				err = io.ErrUnexpectedEOF
			}
			return 0, err
		}
		o.from = from
	}
	return o.from.Read(p)
}
