package gitstore

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/git/gitobject"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/gittest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

// cloneOf makes a clone through git clone.
func (c clone) cloneOf(args ...string) clone {
	c.T.Helper()
	to := clone{gittest.At(c.T, filepath.Join(c.T.TempDir(), "clone"))}
	c.Git(append(append([]string{"-c", "protocol.file.allow=always", "clone", "-q"}, args...), to.Dir)...)
	return to
}

func (c clone) url() string { return "file://" + filepath.ToSlash(c.Dir) }

// realPath is a path as the operating system's links make it, since temporary directories may be links.
func realPath(t *testing.T, path string) string {
	t.Helper()
	out := must.Get(filepath.EvalSymlinks(path))(t)
	return out
}

func TestOpenShapes(t *testing.T) {
	origin := newClone(t)
	origin.history(4)
	origin.Git("tag", "-a", "-m", "v1", "v1", "HEAD~1")
	origin.Write(".gitmodules", "")
	head := origin.commit("head")

	check := func(t *testing.T, dir, worktree string) *Store {
		t.Helper()
		s := must.Get(Open(dir))(t)
		t.Cleanup(func() { s.Close() })
		if got, err := s.Resolve("HEAD"); err != nil || got.String() != head {
			t.Errorf("HEAD is %v, %v, want %s", got, err, head)
		}
		if worktree != "" {
			worktree = realPath(t, worktree)
		}
		if got := s.Worktree(); got != "" && realPath(t, got) != worktree || got == "" && worktree != "" {
			t.Errorf("work tree %q, want %q", got, worktree)
		}
		compare(t, clone{gittest.At(t, dir)}, s)
		return s
	}
	t.Run("work tree", func(t *testing.T) {
		s := check(t, origin.Dir, origin.Dir)
		if s.Shallow() || s.promisor || s.RemoteURL() != "" {
			t.Errorf("shallow %v, promisor %v, remote %q", s.Shallow(), s.promisor, s.RemoteURL())
		}
	})
	t.Run("below the work tree", func(t *testing.T) {
		check(t, filepath.Join(origin.Dir, "implementations"), origin.Dir)
	})
	t.Run("the Git directory itself", func(t *testing.T) {
		check(t, filepath.Join(origin.Dir, ".git"), origin.Dir)
	})
	t.Run("below the Git directory", func(t *testing.T) {
		check(t, filepath.Join(origin.Dir, ".git", "objects"), origin.Dir)
	})
	t.Run("a relative path", func(t *testing.T) {
		t.Chdir(origin.Dir)
		check(t, ".", origin.Dir)
	})
	t.Run("bare", func(t *testing.T) {
		c := origin.cloneOf("--bare", origin.url())
		if s := check(t, c.Dir, ""); s.RemoteURL() != origin.url() {
			t.Errorf("remote %q, want %q", s.RemoteURL(), origin.url())
		}
	})
	t.Run("below a bare clone", func(t *testing.T) {
		c := origin.cloneOf("--bare", origin.url())
		if s := check(t, filepath.Join(c.Dir, "refs"), ""); s.Directory() != c.Dir {
			t.Errorf("directory %q, want %q", s.Directory(), c.Dir)
		}
	})
	t.Run("mirror", func(t *testing.T) { check(t, origin.cloneOf("--mirror", origin.url()).Dir, "") })
	t.Run("separate Git directory", func(t *testing.T) {
		c := origin.cloneOf("--separate-git-dir="+filepath.Join(t.TempDir(), "elsewhere"), origin.url())
		check(t, c.Dir, c.Dir)
	})
	t.Run("shared", func(t *testing.T) { c := origin.cloneOf("--shared", origin.url()); check(t, c.Dir, c.Dir) })
	t.Run("shared twice", func(t *testing.T) {
		once := origin.cloneOf("--shared", origin.Dir)
		c := once.cloneOf("--shared", once.Dir)
		s := check(t, c.Dir, c.Dir)
		if len(s.dirs) != 3 {
			t.Errorf("object directories %q, want 3", s.dirs)
		}
	})
	t.Run("linked work tree", func(t *testing.T) {
		c := origin.cloneOf(origin.url())
		c.Git("checkout", "-q", "-b", "other", "HEAD~2")
		linked := filepath.Join(t.TempDir(), "linked")
		c.Git("worktree", "add", "-q", linked, head)
		check(t, linked, linked)
		check(t, filepath.Join(linked, "implementations"), linked)
		s := must.Get(Open(linked))(t)
		defer s.Close()
		other, err := s.Resolve("other")
		if want := c.Git("rev-parse", "HEAD"); err != nil || other.String() != want {
			t.Errorf("other is %v, %v, want %s", other, err, want)
		}
		const bisect = "refs/bisect/bad"
		gittest.At(t, linked).Git("update-ref", bisect, head)
		if !s.HasRef(bisect) {
			t.Errorf("%s, a ref of the linked work tree, is not found", bisect)
		}
	})
	t.Run("linked work tree of a bare clone", func(t *testing.T) {
		c := origin.cloneOf("--bare", origin.url())
		linked := filepath.Join(t.TempDir(), "linked")
		c.Git("worktree", "add", "-q", linked, "HEAD")
		check(t, linked, linked)
	})
	t.Run("sparse checkout", func(t *testing.T) {
		c := origin.cloneOf(origin.url())
		c.Git("sparse-checkout", "set", "implementations")
		if got := c.Git("config", "extensions.worktreeConfig"); got != "true" {
			t.Fatalf("extensions.worktreeConfig is %q: the case is not made", got)
		}
		check(t, c.Dir, c.Dir)
	})
	t.Run("settings that change nothing", func(t *testing.T) {
		c := origin.cloneOf(origin.url())
		c.Config("core.repositoryFormatVersion", "1")
		c.Config("extensions.preciousObjects", "true")
		c.Config("extensions.noop", "1")
		c.Config("extensions.objectFormat", "sha1")
		c.Config("include.path", "/absent")
		c.Config("includeIf.gitdir:/x/.path", "/absent")
		check(t, c.Dir, c.Dir)
	})
	t.Run("replacements and grafts", func(t *testing.T) {
		c := origin.cloneOf(origin.url())
		blob := c.Git("rev-parse", "HEAD:README.md")
		other := c.GitInput("replaced\n", "hash-object", "-w", "--stdin")
		c.Git("replace", blob, other)
		c.Git("replace", "HEAD", "HEAD~2")
		c.Write(".git/info/grafts", head+"\n")
		s := check(t, c.Dir, c.Dir)
		want := must.Read(t, filepath.Join(c.Dir, "README.md"))
		if _, got, err := s.Read(mustID(t, blob), 1<<20); err != nil || string(got) != string(want) {
			t.Errorf("read %.20q, %v, want %.20q", got, err, want)
		}
		if got, err := s.Resolve("HEAD^"); err != nil || got.String() != origin.Git("rev-parse", "HEAD^") {
			t.Errorf("HEAD^ is %v, %v", got, err)
		}
	})
}

func TestShallow(t *testing.T) {
	origin := newClone(t)
	origin.history(4)
	c := origin.cloneOf("--depth=2", origin.url())
	s := c.open()
	compare(t, c, s)
	if !s.Shallow() {
		t.Error("the clone is not seen to be shallow")
	}
	parent, err := s.Resolve("HEAD^")
	if err != nil || !s.IsShallow(parent) {
		t.Errorf("HEAD^ is %v, %v, want the boundary", parent, err)
	}
	wantError(t, second(s.Resolve("HEAD~2")), ErrShallow,
		"git fetch --unshallow (in Actions: fetch-depth: 0)")
	missing := mustID(t, origin.Git("rev-parse", "HEAD~2"))
	_, _, err = s.Read(missing, 1<<20)
	wantError(t, err, ErrShallow, "git fetch --unshallow (in Actions: fetch-depth: 0)")
}

func second[T any](_ T, err error) error { return err }

// wantError demands an *Error of a kind, with the remedy.
func wantError(t *testing.T, err, want error, remedy string) {
	t.Helper()
	e := (*Error)(nil)
	if !errors.As(err, &e) || !errors.Is(err, want) {
		t.Errorf("got error %v, want %v", err, want)
		return
	}
	if !strings.Contains(e.Fix(), remedy) {
		t.Errorf("%v: fix %q, want %q", err, e.Fix(), remedy)
	}
}

func TestPartial(t *testing.T) {
	origin := newClone(t)
	origin.history(3)
	origin.Config("uploadpack.allowFilter", "true")
	c := origin.cloneOf("--no-checkout", "--filter=blob:none", origin.url())
	s := c.open()
	if !s.promisor {
		t.Error("the clone is not seen to be partial")
	}
	if _, err := s.Resolve("HEAD~2"); err != nil {
		t.Error(err)
	}
	blob := mustID(t, origin.Git("rev-parse", "HEAD:README.md"))
	wantError(t, third(s.Read(blob, 1<<20)), ErrPartial, "git fetch --refetch --no-filter origin")
}

func third[T, U any](_ T, _ U, err error) error { return err }

func TestAlternates(t *testing.T) {
	origin := newClone(t)
	origin.history(2)
	head := origin.Git("rev-parse", "HEAD")
	setup := func(t *testing.T, alternates string) *Store {
		c := newClone(t)
		c.Write(".git/objects/info/alternates", alternates)
		return c.open()
	}
	dir := filepath.Join(origin.Dir, ".git", "objects")
	for name, text := range map[string]string{
		"absolute": dir + "\n", "no line end": dir, "comment": "# x\n\n" + dir + "\n", "twice": dir + "\n" + dir + "\n",
		"and one that is not there": "/absent/objects\n" + dir + "\n", "CR LF is no line end of git's, nor ours": dir +
			"\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := setup(t, text).Resolve(head + "~1"); err != nil {
				t.Error(err)
			}
		})
	}
	t.Run("relative", func(t *testing.T) {
		c := newClone(t)
		to := must.Get(filepath.Rel(filepath.Join(realPath(t, c.Dir), ".git", "objects"), realPath(t, dir)))(t)
		c.Write(".git/objects/info/alternates", to+"\n")
		if _, err := c.open().Resolve(head); err != nil {
			t.Error(err)
		}
	})
	t.Run("not there", func(t *testing.T) {
		s := setup(t, "/absent/objects\n")
		wantError(t, second(s.Resolve(head)), ErrNotFound, "/absent/objects")
	})
	t.Run("itself, and in a circle", func(t *testing.T) {
		a, b := newClone(t), newClone(t)
		for from, to := range map[clone]clone{a: b, b: a} {
			from.Write(".git/objects/info/alternates", ".\n"+filepath.Join(to.Dir, ".git/objects")+"\n")
		}
		if s := a.open(); len(s.dirs) != 2 {
			t.Errorf("object directories %q, want 2", s.dirs)
		}
	})
	t.Run("nested too deep", func(t *testing.T) {
		first := newClone(t)
		from := first
		for range maxNesting + 2 {
			to := newClone(t)
			from.Write(".git/objects/info/alternates", filepath.Join(to.Dir, ".git/objects")+"\n")
			from = to
		}
		wantError(t, second(Open(first.Dir)), gitobject.ErrTooLarge, "")
	})
	t.Run("too many", func(t *testing.T) {
		c := newClone(t)
		var list strings.Builder
		for i := range maxAlternate + 1 {
			c.Write(fmt.Sprintf(".git/more/%d/x", i), "")
			fmt.Fprintf(&list, "../more/%d\n", i)
		}
		c.Write(".git/objects/info/alternates", list.String())
		wantError(t, second(Open(c.Dir)), gitobject.ErrTooLarge, "")
	})
	t.Run("too long", func(t *testing.T) {
		c := newClone(t)
		c.Write(".git/objects/info/alternates", strings.Repeat("#\n", maxAlternates))
		wantError(t, second(Open(c.Dir)), gitobject.ErrTooLarge, "")
	})
	t.Run("quoted", func(t *testing.T) {
		c := newClone(t)
		c.Write(".git/objects/info/alternates", `"/a\tb"`+"\n")
		wantError(t, second(Open(c.Dir)), gitobject.ErrUnsupported, "without quotes")
	})
}

func TestOpenRefuses(t *testing.T) {
	version1 := "[core]\nrepositoryformatversion = 1\n"
	for _, test := range []struct {
		name   string
		spoil  func(c clone)
		want   error
		remedy string
	}{
		{"reftable", func(c clone) { c.Write(".git/config", version1+"[extensions]\nrefStorage = reftable\n") },
			gitobject.ErrUnsupported, "git refs migrate --ref-format=files"},
		{"unknown extension", func(c clone) { c.Write(".git/config", version1+"[extensions]\nfuture = true\n") },
			gitobject.ErrUnsupported, "clone it again"},
		{"unknown object format",
			func(c clone) { c.Write(".git/config", version1+"[extensions]\nobjectFormat = sha3\n") },
			gitobject.ErrUnsupported, "clone it again"},
		{"unknown version", func(c clone) { c.Write(".git/config", "[core]\nrepositoryformatversion = 2\n") },
			gitobject.ErrUnsupported, "clone it again"},
		{"version that is no number",
			func(c clone) { c.Write(".git/config", "[core]\nrepositoryformatversion = 0x1\n") },
			gitobject.ErrUnsupported, "clone it again"},
		{"extension of version 1 in version 0",
			func(c clone) { c.Write(".git/config", "[extensions]\nobjectFormat = sha256\n") },
			gitobject.ErrUnsupported, "core.repositoryFormatVersion"},
		{"config that is none", func(c clone) { c.Write(".git/config", "[core\n") }, gitobject.ErrCorrupt, ""},
		{"endless config", func(c clone) { c.Write(".git/config", strings.Repeat("#\n", maxConfig)) },
			gitobject.ErrTooLarge, ""},
		{"shallow that holds no ids", func(c clone) { c.Write(".git/shallow", "x\n") }, gitobject.ErrCorrupt, ""},
		{"index of version 1", func(c clone) {
			c.commit("one")
			c.Git("-c", "pack.indexVersion=1", "repack", "-q", "-a", "-d")
		}, gitobject.ErrUnsupported, "git -c pack.indexVersion=2 repack -a -d"},
		{"index that is none", func(c clone) { c.Write(".git/objects/pack/pack-1.idx", "x") }, gitobject.ErrCorrupt,
			"git fsck"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := newClone(t)
			test.spoil(c)
			wantError(t, second(Open(c.Dir)), test.want, test.remedy)
		})
	}
	t.Run("no repository", func(t *testing.T) {
		wantError(t, second(Open(t.TempDir())), ErrNotRepository, "name the directory of a clone")
	})
	t.Run("no directory", func(t *testing.T) {
		wantError(t, second(Open(filepath.Join(t.TempDir(), "absent"))), ErrNotRepository,
			"name the directory of a clone")
	})
	t.Run("a file", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "x")
		must.OK(t, os.WriteFile(file, nil, 0o600))
		wantError(t, second(Open(file)), ErrNotRepository, "name the directory of a clone")
	})
	t.Run("what may not be read", func(t *testing.T) {
		for _, part := range []string{"", ".git", ".git/objects", ".git/config"} {
			c := newClone(t)
			must.OK(t, os.Chmod(filepath.Join(c.Dir, part), 0))
			_, err := Open(c.Dir)
			must.OK(t, os.Chmod(filepath.Join(c.Dir, part), 0o700))
			if err == nil {
				t.Skip("this user reads all, and nothing was seen")
			}
			wantError(t, err, fs.ErrPermission, "")
			if fix := err.(*Error).Fix(); fix != "let the user who runs oap-gate read it" {
				t.Errorf("%q: fix %q", part, fix)
			}
		}
	})
	t.Run("the nearest .git decides", func(t *testing.T) {
		c := newClone(t)
		c.commit("outer")
		for i, spoil := range []func(dir string) error{
			func(dir string) error { return os.Mkdir(dir, 0o777) },
			func(dir string) error { return os.WriteFile(dir, []byte("gitdir: nowhere\n"), 0o666) },
			func(dir string) error { return os.Symlink("nowhere", dir) },
		} {
			inner := filepath.Join(c.Dir, fmt.Sprint("inner", i))
			must.OK(t, os.MkdirAll(filepath.Join(inner, "sub"), 0o777))
			must.OK(t, spoil(filepath.Join(inner, ".git")))
			for _, dir := range []string{inner, filepath.Join(inner, "sub")} {
				if s, err := Open(dir); err == nil {
					t.Errorf("%s: the repository %s is read", dir, s.GitDir())
				}
			}
		}
	})
	t.Run("OpenAt looks at one directory", func(t *testing.T) {
		c := newClone(t)
		c.commit("outer")
		c.Write("sub/x", "")
		s := must.Get(OpenAt(c.Dir))(t)
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		wantError(t, second(OpenAt(filepath.Join(c.Dir, "sub"))), ErrNotRepository, "name the directory of a clone")
	})
	t.Run("a .git file that leads nowhere", func(t *testing.T) {
		for _, text := range []string{"gitdir: /absent\n", "gitdir: \n", "x", "", "gitdir: a\nb", "gitdir: \x00"} {
			c := clone{gittest.At(t, t.TempDir())}
			c.Write(".git", text)
			wantError(t, second(Open(c.Dir)), ErrNotRepository, "")
		}
	})
}

// A clone that git repacks and fetches into while it is read.
func TestReadWhileGitWrites(t *testing.T) {
	c := newClone(t)
	c.history(3)
	s := c.open()
	compare(t, c, s) // loose
	c.Git("repack", "-q", "-a", "-d")
	compare(t, c, s)
	c.history(4)
	c.Git("repack", "-q", "-a", "-d", "-f")
	compare(t, c, s)
	c.Git("gc", "-q", "--prune=now")
	compare(t, c, s)
	c.Write("new", "new\n")
	head := c.commit("new")
	if got, err := s.Resolve(head[:10]); err != nil || got.String() != head {
		t.Errorf("%s is %v, %v", head[:10], got, err)
	}
	c.Git("repack", "-q", "-a", "-d")
	fresh := c.open()
	c.Git("repack", "-q", "-a", "-d", "-f", "--depth=0") // takes away packs that fresh listed and did not open
	compare(t, c, fresh)
}

// Readers beside a git that repacks all the time.
func TestReadDuringRepack(t *testing.T) {
	c := newClone(t)
	c.history(3)
	ids := strings.Fields(c.Git("cat-file", "--batch-all-objects", "--batch-check=%(objectname)"))
	s := c.open()
	done := make(chan error)
	go func() {
		var err error
		for i := 0; i < 8 && err == nil; i++ {
			_, err = c.Try("", "repack", "-q", "-a", "-d", "-f", fmt.Sprintf("--depth=%d", i))
		}
		done <- err
	}()
	for reads := 0; ; reads++ {
		for _, id := range ids {
			s.cache = cache{}
			if _, _, err := s.Read(mustID(t, id), 1<<20); err != nil {
				t.Error(err)
			}
		}
		select {
		case err := <-done:
			if err != nil || reads == 0 {
				t.Errorf("%d rounds of reads, %v", reads, err)
			}
			return
		default:
		}
	}
}
