package gitstore

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/internal/git/gitfsck"
	"github.com/openagentprotocol-OAP/oap-gate/internal/git/gitobject"
)

// The modes of tree entries that Git writes, and all that DecodeTree accepts.
const (
	ModeTree       uint32 = 0o40000
	ModeFile       uint32 = 0o100644
	ModeExecutable uint32 = 0o100755
	ModeSymlink    uint32 = 0o120000
	ModeSubmodule  uint32 = 0o160000
)

// TreeEntry is one entry of a tree. Name is part of the tree's bytes.
type TreeEntry struct {
	Mode uint32
	Name []byte
	ID   gitobject.ID
}

// TreeReader goes through the entries of a tree:
//
//	entries := gitstore.DecodeTree(data, 20)
//	for entries.Next() {
//		use(entries.Entry)
//	}
//	if err := entries.Err(); err != nil { ... }
//
// A tree counts only when all of it was gone through and Err is nil.
type TreeReader struct {
	Entry TreeEntry
	Start int // offset of Entry in the tree

	data   []byte
	next   int // offset of the entry after Entry
	idSize int
	files  [][]byte // names that a directory still to come could have too
	err    error
}

// DecodeTree reads the bytes of a tree object whose ids have idSize bytes. It accepts one spelling of a tree, that
// which Git writes: modes 40000, 100644, 100755, 120000, 160000; names that rise strictly in Git's order, in which
// a directory's ends in a slash, none of them twice, as file and directory neither; no name that holds a slash,
// NUL or other control character, or that is ".", "..", or ".git" to any file system: in any letter case, with code
// points that HFS+ ignores, and on NTFS with dots and spaces at its end, a stream's name, as git~1, or behind a
// backslash. Errors are ErrMalformed.
func DecodeTree(data []byte, idSize int) *TreeReader {
	return &TreeReader{data: data, idSize: idSize}
}

// Err returns why Next ended; nil at the end of the tree.
func (r *TreeReader) Err() error { return r.err }

// Next reads the next entry.
func (r *TreeReader) Next() bool {
	if r.err != nil || r.next == len(r.data) {
		return false
	}
	e, size, err := parseTreeEntry(r.data[r.next:], r.idSize)
	if err == nil {
		err = r.ordered(e)
	}
	if err != nil {
		r.err = &Error{Op: "decoding tree", Err: fmt.Errorf("%w: entry at byte %d: %w", ErrMalformed, r.next, err)}
		return false
	}
	r.Entry, r.Start = e, r.next
	r.next += size
	return true
}

func parseTreeEntry(data []byte, idSize int) (TreeEntry, int, error) {
	var e TreeEntry
	space := bytes.IndexByte(data[:min(len(data), 7)], ' ')
	if space < 0 {
		return e, 0, fmt.Errorf("%.7q; expected a mode", data)
	}
	if e.Mode = modeOf(data[:space]); e.Mode == 0 {
		return e, 0, fmt.Errorf("mode %q; expected 40000, 100644, 100755, 120000 or 160000", data[:space])
	}
	end := bytes.IndexByte(data[space+1:], 0)
	if end < 0 {
		return e, 0, fmt.Errorf("name %.80q has no end", data[space+1:])
	}
	e.Name = data[space+1:][:end:end]
	if err := checkName(e.Name); err != nil {
		return e, 0, err
	}
	at := space + 1 + end + 1
	if len(data)-at < idSize {
		return e, 0, fmt.Errorf("name %.300q has an id of %d bytes; expected %d", e.Name, len(data)-at, idSize)
	}
	e.ID = gitobject.BytesID(data[at : at+idSize])
	if len(bytes.Trim(data[at:at+idSize], "\x00")) == 0 {
		return e, 0, fmt.Errorf("name %.300q has the id zero", e.Name)
	}
	return e, at + idSize, nil
}

// modeOf returns a mode of Git's, or 0 for any other text.
func modeOf(text []byte) uint32 {
	switch string(text) {
	case "100644":
		return ModeFile
	case "40000":
		return ModeTree
	case "100755":
		return ModeExecutable
	case "120000":
		return ModeSymlink
	case "160000":
		return ModeSubmodule
	}
	return 0
}

// ordered checks that an entry follows the one before it, and that a directory does not have the name of a file. That
// file may come some entries earlier: a-b and a.json sort between the file a and the directory a, which sorts as a/.
func (r *TreeReader) ordered(e TreeEntry) error {
	if r.next > 0 && CompareEntries(r.Entry, e) >= 0 {
		return fmt.Errorf("name %.300q after %.300q; expected names in order, each once", e.Name, r.Entry.Name)
	}
	for len(r.files) > 0 && !bytes.HasPrefix(e.Name, r.files[len(r.files)-1]) {
		r.files = r.files[:len(r.files)-1]
	}
	if e.Mode != ModeTree {
		r.files = append(r.files, e.Name)
	} else if n := len(r.files); n > 0 && len(r.files[n-1]) == len(e.Name) {
		return fmt.Errorf("name %.300q is a directory and also a file", e.Name)
	}
	return nil
}

// CompareEntries compares tree entries in Git's order: by the bytes of the names, a directory's as if it ended in a
// slash. Paths put together from entries in this order are in byte order themselves.
func CompareEntries(a, b TreeEntry) int {
	n := min(len(a.Name), len(b.Name))
	if c := bytes.Compare(a.Name[:n], b.Name[:n]); c != 0 {
		return c
	}
	return int(a.after(n)) - int(b.after(n))
}

// after returns the byte that follows the first n bytes of a name in Git's order.
func (e TreeEntry) after(n int) byte {
	switch {
	case n < len(e.Name):
		return e.Name[n]
	case e.Mode == ModeTree:
		return '/'
	}
	return 0
}

func checkName(name []byte) error {
	suspect := false
	for _, c := range name {
		if c < ' ' || c == 0x7f || c == '/' {
			return fmt.Errorf("%w: %.300q holds %q", ErrEntryName, name, c)
		}
		suspect = suspect || c == '~' || c >= 0x80 || c == '\\'
	}
	if len(name) == 0 {
		return fmt.Errorf("%w: it is empty", ErrEntryName)
	}
	if name[0] != '.' && !suspect {
		return nil
	}
	text := string(name)
	if text == "." || text == ".." || isDotGit(text) {
		return fmt.Errorf("%w: %.300q, which a file system may take for %s", ErrEntryName, text, ".git, . or ..")
	}
	return nil
}

// isDotGit reports whether some file system would open .git by the name, as git-fsck(1) does.
func isDotGit(name string) bool {
	for part := range strings.SplitSeq(name, `\`) { // a slash to NTFS
		part, _, _ = strings.Cut(part, ":") // a stream of the file
		part = strings.TrimRight(part, ". ")
		if strings.EqualFold(part, ".git") || strings.EqualFold(part, "git~1") {
			return true
		}
	}
	return strings.EqualFold(gitfsck.HFS(name), ".git")
}
