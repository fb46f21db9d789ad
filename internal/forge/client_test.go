package forge

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/ghtest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

func TestNewRefuses(t *testing.T) {
	for _, c := range []struct{ name, base, token, repository, want string }{
		{"GitHub", "", "t", "acme/registry", ""},
		{"an enterprise's", "https://forge.example/api/v3/", "t", "acme/registry", ""},
		{"loopback", "http://127.0.0.1:80", "t", "acme/registry", ""},
		{"plain", "http://forge.example", "t", "acme/registry",
			`URL of the forge is "http://forge.example"; expected https: the token would travel in the clear`},
		{"no URL", "forge.example", "t", "acme/registry",
			`URL of the forge is "forge.example"; expected https://HOST/PATH`},
		{"user in the URL", "https://a@forge.example", "t", "acme/registry",
			`URL of the forge is "https://a@forge.example"; expected https://HOST/PATH`},
		{"no owner", "", "t", "registry", `repository is "registry"; expected owner/name`},
		{"path", "", "t", "acme/registry/pulls", `repository is "acme/registry/pulls"; expected owner/name`},
		{"dots", "", "t", "acme/..", `repository is "acme/.."; expected owner/name`},
		{"line break in the token", "", "to\nken", "acme/registry", "the token holds spaces or control characters"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := New(Options{BaseURL: c.base, Token: c.token, Repository: c.repository})
			if got := message(err); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestRedirects(t *testing.T) {
	var stolen string
	thief := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		stolen = r.Header.Get("Authorization")
	}))
	defer thief.Close()
	mux := http.NewServeMux()
	mux.HandleFunc("/repos/acme/registry", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/repositories/1", http.StatusMovedPermanently)
	})
	mux.HandleFunc("/repositories/1",
		func(w http.ResponseWriter, r *http.Request) { w.Write([]byte(`{"default_branch":"main"}`)) })
	mux.HandleFunc("/repos/acme/registry/away", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, thief.URL, http.StatusFound)
	})
	mux.HandleFunc("/repos/acme/registry/loop", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, r.URL.Path, http.StatusFound)
	})
	forge := httptest.NewServer(mux)
	defer forge.Close()
	c := must.Get(New(Options{BaseURL: forge.URL, Token: "secret", Repository: "acme/registry"}))(t)
	for _, x := range []struct{ method, path, want string }{
		{"GET", "", ""},
		{"PATCH", "", "the forge redirects a write"},
		{"GET", "away", "the forge redirects to another host"},
		{"GET", "loop", "more than 3 redirects"},
	} {
		var v map[string]any
		_, err := c.Call(t.Context(), "trying", x.method, x.path, nil, &v)
		if got := message(err); x.want == "" && got != "" || !strings.Contains(got, x.want) {
			t.Errorf("%s %q: got %s, want %s", x.method, x.path, got, x.want)
		}
		if err != nil && (!errors.Is(err, ErrUnavailable) || strings.Contains(err.Error(), "secret")) {
			t.Errorf("%s %q: %v", x.method, x.path, err)
		}
	}
	if stolen != "" {
		t.Errorf("another host saw %q", stolen)
	}
}

func TestUnreachable(t *testing.T) {
	s := httptest.NewServer(http.NotFoundHandler())
	url := s.URL
	s.Close()
	c := must.Get(New(Options{BaseURL: url, Repository: "acme/registry"}))(t)
	if _, err := c.Standing(t.Context()); !errors.Is(err, ErrUnavailable) {
		t.Errorf("%v", err)
	}
}

// TestSwitchingProtocols requires that an answer whose body is the connection ends the request.
func TestSwitchingProtocols(t *testing.T) {
	done := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Connection", "Upgrade")
		w.Header().Set("Upgrade", "websocket")
		w.WriteHeader(http.StatusSwitchingProtocols)
		w.(http.Flusher).Flush()
		<-done
	}))
	defer s.Close()
	defer close(done)
	c := must.Get(New(Options{BaseURL: s.URL, Repository: "acme/registry"}))(t)
	if _, err := c.Standing(t.Context()); !errors.Is(err, ErrUnavailable) {
		t.Errorf("%v", err)
	}
}

func TestServes(t *testing.T) {
	for _, c := range []struct {
		api, host string
		want      bool
	}{
		{"", "github.com", true},
		{"", "ssh.github.com", true},
		{"", "gitlab.com", false},
		{"", "api.github.com.evil.example", false},
		{"", "evilgithub.com", false},
		{"https://API.github.com/", "github.com", true},
		{"https://ghes.example/api/v3", "ghes.example", true},
		{"https://ghes.example/api/v3", "github.com", false},
		{"https://ghes.example:8443/api/v3", "ghes.example", true},
		{"https://api.acme.ghe.com", "acme.ghe.com", true},
		{"https://api.acme.ghe.com", "other.ghe.com", false},
		{"http://[::1]:80/%zz", "github.com", false},
	} {
		if got := Serves(c.api, c.host); got != c.want {
			t.Errorf("%q, %q: got %t", c.api, c.host, got)
		}
	}
}

func TestParseRemote(t *testing.T) {
	for remote, want := range map[string]string{
		"https://github.com/acme/registry.git":             "github.com acme/registry",
		"https://github.com/acme/registry":                 "github.com acme/registry",
		"https://x-access-token:t@GitHub.com/acme/reg.io/": "github.com acme/reg.io",
		"git@github.com:acme/registry.git":                 "github.com acme/registry",
		"ssh://git@ssh.github.com:443/acme/registry.git":   "ssh.github.com acme/registry",
		"/srv/git/registry.git":                            " ",
		"../registry":                                      " ",
		"file:///srv/acme/registry":                        " ",
		"https://forge.example/a/b/c":                      " ",
		"":                                                 " ",
	} {
		host, repository := ParseRemote(remote)
		if got := host + " " + repository; got != want {
			t.Errorf("%q: got %q, want %q", remote, got, want)
		}
	}
}

// A read whose answer was lost is made again, a write never; either is where the forge names a short wait.
func TestRetries(t *testing.T) {
	const path = "/repos/acme/registry"
	limit := func(seconds string) ghtest.Failure {
		return ghtest.Failure{Status: 429, Header: map[string]string{"Retry-After": seconds}, Message: "slow down"}
	}
	broken, empty := ghtest.Failure{Status: 502}, ghtest.Failure{Status: 200, Body: "<html>"}
	for _, c := range []struct {
		name, method string
		failure      ghtest.Failure
		times, sent  int
		want         error
	}{
		{"read, broken once", "GET", broken, 1, 2, nil},
		{"read, broken", "GET", broken, 0, maxTries, ErrUnavailable},
		{"read that makes no sense", "GET", empty, 0, 1, ErrUnavailable},
		{"write, broken once", "PATCH", broken, 1, 1, ErrUnavailable},
		{"read, limited", "GET", limit("0"), 2, 3, nil},
		{"write, limited", "PATCH", limit("0"), 1, 2, nil},
		{"limited for long", "GET", limit("61"), 0, 1, ErrLimited},
		{"limited for nobody knows how long", "GET", limit("soon"), 0, 1, ErrLimited},
		{"refused", "GET", ghtest.Failure{Status: 422}, 0, 1, ErrRefused},
	} {
		s := ghtest.Start("acme", "registry")
		s.Grant("admin", ghtest.Access{Login: "administrator", Admin: true})
		c.failure.Path, c.failure.Times = path, c.times
		s.Fail(c.failure)
		client, err := New(Options{BaseURL: s.URL, Repository: "acme/registry", Token: "admin",
			RetryWait: time.Nanosecond})
		must.OK(t, err)
		var body any
		if c.method == "PATCH" {
			body = map[string]bool{"allow_rebase_merge": false}
		}
		_, err = client.Call(t.Context(), "asking", c.method, "", body, &map[string]any{})
		if sent := len(s.Requests()); !errors.Is(err, c.want) || sent != c.sent {
			t.Errorf("%s: %d requests, %v", c.name, sent, err)
		}
		s.Close()
	}
}

// TestNothing checks that an answer without a list or an object is not taken for an empty one, and that a forge which
// shows the token has it in no message.
func TestNothing(t *testing.T) {
	for _, c := range []struct {
		body           string
		list, one, put error
	}{
		{"", ErrUnavailable, ErrUnavailable, nil},
		{" null\n", ErrUnavailable, ErrUnavailable, nil},
		{"{}", ErrUnavailable, nil, nil},
		{"[]", nil, ErrUnavailable, ErrUnavailable},
		{"[7", ErrUnavailable, ErrUnavailable, ErrUnavailable},
		{"secret", ErrUnavailable, ErrUnavailable, ErrUnavailable},
		{`{"message": "secret"}`, ErrRefused, ErrRefused, ErrRefused},
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if errors.Is(c.one, ErrRefused) {
				w.WriteHeader(http.StatusUnprocessableEntity)
			}
			w.Write([]byte(c.body))
		}))
		client := must.Get(New(Options{BaseURL: s.URL, Token: "secret", Repository: "acme/registry"}))(t)
		_, list := All[struct{}](t.Context(), client, "listing", "issues")
		var v struct{}
		_, one := client.Call(t.Context(), "reading", http.MethodGet, "issues/1", nil, &v)
		_, put := client.Call(t.Context(), "editing", http.MethodPatch, "issues/1", v, &v)
		for i, got := range []error{list, one, put} {
			want := []error{c.list, c.one, c.put}[i]
			if !errors.Is(got, want) || strings.Contains(message(got), "secret") {
				t.Errorf("%q: %v, want %v", c.body, got, want)
			}
		}
		s.Close()
	}
}
