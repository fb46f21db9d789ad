package commitsig

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/git/gitstore"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/needs"
)

// bench is a repository, a GnuPG home that holds private keys, and one that holds what is trusted.
type bench struct {
	t            testing.TB
	dir          string
	env          []string
	home, public string
	allowed      string
}

// epoch is the committer date of commits that name none, 2023-11-14 22:13:20 UTC.
const epoch = 1_700_000_000

func newBench(t testing.TB, format string, programs ...string) *bench {
	t.Helper()
	needs.Program(t, append(programs, "git")...)
	root, err := os.MkdirTemp("", "sig") // the agent's socket needs a short path
	must.OK(t, err)
	b := &bench{t: t, dir: root + "/r", home: root + "/h", public: root + "/p", allowed: root + "/allowed"}
	for _, d := range []string{b.dir, b.home, b.public} {
		must.OK(t, os.Mkdir(d, 0o700))
	}
	b.env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + root, "LC_ALL=C", "TZ=UTC",
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_NO_REPLACE_OBJECTS=1",
		"GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_COMMITTER_NAME=C",
		"GIT_COMMITTER_EMAIL=c@example.org"}
	t.Cleanup(func() {
		if len(programs) > 0 && programs[0] == "gpg" {
			for _, home := range []string{b.home, b.public} {
				_, _ = b.run("", "GNUPGHOME="+home, "gpgconf", "--kill", "all")
			}
		}
		if err := os.RemoveAll(root); err != nil {
			t.Error(err)
		}
	})
	b.git("", "init", "-q", "-b", "main", "--object-format="+format)
	return b
}

// run runs a program; env is one more variable.
func (b *bench) run(input, env, name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir = b.dir
	cmd.Stdin = strings.NewReader(input)
	cmd.Env = append(b.env[:len(b.env):len(b.env)], env)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, stderr.Bytes())
	}
	return string(out), err
}

func (b *bench) must(input, env, name string, args ...string) string {
	b.t.Helper()
	out := must.Get(b.run(input, env, name, args...))(b.t)
	return out
}

func (b *bench) git(input string, args ...string) string {
	b.t.Helper()
	return strings.TrimSuffix(b.must(input, "GNUPGHOME="+b.home, "git", args...), "\n")
}

// signed makes a commit with a signature, by options of git, and gives its id.
func (b *bench) signed(when int64, options ...string) string {
	b.t.Helper()
	tree := b.git("", "write-tree")
	date := strconv.FormatInt(when, 10) + " +0000"
	b.env = append(b.env, "GIT_AUTHOR_DATE="+date, "GIT_COMMITTER_DATE="+date)
	return b.git("message\n", append(options, "commit-tree", "-S", tree)...)
}

// raw is the text of a commit.
func (b *bench) raw(id string) string { return b.must("", "A=", "git", "cat-file", "commit", id) }

// store writes a commit's text.
func (b *bench) store(text string) string {
	b.t.Helper()
	return b.git(text, "hash-object", "-t", "commit", "-w", "--literally", "--stdin")
}

// accepted reports whether git verify-commit accepts a commit.
func (b *bench) accepted(id string, at time.Time) bool {
	b.t.Helper()
	gpg := filepath.Join(filepath.Dir(b.dir), "gpg-at")
	script := fmt.Sprintf("#!/bin/sh\nexec gpg --faked-system-time %d! \"$@\"\n", at.Unix())
	must.OK(b.t, os.WriteFile(gpg, []byte(script), 0o700))
	_, err := b.run("", "GNUPGHOME="+b.public, "git", "-c", "gpg.program="+gpg, "-c", "gpg.ssh.allowedSignersFile="+
		b.allowed,
		"verify-commit", id)
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		b.t.Fatal(err)
	}
	return err == nil
}

func decode(t testing.TB, raw string) *gitstore.CommitObject {
	t.Helper()
	c := must.Get(gitstore.DecodeCommit([]byte(raw)))(t)
	return c
}

// verdictCase is a commit and what it must be judged. Where strict is set, git accepts and the package does not; where
// ended is set, the package accepts and git does not, since the OpenPGP key ended since the commit landed.
type verdictCase struct {
	name   string
	commit string    // id
	at     time.Time // when it landed; zero: an SSH commit at its date, another a day after the epoch
	clock  time.Time // of git; zero: at
	want   Verdict
	strict bool
	ended  bool
}

func (b *bench) compare(v *Verifier, cases []verdictCase) {
	for _, c := range cases {
		t, ok := b.t.(*testing.T)
		if !ok {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			at, object := c.at, decode(t, b.raw(c.commit))
			if at.IsZero() {
				at = time.Unix(epoch+86400, 0)
				if signatureOf(object).kind == bySSH && object.When > 0 {
					at = time.Unix(object.When, 0)
				}
			}
			got := v.Verify(object, at)
			if got.Verdict != c.want {
				t.Errorf("judged %+v, want %s", got, c.want)
			}
			if (got.Detail == "") != (got.Verdict == Good || got.Verdict == Unsigned) {
				t.Errorf("the detail is %q with the verdict %s", got.Detail, got.Verdict)
			}
			if !c.clock.IsZero() {
				at = c.clock
			}
			if accepted := b.accepted(c.commit, at); accepted != ((c.want == Good || c.strict) && !c.ended) {
				t.Errorf("git verify-commit accepts: %v", accepted)
			}
		})
	}
}

// edit replaces a part of a commit that stands in it once.
func edit(t testing.TB, raw, old, now string) string {
	t.Helper()
	if strings.Count(raw, old) != 1 {
		t.Fatalf("%q stands %d times in\n%s", old, strings.Count(raw, old), raw)
	}
	return strings.Replace(raw, old, now, 1)
}

// sigHeader is a commit's signature header with its continuation lines.
func sigHeader(t testing.TB, raw string) string {
	t.Helper()
	start := strings.Index(raw, "\ngpgsig")
	end := strings.Index(raw, "\n\n")
	if start < 0 {
		t.Fatal("no signature")
	}
	lines := strings.SplitAfter(raw[start+1:end+1], "\n")
	n := 1
	for n < len(lines) && strings.HasPrefix(lines[n], " ") {
		n++
	}
	return strings.Join(lines[:n], "")
}
