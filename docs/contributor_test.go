package docs_test

import (
	"crypto/ed25519"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/cli"
	"github.com/openagentprotocol-OAP/oap-gate/internal/cli/oapgate"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/privatekey"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/fixture"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/needs"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/webtest"
)

var update = flag.Bool("update", false, "write what the commands of contributor.md print into the page")

// TestMain lets the test binary be the program that the pages call.
func TestMain(m *testing.M) {
	if os.Getenv("OAP_GATE_OF_THE_DOCS") != "" {
		privatekey.AcceptExamples()
		os.Exit(cli.Run(&oapgate.Program, os.Args[1:], cli.System()))
	}
	flag.Parse()
	os.Exit(m.Run())
}

const contributorWorld = `
base:
  - {listing: ada, level: L4, witness: [bob]}
  - {listing: bob, level: L4, witness: [ada]}
  - {listing: cyd, level: L4, witness: [ada]}
`

// session is a contributor's shell in a world on loopback.
type session struct {
	t     *testing.T
	world *fixture.World
	home  string
	fork  string // the bare repository behind origin
	dir   string // working directory
}

var console = regexp.MustCompile("(?s)<!-- (deploy|upload|serve|key|merge) ([^>]*) -->\n|```console\n(.*?)```\n|" +
	"<!-- file ([^ ]*) -->\n\n```json\n(.*?)```\n")

// TestContributorPage runs each command of the page, in its order, and compares what it prints with the page. In the
// page … stands for any text of a line, and alone on a line for any lines.
func TestContributorPage(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the page's commands are those of a POSIX shell")
	}
	needs.Program(t, "sh")
	const page = "contributor.md"
	text := must.Read(t, page)
	s := open(t)
	ran := 0
	now := console.ReplaceAllStringFunc(string(text), func(found string) string {
		m := console.FindStringSubmatch(found)
		switch {
		case m[1] != "":
			if err := s.prepare(m[1], strings.Fields(m[2])); err != nil {
				t.Fatalf("%s %s: %v", m[1], m[2], err)
			}
			return found
		case m[4] != "":
			if err := s.copyFile(m[4], m[5]); err != nil {
				t.Fatalf("file %s: %v", m[4], err)
			}
			return found
		}
		var out strings.Builder
		for _, step := range steps(m[3]) {
			ran++
			got := s.run(step.command)
			if !same(step.output, got) {
				if !*update {
					t.Errorf("$ %s\n%s\nthe page shows\n%s", step.command, got, step.output)
				}
				step.output = got
			}
			fmt.Fprintf(&out, "$ %s\n%s", step.command, step.output)
		}
		return "```console\n" + out.String() + "```\n"
	})
	if *update {
		must.OK(t, os.WriteFile(page, []byte(now), 0o644))
	}
	if ran < 15 {
		t.Errorf("the page runs %d commands", ran)
	}
}

// open makes the world, and a home in which git knows the registry by its public name.
func open(t *testing.T) *session {
	t.Helper()
	w := must.Get(fixture.Build(t.TempDir(), []byte(contributorWorld)))(t)
	t.Cleanup(func() { w.Close() })
	if out, err := exec.Command("git", "-C", w.Repo.Dir, "checkout", "-q", "main").CombinedOutput(); err != nil {
		t.Fatalf("%s: %v", out, err) // whoever clones gets the registry's main branch
	}
	s := &session{t: t, world: w, home: t.TempDir()}
	// The contributor has a fork, whose main is never brought up to date.
	fork := filepath.Join(t.TempDir(), "fork.git")
	if out, err := exec.Command("git", "clone", "-q", "--bare", w.Repo.Dir, fork).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v", out, err)
	}
	authority := must.Read(t, filepath.Join(w.Dir, "ca.pem"))
	must.OK(t, os.WriteFile(filepath.Join(s.home, "ca.pem"), authority, 0o644))
	s.fork = fork
	s.dir = s.home
	bin := filepath.Join(s.home, "bin")
	must.OK(t, os.Mkdir(bin, 0o755))
	self := must.Get(os.Executable())(t)
	var flags strings.Builder
	// Without --repo: the page's is the current directory.
	for _, a := range append(w.Args()[2:], "--retry-wait", "1ms") {
		fmt.Fprintf(&flags, " '%s'", a)
	}
	program := fmt.Sprintf("#!/bin/sh\n"+
		"case \"$1 $2\" in\n\"key new\") exec '%[1]s' \"$@\";;\nlist*) exec '%[1]s' \"$@\" %[2]s;;\n"+
		"esac\nexec '%[1]s' \"$@\"%[3]s\n", self, strings.Join(w.Args()[2:4], " "), &flags)
	must.OK(t, os.WriteFile(filepath.Join(bin, "oap-gate"), []byte(program), 0o755))
	config := fmt.Sprintf("[user]\n\tname = Nova\n\temail = nova@nova.example\n[url \"%s\"]\n"+
		"\tinsteadOf = https://github.com/you/oap-registry\n[url \"%s\"]\n"+
		"\tinsteadOf = https://github.com/openagentprotocol-OAP/oap-registry\n"+
		"[init]\n\tdefaultBranch = main\n[advice]\n\tdetachedHead = false\n", fork, w.Repo.Dir)
	must.OK(t, os.WriteFile(filepath.Join(s.home, ".gitconfig"), []byte(config), 0o644))
	return s
}

var multikey = regexp.MustCompile(`(?m)^Multikey  (z6Mk\S+)$`)

// copyFile writes a file that the page shows whole, with the contributor's public key where the page has z6Mk….
func (s *session) copyFile(name, text string) error {
	const hole = "z6Mk…"
	if strings.Contains(text, hole) {
		shown := multikey.FindStringSubmatch(s.run("oap-gate key show oap.pem"))
		if shown == nil {
			return errors.New("key show prints no Multikey")
		}
		text = strings.ReplaceAll(text, hole, shown[1])
	}
	file := filepath.Join(s.home, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return os.WriteFile(file, []byte(text), 0o644)
}

// upload serves the files of a directory as a host, whose domain is old.
func (s *session) upload(host, dir string) error {
	s.world.Web.SetDomain(host, webtest.Domain{Registered: "2015-03-01T00:00:00Z"})
	dir = filepath.Join(s.home, dir)
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		s.world.Web.Page("https://"+host+filepath.ToSlash(strings.TrimPrefix(path, dir)), text)
		return err
	})
}

// prepare does what the page leaves to others: publish by a key or from a directory, serve a file, merge a branch; have
// another's key.
func (s *session) prepare(what string, args []string) error {
	switch {
	case what == "deploy" && len(args) == 3: // KEYFILE SLUG LEVEL
		text, err := os.ReadFile(filepath.Join(s.home, args[0]))
		if err != nil {
			return err
		}
		block, _ := pem.Decode(text)
		if block == nil {
			return errors.New("no PEM")
		}
		key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
		if err != nil {
			return err
		}
		s.world.Time = s.world.Time.Add(10 * time.Minute)
		s.world.Add(fixture.Implementation{Slug: args[1], Level: args[2]})
		return s.world.PublishBy(key.(ed25519.PrivateKey), args[1])
	case what == "serve" && len(args) == 2: // FILE URL
		text, err := os.ReadFile(filepath.Join(s.dir, args[0]))
		s.world.Web.Page(args[1], text)
		return err
	case what == "upload" && len(args) == 2: // HOST DIR
		return s.upload(args[0], args[1])
	case what == "merge" && len(args) == 1: // BRANCH: as the forge squashes a pull request
		for _, git := range [][]string{{"fetch", "-q", s.fork, args[0]}, {"merge", "-q", "--squash", "FETCH_HEAD"},
			{"-c", "user.name=M", "-c", "user.email=m@registry.example", "commit", "-q", "-m", "Squashed"}} {
			c := exec.Command("git", append([]string{"-C", s.world.Repo.Dir}, git...)...)
			c.Env = append(os.Environ(), "GIT_AUTHOR_DATE=2026-06-01T12:00:00Z",
				"GIT_COMMITTER_DATE=2026-06-01T12:00:00Z")
			if out, err := c.CombinedOutput(); err != nil {
				return fmt.Errorf("%s: %w", out, err)
			}
		}
		return nil
	case what == "key" && len(args) == 2: // SLUG FILE
		der, err := x509.MarshalPKCS8PrivateKey(fixture.Key(args[0]))
		if err != nil {
			return err
		}
		text := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
		return os.WriteFile(filepath.Join(s.home, args[1]), text, 0o600)
	}
	return errors.New("the page asks for what the test does not do")
}

type step struct{ command, output string }

// steps are the commands of a block, each with what it prints.
func steps(block string) []step {
	var all []step
	for line := range strings.Lines(block) {
		if command, found := strings.CutPrefix(line, "$ "); found {
			all = append(all, step{command: strings.TrimSuffix(command, "\n")})
		} else if len(all) > 0 {
			all[len(all)-1].output += line
		}
	}
	return all
}

// worldFlags matches the flags that replace the web and the clock with the test's, as a report lists them.
var (
	worldFlags = regexp.MustCompile(`--(at|ca-cert|connect-to|rdap-url|whois-server)\b( [^,\n]+)?(, )?`)
	assumed    = regexp.MustCompile(`(?m); assumed: $`)
)

// run runs one command, and gives what it printed, stdout before stderr, and its exit status where that is not 0.
func (s *session) run(command string) string {
	if to, found := strings.CutPrefix(command, "cd "); found {
		s.dir = filepath.Join(s.dir, to)
		return ""
	}
	// The page's staging server is the world's web.
	c := exec.Command("sh", "-c", strings.ReplaceAll(command, "127.0.0.1:8443", s.world.Web.Addr()))
	c.Dir = s.dir
	c.Env = []string{"HOME=" + s.home, "PATH=" + filepath.Join(s.home, "bin") + ":" + os.Getenv("PATH"),
		"OAP_GATE_OF_THE_DOCS=1", "GORACE=atexit_sleep_ms=0",
		"GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_DATE=2026-06-01T12:00:00Z", "GIT_COMMITTER_DATE=2026-06-01T12:00:00Z"}
	out, err := c.CombinedOutput()
	text := string(out)
	if failed, ok := errors.AsType[*exec.ExitError](err); ok {
		text += fmt.Sprintf("exit status %d\n", failed.ExitCode())
	} else if err != nil {
		s.t.Fatal(err)
	}
	text = strings.ReplaceAll(text, s.home, "~")
	return assumed.ReplaceAllString(worldFlags.ReplaceAllString(text, ""), "")
}

// same reports whether what the page shows is what was printed.
func same(page, got string) bool {
	var pattern strings.Builder
	for line := range strings.Lines(page) {
		if line == "…\n" {
			pattern.WriteString(`(?:.*\n)*?`)
			continue
		}
		pattern.WriteString(strings.ReplaceAll(regexp.QuoteMeta(line), "…", `.*`))
	}
	return regexp.MustCompile(`^` + pattern.String() + `$`).MatchString(got)
}
