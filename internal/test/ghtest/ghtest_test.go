package ghtest

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

func get(t *testing.T, s *Server, path, token string) (int, string, http.Header) {
	t.Helper()
	req := must.Get(http.NewRequest("GET", s.URL+path, nil))(t)
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	resp := must.Get(http.DefaultClient.Do(req))(t)
	defer resp.Body.Close()
	b := must.Get(io.ReadAll(resp.Body))(t)
	return resp.StatusCode, string(b), resp.Header
}

func TestPaging(t *testing.T) {
	s := Start("acme", "registry")
	defer s.Close()
	for n := 1; n <= 5; n++ {
		s.AddPull(Pull{Number: n, State: "open"})
	}
	next := "/repos/acme/registry/pulls?direction=asc&per_page=2&state=open"
	for i, want := range []string{
		`page=2&per_page=2&state=open>; rel="next", <` + s.URL +
			`/repos/acme/registry/pulls?direction=asc&page=3&per_page=2&state=open>; rel="last"`,
		`page=1&per_page=2&state=open>; rel="prev", `,
		`page=1&per_page=2&state=open>; rel="first"`,
	} {
		status, body, header := get(t, s, next+"&page="+string(rune('1'+i)), "")
		if status != 200 || !strings.Contains(header.Get("Link"), want) || strings.Count(body, `"number"`) != min(2,
			5-2*i) {
			t.Errorf("page %d: %d, Link %s\n%s", i+1, status, header.Get("Link"), body)
		}
	}
	if status, body, header := get(t, s, "/repos/acme/registry/pulls?page=9", ""); status != 200 || body != "[]" ||
		header.Get("Link") == "" {
		t.Errorf("beyond the end: %d %s", status, body)
	}
}

func TestRefusals(t *testing.T) {
	s := Start("acme", "registry")
	defer s.Close()
	s.Grant("robot", Access{Login: "robot[bot]", App: true})
	s.Fail(Failure{Path: "/repos/acme/registry/rulesets", Status: 429, Message: "slow down",
		Header: map[string]string{"Retry-After": "7"}, Times: 1})
	for _, c := range []struct {
		path, token string
		status      int
		message     string
	}{
		{"/user", "", 401, "Requires authentication"},
		{"/user", "unknown", 401, "Bad credentials"},
		{"/user", "robot", 403, "Resource not accessible by integration"},
		{"/repos/acme/other", "", 404, "Not Found"},
		{"/repos/acme/registry/branches/main/protection", "", 404, "Not Found"},
		{"/repos/acme/registry/branches/main/protection", "robot", 403, "Resource not accessible by integration"},
		{"/repos/acme/registry/rulesets", "", 429, "slow down"},
		{"/repos/acme/registry/rulesets", "", 200, "[]"},
	} {
		status, body, header := get(t, s, c.path, c.token)
		if status != c.status || !strings.Contains(body, c.message) {
			t.Errorf("%s with %q: %d %s", c.path, c.token, status, body)
		}
		if (header.Get("Retry-After") == "7") != (status == 429) {
			t.Errorf("%s: Retry-After %q", c.path, header.Get("Retry-After"))
		}
	}
	if got := strings.Join(s.Requests()[:2], " "); got != "GET /user GET /user" || len(s.Writes()) > 0 {
		t.Errorf("requests %q", got)
	}
}
