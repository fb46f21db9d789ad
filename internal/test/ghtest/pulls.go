package ghtest

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// MaxBody is GitHub's cap on the body of a comment, in characters.
const MaxBody = 65536

func (s *Server) full() string { return s.Owner + "/" + s.Name }

func (s *Server) user(r *request) {
	switch {
	case r.access.Login == "":
		r.fail(http.StatusUnauthorized, "Requires authentication")
	case r.access.App:
		r.fail(http.StatusForbidden, "Resource not accessible by integration")
	default:
		r.send(http.StatusOK, map[string]any{"login": r.access.Login, "type": "User"})
	}
}

func (s *Server) repository(r *request) {
	if r.Method == "PATCH" {
		if !r.access.Admin {
			r.refuse()
			return
		}
		var change struct {
			AllowRebase    *bool `json:"allow_rebase_merge"`
			AllowAutoMerge *bool `json:"allow_auto_merge"`
		}
		if !r.decode(&change) {
			return
		}
		if change.AllowAutoMerge != nil {
			s.AllowAutoMerge = *change.AllowAutoMerge
		}
		if change.AllowRebase != nil {
			if !*change.AllowRebase && s.OnlyRebase {
				r.fail(http.StatusUnprocessableEntity, "Validation Failed", map[string]any{"resource": "Repository",
					"field": "merge_commit_allowed", "code": "custom",
					"message": "Sorry, you need to allow at least one merge strategy. (no_merge_method)"})
				return
			}
			s.AllowRebase = *change.AllowRebase
		}
	}
	repo := map[string]any{"id": RepositoryID, "name": s.Name, "full_name": s.full(),
		"default_branch": s.DefaultBranch, "private": false}
	if r.access.Admin {
		repo["allow_rebase_merge"] = s.AllowRebase
		repo["allow_auto_merge"] = s.AllowAutoMerge
		repo["allow_squash_merge"] = !s.OnlyRebase
		repo["allow_merge_commit"] = !s.OnlyRebase
	}
	r.send(http.StatusOK, repo)
}

func (s *Server) pullJSON(p Pull) map[string]any {
	head := map[string]any{"ref": "topic", "sha": p.Head, "repo": map[string]any{"full_name": p.HeadRepo}}
	if p.HeadRepo == "" {
		head["repo"] = nil // the fork was deleted
	}
	return map[string]any{
		"number": p.Number, "state": p.State, "locked": p.Locked, "head": head, "user": p.Author.json(),
		"labels": named(p.Labels),
		"base":   map[string]any{"ref": p.Base, "repo": map[string]any{"full_name": s.full()}},
	}
}

func (s *Server) listPulls(r *request) {
	state := r.URL.Query().Get("state")
	if state == "" {
		state = "open"
	}
	var list []map[string]any
	for _, p := range s.pulls {
		if state == "all" || p.State == state {
			list = append(list, s.pullJSON(p))
		}
	}
	if r.URL.Query().Get("direction") != "asc" {
		slices.Reverse(list)
	}
	page(s, r, list)
}

func (s *Server) pullByNumber(n int64) *Pull {
	for i := range s.pulls {
		if int64(s.pulls[i].Number) == n {
			return &s.pulls[i]
		}
	}
	return nil
}

func (s *Server) pull(r *request) {
	p := s.pullByNumber(r.number(1))
	if p == nil {
		r.notFound()
		return
	}
	r.send(http.StatusOK, s.pullJSON(*p))
}

func (a Author) json() map[string]any {
	kind := "User"
	if strings.HasSuffix(a.Login, "[bot]") {
		kind = "Bot"
	}
	return map[string]any{"id": a.ID, "login": a.Login, "type": kind}
}

func named(labels []string) []map[string]string {
	out := []map[string]string{}
	for _, name := range labels {
		out = append(out, map[string]string{"name": name})
	}
	return out
}

func (s *Server) files(r *request) {
	p := s.pullByNumber(r.number(1))
	if p == nil {
		r.notFound()
		return
	}
	var list []map[string]string
	for _, f := range p.Files {
		one := map[string]string{"filename": f.Name, "status": f.Status}
		if f.Previous != "" {
			one["previous_filename"] = f.Previous
		}
		list = append(list, one)
	}
	page(s, r, list)
}

// newest answers with the last commit of a path on the default branch, the only one that it knows.
func (s *Server) newest(r *request) {
	list := []map[string]any{}
	if a, known := s.authors[r.URL.Query().Get("path")]; known {
		one := map[string]any{"sha": strings.Repeat("c", 40), "author": nil}
		if a.Login != "" {
			one["author"] = a.json()
		}
		list = append(list, one)
	}
	page(s, r, list)
}

// pullLabels adds labels to a pull request, or removes one. As the forge does, it makes a label that the repository
// lacks.
func (s *Server) pullLabels(r *request) {
	p := s.pullByNumber(r.number(1))
	switch {
	case p == nil:
		r.notFound()
		return
	case !s.mayWrite(r):
		return
	case r.Method == "DELETE":
		at := slices.Index(p.Labels, r.path[3])
		if at < 0 {
			r.fail(http.StatusNotFound, "Label does not exist")
			return
		}
		p.Labels = slices.Delete(slices.Clone(p.Labels), at, at+1)
	default:
		var sent struct{ Labels []string }
		if !r.decode(&sent) {
			return
		}
		for _, name := range sent.Labels {
			if !slices.Contains(s.defined, name) {
				s.defined = append(s.defined, name)
			}
			p.Labels = append(slices.Clone(p.Labels), name)
		}
	}
	r.send(http.StatusOK, named(p.Labels))
}

func (s *Server) commit(r *request) {
	parents, ok := s.parents[r.path[2]]
	if !ok {
		r.notFound()
		return
	}
	list := []map[string]string{}
	for _, p := range parents {
		list = append(list, map[string]string{"sha": p})
	}
	r.send(http.StatusOK, map[string]any{"sha": r.path[2], "parents": list})
}

func (s *Server) commentJSON(c Comment) map[string]any {
	kind := "User"
	if c.Bot {
		kind = "Bot"
	}
	var app any
	if c.Bot {
		app = map[string]int64{"id": cmp.Or(c.App, ActionsApp)}
	}
	return map[string]any{
		"id": c.ID, "body": c.Body, "performed_via_github_app": app, "user": map[string]string{"login": c.Login,
			"type": kind},
		"html_url": "https://forge.example/" + s.full() + "/pull/" + strconv.Itoa(c.Pull) + "#issuecomment-" +
			strconv.FormatInt(c.ID, 10),
	}
}

func (s *Server) issueComments(r *request) {
	p := s.pullByNumber(r.number(1))
	if p == nil {
		r.notFound()
		return
	}
	if r.Method == "GET" {
		var list []map[string]any
		for _, c := range s.comments {
			if c.Pull == p.Number {
				list = append(list, s.commentJSON(c))
			}
		}
		page(s, r, list)
		return
	}
	body, ok := s.writable(r, p)
	if !ok {
		return
	}
	c := Comment{ID: s.newID(), Pull: p.Number, Login: r.access.Login, Bot: r.access.App, App: r.access.AppID,
		Body: body}
	s.comments = append(s.comments, c)
	r.send(http.StatusCreated, s.commentJSON(c))
}

func (s *Server) editComment(r *request) {
	i := slices.IndexFunc(s.comments, func(c Comment) bool { return c.ID == r.number(2) })
	if i < 0 {
		r.notFound()
		return
	}
	body, ok := s.writable(r, s.pullByNumber(int64(s.comments[i].Pull)))
	if !ok {
		return
	}
	s.comments[i].Body = body
	r.send(http.StatusOK, s.commentJSON(s.comments[i]))
}

// writable reads the body of a comment that may be written.
func (s *Server) writable(r *request, p *Pull) (string, bool) {
	switch {
	case r.access.Login == "":
		r.fail(http.StatusUnauthorized, "Requires authentication")
		return "", false
	case !r.access.Comment:
		r.fail(http.StatusForbidden, "Resource not accessible by integration")
		return "", false
	case p.Locked:
		r.fail(http.StatusForbidden, "Unable to create comment because issue is locked.")
		return "", false
	}
	var c struct {
		Body string `json:"body"`
	}
	if !r.decode(&c) {
		return "", false
	}
	if n := utf8.RuneCountInString(c.Body); n == 0 || n > MaxBody {
		r.fail(http.StatusUnprocessableEntity, "Validation Failed", map[string]any{"resource": "IssueComment",
			"code": "unprocessable", "field": "data", "message": "Body is too long (maximum is 65536 characters)"})
		return "", false
	}
	return c.Body, true
}
