package gitstore

import (
	"bytes"
	"compress/zlib"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// PackFault is what is wrong with one pack.
type PackFault struct {
	Path  string // path of the pack and its index, without .pack and .idx
	Pack  error  // nil: its bytes hash to its trailer
	Index error  // nil: it is whole, and of this pack
}

func (f PackFault) Error() string {
	if f.Pack != nil {
		return filepath.Base(f.Path) + ".pack: " + f.Pack.Error()
	}
	return filepath.Base(f.Path) + ".idx: " + f.Index.Error()
}

// PackFaults reads each pack of an object directory to its end, in the order of names, and returns those whose bytes do
// not hash to their trailer, or whose index is missing, damaged, or of another pack. The error is of reading the
// directory, or the context's.
func PackFaults(ctx context.Context, objects string, idSize int) ([]PackFault, error) {
	entries, err := os.ReadDir(filepath.Join(objects, "pack"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	var faults []PackFault
	for _, e := range entries {
		name := strings.TrimSuffix(strings.TrimSuffix(e.Name(), ".pack"), ".idx")
		if name == e.Name() || !strings.HasPrefix(name, "pack-") || seen[name] {
			continue
		}
		seen[name] = true
		f := PackFault{Path: filepath.Join(objects, "pack", name)}
		var sum []byte
		sum, f.Pack = PackSum(ctx, f.Path+".pack", idSize)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		x, err := readIndex(f.Path+".idx", idSize)
		if err == nil && f.Pack == nil && !bytes.Equal(x.pack, sum) {
			err = fmt.Errorf("%w: the index is of another pack", ErrCorrupt)
		}
		if f.Index = err; f.Pack != nil || f.Index != nil {
			faults = append(faults, f)
		}
	}
	return faults, nil
}

// PackSum returns what the bytes of the pack in a file hash to. The error is ErrCorrupt if the trailer is another.
func PackSum(ctx context.Context, path string, idSize int) ([]byte, error) {
	f, err := open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	end, err := packEnd(f, idSize)
	if err != nil {
		return nil, err
	}
	return packSum(ctx, f, end, idSize)
}

// PackFaults checks the packs of the clone's object directories; see the function of that name.
func (s *Store) PackFaults(ctx context.Context) ([]PackFault, error) {
	var all []PackFault
	for _, dir := range s.dirs {
		faults, err := PackFaults(ctx, dir, s.idSize)
		if err != nil {
			return nil, wrap(err, "reading", dir, "")
		}
		all = append(all, faults...)
	}
	return all, nil
}

// HashAll reads each object of each pack, and the loose ones, and checks that its bytes hash to its id. The error is of
// the first that cannot be read, or the context's.
func (s *Store) HashAll(ctx context.Context) error {
	for _, p := range *s.packs.Load() {
		ids := s.Order(p.index.ids())
		if err := s.Each(ctx, ids, maxObject, func(int, Object) error { return nil }); err != nil {
			return err
		}
	}
	for _, dir := range s.dirs {
		ids, err := LooseIDs(dir, s.idSize)
		if err != nil {
			return wrap(err, "reading", dir, "")
		}
		for _, id := range ids {
			if err := ctx.Err(); err != nil {
				return err
			}
			if _, _, err := s.Read(id, maxObject); err != nil {
				return err
			}
		}
	}
	return nil
}

// ids returns the ids of the index, sorted.
func (x *index) ids() []ID {
	ids := make([]ID, x.count())
	for i := range ids {
		ids[i] = BytesID(x.name(i))
	}
	return ids
}

// PackIDs returns the ids of the objects that an index names.
func PackIDs(path string, idSize int) ([]ID, error) {
	x, err := readIndex(path, idSize)
	if err != nil {
		return nil, err
	}
	return x.ids(), nil
}

// LooseIDs returns the ids of the loose objects of an object directory, by their names.
func LooseIDs(objects string, idSize int) ([]ID, error) {
	var ids []ID
	for i := range 256 {
		entries, err := os.ReadDir(filepath.Join(objects, fmt.Sprintf("%02x", i)))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			if id, err := ParseID(fmt.Sprintf("%02x%s", i, e.Name())); err == nil && id.Size() == idSize {
				ids = append(ids, id)
			}
		}
	}
	return ids, nil
}

// Has reports whether the clone has an object of that id, without reading it.
func (s *Store) Has(id ID) bool {
	for _, p := range *s.packs.Load() {
		if _, ok := p.index.find(id); ok {
			return true
		}
	}
	for _, dir := range s.dirs {
		if _, err := os.Lstat(loosePath(dir, id)); err == nil && id.Size() == s.idSize {
			return true
		}
	}
	return false
}

// LooseText returns an object as a loose file has it, and the path of that file below the objects.
func LooseText(id ID, kind Type, data []byte) (string, []byte) {
	var out bytes.Buffer // which no write to fails
	w := zlib.NewWriter(&out)
	fmt.Fprintf(w, "%s %d\x00", kind, len(data))
	w.Write(data)
	w.Close()
	return loosePath("", id), out.Bytes()
}

// RemoteURL returns the URL of the remote origin by the configuration of a bare clone, whatever else is wrong with it.
func RemoteURL(dir string) (string, error) {
	format, err := readConfig(dir)
	return format.remotes["origin"], err
}

// CheckLoose checks that a loose object hashes to its id.
func CheckLoose(objects string, id ID) error {
	kind, data, err := readLoose(objects, id, maxObject)
	if err == nil {
		err = verify(id, kind, data)
	}
	return err
}
