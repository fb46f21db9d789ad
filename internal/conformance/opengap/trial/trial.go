// Package trial tries a runtime of OpenGAP 0.4 on reference agents of this project, and plays the model. It judges by
// what the model sees, by the exit status and the output, and by what the agents' code writes down.
package trial

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/foreign"
	"github.com/openagentprotocol-OAP/oap-gate/internal/conformance"
	"github.com/openagentprotocol-OAP/oap-gate/internal/conformance/opengap"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// Job is one run of the command.
type Job struct {
	Dir     string
	Args    []string
	Env     []string // all of it
	Timeout time.Duration
}

// Ended is how a run ended.
type Ended struct {
	Exit   int    // exit status; -1: it was ended, or could not be started
	Output string // the last 64 KiB of stdout and stderr
	Took   time.Duration
}

// Options say what to try.
type Options struct {
	Start       func(ctx context.Context, job Job) Ended
	Subject     string
	Operator    *Operator
	Recommended verdict.Severity
	Only        []string // ids of rows; nil: all
	Seed        uint64
	Timeout     time.Duration
	Env         []string // the caller has
}

// trial is one look at one runtime.
type trial struct {
	Options
	models  []string
	random  *rand.Rand
	server  *server
	dir     string // has all agents
	folders int
	err     error             // what this machine could not do; later runs are empty
	session map[string]string // a word for each directory

	plain    *plainRun
	declared *declaredRun
	refused  *ran // the run of version 9.9
	told     *ran // the run that prints versions
}

// ran is one run of an agent.
type ran struct {
	Ended
	began    time.Time
	requests []request
	vain     []string
	traces   []string
}

// Run tries the rows, the plain agent first. The error says what this machine could not do.
func (o Options) Run(ctx context.Context) (_ []verdict.Result, err error) {
	t := &trial{Options: o, models: o.Operator.Models, random: rand.New(rand.NewPCG(o.Seed, 0)),
		session: map[string]string{}}
	if t.models == nil {
		t.models = []string{"probe-" + t.word(), "probe-" + t.word(), "probe-" + t.word()}
	}
	if t.server, err = startServer(t.models); err != nil {
		return nil, err
	}
	defer t.server.http.Close()
	if t.dir, err = os.MkdirTemp("", "oap-"); err != nil {
		return nil, err
	}
	defer os.RemoveAll(t.dir)
	if t.dir, err = filepath.EvalSymlinks(t.dir); err != nil {
		return nil, err
	}
	whole := t.tryPlain(ctx)
	all := conformance.Tally{Catalogue: conformance.Catalogue(opengap.RuntimeRules())}
	for _, rule := range opengap.RuntimeRules() {
		var out verdict.Outcome
		row := rows[strings.TrimPrefix(rule.ID, "gap-runtime-")]
		switch {
		case o.Only != nil && !slices.Contains(o.Only, rule.ID):
			out = verdict.Skip("left out by --only")
		case whole != nil:
			out = *whole
			whole = &verdict.Outcome{Doubtful: "the plain agent did not run"}
		case ctx.Err() != nil:
			out.Doubtf(verdict.At{Path: o.Subject}, "", "budget-spent", "the time of --budget has passed")
		default:
			out = row(t, ctx)
			if context.Cause(ctx) == context.Canceled {
				return nil, context.Canceled
			}
			if ctx.Err() != nil {
				out = verdict.Outcome{}
				out.Doubtf(verdict.At{Path: o.Subject}, "", "budget-spent", "the time of --budget has passed")
			}
		}
		if t.err != nil {
			return nil, t.err
		}
		all.Add(rule.ID, o.Subject, out.OrPass())
	}
	return all.Results, all.Err
}

// word returns a new word.
func (t *trial) word() string {
	const consonants, vowels = "bdfgjklnprvz", "aiu"
	var b strings.Builder
	for range 4 {
		b.WriteByte(consonants[t.random.IntN(len(consonants))])
		b.WriteByte(vowels[t.random.IntN(len(vowels))])
	}
	return b.String()
}

// function returns a new name of a function.
func (t *trial) function() string { return "probe_" + t.word() }

// run runs an agent with the model's script; env is added.
func (t *trial) run(ctx context.Context, a *agent, of script, env ...string) *ran {
	if of.prompt == "" {
		of.prompt = "Please answer " + t.word() + "."
	}
	if of.answer == "" {
		of.answer = "Answered " + t.word() + "."
	}
	return t.start(ctx, a, of, t.Operator.Run, env)
}

// ask runs the command on an agent without a prompt.
func (t *trial) ask(ctx context.Context, a *agent, args []string) *ran {
	return t.start(ctx, a, script{}, args, nil)
}

// start starts the command in an agent's directory.
func (t *trial) start(ctx context.Context, a *agent, of script, args, env []string) *ran {
	if t.err = cmp.Or(t.err, t.write(a)); t.err != nil {
		return &ran{}
	}
	t.server.begin(of)
	if t.session[a.dir] == "" {
		t.session[a.dir] = "session-" + t.word()
	}
	replace := strings.NewReplacer("{prompt}", of.prompt, "{dir}", a.dir, "{session}", t.session[a.dir])
	job := Job{Dir: a.dir, Timeout: t.Timeout, Env: t.environment(env)}
	for _, arg := range args {
		job.Args = append(job.Args, replace.Replace(arg))
	}
	r := &ran{began: time.Now()}
	r.Ended = t.Start(ctx, job)
	r.Output = strings.ReplaceAll(r.Output, a.dir, "DIR")
	r.requests, r.vain = t.server.seen()
	r.traces = a.traced()
	return r
}

// environment returns the caller's environment without proxies and without keys and addresses of models, and with those
// of the model that this package plays.
func (t *trial) environment(more []string) (env []string) {
	for _, v := range t.Env {
		name, _, _ := strings.Cut(v, "=")
		upper := strings.ToUpper(name)
		if slices.ContainsFunc([]string{"_PROXY", "_API_KEY", "_BASE_URL", "_API_BASE", "_API_TOKEN"},
			func(end string) bool {
				return strings.HasSuffix(upper, end)
			}) || strings.HasPrefix(upper, "PROBE_") {
			continue
		}
		env = append(env, v)
	}
	openai, anthropic := t.server.url()+"/v1", t.server.url()
	env = append(env, "OPENAI_BASE_URL="+openai, "OPENAI_API_BASE="+openai, "ANTHROPIC_BASE_URL="+anthropic,
		"OPENAI_API_KEY=test", "ANTHROPIC_API_KEY=test")
	replace := strings.NewReplacer("{openai_url}", openai, "{anthropic_url}", anthropic)
	for name, v := range t.Operator.Env {
		env = append(env, name+"="+replace.Replace(v))
	}
	return append(env, more...)
}

// offered returns whether some request offers a function.
func (r *ran) offered(function string) bool {
	return slices.ContainsFunc(r.requests, func(q request) bool { return q.offers(function) != "" })
}

// named returns whether some request has the name of a function without offering it: one tool may run all skills.
func (r *ran) named(function string) bool {
	return !r.offered(function) && slices.ContainsFunc(r.requests, func(q request) bool {
		return strings.Contains(bare(q.body), bare(function))
	})
}

// results returns the most results that a request has.
func (r *ran) results() (all []result) {
	for _, q := range r.requests {
		if len(q.results) > len(all) {
			all = q.results
		}
	}
	return all
}

// asksFor reports whether the run asks for a model: some request has it, and each that offers a function has it.
func (r *ran) asksFor(model string, functions ...string) bool {
	some := false
	for _, q := range r.requests {
		is := behind(q.model) == behind(model)
		some = some || is
		if !is && slices.ContainsFunc(functions, func(f string) bool { return q.offers(f) != "" }) {
			return false
		}
	}
	return some
}

// behind returns a model without its provider.
func behind(model string) string {
	return model[strings.LastIndexAny(model, "/:")+1:]
}

// ending returns the end of the output, for a message.
func (r *ran) ending() string {
	text := strings.TrimSpace(r.Output)
	if len(text) > 300 {
		text = "…" + text[len(text)-300:]
	}
	return fmt.Sprintf("exit status %d, output ends %q", r.Exit, foreign.Line(text))
}
