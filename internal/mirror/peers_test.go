package mirror

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/git/peer"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/gittest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

// TestDistinct checks which names are of one peer.
func TestDistinct(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for _, sub := range []string{"a/registry.git/objects", "work/.git/objects", "b"} {
		must.OK(t, os.MkdirAll(filepath.Join(dir, filepath.FromSlash(sub)), 0o777))
	}
	linked := os.Symlink("a", "link") == nil
	same := [][]string{
		{"https://mirror.example/r", "https://mirror.example/r/", "https://mirror.example/r.git",
			"https://mirror.example/r.git/", "https://Mirror.EXAMPLE/r", "https://mirror.example:443/r",
			"https://mirror.example./r", "https://token@mirror.example/r", "https://mirror.example//r",
			"https://mirror.example/x/../r", "https://mirror.example/%72", "https://mirror.example/r/.git",
			"https://mirror.example:0443/r", "https://mirror.example:/r", "https://mirror.example:00443/r.git/.git"},
		{"https://b\u00fccher.example/r", "https://B\u00dcCHER.example/r", "https://xn--bcher-kva.example/r",
			"https://bu\u0308cher.example/r"},
		{"http://127.0.0.1/r", "http://127.0.0.1:80/r", "http://[::ffff:127.0.0.1]/r", "http://127.0.0.1:080/r"},
		{"http://[::1]/r", "http://[0:0:0:0:0:0:0:1]/r", "http://[::0001]:80/r"},
		{"a", "./a", "a/", filepath.Join(dir, "a"), "file://" + filepath.ToSlash(filepath.Join(dir, "a")),
			"a/registry.git", "b/../a"},
		{"work", "work/.git"},
	}
	if linked {
		same[4] = append(same[4], "link", "link/registry.git")
	}
	for _, names := range same {
		if got := Distinct(names); !slices.Equal(got, names[:1]) {
			t.Errorf("%q are %q, want one", names, got)
		}
	}
	differ := []string{"https://mirror.example/r", "https://mirror.example/R", "https://mirror.example/r/s",
		"https://mirror.example:8443/r", "https://other.example/r", "http://127.0.0.1/r", "http://127.0.0.1:8080/r",
		"http://127.0.0.2/r", "https://mirror.example:80/r", "https://mirror.example/.git", "http://[::1]/r", "a",
		"b", "a.git", "nowhere"}
	if got := Distinct(differ); !slices.Equal(got, differ) {
		t.Errorf("%q are %q, want all", differ, got)
	}
}

// TestPeerTexts requires that what a peer names fills no report: a name in its trees may have megabytes.
func TestPeerTexts(t *testing.T) {
	long := strings.Repeat("\u00e4", 1<<20)
	state := &peerState{differ: []string{"implementations/" + long, "revocations/x"}}
	if got := common(state); len(got) > 1000 || !strings.HasSuffix(got, "…, revocations/x") {
		t.Errorf("the first records are %d bytes: %.400s", len(got), got)
	}
	for _, public := range []bool{false, true} {
		got := Peers{Public: public}.reason(errors.New("reading "+long), "https://mirror.example/r")
		if len(got) > 5000 || !strings.HasPrefix(got, "reading \u00e4") {
			t.Errorf("public %t: the reason is %d bytes: %.400s", public, len(got), got)
		}
	}
}

// TestPeerTime checks how long a peer may take, and what is said of one that takes longer.
func TestPeerTime(t *testing.T) {
	for _, test := range []struct{ budget, want time.Duration }{{0, 5 * time.Minute}, {time.Hour, time.Hour}} {
		synctest.Test(t, func(t *testing.T) {
			start := time.Now()
			ctx, cancel := Peers{Budget: test.budget}.within(t.Context())
			defer cancel()
			<-ctx.Done()
			if got := time.Since(start); got != test.want {
				t.Errorf("with the budget %s a peer has %s, want %s", test.budget, got, test.want)
			}
			got := context.Cause(ctx)
			if !errors.Is(got, peer.ErrFetch) || !strings.Contains(got.Error(), "more than") {
				t.Errorf("the cause is %v", got)
			}
		})
	}
}

// TestDistinctWithin names one clone by directories within it, and a mirror that is not there yet within a clone.
func TestDistinctWithin(t *testing.T) {
	dir := t.TempDir()
	gittest.At(t, dir).Git("init", "-q", "-b", "main", "clone")
	clone := filepath.Join(dir, "clone")
	gittest.At(t, clone).Commit("implementations/a.json", "a")
	linked := filepath.Join(dir, "linked")
	gittest.At(t, clone).Git("worktree", "add", "-q", linked)
	gittest.At(t, dir).Git("clone", "-q", "--bare", clone, "other.git")
	names := []string{clone, filepath.Join(clone, "implementations"), filepath.Join(clone, ".git"),
		filepath.Join(clone, ".git", "refs"), linked}
	if got := Distinct(names); !slices.Equal(got, names[:1]) {
		t.Errorf("%q are %q, want one", names, got)
	}
	other := filepath.Join(dir, "other.git")
	if got := Distinct([]string{clone, other}); len(got) != 2 {
		t.Errorf("two clones are %q", got)
	}
	m := filepath.Join(clone, "mirror")
	for _, made := range []bool{false, true} {
		if made {
			must.OK(t, os.MkdirAll(m, 0o777))
		}
		for name, want := range map[string]bool{clone: false, other: false, m: true, "file://" + m: true,
			filepath.Join(m, "registry.git"): true, filepath.Join(m, "..", "mirror"): true} {
			if IsMirror(name, m) != want {
				t.Errorf("%q is the mirror: %t; expected %t", name, !want, want)
			}
		}
	}
	must.OK(t, os.Rename(other, filepath.Join(m, "registry.git")))
	if within := filepath.Join(m, "registry.git", "refs"); !IsMirror(within, m) || IsMirror(clone, m) {
		t.Errorf("%q is not the mirror, or the clone around it is", within)
	}
}

func TestIsElsewhere(t *testing.T) {
	for _, c := range []struct {
		origin, to string
		want       bool
	}{
		{"https://git.example/old/reg", "https://git.example/old/reg.git", false},
		{"https://git.example/old/reg", "https://GIT.example:443/old/reg/", false},
		{"http://127.0.0.1:81/old/reg.git", "https://127.0.0.1:444/old/reg.git", false},
		{"http://127.0.0.1:81/old/reg.git", "https://127.0.0.1:444/new/reg.git", true},
		{"https://git.example/old/reg", "https://git.example:8443/old/reg", true},
		{"https://git.example/old/reg", "https://git.example/new/reg", true},
		{"https://git.example/old/reg", "https://another.example/old/reg", true},
		{"http://127.0.0.1:81/old/reg.git", "http://127.0.0.1:82/old/reg.git", true},
	} {
		if got := isElsewhere(c.origin, c.to); got != c.want {
			t.Errorf("%s redirected to %s: %v; expected %v", c.origin, c.to, got, c.want)
		}
	}
}
