package registry

import (
	"bytes"
	"compress/zlib"
	"context"
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/gittest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

var ctx = context.Background()

// clone is a repository made by the git command.
type clone struct{ *gittest.Clone }

func newClone(t testing.TB, args ...string) *clone {
	t.Helper()
	return &clone{gittest.New(t, args...)}
}

// at is the same harness on another clone.
func (c *clone) at(dir string) *clone { return &clone{&gittest.Clone{T: c.T, Dir: dir, Date: c.Date}} }

// object writes an object of any content, as git hash-object -w --literally does, in a clone of SHA-1 with a work tree.
func (c *clone) object(kind, data string) string {
	c.T.Helper()
	text := fmt.Appendf(nil, "%s %d\x00%s", kind, len(data), data)
	id := fmt.Sprintf("%x", sha1.Sum(text))
	file := filepath.Join(".git", "objects", id[:2], id[2:])
	if _, err := os.Stat(filepath.Join(c.Dir, file)); err == nil {
		return id
	}
	var packed bytes.Buffer
	w := compressors.Get().(*zlib.Writer)
	defer compressors.Put(w)
	w.Reset(&packed)
	_, err := w.Write(text)
	if err = errors.Join(err, w.Close()); err != nil {
		c.T.Fatal(err)
	}
	c.Write(file, packed.String())
	return id
}

// compressors take half a MiB each.
var compressors = sync.Pool{New: func() any { return zlib.NewWriter(nil) }}

// entriesOf lists the Entries of a kind.
func entriesOf(t *Tree, k Kind) (all []NamedEntry, err error) {
	for e, err := range t.Entries(k) {
		if err != nil {
			return nil, err
		}
		all = append(all, e)
	}
	return all, nil
}

// entry spells one entry of a tree object.
func entryText(mode, name, id string) string {
	raw, err := hex.DecodeString(id)
	if err != nil {
		panic(err)
	}
	return mode + " " + name + "\x00" + string(raw)
}

// commitTree makes a commit of a tree object, which git would refuse to where it cannot read that.
func (c *clone) commitTree(tree string, parents ...string) string {
	c.T.Helper()
	c.Date++
	text := "tree " + tree + "\n"
	for _, p := range parents {
		text += "parent " + p + "\n"
	}
	person := fmt.Sprintf("A <a@example.org> %d +0000\n", c.Date)
	return c.object("commit", text+"author "+person+"committer "+person+"\nm\n")
}

func (c *clone) open() *Repository {
	c.T.Helper()
	return open(c.T, c.Dir)
}

func open(t testing.TB, dir string) *Repository {
	t.Helper()
	r := must.Get(Open(dir))(t)
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

func (c *clone) rangeOf(base, head string) *Range {
	c.T.Helper()
	g := must.Get(c.open().Range(ctx, base, head))(c.T)
	return g
}

// spellChanges writes changes as git diff-tree does, without the ids.
func spellChanges(changes []Change) string {
	var lines []string
	for _, c := range changes {
		kind := "M"
		switch {
		case c.Base == nil:
			kind = "A"
		case c.Head == nil:
			kind = "D"
		case *c.Base == *c.Head:
			kind = "="
		case c.Base.Mode>>12 != c.Head.Mode>>12:
			kind = "T"
		}
		lines = append(lines, kind+" "+c.Path)
	}
	return strings.Join(lines, "\n")
}

// wantError requires that an error is what it must be, and has a remedy.
func wantError(t *testing.T, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("error %v, want %v", err, want)
	}
	if e, ok := errors.AsType[remedy.Fixer](err); !ok || e.Fix() == "" {
		t.Errorf("error %v has no remedy", err)
	}
}
