package peer

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/ghtest"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-C", dir}, args...)...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=/nonexistent", "LC_ALL=C", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_COMMITTER_NAME=C",
		"GIT_COMMITTER_EMAIL=c@example.org", "GIT_AUTHOR_DATE=1700000000 +0000", "GIT_COMMITTER_DATE=1700000000 +0000"}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func commit(t *testing.T, dir, path, text string) string {
	t.Helper()
	file := filepath.Join(dir, path)
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	git(t, dir, "add", "-A")
	git(t, dir, "commit", "-q", "-m", "m")
	return git(t, dir, "rev-parse", "HEAD")
}

// serve offers the repositories under a folder by smart HTTP.
func serve(t *testing.T, root string) *httptest.Server {
	t.Helper()
	server, err := ghtest.ServeGit(root)
	if err != nil {
		t.Skip("NOT TESTED: ", err)
	}
	t.Cleanup(server.Close)
	return server
}

// TestFetch fetches copies by smart HTTP and compares them with the clone.
func TestFetch(t *testing.T) {
	for _, format := range []string{"sha1", "sha256"} {
		t.Run(format, func(t *testing.T) {
			root := t.TempDir()
			server := serve(t, root)
			own, theirs := filepath.Join(root, "own"), filepath.Join(root, "theirs")
			git(t, root, "init", "-q", "-b", "main", "--object-format="+format, own)
			commit(t, own, "implementations/a.json", "a")
			common := commit(t, own, "implementations/b.json", strings.Repeat("b", 100_000))
			git(t, root, "clone", "-q", own, theirs)
			git(t, theirs, "branch", "-m", "trunk")
			url := server.URL + "/theirs/.git"
			compare := func(tip string, s Source, want string) *Copy {
				t.Helper()
				c, err := Fetch(context.Background(), s)
				if err != nil {
					t.Fatal(err)
				}
				r, err := registry.Open(own)
				if err != nil {
					t.Fatal(err)
				}
				defer r.Close()
				got, err := r.ComparePeer(context.Background(), url, c.Dir, tip)
				if err != nil {
					t.Fatal(err)
				}
				paths := ""
				for _, d := range got.Differ {
					paths += " " + d.Path
				}
				if text := fmt.Sprintf("%s %d %d%s", got.Relation, got.OwnOnly, got.PeerOnly, paths); text != want {
					t.Errorf("%s, want %s", text, want)
				}
				return c
			}
			end := func(c *Copy) {
				t.Helper()
				if err := c.Close(); err != nil {
					t.Error(err)
				}
				if _, err := os.Stat(c.Dir); !errors.Is(err, os.ErrNotExist) {
					t.Errorf("the copy is still there: %v", err)
				}
			}
			before := git(t, own, "for-each-ref") + git(t, own, "count-objects", "-v")
			borrowing := Source{URL: url, Clone: own, Tip: common}
			end(compare("main", borrowing, "same 0 0"))
			tip := commit(t, theirs, "implementations/c.json", "c")
			c := compare("main", borrowing, "ahead 0 1")
			if got := git(t, c.Dir, "rev-parse", "HEAD"); got != tip {
				t.Errorf("HEAD is %s, want %s", got, tip)
			}
			if n := size(filepath.Join(c.Dir, "objects", "pack")); n > 5_000 {
				t.Errorf("the packs have %d bytes, although the clone has all but one commit", n)
			}
			end(c)
			if after := git(t, own, "for-each-ref") + git(t, own, "count-objects", "-v"); after != before {
				t.Errorf("the clone has changed from %s to %s", before, after)
			}
			if format == "sha1" {
				end(compare("main", Source{URL: url}, "ahead 0 1"))
			}
			t.Chdir(filepath.Join(own, "implementations"))
			for _, clone := range []string{".", "..", "../.git"} {
				end(compare("main", Source{URL: url, Clone: clone, Tip: common}, "ahead 0 1"))
			}
			mine := commit(t, own, "implementations/c.json", "mine")
			end(compare("main", Source{URL: url, Clone: own, Tip: mine}, "split 1 1 implementations/c.json"))
		})
	}
}

func TestFetchErrors(t *testing.T) {
	root := t.TempDir()
	server := serve(t, root)
	git(t, root, "init", "-q", "-b", "main", "r")
	commit(t, filepath.Join(root, "r"), "x", "x")
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	moved := httptest.NewServer(http.RedirectHandler(server.URL+"/r/.git/info/refs?service=git-upload-pack", http.StatusFound))
	t.Cleanup(moved.Close)
	marker := filepath.Join(temp, "ran")
	tests := []struct {
		source Source
		want   error
	}{
		{Source{URL: server.URL + "/missing"}, ErrFetch},
		{Source{URL: server.URL + "/r/.git", MaxBytes: 10}, ErrTooLarge},
		{Source{URL: server.URL + "/r/.git", Clone: root + "/nowhere", Tip: strings.Repeat("a", 40)}, ErrFetch},
		{Source{URL: moved.URL + "/r"}, ErrFetch},
		{Source{URL: "http://example.org/r"}, ErrURL},
		{Source{URL: "ssh://127.0.0.1/r"}, ErrURL},
		{Source{URL: "ext::sh -c 'touch " + marker + "'"}, ErrURL},
		{Source{URL: "--upload-pack=touch " + marker}, ErrURL},
		{Source{URL: "https://user:secret@example.org/r"}, ErrURL},
		{Source{URL: "https://example.org/r?x"}, ErrURL},
		{Source{URL: "https://"}, ErrURL},
		{Source{URL: root}, ErrURL},
		{Source{URL: "https://a b/"}, ErrURL},
	}
	for _, tt := range tests {
		_, err := Fetch(context.Background(), tt.source)
		if !errors.Is(err, tt.want) || strings.Contains(fmt.Sprint(err), "secret") {
			t.Errorf("fetching %q: error %v, want %v", tt.source.URL, err, tt.want)
		}
	}
	if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// TestFetchRefsWithoutEnd holds that refs without end, which git keeps in memory, end the fetch and not the machine.
func TestFetchRefsWithoutEnd(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil || runtime.GOOS != "linux" {
		t.Skip("NOT TESTED: it takes Linux and the git command")
	}
	sent := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/x-git-upload-pack-advertisement")
		id := strings.Repeat("a", 40)
		fmt.Fprintf(w, "001e# service=git-upload-pack\n0000%04x%s HEAD\x00\n", 4+40+6+1, id)
		name := strings.Repeat("n", 60_000)
		for ; sent < 40_000; sent++ {
			line := fmt.Sprintf("%s refs/heads/%05d%s\n", id, sent, name)
			if _, err := fmt.Fprintf(w, "%04x%s", 4+len(line), line); err != nil {
				return
			}
		}
	}))
	t.Cleanup(server.Close)
	_, err := Fetch(t.Context(), Source{URL: server.URL + "/r"})
	if !errors.Is(err, ErrFetch) || !strings.Contains(fmt.Sprint(err), "ut of memory") {
		t.Errorf("after %d refs: %v", sent, err)
	}
}

// TestFetchSilent holds that a peer that never answers is left when the context ends, with all its processes.
func TestFetchSilent(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("NOT TESTED: the git command is missing")
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	gone := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		cancel()
		<-r.Context().Done() // once the connection is closed
		close(gone)
	}))
	defer server.Close()
	if _, err := Fetch(ctx, Source{URL: server.URL + "/r"}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	<-gone
}

func TestDir(t *testing.T) {
	tests := []struct {
		peer, dir string
		ok        bool
	}{
		{"/srv/r", "/srv/r", true}, {"r", "r", true}, {"file:///srv/r%20s", "/srv/r s", true},
		{"file://host/srv/r", "", false}, {"https://example.org/r", "", false}, {"://", "", false},
	}
	for _, tt := range tests {
		if dir, ok := Dir(tt.peer); filepath.ToSlash(dir) != tt.dir || ok != tt.ok {
			t.Errorf("%q is the folder %q, %v", tt.peer, dir, ok)
		}
	}
}
