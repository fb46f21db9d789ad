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

// Message is what is hashed: Head, of at most 64 bytes, and Data after it.
type Message struct{ Head, Data []byte }

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
	shortest := len(messages[0].Data)
	for _, m := range messages {
		shortest = min(shortest, len(m.Data))
	}
	if !available || len(messages) < leastMessages || shortest < leastBytes {
		for i, m := range messages {
			h := sha1.New()
			h.Write(m.Head)
			h.Write(m.Data)
			h.Sum(sums[i][:0])
		}
		return
	}
	l := begin(messages)
	n := (shortest - sha1.BlockSize) / sha1.BlockSize
	blocks(&l.state, &l.at, n)
	runtime.KeepAlive(messages)
	for i, m := range messages {
		h := l.resume(i, n)
		h.Write(m.Data[l.start[i]+n*sha1.BlockSize:])
		h.Sum(sums[i][:0])
	}
}

// lanes is the state of up to sixteen messages after as many whole blocks. Unused lanes do the work of the first.
type lanes struct {
	state [5][Lanes]uint32
	at    [Lanes]unsafe.Pointer
	start [Lanes]int // of the first block that is of Data alone
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

// begin hashes the first block of each message.
func begin(messages []Message) *lanes {
	l := &lanes{}
	var room [stateSize]byte
	for i := range l.at {
		m := messages[0]
		if i < len(messages) {
			m = messages[i]
		}
		start := sha1.BlockSize - len(m.Head)
		h := newHasher()
		h.Write(m.Head)
		h.Write(m.Data[:start])
		state, err := h.AppendBinary(room[:0])
		if err != nil || len(state) != stateSize {
			panic(fmt.Sprintf("crypto/sha1 has a state of %d bytes, %v", len(state), err))
		}
		for j := range l.state {
			l.state[j][i] = binary.BigEndian.Uint32(state[magicSize+4*j:])
		}
		l.start[i], l.at[i] = start, unsafe.Pointer(&m.Data[start])
	}
	return l
}

// resume gives the hash of message i after its first block and n more.
func (l *lanes) resume(i, n int) hasher {
	h := newHasher()
	state, err := h.AppendBinary(nil)
	if err == nil {
		for j := range l.state {
			binary.BigEndian.PutUint32(state[magicSize+4*j:], l.state[j][i])
		}
		binary.BigEndian.PutUint64(state[stateSize-8:], uint64(1+n)*sha1.BlockSize)
		err = h.UnmarshalBinary(state)
	}
	if err != nil {
		panic(err)
	}
	return h
}
