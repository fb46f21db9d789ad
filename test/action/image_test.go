package action_test

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/ghtest"
)

func needImage(t *testing.T) {
	t.Helper()
	if image == "" {
		t.Skip("OAP_GATE_IMAGE names no image: run test/action/run.sh")
	}
}

func docker(t *testing.T, args ...string) string {
	t.Helper()
	status, out, errs := finish(t, exec.Command("docker", args...))
	if status != 0 {
		t.Fatalf("docker %s: exit status %d\n%s", strings.Join(args, " "), status, errs)
	}
	return out
}

func TestImage(t *testing.T) {
	needImage(t)
	var images []struct {
		Size   int64
		Config struct {
			User, WorkingDir string
			Entrypoint, Cmd  []string
			Labels           map[string]string
		}
	}
	check(t, json.Unmarshal([]byte(docker(t, "image", "inspect", image)), &images))
	c := images[0].Config
	if c.User != "" || c.WorkingDir != "" || len(c.Cmd) != 0 || !slices.Equal(c.Entrypoint, []string{"/oap-gate"}) {
		t.Errorf("configuration %+v", c)
	}
	if size := images[0].Size; size > 60<<20 {
		t.Errorf("image has %d bytes unpacked, at most 60 MiB", size)
	}
	if size := packed(t); size > 30_000_000 {
		t.Errorf("image has %d bytes as a job pulls it, at most 30 MB", size)
	}
	if c.Labels["org.opencontainers.image.source"] != "https://github.com/openagentprotocol-OAP/oap-gate" ||
		c.Labels["org.opencontainers.image.licenses"] != "Apache-2.0" ||
		c.Labels["org.opencontainers.image.version"] == "" {
		t.Errorf("labels %v", c.Labels)
	}
	files := export(t)
	want := []string{"oap-conform", "oap-gate", "oap-spec", "etc/ssl/certs/ca-certificates.crt", "licenses/LICENSE",
		"licenses/NOTICE", "licenses/THIRD_PARTY_LICENSES"}
	for _, name := range want {
		if !slices.Contains(files, name) {
			t.Errorf("image has no file %s", name)
		}
	}
	// Docker adds what it mounts over.
	files = slices.DeleteFunc(files, func(name string) bool {
		return slices.Contains([]string{".dockerenv", "etc/hostname", "etc/hosts", "etc/resolv.conf", "dev/console"},
			name)
	})
	if len(files) != len(want) {
		t.Errorf("image has the files %q, want %q", files, want)
	}
}

// packed is the size of the image as a registry has it.
func packed(t *testing.T) int {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err := io.WriteString(z, docker(t, "save", image))
	check(t, err)
	check(t, z.Close())
	return b.Len()
}

// export is the names of the image's regular files.
func export(t *testing.T) []string {
	t.Helper()
	id := strings.TrimSpace(docker(t, "create", "--network", "none", image))
	defer exec.Command("docker", "rm", id).Run()
	out := tar.NewReader(strings.NewReader(docker(t, "export", id)))
	var names []string
	for {
		h, err := out.Next()
		if errors.Is(err, io.EOF) {
			return names
		}
		check(t, err)
		if h.Typeflag == tar.TypeReg {
			names = append(names, h.Name)
		}
	}
}

// Nothing is needed of the machine: neither rights, nor a network, nor a directory to write to.
func TestConfined(t *testing.T) {
	needImage(t)
	for _, user := range []string{"0:0", "4711:4711"} {
		for steps, want := range map[string]int{honest: 0, dishonest: 1} {
			w := build(t, steps)
			own(t, w.Repo.Dir)
			status, out, errs := finish(t, exec.Command("docker", "run", "--rm", "--read-only", "--cap-drop=ALL",
				"--security-opt=no-new-privileges", "--network", "none", "--user", user, "-v", w.Repo.Dir+
					":/registry:ro", "--workdir", "/registry",
				image, "check", "--offline", "--head", "pr"))
			if status != want || !strings.Contains(out, "offline: ") {
				t.Errorf("user %s: exit status %d, want %d\n%s%s", user, status, want, out, errs)
			}
		}
	}
}

// The demonstration runs where there is neither git nor a directory but /dev/shm that can be written to.
func TestDemo(t *testing.T) {
	needImage(t)
	for _, flags := range [][]string{{}, {"--read-only", "--cap-drop=ALL", "--security-opt=no-new-privileges", "--user",
		"4711:4711"}} {
		args := slices.Concat([]string{"run", "--rm", "--network", "none"}, flags, []string{image, "demo"})
		if out := docker(t, args...); !strings.Contains(out, "\nall 11 pull requests came out as they must\n") {
			t.Errorf("docker %q:\n%s", args, out)
		}
	}
}

// The first command of docs/mirror.md keeps a mirror, without git, until it is told to end.
func TestMirror(t *testing.T) {
	needImage(t)
	w := build(t)
	root := t.TempDir()
	origin, err := ghtest.ServeGit(root)
	if err != nil {
		t.Skip("NOT TESTED: ", err)
	}
	t.Cleanup(origin.Close)
	git(t, w, "clone", "-q", "--bare", w.Repo.Dir, filepath.Join(root, "oap-registry"))
	data := t.TempDir()
	text := read(t, "../../docs/mirror.md")
	line := regexp.MustCompile(`\n    docker (run .*) \\\n +(mirror .*)\n`).FindStringSubmatch(text)
	args := strings.Fields(strings.NewReplacer(
		"ghcr.io/openagentprotocol-oap/oap-gate@sha256:<digest of a release>", image,
		"-v oap:/data", "-v "+data+":/data -v "+w.Dir+":/world:ro --network host",
		"https://github.com/openagentprotocol-OAP", origin.URL).Replace(line[1] + " " + line[2]))
	for _, f := range w.WebArgs() {
		args = append(args, strings.Replace(f, w.Dir, "/world", 1))
	}
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	cmd := exec.CommandContext(ctx, "docker", args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // which docker hands on to what it runs
	out, err := cmd.StdoutPipe()
	check(t, err)
	cmd.Stderr = os.Stderr
	check(t, cmd.Start())
	said, err := bufio.NewReader(out).ReadString('\n')
	check(t, err)
	stop()
	err = cmd.Wait()
	if _, failed := errors.AsType[*exec.ExitError](err); failed || !strings.Contains(said, "pass") {
		t.Errorf("it ends with %v and said %s", err, said)
	}
	tip, err := exec.Command("git", "-C", filepath.Join(data, "registry.git"), "rev-parse", "main").CombinedOutput()
	if want := commit(t, w, "main"); err != nil || strings.TrimSpace(string(tip)) != want {
		t.Errorf("the mirror is at %s, %v, want %s", tip, err, want)
	}
}

// A contributor's files that are not committed get the verdict that the pull request gets. The image has no git, which
// would say what a commit would hold, and tells the contributor to commit first.
func TestWorktree(t *testing.T) {
	for name, test := range map[string]struct {
		steps  string
		status int
	}{
		"honest":  {"worktree:\n  - {listing: nova, level: L4, witness: [ada]}\n", 0},
		"too new": {"worktree:\n  - {listing: nova, level: L4, witness: [ada], registered: \"-1d\"}\n", 1},
		"not its own": {"worktree:\n  - {listing: nova, level: L1}\n" +
			"  - {edit: implementations/eve.json, set: {/contact: \"mallory@eve.example\"}}\n", 1},
	} {
		t.Run(name, func(t *testing.T) {
			w := build(t, test.steps)
			flags := w.WebArgs()
			if image != "" {
				for i, f := range flags {
					flags[i] = strings.Replace(f, w.Dir, "/world", 1)
				}
			}
			s := step{workspace: w.Repo.Dir, event: "pull_request", payload: "{}",
				flags: []string{"--network", "host", "-v", w.Dir + ":/world:ro"}}
			at := "--at=" + w.Now.Format("2006-01-02T15:04:05Z")
			s.args = slices.Concat([]string{"check", "--worktree", "--report", "json=worktree.json", at}, flags)
			before := s.run(t)
			if image != "" {
				told := before.stdout + before.stderr
				if before.status != 2 || !strings.Contains(told, "commit first and leave --worktree out") {
					t.Errorf("exit status %d, want 2\n%s%s", before.status, before.stdout, before.stderr)
				}
				return
			}

			file := filepath.Join(w.Repo.Dir, "worktree.json")
			want := results(t, file)
			check(t, os.Remove(file))
			git(t, w, "add", "implementations")
			git(t, w, "commit", "-q", "-m", "Propose")
			git(t, w, "checkout", "-q", "--detach", "main")
			git(t, w, "merge", "-q", "--no-ff", "-m", "Merge", "pr")
			s.payload = pullRequest(t, w)
			s.args = slices.Concat([]string{"check", "--report", "json=pr.json", at}, flags)
			after := s.run(t)

			if before.status != test.status || after.status != test.status {
				t.Errorf("exit status %d before the commit and %d after, want %d\n%s%s", before.status, after.status,
					test.status, before.stdout, before.stderr)
			}
			if diff := cmp.Diff(want, results(t, filepath.Join(w.Repo.Dir, "pr.json"))); diff != "" {
				t.Errorf("results before the commit and after differ:\n%s", diff)
			}
		})
	}
}

// results are those of a report, without the commits that they name.
func results(t *testing.T, file string) any {
	t.Helper()
	var report struct{ Results []map[string]any }
	check(t, json.Unmarshal([]byte(read(t, file)), &report))
	if len(report.Results) == 0 {
		t.Errorf("%s has no results", file)
	}
	for _, r := range report.Results {
		findings, _ := r["findings"].([]any)
		for _, f := range findings {
			delete(f.(map[string]any), "commit")
		}
	}
	return report.Results
}
