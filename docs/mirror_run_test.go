package docs_test

import (
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
	"golang.org/x/mod/sumdb/note"

	"github.com/openagentprotocol-OAP/oap-gate/internal/fixture"
	"github.com/openagentprotocol-OAP/oap-gate/internal/ghtest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/mirror"
)

const registryURL = "https://github.com/openagentprotocol-OAP/oap-registry"

// operator runs what the page shows, with a folder of its own for / and a registry of the shape of the public one.
type operator struct {
	t       *testing.T
	world   *fixture.World
	page    string
	files   map[string]string
	root    string
	origin  string // bare; served at url
	url     string
	work    string // a clone that pushes there
	mirrors [][]string
}

func newOperator(t *testing.T) *operator {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the page's commands are those of a POSIX shell")
	}
	text, err := os.ReadFile("mirror.md")
	if err != nil {
		t.Fatal(err)
	}
	shape, err := os.ReadFile(filepath.Join("..", "testdata", "registry", "real-shape.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	o := &operator{t: t, page: string(text), files: blocks(t), root: t.TempDir()}
	if o.world, err = fixture.Build(filepath.Join(o.root, "world"), shape); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { o.world.Close() })
	served := filepath.Join(o.root, "served")
	server, err := ghtest.ServeGit(served)
	if err != nil {
		t.Skip("NOT TESTED: ", err)
	}
	t.Cleanup(server.Close)
	o.origin, o.url = filepath.Join(served, "origin.git"), server.URL+"/origin.git"
	o.work = filepath.Join(o.root, "work")
	for _, dir := range []string{"bin", "oap", "prometheus", "data", "reports", "served", "tmp"} {
		if err := os.Mkdir(filepath.Join(o.root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	// The flags by which the test's world stands for the clock and the web.
	program := fmt.Sprintf("#!/bin/sh\ncase $1 in\nmerge) exec '%[1]s' \"$@\";;\nesac\nexec '%[1]s' \"$@\" '%[2]s'\n",
		self, strings.Join(o.world.Args()[2:], "' '"))
	o.write("bin/oap-gate", program)
	o.write("bin/oap-audit", o.here(o.files["oap-audit"]))
	o.write(".gitconfig", fmt.Sprintf("[user]\n\tname = M\n\temail = m@registry.example\n[url %q]\n\tinsteadOf = %s\n",
		o.url, registryURL))
	o.git(".", "clone", "-q", "--bare", "--branch", "main", o.world.Repo.Dir, o.origin)
	o.git(".", "clone", "-q", o.origin, o.work)
	o.sign()
	for _, found := range regexp.MustCompile(`(?m)^(?:ExecStart=\S*oap-gate |      )(mirror https\S+ .*)$`).
		FindAllStringSubmatch(o.page, -1) {
		o.mirrors = append(o.mirrors, strings.Fields(found[1]))
	}
	return o
}

// here is a text in which the page's folders are those of the test.
func (o *operator) here(text string) string {
	return strings.NewReplacer("/var/lib/prometheus/node-exporter", o.root+"/prometheus", "/var/lib/oap", o.root+"/oap",
		"/usr/local/bin/", o.root+"/bin/", "/data", o.root+"/data", "/reports", o.root+"/reports").Replace(text)
}

func (o *operator) write(name, text string) {
	o.t.Helper()
	if err := os.WriteFile(filepath.Join(o.root, name), []byte(text), 0o755); err != nil {
		o.t.Fatal(err)
	}
}

// sh runs a script of the page, in a folder of the test's root.
func (o *operator) sh(dir, script string, env ...string) (int, string) {
	o.t.Helper()
	c := exec.Command("sh", "-euc", o.here(script))
	c.Dir = filepath.Join(o.root, dir)
	c.Env = append([]string{"HOME=" + o.root, "PATH=" + filepath.Join(o.root, "bin") + ":" + os.Getenv("PATH"),
		"TMPDIR=" + filepath.Join(o.root, "tmp"), "OAP_GATE_OF_THE_DOCS=1", "GIT_CONFIG_NOSYSTEM=1",
		"LC_ALL=C"}, env...)
	out, err := c.CombinedOutput()
	if failed, ok := errors.AsType[*exec.ExitError](err); ok {
		return failed.ExitCode(), string(out)
	} else if err != nil {
		o.t.Fatal(err)
	}
	return 0, string(out)
}

// ends runs a script that must end with a status.
func (o *operator) ends(want int, dir, script string, env ...string) string {
	o.t.Helper()
	status, out := o.sh(dir, script, env...)
	if status != want {
		o.t.Errorf("%s\nends with %d, want %d\n%s", script, status, want, out)
	}
	return out
}

func (o *operator) git(dir string, args ...string) string {
	o.t.Helper()
	c := exec.Command("git", append([]string{"-C", dir}, args...)...)
	c.Env = []string{"HOME=" + o.root, "PATH=" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1", "LC_ALL=C",
		"GIT_AUTHOR_DATE=2026-05-12T12:00:00Z", "GIT_COMMITTER_DATE=2026-05-12T12:00:00Z"}
	out, err := c.CombinedOutput()
	if err != nil {
		o.t.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// sign makes the eleventh commit, and signs it where that can be done.
func (o *operator) sign() {
	args := []string{"commit", "-q", "--allow-empty", "-m", "The eleventh"}
	key := filepath.Join(o.root, "key")
	if err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key).Run(); err != nil {
		o.t.Log("NOT TESTED: a signed commit: ", err)
	} else {
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

// TestMirrorPageRuns holds that what the page says to run each day passes on a registry as it is, and fails on the day
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
	text, err := os.ReadFile(listing)
	if err != nil {
		t.Fatal(err)
	}
	changed := strings.Replace(string(text), "did:web:", "did:web:evil-", 1)
	if err := os.WriteFile(listing, []byte(changed), 0o644); err != nil {
		t.Fatal(err)
	}
	o.git(o.work, "commit", "-q", "-a", "-m", "Count again")
	o.push()
	o.day(1, good)
}

// TestMirrorPageShards runs the sharded audits of the page, and joins them as it says.
func TestMirrorPageShards(t *testing.T) {
	o := newOperator(t)
	var job struct {
		Spec struct {
			Template struct {
				Spec struct{ Containers []struct{ Args []string } }
			}
		}
	}
	decode(t, o.files["job.yaml"], &job)
	tip := o.git(o.work, "rev-parse", "HEAD")
	for i := range 2 {
		o.ends(0, ".", job.Spec.Template.Spec.Containers[0].Args[0], fmt.Sprint("JOB_COMPLETION_INDEX=", i), "SHARDS=2",
			"TIP="+tip)
		o.ends(0, ".", "rm -r /data/registry.git") // each has a volume of its own
	}
	merge := regexp.MustCompile(`(?m)^    (oap-gate merge /reports.*)$`).FindString(o.page)
	o.ends(0, ".", merge)

	type steps []struct{ Run string }
	var matrix struct {
		Jobs struct{ Tip, Shard, Merge struct{ Steps steps } }
	}
	decode(t, o.files["matrix.yml"], &matrix)
	run := func(of steps, with string) string {
		for _, s := range of {
			if strings.Contains(s.Run, with) {
				return s.Run
			}
		}
		t.Fatalf("no step of the matrix runs %s", with)
		return ""
	}
	o.ends(0, "tmp", run(matrix.Jobs.Tip.Steps, "ls-remote"), "GITHUB_OUTPUT="+filepath.Join(o.root, "output"))
	if told, err := os.ReadFile(filepath.Join(o.root, "output")); err != nil || string(told) != "tip="+tip+"\n" {
		t.Errorf("the matrix finds %q, %v", told, err)
	}
	o.ends(0, "tmp", run(matrix.Jobs.Shard.Steps, "audit")+"\nmkdir shard-1 && mv shard.json shard-1", "TIP="+tip,
		"SHARD=1/1")
	o.ends(0, "tmp", run(matrix.Jobs.Merge.Steps, "merge"))
}

func decode(t *testing.T, text string, v any) {
	t.Helper()
	if err := yaml.Unmarshal([]byte(text), v); err != nil {
		t.Fatal(err)
	}
}

// TestMirrorPageRest holds the blocks that are no daily command: the Deployment runs the mirror of the first line, what
// is accepted can be read, the program that makes keys is one, and a checkpoint is signed by such a key.
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
	if _, err := parser.ParseFile(token.NewFileSet(), "key.go", o.files["key.go"], 0); err != nil {
		t.Error(err)
	}
	private, public, err := note.GenerateKey(nil, "mirror-a.example.org")
	if err != nil {
		t.Fatal(err)
	}
	o.write("work/note.key", private+"\n")
	sign := regexp.MustCompile(`(?m)^    (oap-gate audit --checkpoint .* --sign-key .*)$`).FindString(o.page)
	o.ends(0, "work", strings.Replace(sign, "mirror-a.example.org+…", public, 1))
	if text, err := os.ReadFile(filepath.Join(o.work, "registry.checkpoint")); err != nil ||
		!strings.Contains(string(text), "\n— mirror-a.example.org ") {
		t.Errorf("the checkpoint is %q, %v", text, err)
	}
}
