package mirror

import (
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence/live"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/ghtest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/gittest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

// overHTTP runs git in a directory, by http too.
func overHTTP(t *testing.T, dir string, args ...string) (string, error) {
	t.Helper()
	cmd := gittest.At(t, dir).Command(args...)
	cmd.Env = append(cmd.Env, "GIT_ALLOW_PROTOCOL=file:http", "GIT_TERMINAL_PROMPT=0")
	out, err := cmd.CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

// TestServeGit clones a mirror by git's dumb protocol and follows it: the clone has the verified branch alone, whatever
// the origin serves and the mirror keeps.
func TestServeGit(t *testing.T) {
	root := t.TempDir()
	smart, err := ghtest.ServeGit(root)
	if err != nil {
		t.Skip("NOT TESTED: ", err)
	}
	t.Cleanup(smart.Close)
	if out, err := exec.Command("git", "--exec-path").Output(); err != nil {
		t.Fatal(err)
	} else if _, err := os.Stat(filepath.Join(strings.TrimSpace(string(out)), "git-remote-http")); err != nil {
		t.Skip("NOT TESTED: git cannot speak http: ", err)
	}
	origin := filepath.Join(root, "origin")
	gittest.At(t, root).Git("init", "-q", "-b", "main", "origin")
	work := gittest.At(t, origin)
	first := work.Commit("implementations/a.json", strings.Repeat("a\n", 1000))
	url := smart.URL + "/origin/.git"
	d := must.Get(OpenDir(filepath.Join(t.TempDir(), "mirror"), url, "", "main"))(t)
	t.Cleanup(func() { d.Close() })
	site := httptest.NewServer(NewSite(d, time.Hour, true))
	t.Cleanup(site.Close)
	at := site.URL + "/registry.git"
	fetch := func() string {
		t.Helper()
		tip := must.Get(d.Fetch(t.Context(), Origin{URL: url, Live: live.Options{}, MaxDisk: 1 << 30}))(t)
		return tip
	}
	git := func(dir string, args ...string) string {
		t.Helper()
		out, err := overHTTP(t, dir, args...)
		if err != nil {
			t.Fatalf("git %q: %v\n%s", args, err, out)
		}
		return out
	}
	fetch()
	// Nothing is verified yet: there is a repository, and no branch.
	if out := git(root, "ls-remote", at); out != "" {
		t.Errorf("before the first verified head, the mirror shows %q", out)
	}
	must.OK(t, d.SetVerified(first))
	clone := filepath.Join(t.TempDir(), "clone")
	git(root, "clone", "-q", at, clone)
	refs := func() string { return git(clone, "for-each-ref", "--format=%(objectname) %(refname)", "refs/remotes") }
	if want := first + " refs/remotes/origin/HEAD\n" + first + " refs/remotes/origin/main"; refs() != want {
		t.Errorf("the clone has %q, want %q", refs(), want)
	}
	// The origin moves: what it serves now is in the mirror's clone, and nobody sees it before it is verified.
	second := work.Commit("implementations/b.json", strings.Repeat("b\n", 1000))
	if got := fetch(); got != second {
		t.Fatalf("the mirror fetched %s, want %s", got, second)
	}
	if want := first + "\tHEAD\n" + first + "\trefs/heads/main"; git(root, "ls-remote", at) != want {
		t.Errorf("the mirror shows %q, want %q", git(root, "ls-remote", at), want)
	}
	git(clone, "fetch", "-q")
	if !strings.HasPrefix(refs(), first+" ") {
		t.Errorf("before it was verified, the clone has %q", refs())
	}
	must.OK(t, d.SetVerified(second))
	git(clone, "fetch", "-q")
	if want := second + " refs/remotes/origin/main"; !strings.HasSuffix(refs(), want) {
		t.Errorf("the clone has %q, want %q", refs(), want)
	}
	// A rewrite is kept as refs/rewritten, which is hidden as well.
	work.Git("commit", "-q", "--amend", "-m", "Another")
	fetch()
	if kept, err := os.ReadDir(filepath.Join(d.Clone(), "refs", "rewritten")); err != nil || len(kept) != 1 {
		t.Fatalf("%d rewritten tips are kept, %v", len(kept), err)
	}
	if want := second + "\tHEAD\n" + second + "\trefs/heads/main"; git(root, "ls-remote", at) != want {
		t.Errorf("after a rewrite the mirror shows %q, want %q", git(root, "ls-remote", at), want)
	}
	git(clone, "fsck", "--strict")
	again := filepath.Join(t.TempDir(), "again")
	git(root, "-c", "transfer.fsckObjects=true", "clone", "-q", "--bare", at, again)
	if got := git(again, "rev-parse", "main"); got != second {
		t.Errorf("a clone after it has %s, want %s", got, second)
	}
	if out, err := overHTTP(t, clone, "push", "-q", at, "HEAD:refs/heads/x"); err == nil {
		t.Errorf("a push ends well: %s", out)
	}
}

// TestServeGitServesNoMore checks that of registry.git only what the dumb protocol asks for is served.
func TestServeGitServesNoMore(t *testing.T) {
	d := must.Get(OpenDir(filepath.Join(t.TempDir(), "mirror"), "https://registry.example/r", "", "main"))(t)
	defer d.Close()
	must.OK(t, d.SetVerified(strings.Repeat("a", 40)))
	sum := strings.Repeat("0", 40)
	loose := filepath.Join(d.Clone(), "objects", "00")
	if err := os.MkdirAll(filepath.Join(loose, strings.Repeat("1", 38)), 0o777); err != nil { // a directory
		t.Fatal(err)
	}
	for _, name := range []string{"objects/pack/pack-" + sum + ".pack", "objects/pack/pack-" + sum + ".keep",
		"objects/pack/incoming", "objects/info/alternates", "objects/00/" + sum[:38], "packed-refs"} {
		must.OK(t, os.WriteFile(filepath.Join(d.Clone(), name), []byte("x"), 0o666))
	}
	get := func(site *Site, path string) (int, string) {
		w := httptest.NewRecorder()
		r := httptest.NewRequest("GET", "/", nil)
		r.URL.Path = "/registry.git/" + path
		site.ServeHTTP(w, r)
		return w.Code, w.Body.String()
	}
	site := NewSite(d, time.Hour, true)
	for path, want := range map[string]string{"HEAD": "ref: refs/heads/main\n",
		"info/refs":                          strings.Repeat("a", 40) + "\trefs/heads/main\n",
		"objects/info/packs":                 "\n", // the pack has no index: it is not whole
		"objects/pack/pack-" + sum + ".pack": "x", "objects/00/" + sum[:38]: "x"} {
		if code, body := get(site, path); code != 200 || body != want {
			t.Errorf("%s: %d %q, want %q", path, code, body, want)
		}
		if code, _ := get(NewSite(d, time.Hour, false), path); code != 404 {
			t.Errorf("%s without --serve-git: %d", path, code)
		}
	}
	for _, path := range []string{"", "config", "packed-refs", "refs/heads/main", "refs/remotes/origin/main",
		"objects", "objects/", "objects/pack", "objects/pack/", "objects/pack/pack-" + sum + ".keep",
		"objects/pack/incoming", "objects/info/alternates", "objects/info/http-alternates",
		"objects/00/" + strings.Repeat("1", 38), "objects/00/../../config", "../checkpoint", "HEAD/", "HEAD\x00",
		"info/refs/", "git-upload-pack", "objects/pack/pack-" + strings.Repeat("1", 40) + ".idx"} {
		if code, body := get(site, path); code != 404 || strings.Contains(body, d.Path) {
			t.Errorf("%s: %d %q", path, code, body)
		}
	}
	// A clone that cannot be read is no empty one.
	must.OK(t, os.WriteFile(filepath.Join(d.Clone(), "refs", "heads", "main"), []byte("torn"), 0o666))
	if code, body := get(site, "info/refs"); code != 500 || strings.Contains(body, d.Path) {
		t.Errorf("with a torn ref: %d %q", code, body)
	}
}
