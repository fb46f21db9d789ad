package sticky

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/forge"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/ghtest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

const (
	head    = "1111111111111111111111111111111111111111"
	base    = "2222222222222222222222222222222222222222"
	merged  = "3333333333333333333333333333333333333333"
	another = "4444444444444444444444444444444444444444"
	robot   = "robot-token"
	person  = "person-token"
	admin   = "admin-token"
	fork    = "fork-token"
)

func start(t *testing.T) *ghtest.Server {
	t.Helper()
	s := ghtest.Start("acme", "registry")
	t.Cleanup(s.Close)
	s.Grant(robot, ghtest.Access{Login: "github-actions[bot]", App: true, Comment: true})
	s.Grant(person, ghtest.Access{Login: "maintainer", Comment: true})
	s.Grant(admin, ghtest.Access{Login: "administrator", Comment: true, Admin: true})
	s.Grant(fork, ghtest.Access{Login: "github-actions[bot]", App: true})
	s.AddCommit(head, base)
	s.AddCommit(merged, base, head)
	s.AddPull(ghtest.Pull{Number: 7, State: "open", Head: head, HeadRepo: "contributor/registry", Base: "main"})
	return s
}

func client(t *testing.T, s *ghtest.Server, token string) *forge.Client {
	t.Helper()
	c := must.Get(forge.New(forge.Options{BaseURL: s.URL, Token: token, Repository: "acme/registry"}))(t)
	return c
}

func honest() verdict.Report {
	return verdict.Report{Version: 1, Mode: "check", Head: head, Verdict: verdict.Passed, Assumed: []string{}}
}

func text(t *testing.T, r verdict.Report) []byte {
	t.Helper()
	b := must.Get(json.Marshal(r))(t)
	return b
}

func options() Options {
	return Options{
		App: forge.ActionsApp,
		Read: func(b []byte) (*verdict.Report, error) {
			var r verdict.Report
			return &r, json.Unmarshal(b, &r)
		},
		Render: func(r *verdict.Report, _ int) string { return "verdict: " + string(r.Verdict) + "\n" },
	}
}

const rendered = Marker + "\nverdict: pass\n"

func TestComment(t *testing.T) {
	for _, c := range []struct {
		name   string
		token  string
		set    func(*ghtest.Server, *verdict.Report, *Options)
		want   string // action, or the error
		bodies []string
	}{
		{name: "first", token: robot, want: "created", bodies: []string{rendered}},
		{name: "first by a person", token: person, want: "created", bodies: []string{rendered}},
		{name: "report of the forge's merge commit", token: robot, want: "created", bodies: []string{rendered},
			set: func(s *ghtest.Server, r *verdict.Report, o *Options) { r.Head = merged; o.Head = head }},
		{name: "merge commit, head not named", token: robot, want: "created", bodies: []string{rendered},
			set: func(s *ghtest.Server, r *verdict.Report, o *Options) { r.Head = merged }},
		{name: "pull request that ends in a merge commit", token: robot, want: "created", bodies: []string{rendered},
			set: func(s *ghtest.Server, r *verdict.Report, o *Options) {
				r.Head = merged
				s.AddPull(ghtest.Pull{Number: 7, State: "open", Head: merged, Base: "main"})
			}},
		{name: "edited in place", token: robot, want: "edited", bodies: []string{"hello", rendered},
			set: func(s *ghtest.Server, r *verdict.Report, o *Options) {
				s.AddComment(ghtest.Comment{Pull: 7, Login: "contributor", Body: "hello"})
				s.AddComment(ghtest.Comment{Pull: 7, Login: "github-actions[bot]", Bot: true, Body: Marker + "\nold"})
			}},
		{name: "edited on the third page", token: person, want: "edited",
			bodies: []string{"a", "b", "c", "d", rendered},
			set: func(s *ghtest.Server, r *verdict.Report, o *Options) {
				s.PageCap = 2
				for _, b := range []string{"a", "b", "c", "d"} {
					s.AddComment(ghtest.Comment{Pull: 7, Login: "contributor", Body: b})
				}
				s.AddComment(ghtest.Comment{Pull: 7, Login: "Maintainer", Body: Marker + "\r\nold"})
			}},
		{name: "unchanged", token: robot, want: "unchanged", bodies: []string{strings.TrimSpace(rendered)},
			set: func(s *ghtest.Server, r *verdict.Report, o *Options) {
				s.AddComment(ghtest.Comment{Pull: 7, Login: "github-actions[bot]", Bot: true,
					Body: strings.TrimSpace(rendered)})
			}},
		{name: "marker pasted by a contributor, app token", token: robot, want: "created",
			bodies: []string{Marker + "\nall is well", rendered},
			set: func(s *ghtest.Server, r *verdict.Report, o *Options) {
				s.AddComment(ghtest.Comment{Pull: 7, Login: "contributor", Body: Marker + "\nall is well"})
			}},
		{name: "marker pasted by a contributor, person's token", token: person, want: "created",
			bodies: []string{Marker + "\nall is well", rendered},
			set: func(s *ghtest.Server, r *verdict.Report, o *Options) {
				s.AddComment(ghtest.Comment{Pull: 7, Login: "contributor", Body: Marker + "\nall is well"})
			}},
		{name: "marker pasted by another app", token: robot, want: "created",
			bodies: []string{Marker + "\nall is well", rendered},
			set: func(s *ghtest.Server, r *verdict.Report, o *Options) {
				s.AddComment(ghtest.Comment{Pull: 7, Login: "x[bot]", Bot: true, App: 7,
					Body: Marker + "\nall is well"})
			}},
		{name: "of two the newest", token: robot, want: "edited", bodies: []string{Marker + "\nold", rendered},
			set: func(s *ghtest.Server, r *verdict.Report, o *Options) {
				for range 2 {
					s.AddComment(ghtest.Comment{Pull: 7, Login: "github-actions[bot]", Bot: true,
						Body: Marker + "\nold"})
				}
			}},
		{name: "an app that is not named", token: robot,
			want: "what was written with this token has the app 15368 for its author, " +
				"7 was looked for", bodies: []string{rendered},
			set: func(s *ghtest.Server, r *verdict.Report, o *Options) { o.App = 7 }},
		{name: "marker quoted in the middle", token: robot, want: "created", bodies: []string{"> " + Marker, rendered},
			set: func(s *ghtest.Server, r *verdict.Report, o *Options) {
				s.AddComment(ghtest.Comment{Pull: 7, Login: "other[bot]", Bot: true, Body: "> " + Marker})
			}},
		{name: "stranger opens a second pull request with the same head", token: robot, want: "created",
			bodies: []string{rendered},
			set: func(s *ghtest.Server, r *verdict.Report, o *Options) {
				s.AddPull(ghtest.Pull{Number: 9, State: "open", Head: head, HeadRepo: "stranger/registry",
					Base: "main"})
			}},
		{name: "second page of pull requests", token: robot, want: "created", bodies: []string{rendered},
			set: func(s *ghtest.Server, r *verdict.Report, o *Options) {
				s.PageCap = 1
				for n := 1; n < 5; n++ {
					s.AddPull(ghtest.Pull{Number: n, State: "open", Head: another, Base: "main"})
				}
			}},
		{name: "closed", token: robot, want: "no-pull-request",
			set: func(s *ghtest.Server, r *verdict.Report, o *Options) {
				s.AddPull(ghtest.Pull{Number: 7, State: "closed", Head: head, Base: "main"})
			}},
		{name: "pushed to since", token: robot, want: "no-pull-request",
			set: func(s *ghtest.Server, r *verdict.Report, o *Options) {
				s.AddPull(ghtest.Pull{Number: 7, State: "open", Head: another, Base: "main"})
			}},
		{name: "number and head disagree", token: robot, want: "no-pull-request",
			set: func(s *ghtest.Server, r *verdict.Report, o *Options) {
				s.AddPull(ghtest.Pull{Number: 8, State: "open", Head: another, Base: "main"})
				o.Pull = 8
			}},
		{name: "number", token: robot, want: "created", bodies: []string{rendered},
			set: func(s *ghtest.Server, r *verdict.Report, o *Options) { o.Pull = 7 }},
		{name: "a fork's token", token: fork, want: "forbidden"},
		{name: "may not look the pull request up", token: robot, want: "forbidden",
			set: func(s *ghtest.Server, r *verdict.Report, o *Options) {
				s.Fail(ghtest.Failure{Path: "/repos/acme/registry/pulls", Status: 403,
					Message: "Resource not accessible by integration"})
			}},
		{name: "may not look the commit up", token: robot, want: "forbidden",
			set: func(s *ghtest.Server, r *verdict.Report, o *Options) {
				r.Head, o.Head = merged, head
				s.Fail(ghtest.Failure{Path: "/repos/acme/registry/git/commits", Status: 403,
					Message: "Resource not accessible by integration"})
			}},
		{name: "locked", token: robot, want: "forbidden",
			set: func(s *ghtest.Server, r *verdict.Report, o *Options) {
				s.AddPull(ghtest.Pull{Number: 7, State: "open", Head: head, Base: "main", Locked: true})
			}},
		{name: "other commit", token: robot,
			want: "report refused: it is about commit 4444444444444444444444444444444444444444, and the pull " +
				"request's head is 1111111111111111111111111111111111111111",
			set: func(s *ghtest.Server, r *verdict.Report, o *Options) { r.Head = another; o.Head = head }},
		{name: "merge of another head", token: robot,
			want: "report refused: it is about commit 3333333333333333333333333333333333333333, and the pull " +
				"request's head is 4444444444444444444444444444444444444444",
			set: func(s *ghtest.Server, r *verdict.Report, o *Options) { r.Head = merged; o.Head = another }},
		{name: "no report", token: robot, want: "report refused: it is not a report: schema says no",
			set: func(s *ghtest.Server, r *verdict.Report, o *Options) {
				o.Read = func([]byte) (*verdict.Report, error) { return nil, errors.New("schema says no") }
			}},
		{name: "audit", token: robot, want: `report refused: its mode is "audit"; expected "check"`,
			set: func(s *ghtest.Server, r *verdict.Report, o *Options) { r.Mode = "audit" }},
		{name: "assumptions", token: robot,
			want: `report refused: it was given under assumptions (["--offline"]): a comment must not look like the gate's full verdict`,
			set:  func(s *ghtest.Server, r *verdict.Report, o *Options) { r.Assumed = []string{"--offline"} }},
		{name: "no verdict", token: robot, want: "report refused: it holds no verdict: the gate could not run: " +
			"not in this shallow clone",
			set: func(s *ghtest.Server, r *verdict.Report, o *Options) {
				r.Verdict, r.Error, r.Head = verdict.Errored, "not in this shallow clone", ""
			}},
		{name: "files on disk", token: robot,
			want: `report refused: its head is ""; expected a commit: the files on disk belong to no pull request`,
			set:  func(s *ghtest.Server, r *verdict.Report, o *Options) { r.Head = "" }},
		{name: "path in the head", token: robot,
			want: `report refused: its head is "../../user"; expected a commit: the files on disk belong to no pull request`,
			set:  func(s *ghtest.Server, r *verdict.Report, o *Options) { r.Head = "../../user" }},
		{name: "unknown token", token: "stolen",
			want: `listing the pull requests: the forge does not know the token (401 "Bad credentials")`,
			set:  func(s *ghtest.Server, r *verdict.Report, o *Options) { o.Head = head }},
		{name: "no token", token: "",
			want: `asking whose the token is: the forge does not know the token (401 "Requires authentication")`,
			set:  func(s *ghtest.Server, r *verdict.Report, o *Options) { o.Head = head }},
		{name: "primary rate limit", token: robot, want: "listing the comments: the forge's rate limit is used up " +
			"until 2100-01-01T00:00:00Z",
			set: func(s *ghtest.Server, r *verdict.Report, o *Options) {
				s.Fail(ghtest.Failure{Path: "/repos/acme/registry/issues", Status: 403,
					Message: "API rate limit exceeded", Header: map[string]string{"X-RateLimit-Remaining": "0"}})
			}},
		{name: "secondary rate limit", token: robot, want: "writing the comment: the forge's rate limit is used up " +
			"until 2026-05-04T12:01:00Z (403 \"You have exceeded a secondary rate limit\")",
			set: func(s *ghtest.Server, r *verdict.Report, o *Options) {
				s.Fail(ghtest.Failure{Method: "POST", Status: 403, Message: "You have exceeded a secondary rate limit",
					Header: map[string]string{"Retry-After": "60", "Date": "Mon, 04 May 2026 12:00:00 GMT"}})
			}},
		{name: "429", token: robot, want: "writing the comment: the forge's rate limit is used up until " +
			"2026-05-04T12:00:05Z (429 \"slow down\")",
			set: func(s *ghtest.Server, r *verdict.Report, o *Options) {
				s.Fail(ghtest.Failure{Method: "POST", Status: 429, Message: "slow down",
					Header: map[string]string{"Retry-After": "5", "Date": "Mon, 04 May 2026 12:00:00 GMT"}})
			}},
		{name: "422", token: robot,
			want: `writing the comment: the forge refuses what was sent (422 "Validation Failed", "Body is \x1b[31mbad")`,
			set: func(s *ghtest.Server, r *verdict.Report, o *Options) {
				s.Fail(ghtest.Failure{Method: "POST", Status: 422,
					Body: `{"message":"Validation Failed","errors":[{"message":"Body is \u001b[31mbad"}]}`})
			}},
		{name: "502", token: robot,
			want: `listing the comments: the forge cannot be reached or does not make sense (502 "")`,
			set: func(s *ghtest.Server, r *verdict.Report, o *Options) {
				s.Fail(ghtest.Failure{Path: "/repos/acme/registry/issues", Status: 502, Body: "<html>"})
			}},
		{name: "not JSON", token: robot,
			want: `listing the pull requests: the forge cannot be reached or does not make sense (invalid character '<' looking for beginning of value)`,
			set: func(s *ghtest.Server, r *verdict.Report, o *Options) {
				s.Fail(ghtest.Failure{Path: "/repos/acme/registry/pulls", Status: 200, Body: "<html>"})
			}},
		{name: "endless pages", token: robot,
			want: `listing the pull requests: the forge cannot be reached or does not make sense (page 1 names page 1 as the next, at most 50 are read)`,
			set: func(s *ghtest.Server, r *verdict.Report, o *Options) {
				s.Fail(ghtest.Failure{Path: "/repos/acme/registry/pulls", Status: 200, Body: "[]",
					Header: map[string]string{"Link": `<http://x/?page=1>; rel="next"`}})
			}},
		{name: "endless body", token: robot,
			want: `listing the pull requests: the forge cannot be reached or does not make sense (answer has more than 16777216 bytes)`,
			set: func(s *ghtest.Server, r *verdict.Report, o *Options) {
				s.Fail(ghtest.Failure{Path: "/repos/acme/registry/pulls", Status: 200, Body: "[" +
					strings.Repeat(" ", 17<<20) + "]"})
			}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, r, o := start(t), honest(), options()
			if c.set != nil {
				c.set(s, &r, &o)
			}
			out, err := Comment(t.Context(), client(t, s, c.token), text(t, r), o)
			got := string(out.Action)
			if err != nil {
				got = err.Error()
			}
			if got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			if (out.Notice != "") != (out.Action == Forbidden || out.Action == NoPull) {
				t.Errorf("action %q with notice %q", out.Action, out.Notice)
			}
			if err != nil && errors.Is(err, ErrReport) && len(s.Writes()) > 0 {
				t.Errorf("refused, and yet wrote: %q", s.Writes())
			}
			var bodies []string
			for _, one := range s.Comments() {
				bodies = append(bodies, one.Body)
			}
			if c.bodies != nil && !slices.Equal(bodies, c.bodies) {
				t.Errorf("comments are %q\nwant %q", bodies, c.bodies)
			}
		})
	}
}

func TestCommentTwiceIsOneComment(t *testing.T) {
	s, r := start(t), honest()
	for i, want := range []Action{Created, Unchanged, Edited} {
		if i == 2 {
			r.Verdict = verdict.Failed
		}
		out, err := Comment(t.Context(), client(t, s, robot), text(t, r), options())
		if err != nil || out.Action != want {
			t.Fatalf("run %d: %v, %v; want %s", i+1, out, err, want)
		}
	}
	if n := len(s.Comments()); n != 1 {
		t.Errorf("%d comments", n)
	}
}

// A comment has at most 20,000 bytes, whatever its first lines are.
func TestCommentIsShort(t *testing.T) {
	for _, waits := range []time.Duration{0, time.Hour} {
		s, o, r := start(t), options(), honest()
		if waits > 0 {
			r.Verdict, r.RetryAt = verdict.Failed, r.EvaluatedAt.Add(waits)
		}
		o.Render = func(_ *verdict.Report, max int) string { return strings.Repeat("x", max) }
		out, err := Comment(t.Context(), client(t, s, robot), text(t, r), o)
		if err != nil || out.Action != Created {
			t.Fatal(out, err)
		}
		if n := len(s.Comments()[0].Body); n != 20_000 {
			t.Errorf("the comment has %d bytes", n)
		}
	}
}

func TestReportTooLarge(t *testing.T) {
	s := start(t)
	_, err := Comment(t.Context(), client(t, s, robot), make([]byte, MaxReport+1), options())
	if !errors.Is(err, ErrReport) || len(s.Requests()) > 0 {
		t.Errorf("%v after %q", err, s.Requests())
	}
}
