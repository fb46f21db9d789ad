package conformancecmd

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/conformance/opengap"
)

// Limits of the process that reads Python.
const (
	pythonTime = 20 * time.Second
	pythonLine = 64 << 20 // bytes of what it says of one file
)

// python is a process that runs opengap.Script, in an empty directory.
type python struct {
	cmd *exec.Cmd
	dir string
	in  io.WriteCloser
	out *bufio.Reader
	end context.CancelFunc
}

// startPython starts the Python that --python names, or the first one of PATH. An agent does not bring its own judge:
// nothing in the agent's directory is started.
func startPython(named, agent string) (opengap.Python, error) {
	name, err := findPython(named, agent)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "oap-python-")
	if err != nil {
		return nil, err
	}
	p := &python{dir: dir}
	ctx, end := context.WithTimeout(context.Background(), pythonTime)
	p.end = end
	p.cmd = exec.CommandContext(ctx, name, "-I", "-S", "-W", "ignore", "-c", opengap.Script)
	p.cmd.Dir = dir
	p.cmd.Env = append(os.Environ(), "PWD="+dir)
	p.cmd.WaitDelay = time.Second
	p.cmd.Cancel = func() error { kill(p.cmd); return nil }
	ownGroup(p.cmd)
	var out io.Reader
	if p.in, err = p.cmd.StdinPipe(); err == nil {
		out, err = p.cmd.StdoutPipe()
	}
	if err == nil {
		err = p.cmd.Start()
	}
	if err != nil {
		end()
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	p.out = bufio.NewReaderSize(out, 64<<10)
	return p, nil
}

// Ask implements opengap.Python.
func (p *python) Ask(request []byte) (line []byte, err error) {
	sent := make(chan error, 1)
	go func() {
		_, err := p.in.Write(request)
		sent <- err
	}()
	for {
		part, err := p.out.ReadSlice('\n')
		line = append(line, part...)
		if err == nil {
			return line, <-sent
		}
		if err != bufio.ErrBufferFull || len(line) > pythonLine {
			p.end() // so that the request ends, too
			<-sent
			if err == bufio.ErrBufferFull {
				err = fmt.Errorf("its answer has more than %d bytes", pythonLine)
			}
			return line, fmt.Errorf("within %v: %w", pythonTime, err)
		}
	}
}

// Close implements opengap.Python.
func (p *python) Close() {
	p.end()
	_ = p.cmd.Wait() // its exit status says nothing of the agent
	_ = os.RemoveAll(p.dir)
}

// findPython returns the program to start.
func findPython(named, agent string) (string, error) {
	file := "python3"
	if runtime.GOOS == "windows" {
		file = "python.exe"
	}
	places := []string{named}
	if named == "" {
		places = nil
		for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
			if filepath.IsAbs(dir) {
				places = append(places, filepath.Join(dir, file))
			}
		}
	}
	passed := ""
	for _, name := range places {
		found, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		if found, err = filepath.Abs(found); err != nil {
			continue
		}
		if !liesIn(found, agent) {
			return found, nil
		}
		passed = fmt.Sprintf("; %s is in the agent's directory", found)
	}
	if named != "" {
		return "", fmt.Errorf("%q is not a program that can be run%s", named, passed)
	}
	return "", fmt.Errorf("no directory of PATH has a %s%s", file, passed)
}

// liesIn reports whether a file, or what it links to, lies in a directory. What is not known does.
func liesIn(file, dir string) bool {
	at, err := filepath.EvalSymlinks(dir)
	if err == nil {
		at, err = filepath.Abs(at)
	}
	parent, missing := filepath.EvalSymlinks(filepath.Dir(file))
	target, broken := filepath.EvalSymlinks(file)
	if err != nil || missing != nil || broken != nil {
		return true
	}
	for _, one := range []string{parent, target} {
		rest, err := filepath.Rel(at, one)
		if err == nil && rest != ".." && !strings.HasPrefix(rest, ".."+string(filepath.Separator)) {
			return true
		}
	}
	return false
}
