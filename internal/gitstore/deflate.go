package gitstore

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"
)

// This file decodes DEFLATE streams (RFC 1951) whose result has a known size. compress/flate, which must be able to
// stop anywhere, takes its input by the byte and its output through a window; a registry is read in half the time
// without both. A test holds the two to the same results.

// Limits of RFC 1951, section 3.2.
const (
	maxCodeBits  = 15
	endOfBlock   = 256
	maxLiterals  = 286
	maxDistances = 30
)

var errStream = fmt.Errorf("%w: its compressed bytes are damaged", ErrCorrupt)

// huffman decodes one canonical code: what has at most tableBits bits by table, the rest bit by bit.
type huffman struct {
	table   [1 << tableBits]uint16 // by the next bits, as many as mask has: symbol<<4 | length; 0: longer, or no code
	mask    uint64
	count   [maxCodeBits + 1]uint16
	symbols [maxLiterals + 2]uint16 // by code
}

const tableBits = 10

// codes tells how many symbols there are of each length.
func (h *huffman) codes(lengths []uint8) (used int, longest int) {
	h.count = [maxCodeBits + 1]uint16{}
	for _, n := range lengths {
		h.count[n]++
	}
	used = len(lengths) - int(h.count[0])
	h.count[0] = 0
	for longest = maxCodeBits; longest > 0 && h.count[longest] == 0; longest-- {
	}
	return used, longest
}

// build takes the length of each symbol's code. A code must be complete, but that a single symbol has one bit, or that
// there is none.
func (h *huffman) build(lengths []uint8) error {
	used, longest := h.codes(lengths)
	var next, at [maxCodeBits + 2]uint16 // by length: the next code, and where its symbol stands
	code := 0
	for n := 1; n <= longest; n++ {
		code <<= 1
		next[n] = uint16(code)
		at[n+1] = at[n] + h.count[n]
		if code += int(h.count[n]); code > 1<<n {
			return errStream
		}
	}
	complete := code == 1<<longest
	if used > 0 && !complete && (used != 1 || longest != 1) {
		return errStream
	}
	table := h.table[:1<<min(longest, tableBits)]
	h.mask = uint64(len(table) - 1)
	if !complete || longest > tableBits {
		clear(table)
	}
	for symbol, n := range lengths {
		if n == 0 {
			continue
		}
		h.symbols[at[n]] = uint16(symbol)
		at[n]++
		if n <= tableBits {
			first := int(bits.Reverse16(next[n]) >> (16 - n))
			for i := first; i < len(table); i += 1 << n {
				table[i] = uint16(symbol)<<4 | uint16(n)
			}
		}
		next[n]++
	}
	return nil
}

// long decodes a code that is not in the table; n is its length, 0 where there is none.
func (h *huffman) long(window uint64) (symbol int, n uint) {
	code, first, at := 0, 0, 0
	for n = 1; n <= maxCodeBits; n++ {
		code |= int(window & 1)
		window >>= 1
		count := int(h.count[n])
		if code-first < count {
			return int(h.symbols[at+code-first]), n
		}
		at += count
		first = (first + count) << 1
		code <<= 1
	}
	return 0, 0
}

// The codes of fixed blocks, section 3.2.6.
var fixedLiterals, fixedDistances = func() (l, d huffman) {
	lengths := make([]uint8, 288)
	for i := range lengths {
		switch {
		case i < 144:
			lengths[i] = 8
		case i < 256:
			lengths[i] = 9
		case i < 280:
			lengths[i] = 7
		default:
			lengths[i] = 8
		}
	}
	if err := l.build(lengths); err != nil {
		panic(err)
	}
	for i := range 32 {
		lengths[i] = 5
	}
	if err := d.build(lengths[:32]); err != nil {
		panic(err)
	}
	return l, d
}()

// deflate is the state of one stream, and the room for its codes.
type deflate struct {
	in       *inflater
	window   uint64 // bits that were read
	have     uint   // how many of them count
	out      []byte
	done     int // of out
	literals huffman
	distance huffman
	lengths  [maxLiterals + maxDistances + 2]uint8
}

// expand fills out with the stream that in stands before, which must give exactly that many bytes.
func (d *deflate) expand(in *inflater, out []byte) error {
	d.in, d.out, d.done, d.window, d.have = in, out, 0, 0, 0
	defer func() { d.in, d.out = nil, nil }()
	for last := false; !last; {
		head, err := d.bits(3)
		if err != nil {
			return err
		}
		last = head&1 != 0
		switch head >> 1 {
		case 0:
			err = d.stored()
		case 1:
			err = d.block(&fixedLiterals, &fixedDistances)
		case 2:
			if err = d.readCodes(); err == nil {
				err = d.block(&d.literals, &d.distance)
			}
		default:
			err = errStream
		}
		if err != nil {
			return err
		}
	}
	if d.done < len(out) {
		return fmt.Errorf("%w: %d bytes, not its %d", ErrCorrupt, d.done, len(out))
	}
	return nil
}

// fill has at least 56 bits in the window, as far as there are any.
func (d *deflate) fill() error {
	if rest := d.in.rest; len(rest) >= 8 {
		d.window |= binary.LittleEndian.Uint64(rest) << d.have
		d.in.rest = rest[(63-d.have)>>3:]
		d.have |= 56
		return nil
	}
	for d.have <= 56 {
		c, err := d.in.ReadByte()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		d.window |= uint64(c) << d.have
		d.have += 8
	}
	return nil
}

var errStreamEnds = fmt.Errorf("%w: its compressed bytes end early", ErrCorrupt)

// take drops n bits of the window.
func (d *deflate) take(n uint) error {
	if n > d.have {
		return errStreamEnds
	}
	d.window >>= n
	d.have -= n
	return nil
}

// bits reads up to 16 bits.
func (d *deflate) bits(n uint) (int, error) {
	if d.have < n {
		if err := d.fill(); err != nil {
			return 0, err
		}
	}
	v := int(d.window & (1<<n - 1))
	return v, d.take(n)
}

// stored copies a block that is not compressed.
func (d *deflate) stored() error {
	if err := d.take(d.have & 7); err != nil {
		return err
	}
	size, err := d.bits(16)
	if err != nil {
		return err
	}
	inverse, err := d.bits(16)
	if err != nil {
		return err
	}
	if size != ^inverse&0xffff {
		return errStream
	}
	if size > len(d.out)-d.done {
		return d.tooLong()
	}
	to := d.out[d.done : d.done+size]
	d.done += size
	for d.have > 0 && len(to) > 0 {
		to[0], to = byte(d.window), to[1:]
		if err := d.take(8); err != nil {
			return err
		}
	}
	if len(to) == 0 {
		return nil
	}
	d.window = 0 // bits of bytes that are copied now may stand above those that count
	if _, err := io.ReadFull(d.in, to); err != nil {
		return streamError(err)
	}
	return nil
}

func (d *deflate) tooLong() error {
	return fmt.Errorf("%w: more than its %d bytes", ErrCorrupt, len(d.out))
}

// codeOrder is in what order the lengths of the codes for code lengths stand.
var codeOrder = [...]uint8{16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15}

// readCodes reads the two codes of a dynamic block, section 3.2.7.
func (d *deflate) readCodes() error {
	head, err := d.bits(14)
	if err != nil {
		return err
	}
	literals, distances, codes := head&31+257, head>>5&31+1, head>>10+4
	if literals > maxLiterals || distances > maxDistances {
		return errStream
	}
	lengths := d.lengths[:len(codeOrder)]
	clear(lengths)
	for _, i := range codeOrder[:codes] {
		n, err := d.bits(3)
		if err != nil {
			return err
		}
		lengths[i] = uint8(n)
	}
	if err := d.literals.build(lengths); err != nil {
		return err
	}
	lengths = d.lengths[:literals+distances]
	if err := d.readLengths(lengths); err != nil {
		return err
	}
	if err := d.literals.build(lengths[:literals]); err != nil {
		return err
	}
	return d.distance.build(lengths[literals:])
}

// readLengths reads the lengths of codes, which are themselves coded, by d.literals.
func (d *deflate) readLengths(lengths []uint8) error {
	for i := 0; i < len(lengths); {
		if d.have < 32 {
			if err := d.fill(); err != nil {
				return err
			}
		}
		symbol, err := d.symbol(&d.literals)
		if err != nil {
			return err
		}
		var repeated uint8
		var times int
		switch symbol {
		default:
			lengths[i] = uint8(symbol)
			i++
			continue
		case 16:
			if i == 0 {
				return errStream
			}
			repeated = lengths[i-1]
			times, err = d.bits(2)
			times += 3
		case 17:
			times, err = d.bits(3)
			times += 3
		case 18:
			times, err = d.bits(7)
			times += 11
		}
		if err != nil {
			return err
		}
		if times > len(lengths)-i {
			return errStream
		}
		for ; times > 0; times-- {
			lengths[i] = repeated
			i++
		}
	}
	return nil
}

// symbol decodes the next symbol, of which all bits that there are must be in the window.
func (d *deflate) symbol(h *huffman) (int, error) {
	if e := h.table[d.window&h.mask]; e != 0 {
		return int(e >> 4), d.take(uint(e & 15))
	}
	symbol, n := h.long(d.window)
	if n == 0 {
		return 0, errStream
	}
	return symbol, d.take(n)
}

// Lengths and distances begin at these, and have so many bits more, section 3.2.5.
var (
	lengthBase   = [...]uint16{3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258}
	lengthMore   = [...]uint8{0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0}
	distanceBase = [maxDistances]uint16{1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257, 385, 513, 769, 1025, 1537, 2049, 3073,
		4097, 6145, 8193, 12289, 16385, 24577}
	distanceMore = [maxDistances]uint8{0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13}
)

// block decodes a compressed block to its end. One fill is enough for a length and its distance: 15+5+15+13 bits.
func (d *deflate) block(literals, distances *huffman) error {
	for {
		d.run(literals)
		if d.have < 48 {
			if err := d.fill(); err != nil {
				return err
			}
		}
		symbol, err := d.symbol(literals)
		switch {
		case err != nil:
			return err
		case symbol < endOfBlock:
			if d.done == len(d.out) {
				return d.tooLong()
			}
			d.out[d.done] = byte(symbol)
			d.done++
		case symbol == endOfBlock:
			return nil
		case symbol >= maxLiterals:
			return errStream
		default:
			if err := d.match(symbol-endOfBlock-1, distances); err != nil {
				return err
			}
		}
	}
}

// run decodes the literals that come next, as long as nothing needs care: codes are in the table, and there is room
// and input.
func (d *deflate) run(literals *huffman) {
	window, have, out, rest := d.window, d.have, d.out[d.done:], d.in.rest
	n := 0
	for ; n < len(out); n++ {
		if have < 48 {
			if len(rest) < 8 {
				break
			}
			window |= binary.LittleEndian.Uint64(rest) << have
			rest = rest[(63-have)>>3:]
			have |= 56
		}
		e := literals.table[window&literals.mask&(1<<tableBits-1)]
		if e>>4 >= endOfBlock || e == 0 {
			break
		}
		out[n] = byte(e >> 4)
		window >>= e & 15
		have -= uint(e & 15)
	}
	d.window, d.have, d.in.rest = window, have, rest
	d.done += n
}

// match repeats what was made before.
func (d *deflate) match(symbol int, distances *huffman) error {
	more := uint(lengthMore[symbol])
	length := int(lengthBase[symbol]) + int(d.window&(1<<more-1))
	if err := d.take(more); err != nil {
		return err
	}
	symbol, err := d.symbol(distances)
	if err != nil {
		return err
	}
	if symbol >= maxDistances {
		return errStream
	}
	more = uint(distanceMore[symbol])
	back := int(distanceBase[symbol]) + int(d.window&(1<<more-1))
	if err := d.take(more); err != nil {
		return err
	}
	switch {
	case back > d.done:
		return errStream
	case length > len(d.out)-d.done:
		return d.tooLong()
	}
	to := d.out[d.done : d.done+length]
	from := d.out[d.done-back : d.done]
	d.done += length
	for len(to) > 0 { // what is copied may be longer than the distance: then it repeats
		n := copy(to, from)
		to = to[n:]
	}
	return nil
}
