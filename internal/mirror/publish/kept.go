package publish

import (
	"bytes"
	"io"
	"path/filepath"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/openagentprotocol-OAP/oap-gate/internal/mirror/prove"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/proof"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict/capped"
)

// The file mapFile holds the map of an entry, usually of the last one, so that a run reads only the commits after it.
// It needs no signature: it counts if it has the root that the entry names.
const (
	mapFile  = "map"
	mapTitle = "oap-registry-map v1\n"
	maxMap   = 1 << 28 // bytes, of four million names
)

// readMap returns the map of the newest entry that has its root, and how many entries there are up to it; nil if the
// file is missing or damaged.
func (l *Log) readMap(known []proof.Entry) (*proof.Map, int) {
	data, err := capped.ReadFile(filepath.Join(l.Dir, mapFile), maxMap)
	data, titled := bytes.CutPrefix(data, []byte(mapTitle))
	if err != nil || !titled || len(data)%(2*tlog.HashSize) != 0 {
		return nil, 0
	}
	members := make([]proof.Member, 0, len(data)/(2*tlog.HashSize))
	for ; len(data) > 0; data = data[2*tlog.HashSize:] {
		members = append(members, proof.Member{Key: proof.Hash(data[:tlog.HashSize]),
			Value: proof.Hash(data[tlog.HashSize : 2*tlog.HashSize])})
	}
	m := proof.NewMap()
	m.Add(members...)
	root := m.Root()
	for size := len(known); size > 0; size-- {
		if known[size-1].Files == root {
			return m, size
		}
	}
	return nil, 0
}

// writeMap writes the map of the last entry, unless the file has it.
func (l *Log) writeMap(h *prove.History) error {
	if l.restored != nil && h.Last.Files == *l.restored {
		return nil
	}
	return l.replace(filepath.Join(l.Dir, mapFile), func(w io.Writer) error {
		data := []byte(mapTitle)
		for _, members := range h.Map.Members() {
			for _, e := range members {
				data = append(append(data, e.Key[:]...), e.Value[:]...)
			}
			if len(data) > 1<<16 {
				if _, err := w.Write(data); err != nil {
					return err
				}
				data = data[:0]
			}
		}
		_, err := w.Write(data)
		return err
	})
}
