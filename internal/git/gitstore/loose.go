package gitstore

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strconv"

	"github.com/openagentprotocol-OAP/oap-gate/internal/git/gitobject"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict/capped"
)

// maxLooseHead is the longest head of a loose object: type, space, size, NUL.
const maxLooseHead = 32

func loosePath(objects string, id gitobject.ID) string {
	text := id.String()
	return filepath.Join(objects, text[:2], text[2:])
}

// readLoose reads a loose object of at most limit bytes. It is not verified.
func readLoose(objects string, id gitobject.ID, limit int64) (t gitobject.Type, data []byte, err error) {
	err = inflateLoose(objects, id, func(r *gitobject.Inflater) error {
		t, data, err = looseObject(r, limit)
		return err
	})
	return t, data, err
}

// looseType returns the type of a loose object.
func looseType(objects string, id gitobject.ID) (t gitobject.Type, err error) {
	err = inflateLoose(objects, id, func(r *gitobject.Inflater) error {
		t, _, _, err = looseHead(r)
		return err
	})
	return t, err
}

func inflateLoose(objects string, id gitobject.ID, read func(*gitobject.Inflater) error) error {
	f, err := capped.Open(loosePath(objects, id))
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	r := gitobject.Inflate(f, 0, info.Size())
	defer r.Release()
	if err := r.Zlib(); err != nil {
		return err
	}
	return read(r)
}

func looseObject(r *gitobject.Inflater, limit int64) (gitobject.Type, []byte, error) {
	t, size, start, err := looseHead(r)
	if err != nil {
		return 0, nil, err
	}
	if err := gitobject.Within(size, limit); err != nil {
		return 0, nil, err
	}
	if int64(len(start)) > size {
		return 0, nil, fmt.Errorf("%w: more than its %d bytes", gitobject.ErrCorrupt, size)
	}
	data := make([]byte, size)
	copied := copy(data, start)
	return t, data, r.Exactly(data[copied:])
}

// looseHead reads the head of a loose object. The start of its bytes comes with it.
func looseHead(r *gitobject.Inflater) (t gitobject.Type, size int64, start []byte, err error) {
	head := make([]byte, maxLooseHead)
	n, err := r.AtMost(head)
	if err != nil {
		return 0, 0, nil, err
	}
	t, size, end, err := parseLooseHead(head[:n])
	return t, size, head[end:n], err
}

func parseLooseHead(head []byte) (t gitobject.Type, size int64, end int, err error) {
	name, rest, _ := bytes.Cut(head, []byte{' '})
	digits, _, ok := bytes.Cut(rest, []byte{0})
	for _, known := range []gitobject.Type{gitobject.Commit, gitobject.Tree, gitobject.Blob, gitobject.Tag} {
		if string(name) == known.String() {
			t = known
		}
	}
	size, err = strconv.ParseInt(string(digits), 10, 64)
	if t == 0 || !ok || err != nil || strconv.FormatInt(size, 10) != string(digits) || size < 0 {
		return 0, 0, 0, fmt.Errorf("%w: its head is %q; expected a type and a size", gitobject.ErrCorrupt, head)
	}
	return t, size, len(name) + 1 + len(digits) + 1, nil
}
