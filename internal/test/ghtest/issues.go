package ghtest

import (
	"cmp"
	"net/http"
	"slices"
	"time"
)

// ActionsApp is the id of the app whose tokens workflows have.
const ActionsApp = 15368

// AddIssue opens or keeps an issue; its number is given.
func (s *Server) AddIssue(i Issue) (number int) {
	s.with(func() {
		i.Number = 100 + len(s.issues)
		s.issues = append(s.issues, i)
		number = i.Number
	})
	return number
}

// AddLabel makes a label.
func (s *Server) AddLabel(name string) { s.with(func() { s.defined = append(s.defined, name) }) }

// AddRun keeps a run of a workflow.
func (s *Server) AddRun(r Run) { s.with(func() { s.runs = append(s.runs, r) }) }

// SetTip sets the committer date of the default branch's tip.
func (s *Server) SetTip(at time.Time) { s.with(func() { s.tip = at }) }

// Issues returns all issues.
func (s *Server) Issues() (all []Issue) {
	s.with(func() { all = slices.Clone(s.issues) })
	return all
}

// Runs returns all runs.
func (s *Server) Runs() (all []Run) {
	s.with(func() { all = slices.Clone(s.runs) })
	return all
}

func (s *Server) issueJSON(i Issue) map[string]any {
	var app any
	if i.App != 0 {
		app = map[string]int64{"id": i.App}
	}
	return map[string]any{"number": i.Number, "state": i.State, "title": i.Title, "body": i.Body, "labels": i.Labels,
		"user": map[string]string{"login": i.Login}, "performed_via_github_app": app}
}

// mayWrite answers a request whose token may not write.
func (s *Server) mayWrite(r *request) bool {
	if !r.access.Comment {
		r.refuse()
	}
	return r.access.Comment
}

func (s *Server) issueList(r *request) {
	if r.Method == "GET" {
		list := []map[string]any{}
		for _, p := range s.pulls { // the forge lists pull requests among the issues
			list = append(list, map[string]any{"number": p.Number, "state": p.State, "title": "a pull request",
				"body": "<!-- oap-gate:remind:nova -->\n", "user": map[string]string{"login": "github-actions[bot]"},
				"performed_via_github_app": map[string]int64{"id": ActionsApp}, "pull_request": map[string]string{}})
		}
		for _, i := range s.issues {
			since, err := time.Parse(time.RFC3339, r.URL.Query().Get("since"))
			state := r.URL.Query().Get("state")
			if (state == "all" || state == i.State) && (err != nil || !i.Updated.Before(since)) {
				list = append(list, s.issueJSON(i))
			}
		}
		page(s, r, list)
		return
	}
	var sent struct {
		Title, Body string
		Labels      []string
	}
	if !s.mayWrite(r) || !r.decode(&sent) {
		return
	}
	i := Issue{Number: 100 + len(s.issues), State: "open", Title: sent.Title, Body: sent.Body, Labels: sent.Labels,
		Login: r.access.Login, Updated: s.now}
	if r.access.App {
		i.App = cmp.Or(r.access.AppID, ActionsApp)
	}
	s.issues = append(s.issues, i)
	r.send(http.StatusCreated, s.issueJSON(i))
}

func (s *Server) editIssue(r *request) {
	at := slices.IndexFunc(s.issues, func(i Issue) bool { return int64(i.Number) == r.number(1) })
	if at < 0 {
		r.notFound()
		return
	}
	var sent struct{ Title, Body, State *string }
	if !s.mayWrite(r) || !r.decode(&sent) {
		return
	}
	i := &s.issues[at]
	i.Updated = s.now
	for to, from := range map[*string]*string{&i.Title: sent.Title, &i.Body: sent.Body, &i.State: sent.State} {
		if from != nil {
			*to = *from
		}
	}
	r.send(http.StatusOK, s.issueJSON(*i))
}

func (s *Server) label(r *request) {
	if !slices.Contains(s.defined, r.path[1]) {
		r.notFound()
		return
	}
	r.send(http.StatusOK, map[string]string{"name": r.path[1]})
}

func (s *Server) branch(r *request) {
	committer := map[string]any{"committer": map[string]any{"date": s.tip}}
	r.send(http.StatusOK, map[string]any{"name": r.path[1], "commit": map[string]any{"commit": committer}})
}

func (s *Server) runList(r *request) {
	q := r.URL.Query()
	list := []map[string]any{}
	for _, one := range s.runs {
		if one.Head == q.Get("head_sha") && (q.Get("event") == "" || one.Event == q.Get("event")) {
			list = append(list, map[string]any{"id": one.ID, "path": one.Path, "event": one.Event, "head_sha": one.Head,
				"status": one.Status, "conclusion": one.Conclusion, "run_attempt": one.Attempt,
				"created_at": one.CreatedAt, "run_started_at": one.RunStartedAt,
				"updated_at": one.Updated})
		}
	}
	r.send(http.StatusOK, map[string]any{"total_count": len(list), "workflow_runs": list[:min(len(list), 100)]})
}

// rerun starts the failed jobs again, and ends them at once as they ended before.
func (s *Server) rerun(r *request) {
	at := slices.IndexFunc(s.runs, func(one Run) bool { return one.ID == r.number(2) })
	switch {
	case at < 0:
		r.notFound()
	case !s.mayWrite(r):
	case s.runs[at].Status != "completed":
		r.fail(http.StatusForbidden, "The workflow run is not completed")
	default:
		s.runs[at].Attempt++
		s.runs[at].RunStartedAt = s.now
		r.send(http.StatusCreated, map[string]any{})
	}
}
