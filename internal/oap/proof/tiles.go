package proof

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/mod/sumdb/tlog"
)

const (
	tileHeight   = 8 // of C2SP tlog-tiles: a full tile has 256 hashes, or entries
	tileWidth    = 1 << tileHeight
	maxEntryTile = tileWidth * 512 // an entry has fewer than 300 bytes
)

// TilePath returns the path by C2SP, without the height, of a tile in which entries have the level -1.
func TilePath(t tlog.Tile) string {
	path := strings.TrimPrefix(t.Path(), fmt.Sprintf("tile/%d/", t.H))
	if entries, ok := strings.CutPrefix(path, "data/"); ok {
		path = "entries/" + entries
	}
	return "tile/" + path
}

// Tiles returns the tiles of hashes, and those of entries, that a log of a size has and one of the size old does not.
func Tiles(old, size int64) (hashes, entries []tlog.Tile) {
	hashes = tlog.NewTiles(tileHeight, old, size)
	for _, t := range hashes {
		if t.L == 0 {
			t.L = -1
			entries = append(entries, t)
		}
	}
	return hashes, entries
}

// AppendEntry adds an entry to the bytes of a tile of entries.
func AppendEntry(tile, entry []byte) []byte {
	return append(binary.BigEndian.AppendUint16(tile, uint16(len(entry))), entry...)
}

var errTile = errors.New("the tiles of entries are missing or damaged")

// ReadEntries reads the entries of a log from its tiles, and requires them to have the root of a log checkpoint. The
// function read returns the file of a tile, by its path and the size of the largest.
func ReadEntries(c Checkpoint, read func(path string, most int64) ([]byte, error)) ([]Entry, error) {
	var all []Entry
	var log Log
	for n := int64(0); n*tileWidth < c.Size; n++ {
		width := int(min(tileWidth, c.Size-n*tileWidth))
		data, err := read(TilePath(tlog.Tile{H: tileHeight, L: -1, N: n, W: width}), maxEntryTile)
		if err != nil && width < tileWidth { // a full tile replaces a partial one
			data, err = read(TilePath(tlog.Tile{H: tileHeight, L: -1, N: n, W: tileWidth}), maxEntryTile)
		}
		if err != nil {
			return nil, fmt.Errorf("%w: %w", errTile, err)
		}
		for range width {
			if len(data) < 2 || len(data)-2 < int(binary.BigEndian.Uint16(data)) {
				return nil, errTile
			}
			end := 2 + int(binary.BigEndian.Uint16(data))
			e, err := ParseEntry(data[2:end])
			if err == nil {
				err = log.Add(data[2:end])
			}
			if err != nil {
				return nil, fmt.Errorf("%w: %w", errTile, err)
			}
			all, data = append(all, e), data[end:]
		}
	}
	if root, err := log.Root(c.Size); err != nil || root != c.Root {
		return nil, errTile
	}
	return all, nil
}
