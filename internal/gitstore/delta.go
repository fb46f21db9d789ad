package gitstore

import "fmt"

// deltaSizes reads the head of a delta: size of the base, size of the result, and what follows.
func deltaSizes(delta []byte) (base, result int64, rest []byte, err error) {
	if base, delta, err = deltaSize(delta); err != nil {
		return 0, 0, nil, err
	}
	result, rest, err = deltaSize(delta)
	return base, result, rest, err
}

func deltaSize(delta []byte) (int64, []byte, error) {
	var n int64
	for i := range delta {
		if i > 8 {
			break
		}
		n |= int64(delta[i]&0x7f) << (7 * i)
		if delta[i] < 0x80 {
			return n, delta[i+1:], nil
		}
	}
	return 0, nil, fmt.Errorf("%w: a size in a delta does not end", ErrCorrupt)
}

// applyDelta makes an object of its base, gitformat-pack(5). The caller caps the declared size of the result.
func applyDelta(base, delta []byte) ([]byte, error) {
	baseSize, size, ops, err := deltaSizes(delta)
	if err != nil {
		return nil, err
	}
	if baseSize != int64(len(base)) {
		return nil, fmt.Errorf("%w: delta for a base of %d bytes, which has %d", ErrCorrupt, baseSize, len(base))
	}
	// A tree of a history mostly has what its base has, where it has it. To begin as a copy of the base spares clearing
	// the room, and copying what stands in place already.
	var out []byte
	begun := size <= baseSize
	if begun {
		out = append(out, base[:size]...)[:0:size]
	} else {
		out = make([]byte, 0, size)
	}
	for len(ops) > 0 {
		op := ops[0]
		ops = ops[1:]
		var piece []byte
		inPlace := false
		if op&0x80 == 0 {
			n := int(op)
			if n == 0 || n > len(ops) {
				return nil, fmt.Errorf("%w: a delta inserts %d bytes of %d", ErrCorrupt, n, len(ops))
			}
			piece, ops = ops[:n], ops[n:]
		} else {
			var from, n int64
			if from, n, ops, err = copyOperands(op, ops); err != nil {
				return nil, err
			}
			if from > baseSize || n > baseSize-from {
				return nil, fmt.Errorf("%w: a delta copies %d bytes at %d of %d", ErrCorrupt, n, from, len(base))
			}
			piece = base[from : from+n]
			inPlace = begun && from == int64(len(out))
		}
		if len(piece) > cap(out)-len(out) {
			return nil, fmt.Errorf("%w: a delta makes more than its %d bytes", ErrCorrupt, size)
		}
		if inPlace {
			out = out[:len(out)+len(piece)]
		} else {
			out = append(out, piece...)
		}
	}
	if int64(len(out)) != size {
		return nil, fmt.Errorf("%w: a delta makes %d bytes, not its %d", ErrCorrupt, len(out), size)
	}
	return out, nil
}

// copyOperands are the offset and size of a copy instruction, of which only the bytes that are not 0 are there.
func copyOperands(op byte, ops []byte) (from, n int64, rest []byte, err error) {
	for i := range 7 {
		if op&(1<<i) == 0 {
			continue
		}
		if len(ops) == 0 {
			return 0, 0, nil, fmt.Errorf("%w: a delta ends inside an instruction", ErrCorrupt)
		}
		if i < 4 {
			from |= int64(ops[0]) << (8 * i)
		} else {
			n |= int64(ops[0]) << (8 * (i - 4))
		}
		ops = ops[1:]
	}
	if n == 0 {
		n = 0x10000
	}
	return from, n, ops, nil
}
