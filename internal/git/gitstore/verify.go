package gitstore

import (
	"bytes"
	"compress/zlib"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/openagentprotocol-OAP/oap-gate/internal/git/gitobject"
)

// ReadIndex returns the ids of the objects that a pack index names, sorted, and the checksum of its pack.
func ReadIndex(path string, idSize int) (ids []gitobject.ID, pack []byte, err error) {
	x, err := readIndex(path, idSize)
	if err != nil {
		return nil, nil, err
	}
	ids = make([]gitobject.ID, x.count())
	for i := range ids {
		ids[i] = gitobject.BytesID(x.name(i))
	}
	return ids, x.pack, nil
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

// Has reports whether the clone has an object of that id, without reading it.
func (s *Store) Has(id gitobject.ID) bool {
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
func LooseText(id gitobject.ID, kind gitobject.Type, data []byte) (string, []byte) {
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
func CheckLoose(objects string, id gitobject.ID) error {
	kind, data, err := readLoose(objects, id, maxObject)
	if err == nil {
		err = gitobject.Verify(id, kind, data)
	}
	return err
}
