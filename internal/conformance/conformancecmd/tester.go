package conformancecmd

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/foreign"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
)

// tester is the command of a subscriber, and the processes that it starts.
type tester struct {
	args   []string
	stderr io.Writer
	// running is the command that was started last, or nil. Its channel is closed when it has exited.
	running *exec.Cmd
	exited  chan struct{}
}

// killAfter is how long a command has to end after it was asked to.
const killAfter = 10 * time.Second

// Start implements aaep.Tester.
func (t *tester) Start(endpoint string) (<-chan struct{}, error) {
	t.End()
	cmd := exec.Command(t.args[0], t.args[1:]...)
	cmd.Env = append(os.Environ(), "AAEP_ENDPOINT="+endpoint)
	out := &plainLines{to: t.stderr}
	cmd.Stdout, cmd.Stderr = out, out
	cmd.WaitDelay = time.Second // for a child that keeps the output open
	ownGroup(cmd)
	if err := cmd.Start(); err != nil {
		return nil, remedy.With(fmt.Errorf("starting the command: %w", err), "name a program that can be run, after --")
	}
	t.running, t.exited = cmd, make(chan struct{})
	go func() {
		_ = cmd.Wait() // its exit status says nothing of the subscriber
		out.end()
		close(t.exited)
	}()
	return t.exited, nil
}

// Terminate implements aaep.Tester.
func (t *tester) Terminate() {
	if t.running != nil {
		terminate(t.running)
	}
}

// End implements aaep.Tester. A command that has not exited 10 s after it was asked to is killed, and so are the
// children that it leaves behind.
func (t *tester) End() {
	if t.running == nil {
		return
	}
	t.Terminate()
	select {
	case <-t.exited:
	case <-time.After(killAfter):
	}
	kill(t.running)
	<-t.exited
	t.running = nil
}

// plainLines writes lines of a command so that they cannot pass for the program's own.
type plainLines struct {
	to io.Writer

	mu   sync.Mutex
	line []byte
}

// maxLine is how many bytes of a line are written at once.
const maxLine = 4096

func (p *plainLines) Write(data []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for rest := data; len(rest) > 0; {
		line, after, found := bytes.Cut(rest, []byte("\n"))
		room := maxLine - len(p.line)
		if len(line) > room {
			line, after, found = rest[:room], rest[room:], true
		}
		p.line = append(p.line, line...)
		if rest = after; found {
			p.flush()
		}
	}
	return len(data), nil
}

// flush writes the line so far. Its caller holds the lock.
func (p *plainLines) flush() {
	fmt.Fprintf(p.to, "command: %s\n", foreign.Line(string(p.line)))
	p.line = p.line[:0]
}

// end writes what is left.
func (p *plainLines) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.line) > 0 {
		p.flush()
	}
}
