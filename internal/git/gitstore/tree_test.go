package gitstore

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/git/gitobject"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/packtest"
)

// rawTree makes a tree of "mode name" lines, each with an id of its own.
func rawTree(entries ...string) []byte {
	var out []byte
	for i, e := range entries {
		id := packtest.HashOf(gitobject.Blob, fmt.Append(nil, i))
		out = append(append(append(out, e...), 0), id.Bytes()...)
	}
	return out
}

var treeTests = []struct {
	name string
	data []byte
	want string // part of the error, "" if the tree is good
}{
	{"empty", nil, ""},
	{"all modes", rawTree("100755 a", "100644 b", "40000 c", "120000 d", "160000 e"), ""},
	{"git's order", rawTree("100644 a", "100644 a-b", "40000 a-c", "100644 a.json", "100644 a0", "40000 b",
		"100644 b0"), ""},
	{"a directory after a file it sorts before", rawTree("100644 b.json", "40000 b", "100644 b0"), ""},
	{"names in UTF-8 and in none", rawTree("100644 \xc3\xa4", "100644 \xff"), ""},
	{"names that are not .git", rawTree("100644 ..git", "100644 .gi", "100644 .gitignore", "100644 .gitx", "100644 git",
		"100644 git~2"), ""},
	{"backslash and tilde", rawTree(`100644 a\b`, "100644 a~1"), ""},

	{"unsorted", rawTree("100644 b", "100644 a"), "in order"},
	{"twice", rawTree("100644 a", "100644 a"), "in order"},
	{"a directory as if it were a file", rawTree("40000 b", "100644 b.json"), "in order"},
	{"a file as if it were a directory", rawTree("100644 b.json", "100644 b"), "in order"},
	{"file and directory", rawTree("100644 a", "40000 a"), "also a file"},
	{"file, others, directory", rawTree("100644 a", "100644 a-", "100644 a-b", "100644 a.json", "40000 a"),
		"also a file"},
	{"submodule and directory", rawTree("160000 a", "40000 a"), "also a file"},
	{"directory and file", rawTree("40000 a", "100644 a"), "in order"},
	{"zero-padded mode", rawTree("040000 a"), `mode "040000"`},
	{"mode of old", rawTree("100664 a"), `mode "100664"`},
	{"mode 777", rawTree("100777 a"), `mode "100777"`},
	{"no mode", rawTree(" a"), `mode ""`},
	{"mode without end", []byte("100644"), "expected a mode"},
	{"mode that is long", rawTree("0000000100644 a"), "expected a mode"},
	{"no name", rawTree("100644 "), "it is empty"},
	{"no end of the name", []byte("100644 a"), "no end"},
	{"no id", []byte("100644 a\x00"), "id of 0 bytes"},
	{"half an id", rawTree("100644 a")[:20], "id of 11 bytes; expected 20"},
	{"the id zero", append([]byte("100644 a\x00"), make([]byte, 20)...), "id zero"},
	{"bytes at the end", append(rawTree("100644 a"), 'x'), "expected a mode"},
	{"slash", rawTree("100644 a/b"), "holds '/'"},
	{"line end", rawTree("100644 a\nb"), `holds '\n'`},
	{"escape", rawTree("100644 a\x1b[1m"), `holds '\x1b'`},
	{"delete", rawTree("100644 a\x7f"), `holds '\x7f'`},
	{"dot", rawTree("40000 ."), "may take for"},
	{"dot dot", rawTree("40000 .."), "may take for"},
	{".git", rawTree("40000 .git"), "may take for"},
	{".GiT", rawTree("40000 .GiT"), "may take for"},
	{"git~1", rawTree("40000 git~1"), "may take for"},
	{"GIT~1", rawTree("40000 GIT~1"), "may take for"},
	{".git with dots", rawTree("40000 .git..."), "may take for"},
	{".git with spaces", rawTree("40000 .git .  "), "may take for"},
	{".git with a stream", rawTree("40000 .git::$INDEX_ALLOCATION"), "may take for"},
	{".git behind a backslash", rawTree(`100644 a\.git`), "may take for"},
	{".git before a backslash", rawTree(`100644 .git\a`), "may take for"},
	{".git with a code point that HFS+ ignores", rawTree("40000 .g\u200cit"), "may take for"},
	{".git with a byte order mark", rawTree("40000 \ufeff.git"), "may take for"},
	{".git and a byte that is not UTF-8", rawTree("40000 .git\xffx"), "may take for"},
}

func decodeAll(data []byte, idSize int) ([]TreeEntry, error) {
	var all []TreeEntry
	entries := DecodeTree(data, idSize)
	for entries.Next() {
		all = append(all, entries.Entry)
	}
	if entries.Next() {
		return nil, errors.New("another entry after the last")
	}
	return all, entries.Err()
}

func TestDecodeTree(t *testing.T) {
	for _, test := range treeTests {
		entries, err := decodeAll(test.data, 20)
		switch {
		case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want) ||
			!errors.Is(err, ErrMalformed)):
			t.Errorf("%s: got %v, want %q", test.name, err, test.want)
		case test.want == "" && err != nil:
			t.Errorf("%s: %v", test.name, err)
		case test.want == "" && !bytes.Equal(encodeTree(entries), test.data):
			t.Errorf("%s: %v is written in another way", test.name, entries)
		}
	}
}

// TestDecodeTreeLongNames requires that the error for a tree is short, whatever its names are: they may have megabytes.
func TestDecodeTreeLongNames(t *testing.T) {
	long := strings.Repeat("a", 100_000)
	for want, data := range map[string][]byte{
		"holds":       rawTree("100644 " + long + "\n"),
		"may take":    rawTree("100644 " + long + `\.git`),
		"in order":    rawTree("100644 b"+long, "100644 "+long),
		"also a file": rawTree("100644 "+long, "40000 "+long),
		"has no end":  []byte("100644 " + long),
		"an id of":    []byte("100644 " + long + "\x00"),
		"id zero":     append([]byte("100644 "+long+"\x00"), make([]byte, 20)...),
	} {
		_, err := decodeAll(data, 20)
		if err == nil || !strings.Contains(err.Error(), want) || len(err.Error()) > 1000 {
			t.Errorf("%s: the error is %.1200v", want, err)
		}
	}
}

func encodeTree(entries []TreeEntry) []byte {
	var out []byte
	for _, e := range entries {
		out = append(fmt.Appendf(out, "%o %s\x00", e.Mode, e.Name), e.ID.Bytes()...)
	}
	return out
}

// What git fsck finds fault with, DecodeTree refuses.
func TestDecodeTreeAsGit(t *testing.T) {
	found := 0
	for _, test := range treeTests {
		c := newClone(t) // each its own: git stops at a tree that it cannot read
		id := c.GitInput(string(test.data), "hash-object", "-w", "-t", "tree", "--literally", "--stdin")
		out, err := c.Try("", "fsck", "--strict", "--no-dangling", id)
		said := out + fmt.Sprint(err)
		if !strings.Contains(said, "in tree "+id) && !strings.Contains(said, "could not be parsed") {
			continue
		}
		if found++; test.want == "" {
			t.Errorf("%s: git fsck finds fault with it: %s", test.name, said)
		}
	}
	if found < 15 {
		t.Errorf("git fsck finds fault with %d trees only: the test compares nothing", found)
	}
}

// An id may hold any byte: NUL, space, digits.
func TestDecodeTreeIDs(t *testing.T) {
	data := []byte("100644 a\x00" + "\x00 100644 b\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00" + "100644 b\x00" +
		strings.Repeat(" ", 20))
	entries, err := decodeAll(data, 20)
	if err != nil || len(entries) != 2 || string(entries[1].Name) != "b" {
		t.Errorf("got %v, %v", entries, err)
	}
	long := []byte("100644 a\x00" + strings.Repeat("x", 32) + "40000 b\x00" + strings.Repeat("y", 32))
	if entries, err = decodeAll(long, 32); err != nil || len(entries) != 2 ||
		entries[1].ID.String() != strings.Repeat("79", 32) {
		t.Errorf("got %v, %v", entries, err)
	}
}
