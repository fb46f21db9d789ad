package trial

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/needs"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

func TestReadOperator(t *testing.T) {
	for text, want := range map[string]string{
		"run: [-p, '{prompt}', --in, '{dir}', '{session}']\nmodels: [a, b, c]\nenv: {X: '{openai_url}'}\nimport: x\n" +
			"provider: y\nvalidate: [v]\nversions: [w]\nhook: '{trace}'\nflow: '{trace}'\nagent_yaml: {a: {b: " +
			"'{model}'}}\n": "",
		"run: [x]":             "1:6: run has no {prompt}",
		"run: go {prompt}":     "1:1: run is \"go {prompt}\"; expected a list that is not empty",
		"run: ['{prompt}', 5]": "1:19: run[1] is 5; expected a text",
		"run: ['{promt}']":     "1:6: run has {promt}",
		"env: {X: '{url}'}":    "1:6: env has {url}",
		"env: [X]":             "1:1: env is a list of 1; expected an object",
		"env: {X: 5}":          "1:7: env.X is 5; expected a text",
		"models: [a, b]":       "expected a list of three different texts",
		"models: [a, b, a]":    "expected a list of three different texts",
		"hook: x":              "1:7: hook has no {trace}",
		"flow: [x]":            "1:1: flow is a list of 1; expected a text",
		"agent_yaml: x":        "1:1: agent_yaml is \"x\"; expected an object",
		"import: ''":           "1:1: import is \"\"; expected a text that is not empty",
		"\nother: x":           "2:1: o has the member \"other\", which an operator's file",
		"- run":                "1:1: it is a list of 1; expected a mapping",
		"run: [a]\nrun: [b]":   "2:1",
		"":                     "no YAML document",
	} {
		o, err := ReadOperator("o", []byte(text))
		if want == "" && (err != nil || o.Env["X"] != "{openai_url}" || o.Import != "x") || want != "" && (err == nil ||
			!strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

func TestHasVersion(t *testing.T) {
	for text, want := range map[string]bool{"9.9": true, "9.9.": true, "v9.9, 8": true, "OpenGAP 9.9 is not": true,
		"9.9.1": false, "19.9": false, "9.95": false, "1.9.9": false, "": false} {
		if got := hasVersion(text, "9.9"); got != want {
			t.Errorf("%q: %t", text, got)
		}
	}
}

func TestHolds(t *testing.T) {
	const want = `{"a": [1, null]}`
	for text, has := range map[string]bool{want: true, "Result: " + want + ".": true, `{"result": {"a": [1, null]}}`: true,
		`{"result": "{\"a\": [1, null]}"}`: true, `{'a': [1, None]}`: false, `{"a": [1]}`: false,
		strings.Repeat("{", 1<<17): false} {
		if got := holds(text, want); got != has {
			t.Errorf("%.60q: %t", text, got)
		}
	}
}

// The model speaks both forms, as one answer or as a stream, and calls only what is offered.
func TestModel(t *testing.T) {
	s, err := startServer([]string{"m-1", "m-2", "m-3"})
	must.OK(t, err)
	defer s.http.Close()
	s.begin(script{prompt: "Go.", calls: []call{{"probe_a", map[string]any{"x": 1}}}, answer: "Done."})
	const tools = `"tools":[{"name":"other"},{"type":"function","function":{"name":"ns-probe-a"}}]`
	const asked = `{"role":"user","content":[{"type":"text","text":"Go."}]}`
	const openai, anthropic = "/v1/chat/completions", "/v1/messages?beta=true"
	for _, c := range []struct{ path, body, want string }{
		{openai, `{"model":"m-1","messages":[` + asked + `],` + tools + `}`, `"name":"ns-probe-a"`},
		{openai, `{"messages":[` + asked + `],` + tools + `,"tool_choice":"none"}`, `"content":"Done."`},
		{openai, `{"messages":[` + asked + `,{"role":"tool","content":"1"}],` + tools + `}`, `"finish_reason":"stop"`},
		{openai, `{"messages":[{"role":"tool","content":"1"},` + asked + `],` + tools + `}`, `"finish_reason":"tool_calls"`},
		{openai, `{"messages":[` + asked + `],"stream":true,"stream_options":{"include_usage":true}}`, `"usage":{`},
		{openai, `{"messages":[` + asked + `],"stream":true}`, "data: [DONE]"},
		{anthropic, `{"messages":[` + asked + `],` + tools + `}`, `"stop_reason":"tool_use"`},
		{anthropic, `{"messages":[` + asked + `,{"role":"user","content":[{"type":"tool_result","content":"1"}]}],` + tools + `}`,
			`"text":"Done."`},
		{anthropic, `{"messages":[` + asked + `],` + tools + `,"stream":true}`, "input_json_delta"},
		{anthropic, `{"messages":[` + asked + `],"stream":true}`, "event: message_stop"},
		{"/v1/messages/count_tokens", "{}", `"input_tokens":10`},
		{openai, "[", "unexpected end"},
		{"/v1/responses", "{}", "404"},
	} {
		resp, err := http.Post(s.url()+c.path, "application/json", strings.NewReader(c.body))
		must.OK(t, err)
		body, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		if !strings.Contains(string(body), c.want) {
			t.Errorf("%s %s: %s, want %s", c.path, c.body, body, c.want)
		}
	}
	if _, vain := s.seen(); !slices.Equal(vain, []string{"POST /v1/responses"}) {
		t.Error(vain)
	}
}

// What keys and addresses the caller has do not reach the runtime, and HOME does.
func TestEnvironment(t *testing.T) {
	s, err := startServer(nil)
	must.OK(t, err)
	defer s.http.Close()
	of := &trial{Options: Options{Env: []string{"HOME=/h", "OPENAI_API_KEY=secret", "https_proxy=x",
		"MISTRAL_API_KEY=y", "PROBE_NONE=z"}, Operator: &Operator{Env: map[string]string{"URL": "{openai_url}"}}},
		server: s}
	got := strings.Join(of.environment([]string{"PROBE_MODEL=m"}), "\n")
	for _, bad := range []string{"secret", "proxy", "MISTRAL", "PROBE_NONE"} {
		if strings.Contains(got, bad) {
			t.Errorf("%s is in %s", bad, got)
		}
	}
	for _, good := range []string{"HOME=/h", "URL=" + s.url() + "/v1", "PROBE_MODEL=m"} {
		if !strings.Contains(got, good) {
			t.Errorf("%s is not in %s", good, got)
		}
	}
}

// The agents are Python, wherever their directory is.
func TestAgents(t *testing.T) {
	needs.Program(t, "python3")
	dir := filepath.Join(t.TempDir(), `a "b" 'c' \d`)
	of := &trial{Options: Options{Operator: DefaultOperator()}, models: []string{"m"}, dir: dir}
	of.Operator.AgentYAML = map[string]any{"model": map[string]any{"preferred": "x:{model}", "name": "y"}}
	a := of.newAgent("probe_a", "*, word\nreturn word")
	a.files["hooks/probe.py"] = of.probe("", "hooks")
	must.OK(t, of.write(a))
	if text := of.manifest(a.members); !strings.Contains(text, "model:\n  name: \"m\"\n  preferred: \"x:m\"\n") {
		t.Error(text)
	}
	cmd := exec.Command("python3", "-m", "py_compile", "skills/one.py")
	cmd.Dir = a.dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
	cmd = exec.Command("python3", filepath.Join("hooks", "probe.py"))
	cmd.Dir = a.dir
	if out, err := cmd.CombinedOutput(); err != nil || !slices.Equal(a.traced(), []string{"hooks"}) {
		t.Errorf("%v: %s, trace %s", err, out, a.traced())
	}
}

// The runtime next to this clone passes, and a fault fails its row only.
func TestRuntime(t *testing.T) {
	file, err := filepath.Abs(filepath.Join("..", "..", "..", "..", "..", "shared", "data", "opengap", "runtime",
		"runtime.py"))
	if _, missing := os.Stat(file); err != nil || missing != nil {
		t.Skip("the runtime is not next to this clone")
	}
	needs.Program(t, "python3")
	try := func(only []string, env ...string) map[string]verdict.Verdict {
		o := Options{Subject: "r", Operator: DefaultOperator(), Only: only, Seed: 1, Timeout: time.Minute,
			Recommended: verdict.Error, Env: append(os.Environ(), env...),
			Start: func(ctx context.Context, job Job) Ended {
				cmd := exec.CommandContext(ctx, "python3", append([]string{file}, job.Args...)...)
				cmd.Dir, cmd.Env = job.Dir, job.Env
				began := time.Now()
				out, _ := cmd.CombinedOutput()
				return Ended{cmd.ProcessState.ExitCode(), string(out), time.Since(began)}
			}}
		results, err := o.Run(t.Context())
		must.OK(t, err)
		all := map[string]verdict.Verdict{}
		for _, r := range results {
			all[strings.TrimPrefix(r.Check, "gap-runtime-")] = r.Verdict
		}
		return all
	}
	for _, fault := range []string{"", "output", "skill-error", "unset", "execution"} {
		only := []string{"gap-runtime-output", "gap-runtime-skill-error", "gap-runtime-unset", "gap-runtime-execution"}
		for row, v := range try(only, "FAULT="+fault) {
			asked := slices.Contains(only, "gap-runtime-"+row)
			want := map[bool]verdict.Verdict{true: "pass", false: "skip"}[asked]
			if row == fault {
				want = "fail"
			}
			if v != want {
				t.Errorf("fault %q: %s is %s, want %s", fault, row, v, want)
			}
		}
	}
}

func FuzzRequest(f *testing.F) {
	f.Add([]byte(`{"messages":[{"role":"user","content":"Go."}]}`))
	s, err := startServer(nil)
	must.OK(f, err)
	f.Cleanup(func() { s.http.Close() })
	f.Fuzz(func(t *testing.T, body []byte) {
		resp, err := http.Post(s.url()+"/chat/completions", "application/json", bytes.NewReader(body))
		must.OK(t, err)
		defer resp.Body.Close()
		if out, _ := io.ReadAll(resp.Body); resp.StatusCode == http.StatusOK && !json.Valid(out) &&
			!bytes.Contains(out, []byte("data:")) {
			t.Errorf("%s: %s", body, out)
		}
	})
}
