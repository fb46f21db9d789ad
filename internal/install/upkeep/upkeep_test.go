package upkeep

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/author/listing"
	"github.com/openagentprotocol-OAP/oap-gate/internal/forge"
	"github.com/openagentprotocol-OAP/oap-gate/internal/forge/sticky"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/ghtest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

var now = time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)

const (
	day   = 24 * time.Hour
	robot = "robot"
)

func start(t *testing.T) (*ghtest.Server, *forge.Client) {
	t.Helper()
	s := ghtest.Start("acme", "registry")
	t.Cleanup(s.Close)
	s.PageCap = 2
	s.SetNow(now)
	s.Grant(robot, ghtest.Access{Login: "github-actions[bot]", App: true, Comment: true})
	c := must.Get(forge.New(forge.Options{BaseURL: s.URL, Token: robot, Repository: "acme/registry"}))(t)
	return s, c
}

func listed(at time.Time, ends ...any) *listing.Rows {
	rows := &listing.Rows{At: at}
	for i := 0; i < len(ends); i += 2 {
		until := at.Add(ends[i+1].(time.Duration))
		slug := ends[i].(string)
		rows.Listings = append(rows.Listings, listing.Row{Slug: slug, ToolDID: "did:web:" + slug + ".example",
			Status: verdict.StatusValid, Until: &until})
	}
	return rows
}

// settle plans and applies, and gives what was done.
func settle(t *testing.T, c *forge.Client, rows *listing.Rows) []string {
	t.Helper()
	plan, err := Remind(t.Context(), c, rows, 14*day, forge.ActionsApp)
	must.OK(t, err)
	done := []string{}
	err = Apply(t.Context(), c, plan.Changes, 0, func(made Change, _ error) { done = append(done, made.Text) })
	must.OK(t, err)
	return done
}

func TestRemind(t *testing.T) {
	s, c := start(t)
	s.AddPull(ghtest.Pull{Number: 1, State: "open", Base: "main"}) // with the mark in its body
	s.AddIssue(ghtest.Issue{State: "open", Title: "by hand", Body: "<!-- oap-gate:remind:nova -->\n", Login: "mallory"})
	s.AddIssue(ghtest.Issue{State: "open", Title: "another app", Body: "<!-- oap-gate:remind:nova -->\n",
		Login: "x[bot]", App: 7})
	s.AddIssue(ghtest.Issue{State: "open", Title: "quoted", Body: "> <!-- oap-gate:remind:nova -->\n",
		Login: "github-actions[bot]", App: ghtest.ActionsApp})
	foreign := s.Issues()
	rows := listed(now, "nova", 10*day, "aurora", 3*day, "far", 20*day, "old", -29*day, "gone", -31*day)
	rows.Listings[2].Slug = "far"
	revoked := listed(now, "taken", 2*day).Listings[0]
	revoked.Status = verdict.StatusRevoked
	hostile := listed(now, "x", 2*day).Listings[0]
	hostile.Slug = "a`@everyone"
	rows.Listings = append(rows.Listings, revoked, hostile)

	want := []string{"create issue: implementations/old.json expires on 2026-05-03",
		"create issue: implementations/aurora.json expires on 2026-06-04",
		"create issue: implementations/nova.json expires on 2026-06-11"}
	if got := settle(t, c, rows); !slices.Equal(got, want) {
		t.Fatalf("first: %q", got)
	}
	if got := settle(t, c, rows); len(got) != 0 {
		t.Fatalf("again: %q", got)
	}
	if made := s.Issues()[len(foreign)]; made.Labels != nil || !strings.Contains(made.Body, "oap-gate renew old") {
		t.Errorf("made %+v", made)
	}

	later := now.Add(2 * day)
	next := listed(later, "nova", 8*day-time.Hour, "aurora", 90*day, "old", -31*day)
	got := settle(t, c, next)
	want = []string{"close issue 103 of old: it expired, and was not renewed",
		"close issue 104 of aurora: it was renewed, until 2026-09-01",
		"edit issue 105: implementations/nova.json expires on 2026-06-11"}
	if !slices.Equal(got, want) {
		t.Errorf("later: %q", got)
	}
	if got := settle(t, c, next); len(got) != 0 {
		t.Errorf("later again: %q", got)
	}
	if got := settle(t, c, listed(later)); !slices.Equal(got,
		[]string{"close issue 105 of nova: it is no longer listed"}) {
		t.Errorf("last: %q", got)
	}
	if !reflect.DeepEqual(s.Issues()[:len(foreign)], foreign) {
		t.Errorf("issues of others were touched: %+v", s.Issues()[:len(foreign)])
	}
}

// Who closes an issue by hand is not asked again for the same end.
func TestRemindHeedsWhoClosed(t *testing.T) {
	s, c := start(t)
	rows := listed(now, "nova", 10*day)
	settle(t, c, rows)
	made := s.Issues()[0]
	made.State = "closed"
	s2, c2 := start(t)
	s2.AddIssue(made)
	if got := settle(t, c2, rows); len(got) != 0 {
		t.Errorf("%q", got)
	}
	if got := settle(t, c2, listed(now, "nova", 11*day)); len(got) != 1 {
		t.Errorf("another end: %q", got)
	}
}

func TestRemindIsBounded(t *testing.T) {
	s, c := start(t)
	s.PageCap = 100
	s.AddLabel("expiring")
	rows := listed(now)
	for i := range 80 {
		rows.Listings = append(rows.Listings, listed(now, fmt.Sprintf("tool%02d", i),
			day+time.Duration(i)*time.Minute).Listings[0])
	}
	for i := range 8 {
		row := listed(now, fmt.Sprintf("many%d", i), time.Hour).Listings[0]
		row.ToolDID = fmt.Sprintf("did:web:a%d.many.example", i)
		rows.Listings = append(rows.Listings, row)
	}
	first := settle(t, c, rows)
	many := slices.DeleteFunc(slices.Clone(first), func(text string) bool { return !strings.Contains(text, "/many") })
	if len(first) != MaxChanges || len(many) != maxOfDomain {
		t.Errorf("%d changes, %d of one domain", len(first), len(many))
	}
	if labels := s.Issues()[0].Labels; !slices.Equal(labels, []string{"expiring"}) {
		t.Errorf("labels %q", labels)
	}
}

const head = "1111111111111111111111111111111111111111"

func waiting(s *ghtest.Server, at time.Time, login string, bot bool) {
	s.AddPull(ghtest.Pull{Number: 7, State: "open", Head: head, HeadRepo: "fork/registry", Base: "main"})
	s.AddComment(ghtest.Comment{Pull: 7, Login: login, Bot: bot,
		Body: sticky.Marker + "\n" +
			fmt.Sprintf("<!-- oap-gate:retry %s 1 %s -->\n\n*May pass from %s on; it is run again by itself.*\n\nthe "+
				"report\n",
				at.Format(time.RFC3339), head, at.Format(time.DateOnly))})
}

func failed(change func(*ghtest.Run)) ghtest.Run {
	r := ghtest.Run{ID: 5, Path: ".github/workflows/check.yml", Event: "pull_request", Head: head, Status: "completed",
		Conclusion: "failure", Attempt: 1, CreatedAt: now.Add(-20 * day), RunStartedAt: now.Add(-20 * day)}
	if change != nil {
		change(&r)
	}
	return r
}

func TestRerun(t *testing.T) {
	const again = "run the gate again for pull request 7: it may pass since 2026-05-31"
	for _, c := range []struct {
		name  string
		at    time.Time
		login string
		bot   bool
		tip   time.Time
		run   func(*ghtest.Run)
		want  string
	}{
		{"the time has come", now.Add(-day), "github-actions[bot]", true, now.Add(-21 * day), nil, again},
		{"it has not", now.Add(time.Minute), "github-actions[bot]", true, now.Add(-21 * day), nil, ""},
		{"it came long ago", now.Add(-31 * day), "github-actions[bot]", true, now.Add(-21 * day), nil, ""},
		{"a comment of a stranger", now.Add(-day), "mallory", false, now.Add(-21 * day), nil, ""},
		{"the base moved", now.Add(-day), "github-actions[bot]", true, now.Add(-19 * day), nil,
			"say in pull request 7 that its branch has to be updated"},
		{"too old", now.Add(-day), "github-actions[bot]", true, now.Add(-40 * day),
			func(r *ghtest.Run) { r.CreatedAt = now.Add(-29 * day) },
			"say in pull request 7 that its branch has to be updated"},
		{"passed", now.Add(-day), "github-actions[bot]", true, now.Add(-21 * day),
			func(r *ghtest.Run) { r.Conclusion = "success" }, ""},
		{"waits for approval", now.Add(-day), "github-actions[bot]", true, now.Add(-21 * day),
			func(r *ghtest.Run) { r.Conclusion = "action_required" }, ""},
		{"still runs", now.Add(-day), "github-actions[bot]", true, now.Add(-21 * day),
			func(r *ghtest.Run) { r.Status, r.Conclusion = "in_progress", "" }, ""},
		{"another workflow", now.Add(-day), "github-actions[bot]", true, now.Add(-21 * day),
			func(r *ghtest.Run) { r.Path = ".github/workflows/mine.yml" }, ""},
		{"run an hour ago", now.Add(-day), "github-actions[bot]", true, now.Add(-21 * day),
			func(r *ghtest.Run) { r.Attempt, r.RunStartedAt = 2, now.Add(-time.Hour) }, ""},
		{"run yesterday", now.Add(-day), "github-actions[bot]", true, now.Add(-21 * day),
			func(r *ghtest.Run) { r.Attempt, r.RunStartedAt = 5, now.Add(-day) }, again},
		{"run five times", now.Add(-day), "github-actions[bot]", true, now.Add(-21 * day),
			func(r *ghtest.Run) { r.Attempt, r.RunStartedAt = 6, now.Add(-day) }, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, client := start(t)
			waiting(s, c.at, c.login, c.bot)
			s.SetTip(c.tip)
			s.AddRun(failed(c.run))
			s.AddRun(failed(func(r *ghtest.Run) { r.ID, r.CreatedAt, r.Event = 6, now, "push" }))
			got := strings.Join(planned(t, client), ", ")
			if got != c.want {
				t.Errorf("planned %q, want %q", got, c.want)
			}
		})
	}
}

var options = RerunOptions{Now: now, Workflow: ".github/workflows/check.yml", Branch: "main", App: forge.ActionsApp}

// planned is what Rerun plans for what stands at a forge.
func planned(t *testing.T, c *forge.Client) []string {
	t.Helper()
	plan := must.Get(Rerun(t.Context(), c, options))(t)
	texts := []string{}
	for _, change := range plan.Changes {
		texts = append(texts, change.Text)
	}
	return texts
}

// A comment that asks for an update says so, and keeps the report.
func TestOutdatedComment(t *testing.T) {
	s, c := start(t)
	waiting(s, now.Add(-day), "github-actions[bot]", true)
	s.SetTip(now.Add(-2 * time.Hour))
	s.AddRun(failed(nil))
	plan := must.Get(Rerun(t.Context(), c, options))(t)
	must.OK(t, Apply(t.Context(), c, plan.Changes, 0, func(Change, error) {}))
	body := s.Comments()[0].Body
	if !strings.HasPrefix(body, sticky.Marker+"\n*Update the branch: it may pass since 2026-05-31") ||
		!strings.Contains(body, "the report") || strings.Contains(body, "by itself") {
		t.Errorf("the comment is\n%s", body)
	}
}

// The bounds of one head are those of all its runs: who closes a pull request and opens it again starts another one.
func TestRerunsOfOneHead(t *testing.T) {
	for _, c := range []struct {
		name    string
		earlier ghtest.Run
		want    int
	}{
		{"none", ghtest.Run{Attempt: 1}, 1},
		{"four times", ghtest.Run{Attempt: 5, RunStartedAt: now.Add(-day)}, 1},
		{"five times", ghtest.Run{Attempt: 6, RunStartedAt: now.Add(-day)}, 0},
		{"an hour ago", ghtest.Run{Attempt: 2, RunStartedAt: now.Add(-time.Hour)}, 0},
	} {
		s, client := start(t)
		waiting(s, now.Add(-day), "github-actions[bot]", true)
		s.SetTip(now.Add(-40 * day))
		s.AddRun(failed(func(r *ghtest.Run) { r.Path += "@refs/heads/main" }))
		s.AddRun(failed(func(r *ghtest.Run) {
			r.ID, r.CreatedAt = 4, r.CreatedAt.Add(-day)
			r.Attempt, r.RunStartedAt = c.earlier.Attempt, c.earlier.RunStartedAt
		}))
		if got := planned(t, client); len(got) != c.want {
			t.Errorf("%s: %q", c.name, got)
		}
		for id := range int64(99) { // of which one page does not hold all
			s.AddRun(failed(func(r *ghtest.Run) { r.ID, r.CreatedAt = 100+id, r.CreatedAt.Add(-2*day) }))
		}
		if got := planned(t, client); len(got) != 0 {
			t.Errorf("%s, and 99 others: %q", c.name, got)
		}
	}
}

// A time that a fork made up is no reason to do anything.
func TestHostileRetry(t *testing.T) {
	for _, mark := range []string{
		"2026-05-31T00:00:00Z 1 " + strings.Repeat("2", 40), "2026-05-31T00:00:00Z 1 " + strings.ToUpper("a"+head[1:]),
		"0001-01-01T00:00:00Z 1 " + head, "9999-12-31T23:59:59Z 1 " + head, "2026-05-31 1 " + head,
		"2026-05-31T00:00:00Z 99999999999999999999 " + head, "2026-05-31T00:00:00Z -1 " + head,
		"2026-02-31T00:00:00Z 1 " + head, "2026-05-31T00:00:00Z 1 " + head + "0", "1780185600 1 " + head,
	} {
		s, c := start(t)
		s.AddPull(ghtest.Pull{Number: 7, State: "open", Head: head, HeadRepo: "fork/registry", Base: "main"})
		s.AddComment(ghtest.Comment{Pull: 7, Login: "github-actions[bot]", Bot: true,
			Body: sticky.Marker + "\n<!-- oap-gate:retry " + mark + " -->\n"})
		s.AddRun(failed(nil))
		if got := planned(t, c); len(got) != 0 {
			t.Errorf("%s: %q", mark, got)
		}
	}
}

// What is wrong with one pull request, or refused for one, keeps nothing else from being done.
func TestOneOfManyFails(t *testing.T) {
	s, c := start(t)
	s.SetTip(now.Add(-40 * day))
	for n := 1; n <= 4; n++ {
		head := strings.Repeat(fmt.Sprint(n), 40)
		s.AddPull(ghtest.Pull{Number: n, State: "open", Head: head, Base: "main"})
		s.AddComment(ghtest.Comment{Pull: n, Login: "github-actions[bot]", Bot: true,
			Body: sticky.Marker + "\n<!-- oap-gate:retry 2026-05-31T00:00:00Z 1 " + head + " -->\n"})
		s.AddRun(failed(func(r *ghtest.Run) { r.ID, r.Head = int64(n), head }))
	}
	const repo = "/repos/acme/registry/"
	s.Fail(ghtest.Failure{Path: repo + "issues/1/comments", Status: 404, Message: "Not Found"})
	s.Fail(ghtest.Failure{Path: repo + "issues/2/comments", Status: 200, Body: "[]",
		Header: map[string]string{"Link": fmt.Sprintf("<%s%sissues/2/comments?page=51>; rel=\"next\"", s.URL, repo)}})
	s.Fail(ghtest.Failure{Path: repo + "actions/runs/3/", Status: 403, Message: "Unable to retry this workflow run"})
	plan, err := Rerun(t.Context(), c, options)
	must.OK(t, err)
	var told []string
	err = Apply(t.Context(), c, plan.Changes, 0, func(change Change, refusal error) {
		told = append(told, fmt.Sprint(change.Path, " ", refusal != nil))
	})
	want := []string{"actions/runs/3/rerun-failed-jobs true", "actions/runs/4/rerun-failed-jobs false"}
	if !slices.Equal(told, want) || !errors.Is(err, forge.ErrForbidden) {
		t.Errorf("%q, %v", told, err)
	}
}

// A forge that refuses everything is not asked without end.
func TestRefusalsAreBounded(t *testing.T) {
	s, c := start(t)
	s.Fail(ghtest.Failure{Method: "PATCH", Status: 422, Message: "Validation Failed"})
	plan := slices.Repeat([]Change{{Text: "edit", Method: "PATCH", Path: "issues/1"}}, 3*MaxChanges)
	told := 0
	err := Apply(t.Context(), c, plan, 0, func(Change, error) { told++ })
	if told != MaxChanges || !errors.Is(err, forge.ErrRefused) {
		t.Errorf("%d told, %v", told, err)
	}
}

// An author who is not known again would be reminded of the same listing every day: the first one ends the run.
func TestAuthorIsKnownAgain(t *testing.T) {
	rows := listed(now, "nova", 3*day, "aurora", 4*day)
	for _, c := range []struct {
		name   string
		access ghtest.Access
		want   string
		made   int
	}{
		{"another app", ghtest.Access{Login: "x[bot]", App: true, AppID: 7, Comment: true},
			"the app 7 for its author, 15368 was looked for", 1},
		{"a user", ghtest.Access{Login: "Maintainer", Comment: true}, "", 2},
	} {
		s, client := start(t)
		s.Grant(robot, c.access)
		plan, err := Remind(t.Context(), client, rows, 14*day, forge.ActionsApp)
		must.OK(t, err)
		err = Apply(t.Context(), client, plan.Changes, 0, func(Change, error) {})
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
		if made := len(s.Issues()); made != c.made {
			t.Errorf("%s: %d issues", c.name, made)
		}
	}
}

// An issue that nobody touched for years is still closed, and a forge that writes line ends anew is no reason to edit.
func TestOldIssue(t *testing.T) {
	s, c := start(t)
	row := listed(now, "nova", 10*day).Listings[0]
	for _, slug := range []string{"nova", "gone"} {
		row.Slug = slug
		s.AddIssue(ghtest.Issue{State: "open", Title: title(row), Login: "github-actions[bot]", App: forge.ActionsApp,
			Body: strings.ReplaceAll(strings.TrimSpace(body(row)), "\n", "\r\n"), Updated: now.Add(-1000 * day)})
	}
	got := settle(t, c, listed(now, "nova", 10*day))
	if !slices.Equal(got, []string{"close issue 101 of gone: it is no longer listed"}) {
		t.Errorf("%q", got)
	}
}

// A forge that asks for rest, or does not answer, or no longer knows the token, is asked for nothing more.
func TestRestIsGiven(t *testing.T) {
	for status, want := range map[int]error{429: forge.ErrLimited, 502: forge.ErrUnavailable,
		401: forge.ErrUnauthorized} {
		s, c := start(t)
		s.Fail(ghtest.Failure{Method: "PATCH", Status: status, Header: map[string]string{"Retry-After": "3600"}})
		plan := slices.Repeat([]Change{{Text: "edit", Method: "PATCH", Path: "issues/1"}}, 3)
		err := Apply(t.Context(), c, plan, 0, func(Change, error) { t.Errorf("%d: told of", status) })
		if asked := len(s.Writes()); asked != 1 || !errors.Is(err, want) {
			t.Errorf("%d: asked %d times, %v", status, asked, err)
		}
	}
}
