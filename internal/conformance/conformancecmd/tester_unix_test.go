//go:build unix

package conformancecmd

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/conformance/opengap/trial"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/needs"
)

// lines collects what is written.
type lines struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lines) Write(data []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(data)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// A command is ended with its children, even those that ignore SIGTERM after the command has exited, and its output is
// escaped.
func TestTesterEndsChildren(t *testing.T) {
	needs.Program(t, "mv", "sleep")
	file := filepath.Join(t.TempDir(), "pid")
	var out lines
	c := &tester{stderr: &out, args: []string{"/bin/sh", "-c", `
		printf '\033[2J::error::%s\n' "$AAEP_ENDPOINT"
		(trap "" TERM; while :; do sleep 1; done) &
		echo $! >` + file + `.new
		mv ` + file + `.new ` + file + `
		trap "exit 0" TERM
		while :; do sleep 0.1; done`}}
	exited, err := c.Start("http://127.0.0.1:9")
	must.OK(t, err)
	var child int
	const wait = 10 * time.Millisecond
	for end := time.Now().Add(20 * time.Second); child == 0 && time.Now().Before(end); time.Sleep(wait) {
		data, _ := os.ReadFile(file)
		child, _ = strconv.Atoi(strings.TrimSpace(string(data)))
	}
	if child == 0 {
		t.Fatal("the child does not start")
	}
	c.Terminate()
	<-exited
	c.End()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(wait) {
		if err = syscall.Kill(child, 0); err != nil {
			break
		}
	}
	if err != syscall.ESRCH && !isZombie(child) {
		t.Errorf("the child %d still runs: %v", child, err)
	}
	// A shell may add that it was terminated.
	if got, _, _ := strings.Cut(out.String(), "\n"); got != "command: \\x1b[2J::error::http://127.0.0.1:9" {
		t.Errorf("%q", got)
	}
	c.End() // of nothing
}

// isZombie reports whether a process has ended, and nobody has asked how.
func isZombie(pid int) bool {
	data, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	_, after, _ := strings.Cut(string(data), ") ")
	return strings.HasPrefix(after, "Z")
}

func TestPlainLines(t *testing.T) {
	var out lines
	p := &plainLines{to: &out}
	for _, part := range []string{"a", "b\nc", "\n", strings.Repeat("x", maxLine+1), "\n\n::notice::z"} {
		if n, err := p.Write([]byte(part)); n != len(part) || err != nil {
			t.Errorf("%d %v", n, err)
		}
	}
	p.end()
	want := "command: ab\ncommand: c\ncommand: " + strings.Repeat("x", maxLine) +
		"\ncommand: x\ncommand: \ncommand: \\x3a:notice::z\n"
	if got := out.String(); got != want {
		t.Errorf("%q", got)
	}
}

// A runtime that floods its output, ignores SIGTERM or leaves children behind holds nothing up.
func TestJob(t *testing.T) {
	needs.Program(t, "head", "sleep", "yes")
	shell := func(script string, timeout time.Duration) trial.Ended {
		return startJob(t.Context(), "/bin/sh", []string{"-c", script}, trial.Job{Dir: t.TempDir(), Timeout: timeout,
			Env: os.Environ()})
	}
	if e := shell("yes | head -c 1000000; echo last; exit 3", time.Minute); e.Exit != 3 || len(e.Output) != 64<<10 ||
		!strings.HasSuffix(e.Output, "last\n") {
		t.Errorf("%d, %d bytes", e.Exit, len(e.Output))
	}
	if e := shell("trap '' TERM; sleep 60 & wait; wait", time.Second); e.Exit == 0 || e.Took > 20*time.Second {
		t.Errorf("%d after %v", e.Exit, e.Took)
	}
	pid := filepath.Join(t.TempDir(), "pid")
	if e := shell("sleep 60 & echo $! >"+pid+"; exit 0", time.Minute); e.Exit != 0 || e.Took > 20*time.Second {
		t.Errorf("%d after %v", e.Exit, e.Took)
	}
	text, err := os.ReadFile(pid)
	child, bad := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || bad != nil {
		t.Fatal(err, bad)
	}
	for range 100 {
		if syscall.Kill(child, 0) != nil {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Errorf("the child %d is still there", child)
}

// An agent does not bring its own Python.
func TestFindPython(t *testing.T) {
	agent, other := t.TempDir(), t.TempDir()
	for _, dir := range []string{agent, other} {
		must.OK(t, os.WriteFile(filepath.Join(dir, "python3"), []byte("#!/bin/sh\n"), 0o755))
	}
	link := t.TempDir()
	must.OK(t, os.Symlink(filepath.Join(agent, "python3"), filepath.Join(link, "python3")))
	t.Setenv("PATH", strings.Join([]string{agent, ".", "", link, other}, string(os.PathListSeparator)))
	if got, err := findPython("", agent); err != nil || got != filepath.Join(other, "python3") {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := findPython(filepath.Join(agent, "python3"), agent); err == nil {
		t.Errorf("%q was found", got)
	}
	t.Setenv("PATH", link)
	if got, err := findPython("", agent); err == nil {
		t.Errorf("%q was found", got)
	}
}
