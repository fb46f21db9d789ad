package gitstore

import (
	"os"

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
