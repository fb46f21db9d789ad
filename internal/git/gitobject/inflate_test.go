package gitobject

import (
	"bufio"
	"bytes"
	"compress/flate"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

// listing is text of about 400 bytes that repeats parts of itself.
const listing = `{
  "slug": "tool-1",
  "tool_did": "did:web:tool-1.example.org",
  "manifest_uri": "https://tool-1.example.org/.well-known/oap-manifest.json",
  "conformance_receipt_uri": "https://tool-1.example.org/.well-known/receipt.json",
  "conformance_receipt_sha256": "0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a69788796a5b4c3d2e1f0",
  "issued_at": "2026-05-04T12:00:00Z"
}
`

// streams are zlib streams of all three kinds of blocks.
func streams(t testing.TB) [][]byte {
	r := rand.New(rand.NewPCG(1, 2))
	noise := make([]byte, 70_000)
	for i := range noise {
		noise[i] = byte(r.Uint32())
	}
	var tree []byte
	for n := range 500 {
		tree = append(append(tree, fmt.Sprintf("100644 impl-%06d.json\x00", n)...), noise[20*n:20*n+20]...)
	}
	var out [][]byte
	for _, text := range []string{"", "a", "abc", strings.Repeat("a", 300), strings.Repeat("abc", 30_000), listing,
		listing + strings.ReplaceAll(listing, "tool-1", "tool-2"),
		strings.Repeat(listing, 50), string(tree), string(noise), string(noise[:200]) +
			strings.Repeat("x", 70_000)} {
		for _, level := range []int{flate.NoCompression, flate.BestSpeed, flate.DefaultCompression,
			flate.BestCompression, flate.HuffmanOnly} {
			var b bytes.Buffer
			w, err := zlib.NewWriterLevel(&b, level)
			if err == nil {
				_, err = w.Write([]byte(text))
			}
			if err == nil && len(text)%2 == 1 {
				err = w.Flush() // an empty stored block in the middle
			}
			if err == nil {
				err = w.Close()
			}
			must.OK(t, err)
			out = append(out, b.Bytes())
		}
	}
	return out
}

// flateGives is what compress/flate makes of a zlib stream whose checksum is not looked at.
func flateGives(stream []byte) ([]byte, error) {
	if len(stream) < 2 || stream[0]&0x0f != 8 || stream[1]&0x20 != 0 || binary.BigEndian.Uint16(stream)%31 != 0 {
		return nil, errors.New("no zlib stream")
	}
	const most = 1 << 20
	out, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(stream[2:])), most+1))
	if len(out) > most {
		err = errors.New("too long for this test")
	}
	return out, err
}

// sameStream holds stream to what compress/flate gives.
func sameStream(t *testing.T, stream []byte) {
	t.Helper()
	want, wrong := flateGives(stream)
	expand := func(size int) ([]byte, error) {
		r := Inflate(bytes.NewReader(stream), 0, int64(len(stream)))
		defer r.Release()
		out := make([]byte, size)
		return out, r.Stream(out)
	}
	got, err := expand(len(want))
	if (err == nil) != (wrong == nil) {
		t.Fatalf("stream %x: got %v, compress/flate gives %v", stream, err, wrong)
	}
	if err != nil {
		if !errors.Is(err, ErrCorrupt) {
			t.Fatalf("stream %x: got %v, want ErrCorrupt", stream, err)
		}
		return
	}
	if !bytes.Equal(got, want) {
		t.Fatalf("stream %x: got %x, compress/flate gives %x", stream, got, want)
	}
	for _, size := range []int{len(want) - 1, len(want) + 1} {
		if size < 0 {
			continue
		}
		if _, err := expand(size); !errors.Is(err, ErrCorrupt) {
			t.Fatalf("stream %x of %d bytes, read as %d: got %v, want ErrCorrupt", stream, len(want), size, err)
		}
	}
}

func TestStream(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, stream := range streams(t) {
		sameStream(t, stream)
		if testing.Short() || len(stream) > 5000 {
			continue
		}
		for range 30 {
			damaged := bytes.Clone(stream)
			damaged[2+r.IntN(len(damaged)-2)] ^= 1 << r.IntN(8)
			sameStream(t, damaged)
			sameStream(t, stream[:2+r.IntN(len(stream)-2)])
		}
	}
}

func FuzzStream(f *testing.F) {
	for _, stream := range streams(f) {
		if len(stream) < 2000 {
			f.Add(stream)
		}
	}
	f.Fuzz(sameStream)
}

// TestStaleCode: a code without symbols is decoded by that of the stream before, and is damage in either way.
func TestStaleCode(t *testing.T) {
	r := &Inflater{Reader: bufio.NewReader(nil)}
	for _, stream := range append(streams(t), []byte("x\x9c\x04\x00\x00\x00")) {
		r.begin(bytes.NewReader([]byte("x\x9c\x04\x00\x00\x00")), 0, 6)
		if err := r.Stream(make([]byte, 3)); !errors.Is(err, ErrCorrupt) {
			t.Errorf("got %v, want ErrCorrupt", err)
		}
		r.begin(bytes.NewReader(stream), 0, int64(len(stream)))
		must.OK(t, r.Zlib())
		io.Copy(io.Discard, io.LimitReader(r.Flate, 1<<20)) // leaves its codes behind
	}
}
