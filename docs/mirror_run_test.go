package docs_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v4"

	"github.com/openagentprotocol-OAP/oap-gate/internal/mirror"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/fixture"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/ghtest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/needs"
)

const registryURL = "https://github.com/openagentprotocol-OAP/oap-registry"

// shell runs what the page shows, with a directory of its own for /.
type shell struct {
	t     *testing.T
	page  string
	files map[string]string
	root  string
}

// newShell is a shell in which git knows the registry's public name as that of origin, and the program has further
// flags where it audits or mirrors.
func newShell(t *testing.T, root, origin string, flags ...string) *shell {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the page's commands are those of a POSIX shell")
	}
	needs.Program(t, "sh")
	s := &shell{t: t, page: page(t, "mirror.md"), files: blocks(t), root: root}
	for _, dir := range []string{"bin", "oap", "prometheus", "data", "reports", "tmp"} {
		must.OK(t, os.Mkdir(filepath.Join(root, dir), 0o755))
	}
	self := must.Get(os.Executable())(t)
	s.write("bin/oap-gate", fmt.Sprintf("#!/bin/sh\ncase \"$1 $2\" in\n'audit merge') exec '%[1]s' \"$@\";;\nesac\n"+
		"exec '%[1]s' \"$@\" '%[2]s'\n", self, strings.Join(flags, "' '")))
	s.write("bin/oap-audit", s.here(s.files["oap-audit"]))
	s.write(".gitconfig", fmt.Sprintf("[user]\n\tname = M\n\temail = m@registry.example\n[url %q]\n\tinsteadOf = %s\n",
		origin, registryURL))
	return s
}

// shown is what the page shows by a pattern: its first group, or all of it.
func (s *shell) shown(pattern string) string {
	s.t.Helper()
	m := regexp.MustCompile(pattern).FindStringSubmatch(s.page)
	if m == nil {
		s.t.Fatalf("the page shows no %s", pattern)
	}
	return m[len(m)-1]
}

// operator is a shell beside a registry of the shape of the public one.
type operator struct {
	*shell
	world   *fixture.World
	origin  string // bare; served at url
	url     string
	work    string // a clone that pushes there
	mirrors [][]string
}

func newOperator(t *testing.T) *operator {
	t.Helper()
	shape := must.Read(t, filepath.Join("..", "testdata", "registry", "real-shape.yaml"))
	o := operatorOf(t, shape)
	o.sign()
	return o
}

// operatorOf is a shell beside a registry of a shape.
func operatorOf(t *testing.T, shape []byte) *operator {
	t.Helper()
	root := t.TempDir()
	world := must.Get(fixture.Build(filepath.Join(root, "world"), shape))(t)
	t.Cleanup(func() { world.Close() })
	served := filepath.Join(root, "served")
	server, err := ghtest.ServeGit(served)
	if err != nil {
		t.Skip("NOT TESTED: ", err)
	}
	t.Cleanup(server.Close)
	o := &operator{world: world, origin: filepath.Join(served, "origin.git"), url: server.URL + "/origin.git",
		work: filepath.Join(root, "work")}
	// The flags by which the test's world stands for the clock and the web.
	o.shell = newShell(t, root, o.url, world.Args()[2:]...)
	o.git(".", "clone", "-q", "--bare", "--branch", "main", world.Repo.Dir, o.origin)
	o.git(".", "clone", "-q", o.origin, o.work)
	for _, found := range regexp.MustCompile(`(?m)^(?:ExecStart=\S*oap-gate |      )(mirror https\S+ .*)$`).
		FindAllStringSubmatch(o.page, -1) {
		o.mirrors = append(o.mirrors, strings.Fields(found[1]))
	}
	return o
}

// here is a text in which the page's directories are those of the test.
func (s *shell) here(text string) string {
	return strings.NewReplacer("/var/lib/prometheus/node-exporter", s.root+"/prometheus", "/var/lib/oap", s.root+"/oap",
		"/usr/local/bin/", s.root+"/bin/", "/data", s.root+"/data", "/reports", s.root+"/reports").Replace(text)
}

func (s *shell) write(name, text string) {
	s.t.Helper()
	must.OK(s.t, os.WriteFile(filepath.Join(s.root, name), []byte(text), 0o755))
}

// sh runs a script of the page, in a directory of the test's root.
func (s *shell) sh(dir, script string, env ...string) (int, string) {
	s.t.Helper()
	c := exec.Command("sh", "-euc", s.here(script))
	c.Dir = filepath.Join(s.root, dir)
	c.Env = append([]string{"HOME=" + s.root, "PATH=" + filepath.Join(s.root, "bin") + ":" + os.Getenv("PATH"),
		"TMPDIR=" + filepath.Join(s.root, "tmp"), "OAP_GATE_OF_THE_DOCS=1", "GIT_CONFIG_NOSYSTEM=1",
		"LC_ALL=C"}, env...)
	out, err := c.CombinedOutput()
	if failed, ok := errors.AsType[*exec.ExitError](err); ok {
		return failed.ExitCode(), string(out)
	} else if err != nil {
		s.t.Fatal(err)
	}
	return 0, string(out)
}

// ends runs a script that must end with a status.
func (s *shell) ends(want int, dir, script string, env ...string) string {
	s.t.Helper()
	status, out := s.sh(dir, script, env...)
	if status != want {
		s.t.Errorf("%s\nends with %d, want %d\n%s", script, status, want, out)
	}
	return out
}

func (s *shell) git(dir string, args ...string) string {
	s.t.Helper()
	c := exec.Command("git", append([]string{"-C", dir}, args...)...)
	c.Env = []string{"HOME=" + s.root, "PATH=" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1", "LC_ALL=C",
		"GIT_AUTHOR_DATE=2026-05-12T12:00:00Z", "GIT_COMMITTER_DATE=2026-05-12T12:00:00Z"}
	out, err := c.CombinedOutput()
	if err != nil {
		s.t.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// sign makes the eleventh commit, and signs it where that can be done.
func (o *operator) sign() {
	args := []string{"commit", "-q", "--allow-empty", "-m", "The eleventh"}
	key := filepath.Join(o.root, "key")
	if needs.Has(o.t, "a signed commit", "ssh-keygen") {
		must.OK(o.t, exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key).Run())
		args = append([]string{"-c", "gpg.format=ssh", "-c", "user.signingkey=" + key}, append(args, "-S")...)
	}
	o.git(o.work, args...)
	o.push()
	if n := o.git(o.work, "rev-list", "--count", "--first-parent", "HEAD"); n != "11" {
		o.t.Fatalf("the registry has %s commits, want 11", n)
	}
}

func (o *operator) push() string {
	o.t.Helper()
	o.git(o.work, "push", "-q", "-f", "origin", "HEAD:main")
	return o.git(o.work, "rev-parse", "HEAD")
}

// day runs each daily command of the page, and holds that mirrors show a commit, to whoever clones them.
func (o *operator) day(want int, verified string) {
	o.t.Helper()
	for i, args := range o.mirrors {
		at := slices.Index(args, "--every")
		line := strings.ReplaceAll(strings.Join(slices.Delete(slices.Clone(args), at, at+2), " "), registryURL, o.url)
		o.ends(want, ".", "oap-gate "+line)
		clone := filepath.Join(o.t.TempDir(), "clone")
		o.git(".", "clone", "-q", "--mirror", "file://"+o.here(args[2])+"/registry.git", clone)
		refs := o.git(clone, "for-each-ref", "--format=%(objectname) %(refname)")
		if refs != verified+" refs/heads/main" {
			o.t.Errorf("a clone of mirror %d has %q, want %s", i, refs, verified)
		}
		if all := o.git(clone, "cat-file", "--batch-all-objects", "--batch-check=%(objectname)"); want == 1 &&
			strings.Contains(all, o.git(o.work, "rev-parse", "HEAD")) {
			o.t.Errorf("a clone of mirror %d holds the bad commit", i)
		}
	}
	o.ends(want, ".", "oap-audit")
	_, cron, _ := strings.Cut(o.files["crontab"], " oap ")
	if out := o.ends(0, ".", cron); (out == "") != (want == 0) {
		o.t.Errorf("with exit status %d cron would mail %q", want, out)
	}
}

// TestMirrorPageRuns checks that what the page says to run each day passes on a registry as it is, and fails on the day
// on which its history is rewritten, or a record changed.
func TestMirrorPageRuns(t *testing.T) {
	o := newOperator(t)
	if len(o.mirrors) != 2 {
		t.Fatalf("the page shows the mirrors %q, want two", o.mirrors)
	}
	if want := "ExecStart=/usr/local/bin/oap-audit\n"; !strings.Contains(o.files["oap-audit.service"], want) {
		t.Errorf("oap-audit.service has no %s", want)
	}
	for _, line := range regexp.MustCompile(`(?m)^    (git .*oap/registry.git.*)$`).FindAllString(o.page, -1) {
		o.ends(0, ".", line)
	}
	good := o.git(o.work, "rev-parse", "HEAD")
	o.day(0, good)
	o.ends(0, "oap", "test -s registry.checkpoint -a -s report.json -a -s report.html -a -s ../prometheus/oap.prom")

	o.git(o.work, "commit", "-q", "--amend", "--allow-empty", "-m", "Another eleventh")
	bad := o.push()
	o.day(1, good)
	at := "file://" + o.here(o.mirrors[0][2]) + "/registry.git"
	if status, out := o.sh("work", "git -c protocol.version=0 fetch -q "+at+" "+bad); status == 0 {
		t.Errorf("a mirror serves the bad commit to whoever wants it: %s", out)
	}
	o.git(o.work, "reset", "-q", "--hard", good)
	o.push()
	o.day(0, good)

	listing := filepath.Join(o.work, "implementations", "assistant-net.json")
	text := must.Read(t, listing)
	changed := strings.Replace(string(text), "did:web:", "did:web:evil-", 1)
	must.OK(t, os.WriteFile(listing, []byte(changed), 0o644))
	o.git(o.work, "commit", "-q", "-a", "-m", "Count again")
	o.push()
	o.day(1, good)
}

// TestMirrorPageShards runs the sharded audits of the page, each shard a process of its own, and holds that what they
// merge is the report of one run, byte for byte.
func TestMirrorPageShards(t *testing.T) {
	root := t.TempDir()
	registry := filepath.Join(root, "registry")
	if _, err := fixture.Generate(registry, fixture.Bulk{Listings: 30, Commits: 5}); err != nil {
		t.Fatal(err)
	}
	s := newShell(t, root, registry, "--offline", "--at", fixture.Clock.Format(time.RFC3339))
	tip := s.git(registry, "rev-parse", "main")
	report := func(dir string) string {
		t.Helper()
		text, err := os.ReadFile(filepath.Join(root, dir, "whole.json"))
		if err != nil || len(text) == 0 {
			t.Fatalf("a report of %d bytes, %v", len(text), err)
		}
		return string(text)
	}
	s.ends(0, "oap", "git clone --quiet --bare "+registryURL+" r\n"+
		"oap-gate audit --repo r --rev "+tip+" --report json=whole.json")
	whole := report("oap")

	var job struct {
		Spec struct {
			Completions int
			Template    struct {
				Spec struct {
					Containers []struct {
						Env           []struct{ Name, Value string }
						Command, Args []string
					}
				}
			}
		}
	}
	decode(t, s.files["job.yaml"], &job)
	container := job.Spec.Template.Spec.Containers[0]
	env := map[string]string{}
	for _, e := range container.Env {
		env[e.Name] = e.Value
	}
	if !slices.Equal(container.Command, []string{"sh", "-euc"}) || job.Spec.Completions != 8 ||
		env["SHARDS"] != "8" || len(env["TIP"]) != 40 {
		t.Fatalf("the Job is %+v", job)
	}
	for i := range 8 {
		s.ends(0, ".", container.Args[0], fmt.Sprint("JOB_COMPLETION_INDEX=", i), "SHARDS=8", "TIP="+tip)
		s.ends(0, ".", "rm -r /data/registry.git") // each has a volume of its own
	}
	s.ends(0, "data", s.shown(`(?m)^    (oap-gate audit merge /reports.*)$`)+" --report json=whole.json")
	if got := report("data"); got != whole {
		t.Errorf("the Job's shards make\n%s\nand one run makes\n%s", got, whole)
	}

	type steps []struct{ Run string }
	var matrix struct {
		Jobs struct {
			Tip, Merge struct{ Steps steps }
			Shard      struct {
				Strategy struct{ Matrix struct{ Shard []int } }
				Env      map[string]string
				Steps    steps
			}
		}
	}
	decode(t, s.files["matrix.yml"], &matrix)
	run := func(of steps, with string) string {
		for _, step := range of {
			if strings.Contains(step.Run, with) {
				return step.Run
			}
		}
		t.Fatalf("no step of the matrix runs %s", with)
		return ""
	}
	jobs := matrix.Jobs
	s.ends(0, "tmp", run(jobs.Tip.Steps, "ls-remote"), "GITHUB_OUTPUT="+filepath.Join(root, "output"))
	if told, err := os.ReadFile(filepath.Join(root, "output")); err != nil || string(told) != "tip="+tip+"\n" {
		t.Errorf("the matrix finds %q, %v", told, err)
	}
	for _, n := range jobs.Shard.Strategy.Matrix.Shard {
		own := fmt.Sprintf("mkdir shard-%[1]d && cd shard-%[1]d\n", n)
		s.ends(0, "tmp", own+run(jobs.Shard.Steps, "audit"), "TIP="+tip,
			"SHARD="+strings.ReplaceAll(jobs.Shard.Env["SHARD"], "${{ matrix.shard }}", fmt.Sprint(n)))
	}
	s.ends(0, "tmp", run(jobs.Merge.Steps, "merge")+" --report json=whole.json")
	if got := report("tmp"); got != whole {
		t.Errorf("the matrix's shards make\n%s\nand one run makes\n%s", got, whole)
	}
}

func decode(t *testing.T, text string, v any) {
	t.Helper()
	must.OK(t, yaml.Unmarshal([]byte(text), v))
}

// key builds the page's program that makes keys.
func (s *shell) key() {
	s.t.Helper()
	s.write("tmp/key.go", s.files["key.go"])
	if out, err := exec.CommandContext(s.t.Context(), "go", "build", "-o", filepath.Join(s.root, "bin", "key"),
		filepath.Join(s.root, "tmp", "key.go")).CombinedOutput(); err != nil {
		s.t.Fatalf("%v\n%s", err, out)
	}
}

// TestMirrorPageRest checks the other blocks of the page: the Deployment runs the mirror of the first line, what is
// accepted can be read, and a checkpoint is signed by a key of the page's program and compared with another.
func TestMirrorPageRest(t *testing.T) {
	o := newOperator(t)
	var deployment struct {
		Spec struct {
			Template struct {
				Spec struct{ Containers []struct{ Args []string } }
			}
		}
	}
	decode(t, o.files["deployment.yaml"], &deployment)
	args := deployment.Spec.Template.Spec.Containers[0].Args
	if want := append(slices.Clone(o.mirrors[0]), "--listen", ":8080"); !slices.Equal(args, want) {
		t.Errorf("the Deployment runs %q, want %q", args, want)
	}
	lines := regexp.MustCompile(`(?m)^    [0-9a-f]{40} .*\n`).FindAllString(o.page, -1)
	if a, err := mirror.ParseAccepted([]byte(strings.Join(lines, ""))); err != nil || len(a.Lines) != 2 {
		t.Errorf("what is accepted: %+v, %v", a, err)
	}

	o.key()
	named := func(line string) string {
		return regexp.MustCompile(`'[a-z.-]+\+…'`).ReplaceAllLiteralString(line, `"$public"`)
	}
	audit := named(o.shown(`(?m)^    (oap-gate audit --checkpoint .* --sign-key .*)$`)) + "\n"
	o.ends(0, "work", "public=$(key mirror-a.example.org)\n"+audit+audit+
		"grep '^— mirror-a.example.org ' registry.checkpoint")

	compare := named(o.shown(`(?m)^    (oap-gate audit --only consistency .*)$`))
	public := strings.TrimSpace(o.ends(0, "work", "key mirror-b.example.net"))
	o.ends(0, "work", "oap-gate audit --origin registry.example.org/oap --checkpoint theirs.checkpoint "+
		"--sign-key note.key --verify-key '"+public+"'\ncp theirs.checkpoint before")
	o.ends(0, "work", compare, "public="+public)
	o.git(o.work, "commit", "-q", "--amend", "--allow-empty", "-m", "Another eleventh")
	if out := o.ends(1, "work", compare, "public="+public); !strings.Contains(out, "[history-rewritten]") {
		t.Error(out)
	}
	o.ends(0, "work", "cmp theirs.checkpoint before")
}

// TestMirrorPagePeers makes a keyring as the page does, of a maintainer's key and the forge's, and compares
// with another mirror, its clone and its checkpoint.
func TestMirrorPagePeers(t *testing.T) {
	needs.Program(t, "gpg", "gpgconf", "curl")
	o := newOperator(t)
	home, err := os.MkdirTemp("", "gpg") // the agent's socket needs a short path
	must.OK(t, err)
	gpg := "GNUPGHOME=" + home + " gpg --batch --quiet --pinentry-mode loopback " +
		"--faked-system-time 20260512T120000!"
	t.Cleanup(func() {
		o.ends(0, ".", "GNUPGHOME="+home+" gpgconf --kill all")
		if err := os.RemoveAll(home); err != nil {
			t.Error(err)
		}
	})
	o.write("bin/gpg-then", "#!/bin/sh\nexport "+strings.Replace(gpg, " gpg", "\nexec gpg", 1)+" \"$@\"\n")
	for _, name := range []string{"maintainer", "forge"} {
		o.ends(0, ".", gpg+" --passphrase '' --quick-gen-key "+name+"@registry.example ed25519 sign never")
	}
	o.git(o.work, "checkout", "-q", "--orphan", "signed")
	for _, name := range []string{"maintainer", "forge"} {
		o.git(o.work, "-c", "gpg.program="+filepath.Join(o.root, "bin", "gpg-then"), "-c",
			"user.signingkey="+name+"@registry.example", "commit", "-q", "-S", "--allow-empty", "-m", "By the "+name)
	}
	o.push()

	o.write(".curlrc", fmt.Sprintf("cacert = %q\nconnect-to = \"::%s\"\n", filepath.Join(o.world.Dir, "ca.pem"),
		o.world.Web.Addr()))
	o.world.Web.Page("https://github.com/web-flow.gpg",
		[]byte(o.ends(0, ".", gpg+" --export --armor forge@registry.example")))
	o.ends(0, "oap", "mkdir maintainers\n"+gpg+" --export --armor maintainer@registry.example >maintainers/m.asc")
	o.ends(0, "oap", o.shown(`(?m)^    export GNUPGHOME=(?s:.*?)\n\n`))

	for _, line := range regexp.MustCompile(`(?m)^    (git .*oap/registry.git.*)$`).FindAllString(o.page, -1) {
		o.ends(0, ".", line)
	}
	other := filepath.Join(filepath.Dir(o.origin), "oap-registry.git")
	o.git(".", "clone", "-q", "--bare", o.origin, other)
	watch := strings.NewReplacer("https://mirror-b.example.net/oap-registry.git",
		strings.Replace(o.url, "origin.git", "oap-registry.git", 1)).
		Replace(o.shown(`(?m)^    oap-gate audit .*\\\n      --peer https://mirror-b(?:.*)$`))
	o.ends(0, "oap", watch+" --report prometheus=oap.prom")
	o.ends(0, "oap", strings.NewReplacer("registry.git", other, "registry.checkpoint", "theirs").Replace(
		o.shown(`(?m)^    (oap-gate audit .*)\\\n      --peer https://mirror-b`))+
		" --require-signed --keyring maintainers.gpg")
	theirs := must.Read(t, filepath.Join(o.root, "oap", "theirs"))
	o.world.Web.Page("https://mirror-b.example.net/registry.checkpoint", theirs)
	same := o.shown(`(?m)^    (curl .*/registry.checkpoint \| cmp .*)$`)
	o.ends(0, "oap", same)
	o.world.Web.Page("https://mirror-b.example.net/registry.checkpoint", theirs[1:])
	o.ends(1, "oap", same)

	o.git(o.work, "-c", "commit.gpgsign=false", "commit", "-q", "--amend", "--allow-empty", "-m", "Another second")
	o.git(o.work, "push", "-q", "-f", other, "HEAD:main")
	if out := o.ends(1, "oap", watch); !strings.Contains(out, "split view") {
		t.Error(out)
	}
}

// TestMirrorPageServes runs git http-backend with what the page tells nginx to give it: it serves the verified branch
// to git and to another mirror, and nothing by the dumb protocol, which would show what was not verified.
func TestMirrorPageServes(t *testing.T) {
	o := newOperator(t)
	conf := o.files["oap-mirror.conf"]
	handler := &cgi.Handler{Stderr: io.Discard}
	for _, m := range regexp.MustCompile(`fastcgi_param (\w+) (\S+);`).FindAllStringSubmatch(conf, -1) {
		switch value := strings.ReplaceAll(m[2], "/var/lib/oap/mirror", o.root+"/data"); m[1] {
		case "SCRIPT_FILENAME":
			handler.Path = filepath.Join(o.git(".", "--exec-path"), filepath.Base(value))
		case "PATH_INFO": // is what the handler gives
		default:
			handler.Env = append(handler.Env, m[1]+"="+value)
		}
	}
	handler.Env = append(handler.Env, "HOME=/nonexistent", "GIT_CONFIG_NOSYSTEM=1")
	location := regexp.MustCompile(regexp.MustCompile(`location ~ (\S+) \{`).FindStringSubmatch(conf)[1])
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !location.MatchString(r.URL.Path) {
			http.NotFound(w, r)
			return
		}
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	good := o.git(o.work, "rev-parse", "HEAD")
	o.ends(0, ".", "oap-gate mirror "+o.url+" /data")
	o.git(o.work, "commit", "-q", "--amend", "--allow-empty", "-m", "Another eleventh")
	o.push()
	o.ends(1, ".", "oap-gate mirror "+o.url+" /data")
	if refs, want := o.git(".", "ls-remote", server.URL+"/registry.git"),
		good+"\tHEAD\n"+good+"\trefs/heads/main"; refs != want {
		t.Errorf("it shows %q, want %q", refs, want)
	}
	o.git(o.work, "reset", "-q", "--hard", good)
	o.push()
	other := "oap-gate mirror " + o.url + " /reports --peer " + server.URL + "/registry.git --report json=peers.json"
	o.ends(0, ".", other)
	if text := o.ends(0, ".", "cat peers.json"); !strings.Contains(text, `"state": "same"`) {
		t.Errorf("the report of a mirror with this peer is %s", text)
	}
	for path, want := range map[string]int{"/registry.git/info/refs": 403, "/registry.git/HEAD": 404,
		"/registry.git/info/refs?service=git-receive-pack": 403, "/state.json": 404, "/registry.git/config": 404} {
		resp := must.Get(http.Get(server.URL + path))(t)
		resp.Body.Close()
		if resp.StatusCode != want {
			t.Errorf("%s: status %d, want %d", path, resp.StatusCode, want)
		}
	}
}
