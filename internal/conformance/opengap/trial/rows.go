package trial

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// rows decide the requirements on a runtime, by the id without gap-runtime-.
var rows = map[string]func(*trial, context.Context) verdict.Outcome{
	"manifest": (*trial).manifestRow, "refusal": (*trial).refusal, "skills": (*trial).skills,
	"packages": (*trial).packages,
	"hooks": func(t *trial, ctx context.Context) verdict.Outcome {
		return t.probes(ctx, "hooks", t.Operator.Hook)
	},
	"flows": func(t *trial, ctx context.Context) verdict.Outcome {
		return t.probes(ctx, "flows", t.Operator.Flow)
	},
	"inputs": (*trial).inputs, "output": (*trial).output, "skill-error": (*trial).skillError,
	"input-schema": (*trial).inputSchema, "iterations": (*trial).iterations, "timeout": (*trial).timeout,
	"history": (*trial).history, "interpolation": (*trial).interpolation, "unset": (*trial).unset,
	"validate": (*trial).validate, "versions": (*trial).versions, "execution": (*trial).execution,
	"previous": (*trial).previous,
}

// plainRun is the run of the plain agent.
type plainRun struct {
	*ran
	inputs, output, pack string // functions
	word                 string
}

// outputJSON is what the function output returns.
const outputJSON = `{"list": [1, "two", null, true], "letter": "ž", "map": {"a": 1.5}}`

// tryPlain runs the plain agent. If it does not run, whole is the outcome of the first row.
func (t *trial) tryPlain(ctx context.Context) (whole *verdict.Outcome) {
	p := &plainRun{inputs: t.function(), output: t.function(), pack: t.function(), word: t.word()}
	a := t.newAgent(p.inputs, "*, word: str, count: int = 1\nreturn {\"word\": word, \"count\": count, \"kind\": "+
		"type(word).__name__ + \" \" + type(count).__name__}")
	a.files["skills/one.py"] += "\n\n@skill(description=\"Gives a map.\")\ndef " + p.output +
		"():\n    return json.loads(" + scalar(outputJSON) + ")\n"
	a.files["skills/pack/__init__.py"] = "from .work import " + p.pack + "\n"
	a.files["skills/pack/work.py"] = t.skill("", p.pack, "\nreturn {\"done\": True}")
	a.files["tests/test_pack.py"] = "from skills import pack\n\n\ndef test_pack():\n    assert pack\n"
	a.files["hooks/probe.py"], a.files["flows/probe.py"] = t.probe(t.Operator.Hook, "hooks"),
		t.probe(t.Operator.Flow, "flows")
	p.ran = t.run(ctx, a, script{calls: []call{{p.inputs, map[string]any{"word": p.word, "count": 3}},
		{p.output, map[string]any{}}, {p.pack, map[string]any{}}}})
	t.plain = p
	var out verdict.Outcome
	switch {
	case len(p.requests) == 0:
		asked := ""
		if p.vain != nil {
			asked = "; it asked " + strings.Join(p.vain, ", ")
		}
		out = t.doubtf("no-model-request", "the runtime asked no model on the plain agent: %s%s", p.ending(), asked)
	case p.Exit != 0:
		out = t.doubtf("plain-run", "the runtime failed on the plain agent: %s", p.ending())
	default:
		return nil
	}
	return &out
}

func (t *trial) errorf(code, format string, args ...any) (out verdict.Outcome) {
	out.Errorf(verdict.At{Path: t.Subject}, "", code, format, args...)
	return out
}

func (t *trial) doubtf(code, format string, args ...any) (out verdict.Outcome) {
	out.Doubtf(verdict.At{Path: t.Subject}, "", code, format, args...)
	return out
}

// shape returns what a row comes to that calls a function which no request offers.
func (t *trial) shape(r *ran, function string) verdict.Outcome {
	if r.named(function) {
		return t.doubtf("other-shape", "no request offers the skill %s as a tool, and one names it: this runtime "+
			"runs skills in another way", function)
	}
	return t.doubtf("not-offered", "no request offers the skill %s", function)
}

func (t *trial) manifestRow(context.Context) verdict.Outcome {
	p := t.plain
	if !p.asksFor(t.models[0], p.inputs, p.output, p.pack) {
		return t.errorf("manifest-ignored", "the runtime asks for %q; model.name is %q", p.requests[0].model,
			t.models[0])
	}
	return verdict.Pass("it asks for %s", t.models[0])
}

// declaredRun is the run of the agent whose directories have other names; decoys are in the default ones.
type declaredRun struct {
	*ran
	skill, decoy string
}

func (t *trial) tryDeclared(ctx context.Context) *declaredRun {
	if t.declared != nil {
		return t.declared
	}
	d := &declaredRun{skill: t.function(), decoy: t.function()}
	a := t.agentIn("abilities", "", d.skill, "\nreturn {\"done\": True}")
	for what, dir := range map[string]string{"skills": "abilities", "hooks": "guards", "flows": "routes"} {
		a.members[what] = map[string]any{"path": dir + "/"}
	}
	a.files["skills/two.py"] = t.skill("", d.decoy, "\nreturn {\"done\": True}")
	for what, dir := range map[string]string{"hooks": "guards", "flows": "routes"} {
		form := map[string]string{"hooks": t.Operator.Hook, "flows": t.Operator.Flow}[what]
		a.files[dir+"/probe.py"], a.files[what+"/probe.py"] = t.probe(form, what), t.probe(form, what+" decoy")
	}
	d.ran = t.run(ctx, a, script{calls: []call{{d.skill, map[string]any{}}}})
	t.declared = d
	return d
}

func (t *trial) skills(ctx context.Context) verdict.Outcome {
	d := t.tryDeclared(ctx)
	switch p := t.plain; {
	case p.named(p.inputs):
		return t.shape(p.ran, p.inputs)
	case !p.offered(p.inputs):
		return t.errorf("not-discovered", "no request offers the skill of skills/one.py")
	case d.offered(d.decoy):
		return t.errorf("not-discovered", "skills.path is abilities/, and the skill of skills/ is offered")
	case !d.offered(d.skill):
		return t.errorf("not-discovered", "skills.path is abilities/, and its skill is not offered: %s", d.ending())
	}
	return verdict.Pass("skills/ and abilities/")
}

func (t *trial) packages(context.Context) verdict.Outcome {
	switch p := t.plain; {
	case p.offered(p.pack):
		return verdict.Pass("skills/pack/")
	case p.named(p.pack):
		return t.shape(p.ran, p.pack)
	}
	return t.errorf("not-discovered", "no request offers the skill of the package skills/pack")
}

// probes decides whether hooks, or flows, are found.
func (t *trial) probes(ctx context.Context, what, form string) verdict.Outcome {
	d := t.tryDeclared(ctx)
	p := t.plain
	byDefault, declared := slices.Contains(p.traces, what), slices.Contains(d.traces, what)
	decoy := slices.Contains(d.traces, what+" decoy")
	called := p.offered(p.inputs) && len(p.results()) > 0
	switch {
	case byDefault && declared && !decoy:
		return verdict.Pass("%s/ and a declared directory", what)
	case called && !slices.Contains(p.traces, p.inputs):
		return t.doubtf("no-trace", "a skill was called, and its trace did not arrive: nothing shows the %s", what)
	case !byDefault && !declared && !decoy && form == "":
		return t.doubtf("form-unknown", "no probe.py of %s was run; give its form in the operator's file", what)
	case decoy:
		return t.errorf("not-discovered", "%s.path names another directory, and %s/probe.py was run", what, what)
	}
	return t.errorf("not-discovered", "probe.py was run in %s/: %t, in the directory that %s.path names: %t", what,
		byDefault, what, declared)
}

// returned decides what a call of the plain agent gave: JSON that the result must hold. given says what was called.
func (t *trial) returned(function, want, code, given, pass string) verdict.Outcome {
	p := t.plain
	offered := slices.DeleteFunc([]string{p.inputs, p.output, p.pack}, func(f string) bool { return !p.offered(f) })
	i, all := slices.Index(offered, function), p.results()
	switch {
	case i < 0 || i >= len(all):
		return t.shape(p.ran, function)
	case !holds(all[i].text, want):
		return t.errorf(code, "%s; the result is %s", given, show(all[i].text))
	}
	return verdict.Pass("%s", pass)
}

func (t *trial) inputs(context.Context) verdict.Outcome {
	p := t.plain
	return t.returned(p.inputs, fmt.Sprintf(`{"word": %q, "count": 3, "kind": "str int"}`, p.word), "other-arguments",
		fmt.Sprintf("the skill was called with word %q and count 3", p.word), "a text and a number")
}

func (t *trial) output(context.Context) verdict.Outcome {
	return t.returned(t.plain.output, outputJSON, "other-result", "the skill returns "+outputJSON,
		"a map with a list, null, true and a letter beyond ASCII")
}

// within calls visit with each JSON value in a text, at any depth, and in texts within it.
func within(text string, depth int, visit func(v any)) {
	for i := 0; i < len(text) && i < 1<<16; i++ {
		if text[i] != '{' && text[i] != '"' {
			continue
		}
		d := json.NewDecoder(strings.NewReader(text[i:]))
		var v any
		if d.Decode(&v) == nil {
			inside(v, depth, visit)
			i += int(d.InputOffset()) - 1
		}
	}
}

func inside(v any, depth int, visit func(v any)) {
	visit(v)
	if depth++; depth > 20 {
		return
	}
	switch v := v.(type) {
	case string:
		within(v, depth, visit)
	case []any:
		for _, c := range v {
			inside(c, depth, visit)
		}
	case map[string]any:
		for _, c := range v {
			inside(c, depth, visit)
		}
	}
}

// holds reports whether a text has JSON that is equal.
func holds(text, want string) (has bool) {
	var wanted any
	_ = json.Unmarshal([]byte(want), &wanted) // it is the program's own
	within(text, 0, func(v any) { has = has || reflect.DeepEqual(v, wanted) })
	return has
}

func (t *trial) skillError(ctx context.Context) verdict.Outcome {
	f, why := t.function(), "no "+t.word()+" today"
	r := t.run(ctx, t.newAgent(f, "\nraise SkillError("+scalar(why)+")"),
		script{calls: []call{{f, map[string]any{}}}})
	all := r.results()
	switch {
	case !r.offered(f):
		return t.shape(r, f)
	case len(all) == 0:
		return t.errorf("error-not-told", "a skill raised SkillError, and the model got no result: %s", r.ending())
	case !strings.Contains(all[0].text, why) || strings.Contains(all[0].text, "Traceback"):
		return t.errorf("error-not-told", "a skill raised SkillError(%q); the result is %s", why, show(all[0].text))
	case r.requests[0].blocks && !all[0].error:
		return t.errorf("error-not-told", "the result of a SkillError has no is_error")
	case r.Exit != 0:
		return t.errorf("error-not-told", "a SkillError ended the run: %s", r.ending())
	}
	return verdict.Pass("the text of a SkillError")
}

func (t *trial) inputSchema(ctx context.Context) verdict.Outcome {
	right := map[string]any{"word": "a", "count": 2}
	for _, breach := range []struct {
		of    string
		wrong map[string]any
	}{
		{"the type of word", map[string]any{"word": 5, "count": 2}},
		{"the minimum of count", map[string]any{"word": "a", "count": 0}},
		{"that word is required", map[string]any{"count": 2}},
	} {
		f, gives := t.function(), t.word()
		a := t.agentIn("skills", ", input_schema={\"type\": \"object\", \"properties\": {\"word\": "+
			"{\"type\": \"string\"}, \"count\": {\"type\": \"integer\", \"minimum\": 1}}, \"required\": [\"word\"]}", f,
			"word=None, count=1\nreturn {\"given\": "+scalar(gives)+"}")
		r := t.run(ctx, a, script{next: func(n int) *call {
			switch n {
			case 0:
				return &call{f, breach.wrong}
			case 1:
				return &call{f, right}
			}
			return nil
		}})
		all, ran := r.results(), 0
		for _, what := range r.traces {
			if what == f {
				ran++
			}
		}
		switch {
		case !r.offered(f):
			return t.shape(r, f)
		case len(all) < 2:
			return t.errorf("not-run", "after a call that breaks %s the model got %d of 2 results: %s", breach.of,
				len(all), r.ending())
		case strings.Contains(all[0].text, gives) || ran > 1:
			return t.errorf("schema-ignored", "a call that breaks %s was run", breach.of)
		case !strings.Contains(all[1].text, gives):
			return t.errorf("not-run", "a right call after one that breaks %s was not run; its result is %s", breach.of,
				show(all[1].text))
		}
	}
	return verdict.Pass("type, minimum, required")
}

func (t *trial) iterations(ctx context.Context) verdict.Outcome {
	for _, most := range []int{2, 5} {
		f := t.function()
		a := t.newAgent(f, "number=0\nreturn {\"number\": number}")
		a.members["execution"] = map[string]any{"max_iterations": most}
		r := t.run(ctx, a, script{next: func(n int) *call {
			if n >= most+8 {
				return nil
			}
			return &call{f, map[string]any{"number": n}}
		}})
		counts := map[int]bool{}
		for _, q := range r.requests {
			if q.offers(f) != "" {
				counts[len(q.results)] = true
			}
		}
		switch n := len(counts); {
		case n == 0:
			return t.shape(r, f)
		case n > most:
			return t.errorf("iterations-ignored", "max_iterations is %d, and the model was asked in at least %d "+
				"iterations", most,
				n)
		case n < most:
			return t.errorf("stopped-early", "max_iterations is %d, and the model was asked in %d iterations: %s", most,
				n, r.ending())
		}
	}
	return verdict.Pass("2 and 5")
}

func (t *trial) timeout(ctx context.Context) verdict.Outcome {
	a := t.newAgent(t.function(), "\nreturn {}")
	a.members["execution"] = map[string]any{"timeout": 4}
	r := t.run(ctx, a, script{silent: 20 * time.Second})
	if len(r.requests) == 0 {
		return t.errorf("stopped-early", "execution.timeout is 4, and the model was not asked: %s", r.ending())
	}
	ended := r.began.Add(r.Took)
	switch late := ended.Sub(r.requests[0].at); {
	case r.Took < 3*time.Second:
		return t.errorf("stopped-early", "execution.timeout is 4, and the run ended after %.1f s", r.Took.Seconds())
	case late > 9*time.Second:
		return t.errorf("timeout-ignored", "execution.timeout is 4, and the run ended %.1f s after its first request",
			late.Seconds())
	}
	a = t.newAgent(t.function(), "\nreturn {}")
	a.members["execution"] = map[string]any{"timeout": 30}
	r = t.run(ctx, a, script{silent: 10 * time.Second})
	if r.Exit != 0 || len(r.requests) == 0 {
		return t.errorf("stopped-early", "execution.timeout is 30, and the run did not wait 10 s for an answer: %s",
			r.ending())
	}
	return verdict.Pass("4 s, and an answer after 10 s of 30")
}

// turn is a user's text and its answer.
type turn struct{ prompt, answer string }

func (t *trial) history(ctx context.Context) verdict.Outcome {
	var turns []turn
	talk := func(a *agent) *ran {
		one := turn{"Please answer " + t.word() + ".", "Answered " + t.word() + "."}
		turns = append(turns, one)
		return t.run(ctx, a, script{prompt: one.prompt, answer: one.answer})
	}
	remembers := func(r *ran, i int) bool {
		return slices.ContainsFunc(r.requests, func(q request) bool {
			return strings.Contains(q.text, turns[i].prompt) && strings.Contains(q.text, turns[i].answer)
		})
	}
	mentions := func(r *ran, i int) bool {
		return slices.ContainsFunc(r.requests, func(q request) bool {
			return strings.Contains(q.text, turns[i].prompt) || strings.Contains(q.text, turns[i].answer)
		})
	}
	a := t.newAgent(t.function(), "\nreturn {}")
	a.members["memory"] = map[string]any{"enabled": true, "max_history": 2}
	var r *ran
	for range 4 {
		r = talk(a)
	}
	if !remembers(r, 1) || !remembers(r, 2) || mentions(r, 0) {
		return t.errorf("history", "max_history is 2: the fourth run has the first turn: %t, the second: %t, the "+
			"third: %t; expected the second and the third", mentions(r, 0), remembers(r, 1), remembers(r, 2))
	}
	a.members["memory"] = map[string]any{"enabled": true, "max_history": 1}
	if r = talk(a); !remembers(r, 3) || mentions(r, 2) {
		return t.errorf("history", "max_history is 1: the fifth run has the third turn: %t, the fourth: %t; "+
			"expected the fourth only", mentions(r, 2), remembers(r, 3))
	}
	a = t.newAgent(t.function(), "\nreturn {}")
	a.members["memory"] = map[string]any{"enabled": false, "max_history": 2}
	talk(a)
	r = talk(a)
	if mentions(r, 5) {
		return t.errorf("history", "memory.enabled is false, and the second run has the first turn")
	}
	return verdict.Pass("the last 2 turns, the last one, and none")
}

func (t *trial) interpolation(ctx context.Context) verdict.Outcome {
	for _, set := range []bool{true, false} {
		f := t.function()
		a := t.agentIn("abilities", "", f, "\nreturn {}")
		a.members["model"] = map[string]any{"provider": t.Operator.Provider, "name": "${PROBE_MODEL:-" + t.models[1] +
			"}"}
		a.members["skills"] = map[string]any{"path": "${PROBE_DIR:-abilities/}"}
		a.members["description"] = "${PROBE_NONE}"
		want, env := t.models[1], []string{"PROBE_NONE=Answers."}
		if set {
			want, env = t.models[2], append(env, "PROBE_MODEL="+t.models[2])
		}
		r := t.run(ctx, a, script{}, env...)
		switch {
		case len(r.requests) == 0:
			return t.errorf("not-resolved", "agent.yaml has variables, and the model was not asked: %s", r.ending())
		case !r.asksFor(want, f):
			return t.errorf("not-resolved", "model.name is ${PROBE_MODEL:-%s}, set: %t; the runtime asks for %q",
				t.models[1], set, r.requests[0].model)
		case r.named(f):
			return t.shape(r, f)
		case !r.offered(f):
			return t.errorf("not-resolved", "skills.path is ${PROBE_DIR:-abilities/}, unset, and the skill is not "+
				"offered")
		}
	}
	return verdict.Pass("set and unset")
}

func (t *trial) unset(ctx context.Context) verdict.Outcome {
	a := t.newAgent(t.function(), "\nreturn {}")
	a.members["description"] = "${PROBE_NONE}"
	r := t.run(ctx, a, script{})
	switch {
	case len(r.requests) > 0 || r.Exit == 0:
		return t.errorf("unset-accepted", "PROBE_NONE is not set and has no default, and the run did not end: %s",
			r.ending())
	case !strings.Contains(r.Output, "PROBE_NONE"):
		return t.errorf("unclear-error", "PROBE_NONE is not set, and the output does not name it: %s", r.ending())
	}
	return verdict.Pass("the error names PROBE_NONE")
}

// tryUnsupported runs the agent of a version that nobody supports.
func (t *trial) tryUnsupported(ctx context.Context) *ran {
	if t.refused == nil {
		f := t.function()
		a := t.newAgent(f, "\nreturn {}")
		a.members["opengap"] = "9.9"
		t.refused = t.run(ctx, a, script{calls: []call{{f, map[string]any{}}}})
	}
	return t.refused
}

func (t *trial) execution(ctx context.Context) verdict.Outcome {
	r := t.tryUnsupported(ctx)
	if len(r.requests) > 0 || len(r.traces) > 0 {
		return t.errorf("version-executed", "opengap is \"9.9\", and the agent was executed: %s", r.ending())
	}
	return verdict.Pass("an agent of version 9.9 was not executed")
}

func (t *trial) refusal(ctx context.Context) verdict.Outcome {
	r := t.tryUnsupported(ctx)
	switch {
	case r.Exit == 0:
		return t.errorf("version-accepted", "opengap is \"9.9\", and the runtime exits with 0")
	case !hasVersion(r.Output, "9.9"):
		return t.errorf("unclear-error", "opengap is \"9.9\", and the output does not name it: %s", r.ending())
	}
	return verdict.Pass("the error names 9.9")
}

// hasVersion reports whether a text has a version as a number of its own: 9.9 is not in 9.9.1.
func hasVersion(text, version string) bool {
	return regexp.MustCompile(`(?:^|[^0-9.])` + regexp.QuoteMeta(version) +
		`(?:$|[^0-9.]|\.(?:$|[^0-9]))`).MatchString(text)
}

func (t *trial) tryVersions(ctx context.Context) *ran {
	if t.told == nil {
		t.told = t.ask(ctx, t.newAgent(t.function(), "\nreturn {}"), t.Operator.Versions)
	}
	return t.told
}

func (t *trial) versions(ctx context.Context) verdict.Outcome {
	r := t.tryVersions(ctx)
	if !hasVersion(r.Output, "0.4") {
		return t.errorf("versions-not-told", "%s does not name 0.4: %s", strings.Join(t.Operator.Versions, " "),
			r.ending())
	}
	return verdict.Pass("0.4")
}

func (t *trial) previous(ctx context.Context) verdict.Outcome {
	told := t.tryVersions(ctx)
	a := t.newAgent(t.function(), "\nreturn {}")
	a.members["opengap"] = "0.3"
	r := t.run(ctx, a, script{})
	var out verdict.Outcome
	at := verdict.At{Path: t.Subject}
	if !hasVersion(told.Output, "0.3") {
		out.Warnf(at, "", "previous-not-told", "the runtime does not name 0.3: %s", told.ending())
	}
	if r.Exit != 0 || len(r.requests) == 0 {
		out.Warnf(at, "", "previous-not-run", "the runtime does not run an agent of version 0.3: %s", r.ending())
	}
	return out
}

func (t *trial) validate(ctx context.Context) verdict.Outcome {
	check := func(a *agent) *ran { return t.ask(ctx, a, t.Operator.Validate) }
	if r := check(t.newAgent(t.function(), "\nreturn {}")); r.Exit != 0 {
		return t.errorf("validate-refuses", "%s refuses a good agent: %s", strings.Join(t.Operator.Validate, " "),
			r.ending())
	}
	nameless := t.newAgent(t.function(), "\nreturn {}")
	nameless.members["model"] = map[string]any{"provider": t.Operator.Provider}
	bareSkill, name := t.newAgent(t.function(), "\nreturn {}"), t.word()
	bareSkill.files["skills/"+name+".py"] = "def " + name + "():\n    return {}\n"
	bareSkill.files["tests/test_more.py"] = "from skills import " + name + "\n\n\ndef test_more():\n    assert " +
		name + "\n"
	untested := t.newAgent(t.function(), "\nreturn {}")
	delete(untested.files, "tests/test_one.py")
	for _, bad := range []struct {
		*agent
		what, word string
		left       bool
	}{
		{nameless, "without model.name", "model", false}, {bareSkill, "with a skill without decorator", name, false},
		{untested, "without tests", "test", t.Recommended != verdict.Error},
	} {
		if bad.left {
			continue
		}
		r := check(bad.agent)
		switch {
		case r.Exit == 0:
			return t.errorf("validate-accepts", "%s accepts an agent %s", strings.Join(t.Operator.Validate, " "),
				bad.what)
		case !strings.Contains(strings.ToLower(r.Output), bad.word):
			return t.errorf("unclear-error", "the agent is %s, and the output does not name %q: %s", bad.what, bad.word,
				r.ending())
		}
	}
	return verdict.Pass("a good agent, and what is wrong with bad ones")
}

// show quotes the begin of a text.
func show(text string) string {
	if len(text) > 160 {
		text = text[:160] + "…"
	}
	return fmt.Sprintf("%q", text)
}
