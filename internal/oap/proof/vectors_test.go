package proof

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/typed"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/gittest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

// vectors reads a file of the vectors that are kept outside of the repository.
func vectors(t *testing.T, name string, to any) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "shared", "data", "proofs", name))
	if os.IsNotExist(err) {
		t.Skipf("SKIPPED: %s is not here", name)
	}
	if err == nil && to != nil {
		err = json.Unmarshal(text, to)
	}
	must.OK(t, err)
	return text
}

func TestMapVectors(t *testing.T) {
	var v struct {
		Revoked []struct {
			Path, Mode, Content string
			Names               []string
		}
		Steps []struct {
			Op, Path, Content, Root string
			Proofs                  []struct {
				Path, Siblings string
				Present        bool
				Other          *string
			}
		}
	}
	vectors(t, "map.json", &v)
	for _, r := range v.Revoked {
		var mode uint32
		fmt.Sscanf(r.Mode, "%o", &mode)
		if got := NewChange(r.Path, mode, []byte(r.Content)).revoked; !slices.Equal(got, r.Names) {
			t.Errorf("%s (%s): %q, want %q", r.Path, r.Mode, got, r.Names)
		}
	}
	m := NewMap()
	for i, s := range v.Steps {
		if s.Op == "set" {
			m.Apply([]Change{NewChange(s.Path, modeFile, []byte(s.Content))})
		} else {
			m.Apply([]Change{NewChange(s.Path, Gone, nil)})
		}
		if got := m.Root().String(); got != s.Root {
			t.Fatalf("step %d: root %s, want %s", i, got, s.Root)
		}
		for _, want := range s.Proofs {
			p := m.Prove(want.Path)
			var siblings []byte
			for _, h := range p.Siblings {
				siblings = append(siblings, h[:]...)
			}
			other := ""
			if p.Other != nil {
				other = base64.StdEncoding.EncodeToString(append(p.Other.Key[:], p.Other.Value[:]...))
			}
			if (p.Value != nil) != want.Present || base64.StdEncoding.EncodeToString(siblings) != want.Siblings ||
				(p.Other != nil) != (want.Other != nil) || want.Other != nil && other != *want.Other {
				t.Errorf("step %d: proof of %s differs", i, want.Path)
			}
			if root, err := p.Root(); err != nil || root.String() != s.Root {
				t.Errorf("step %d: proof of %s: root %s, %v", i, want.Path, root, err)
			}
		}
	}
}

// replayed returns the log of the first-parent history of branches, each after a rewrite of the one before.
func replayed(t *testing.T, c *gittest.Clone, branches []string) (entries []Entry) {
	m, last := NewMap(), ""
	for _, branch := range branches {
		chain := strings.Fields(c.Git("rev-list", "--first-parent", "--reverse", branch))
		chain = slices.DeleteFunc(chain, func(id string) bool {
			if last == "" {
				return false
			}
			_, err := c.Try("", "merge-base", "--is-ancestor", id, last)
			return err == nil
		})
		for i, id := range chain {
			diff := []string{"diff-tree", "-r", "-z", "--no-renames", "--no-commit-id"}
			if last == "" {
				diff = append(diff, "--root", id)
			} else {
				diff = append(diff, last, id)
			}
			var changes []Change
			fields := strings.Split(c.Git(diff...), "\x00")
			for j := 0; j+1 < len(fields); j += 2 {
				part := strings.Fields(strings.TrimPrefix(fields[j], ":"))
				var mode uint32
				fmt.Sscanf(part[1], "%o", &mode)
				var content string
				if mode != Gone && mode != 0o160000 {
					content = c.Git("cat-file", "blob", part[3])
					if size := c.Git("cat-file", "-s", part[3]); size != fmt.Sprint(len(content)) {
						content += "\n" // which Git of gittest trims
					}
				}
				if InMap(fields[j+1]) {
					changes = append(changes, NewChange(fields[j+1], mode, []byte(content)))
				}
			}
			m.Apply(changes)
			e := Entry{Commit: id, Files: m.Root()}
			fmt.Sscan(c.Git("show", "-s", "--format=%ct", id), &e.Time)
			if i == 0 {
				e.After = last
			}
			entries, last = append(entries, e), id
		}
	}
	return entries
}

func TestLogVectors(t *testing.T) {
	var v struct {
		Logs []struct {
			History    string
			Branches   []string
			Checkpoint string
			Entries    []struct{ Entry, Leaf string }
			Roots      []string
			Tiles      map[string]string `json:"tiles_sha256"`

			Consistency []struct {
				Old, New int64
				Proof    []string
			}
		}
		Cosigned string            `json:"checkpoint_cosigned"`
		LogKey   string            `json:"log_vkey"`
		Keys     map[string]string `json:"witness_vkeys"`
	}
	vectors(t, "log.json", &v)
	for _, want := range v.Logs {
		t.Run(want.History+" "+strings.Join(want.Branches, " "), func(t *testing.T) {
			c := gittest.New(t)
			c.GitInput(string(vectors(t, want.History, nil)), "fast-import", "--quiet")
			entries := replayed(t, c, want.Branches)
			if len(entries) != len(want.Entries) {
				t.Fatalf("%d entries, want %d", len(entries), len(want.Entries))
			}
			var log Log
			for i, e := range entries {
				if got := string(e.Text()); got != want.Entries[i].Entry {
					t.Errorf("entry %d\n%swant\n%s", i, got, want.Entries[i].Entry)
				}
				if again, err := ParseEntry(e.Text()); err != nil || again != e {
					t.Errorf("entry %d is read as %+v, %v", i, again, err)
				}
				if leaf := tlog.RecordHash(e.Text()).String(); leaf != want.Entries[i].Leaf {
					t.Errorf("leaf %d is %s, want %s", i, leaf, want.Entries[i].Leaf)
				}
				must.OK(t, log.Add(e.Text()))
				if root, err := log.Root(log.Size()); err != nil || root.String() != want.Roots[i] {
					t.Errorf("root at size %d is %s, %v; want %s", i+1, root, err, want.Roots[i])
				}
			}
			for _, p := range want.Consistency {
				proof, err := tlog.ProveTree(p.New, p.Old, &log)
				var got []string
				for _, h := range proof {
					got = append(got, h.String())
				}
				if err != nil || !slices.Equal(got, p.Proof) {
					t.Errorf("consistency of %d with %d: %q, %v", p.Old, p.New, got, err)
				}
			}
			tiles := writeTiles(t, &log, entries)
			got := map[string]string{}
			for path, data := range tiles {
				got[path] = plain.SHA256(data)
			}
			for path, sum := range want.Tiles {
				if got[path] != sum {
					t.Errorf("tile %s has the SHA-256 %q, want %s", path, got[path], sum)
				}
			}
			s := must.Get(ParseSigned([]byte(want.Checkpoint)))(t)
			if root, err := log.Root(log.Size()); err != nil || s.Size != log.Size() || s.Root != root {
				t.Errorf("the log checkpoint is %+v", s.Checkpoint)
			}
			read := func(path string, _ int64) ([]byte, error) { return tiles[path], nil }
			if all, err := ReadEntries(s.Checkpoint, read); err != nil || !slices.Equal(all, entries) {
				t.Errorf("read %d entries from the tiles, %v", len(all), err)
			}
			key := must.Get(ParseKey(v.LogKey))(t)
			if signature, err := key.Signature(s); signature == nil || err != nil {
				t.Errorf("signature %x, %v", signature, err)
			}
		})
	}
	s := must.Get(ParseSigned([]byte(v.Cosigned)))(t)
	for name, text := range v.Keys {
		key := must.Get(ParseKey(text))(t)
		if at, cosigned, err := key.Cosigned(s); err != nil || cosigned != (name != "c") {
			t.Errorf("witness %s: %v, %v, %v", name, at, cosigned, err)
		}
	}
}

// writeTiles returns the tiles of a log, by their paths.
func writeTiles(t *testing.T, log *Log, entries []Entry) map[string][]byte {
	tiles := map[string][]byte{}
	hashes, bundles := Tiles(0, log.Size())
	for _, tile := range hashes {
		data := must.Get(tlog.ReadTileData(tile, log))(t)
		tiles[TilePath(tile)] = data
	}
	for _, tile := range bundles {
		var data []byte
		for _, e := range entries[tile.N*256 : tile.N*256+int64(tile.W)] {
			data = AppendEntry(data, e.Text())
		}
		tiles[TilePath(tile)] = data
	}
	return tiles
}

func TestCases(t *testing.T) {
	var cases []struct {
		Name, Slug, Policy, Code, Proof string
		At                              time.Time
		MaxAge                          string `json:"max_age"`
		AnyAge                          bool   `json:"any_age"`
		Exit                            int
	}
	vectors(t, "cases.json", &cases)
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			exit, code := 0, ""
			policy, err := ParsePolicy([]byte(c.Policy))
			if err == nil && !c.AnyAge {
				err = policy.OneHistory()
			}
			maxAge := 24 * time.Hour
			if c.MaxAge != "" {
				maxAge, _ = typed.ParseSpan(c.MaxAge)
			}
			if err != nil || !IsSlug(c.Slug) {
				exit = 2
			} else if _, err := Check([]byte(c.Proof), c.Slug, Options{policy, c.At, maxAge, c.AnyAge}); err != nil {
				r := err.(*Refusal)
				exit, code = 1, r.Code
				if r.Undated {
					exit = 3
				}
			}
			if exit != c.Exit || code != c.Code {
				t.Errorf("exit %d %q, want %d %q", exit, code, c.Exit, c.Code)
			}
		})
	}
}
