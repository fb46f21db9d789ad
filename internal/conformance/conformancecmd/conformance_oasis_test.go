package conformancecmd_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence"
	"github.com/openagentprotocol-OAP/oap-gate/internal/frame"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/clitest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/dnstest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/webtest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

const greenhouseYAML = `profile: oasis profile/ä&b
profile_version: 2.1.0
oasis_core_dependency: ">=1.0.0-rc1.5"
requirements:
  heating: {type: boolean, required: true, expected: true}
`

const greenhouseSchema = `{"$schema": "http://json-schema.org/draft-07/schema#",
 "properties": {"heating": {"type": "boolean"}}}`

const greenhouseAnswer = `{"provider": "grower", "provider_version": "0.3.0", "oasis_core_spec_versions": ["1.0.0"],
 "profile": "oasis profile/ä&b", "profile_version": "2.1.0", "supported": true, "requirements": {"heating": true}}`

// greenhouseQuery is what is asked of a provider of that profile.
const greenhouseQuery = "/v1/conformance?profile=oasis+profile%2F%C3%A4%26b"

// greenhouse gives the flags that name its contract.
func greenhouse(t *testing.T) []string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"r.yaml": greenhouseYAML, "s.json": greenhouseSchema,
		"answer.json": greenhouseAnswer} {
		must.OK(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666))
	}
	return []string{"--requirements", filepath.Join(dir, "r.yaml"), "--schema", filepath.Join(dir, "s.json")}
}

// provider runs oasis provider and gives its report, or what it said on stderr.
func provider(t *testing.T, args ...string) (rep verdict.Report, code int, said string) {
	t.Helper()
	var out, diag bytes.Buffer
	sys := frame.IO{Stdout: &out, Stderr: &diag, Getenv: clitest.NoEnvironment}
	code = clitest.Main(slices.Concat([]string{"oap-conform", "oasis", "provider", "--format", "json",
		"--retry-wait", "1ms"}, args), sys)
	if err := json.Unmarshal(out.Bytes(), &rep); err != nil && out.Len() > 0 {
		t.Fatalf("%v: %s", err, out.Bytes())
	}
	return rep, code, diag.String()
}

// codesOf are "check code severity" of the findings above a notice.
func codesOf(rep verdict.Report) []string {
	var all []string
	for r := range rep.Results.All() {
		for _, f := range r.Findings {
			if f.Severity != verdict.Notice {
				all = append(all, strings.TrimPrefix(r.Check, "oasis-")+" "+f.Code+" "+f.Severity.String())
			}
		}
	}
	return all
}

func TestProviderOverTLS(t *testing.T) {
	w := must.Get(webtest.Start(webtest.Options{}))(t)
	t.Cleanup(func() { _ = w.Close() })
	ca := filepath.Join(t.TempDir(), "ca.pem")
	must.OK(t, os.WriteFile(ca, w.CAPEM(), 0o666))
	web := []string{"--connect-to", "*=" + w.Addr(), "--ca-cert", ca}
	contract := greenhouse(t)
	honest := webtest.Behaviour{Body: []byte(greenhouseAnswer)}
	busy := webtest.Behaviour{Status: 503}
	for _, test := range []struct {
		name string
		page webtest.Behaviour
		tls  webtest.TLSMode
		more []string
		code int
		want string // of the finding, empty where there is none
		hits int
	}{
		{name: "honest", page: honest, hits: 1},
		{name: "busy once", page: webtest.Behaviour{Sequence: []webtest.Behaviour{busy, honest}}, hits: 2},
		{name: "busy twice", page: webtest.Behaviour{Sequence: []webtest.Behaviour{busy, busy, honest}}, code: 1,
			want: "endpoint http-status error", hits: 2},
		{name: "broken once", page: webtest.Behaviour{Sequence: []webtest.Behaviour{{Status: 500}, honest}}, hits: 2},
		{name: "not there", page: webtest.Behaviour{Status: 404}, code: 1, want: "endpoint http-status error", hits: 1},
		{name: "not allowed", page: webtest.Behaviour{Status: 403}, code: 1, want: "endpoint http-status error",
			hits: 1},
		{name: "no content", page: webtest.Behaviour{Status: 204}, code: 1, want: "endpoint http-status error",
			hits: 1},
		{name: "broken", page: webtest.Behaviour{Status: 500}, code: 1, want: "endpoint http-status error",
			hits: 2},
		{name: "HTML", page: webtest.Behaviour{Body: []byte("<html>")}, code: 1, want: "endpoint not-json error",
			hits: 1},
		{name: "empty", page: webtest.Behaviour{}, code: 1, want: "endpoint not-json error", hits: 1},
		{name: "a certificate of another name", page: honest, tls: webtest.TLSWrongName, code: 1,
			want: "endpoint tls-not-verified error"},
		{name: "a certificate that ended", page: honest, tls: webtest.TLSExpired, code: 1,
			want: "endpoint tls-not-verified error"},
		{name: "a certificate of another authority", page: honest, tls: webtest.TLSUntrusted, code: 1,
			want: "endpoint tls-not-verified error"},
		{name: "reset", page: webtest.Behaviour{Reset: true}, code: 1, want: "endpoint connect-failed error",
			hits: 2},
		{name: "half an answer", page: webtest.Behaviour{Body: []byte(greenhouseAnswer), CloseEarly: true}, code: 1,
			want: "endpoint connect-failed error", hits: 2},
		{name: "endless", page: webtest.Behaviour{Endless: true}, code: 1, want: "endpoint body-too-large error",
			hits: 1},
		{name: "a bomb", page: webtest.Behaviour{Bomb: 1 << 30}, code: 1, want: "endpoint body-too-large error",
			hits: 1},
		{name: "2 MiB", page: webtest.Behaviour{Body: []byte(" "), Repeat: 2 << 20}, code: 1,
			want: "endpoint body-too-large error", hits: 1},
		{name: "dripping", page: webtest.Behaviour{Body: []byte(greenhouseAnswer), Drip: 1,
			Interval: webtest.Duration(50 * time.Millisecond)},
			more: []string{"--timeout", "300ms"}, code: 1, want: "endpoint timeout error", hits: 2},
		{name: "silent", page: honest, tls: webtest.TLSSilent, more: []string{"--timeout", "300ms"}, code: 1,
			want: "endpoint timeout error"},
		{name: "not in the budget", page: webtest.Behaviour{Delay: webtest.Duration(time.Minute)},
			more: []string{"--budget", "2s"}, code: 3,
			want: "endpoint budget-spent inconclusive", hits: 1},
		{name: "redirected to plain http", page: webtest.Behaviour{Redirect: "http://provider.example/"}, code: 1,
			want: "endpoint http-status error", hits: 1},
		{name: "redirected to an address",
			page: webtest.Behaviour{Redirect: "https://169.254.169.254/latest/meta-data"},
			code: 1, want: "endpoint http-status error", hits: 1},
		{name: "redirected to itself", page: webtest.Behaviour{Redirect: greenhouseQuery}, code: 1,
			want: "endpoint http-status error", hits: 1},
		{name: "huge headers", page: webtest.Behaviour{HugeHeaders: 1 << 20}, code: 1,
			want: "endpoint protocol-error error", hits: 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			w.Forget()
			w.SetTLS("provider.example", test.tls)
			w.Set("https://provider.example/base"+greenhouseQuery, test.page)
			if test.page.Redirect == greenhouseQuery {
				test.page.Redirect = "/base" + greenhouseQuery
				w.Set("https://provider.example/base"+greenhouseQuery, test.page)
			}
			args := slices.Concat([]string{"--url", "https://provider.example/base/"}, web, contract, test.more)
			rep, code, said := provider(t, args...)
			if code != test.code || strings.Join(codesOf(rep), ", ") != test.want {
				t.Errorf("exit status %d, %q, want %d, %q\n%s%s", code, codesOf(rep), test.code, test.want, rep.Error,
					said)
			}
			if got := w.Hits("https://provider.example/base" + greenhouseQuery); got != test.hits {
				t.Errorf("asked %d times, want %d: %q", got, test.hits, w.Requests())
			}
			if rep.Mode != "conformance" || rep.Protocol != "oasis" || !rep.Declared || rep.Counts.Manual != 25 ||
				rep.Counts.Records != 1 {
				t.Errorf("the report is of %s %s, declared %v, counts %+v", rep.Mode, rep.Protocol, rep.Declared,
					rep.Counts)
			}
			if code == 0 && rep.Counts.Pass != 8 {
				t.Errorf("a pass with counts %+v", rep.Counts)
			}
		})
	}
}

func TestProviderRecordedAndReplayed(t *testing.T) {
	w := must.Get(webtest.Start(webtest.Options{}))(t)
	t.Cleanup(func() { _ = w.Close() })
	dir := t.TempDir()
	ca, bundle := filepath.Join(dir, "ca.pem"), filepath.Join(dir, "bundle.json")
	must.OK(t, os.WriteFile(ca, w.CAPEM(), 0o666))
	w.Page("https://provider.example"+greenhouseQuery, []byte(strings.Replace(greenhouseAnswer, "1.0.0\"]", "0.9.0\"]",
		1)))
	contract := slices.Concat(greenhouse(t), []string{"--url", "https://provider.example"})
	first, code, said := provider(t, slices.Concat(contract, []string{"--connect-to", "*=" + w.Addr(), "--ca-cert", ca,
		"--record", bundle})...)
	if code != 1 {
		t.Fatalf("exit status %d: %s", code, said)
	}
	w.Close()
	again, code, said := provider(t, slices.Concat(contract, []string{"--replay", bundle})...)
	if code != 1 || again.EvidenceSHA256 != first.EvidenceSHA256 || !again.EvaluatedAt.Equal(first.EvaluatedAt) ||
		!slices.Equal(codesOf(again), codesOf(first)) || len(codesOf(again)) != 1 {
		t.Errorf("exit status %d, %q of %s, recorded %q of %s: %s", code, codesOf(again), again.EvidenceSHA256,
			codesOf(first), first.EvidenceSHA256, said)
	}
	other, code, _ := provider(t, slices.Concat(greenhouse(t), []string{"--url", "https://other.example", "--replay",
		bundle})...)
	if code != 3 || strings.Join(codesOf(other), "") != "endpoint not-recorded inconclusive" {
		t.Errorf("of another provider: exit status %d, %q", code, codesOf(other))
	}
	var out, diag bytes.Buffer
	if code := clitest.Main([]string{"replay", bundle}, frame.IO{Stdout: &out, Stderr: &diag,
		Getenv: clitest.NoEnvironment}); code != 2 ||
		!strings.Contains(diag.String(), "the command of oap-conform that recorded it") {
		t.Errorf("replay of its bundle: exit status %d, %s", code, diag.String())
	}
}

// A plain server is asked where its address is one that the operator named, and nothing leads from it to another.
func TestProviderOnLoopback(t *testing.T) {
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter,
		*http.Request) {
		t.Error("another server was asked")
	}))
	t.Cleanup(other.Close)
	redirect := ""
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		switch {
		case redirect != "" && r.URL.Path == "/v1/conformance":
			http.Redirect(rw, r, redirect, http.StatusFound)
		case r.URL.Path != "/v1/conformance" && r.URL.Path != "/moved",
			r.URL.Path == "/v1/conformance" && r.URL.RawQuery != greenhouseQuery[len("/v1/conformance?"):]:
			http.NotFound(rw, r)
		default:
			_, _ = rw.Write([]byte(greenhouseAnswer))
		}
	}))
	t.Cleanup(server.Close)
	contract := greenhouse(t)
	port := server.URL[strings.LastIndex(server.URL, ":"):]
	for _, url := range []string{server.URL, "http://localhost" + port, server.URL + "/",
		server.URL + "/v1/conformance", server.URL + "/v1/conformance/"} {
		if rep, code, said := provider(t, append(contract, "--url", url)...); code != 0 ||
			rep.Verdict != verdict.Passed {
			t.Errorf("%s: exit status %d, %q: %s", url, code, codesOf(rep), said)
		}
	}
	named := []string{"--url", "http://provider.internal" + port, "--connect-to", "provider.internal=127.0.0.1" + port}
	if rep, code, said := provider(t, slices.Concat(contract, named)...); code != 0 {
		t.Errorf("by --connect-to: exit status %d, %q: %s", code, codesOf(rep), said)
	}
	for _, to := range []string{"/moved", other.URL, strings.Replace(other.URL, "http:", "https:", 1),
		"file:///etc/passwd"} {
		redirect = to
		rep, _, said := provider(t, append(contract, "--url", server.URL)...)
		if got := strings.Join(codesOf(rep), ", "); got != "endpoint http-status error" {
			t.Errorf("redirected to %s: %q: %s", to, got, said)
		}
		for r := range rep.Results.All() {
			for _, f := range r.Findings {
				if r.Check == "oasis-endpoint" && !strings.Contains(f.Message, "Location "+strconv.Quote(to)) {
					t.Errorf("redirected to %s: the message does not name it: %s", to, f.Message)
				}
			}
		}
	}
}

func TestProviderUsage(t *testing.T) {
	contract := greenhouse(t)
	answer := filepath.Join(filepath.Dir(contract[1]), "answer.json")
	for _, test := range []struct {
		args []string
		want string
	}{
		{nil, "either --url or --response"},
		{[]string{"--url", "https://p.example", "--response", answer}, "either --url or --response"},
		{[]string{"--url", "http://p.example"}, "is plain http"},
		{[]string{"--url", "http://169.254.169.254"}, "is plain http"},
		{[]string{"--url", "http://0.0.0.0"}, "is plain http"},
		{[]string{"--url", "http://8.8.8.8"}, "is plain http"},
		{[]string{"--url", "ftp://p.example"}, "is not a URL"},
		{[]string{"--url", "p.example"}, "is not a URL"},
		{[]string{"--url", "https://u:secret@p.example"}, "holds more than a server and a path"},
		{[]string{"--url", "https://p.example?x=1"}, "holds more than a server and a path"},
		{[]string{"--url", "https://p.example#x"}, "holds more than a server and a path"},
		{[]string{"--response", answer, "--tier", "0"}, "--tier 0 is out of range"},
		{[]string{"--response", answer, "--tier", "101"}, "--tier 101 is out of range"},
		{[]string{"--response", filepath.Join(t.TempDir(), "none.json")}, "reading --response"},
		{[]string{"--response", answer, "--replay", "b", "--record", "c"}, "--replay excludes"},
		{[]string{"--response", answer, "more"}, "takes no argument"},
	} {
		rep, code, said := provider(t, append(slices.Clone(contract), test.args...)...)
		if code != 2 || !strings.Contains(said, test.want) || !strings.Contains(said,
			"fix: ") || rep.Verdict != verdict.Errored ||
			rep.Mode != "conformance" || strings.Contains(said+rep.Error, "secret") {
			t.Errorf("%q: exit status %d, %s, report %s %s", test.args, code, said, rep.Mode, rep.Verdict)
		}
	}
	if _, code, said := provider(t, "--response", answer); code != 2 || !strings.Contains(said,
		"requires the contract of a profile") {
		t.Errorf("without a contract: exit status %d, %s", code, said)
	}
	if _, code, said := provider(t, "--response", answer, "--profile", t.TempDir()); code != 2 ||
		!strings.Contains(said,
			"no such file") {
		t.Errorf("an empty directory: exit status %d, %s", code, said)
	}
}

// A resolver that denies every name says nothing about the provider.
func TestProviderResolverDeniesAll(t *testing.T) {
	dnstest.Use(t, nil)
	args := append(greenhouse(t), "--url", "https://p.example", "--retry-wait", "1ms")
	if rep, code, _ := provider(t, args...); code != 3 ||
		!slices.Contains(codesOf(rep), "endpoint resolver-denies-all inconclusive") {
		t.Errorf("exit status %d, %q", code, codesOf(rep))
	}
	dnstest.Use(t, map[string][]string{evidence.Control: {"192.0.2.1"}})
	if rep, code, _ := provider(t, args...); code != 1 ||
		!slices.Contains(codesOf(rep), "endpoint no-such-host error") {
		t.Errorf("the control is known: exit status %d, %q", code, codesOf(rep))
	}
}

// Offline nothing was exercised, which is no pass.
func TestProviderOffline(t *testing.T) {
	rep, code, said := provider(t, append(greenhouse(t), "--url", "https://p.example", "--offline")...)
	if code != 3 || strings.Join(codesOf(rep), "") != "response not-exercised "+
		"inconclusive" || !slices.Contains(rep.Assumed, "--offline") {
		t.Errorf("exit status %d, %q: %s", code, codesOf(rep), said)
	}
}

// The example of the documentation is what the program says about a public profile, where that is at hand; "…" stands
// for what is left out.
func TestProviderExampleOfTheDocumentation(t *testing.T) {
	page := must.Read(t, filepath.Join("..", "..", "..", "docs", "conformance.md"))
	const command = "    $ oap-conform oasis provider --response response-5.2.json --profile " +
		"software-infrastructure\n"
	_, text, found := strings.Cut(string(page), command)
	if !found {
		t.Fatal("the page has no example")
	}
	text, _, _ = strings.Cut(text, "\n## ")
	text = strings.TrimSpace(strings.ReplaceAll(text, "\n    ", "\n"))
	profile, err := filepath.Abs(filepath.Join("..", "..", "..", "..", "shared", "data", "oasis", "v1.0.0-rc1.6"))
	must.OK(t, err)
	answer, err := os.ReadFile(filepath.Join(profile, "response-5.2.json"))
	if err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	must.OK(t, os.WriteFile(filepath.Join(dir, "response-5.2.json"), answer, 0o666))
	must.OK(t, os.Mkdir(filepath.Join(dir, "software-infrastructure"), 0o777))
	for _, name := range []string{"provider-conformance.md", "provider-conformance-requirements.yaml"} {
		data := must.Read(t, filepath.Join(profile, name))
		must.OK(t, os.WriteFile(filepath.Join(dir, "software-infrastructure", name), data, 0o666))
	}
	t.Chdir(dir)
	code, out := clitest.Program(t, strings.Fields(command)[1:]...)
	rest, said := strings.TrimSpace(out), true
	for i, part := range strings.Split(text, "…") {
		at := strings.Index(rest, part)
		if said = said && at >= 0 && (i > 0 || at == 0); said {
			rest = rest[at+len(part):]
		}
	}
	if code != 1 || !said || rest != "" {
		t.Errorf("exit status %d; the page says\n%s\nthe program\n%s", code, text, out)
	}
}
