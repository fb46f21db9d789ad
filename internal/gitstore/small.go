package gitstore

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"sync"
)

// small decodes a zlib stream that is in memory and has one block, or two, as Go writes them, the second empty. So have
// nearly all of a registry. flate, which must be able to stop anywhere and takes its input by the byte, needs nearly
// twice as long. What is unusual or damaged is left to it, and so is every error; a test holds the two to the same.
type small struct {
	in      []byte // not yet in window
	window  uint64 // bits that were read
	have    int    // how many of them count; negative where more were used than there are
	out     []byte
	done    int // of out
	codes   codes
	lengths [maxLiterals + maxDistances]uint8
}

// codes are those of a block.
type codes struct{ literals, distances huffman }

// maxSmall is what a small stream inflates to at most. One that takes more is not read whole at first.
const maxSmall = 2 * firstRead

// Limits of RFC 1951, section 3.2.
const (
	maxCode      = 15 // bits
	endOfBlock   = 256
	maxLiterals  = 288 // of which 286 have a meaning,
	maxDistances = 30
)

// huffman decodes one code, which is complete.
type huffman struct {
	table   [1 << tableBits]uint16 // by the next bits: symbol<<4 | length; 0: longer than tableBits
	count   [maxCode + 1]uint16    // of symbols, by length
	symbols [maxLiterals]uint16    // by code
}

const tableBits = 9

// zlib fills out with the stream that in begins with, and reports whether it did.
func (s *small) zlib(out, in []byte) bool {
	if len(out) > maxSmall || len(in) < 2 || !isZlib(in[0], in[1]) {
		return false
	}
	s.in, s.window, s.have, s.out, s.done = in[2:], 0, 0, out, 0
	defer func() { s.in, s.out = nil, nil }()
	for range 2 {
		last, decoded := s.bits(1), false
		switch s.bits(2) {
		case 0:
			decoded = s.stored()
		case 1:
			decoded = s.block(fixed())
		case 2:
			decoded = s.dynamic() && s.block(&s.codes)
		}
		switch {
		case !decoded:
			return false
		case last == 1:
			return s.done == len(out) && s.have >= 0
		}
	}
	return false
}

// fill has at least 56 bits in the window, as far as there are any.
func fill(in []byte, window uint64, have int) ([]byte, uint64, int) {
	if len(in) >= 8 {
		return in[(63-have)>>3:], window | binary.LittleEndian.Uint64(in)<<have, have | 56
	}
	for ; have <= 56 && len(in) > 0; in = in[1:] {
		window |= uint64(in[0]) << have
		have += 8
	}
	return in, window, have
}

// take takes n bits of the window.
func (s *small) take(n int) int {
	v := int(s.window & (1<<n - 1))
	s.window >>= n
	s.have -= n
	return v
}

// bits reads up to 16 bits.
func (s *small) bits(n int) int {
	if s.have < n {
		s.in, s.window, s.have = fill(s.in, s.window, s.have)
	}
	return s.take(n)
}

// stored copies a block that is not compressed, section 3.2.4.
func (s *small) stored() bool {
	s.take(s.have & 7)
	size, inverse := s.bits(16), s.bits(16)
	if size != ^inverse&0xffff || size > len(s.out)-s.done {
		return false
	}
	for range size {
		s.out[s.done] = byte(s.bits(8))
		s.done++
	}
	return true
}

// fixed are the codes of section 3.2.6.
var fixed = sync.OnceValue(func() *codes {
	c := new(codes)
	lengths := make([]uint8, maxLiterals)
	for i := range lengths {
		switch {
		case i < 144, i >= 280:
			lengths[i] = 8
		case i < 256:
			lengths[i] = 9
		default:
			lengths[i] = 7
		}
	}
	c.literals.build(lengths)
	c.distances.build(bytes.Repeat([]byte{5}, 32))
	return c
})

// codeOrder is in what order the lengths of the codes for code lengths stand.
var codeOrder = [...]uint8{16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15}

// dynamic reads the codes of section 3.2.7.
func (s *small) dynamic() bool {
	literals, distances, lengthCodes := s.bits(5)+257, s.bits(5)+1, s.bits(4)+4
	if literals > 286 || distances > maxDistances {
		return false
	}
	lengths := s.lengths[:len(codeOrder)]
	clear(lengths)
	for _, symbol := range codeOrder[:lengthCodes] {
		lengths[symbol] = uint8(s.bits(3))
	}
	if !s.codes.literals.build(lengths) {
		return false
	}
	lengths = s.lengths[:literals+distances]
	for i := 0; i < len(lengths); {
		if s.have < maxCode+7 {
			s.in, s.window, s.have = fill(s.in, s.window, s.have)
		}
		e := s.codes.literals.entry(s.window)
		s.take(int(e & 15))
		last, times := uint8(0), 1
		switch e >> 4 {
		default:
			last = uint8(e >> 4)
		case 16:
			if i == 0 {
				return false
			}
			last, times = lengths[i-1], 3+s.take(2)
		case 17:
			times = 3 + s.take(3)
		case 18:
			times = 11 + s.take(7)
		}
		if times > len(lengths)-i {
			return false
		}
		for ; times > 0; times-- {
			lengths[i] = last
			i++
		}
	}
	return s.codes.literals.build(lengths[:literals]) && s.codes.distances.build(lengths[literals:])
}

// build takes the length of each symbol's code, and reports whether they are a complete code.
func (h *huffman) build(lengths []uint8) bool {
	h.count = [maxCode + 1]uint16{}
	for _, n := range lengths {
		h.count[n&maxCode]++
	}
	h.count[0] = 0
	var at [maxCode + 1]uint16 // by length: where the next symbol stands
	left, next := 1, uint16(0)
	for n := 1; n <= maxCode; n++ {
		at[n] = next
		next += h.count[n]
		if left = left<<1 - int(h.count[n]); left < 0 {
			return false
		}
	}
	if left > 0 {
		return false
	}
	for symbol, n := range lengths {
		if n > 0 {
			h.symbols[at[n&maxCode]] = uint16(symbol)
			at[n&maxCode]++
		}
	}
	h.table[0], h.table[1] = 0, 0
	code, symbols := uint16(0), h.symbols[:]
	for n := 1; n <= tableBits; n++ { // the table for codes of n bits and less is twice that for one less
		for _, symbol := range symbols[:h.count[n]] {
			h.table[bits.Reverse16(code)>>(16-n)] = symbol<<4 | uint16(n)
			code++
		}
		symbols, code = symbols[h.count[n]:], code<<1
		if n < tableBits {
			copy(h.table[1<<n:], h.table[:1<<n])
		}
	}
	return true
}

// entry is the symbol, and the length, of the code in a window, which holds maxCode bits, or all that there are.
func (h *huffman) entry(window uint64) uint16 {
	if e := h.table[window%(1<<tableBits)]; e != 0 {
		return e
	}
	return h.long(window)
}

// long is entry for a code that is not in the table.
func (h *huffman) long(window uint64) uint16 {
	code, first, at := 0, 0, 0
	for n := 1; n < maxCode; n++ {
		code |= int(window & 1)
		window >>= 1
		count := int(h.count[n])
		if code-first < count {
			return h.symbols[at+code-first]<<4 | uint16(n)
		}
		at += count
		first, code = (first+count)<<1, code<<1
	}
	code |= int(window & 1)
	return h.symbols[at+code-first]<<4 | maxCode
}

// Lengths and distances begin at these, and have so many bits more, section 3.2.5.
var (
	lengthBase = [...]uint16{3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115,
		131, 163, 195, 227, 258}
	lengthMore = [...]uint8{0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0}
	distBase   = [...]uint16{1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257, 385, 513, 769, 1025, 1537,
		2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577}
	distMore = [...]uint8{0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13,
		13}
)

// block decodes a compressed block to its end.
func (s *small) block(c *codes) bool {
	in, window, have, out, done := s.in, s.window, s.have, s.out, s.done
	for {
		if have < 48 { // bits of a length and its distance: 15+5+15+13
			in, window, have = fill(in, window, have)
		}
		e := c.literals.entry(window)
		window >>= e & 15
		have -= int(e & 15)
		symbol := int(e >> 4)
		if symbol < endOfBlock {
			if done == len(out) {
				return false
			}
			out[done] = byte(symbol)
			done++
			continue
		}
		if symbol == endOfBlock {
			s.in, s.window, s.have, s.done = in, window, have, done
			return true
		}
		if symbol -= endOfBlock + 1; symbol >= len(lengthBase) {
			return false
		}
		more := lengthMore[symbol] & 7
		length := int(lengthBase[symbol]) + int(window&(1<<more-1))
		window >>= more
		e = c.distances.entry(window)
		window >>= e & 15
		have -= int(more) + int(e&15)
		if symbol = int(e >> 4); symbol >= len(distBase) {
			return false
		}
		more = distMore[symbol] & 15
		back := int(distBase[symbol]) + int(window&(1<<more-1))
		window >>= more
		have -= int(more)
		if back > done || length > len(out)-done {
			return false
		}
		from := out[done-back : done]
		for to := out[done : done+length]; len(to) > 0; { // what is longer than the distance repeats
			to = to[copy(to, from):]
		}
		done += length
	}
}
