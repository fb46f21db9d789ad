package gitstore

import (
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/git/gitobject"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

func TestResolveAsGit(t *testing.T) {
	c := newClone(t)
	c.history(5)
	c.Git("tag", "-a", "-m", "tag", "v1", "HEAD~2")
	c.Git("tag", "-a", "-m", "tag of a tag", "v2", "v1")
	c.Git("tag", "light", "HEAD~1")
	c.Git("checkout", "-q", "-b", "side", "HEAD~3")
	c.Write("side", "side\n")
	c.commit("side")
	c.Git("checkout", "-q", "main")
	c.Git("merge", "-q", "--no-ff", "-m", "merge", "side")
	c.Git("branch", "dir/name")
	c.Git("branch", "v1") // as the tag
	c.Git("update-ref", "refs/remotes/origin/main", "HEAD~1")
	c.Git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main")
	c.Git("update-ref", "ORIG_HEAD", "HEAD~2")
	c.Write(".git/FETCH_HEAD", c.Git("rev-parse", "HEAD~3")+"\tnot-for-merge\tbranch 'x' of https://git.example/x\n")
	head := c.Git("rev-parse", "HEAD")
	revs := []string{
		"HEAD", "@", "@^2", "main", "heads/main", "refs/heads/main", "side", "dir/name", "light", "v2",
		"heads/v1",
		"tags/v1", "refs/tags/v2", "v2^{commit}", "v2^{}", "v2^0", "HEAD^", "HEAD^1", "HEAD^2", "HEAD^0", "HEAD~0",
		"HEAD~", "HEAD~2",
		"HEAD~1^", "HEAD^^", "HEAD^2^", "HEAD^2~1", "HEAD~1~1", "origin", "origin/main", "remotes/origin/HEAD",
		"ORIG_HEAD",
		"FETCH_HEAD", head, strings.ToUpper(head), head[:7], head[:8], strings.ToUpper(head[:9]), head[:12] + "^",
		"absent", "HEAD~100", "HEAD^3", "refs/heads", "dir", "config", "objects", "index", "0123456",
	}
	check := func(t *testing.T) {
		s := c.open()
		found := strings.Split(c.GitInput(strings.Join(revs, "^{commit}\n")+"^{commit}\n", "cat-file",
			"--batch-check=%(objectname)"), "\n")
		for i, rev := range revs {
			want := found[i]
			got, err := s.Resolve(rev)
			if len(want) != len(head) { // REV^{commit} missing
				if e := (*Error)(nil); !errors.As(err, &e) {
					t.Errorf("%s: got %v %v, git refuses it", rev, got, err)
				}
				continue
			}
			if err != nil || got.String() != want {
				t.Errorf("%s: got %v %v, want %s", rev, got, err, want)
			}
		}
		for name, want := range map[string]bool{
			"HEAD": true, "refs/remotes/origin/HEAD": true, "refs/heads/main": true, "main": false, "refs/heads": false,
			"refs/heads/absent": false, "config": false, "refs/heads/../../HEAD": false, "": false,
		} {
			if got := s.HasRef(name); got != want {
				t.Errorf("HasRef(%q) = %v", name, got)
			}
		}
	}
	t.Run("loose", check)
	c.Git("pack-refs", "--all")
	c.Git("gc", "-q")
	t.Run("packed", check)
	c.Git("branch", "-f", "dir/name", "HEAD~2")
	t.Run("loose over packed", check)
	c.Git("checkout", "-q", "--detach", "HEAD~2")
	t.Run("detached", check)
}

func TestResolveRefuses(t *testing.T) {
	c := newClone(t)
	c.commit("one")
	for name, text := range map[string]string{
		"refs/heads/loop":   "ref: refs/heads/loop\n",
		"refs/heads/out":    "ref: ../../../etc/passwd\n",
		"refs/heads/config": "ref: config\n",
		"refs/heads/text":   "no id\n",
		"refs/heads/empty":  "",
		"refs/heads/short":  "c0ffee\n",
		"refs/heads/gone":   "0123456789012345678901234567890123456789\n",
	} {
		c.Write(".git/"+name, text)
	}
	outside := filepath.Join(t.TempDir(), "outside")
	must.OK(t, os.WriteFile(outside, []byte(c.Git("rev-parse", "HEAD")), 0o666))
	if err := os.Symlink(outside, filepath.Join(c.Dir, ".git/refs/heads/link")); err != nil {
		t.Log(err)
	}
	blob := c.GitInput("blob\n", "hash-object", "-w", "--stdin")
	c.Git("tag", "blob", blob)
	s := c.open()
	for _, test := range []struct {
		rev  string
		want error
	}{
		{"", ErrName}, {"^", ErrName}, {"~3", ErrName}, {"-n", ErrName}, {"a..b", ErrName}, {"a...b", ErrName},
		{"HEAD:README.md", ErrName}, {":/text", ErrName}, {"HEAD@{1}", ErrName}, {"@{-1}", ErrName}, {"@{u}", ErrName},
		{"HEAD^{tree}", ErrName}, {"HEAD^{/x}", ErrName}, {"HEAD^-", ErrName}, {"HEAD^!", ErrName},
		{"HEAD~1x", ErrName},
		{"HEAD~9999999999", ErrName}, {"HEAD~x", ErrName}, {"a b", ErrName}, {"a\nb", ErrName}, {"a\x00b", ErrName},
		{"*", ErrName},
		{"refs/heads/../../config", ErrName}, {"../config", ErrName}, {"..", ErrName}, {"/etc/passwd", ErrName},
		{"a//b", ErrName},
		{`..\config`, ErrName}, {`a\b`, ErrName}, {"a/.b", ErrName}, {"a.lock", ErrName},
		{"heads/main.lock/x", ErrName}, {"a/", ErrName},
		{"loop", gitobject.ErrCorrupt}, {"out", ErrName}, {"heads/config", ErrName}, {"text", gitobject.ErrCorrupt},
		{"empty", gitobject.ErrCorrupt},
		{"short", gitobject.ErrCorrupt},
		{"gone", ErrNotFound}, {"blob", ErrNotFound}, {"HEAD~1", ErrNotFound}, {"HEAD^2", ErrNotFound},
		{strings.Repeat("a", 5000), ErrName}, {strings.Repeat("HEAD^", 5000), ErrName},
	} {
		id, err := s.Resolve(test.rev)
		if e := (*Error)(nil); !errors.As(err, &e) || !errors.Is(err, test.want) {
			t.Errorf("%.40q: got %v, %v, want %v", test.rev, id, err, test.want)
		}
	}
	if id, err := s.Resolve("link"); err == nil {
		t.Errorf("a ref that is a link out of the Git directory gives %v", id)
	}
}

// TestDamagedRef checks that a ref which a crash or a hand damaged is there, and is named by what it holds.
func TestDamagedRef(t *testing.T) {
	c := newClone(t)
	c.commit("one")
	for text, says := range map[string]string{strings.Repeat("\x00", 41): "41 NUL bytes", "\n": `""`,
		"x\x00\n": `"x\x00"`} {
		c.Write(".git/refs/heads/bad", text)
		s := c.open()
		_, err := s.Resolve("bad")
		wantError(t, err, gitobject.ErrCorrupt, "remove the file of the ref, and fetch")
		if err == nil || !strings.Contains(err.Error(), "ref refs/heads/bad: corrupt: it holds "+says+";") ||
			!s.HasRef("refs/heads/bad") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestResolveAmbiguous(t *testing.T) {
	c := newClone(t)
	c.commit("one")
	seen := map[string]string{}
	var prefix string
	for i := 0; prefix == ""; i++ {
		text := strconv.Itoa(i)
		sum := sha1.Sum(fmt.Appendf(nil, "blob %d\x00%s", len(text), text))
		short := hex.EncodeToString(sum[:])[:4]
		if other := seen[short]; other != "" {
			c.GitInput(text, "hash-object", "-w", "--stdin")
			c.GitInput(other, "hash-object", "-w", "--stdin")
			prefix = short
		}
		seen[short] = text
	}
	for _, ref := range []string{"tags/main", "heads/origin/main", "remotes/origin/main", "tags/HEAD", "heads/" +
		c.Git("rev-parse", "HEAD"), "tags/refs/heads/main"} {
		c.Git("update-ref", "refs/"+ref, "HEAD")
	}
	for rev, refs := range map[string]string{"main": "refs/tags/main, refs/heads/main",
		"main~0":      "refs/tags/main, refs/heads/main",
		"origin/main": "refs/heads/origin/main, refs/remotes/origin/main",
		"HEAD":        "", "@": "", "HEAD^0": "", "refs/heads/main": "", "heads/main": "", "tags/main": "",
		"remotes/origin/main": "", c.Git("rev-parse", "HEAD"): ""} {
		switch _, err := c.open().Resolve(rev); {
		case refs == "" && err != nil:
			t.Errorf("%s: %v", rev, err)
		case refs != "" && (!errors.Is(err, ErrSeveralRefs) || !strings.HasSuffix(err.Error(), ": "+refs)):
			t.Errorf("%s: got %v, want %s", rev, err, refs)
		}
	}
	s := c.open()
	if _, err := s.Resolve(prefix); !errors.Is(err, ErrAmbiguous) {
		t.Errorf("%s: got %v, want ErrAmbiguous", prefix, err)
	}
	c.Git("repack", "-q", "-a", "-d")
	if _, err := s.Resolve(prefix); !errors.Is(err, ErrAmbiguous) {
		t.Errorf("%s: got %v, want ErrAmbiguous", prefix, err)
	}
}
