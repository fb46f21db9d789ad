package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// command is a program to measure.
type command struct {
	args  []string
	stdin string // file; empty: none
	exit  int    // the status that it must end with

	prepare func() // before each run, not measured; nil: nothing
}

// String returns the command line as a reader would type it.
func (c command) String() string {
	args := slices.Clone(c.args)
	args[0] = filepath.Base(args[0])
	for i, a := range args {
		if strings.ContainsAny(a, " *=") {
			args[i] = "'" + a + "'"
		}
	}
	text := strings.Join(args, " ")
	if c.stdin != "" {
		text += " < " + c.stdin
	}
	return text + " > /dev/null"
}

// usage is what one run of a command took.
type usage struct {
	wall   time.Duration
	cpu    time.Duration // user and system
	memory int64         // peak resident set in bytes; 0: not known
}

// plainGit keeps the git commands from reading the configuration of the user who runs the bench.
var plainGit = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_OPTIONAL_LOCKS=0")

func (b *bench) time(c command) usage {
	if c.prepare != nil {
		c.prepare()
	}
	cmd := exec.CommandContext(b.ctx, c.args[0], c.args[1:]...)
	cmd.Env = plainGit
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if c.stdin != "" {
		in, err := os.Open(c.stdin)
		try(err)
		defer in.Close()
		cmd.Stdin = in
	}
	start := time.Now()
	err := cmd.Run()
	u := usage{wall: time.Since(start)}
	if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != c.exit {
		try(fmt.Errorf("%s: %w; expected exit status %d\n%s", c, err, c.exit, stderr.Bytes()))
	}
	u.cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	u.memory = peakMemory(cmd.ProcessState)
	return u
}

// inTurn runs the commands one after another, in as many rounds as asked for after one that does not count,
// and gives the usages of each command.
func (b *bench) inTurn(commands ...command) [][]usage {
	used := make([][]usage, len(commands))
	for round := range b.rounds + 1 {
		for i, c := range commands {
			u := b.time(c)
			if round > 0 || b.quick {
				used[i] = append(used[i], u)
			}
		}
	}
	return used
}

// median returns the middle of the values that f returns, the lower one of two.
func median[T any](of []T, f func(T) float64) float64 {
	values := make([]float64, len(of))
	for i, v := range of {
		values[i] = f(v)
	}
	slices.Sort(values)
	return values[(len(values)-1)/2]
}

func wall(u usage) float64   { return u.wall.Seconds() }
func cpu(u usage) float64    { return u.cpu.Seconds() }
func memory(u usage) float64 { return float64(u.memory) / (1 << 20) }

// spread returns the median of the wall times, their range, and the median of the processor time.
func spread(used []usage) string {
	least, most := used[0].wall, used[0].wall
	for _, u := range used {
		least, most = min(least, u.wall), max(most, u.wall)
	}
	return fmt.Sprintf("%s (%s to %s; %s of CPU)", seconds(median(used, wall)), seconds(least.Seconds()),
		seconds(most.Seconds()), seconds(median(used, cpu)))
}

func seconds(s float64) string {
	if s < 1 {
		return fmt.Sprintf("%.0f ms", s*1000)
	}
	return fmt.Sprintf("%.2f s", s)
}

// pair is the usage of the gate and of the peer in one round.
type pair struct{ gate, peer usage }

func pairs(gate, peer []usage) []pair {
	out := make([]pair, len(gate))
	for i := range gate {
		out[i] = pair{gate[i], peer[i]}
	}
	return out
}

func wallRatio(p pair) float64 { return p.gate.wall.Seconds() / p.peer.wall.Seconds() }
func cpuRatio(p pair) float64  { return p.gate.cpu.Seconds() / p.peer.cpu.Seconds() }

func mebibytes(used []usage) string {
	if used[0].memory == 0 {
		return ""
	}
	return fmt.Sprintf("%.0f MiB", median(used, memory))
}

func gitVersion() string {
	out, err := exec.Command("git", "version").Output()
	if err != nil {
		return "no git"
	}
	return strings.TrimSpace(string(out))
}
