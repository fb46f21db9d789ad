package opengap

import (
	"bufio"
	"bytes"
	"io"
	"os/exec"
	"slices"
	"sync"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/needs"
)

// onPath is the python3 of PATH, which the test needs.
func onPath(t testing.TB) func() (Python, error) {
	t.Helper()
	needs.Program(t, "python3")
	return python3
}

// testPython runs Script by the python3 of PATH. All tests ask one process.
type testPython struct {
	in    io.WriteCloser
	out   *bufio.Reader
	hello []byte
}

var python3 = sync.OnceValues(func() (Python, error) {
	p, cmd := &testPython{}, exec.Command("python3", "-I", "-S", "-W", "ignore", "-c", Script)
	var err error
	if p.in, err = cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.out = bufio.NewReader(out)
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p.hello, err = p.out.ReadBytes('\n')
	return p, err
})

func (p *testPython) Ask(request []byte) ([]byte, error) {
	if request == nil {
		return p.hello, nil
	}
	if _, err := p.in.Write(request); err != nil {
		return nil, err
	}
	return p.out.ReadBytes('\n')
}

func (p *testPython) Close() {}

// saying is a Python that says one line after another, and then ends.
type saying [][]byte

func (s *saying) Ask([]byte) ([]byte, error) {
	if len(*s) == 0 {
		return nil, io.EOF
	}
	line := (*s)[0]
	*s = (*s)[1:]
	return line, nil
}

func (s *saying) Close() {}

// What Python did not read is not passed, and is not said to be no Python.
func TestUnread(t *testing.T) {
	const hello, fine = `{"version":[3,11,0]}`, `{"tests":["test_orders"]}`
	wants := func(text string) files {
		return agent04.edit(files{"pyproject.toml": "[project]\nrequires-python = \"" + text + "\"\n"})
	}
	const broken = hello + "\n" + `{"fault":"SyntaxError: x","line":1}` + "\n" + fine
	for _, c := range []struct {
		name, says string
		agent      files
		want       string
	}{
		{"nothing", "", agent04, "no-python"},
		{"no Python", "hello", agent04, "no-python"},
		{"old", `{"version":[3,7,9]}`, agent04, "no-python"},
		{"ends", hello, agent04, "not-read"},
		{"says what is not JSON", hello + "\nTraceback", agent04, "not-read"},
		{"gives up", hello + "\n" + `{"fault":"MemoryError: "}` + "\n" + fine, agent04, "not-read"},
		{"too old for the agent", broken, wants(">=3.12,<4"), "python-older"},
		{"as old as the agent", broken, wants(">=3.11"), "not-python"},
	} {
		lines := saying(bytes.Split([]byte(c.says), []byte("\n")))
		if c.says == "" {
			lines = nil
		}
		j := must.Get(Judge(Options{Dir: c.agent.write(t), Dialect: Auto, Python: func() (Python, error) {
			return &lines, nil
		}}))(t)
		var codes []string
		for _, r := range j.Results {
			for _, f := range r.Findings {
				codes = append(codes, f.Code)
			}
			inconclusive := r.Subject == "skills/orders.py" && r.Check != "gap-skills" && c.want != "not-python"
			if inconclusive && r.Verdict != "inconclusive" {
				t.Errorf("%s: %s %s", c.name, r.Check, r.Verdict)
			}
		}
		if !slices.Equal(codes, []string{c.want}) {
			t.Errorf("%s: %s, want %s", c.name, codes, c.want)
		}
	}
}
