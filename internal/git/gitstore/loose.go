package gitstore

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strconv"
)

// maxLooseHead is the longest head of a loose object: type, space, size, NUL.
const maxLooseHead = 32

func loosePath(objects string, id ID) string {
	text := id.String()
	return filepath.Join(objects, text[:2], text[2:])
}

// readLoose reads a loose object of at most limit bytes. It is not verified.
func readLoose(objects string, id ID, limit int64) (t Type, data []byte, err error) {
	err = inflateLoose(objects, id, func(r *inflater) error {
		t, data, err = r.loose(limit)
		return err
	})
	return t, data, err
}

// looseType returns the type of a loose object.
func looseType(objects string, id ID) (t Type, err error) {
	err = inflateLoose(objects, id, func(r *inflater) error {
		t, _, _, err = r.looseHead()
		return err
	})
	return t, err
}

func inflateLoose(objects string, id ID, read func(*inflater) error) error {
	f, err := open(loosePath(objects, id))
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	r := inflate(f, 0, info.Size())
	defer r.release()
	if err := r.zlib(); err != nil {
		return err
	}
	return read(r)
}

func (r *inflater) loose(limit int64) (Type, []byte, error) {
	t, size, start, err := r.looseHead()
	if err != nil {
		return 0, nil, err
	}
	if err := within(size, limit); err != nil {
		return 0, nil, err
	}
	if int64(len(start)) > size {
		return 0, nil, fmt.Errorf("%w: more than its %d bytes", ErrCorrupt, size)
	}
	data := make([]byte, size)
	copied := copy(data, start)
	return t, data, r.exactly(data[copied:])
}

// looseHead reads the head of a loose object. The start of its bytes comes with it.
func (r *inflater) looseHead() (t Type, size int64, start []byte, err error) {
	head := make([]byte, maxLooseHead)
	n, err := r.atMost(head)
	if err != nil {
		return 0, 0, nil, err
	}
	t, size, end, err := parseLooseHead(head[:n])
	return t, size, head[end:n], err
}

func parseLooseHead(head []byte) (t Type, size int64, end int, err error) {
	name, rest, _ := bytes.Cut(head, []byte{' '})
	digits, _, ok := bytes.Cut(rest, []byte{0})
	for _, known := range []Type{Commit, Tree, Blob, Tag} {
		if string(name) == known.String() {
			t = known
		}
	}
	size, err = strconv.ParseInt(string(digits), 10, 64)
	if t == 0 || !ok || err != nil || strconv.FormatInt(size, 10) != string(digits) || size < 0 {
		return 0, 0, 0, fmt.Errorf("%w: its head is %q; expected a type and a size", ErrCorrupt, head)
	}
	return t, size, len(name) + 1 + len(digits) + 1, nil
}
