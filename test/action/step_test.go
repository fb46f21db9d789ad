package action_test

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/fixture"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

// image is the image to run. Where there is none, the binary runs in its place, with the same files and
// environment: then mounts, users and networks are not tried.
var image = os.Getenv("OAP_GATE_IMAGE")

// binary is the gate, built for the tests.
var binary string

func TestMain(m *testing.M) { os.Exit(testMain(m)) }

func testMain(m *testing.M) int {
	dir, err := os.MkdirTemp("", "oap-gate-action-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	fixture.Salt("action ") // the program refuses the keys that are published with it
	binary = filepath.Join(dir, "oap-gate")
	if out, err := exec.Command("go", "build", "-o", dir+"/", "../../cmd/...").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "building the programs: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}

// runnerUser owns what the runner checks out; the container of an action is root.
const runnerUser = 1001

// metadata is what the tests need of action.yml.
type metadata struct {
	Inputs  map[string]struct{ Description, Default string }
	Outputs map[string]struct{ Description string }
	Runs    map[string]string
}

func readMetadata(t *testing.T) metadata {
	t.Helper()
	text, err := os.ReadFile("../../action.yml")
	check(t, err)
	var m metadata
	check(t, yaml.Unmarshal(text, &m))
	return m
}

// step is one use of the action in a job.
type step struct {
	workspace string // the checked out repository
	event     string // name
	payload   string // of the event, as JSON
	inputs    map[string]string
	env       map[string]string // of a mode that acts at the forge, and has no outputs
	flags     []string          // more of docker run
	args      []string          // of the program: none for the action
}

// outcome is what the runner sees of a step.
type outcome struct {
	status         int
	stdout, stderr string
	outputs        map[string]string
	delimiters     []string
	summary        string
	commands       []string // names of the workflow commands in both streams
}

// variable names files as the runner does; each is a file in file_commands.
var fileCommands = []string{"GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY", "GITHUB_ENV", "GITHUB_PATH", "GITHUB_STATE"}

// run runs the step with the runner's mounts, environment and files.
func (s step) run(t *testing.T) outcome {
	t.Helper()
	temp := t.TempDir()
	check(t, os.Chmod(temp, 0o755))
	mounts := map[string]string{s.workspace: "/github/workspace"}
	for _, name := range []string{"home", "workflow", "file_commands"} {
		dir := filepath.Join(temp, name)
		check(t, os.Mkdir(dir, 0o755))
		mounts[dir] = "/github/" + name
	}
	check(t, os.WriteFile(filepath.Join(temp, "workflow", "event.json"), []byte(s.payload), 0o644))
	inside := func(path string) string {
		if image == "" {
			return path
		}
		for from, to := range mounts {
			if rest, ok := strings.CutPrefix(path, from); ok {
				return to + rest
			}
		}
		return path
	}
	env := map[string]string{"CI": "true", "GITHUB_ACTIONS": "true", "GITHUB_ACTION": "__self",
		"GITHUB_EVENT_NAME": s.event,
		"GITHUB_EVENT_PATH": inside(filepath.Join(temp, "workflow", "event.json")),
		"GITHUB_WORKSPACE":  inside(s.workspace),
		"GITHUB_REPOSITORY": "example/registry", "HOME": inside(filepath.Join(temp, "home")), "RUNNER_OS": "Linux"}
	for _, name := range fileCommands {
		path := filepath.Join(temp, "file_commands", strings.ToLower(name))
		check(t, os.WriteFile(path, nil, 0o644))
		env[name] = inside(path)
	}
	m := readMetadata(t)
	for name, input := range m.Inputs {
		env["INPUT_"+strings.ToUpper(strings.ReplaceAll(name, " ", "_"))] = input.Default
	}
	for name, value := range s.inputs {
		if _, ok := m.Inputs[name]; !ok {
			t.Fatalf("action.yml has no input %q", name)
		}
		env["INPUT_"+strings.ToUpper(name)] = value
	}
	maps.Copy(env, s.env)
	own(t, s.workspace)
	own(t, temp)

	var o outcome
	o.status, o.stdout, o.stderr = s.execute(t, env, mounts)
	o.outputs, o.delimiters = readOutputs(t, filepath.Join(temp, "file_commands", "github_output"))
	o.summary = read(t, filepath.Join(temp, "file_commands", "github_step_summary"))
	o.commands = commandNames(t, o.stdout+"\n"+o.stderr)
	for _, name := range fileCommands[2:] {
		if text := read(t, filepath.Join(temp, "file_commands", strings.ToLower(name))); text != "" {
			t.Errorf("%s holds %q, want nothing: later steps would have it", name, text)
		}
	}
	if len(s.args) == 0 && s.env == nil &&
		!slices.Equal(slices.Sorted(maps.Keys(o.outputs)), slices.Sorted(maps.Keys(m.Outputs))) {
		t.Errorf("outputs %v, action.yml describes %v", o.outputs, slices.Sorted(maps.Keys(m.Outputs)))
	}
	if t.Failed() {
		t.Logf("status %d\n%s%s", o.status, o.stdout, o.stderr)
	}
	return o
}

func (s step) execute(t *testing.T, env, mounts map[string]string) (int, string, string) {
	t.Helper()
	command := exec.Command(binary, s.args...)
	command.Dir = s.workspace
	command.Env = []string{"PATH=" + os.Getenv("PATH")}
	if image != "" {
		args := []string{"run", "--rm", "--workdir", "/github/workspace"}
		if !slices.Contains(s.flags, "--network") {
			args = append(args, "--network", "none")
		}
		args = append(args, s.flags...)
		for _, name := range slices.Sorted(maps.Keys(env)) {
			args = append(args, "-e", name+"="+env[name])
		}
		for from, to := range mounts {
			args = append(args, "-v", from+":"+to)
		}
		command = exec.Command("docker", append(append(args, image), s.args...)...)
	} else {
		// The workspace may be another user's, see own, and git runs in none of those unless it is told so.
		command.Env = append(command.Env, "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory",
			"GIT_CONFIG_VALUE_0=*")
		for name, value := range env {
			command.Env = append(command.Env, name+"="+value)
		}
	}
	return finish(t, command)
}

func finish(t *testing.T, command *exec.Cmd) (status int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	command.Stdout, command.Stderr = &out, &errs
	err := command.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return exit.ExitCode(), out.String(), errs.String()
	}
	check(t, err)
	return 0, out.String(), errs.String()
}

// own gives the tree to the runner's user where the test may.
func own(t *testing.T, dir string) {
	t.Helper()
	if os.Getuid() != 0 {
		return
	}
	check(t, filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(path, runnerUser, runnerUser)
	}))
}

var opening = regexp.MustCompile(`^([a-z-]+)<<(oap_gate_[A-Z0-9]{20,})$`)

// readOutputs reads the file as the runner does: a name, a delimiter, lines up to the delimiter.
func readOutputs(t *testing.T, path string) (outputs map[string]string, delimiters []string) {
	t.Helper()
	outputs = map[string]string{}
	lines := strings.Split(strings.TrimSuffix(read(t, path), "\n"), "\n")
	for i := 0; i < len(lines) && lines[i] != ""; i++ {
		m := opening.FindStringSubmatch(lines[i])
		if m == nil {
			t.Fatalf("line %q of the outputs opens none", lines[i])
		}
		var value []string
		for i++; lines[i] != m[2]; i++ {
			value = append(value, lines[i])
		}
		outputs[m[1]] = strings.Join(value, "\n")
		delimiters = append(delimiters, m[2])
	}
	return outputs, slices.Compact(delimiters)
}

var newCommand = regexp.MustCompile(`^\s*::([^ :]+)`)

// commandNames finds whatever the runner could take for a command, and fails for one that is not the gate's.
func commandNames(t *testing.T, log string) []string {
	t.Helper()
	var names []string
	for _, line := range strings.FieldsFunc(log, func(r rune) bool { return r == '\r' || r == '\n' }) {
		if strings.Contains(line, "##[") {
			t.Errorf("line %q holds a command of the old grammar", line)
		}
		if m := newCommand.FindStringSubmatch(line); m != nil {
			names = append(names, m[1])
			if !slices.Contains([]string{"error", "warning", "notice", "group", "endgroup"}, m[1]) {
				t.Errorf("line %q is a command", line)
			}
		}
	}
	return names
}

func count(names []string, name string) int {
	n := 0
	for _, have := range names {
		if have == name {
			n++
		}
	}
	return n
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	check(t, err)
	return string(text)
}

func check(t *testing.T, err error) {
	t.Helper()
	must.OK(t, err)
}
