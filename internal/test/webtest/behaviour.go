package webtest

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"context"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Text is a body; in a description it is a string.
type Text []byte

// UnmarshalText takes the text as it is.
func (t *Text) UnmarshalText(b []byte) error { *t = bytes.Clone(b); return nil }

// Duration is a time.Duration, in a description as time.ParseDuration reads it.
type Duration time.Duration

// UnmarshalText reads "50ms".
func (d *Duration) UnmarshalText(b []byte) error {
	v, err := time.ParseDuration(string(b))
	*d = Duration(v)
	return err
}

// Behaviour is how a page answers. The zero value is an empty page with status 200.
type Behaviour struct {
	Status int               `json:"status"` // 0: 200, or 302 with Redirect
	Header map[string]string `json:"header"`
	Body   Text              `json:"body"`
	Repeat int               `json:"repeat"` // the body this many times over

	Redirect string `json:"redirect"` // the Location
	ETag     string `json:"etag"`     // 304 to an equal If-None-Match

	Delay    Duration `json:"delay"`    // before the first byte
	Drip     int      `json:"drip"`     // bytes of the body at a time, one Interval apart
	Interval Duration `json:"interval"` // 0: 10 ms
	Endless  bool     `json:"endless"`  // the body over and over until the client leaves; an empty one is spaces

	Gzip        bool  `json:"gzip"`         // compressed, whatever the client accepts
	Bomb        int64 `json:"bomb"`         // zero bytes, compressed: so many and up to a MiB more
	HugeHeaders int   `json:"huge_headers"` // bytes of header lines
	Raw         Text  `json:"raw"`          // written instead of an HTTP response
	Reset       bool  `json:"reset"`        // the connection is reset instead of a response
	CloseEarly  bool  `json:"close_early"`  // half of the body, then the connection ends

	// Sequence answers the n-th request by its n-th member and every later one by its last; the other
	// members are unused then.
	Sequence []Behaviour `json:"sequence"`
}

// nth returns the n-th answer; the Sequence that it may belong to remains with it.
func (b Behaviour) nth(n int) Behaviour {
	if len(b.Sequence) == 0 {
		return b
	}
	one := b.Sequence[min(n, len(b.Sequence)-1)]
	one.Sequence = b.Sequence
	return one
}

func (w *Web) answerPage(rw http.ResponseWriter, r *http.Request) {
	defer w.arrive(strings.ToLower(r.Host))()
	w.reply(rw, r, w.page(r.Host, r.RequestURI))
}

func (w *Web) arrive(host string) (leave func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.inFlight[host]++
	w.peak[host] = max(w.peak[host], w.inFlight[host])
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.inFlight[host]--
	}
}

// Answer returns how the next request for an https URL is answered.
func (w *Web) Answer(u *url.URL) Behaviour { return w.page(u.Host, u.RequestURI()) }

func (w *Web) page(host, uri string) Behaviour {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := w.note(key(host, uri))
	b, ok := w.pages[key(host, uri)]
	if !ok {
		b, ok = w.pages[key(host, "/*")]
	}
	if !ok {
		b = Behaviour{Status: http.StatusNotFound, Body: []byte("no such page\n")}
	}
	return b.nth(n)
}

func (w *Web) reply(rw http.ResponseWriter, r *http.Request, b Behaviour) {
	if !wait(r.Context(), w.delay+time.Duration(b.Delay)) {
		panic(http.ErrAbortHandler)
	}
	switch {
	case b.Reset:
		takeOver(rw, r, reset)
	case b.Raw != nil:
		takeOver(rw, r, func(c net.Conn) { c.Write(b.Raw); c.Close() })
	case b.HugeHeaders > 0:
		takeOver(rw, r, func(c net.Conn) { writeHeaders(c, b.HugeHeaders); c.Close() })
	default:
		w.respond(rw, r, b)
	}
}

func takeOver(rw http.ResponseWriter, r *http.Request, f func(net.Conn)) {
	c, _, err := rw.(http.Hijacker).Hijack()
	if err == nil {
		defer context.AfterFunc(r.Context(), func() { c.Close() })()
		f(c)
	}
}

func writeHeaders(c net.Conn, total int) {
	io.WriteString(c, "HTTP/1.1 200 OK\r\n")
	value := strings.Repeat("a", 8<<10)
	for i, n := 0, 0; n < total; i++ {
		written, err := fmt.Fprintf(c, "X-Filler-%d: %s\r\n", i, value)
		if err != nil {
			return
		}
		n += written
	}
	io.WriteString(c, "Content-Length: 0\r\n\r\n")
}

func (w *Web) respond(rw http.ResponseWriter, r *http.Request, b Behaviour) {
	h := rw.Header()
	status := b.Status
	if b.Redirect != "" {
		h["Location"] = []string{b.Redirect} // not http.Redirect, which corrects it
		if status == 0 {
			status = http.StatusFound
		}
	}
	if b.ETag != "" {
		h.Set("ETag", b.ETag)
		if r.Header.Get("If-None-Match") == b.ETag {
			status, b = http.StatusNotModified, Behaviour{Header: b.Header}
		}
	}
	if b.Gzip || b.Bomb > 0 {
		h.Set("Content-Encoding", "gzip")
	}
	h.Set("Content-Type", "application/json")
	h["Date"] = nil // by the clock of this machine, which is not that of the test
	for name, value := range b.Header {
		h[http.CanonicalHeaderKey(name)] = []string{value}
	}
	if status == 0 {
		status = http.StatusOK
	}
	if b.CloseEarly {
		h.Set("Content-Length", strconv.Itoa(len(b.Body)*max(b.Repeat, 1)+1))
		b.Body = b.Body[:len(b.Body)/2]
	}
	rw.WriteHeader(status)
	body(r.Context(), rw, b)
	if b.CloseEarly || r.Context().Err() != nil {
		http.NewResponseController(rw).Flush()
		panic(http.ErrAbortHandler)
	}
}

func body(ctx context.Context, out io.Writer, b Behaviour) {
	if b.Bomb > 0 {
		bomb(ctx, out, b.Bomb>>20+1)
		return
	}
	if b.Gzip {
		z := gzip.NewWriter(out)
		defer z.Close()
		out = z
	}
	if b.Endless {
		piece := []byte(b.Body)
		if len(piece) == 0 {
			piece = []byte(" ")
		}
		if b.Drip == 0 { // pieces of some KiB, so that the client's caps are what is measured
			piece = bytes.Repeat(piece, 16<<10/len(piece)+1)
		}
		for piecewise(ctx, out, piece, b) {
		}
		return
	}
	left, batch := max(b.Repeat, 1), 1
	if b.Drip == 0 && len(b.Body) > 0 {
		batch = 16<<10/len(b.Body) + 1
	}
	for piece := bytes.Repeat(b.Body, min(left, batch)); left > 0; left -= batch {
		if !piecewise(ctx, out, piece[:min(left, batch)*len(b.Body)], b) {
			return
		}
	}
}

// zeros are a MiB of zero bytes, and the same as blocks of a deflate stream that refer to nothing before them.
var zeros = sync.OnceValues(func() (plain, deflated []byte) {
	var blocks bytes.Buffer
	z, err := flate.NewWriter(&blocks, flate.BestCompression)
	if err != nil {
		panic(err)
	}
	plain = make([]byte, 1<<20)
	z.Write(plain)
	z.Flush()
	return plain, blocks.Bytes()
})

// bomb writes n MiB of zero bytes as one gzip stream (RFC 1952), whose blocks are compressed once for all.
func bomb(ctx context.Context, out io.Writer, n int64) {
	plain, deflated := zeros()
	io.WriteString(out, "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff")
	sum := uint32(0)
	for range n {
		if _, err := out.Write(deflated); err != nil || ctx.Err() != nil {
			return
		}
		sum = crc32.Update(sum, crc32.IEEETable, plain)
	}
	end := []byte{1, 0, 0, 0xff, 0xff} // the last block, which is empty
	end = binary.LittleEndian.AppendUint32(end, sum)
	out.Write(binary.LittleEndian.AppendUint32(end, uint32(n<<20)))
}

// piecewise returns false if the client has gone, or ctx has ended.
func piecewise(ctx context.Context, out io.Writer, data []byte, b Behaviour) bool {
	if b.Drip == 0 {
		_, err := out.Write(data)
		return err == nil && ctx.Err() == nil
	}
	interval := time.Duration(b.Interval)
	if interval == 0 {
		interval = 10 * time.Millisecond
	}
	for len(data) > 0 {
		n := min(b.Drip, len(data))
		if _, err := out.Write(data[:n]); err != nil {
			return false
		}
		if f, ok := out.(http.Flusher); ok {
			f.Flush()
		}
		data = data[n:]
		if !wait(ctx, interval) {
			return false
		}
	}
	return true
}
