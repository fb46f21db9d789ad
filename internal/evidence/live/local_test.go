package live

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence/bundle"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/webtest"
)

// TestLocal asks for the files of a local host: what is answered with 200 on the web and nothing else.
func TestLocal(t *testing.T) {
	outside, dir := t.TempDir(), t.TempDir()
	for name, text := range map[string]string{
		filepath.Join(outside, "secret.json"):            `{"outside": true}`,
		filepath.Join(dir, ".well-known", "did.json"):    `{"id": "did:web:nova.example"}`,
		filepath.Join(dir, "receipts", "räume 1.json"):   `{"name": "räume"}`,
		filepath.Join(dir, "receipts", "kept.json"):      `{"name": "kept"}`,
		filepath.Join(dir, "receipts", "large.json"):     strings.Repeat("x", 101),
		filepath.Join(dir, "receipts", "limit.json"):     strings.Repeat("x", 100),
		filepath.Join(dir, "receipts", "query.json?v=1"): `{}`,
	} {
		must.OK(t, os.MkdirAll(filepath.Dir(name), 0o755))
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			if runtime.GOOS == "windows" {
				continue
			}
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"out.json": filepath.Join(outside, "secret.json"),
		"up.json": "../" + filepath.Base(outside) + "/secret.json", "away": outside, "in.json": "receipts/kept.json",
		"gone.json": "nowhere.json"} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Skip(err)
		}
	}
	w := startWeb(t)
	w.Page("https://away.example/to", nil)
	w.Set("https://away.example/to", webtest.Behaviour{Redirect: "https://nova.example/.well-known/did.json"})
	w.Page("https://other.example/x", []byte("other"))
	l := onWeb(t, w, func(o *Options) {
		o.Local = []Local{{Host: "nova.example", Dir: dir}, {Host: "api.tools.example", Dir: dir}}
	})
	const host = "https://nova.example"
	for _, c := range []struct {
		url    string
		state  evidence.State
		code   string
		status int
		says   string
	}{
		{host + "/.well-known/did.json", evidence.Obtained, "", 200, ""},
		{"https://NOVA.example:443/.well-known/did.json#key-1", evidence.Obtained, "", 200, ""},
		{host + "/receipts/r%C3%A4ume%201.json", evidence.Obtained, "", 200, ""},
		{host + "/in.json", evidence.Obtained, "", 200, ""},
		{host + "/receipts/limit.json", evidence.Obtained, "", 200, ""},
		{"https://api.tools.example/in.json", evidence.Obtained, "", 200, ""},
		{"https://other.example/x", evidence.Obtained, "", 200, ""},
		{host + "/receipts/large.json", evidence.Invalid, evidence.CodeTooLarge, 0, "100"},
		{host + "/gone", evidence.Absent, evidence.CodeHTTPStatus, 404, "gone does not exist"},
		{host + "/gone.json", evidence.Absent, evidence.CodeHTTPStatus, 404, "does not exist"},
		{host + "/", evidence.Absent, evidence.CodeHTTPStatus, 404, "is not a regular file"},
		{host, evidence.Absent, evidence.CodeHTTPStatus, 404, "is not a regular file"},
		{host + "/receipts", evidence.Absent, evidence.CodeHTTPStatus, 404, "is not a regular file"},
		{host + "/receipts/", evidence.Absent, evidence.CodeHTTPStatus, 404, ""},
		{host + "/in.json/", evidence.Absent, evidence.CodeHTTPStatus, 404, ""},
		{host + "/in.json/x", evidence.Absent, evidence.CodeHTTPStatus, 404, ""},
		{host + "/out.json", evidence.Absent, evidence.CodeHTTPStatus, 404, "escapes"},
		{host + "/up.json", evidence.Absent, evidence.CodeHTTPStatus, 404, "escapes"},
		{host + "/away/secret.json", evidence.Absent, evidence.CodeHTTPStatus, 404, "escapes"},
		{"http://nova.example/in.json", evidence.Invalid, evidence.CodeScheme, 0, "http"},
		{"https://nova.example:8443/in.json", evidence.Invalid, evidence.CodeURL, 0, "port"},
		{host + "/receipts/query.json?v=1", evidence.Invalid, evidence.CodeURL, 0, "query"},
		{host + "/in.json?", evidence.Invalid, evidence.CodeURL, 0, "query"},
		{host + "/receipts/../in.json", evidence.Invalid, evidence.CodeURL, 0, `".."`},
		{host + "/receipts/%2e%2e/in.json", evidence.Invalid, evidence.CodeURL, 0, `".."`},
		{host + "/./in.json", evidence.Invalid, evidence.CodeURL, 0, `"."`},
		{host + "//in.json", evidence.Invalid, evidence.CodeURL, 0, "empty"},
		{host + "/receipts%2Fkept.json", evidence.Invalid, evidence.CodeURL, 0, "slash"},
		{host + "/receipts%5Ckept.json", evidence.Invalid, evidence.CodeURL, 0, "slash"},
		{host + "/in.json%00", evidence.Invalid, evidence.CodeURL, 0, "control"},
		{"https://user@nova.example/in.json", evidence.Invalid, evidence.CodeURL, 0, "user"},
		{"https://www.nova.example/in.json", evidence.Absent, evidence.CodeHTTPStatus, 404, ""}, // the web's
		{"https://away.example/to", evidence.Unavailable, evidence.CodeLocal, 302, "local"},
	} {
		o := l.Observe(t.Context(), get(c.url, 100))
		if o.State != c.state || o.Code != c.code || o.Status != c.status || !strings.Contains(o.Message, c.says) {
			t.Errorf("%s: %v %s %d %q, want %v %s %d %q", c.url, o.State, o.Code, o.Status, o.Message, c.state, c.code,
				c.status, c.says)
		}
		if (o.SHA256 != "") != (c.state == evidence.Obtained) || strings.Contains(string(o.Body), "outside") {
			t.Errorf("%s: sha256 %q of %q", c.url, o.SHA256, o.Body)
		}
	}
	for _, c := range []struct {
		protocol     evidence.Protocol
		target, code string
	}{
		{evidence.RDAP, "nova.example", evidence.CodeLocal},
		{evidence.WHOIS, "nova.example", evidence.CodeLocal},
		{evidence.RDAP, "tools.example", evidence.CodeLocal},
		{evidence.RDAP, "other.example", evidence.CodeNoRegistration},
		{evidence.RDAP, "a.nova.example", evidence.CodeNoRegistration},
	} {
		o := l.Observe(t.Context(), evidence.Request{Protocol: c.protocol, Target: c.target, MaxBytes: 100})
		if o.Code != c.code || (c.code == evidence.CodeLocal) != (o.State == evidence.Unsought) {
			t.Errorf("%s %s: %v %s %q, want %s", c.protocol, c.target, o.State, o.Code, o.Message, c.code)
		}
	}
	for _, asked := range w.Requests() {
		if strings.Contains(asked, "//nova.example") || strings.HasSuffix(asked, " nova.example") {
			t.Errorf("the web was asked for %q", asked)
		}
	}
}

// TestLocalOnly checks that a run without network asks nobody but local hosts, and what a bundle keeps of a trial.
func TestLocalOnly(t *testing.T) {
	dir := t.TempDir()
	must.OK(t, os.WriteFile(filepath.Join(dir, "x.json"), []byte("{}"), 0o644))
	l := must.Get(New(Options{Now: testNow, Local: []Local{{Host: "nova.example", Dir: dir}}, LocalOnly: true}))(t)
	defer l.Close()
	for _, r := range []evidence.Request{get("https://other.example/x.json", 10),
		{Protocol: evidence.RDAP, Target: "other.example", MaxBytes: evidence.MaxRDAP}} {
		if o := l.Observe(t.Context(), r); o.State != evidence.Unsought || o.Code != evidence.CodeOffline {
			t.Errorf("%s: %v %s", r, o.State, o.Code)
		}
		l.Forget(r)
	}
	if o := l.Observe(t.Context(), get("https://nova.example/x.json", 10)); o.State != evidence.Obtained {
		t.Errorf("%v %q", o.State, o.Message)
	}
	l.Observe(t.Context(), evidence.Request{Protocol: evidence.RDAP, Target: "nova.example", MaxBytes: 100})
	b := bundle.Bundle{Mode: "check", Now: testNow, Observations: l.Observations()}
	text := b.Encode()
	again, err := bundle.Decode("bundle", text)
	if err != nil || len(again.Observations) != 2 {
		t.Fatal(err)
	}
	doctored := strings.Replace(string(text), `"code": "local"`, `"code": "offline"`, 1)
	_, err = bundle.Decode("bundle", []byte(doctored))
	if err == nil || !strings.Contains(err.Error(), "state") {
		t.Errorf("a bundle with an unsought request: %v", err)
	}
	if _, err := New(Options{Now: testNow, Local: []Local{{Host: "nova.example", Dir: dir + "/x.json"}}}); err == nil {
		t.Error("a file plays a web server")
	}
}

func TestParseLocal(t *testing.T) {
	for text, want := range map[string]Local{
		"nova.example=site": {Host: "nova.example", Dir: "site"},
		"NOVA.Example.=a=b": {Host: "nova.example", Dir: "a=b"},
		"bücher.example=.":  {Host: "xn--bcher-kva.example", Dir: "."},
	} {
		if got, err := ParseLocal(text); err != nil || got != want {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "nova.example", "nova.example=", "=site", "*=site", "nova.example:443=site",
		"https://nova.example=site", "127.0.0.1=site"} {
		if got, err := ParseLocal(text); err == nil {
			t.Errorf("%s: %v", text, got)
		}
	}
}
