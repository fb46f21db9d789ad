package trial

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// An agent is a small reference agent: its files, and the members of its agent.yaml, a map of scalars or of maps of
// scalars.
type agent struct {
	dir     string
	members map[string]any
	files   map[string]string
}

// newAgent returns the agent that all others are edits of. It has one skill.
func (t *trial) newAgent(function, body string) *agent {
	return t.agentIn("skills", "", function, body)
}

// agentIn returns an agent whose skill is in a directory. schema is an argument of the decorator, or empty.
func (t *trial) agentIn(dir, schema, function, body string) *agent {
	return &agent{members: map[string]any{"opengap": "0.4", "name": "probe-helper", "version": "1.0.0",
		"description": "Answers a probe.",
		"model":       map[string]any{"provider": t.Operator.Provider, "name": t.models[0]}},
		files: map[string]string{"README.md": "A probe. It needs PROBE_MODEL, PROBE_DIR and PROBE_NONE.\n",
			".gitignore":        ".env\n*.pyc\n__pycache__/\n.oap-trace\n",
			dir + "/one.py":     t.skill(schema, function, body),
			"tests/test_one.py": "from " + dir + " import one\n\n\ndef test_one():\n    assert one\n"}}
}

// skill returns the source of a skill with one function, which writes its trace and then does what body says. schema
// is an argument of the decorator, or empty.
func (t *trial) skill(schema, function, body string) string {
	parameters, code, _ := strings.Cut(body, "\n")
	return fmt.Sprintf("import json\nimport os\n\nfrom %s import SkillError, skill\n\n\n"+
		"@skill(description=\"Answers the probe.\"%s)\ndef %s(%s):\n    %s\n%s\n", t.Operator.Import,
		schema, function, parameters, t.trace(function), indent(code))
}

func indent(code string) string {
	return "    " + strings.ReplaceAll(strings.TrimSpace(code), "\n", "\n    ")
}

// place is replaced by the directory of an agent until it is written.
const place = "@@DIRECTORY@@"

// trace returns a Python expression that writes what to the trace of the agent, where it can.
func (t *trial) trace(what string) string {
	code := fmt.Sprintf("import os as _o\n"+
		"for _d in (%q, _o.path.dirname(_o.path.dirname(_o.path.abspath(__file__)))):\n"+
		"    try:\n        with open(_o.path.join(_d, '.oap-trace'), 'a') as _f:\n"+
		"            _f.write(%q)\n        break\n"+
		"    except OSError:\n        pass\n", place, scalar(what)+"\n")
	return fmt.Sprintf("exec(%s, {'__file__': __file__})", scalar(code))
}

// probe returns the text of a hook or flow that traces.
func (t *trial) probe(form, what string) string {
	if form == "" {
		form = "{trace}\n"
	}
	return strings.ReplaceAll(form, "{trace}", t.trace(what))
}

// write writes an agent into a directory of its own.
func (t *trial) write(a *agent) error {
	if a.dir == "" {
		t.folders++
		a.dir = filepath.Join(t.dir, fmt.Sprintf("a%d", t.folders))
	}
	files := maps.Clone(a.files)
	files["agent.yaml"] = t.manifest(a.members)
	for name, text := range files {
		to := filepath.Join(a.dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
			return err
		}
		// The directory is within a text of Python within a text of Python.
		inner := scalar(a.dir)
		text = strings.ReplaceAll(text, place, strings.Trim(scalar(strings.Trim(inner, `"`)), `"`))
		if err := os.WriteFile(to, []byte(text), 0o666); err != nil {
			return err
		}
	}
	return nil
}

// manifest returns agent.yaml, with the members that the operator adds.
func (t *trial) manifest(own map[string]any) string {
	all := maps.Clone(own)
	for name, v := range t.Operator.AgentYAML {
		more, isMap := v.(map[string]any)
		if members, both := own[name].(map[string]any); isMap && both {
			all[name] = maps.Clone(more)
			maps.Copy(all[name].(map[string]any), members)
		} else if _, there := own[name]; !there {
			all[name] = v
		}
	}
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(all)) {
		m, isMap := all[name].(map[string]any)
		if !isMap {
			fmt.Fprintf(&b, "%s: %s\n", name, scalar(all[name]))
			continue
		}
		fmt.Fprintf(&b, "%s:\n", name)
		for _, k := range slices.Sorted(maps.Keys(m)) {
			fmt.Fprintf(&b, "  %s: %s\n", k, scalar(m[k]))
		}
	}
	return strings.ReplaceAll(b.String(), "{model}", t.models[0])
}

// scalar returns a value as YAML, JSON and Python write it.
func scalar(v any) string {
	data, _ := json.Marshal(v)
	return string(data)
}

// traced returns the lines of an agent's trace.
func (a *agent) traced() (all []string) {
	data, _ := os.ReadFile(filepath.Join(a.dir, ".oap-trace")) // a runtime may have left none
	for line := range strings.Lines(string(data)) {
		var what string
		if json.Unmarshal([]byte(line), &what) == nil && len(all) < 1000 {
			all = append(all, what)
		}
	}
	return all
}
