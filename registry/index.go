package registry

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/git/gitstore"
)

// indexEntry is one path that Git tracks in the work tree.
type indexEntry struct {
	path     string
	entry    Entry
	stage    int  // not 0 during a merge conflict
	keep     bool // assume-unchanged: the file on disk is not read
	sparse   bool // skip-worktree: the file on disk is not read, except in a sparse checkout
	toAdd    bool // intent-to-add: it has no content yet
	size     uint32
	seconds  uint32 // modification time
	nanosecs uint32
	changed  [2]uint32 // status change time: seconds, nanoseconds
	file     [3]uint32 // inode, owner, group
}

// Flags of an index entry, gitformat-index(5).
const (
	flagAssumeValid  = 1 << 15
	flagExtended     = 1 << 14
	flagStage        = 3 << 12
	flagNameLength   = 0xfff
	flagSkipWorktree = 1 << 14 // an extended flag
	flagIntentToAdd  = 1 << 13 // an extended flag
	flagKnown2       = 3 << 13 // the extended flags skip-worktree and intent-to-add
)

var errIndex = errors.New("malformed index")

// parseIndex reads an index of version 2, 3 or 4, with ids of idSize bytes. It skips optional extensions. The only
// required extension that it knows is sparse directories ("sdir"). Paths are strictly increasing.
func parseIndex(data []byte, idSize int) ([]indexEntry, error) {
	if len(data) < 12+idSize || string(data[:4]) != "DIRC" {
		return nil, fmt.Errorf("%w: no index header", errIndex)
	}
	p := indexParser{idSize: idSize, version: binary.BigEndian.Uint32(data[4:]), rest: data[12 : len(data)-idSize]}
	if p.version < 2 || p.version > 4 {
		return nil, fmt.Errorf("%w: version %d; expected 2, 3 or 4", errIndex, p.version)
	}
	if err := checkSum(data, idSize); err != nil {
		return nil, err
	}
	var entries []indexEntry
	for range binary.BigEndian.Uint32(data[8:]) {
		e, err := p.entry()
		if err != nil {
			return nil, fmt.Errorf("%w: entry %d: %w", errIndex, len(entries), err)
		}
		entries = append(entries, e)
	}
	if err := p.extensions(); err != nil { // before the order: the entries of a split index are some of its paths
		return nil, err
	}
	for n := 1; n < len(entries); n++ {
		before, e := &entries[n-1], &entries[n]
		if before.path > e.path || before.path == e.path && before.stage >= e.stage {
			return nil, fmt.Errorf("%w: entry %d: paths are not increasing", errIndex, n)
		}
	}
	return entries, nil
}

type indexParser struct {
	rest    []byte
	idSize  int
	version uint32
	last    string // path before, which version 4 continues
}

// checkSum checks the hash at the end of an index, which is all zero under index.skipHash.
func checkSum(data []byte, idSize int) error {
	text, want := data[:len(data)-idSize], data[len(data)-idSize:]
	if bytes.Equal(want, make([]byte, idSize)) {
		return nil
	}
	h := gitstore.NewHash(idSize)
	h.Write(text)
	if !bytes.Equal(h.Sum(nil), want) {
		return fmt.Errorf("%w: its checksum does not match", errIndex)
	}
	return nil
}

var errCut = errors.New("cut short")

func (p *indexParser) take(n int) ([]byte, error) {
	if n > len(p.rest) {
		return nil, errCut
	}
	b := p.rest[:n]
	p.rest = p.rest[n:]
	return b, nil
}

func (p *indexParser) entry() (indexEntry, error) {
	start := len(p.rest)
	fixed, err := p.take(40 + p.idSize + 2)
	if err != nil {
		return indexEntry{}, err
	}
	flags := binary.BigEndian.Uint16(fixed[40+p.idSize:])
	e := indexEntry{
		seconds:  binary.BigEndian.Uint32(fixed[8:]),
		nanosecs: binary.BigEndian.Uint32(fixed[12:]),
		changed:  [2]uint32{binary.BigEndian.Uint32(fixed), binary.BigEndian.Uint32(fixed[4:])},
		file: [3]uint32{binary.BigEndian.Uint32(fixed[20:]), binary.BigEndian.Uint32(fixed[28:]),
			binary.BigEndian.Uint32(fixed[32:])},
		size:  binary.BigEndian.Uint32(fixed[36:]),
		entry: Entry{Mode: Mode(binary.BigEndian.Uint32(fixed[24:])), ID: gitstore.BytesID(fixed[40 : 40+p.idSize])},
		stage: int(flags&flagStage) >> 12,
		keep:  flags&flagAssumeValid != 0,
	}
	if flags&flagExtended != 0 {
		more, err := p.take(2)
		if err != nil {
			return e, err
		}
		extended := binary.BigEndian.Uint16(more)
		if p.version < 3 || extended&^flagKnown2 != 0 {
			return e, fmt.Errorf("unknown flags %#x", extended)
		}
		e.sparse = extended&flagSkipWorktree != 0
		e.toAdd = extended&flagIntentToAdd != 0
	}
	if p.version == 4 {
		err = p.suffix(&e)
	} else {
		err = p.padded(&e, start)
	}
	p.last = e.path
	if err == nil && int(flags&flagNameLength) != min(len(e.path), flagNameLength) {
		err = fmt.Errorf("path %q is not of the length that its flags say", e.path)
	}
	return e, err
}

// padded reads a path that ends in 1 to 8 NUL bytes, up to a multiple of eight of the entry.
func (p *indexParser) padded(e *indexEntry, start int) error {
	n := bytes.IndexByte(p.rest, 0)
	if n < 0 {
		return errCut
	}
	e.path = string(p.rest[:n])
	length := start - len(p.rest) + n
	_, err := p.take(n + 8 - length%8)
	return err
}

// suffix reads a path of version 4: how much of the last path's end to drop, and what follows.
func (p *indexParser) suffix(e *indexEntry) error {
	drop := 0
	for i := 0; ; i++ {
		b, err := p.take(1)
		if err != nil {
			return err
		}
		drop = drop<<7 | int(b[0]&0x7f)
		if b[0]&0x80 == 0 {
			break
		}
		if drop++; drop > len(p.last) {
			return errCut
		}
	}
	n := bytes.IndexByte(p.rest, 0)
	if n < 0 || drop > len(p.last) {
		return errCut
	}
	e.path = p.last[:len(p.last)-drop] + string(p.rest[:n])
	_, err := p.take(n + 1)
	return err
}

// extensions goes over what follows the entries. One whose name begins in lower case must be understood.
func (p *indexParser) extensions() error {
	for len(p.rest) > 0 {
		head, err := p.take(8)
		if err != nil {
			return fmt.Errorf("%w: extension: %w", errIndex, err)
		}
		name := string(head[:4])
		if name == "link" {
			return remedy.Errorf("run `git update-index --no-split-index`",
				"reading index: %w: it is split", gitstore.ErrUnsupported)
		}
		if (name[0] < 'A' || name[0] > 'Z') && name != "sdir" {
			return fmt.Errorf("%w: unknown extension %q", errIndex, name)
		}
		size := binary.BigEndian.Uint32(head[4:])
		if uint64(size) > uint64(len(p.rest)) {
			return fmt.Errorf("%w: extension %q: %w", errIndex, name, errCut)
		}
		p.rest = p.rest[size:]
	}
	return nil
}

// directory returns the path of e, and reports whether e means a whole directory, as in a sparse index.
func (e *indexEntry) directory() (string, bool) {
	if e.entry.Mode != ModeTree {
		return e.path, false
	}
	return strings.TrimSuffix(e.path, "/"), true
}
