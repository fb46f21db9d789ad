package ghtest

import (
	"cmp"
	"net/http"
	"slices"
	"time"
)

// ActionsApp is the id of the app whose tokens workflows have.
const ActionsApp = 15368

// LoseReply carries out the n-th request, counted from 0, and loses its answer.
func (s *Server) LoseReply(n int) { s.with(func() { s.lost, s.dropped = n, false }) }

// LoseRequest loses the n-th request, counted from 0, before anything came of it.
func (s *Server) LoseRequest(n int) { s.with(func() { s.lost, s.dropped = n, true }) }

// SetNow sets the forge's clock.
func (s *Server) SetNow(at time.Time) { s.with(func() { s.now = at }) }

// AddIssue opens or keeps an issue; its number is given.
func (s *Server) AddIssue(i Issue) (number int) {
	s.with(func() { number = s.keepIssue(i).Number })
	return number
}

// AddLabel makes a label.
func (s *Server) AddLabel(name string) { s.with(func() { s.defined = append(s.defined, name) }) }

// AddRun keeps a run of a workflow.
func (s *Server) AddRun(r Run) { s.with(func() { s.runs = append(s.runs, r) }) }

// SetTip sets the committer date of the default branch's tip.
func (s *Server) SetTip(at time.Time) { s.with(func() { s.tip = at }) }

// Issues returns all issues.
func (s *Server) Issues() []Issue { return copied(s, &s.issues) }

// Runs returns all runs.
func (s *Server) Runs() []Run { return copied(s, &s.runs) }

func (s *Server) keepIssue(i Issue) Issue {
	i.Number = 100 + len(s.issues)
	s.issues = append(s.issues, i)
	return i
}

func (i Issue) json() map[string]any {
	return map[string]any{"number": i.Number, "state": i.State, "title": i.Title, "body": i.Body, "labels": i.Labels,
		"user": map[string]string{"login": i.Login}, "performed_via_github_app": app(i.App)}
}

// app shows by whose token something was written: null for a user's.
func app(id int64) any {
	if id == 0 {
		return nil
	}
	return map[string]int64{"id": id}
}

// app returns the id of the app whose token the sender has; 0: none.
func (a Access) app() int64 {
	if !a.App {
		return 0
	}
	return cmp.Or(a.AppID, ActionsApp)
}

func (s *Server) listIssues(r *request) answer {
	list := []map[string]any{}
	for _, p := range s.pulls { // the forge lists pull requests among the issues
		list = append(list, map[string]any{"number": p.Number, "state": p.State, "title": "a pull request",
			"body": "<!-- oap-gate:remind:nova -->\n", "user": map[string]string{"login": "github-actions[bot]"},
			"performed_via_github_app": app(ActionsApp), "pull_request": map[string]string{}})
	}
	since, err := time.Parse(time.RFC3339, r.FormValue("since"))
	for _, i := range s.issues {
		if state := r.FormValue("state"); (state == "all" || state == i.State) &&
			(err != nil || !i.Updated.Before(since)) {
			list = append(list, i.json())
		}
	}
	return page(s, r, list)
}

func (s *Server) newIssue(r *request) answer {
	var sent struct {
		Title, Body string
		Labels      []string
	}
	if !r.decode(&sent) {
		return noJSON
	}
	return created(s.keepIssue(Issue{State: "open", Title: sent.Title, Body: sent.Body, Labels: sent.Labels,
		Login: r.access.Login, App: r.access.app(), Updated: s.now}).json())
}

func (s *Server) editIssue(r *request) answer {
	at := slices.IndexFunc(s.issues, func(i Issue) bool { return int64(i.Number) == r.number("number") })
	if at < 0 {
		return notFound
	}
	i := &s.issues[at]
	sent := struct{ Title, Body, State *string }{&i.Title, &i.Body, &i.State} // what is not sent stays
	if !r.decode(&sent) {
		return noJSON
	}
	i.Updated = s.now
	return ok(i.json())
}

// SetLabels makes an issue with these labels.
func (s *Server) SetLabels(issue int64, labels ...string) {
	s.with(func() { s.labels[issue] = labels })
}

func (s *Server) issue(r *request) answer {
	labels, found := s.labels[r.number("number")]
	if !found {
		return notFound
	}
	return ok(map[string]any{"number": r.number("number"), "labels": named(labels)})
}

func (s *Server) label(r *request) answer {
	if !slices.Contains(s.defined, r.PathValue("one")) {
		return notFound
	}
	return ok(map[string]string{"name": r.PathValue("one")})
}

func (s *Server) branch(r *request) answer {
	committer := map[string]any{"committer": map[string]any{"date": s.tip}}
	return ok(map[string]any{"name": r.PathValue("branch"), "commit": map[string]any{"commit": committer}})
}

func (s *Server) listRuns(r *request) answer {
	list := []map[string]any{}
	for _, one := range s.runs {
		if event := r.FormValue("event"); one.Head == r.FormValue("head_sha") && (event == "" || event == one.Event) {
			list = append(list, map[string]any{"id": one.ID, "path": one.Path, "event": one.Event, "head_sha": one.Head,
				"status": one.Status, "conclusion": one.Conclusion, "run_attempt": one.Attempt,
				"created_at": one.CreatedAt, "run_started_at": one.RunStartedAt, "updated_at": one.Updated})
		}
	}
	return ok(map[string]any{"total_count": len(list), "workflow_runs": list[:min(len(list), 100)]})
}

// rerun starts the failed jobs again, and ends them at once as they ended before.
func (s *Server) rerun(r *request) answer {
	at := slices.IndexFunc(s.runs, func(one Run) bool { return one.ID == r.number("id") })
	switch {
	case at < 0:
		return notFound
	case s.runs[at].Status != "completed":
		return fail(http.StatusForbidden, "The workflow run is not completed")
	}
	s.runs[at].Attempt++
	s.runs[at].RunStartedAt = s.now
	return created(map[string]any{})
}
