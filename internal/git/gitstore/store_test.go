package gitstore

import (
	"bufio"
	"bytes"
	"io"
	"strconv"
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

// compare compares every object of a clone with what git cat-file says.
func compare(t *testing.T, c clone, s *Store) {
	t.Helper()
	var want bytes.Buffer
	cmd := c.Command("cat-file", "--batch", "--batch-all-objects")
	cmd.Stdout = &want
	must.OK(t, cmd.Run())
	r := bufio.NewReader(&want)
	objects := 0
	for ; ; objects++ {
		head, err := r.ReadString('\n')
		if err == io.EOF {
			break
		}
		fields := strings.Fields(head)
		id := mustID(t, fields[0])
		size := must.Get(strconv.ParseInt(fields[2], 10, 64))(t)
		body := make([]byte, size+1)
		if _, err := io.ReadFull(r, body); err != nil {
			t.Fatal(err)
		}
		typ, data, err := s.Read(id, size)
		must.OK(t, err)
		if typ.String() != fields[1] || !bytes.Equal(data, body[:size]) {
			t.Fatalf("%s %s differs from git's %s", typ, id, fields[1])
		}
		if typ, err := s.Type(id); err != nil || typ.String() != fields[1] {
			t.Fatalf("%s is a %s by its head, %v, git says %s", id, typ, err, fields[1])
		}
	}
	if objects == 0 {
		t.Fatal("no objects compared")
	}
}

func TestReadAsGit(t *testing.T) {
	shapes := []struct {
		name  string
		init  []string
		shape func(c clone)
	}{
		{"loose", nil, func(clone) {}},
		{"packed", nil, func(c clone) { c.Git("repack", "-q", "-a", "-d") }},
		{"gc aggressive", nil, func(c clone) { c.Git("gc", "-q", "--aggressive", "--prune=now") }},
		{"ref deltas", nil, func(c clone) {
			c.Git("-c", "repack.useDeltaBaseOffset=false", "repack", "-q", "-a", "-d",
				"-f")
		}},
		{"packs and loose", nil, func(c clone) {
			c.Git("repack", "-q", "-d")
			c.Write("later", "later\n")
			c.commit("later")
			c.Git("repack", "-q", "-d")
			c.Write("last", "last\n")
			c.commit("last")
		}},
		{"multi-pack index", nil, func(c clone) {
			c.Git("repack", "-q", "-d")
			c.Git("multi-pack-index", "write")
		}},
		{"sha256", []string{"--object-format=sha256"}, func(clone) {}},
		{"sha256 packed", []string{"--object-format=sha256"}, func(c clone) { c.Git("gc", "-q") }},
	}
	for _, test := range shapes {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			c := newClone(t, test.init...)
			c.history(6)
			c.Git("tag", "-a", "-m", "a tag", "v1")
			test.shape(c)
			s := c.open()
			compare(t, c, s)
			compare(t, c, s) // from the cache
		})
	}
}
