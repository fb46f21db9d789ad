package ghtest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"
)

// MaxBody is GitHub's cap on the body of a comment, in characters.
const MaxBody = 65536

// maxPullCommits is how many commits of a pull request GitHub lists.
const maxPullCommits = 250

// AddPull adds or replaces a pull request.
func (s *Server) AddPull(p Pull) {
	s.with(func() {
		s.pulls = slices.DeleteFunc(s.pulls, func(old Pull) bool { return old.Number == p.Number })
		s.pulls = append(s.pulls, p)
		slices.SortFunc(s.pulls, func(a, b Pull) int { return a.Number - b.Number })
	})
}

// Pulls returns all pull requests.
func (s *Server) Pulls() []Pull { return copied(s, &s.pulls) }

// SetAuthor says who wrote the newest commit of a path on the default branch.
func (s *Server) SetAuthor(path string, a Author) { s.with(func() { s.authors[path] = a }) }

// AddCommit makes a commit and its parents known.
func (s *Server) AddCommit(sha string, parents ...string) {
	s.with(func() { s.parents[sha] = parents })
}

// AddComment adds a comment and gives its id.
func (s *Server) AddComment(c Comment) int64 {
	s.with(func() { c = s.keepComment(c) })
	return c.ID
}

// Comments returns all comments, oldest first.
func (s *Server) Comments() []Comment { return copied(s, &s.comments) }

// AddReview adds a review of a pull request, a JSON object as GitHub lists it.
func (s *Server) AddReview(pull int, text string) {
	if !json.Valid([]byte(text)) {
		panic("no JSON: " + text)
	}
	s.with(func() { s.reviews[int64(pull)] = append(s.reviews[int64(pull)], json.RawMessage(text)) })
}

// AddPullCommit adds a commit of a pull request by its author's and its committer's login, which may be empty.
func (s *Server) AddPullCommit(pull int, author, committer string) {
	account := func(login string) any {
		if login == "" {
			return nil
		}
		return map[string]string{"login": login}
	}
	one := map[string]any{"author": account(author), "committer": account(committer)}
	s.with(func() { s.commits[int64(pull)] = append(s.commits[int64(pull)], one) })
}

func (s *Server) full() string { return s.Owner + "/" + s.Name }

func (s *Server) user(r *request) answer {
	switch {
	case r.access.Login == "":
		return unknown
	case r.access.App:
		return noAccess
	}
	return ok(map[string]any{"login": r.access.Login, "type": "User"})
}

func (s *Server) repository(r *request) answer {
	repo := map[string]any{"id": RepositoryID, "name": s.Name, "full_name": s.full(),
		"default_branch": s.DefaultBranch, "private": false}
	if r.access.Admin {
		repo["allow_rebase_merge"], repo["allow_auto_merge"] = s.AllowRebase, s.AllowAutoMerge
		repo["allow_squash_merge"], repo["allow_merge_commit"] = !s.OnlyRebase, !s.OnlyRebase
	}
	return ok(repo)
}

func (s *Server) editRepository(r *request) answer {
	change := struct { // what is not sent stays
		Rebase    bool `json:"allow_rebase_merge"`
		AutoMerge bool `json:"allow_auto_merge"`
	}{s.AllowRebase, s.AllowAutoMerge}
	if !r.decode(&change) {
		return noJSON
	}
	if !change.Rebase && s.OnlyRebase {
		return fail(http.StatusUnprocessableEntity, "Validation Failed", map[string]any{"resource": "Repository",
			"field": "merge_commit_allowed", "code": "custom",
			"message": "Sorry, you need to allow at least one merge strategy. (no_merge_method)"})
	}
	s.AllowRebase, s.AllowAutoMerge = change.Rebase, change.AutoMerge
	return s.repository(r)
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

func (s *Server) listPulls(r *request) answer {
	var list []map[string]any
	for _, p := range s.pulls {
		if state := cmp.Or(r.FormValue("state"), "open"); state == "all" || p.State == state {
			list = append(list, s.pullJSON(p))
		}
	}
	if r.FormValue("direction") != "asc" {
		slices.Reverse(list)
	}
	return page(s, r, list)
}

func (s *Server) pullByNumber(n int64) *Pull {
	for i := range s.pulls {
		if int64(s.pulls[i].Number) == n {
			return &s.pulls[i]
		}
	}
	return nil
}

func (s *Server) pull(_ *request, p *Pull) answer { return ok(s.pullJSON(*p)) }

func (s *Server) listReviews(r *request, p *Pull) answer {
	return page(s, r, s.reviews[int64(p.Number)])
}

func (s *Server) listCommits(r *request, p *Pull) answer {
	all := s.commits[int64(p.Number)]
	return page(s, r, all[:min(len(all), maxPullCommits)])
}

// comparison answers with the commits between a base and the head of a pull request.
func (s *Server) comparison(r *request) answer {
	base, head, _ := strings.Cut(r.PathValue("range"), "...")
	for _, p := range s.pulls {
		if p.Head == head {
			all := s.commits[int64(p.Number)]
			part, link := pageOf(s, r, all)
			return answer{http.StatusOK, map[string]any{"total_commits": len(all), "commits": part}, link}
		}
	}
	status := "diverged"
	if _, known := s.parents[base]; known {
		status = "ahead"
	}
	if head != s.DefaultBranch {
		return notFound
	}
	return ok(map[string]any{"status": status})
}

func account(login string, bot bool) map[string]any {
	return map[string]any{"login": login, "type": map[bool]string{true: "Bot", false: "User"}[bot]}
}

func (a Author) json() map[string]any {
	out := account(a.Login, strings.HasSuffix(a.Login, "[bot]"))
	out["id"] = a.ID
	return out
}

func named(labels []string) []map[string]string {
	out := []map[string]string{}
	for _, name := range labels {
		out = append(out, map[string]string{"name": name})
	}
	return out
}

func (s *Server) files(r *request, p *Pull) answer {
	var list []map[string]string
	for _, f := range p.Files {
		one := map[string]string{"filename": f.Name, "status": f.Status}
		if f.Previous != "" {
			one["previous_filename"] = f.Previous
		}
		list = append(list, one)
	}
	return page(s, r, list)
}

// newest answers with the last commit of a path on the default branch, the only one that it knows.
func (s *Server) newest(r *request) answer {
	list := []map[string]any{}
	if a, known := s.authors[r.FormValue("path")]; known {
		one := map[string]any{"sha": strings.Repeat("c", 40), "author": nil}
		if a.Login != "" {
			one["author"] = a.json()
		}
		list = append(list, one)
	}
	return page(s, r, list)
}

// addLabels adds labels to a pull request. As the forge does, it makes a label that the repository lacks.
func (s *Server) addLabels(r *request, p *Pull) answer {
	var sent struct{ Labels []string }
	switch {
	case !r.access.Comment:
		return r.refused()
	case !r.decode(&sent):
		return noJSON
	}
	for _, name := range sent.Labels {
		if !slices.Contains(s.defined, name) {
			s.defined = append(s.defined, name)
		}
	}
	p.Labels = slices.Concat(p.Labels, sent.Labels)
	return ok(named(p.Labels))
}

func (s *Server) removeLabel(r *request, p *Pull) answer {
	at := slices.Index(p.Labels, r.PathValue("one"))
	switch {
	case !r.access.Comment:
		return r.refused()
	case at < 0:
		return fail(http.StatusNotFound, "Label does not exist")
	}
	p.Labels = slices.Delete(slices.Clone(p.Labels), at, at+1)
	return ok(named(p.Labels))
}

func (s *Server) commit(r *request) answer {
	parents, known := s.parents[r.PathValue("sha")]
	if !known {
		return notFound
	}
	list := []map[string]string{}
	for _, p := range parents {
		list = append(list, map[string]string{"sha": p})
	}
	return ok(map[string]any{"sha": r.PathValue("sha"), "parents": list})
}

func (s *Server) keepComment(c Comment) Comment {
	c.ID = s.newID()
	s.comments = append(s.comments, c)
	return c
}

func (s *Server) commentJSON(c Comment) map[string]any {
	by := any(nil)
	if c.Bot {
		by = app(cmp.Or(c.App, ActionsApp))
	}
	return map[string]any{
		"id": c.ID, "body": c.Body, "performed_via_github_app": by, "user": account(c.Login, c.Bot),
		"html_url": fmt.Sprintf("https://forge.example/%s/pull/%d#issuecomment-%d", s.full(), c.Pull, c.ID),
	}
}

func (s *Server) listComments(r *request, p *Pull) answer {
	var list []map[string]any
	for _, c := range s.comments {
		if c.Pull == p.Number {
			list = append(list, s.commentJSON(c))
		}
	}
	return page(s, r, list)
}

func (s *Server) newComment(r *request, p *Pull) answer {
	c := Comment{Pull: p.Number, Login: r.access.Login, Bot: r.access.App, App: r.access.AppID}
	if refusal := r.readComment(p, &c.Body); refusal != nil {
		return *refusal
	}
	return created(s.commentJSON(s.keepComment(c)))
}

func (s *Server) editComment(r *request) answer {
	i := slices.IndexFunc(s.comments, func(c Comment) bool { return c.ID == r.number("id") })
	if i < 0 {
		return notFound
	}
	if refusal := r.readComment(s.pullByNumber(int64(s.comments[i].Pull)), &s.comments[i].Body); refusal != nil {
		return *refusal
	}
	return ok(s.commentJSON(s.comments[i]))
}

// readComment reads the body of a comment, or refuses it.
func (r *request) readComment(p *Pull, body *string) *answer {
	var sent struct{ Body string }
	refusal := noAccess
	switch {
	case r.access.Login == "":
		refusal = unknown
	case !r.access.Comment:
	case p.Locked:
		refusal = fail(http.StatusForbidden, "Unable to create comment because issue is locked.")
	case !r.decode(&sent):
		refusal = noJSON
	default:
		if n := utf8.RuneCountInString(sent.Body); n > 0 && n <= MaxBody {
			*body = sent.Body
			return nil
		}
		refusal = fail(http.StatusUnprocessableEntity, "Validation Failed", map[string]any{"resource": "IssueComment",
			"code": "unprocessable", "field": "data", "message": "Body is too long (maximum is 65536 characters)"})
	}
	return &refusal
}
