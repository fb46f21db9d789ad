package indexpack

import (
	"bytes"
	"compress/zlib"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/internal/git/gitobject"
	"github.com/openagentprotocol-OAP/oap-gate/internal/git/gitstore"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict/capped"
)

// Fault is what is wrong with one pack.
type Fault struct {
	Path  string // path of the pack and its index, without .pack and .idx
	Pack  error  // nil: its bytes hash to its trailer
	Index error  // nil: it is whole, and of this pack
}

func (f Fault) Error() string {
	if f.Pack != nil {
		return filepath.Base(f.Path) + ".pack: " + f.Pack.Error()
	}
	return filepath.Base(f.Path) + ".idx: " + f.Index.Error()
}

// Faults reads each pack of an object directory to its end, in the order of names, and returns those whose bytes do
// not hash to their trailer, or whose index is missing, damaged, or of another pack. The error is of reading the
// directory, or the context's.
func Faults(ctx context.Context, objects string, idSize int) ([]Fault, error) {
	entries, err := os.ReadDir(filepath.Join(objects, "pack"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	var faults []Fault
	for _, e := range entries {
		name := strings.TrimSuffix(strings.TrimSuffix(e.Name(), ".pack"), ".idx")
		if name == e.Name() || !strings.HasPrefix(name, "pack-") || seen[name] {
			continue
		}
		seen[name] = true
		f := Fault{Path: filepath.Join(objects, "pack", name)}
		var sum []byte
		sum, f.Pack = Sum(ctx, f.Path+".pack", idSize)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		_, of, err := gitstore.ReadIndex(f.Path+".idx", idSize)
		if err == nil && f.Pack == nil && !bytes.Equal(of, sum) {
			err = fmt.Errorf("%w: the index is of another pack", gitobject.ErrCorrupt)
		}
		if f.Index = err; f.Pack != nil || f.Index != nil {
			faults = append(faults, f)
		}
	}
	return faults, nil
}

// Sum returns what the bytes of the pack in a file hash to. The error is ErrCorrupt if the trailer is another.
func Sum(ctx context.Context, path string, idSize int) ([]byte, error) {
	f, err := capped.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	end, err := gitobject.PackEnd(f, idSize)
	if err != nil {
		return nil, err
	}
	return sum(ctx, f, end, idSize)
}

// sum is Sum of an open file, whose trailer begins at end.
func sum(ctx context.Context, f *os.File, end int64, idSize int) ([]byte, error) {
	h := gitstore.NewHash(idSize)
	entries := readerOf{ctx, io.NewSectionReader(f, 0, end)}
	if _, err := io.CopyBuffer(h, entries, make([]byte, 256<<10)); err != nil {
		return nil, err
	}
	tail := make([]byte, idSize)
	if _, err := f.ReadAt(tail, end); err != nil {
		return nil, err
	}
	sum := h.Sum(nil)
	if !bytes.Equal(sum, tail) {
		return nil, fmt.Errorf("%w: its bytes do not hash to its trailer", gitobject.ErrCorrupt)
	}
	return sum, nil
}

// readerOf is a reader that ends with a context.
type readerOf struct {
	ctx context.Context
	io.Reader
}

func (r readerOf) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.Reader.Read(p)
}

// HashAll reads each object of a clone, packed and loose, and checks that its bytes hash to its id. The error is of the
// first that cannot be read, or the context's.
func HashAll(ctx context.Context, s *gitstore.Store) error {
	for _, dir := range s.ObjectDirs() {
		packs, err := filepath.Glob(filepath.Join(dir, "pack", "pack-*.idx"))
		if err != nil {
			return err
		}
		for _, file := range packs {
			ids, _, err := gitstore.ReadIndex(file, s.IDSize())
			if errors.Is(err, fs.ErrNotExist) {
				continue // git repacked meanwhile
			}
			if err != nil {
				return err
			}
			if err := s.Each(ctx, s.Order(ids), math.MaxInt32, func(int,
				gitstore.Object) error {
				return nil
			}); err != nil {
				return err
			}
		}
		ids, err := LooseIDs(dir, s.IDSize())
		if err != nil {
			return &gitstore.Error{Op: "reading", Object: dir, Err: err}
		}
		for _, id := range ids {
			if err := ctx.Err(); err != nil {
				return err
			}
			if _, _, err := s.Read(id, math.MaxInt32); err != nil {
				return err
			}
		}
	}
	return nil
}

// LooseIDs returns the ids of the loose objects of an object directory, by their names.
func LooseIDs(objects string, idSize int) ([]gitobject.ID, error) {
	var ids []gitobject.ID
	for i := range 256 {
		entries, err := os.ReadDir(filepath.Join(objects, fmt.Sprintf("%02x", i)))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			if id, err := gitobject.ParseID(fmt.Sprintf("%02x%s", i, e.Name())); err == nil && id.Size() == idSize {
				ids = append(ids, id)
			}
		}
	}
	return ids, nil
}

// LooseText returns an object as a loose file has it, and the path of that file below the objects.
func LooseText(id gitobject.ID, kind gitobject.Type, data []byte) (string, []byte) {
	var out bytes.Buffer // which no write to fails
	w := zlib.NewWriter(&out)
	fmt.Fprintf(w, "%s %d\x00", kind, len(data))
	w.Write(data)
	w.Close()
	name := id.String()
	return filepath.Join(name[:2], name[2:]), out.Bytes()
}
