package gitobject

import (
	"cmp"
	"fmt"
)

// DeltaSizes reads the head of a delta: size of the base, size of the result, and what follows.
func DeltaSizes(delta []byte) (base, result int64, rest []byte, err error) {
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

// Instructions goes through those of a delta, gitformat-pack(5).
type Instructions struct {
	rest       []byte
	base, size int64 // sizes of the base and of the result
	made       int64
}

// InstructionsFor begins a delta for a base of that size. The caller caps the size of the result.
func InstructionsFor(base int64, delta []byte) (*Instructions, error) {
	said, size, rest, err := DeltaSizes(delta)
	if err != nil {
		return nil, err
	}
	if said != base {
		return nil, fmt.Errorf("%w: delta for a base of %d bytes, which has %d", ErrCorrupt, said, base)
	}
	return &Instructions{rest: rest, base: base, size: size}, nil
}

// Next returns the next part of the result: bytes of the delta, or n bytes of the base at from. After the last part, n
// is 0.
func (d *Instructions) Next() (inserted []byte, from, n int64, err error) {
	if len(d.rest) == 0 {
		if d.made != d.size {
			err = fmt.Errorf("%w: a delta makes %d bytes, not its %d", ErrCorrupt, d.made, d.size)
		}
		return nil, 0, 0, err
	}
	op := d.rest[0]
	d.rest = d.rest[1:]
	if op&0x80 == 0 {
		n = int64(op)
		if n == 0 || n > int64(len(d.rest)) {
			return nil, 0, 0, fmt.Errorf("%w: a delta inserts %d bytes of %d", ErrCorrupt, n, len(d.rest))
		}
		inserted, d.rest = d.rest[:n], d.rest[n:]
	} else {
		if from, n, d.rest, err = copyOperands(op, d.rest); err != nil {
			return nil, 0, 0, err
		}
		if from > d.base || n > d.base-from {
			return nil, 0, 0, fmt.Errorf("%w: a delta copies %d bytes at %d of %d", ErrCorrupt, n, from, d.base)
		}
	}
	if n > d.size-d.made {
		return nil, 0, 0, fmt.Errorf("%w: a delta makes more than its %d bytes", ErrCorrupt, d.size)
	}
	d.made += n
	return inserted, from, n, nil
}

// ApplyDelta makes an object of its base. The caller caps the declared size of the result.
func ApplyDelta(base, delta []byte) ([]byte, error) {
	d, err := InstructionsFor(int64(len(base)), delta)
	if err != nil {
		return nil, err
	}
	// A tree of a history mostly has the same bytes as its base at the same places. Starting with a copy of the base
	// avoids clearing the memory and copying what is in place already.
	var out []byte
	begun := d.size <= d.base
	if begun {
		out = append(out, base[:d.size]...)[:0:d.size]
	} else {
		out = make([]byte, 0, d.size)
	}
	for {
		inserted, from, n, err := d.Next()
		switch {
		case err != nil:
			return nil, err
		case n == 0:
			return out, nil
		case inserted != nil:
			out = append(out, inserted...)
		case begun && from == int64(len(out)):
			out = out[:int64(len(out))+n]
		default:
			out = append(out, base[from:from+n]...)
		}
	}
}

// copyOperands returns the offset and size of a copy instruction, which only has the bytes that are not 0.
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
	return from, cmp.Or(n, 0x10000), ops, nil
}
