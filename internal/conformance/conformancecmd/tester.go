package conformancecmd

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/foreign"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
)

// process is a command that was started, and the group of processes that it leads.
type process struct {
	*exec.Cmd
	exited chan struct{} // closed when it has exited, and then was called
	err    error         // that of its end, once it has exited
}

// start starts a command, whose output is all out's, and calls then when it has exited.
func start(cmd *exec.Cmd, out io.Writer, then func()) (*process, error) {
	cmd.Stdout, cmd.Stderr = out, out
	cmd.WaitDelay = time.Second // for a child that keeps the output open
	ownGroup(cmd)
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := &process{Cmd: cmd, exited: make(chan struct{})}
	go func() {
		p.err = cmd.Wait()
		then()
		close(p.exited)
	}()
	return p, nil
}

// end asks a command to end, kills it after a time if it has not, and kills the children that it leaves behind.
func (p *process) end(patience time.Duration) {
	terminate(p.Cmd)
	select {
	case <-p.exited:
	case <-time.After(patience):
	}
	kill(p.Cmd)
	<-p.exited
}

// tester is the command of a subscriber.
type tester struct {
	args    []string
	stderr  io.Writer
	running *process // that was started last; nil: none
}

// killAfter is how long a command has to end after it was asked to.
const killAfter = 10 * time.Second

// Start implements server.Tester.
func (t *tester) Start(endpoint string) (<-chan struct{}, error) {
	t.End()
	cmd := exec.Command(t.args[0], t.args[1:]...)
	cmd.Env = append(os.Environ(), "AAEP_ENDPOINT="+endpoint)
	out := &plainLines{to: t.stderr}
	p, err := start(cmd, out, out.end) // its exit status says nothing of the subscriber
	if err != nil {
		return nil, remedy.With(fmt.Errorf("starting the command: %w", err), "name a program that can be run, after --")
	}
	t.running = p
	return p.exited, nil
}

// Terminate implements server.Tester.
func (t *tester) Terminate() {
	if t.running != nil {
		terminate(t.running.Cmd)
	}
}

// End implements server.Tester.
func (t *tester) End() {
	if t.running != nil {
		t.running.end(killAfter)
	}
	t.running = nil
}

// plainLines writes lines of a command so that they cannot pass for the program's own.
type plainLines struct {
	to   io.Writer
	line []byte
}

// maxLine is how many bytes of a line are written at once.
const maxLine = 4096

func (p *plainLines) Write(data []byte) (int, error) {
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

// flush writes the line so far.
func (p *plainLines) flush() {
	fmt.Fprintf(p.to, "command: %s\n", foreign.Line(string(p.line)))
	p.line = p.line[:0]
}

// end writes what is left.
func (p *plainLines) end() {
	if len(p.line) > 0 {
		p.flush()
	}
}
