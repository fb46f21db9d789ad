package conformancecmd

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/typed"
	"github.com/openagentprotocol-OAP/oap-gate/internal/conformance/opengap"
	"github.com/openagentprotocol-OAP/oap-gate/internal/conformance/opengap/trial"
	"github.com/openagentprotocol-OAP/oap-gate/internal/frame"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// openGAPRuntime has the flags of opengap runtime.
type openGAPRuntime struct {
	conformanceFlags
	operator, recommended string
	only                  []string
	seed                  uint64
	timeout, budget       time.Duration
}

func newOpenGAPRuntime(sys frame.IO, p *Protocol) *cobra.Command {
	var o openGAPRuntime
	c := &cobra.Command{
		Use:   "runtime [--operator FILE] -- COMMAND ARG…",
		Short: "check a runtime with reference agents",
		Long: `runtime runs small agents of its own with COMMAND and plays the model. It judges
by what the model sees, by exit status and output, and by what the agents' code
writes down. The operator's file says how the runtime is used. A pass is by
these reference agents.

exit status: 0 pass, 1 fail, 2 could not run, 3 inconclusive`,
		Example: "  oap-conform opengap runtime -- acme-runtime",
		Args:    arguments(1, math.MaxInt, "oap-conform opengap runtime -- COMMAND ARG…", "runtime requires a command"),
		RunE: func(c *cobra.Command, args []string) error {
			return o.run(func() (*conformance, error) { return o.judge(c.Context(), args) })
		},
	}
	o.bind(c, sys, p, false)
	f := c.Flags()
	f.StringVar(&o.operator, "operator", "", "YAML `FILE` that says how the runtime is used")
	f.StringVar(&o.recommended, "recommended", "error",
		"`SEVERITY` of the checks that 0.4 is said to only recommend: error or warn")
	f.StringSliceVar(&o.only, "only", nil,
		"only the checks with these `IDS`, joined by commas; rows of the matrix (default: all)")
	f.Uint64Var(&o.seed, "seed", 0, "seed `N` of the run: it repeats the names (default: new names)")
	frame.DurationVar(f, &o.timeout, "timeout", "60s", "time limit for one exchange: a run of the command")
	frame.DurationVar(f, &o.budget, "budget", "10m", "time limit for the run; that of all trials; 0 for none")
	return c
}

func (o *openGAPRuntime) judge(ctx context.Context, args []string) (*conformance, error) {
	if err := typed.OneOf("--recommended", o.recommended, "error", "warn"); err != nil {
		return nil, err
	}
	for _, id := range o.only {
		if !slices.ContainsFunc(opengap.RuntimeRules(), func(r verdict.Rule) bool { return r.ID == id }) {
			return nil, remedy.Errorf("oap-conform opengap --list names the rows",
				"--only %q is not a row of a runtime", id)
		}
	}
	operator, err := readFlag("--operator", o.operator, trial.MaxOperator, trial.ReadOperator,
		"correct the operator's file: see docs/conformance.md")
	if err != nil {
		return nil, err
	}
	if operator == nil {
		operator = trial.DefaultOperator()
	}
	program, err := exec.LookPath(args[0])
	if err == nil {
		program, err = filepath.Abs(program)
	}
	if err != nil {
		return nil, remedy.Errorf("name a program that can be run, after --", "COMMAND: %v", err)
	}
	seed := o.seed
	if seed == 0 {
		seed = uint64(time.Now().UnixNano()) % 1_000_000
	}
	ctx, cancel := withBudget(ctx, o.budget)
	defer cancel()
	t := trial.Options{Subject: args[0], Operator: operator, Only: o.only, Seed: seed, Timeout: o.timeout,
		Env:         os.Environ(),
		Recommended: verdict.Error, Start: func(ctx context.Context, job trial.Job) trial.Ended {
			return startJob(ctx, program, args[1:], job)
		}}
	found := &conformance{subject: args[0], rows: opengap.RuntimeRules(), chosen: fmt.Sprintf("--seed %d", seed)}
	if o.recommended == "warn" {
		t.Recommended, found.assumed = verdict.Warning, []string{"--recommended warn"}
	}
	if o.only != nil {
		found.assumed = append(found.assumed, "--only "+strings.Join(o.only, ","))
	}
	found.results, err = t.Run(ctx)
	return found, remedy.With(err, "free some space for temporary files")
}

// startJob runs the command in an agent's directory, and ends the processes that it leaves behind.
func startJob(ctx context.Context, program string, first []string, job trial.Job) trial.Ended {
	ctx, cancel := context.WithTimeout(ctx, job.Timeout)
	defer cancel()
	cmd := exec.Command(program, slices.Concat(first, job.Args)...)
	cmd.Dir, cmd.Env = job.Dir, append(job.Env, "PWD="+job.Dir)
	var out tail
	began := time.Now()
	p, err := start(cmd, &out, func() {})
	if err != nil {
		return trial.Ended{Exit: -1, Output: err.Error()}
	}
	select {
	case <-p.exited:
		err = p.err
	case <-ctx.Done():
		p.end(5 * time.Second)
		err = ctx.Err()
	}
	took := time.Since(began)
	kill(cmd)
	code := cmd.ProcessState.ExitCode()
	if err != nil && code == 0 && !errors.Is(err, exec.ErrWaitDelay) {
		code = -1
	}
	return trial.Ended{Exit: code, Output: string(out[max(0, len(out)-maxTail):]), Took: took}
}

// maxTail is how much of the output is kept, in bytes.
const maxTail = 64 << 10

// tail keeps the end of what is written.
type tail []byte

func (t *tail) Write(data []byte) (int, error) {
	*t = append(*t, data[max(0, len(data)-maxTail):]...)
	if len(*t) > 2*maxTail {
		*t = slices.Clone((*t)[len(*t)-maxTail:])
	}
	return len(data), nil
}
