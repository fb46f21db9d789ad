package checktest

import (
	"bytes"
	"crypto/sha1"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/checks"
	"github.com/openagentprotocol-OAP/oap-gate/internal/judge"
	"github.com/openagentprotocol-OAP/oap-gate/internal/mirror"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/fixture"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// Missing requires that a check of a world's pull request and an audit of its history fail if an object of the
// repository is missing, or find what they find in the whole repository. It removes one object at a time, and then all
// of them at once while they judge.
func Missing(t *testing.T, world string) {
	t.Helper()
	w := must.Get(fixture.BuildUnserved(t.TempDir(), []byte(world)))(t)
	ways := []Way{Checked, audited, continued, revalidated, withdrawn}
	if objects, failed := Without(t, w, ways...); failed < objects {
		t.Errorf("%d of %d runs without an object fail; expected at least a quarter", failed, len(ways)*objects)
	}
	Vanishing(t, w, func(repo *registry.Repository, asked func()) (string, error) {
		return checkedBy(t, w, repo, func(string) bool {
			asked()
			return true
		})
	})
	firstReads(t, w)
}

// A Way returns what it finds in a world whose repository was opened.
type Way func(t *testing.T, w *fixture.World, repo *registry.Repository) (string, error)

// Without requires that each way fails if an object of the world's repository is missing, or finds what it finds in the
// whole repository. It removes one object at a time, and returns how many there are and how often a way failed.
func Without(t *testing.T, w *fixture.World, ways ...Way) (objects, failed int) {
	t.Helper()
	var err error
	want := make([]string, len(ways))
	for i, find := range ways {
		if want[i], err = found(t, w, find); err != nil {
			t.Fatal(err)
		}
	}
	packs, err := filepath.Glob(filepath.Join(w.Repo.Dir, "objects", "pack", "*.idx"))
	if err != nil || len(packs) == 0 {
		t.Fatalf("the repository has %d packs, %v; expected at least one", len(packs), err)
	}
	for _, pack := range packs {
		lacking(t, pack, func(name []byte, damage func()) {
			objects++
			damage()
			for i, find := range ways {
				got, err := found(t, w, find)
				if err != nil {
					failed++
				} else if got != want[i] {
					t.Errorf("way %d, without object %x:\n%s\nexpected an error, or\n%s", i, name, got, want[i])
				}
			}
		})
	}
	return objects, failed
}

// lacking calls f for each object of a pack, with what removes the object from the pack's index until f returns.
func lacking(t *testing.T, path string, f func(name []byte, damage func())) {
	t.Helper()
	index := must.Read(t, path)
	const names = 8 + 256*4 // of version 2, as gitformat-pack(5) says
	for n := range int(binary.BigEndian.Uint32(index[names-4:])) {
		name := index[names+n*sha1.Size:][:sha1.Size]
		damaged := bytes.Clone(index)
		damaged[names+(n+1)*sha1.Size-1] ^= 1 // another name
		sum := sha1.Sum(damaged[:len(damaged)-sha1.Size])
		copy(damaged[len(damaged)-sha1.Size:], sum[:])
		f(name, func() {
			must.OK(t, os.WriteFile(path, damaged, 0o600))
		})
		must.OK(t, os.WriteFile(path, index, 0o600))
	}
}

// Vanishing requires that find fails if the objects of the world's repository vanish while it runs, or finds what it
// finds in the whole repository. They vanish as find calls asked for the first time, for the second, and so on.
func Vanishing(t *testing.T, w *fixture.World, find func(repo *registry.Repository, asked func()) (string, error)) {
	t.Helper()
	packs, err := filepath.Glob(filepath.Join(w.Repo.Dir, "objects", "pack", "*.pack"))
	if err != nil || len(packs) != 1 {
		t.Fatalf("the repository has %d packs, %v; expected one", len(packs), err)
	}
	whole := must.Read(t, packs[0])
	want, calls, failed := "", int64(0), 0
	for last := int64(0); last <= calls; last++ {
		var asked atomic.Int64
		got, err := found(t, w, func(t *testing.T, _ *fixture.World, repo *registry.Repository) (string, error) {
			return find(repo, func() {
				if asked.Add(1) == last {
					if err := os.Truncate(packs[0], 0); err != nil {
						t.Error(err)
					}
				}
			})
		})
		must.OK(t, os.WriteFile(packs[0], whole, 0o600))
		switch {
		case last == 0 && err != nil:
			t.Fatal(err)
		case last == 0:
			want, calls = got, asked.Load()
		case err != nil:
			failed++
		case got != want:
			t.Errorf("without objects after call %d:\n%s\nexpected an error, or\n%s", last, got, want)
		}
	}
	if failed == 0 {
		t.Errorf("no run of %d fails without objects", calls)
	}
}

// found opens the world's repository, as the program does, and returns what find returns.
func found(t *testing.T, w *fixture.World, find Way) (string, error) {
	repo, err := registry.Open(w.Repo.Dir)
	if err != nil {
		return "", err
	}
	defer repo.Close()
	return find(t, w, repo)
}

// Checked returns what a check of the pull request finds.
func Checked(t *testing.T, w *fixture.World, repo *registry.Repository) (string, error) {
	return checkedBy(t, w, repo, func(string) bool { return true })
}

func checkedBy(t *testing.T, w *fixture.World, repo *registry.Repository, selected func(string) bool) (string, error) {
	rng, err := repo.Range(t.Context(), w.Base, w.Head)
	if err != nil {
		return "", err
	}
	rep, err := judge.Check(t.Context(), repo, []*registry.Range{rng}, web{t, w},
		judge.Config{Selected: selected})
	if err != nil {
		return "", err
	}
	return lines(rep), nil
}

// revalidated returns what an audit finds in the history and in the records at the head.
func revalidated(t *testing.T, w *fixture.World, repo *registry.Repository) (string, error) {
	head, err := repo.Resolve(w.Head)
	if err != nil {
		return "", err
	}
	rep, err := mirror.Audit(t.Context(), repo, head, web{t, w},
		mirror.AuditConfig{Config: judge.Config{Selected: func(string) bool { return true }}})
	if err != nil {
		return "", err
	}
	return lines(rep), nil
}

// withdrawn returns what the history of the base branch says against the Receipt of each listing.
func withdrawn(t *testing.T, w *fixture.World, repo *registry.Repository) (string, error) {
	tree, err := repo.Tree(t.Context(), w.Base)
	if err != nil {
		return "", err
	}
	st, err := checks.NewStanding(t.Context(), tree, func(string) bool { return true })
	if err != nil {
		return "", err
	}
	run := &checks.Run{Context: t.Context(), Repo: repo, Range: &registry.Range{Base: tree}, Base: st, Now: w.Now}
	var out strings.Builder
	for l := range st.Listings() {
		found, err := run.Withdrawn(l.ToolDID, l.ReceiptSHA256, l.Issued)
		if err != nil {
			return "", err
		}
		fmt.Fprintln(&out, l.Path, found.Revoked, found.Unreadable, found.Misplaced, found.Listed)
		for _, r := range found.Removed {
			fmt.Fprintln(&out, *r)
		}
	}
	return out.String(), nil
}

// audited returns what an audit finds in the history, and what it knows in the end.
func audited(t *testing.T, w *fixture.World, repo *registry.Repository) (string, error) {
	return followed(t, w, repo, checks.NewLedger(repo, w.Now), "")
}

// continued returns the same of an audit that begins after the base branch.
func continued(t *testing.T, w *fixture.World, repo *registry.Repository) (string, error) {
	from, err := repo.Resolve(w.Base)
	if err != nil {
		return "", err
	}
	return followed(t, w, repo, checks.LedgerAt(repo, from, w.Now), from)
}

func followed(t *testing.T, w *fixture.World, repo *registry.Repository, ledger *checks.Ledger,
	from string) (string, error) {
	head, err := repo.Resolve(w.Head)
	if err != nil {
		return "", err
	}
	found := map[string]string{}
	(&clone{Repository: repo, world: w, head: head}).follow(t, repo, ledger, from, "", found)
	for key, text := range found {
		if text == "" {
			return "", errors.New(key)
		}
	}
	return fmt.Sprint(found), nil
}
