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
	if err != nil {
		t.Fatal(err)
	}
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
