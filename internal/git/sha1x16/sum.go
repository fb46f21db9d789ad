// Package sha1x16 computes SHA-1 of many messages of about one length at once, which on processors with AVX-512 is
// several times as fast as one after another. It is for trees of a Git history, whose ids are SHA-1 whatever one
// thinks of it, and of which an audit reads gigabytes.
package sha1x16

import (
	"crypto/sha1"
	"encoding"
	"encoding/binary"
	"fmt"
	"runtime"
	"unsafe"
)

// Lanes is how many messages can be worked on at a time.
const Lanes = 16

// AtOnce is how many messages are best given to Sum: Lanes, or 1 where this processor works on one after another.
func AtOnce() int {
	if available {
		return Lanes
	}
	return 1
}

// least is from how many messages on, and of how many bytes, working on several at a time pays.
const (
	leastMessages = 3
	leastBytes    = 2 << 10
)

// Message is what is hashed, in pieces, one after another. Messages may share them.
type Message [][]byte

func (m Message) size() int {
	n := 0
	for _, piece := range m {
		n += len(piece)
	}
	return n
}

// Sum gives the SHA-1 of each message.
func Sum(messages []Message) [][sha1.Size]byte {
	sums := make([][sha1.Size]byte, len(messages))
	for from := 0; from < len(messages); from += Lanes {
		to := min(from+Lanes, len(messages))
		group(messages[from:to], sums[from:to])
	}
	return sums
}

func group(messages []Message, sums [][sha1.Size]byte) {
	shortest := messages[0].size()
	for _, m := range messages {
		shortest = min(shortest, m.size())
	}
	l := lanes{state: start}
	n := 0
	if available && len(messages) >= leastMessages && shortest >= leastBytes {
		n = shortest / sha1.BlockSize
	}
	copy(l.rest[:], messages)
	l.blocks(len(messages), n)
	for i := range messages {
		h := l.resume(i, n)
		h.Write(l.piece[i])
		for _, piece := range l.rest[i] {
			h.Write(piece)
		}
		h.Sum(sums[i][:0])
	}
	runtime.KeepAlive(messages)
}

// lanes is the state of up to sixteen messages after as many whole blocks.
type lanes struct {
	state [5][Lanes]uint32
	piece [Lanes][]byte  // what is not yet read of a piece, and
	rest  [Lanes]Message // the pieces after it
	room  []byte         // a stretch of each, where it is not in one piece
}

// start is the state before the first block, FIPS 180-4, section 5.3.1.
var start = func() (state [5][Lanes]uint32) {
	for j, word := range []uint32{0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0} {
		for i := range state[j] {
			state[j][i] = word
		}
	}
	return state
}()

const (
	// stretch is how much of each message is worked on at a time: what all of them take stays in the second cache.
	stretch = 16 << 10
	// apart is from one stretch to the next, no power of two, which the first cache would keep in one place.
	apart = stretch + 3*sha1.BlockSize
)

// blocks goes over n blocks of the first so many messages. The lanes without one do the work of the first again.
func (l *lanes) blocks(messages, n int) {
	for n > 0 {
		size := min(n*sha1.BlockSize, stretch)
		var at [Lanes]unsafe.Pointer
		for i := range at {
			at[i] = at[0]
			if i < messages {
				at[i] = unsafe.Pointer(&l.take(i, size)[0])
			}
		}
		blocks(&l.state, &at, size/sha1.BlockSize)
		n -= size / sha1.BlockSize
	}
}

// take reads the next n bytes of a message, which has them; n is at most stretch.
func (l *lanes) take(i, n int) []byte {
	l.next(i)
	if piece := l.piece[i]; len(piece) >= n {
		l.piece[i] = piece[n:]
		return piece[:n]
	}
	if l.room == nil {
		l.room = make([]byte, Lanes*apart)
	}
	taken := l.room[i*apart:][:n]
	for got := 0; got < n; l.next(i) {
		c := copy(taken[got:], l.piece[i])
		got, l.piece[i] = got+c, l.piece[i][c:]
	}
	return taken
}

// next goes on to a piece that has something left, if there is one.
func (l *lanes) next(i int) {
	for len(l.piece[i]) == 0 && len(l.rest[i]) > 0 {
		l.piece[i], l.rest[i] = l.rest[i][0], l.rest[i][1:]
	}
}

// state is how crypto/sha1 marshals a hash: magic, chaining value, an incomplete block, length of the message.
const (
	magicSize = 4
	stateSize = magicSize + 20 + sha1.BlockSize + 8
)

// hasher is what crypto/sha1 gives.
type hasher interface {
	Write([]byte) (int, error)
	Sum([]byte) []byte
	encoding.BinaryAppender
	encoding.BinaryUnmarshaler
}

func newHasher() hasher { return sha1.New().(hasher) }

// resume gives the hash of message i after n blocks.
func (l *lanes) resume(i, n int) hasher {
	h := newHasher()
	state, err := h.AppendBinary(nil)
	if err == nil && len(state) != stateSize {
		err = fmt.Errorf("crypto/sha1 has a state of %d bytes", len(state))
	}
	if err == nil {
		for j := range l.state {
			binary.BigEndian.PutUint32(state[magicSize+4*j:], l.state[j][i])
		}
		binary.BigEndian.PutUint64(state[stateSize-8:], uint64(n)*sha1.BlockSize)
		err = h.UnmarshalBinary(state)
	}
	if err != nil {
		panic(err)
	}
	return h
}
