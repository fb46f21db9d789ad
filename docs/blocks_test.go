package docs_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"

	"github.com/openagentprotocol-OAP/oap-gate/internal/cli"
	"github.com/openagentprotocol-OAP/oap-gate/internal/fixture"
)

var (
	shownCall = regexp.MustCompile(
		"(?m)(?:^ {4,}(?:[^`\n]*[ /])?|^exec |`)oap-gate(?:@sha256:<digest of a release>)? +([a-z-][^\n`]*)")
	stepArgs = regexp.MustCompile(`(?m)^ +args: ([a-z].*)$`)
	// What ends a command: the shell's, a comment, or a remark in a column of its own.
	callEnds  = regexp.MustCompile(`  +|[|;&<>#)].*$|, .*$`)
	notations = strings.NewReplacer("PROTOCOL", "oasis", "[", " ", "]", " ", "(", " ", "'", "", `"`, "", "${{ ", "", " }}", "")
)

// known parses a command's flags, and gives how many there are.
func known(call string) (int, error) {
	root := cli.Command(cli.IO{Stdout: io.Discard, Stderr: io.Discard, Getenv: func(string) string { return "" }})
	c, rest, err := root.Find(strings.Fields(call))
	if err != nil {
		return 0, err
	}
	if c == root && len(rest) > 0 && !strings.HasPrefix(rest[0], "-") {
		return 0, fmt.Errorf("no command %q", rest[0])
	}
	if err = c.ParseFlags(rest); errors.Is(err, pflag.ErrHelp) {
		err = nil
	}
	return strings.Count(call, " --"), err
}

// TestCallsOfThePages holds every call of the program that a page shows, and that a workflow makes, to the commands and
// flags that there are.
func TestCallsOfThePages(t *testing.T) {
	pages, err := filepath.Glob("*.md")
	if err != nil {
		t.Fatal(err)
	}
	workflows, err := filepath.Glob("workflows/*.yml")
	if err != nil {
		t.Fatal(err)
	}
	calls, flags := 0, 0
	for _, name := range append(append(pages, "../README.md"), workflows...) {
		text := strings.ReplaceAll(page(t, name), "\\\n", " ")
		found := shownCall.FindAllStringSubmatch(text, -1)
		if filepath.Ext(name) == ".yml" {
			found = stepArgs.FindAllStringSubmatch(text, -1)
		}
		for _, m := range found {
			call := m[1]
			if at := callEnds.FindStringIndex(call); at != nil {
				call = call[:at[0]]
			}
			if call = notations.Replace(call); strings.TrimSpace(call) == "" {
				continue
			}
			n, err := known(call)
			if err != nil {
				t.Errorf("%s: oap-gate %s: %v", name, m[1], err)
			}
			calls, flags = calls+1, flags+n
		}
	}
	if calls < 90 || flags < 80 {
		t.Errorf("%d calls with %d flags found", calls, flags)
	}
}

// A job that is run again is of the same run, in which the artifact of the time before stands: actions/upload-artifact
// fails on that name unless it may overwrite.
func TestUploadsMayBeRunAgain(t *testing.T) {
	workflows, err := filepath.Glob("workflows/*.yml")
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{"matrix.yml": blocks(t)["matrix.yml"]}
	for _, name := range workflows {
		texts[name] = page(t, name)
	}
	uploads := 0
	for name, text := range texts {
		var w struct {
			Jobs map[string]struct {
				Steps []struct {
					Uses string
					With map[string]any
				}
			}
		}
		if err := yaml.Unmarshal([]byte(text), &w); err != nil {
			t.Fatal(err)
		}
		for _, j := range w.Jobs {
			for _, s := range j.Steps {
				if strings.HasPrefix(s.Uses, "actions/upload-artifact@") {
					if uploads++; s.With["overwrite"] != true {
						t.Errorf("%s: %v", name, s.With)
					}
				}
			}
		}
	}
	if uploads < 7 {
		t.Errorf("%d uploads", uploads)
	}
}

// members are the paths of all scalars in a JSON or YAML value.
func members(path string, v any, all map[string]string) {
	switch v := v.(type) {
	case map[string]any:
		for name, one := range v {
			members(path+"/"+name, one, all)
		}
	case []any:
		for i, one := range v {
			members(fmt.Sprintf("%s/%d", path, i), one, all)
		}
	default:
		all[path] = fmt.Sprint(v)
	}
}

// TestManifests has kubectl read the manifests by its own types, and write them again: what it does not know is gone
// then, and what has the wrong type is an error.
func TestManifests(t *testing.T) {
	kubectl, err := exec.LookPath("kubectl")
	if err != nil {
		t.Skip("kubectl is not installed: THE MANIFESTS OF docs/mirror.md WERE NOT READ")
	}
	for name, container := range map[string]string{"deployment.yaml": "mirror", "job.yaml": "audit"} {
		text := blocks(t)[name]
		c := exec.CommandContext(t.Context(), kubectl, "set", "image", "--local", "-f", "-", container+"=x",
			"-o", "json")
		c.Stdin = strings.NewReader(text)
		c.Env = append(os.Environ(), "KUBECONFIG="+os.DevNull, "HOME="+t.TempDir())
		var complaint bytes.Buffer
		c.Stderr = &complaint
		out, err := c.Output()
		if err != nil {
			t.Errorf("%s: %v\n%s", name, err, &complaint)
			continue
		}
		var shown, read any
		if err := yaml.Unmarshal([]byte(text), &shown); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(out, &read); err != nil {
			t.Fatal(err)
		}
		want, got := map[string]string{}, map[string]string{}
		members("", shown, want)
		members("", read, got)
		delete(want, "/spec/template/spec/containers/0/image")
		for path, value := range want {
			if got[path] != value {
				t.Errorf("%s: %s is %q, and %q once kubectl has read it", name, path, value, got[path])
			}
		}
		if len(want) < 15 {
			t.Errorf("%s has %d members", name, len(want))
		}
	}
}

// TestUnits has systemd read the units.
func TestUnits(t *testing.T) {
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("systemd-analyze is not installed: THE UNITS OF docs/mirror.md WERE NOT READ")
	}
	dir := t.TempDir()
	args := []string{"verify", "--man=no"}
	for name, text := range blocks(t) {
		if ext := filepath.Ext(name); ext == ".service" || ext == ".timer" {
			text = strings.ReplaceAll(text, "ExecStart=/usr/local/bin/oap-", "ExecStart=/bin/true oap-")
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			args = append(args, filepath.Join(dir, name))
		}
	}
	out, err := exec.CommandContext(t.Context(), analyze, args...).CombinedOutput()
	if err != nil || len(args) != 5 || bytes.Contains(out, []byte(dir)) {
		t.Errorf("%d units: %v\n%s", len(args)-2, err, out)
	}
}

const publicName = "https://github.com/openagentprotocol-OAP/oap-registry"

// shards is a shell in which the program judges a small registry, which git knows by its public name, without network.
type shards struct{ dir, bin, tip string }

func openShards(t *testing.T) *shards {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the page's commands are those of a POSIX shell")
	}
	s := &shards{dir: t.TempDir()}
	s.bin = filepath.Join(s.dir, "bin")
	registry := filepath.Join(s.dir, "registry")
	if _, err := fixture.Generate(registry, fixture.Bulk{Listings: 30, Commits: 5}); err != nil {
		t.Fatal(err)
	}
	tip, err := exec.CommandContext(t.Context(), "git", "-C", registry, "rev-parse", "main").Output()
	if err != nil {
		t.Fatal(err)
	}
	s.tip = strings.TrimSpace(string(tip))
	if err := os.Mkdir(s.bin, 0o755); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program := fmt.Sprintf("#!/bin/sh\ncase $1 in audit) set -- \"$@\" --offline --at %s;; esac\nexec '%s' \"$@\"\n",
		fixture.Clock.Format(time.RFC3339), self)
	if err := os.WriteFile(filepath.Join(s.bin, "oap-gate"), []byte(program), 0o755); err != nil {
		t.Fatal(err)
	}
	config := fmt.Sprintf("[url \"%s\"]\n\tinsteadOf = %s\n", registry, publicName)
	if err := os.WriteFile(filepath.Join(s.dir, ".gitconfig"), []byte(config), 0o644); err != nil {
		t.Fatal(err)
	}
	return s
}

// run runs a script in a folder, as a container and as a step of a job do, and gives the report that it leaves there.
func (s *shards) run(t *testing.T, folder string, env map[string]string, script string) []byte {
	t.Helper()
	dir := filepath.Join(s.dir, folder)
	for _, d := range []string{dir, filepath.Join(s.dir, "reports")} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	c := exec.CommandContext(t.Context(), "sh", "-euc", script)
	c.Dir = dir
	c.Env = []string{"HOME=" + s.dir, "PATH=" + s.bin + ":" + os.Getenv("PATH"), "OAP_GATE_OF_THE_DOCS=1",
		"GIT_CONFIG_NOSYSTEM=1"}
	for name, value := range env {
		c.Env = append(c.Env, name+"="+value)
	}
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", folder, err, out)
	}
	report, err := os.ReadFile(filepath.Join(dir, "whole.json"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return report
}

// TestShardsOfTheMirrorPage runs the commands of the Kubernetes Job and of the matrix, each shard a process of its own,
// and holds that what they merge is the report of one run, byte for byte.
func TestShardsOfTheMirrorPage(t *testing.T) {
	files := blocks(t)
	var job struct {
		Spec struct {
			Completions, Parallelism int
			Template                 struct {
				Spec struct {
					Containers []struct {
						Env           []struct{ Name, Value string }
						Command, Args []string
					}
				}
			}
		}
	}
	var matrix struct {
		Jobs struct {
			Tip, Merge struct{ Steps []struct{ Run string } }
			Shard      struct {
				Strategy struct{ Matrix struct{ Shard []int } }
				Env      map[string]string
				Steps    []struct{ Run string }
			}
		}
	}
	for name, into := range map[string]any{"job.yaml": &job, "matrix.yml": &matrix} {
		if err := yaml.Unmarshal([]byte(files[name]), into); err != nil {
			t.Fatal(err)
		}
	}
	s := openShards(t)
	whole := s.run(t, "whole", nil, "git clone --quiet --bare "+publicName+" r\n"+
		"oap-gate audit --repo r --rev "+s.tip+" --report json=whole.json")

	container := job.Spec.Template.Spec.Containers[0]
	env := map[string]string{}
	for _, e := range container.Env {
		env[e.Name] = e.Value
	}
	if len(whole) == 0 || strings.Join(container.Command, " ") != "sh -euc" ||
		job.Spec.Completions != 8 || env["SHARDS"] != fmt.Sprint(job.Spec.Completions) || len(env["TIP"]) != 40 {
		t.Fatalf("the Job is %+v", job)
	}
	env["TIP"] = s.tip
	place := strings.NewReplacer("/data/", "data/", "/reports/", filepath.Join(s.dir, "reports")+"/")
	for i := range job.Spec.Completions {
		env["JOB_COMPLETION_INDEX"] = fmt.Sprint(i)
		s.run(t, fmt.Sprint("job", i), env, place.Replace(container.Args[0]))
	}
	merge := regexp.MustCompile(`(?m)^    (oap-gate merge .*)$`).FindStringSubmatch(page(t, "mirror.md"))
	got := s.run(t, "merged", nil, place.Replace(merge[1])+" --report json=whole.json")
	if !bytes.Equal(got, whole) {
		t.Errorf("the Job's shards make\n%s\nand one run makes\n%s", got, whole)
	}

	jobs := matrix.Jobs
	output := filepath.Join(s.dir, "output")
	s.run(t, "matrix", map[string]string{"GITHUB_OUTPUT": output}, jobs.Tip.Steps[0].Run)
	if got, err := os.ReadFile(output); err != nil || string(got) != "tip="+s.tip+"\n" {
		t.Fatalf("the first job tells %q, %v", got, err)
	}
	for _, n := range jobs.Shard.Strategy.Matrix.Shard {
		shard := strings.ReplaceAll(jobs.Shard.Env["SHARD"], "${{ matrix.shard }}", fmt.Sprint(n))
		s.run(t, fmt.Sprintf("matrix/shard-%d", n), map[string]string{"TIP": s.tip, "SHARD": shard},
			jobs.Shard.Steps[2].Run)
	}
	got = s.run(t, "matrix", nil, jobs.Merge.Steps[3].Run+" --report json=whole.json")
	if !bytes.Equal(got, whole) {
		t.Errorf("the matrix's shards make\n%s\nand one run makes\n%s", got, whole)
	}
}

// TestScriptsOfTheMirrorPage runs what the page has for a clone that git keeps: the clone, the script, twice, its line
// for cron, and the checkpoint's signature.
func TestScriptsOfTheMirrorPage(t *testing.T) {
	s := openShards(t)
	files := blocks(t)
	home := filepath.Join(s.dir, "oap")
	if err := os.Mkdir(home, 0o755); err != nil {
		t.Fatal(err)
	}
	place := strings.NewReplacer("/var/lib/oap", home, "/usr/local/bin/", s.bin+"/",
		"/var/lib/prometheus/node-exporter/", home+"/")
	script := place.Replace(files["oap-audit"])
	if err := os.WriteFile(filepath.Join(s.bin, "oap-audit"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	clone := regexp.MustCompile(`(?m)^    (git clone --bare .*)\n    (git -C .*)$`).
		FindStringSubmatch(page(t, "mirror.md"))
	_, cron, _ := strings.Cut(files["crontab"], " oap ")
	s.run(t, "oap", nil, place.Replace(clone[1]+"\n"+clone[2]+"\noap-audit\noap-audit\n"+
		"printed=$("+strings.TrimSpace(cron)+")\ntest -z \"$printed\""))
	for _, name := range []string{"registry.checkpoint", "report.json", "report.html", "oap.prom"} {
		if info, err := os.Stat(filepath.Join(home, name)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}

	keys := filepath.Join(t.TempDir(), "key.go")
	if err := os.WriteFile(keys, []byte(files["key.go"]), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", filepath.Join(s.bin, "key"), keys).
		CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	sign := regexp.MustCompile(`(?m)^    (oap-gate audit .* --sign-key note.key .*)'mirror-a.*$`).
		FindStringSubmatch(page(t, "mirror.md"))
	audit := strings.Replace(sign[1], "audit", "audit --repo registry.git", 1) + "\"$public\"\n"
	s.run(t, "oap", nil, "rm registry.checkpoint\npublic=$(key mirror-a.example.org)\n"+audit+audit+
		"grep '^— mirror-a.example.org ' registry.checkpoint")
}
