package script_test

import (
	"bytes"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/openagentprotocol-OAP/oap-gate/internal/cli"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/clitest"
)

// A worker is a process that runs oap-gate for scripts, one run after the other, each in a directory and with an
// environment of its own, which are a process's and not a goroutine's. Hundreds of runs need not be begun then, and
// what one leaves in the process the next one meets.
type worker struct {
	process *exec.Cmd
	stdin   io.Closer
	jobs    *gob.Encoder
	ended   *gob.Decoder
}

// job is one run of the program, whose stdin is empty.
type job struct {
	Dir       string
	Env, Args []string
}

type ending struct {
	Status         int
	Stdout, Stderr []byte
}

// asWorker is the name under which this binary is a worker.
const asWorker = "oap-gate-worker"

// work runs each job of stdin and tells its ending on stdout. When stdin ends, so does it, within a job too.
func work() {
	jobs := make(chan job)
	go func() {
		for in := gob.NewDecoder(os.Stdin); ; {
			var j job
			if err := in.Decode(&j); err != nil {
				os.Exit(0)
			}
			jobs <- j
		}
	}()
	sys, out := cli.System(), gob.NewEncoder(os.Stdout)
	debug.SetGCPercent(100) // System's bounds the memory of one large run; here are hundreds of small ones
	for j := range jobs {
		var stdout, stderr bytes.Buffer
		sys.Stdin, sys.Stdout, sys.Stderr = nil, &stdout, &stderr
		err := os.Chdir(j.Dir)
		os.Clearenv()
		for _, v := range j.Env {
			name, value, _ := strings.Cut(v, "=")
			err = errors.Join(err, os.Setenv(name, value))
		}
		if err != nil {
			panic(err)
		}
		status := clitest.Noted(j.Args, sys)
		if err := out.Encode(ending{status, stdout.Bytes(), stderr.Bytes()}); err != nil {
			panic(err)
		}
	}
}

// workers are those without a job.
var workers struct {
	sync.Mutex
	idle []*worker
}

func (j job) run() (ending, error) {
	workers.Lock()
	n := len(workers.idle)
	var w *worker
	if n > 0 {
		w, workers.idle = workers.idle[n-1], workers.idle[:n-1]
	}
	workers.Unlock()
	if w == nil {
		var err error
		if w, err = hire(); err != nil {
			return ending{}, err
		}
	}
	var e ending
	if err := errors.Join(w.jobs.Encode(j), w.ended.Decode(&e)); err != nil {
		return e, fmt.Errorf("the worker fails: %w, %w", err, w.dismiss())
	}
	workers.Lock()
	workers.idle = append(workers.idle, w)
	workers.Unlock()
	return e, nil
}

func hire() (*worker, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(self)
	cmd.Args[0] = asWorker
	cmd.Env = append(os.Environ(), "GORACE="+clitest.Race+" halt_on_error=1") // which fails the run that has the race
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return &worker{cmd, in, gob.NewEncoder(in), gob.NewDecoder(out)}, nil
}

func (w *worker) dismiss() error {
	w.stdin.Close()
	return w.process.Wait()
}

// employer runs the tests, and ends the workers after them.
type employer struct{ *testing.M }

func (e employer) Run() int {
	code := e.M.Run()
	for _, w := range workers.idle {
		if err := w.dismiss(); err != nil {
			fmt.Fprintln(os.Stderr, "a worker:", err)
			code = max(code, 1)
		}
	}
	return code
}

// inWorker runs the program where the script stands and gives its exit status.
func inWorker(ts *testscript.TestScript, args ...string) int {
	e, err := job{ts.MkAbs("."), environment(ts), args}.run()
	ts.Check(err)
	ts.Stdout().Write(e.Stdout)
	ts.Stderr().Write(e.Stderr)
	return e.Status
}

// setenv sets a variable of a script's environment.
func setenv(ts *testscript.TestScript, name, value string) {
	s := state(ts)
	s.variables = append(s.variables, name)
	ts.Setenv(name, value)
}

var assigned = regexp.MustCompile(`(?m)^(?:\[.*\] )?env .*`)

// environment is the script's, without variables that are empty: testscript does not tell it, so that the names are
// those that its file sets and those that commands set.
func environment(ts *testscript.TestScript) []string {
	s := state(ts)
	if !s.read {
		s.read = true
		text, err := os.ReadFile(filepath.Join(scripts, ts.Name()+".txtar"))
		ts.Check(err)
		for _, line := range assigned.FindAll(text, -1) {
			for word := range strings.FieldsSeq(string(line)) {
				if name, _, is := strings.Cut(word, "="); is {
					s.variables = append(s.variables, name)
				}
			}
		}
	}
	all := []string{"PWD=" + ts.MkAbs(".")}
	slices.Sort(s.variables)
	s.variables = slices.Compact(s.variables)
	for _, name := range s.variables {
		if value := ts.Getenv(name); value != "" {
			all = append(all, name+"="+value)
		}
	}
	return all
}
