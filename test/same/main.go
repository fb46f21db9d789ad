// Command same writes what a program prints into files, one for each command line, so that diff compares two builds.
// .ci/same does that.
//
//	go run ./test/same PROGRAM DIRECTORY
//
// It writes the help of each command, the explanation of each id and code, each schema, the completion of each shell,
// the demo, and the report of each bundle of testdata/bundles that the program replays in every format. Ports,
// milliseconds and the member tool of reports are left out, because they differ between two runs or two builds that are
// the same.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
	"golang.org/x/sync/errgroup"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/fixture"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: same PROGRAM DIRECTORY")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(2)
	}
}

// formats are the formats that --report accepts for a replay.
var formats = []string{"json", "github", "markdown", "sarif", "junit", "html", "prometheus"}

// session is one build of the program and the directory for what it prints.
type session struct {
	program, directory string
	work               errgroup.Group
}

func run(program, directory string) error {
	program, err := filepath.Abs(program)
	if err != nil {
		return err
	}
	s := &session{program: program, directory: directory}
	s.work.SetLimit(runtime.NumCPU())
	commands, err := s.commands(nil)
	if err != nil {
		return err
	}
	for _, command := range commands {
		s.keep("help", append(command, "--help"))
	}
	for _, command := range []string{"explain", "schema", "completion"} {
		words, err := s.words(command)
		if err != nil {
			return err
		}
		if len(words) == 0 {
			return fmt.Errorf("%s completes no words", command)
		}
		for _, word := range words {
			s.keep(command, []string{command, word})
		}
	}
	s.keep("run", []string{"explain"})
	if filepath.Base(program) == "oap-gate" {
		s.keep("run", []string{"demo"})
	}
	bundles, err := filepath.Glob("testdata/bundles/*.txtar")
	if err != nil {
		return err
	}
	for _, path := range bundles {
		s.work.Go(func() error { return s.replay(path) })
	}
	return s.work.Wait()
}

// commands returns the arguments of a command and of those below it.
func (s *session) commands(at []string) ([][]string, error) {
	all := [][]string{at}
	for _, leaf := range []string{"help", "completion", "explain"} { // their words are arguments
		if slices.Contains(at, leaf) {
			return all, nil
		}
	}
	words, err := s.words(at...)
	if err != nil {
		return nil, err
	}
	for _, word := range words {
		sub := append(slices.Clone(at), word)
		// A completed word may be an argument: only a command has a usage line of its own.
		if out, _ := exec.Command(s.program, append(sub, "--help")...).Output(); bytes.Contains(out,
			[]byte("\n  "+filepath.Base(s.program)+" "+strings.Join(sub, " "))) {
			below, err := s.commands(sub)
			if err != nil {
				return nil, err
			}
			all = append(all, below...)
		}
	}
	return all, nil
}

// words returns what the program completes after a command.
func (s *session) words(command ...string) ([]string, error) {
	args := append(append([]string{"__complete"}, command...), "")
	out, err := exec.Command(s.program, args...).Output()
	if err != nil {
		return nil, fmt.Errorf("completing %q: %w", command, err)
	}
	var words []string
	for line := range strings.Lines(string(out)) {
		word, _, _ := strings.Cut(strings.TrimSpace(line), "\t")
		if word != "" && !strings.HasPrefix(word, ":") {
			words = append(words, word)
		}
	}
	return words, nil
}

// keep runs a command line, in the background, and keeps what it prints in a file of a directory.
func (s *session) keep(directory string, args []string) {
	s.work.Go(func() error {
		out, err := s.print("", args)
		if err != nil {
			return err
		}
		return s.write(filepath.Join(directory, strings.Join(args, " ")), out)
	})
}

// replay builds the world of a recorded bundle and replays the bundle in every format.
func (s *session) replay(path string) error {
	recording, err := txtar.ParseFile(path)
	if err != nil {
		return err
	}
	files := map[string][]byte{}
	for _, f := range recording.Files {
		files[f.Name] = f.Data
	}
	dir, err := os.MkdirTemp("", "same")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o666); err != nil {
			return err
		}
	}
	name, args := "oap-gate", strings.Fields(string(files["command"]))
	if len(args) > 0 {
		name, args = args[0], args[1:]
	}
	if name != filepath.Base(s.program) {
		return nil // another program replays it
	}
	if len(args) == 0 {
		world, err := fixture.Build(dir, files["world.yaml"])
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		defer func() { _ = world.Close() }()
		args = []string{"replay", "bundle.json", "--repo", world.Repo.Dir}
	}
	for _, format := range formats {
		if format != "prometheus" || name == "oap-gate" { // which alone writes it
			args = append(args, "--report", format+"=report."+format)
		}
	}
	out, err := s.print(dir, args)
	if err != nil {
		return err
	}
	out = bytes.ReplaceAll(out, []byte(dir), []byte("DIR"))
	name = filepath.Join("replay", strings.TrimSuffix(filepath.Base(path), ".txtar"))
	if err := s.write(name+".text", out); err != nil {
		return err
	}
	for _, format := range formats {
		text, err := os.ReadFile(filepath.Join(dir, "report."+format))
		if errors.Is(err, os.ErrNotExist) {
			text = []byte("not written\n")
		} else if err != nil {
			return err
		}
		if err := s.write(name+"."+format, bytes.ReplaceAll(text, []byte(dir), []byte("DIR"))); err != nil {
			return err
		}
	}
	return nil
}

// print runs the program in a directory and returns its exit status, its stdout and its stderr.
func (s *session) print(dir string, args []string) ([]byte, error) {
	c := exec.Command(s.program, args...)
	c.Dir, c.WaitDelay = dir, time.Minute
	c.Env = append(os.Environ(), "COLUMNS=80", "NO_COLOR=1", "GITHUB_ACTIONS=")
	var out, diag bytes.Buffer
	c.Stdout, c.Stderr = &out, &diag
	err := c.Run()
	if _, ended := errors.AsType[*exec.ExitError](err); err != nil && !ended {
		return nil, fmt.Errorf("running %s %q: %w", s.program, args, err)
	}
	return fmt.Appendf(nil, "exit status %d\n%s\nstderr:\n%s", c.ProcessState.ExitCode(), &out, &diag), nil
}

// unsteady finds what differs between two runs of one program, or between two builds of one commit.
var unsteady = []struct {
	find    func() *regexp.Regexp
	instead string
}{
	{plain.Pattern(`(127\.0\.0\.1|localhost):\d+`), "$1:PORT"},
	{plain.Pattern(`"milliseconds": ?\d+`), `"milliseconds": N`},
	{plain.Pattern(`\b\d+ ?ms\b`), "N ms"},
	{plain.Pattern(`"tool": ?\{[^}]*\}`), `"tool": {}`},
}

// write keeps a text without what is unsteady in it.
func (s *session) write(name string, text []byte) error {
	for _, u := range unsteady {
		text = u.find().ReplaceAll(text, []byte(u.instead))
	}
	path := filepath.Join(s.directory, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o666)
}
