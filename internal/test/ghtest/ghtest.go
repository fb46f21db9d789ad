// Package ghtest runs a forge on loopback that answers as GitHub's REST API does, for one repository. It serves pull
// requests, comments, rulesets and classic branch protection, with the failures of the API: 401, 403, 404, 422, rate
// limits, paging. It also reads logs as the forge's runner does.
package ghtest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// RepositoryID is the id of the repository.
const RepositoryID = 1

// Server is the forge. Set its state before the first request, or between requests by its methods.
type Server struct {
	URL string // base URL of the API, without a slash at the end

	Owner, Name    string
	DefaultBranch  string
	Organization   bool // the owner is one: merge queues are possible
	AllowRebase    bool
	AllowAutoMerge bool
	OnlyRebase     bool // merge commits and squashing are off: rebasing cannot be switched off
	PageCap        int  // entries on a page, whatever the client asks for; 0: as asked

	WorkflowsWrite, WorkflowsApprove bool // what the token of a workflow may do by default

	Accounts    []Account           // that have access to the repository
	Teams       map[string][]string // logins by "organization/team"
	OwnerErrors []map[string]any    // of CODEOWNERS, as the forge lists them

	mu       sync.Mutex
	http     *httptest.Server
	tokens   map[string]Access
	pulls    []Pull
	parents  map[string][]string
	comments []Comment
	changes  []string                               // changes of auto-merge
	authors  map[string]Author                      // authors of the newest commit, by path
	lists    map[int64]map[string][]json.RawMessage // by pull request and name
	labels   map[int64][]string                     // by issue
	rulesets []map[string]any
	classic  map[string]json.RawMessage
	failures []*Failure
	requests []string
	lastID   int64

	issues  []Issue
	defined []string // labels of the repository
	runs    []Run
	tip     time.Time // committer date of the default branch's tip
	lost    int       // the request whose answer is lost, counted from 0; -1: none
	dropped bool      // it is lost before it took effect
	now     time.Time // the forge's clock: when what is asked for happens
}

// Access is what a token may do.
type Access struct {
	Login   string
	App     bool  // an installation token: GET /user is refused
	AppID   int64 // of that app; 0: ActionsApp
	Comment bool  // pull-requests: write
	Admin   bool  // administration: write
}

// Account is a collaborator of the repository.
type Account struct {
	Login string
	Bot   bool
	Read  bool // the account may read only
}

// Pull is a pull request to the repository.
type Pull struct {
	Number   int
	State    string // "open" or "closed"
	Head     string // SHA
	HeadRepo string // owner/name; a fork's where it is not the repository itself
	Base     string // branch
	Locked   bool
	Author   Author
	Files    []File
	Labels   []string
	Merging  string // login of the account that enabled auto-merge; empty: it is off
	Clean    bool   // nothing is left to wait for
}

// Author is the account of who wrote something. An app's login ends in [bot].
type Author struct {
	ID    int64
	Login string
}

// File is a file that a pull request changes.
type File struct{ Name, Status, Previous string }

// Comment is a comment on a pull request.
type Comment struct {
	ID    int64
	Pull  int
	Login string
	Bot   bool  // by an app's token
	App   int64 // of that app; 0: ActionsApp
	Body  string
}

// Issue is an issue of the repository.
type Issue struct {
	Number      int
	State       string // "open" or "closed"
	Title, Body string
	Labels      []string
	Login       string
	App         int64 // id of the app whose token made it; 0: none
	Updated     time.Time
}

// Run is a run of a workflow.
type Run struct {
	ID                      int64
	Path, Event, Head       string
	Status, Conclusion      string
	Attempt                 int
	CreatedAt, RunStartedAt time.Time
	Updated                 time.Time
}

// LoseReply carries out the n-th request, counted from 0, and loses its answer.
func (s *Server) LoseReply(n int) { s.with(func() { s.lost, s.dropped = n, false }) }

// LoseRequest loses the n-th request, counted from 0, before anything came of it.
func (s *Server) LoseRequest(n int) { s.with(func() { s.lost, s.dropped = n, true }) }

// SetNow sets the forge's clock.
func (s *Server) SetNow(at time.Time) { s.with(func() { s.now = at }) }

// Failure answers matching requests instead of the forge.
type Failure struct {
	Method, Path string // Path is a prefix, as "/repos/acme/registry/pulls"; an empty Method matches all
	Status       int
	Header       map[string]string
	Body         string // sent as it is; empty: {"message": Message}
	Message      string
	Times        int // requests that fail; 0: all

	at int // the one request that fails, counted from 1; 0: all that match
}

// Start serves an empty repository with the default branch main until Close.
func Start(owner, name string) *Server {
	s := &Server{Owner: owner, Name: name, DefaultBranch: "main", AllowRebase: true, lost: -1,
		Accounts: []Account{{Login: "administrator"}, {Login: "maintainer"}}, tip: time.Unix(0, 0),
		tokens: map[string]Access{}, parents: map[string][]string{}, authors: map[string]Author{},
		classic: map[string]json.RawMessage{}}
	s.http = httptest.NewServer(http.HandlerFunc(s.serve))
	s.URL = s.http.URL
	return s
}

// Close ends the server.
func (s *Server) Close() { s.http.Close() }

// Grant makes token known.
func (s *Server) Grant(token string, a Access) { s.with(func() { s.tokens[token] = a }) }

// AddPull adds or replaces a pull request.
func (s *Server) AddPull(p Pull) {
	s.with(func() {
		s.pulls = slices.DeleteFunc(s.pulls, func(old Pull) bool { return old.Number == p.Number })
		s.pulls = append(s.pulls, p)
		slices.SortFunc(s.pulls, func(a, b Pull) int { return a.Number - b.Number })
	})
}

// SetAuthor says who wrote the newest commit of a path on the default branch.
func (s *Server) SetAuthor(path string, a Author) { s.with(func() { s.authors[path] = a }) }

// Pulls returns all pull requests.
func (s *Server) Pulls() (all []Pull) {
	s.with(func() { all = slices.Clone(s.pulls) })
	return all
}

// AddCommit makes a commit and its parents known.
func (s *Server) AddCommit(sha string, parents ...string) {
	s.with(func() { s.parents[sha] = parents })
}

// AddComment adds a comment and gives its id.
func (s *Server) AddComment(c Comment) int64 {
	s.with(func() { c.ID = s.newID(); s.comments = append(s.comments, c) })
	return c.ID
}

// AddRuleset adds a ruleset as GitHub shows it, without checks; id, source_type and source are filled in where missing.
func (s *Server) AddRuleset(text string) int64 {
	var r map[string]any
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		panic(fmt.Sprintf("ruleset %s: %v", text, err))
	}
	var id int64
	s.with(func() { id = s.keepRuleset(r) })
	return id
}

// SetClassic sets the classic protection of a branch as GitHub shows it.
func (s *Server) SetClassic(branch, text string) {
	s.with(func() { s.classic[branch] = json.RawMessage(text) })
}

// Fail makes requests fail from now on; the first failure that matches answers.
func (s *Server) Fail(f Failure) { s.with(func() { s.failures = append(s.failures, &f) }) }

// FailAt makes the n-th request fail, counted from 0.
func (s *Server) FailAt(n int, f Failure) {
	f.at = n + 1
	s.Fail(f)
}

// Comments returns all comments, oldest first.
func (s *Server) Comments() (all []Comment) {
	s.with(func() { all = slices.Clone(s.comments) })
	return all
}

// Rulesets returns all rulesets as JSON, oldest first.
func (s *Server) Rulesets() (all []string) {
	s.with(func() {
		for _, r := range s.rulesets {
			b, _ := json.Marshal(r)
			all = append(all, string(b))
		}
	})
	return all
}

// Requests returns the requests so far, as "GET /user".
func (s *Server) Requests() (all []string) {
	s.with(func() { all = slices.Clone(s.requests) })
	return all
}

// Writes returns the requests so far that were to change something.
func (s *Server) Writes() []string {
	return slices.DeleteFunc(s.Requests(), func(r string) bool { return strings.HasPrefix(r, "GET ") })
}

func (s *Server) with(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
}

func (s *Server) newID() int64 { s.lastID++; return s.lastID }

// request is one request with what is known about its sender.
type request struct {
	*http.Request
	w      http.ResponseWriter
	access Access
	path   []string // unescaped segments
}

func (s *Server) serve(w http.ResponseWriter, hr *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, hr.Method+" "+hr.URL.EscapedPath())
	h := w.Header()
	h.Set("Content-Type", "application/json; charset=utf-8")
	h.Set("X-RateLimit-Limit", "5000")
	h.Set("X-RateLimit-Remaining", "4999")
	h.Set("X-RateLimit-Reset", "4102444800")
	for _, f := range s.failures {
		if (f.at == 0 || f.at == len(s.requests)) && f.matches(hr) {
			f.answer(w)
			return
		}
	}
	if len(s.requests)-1 == s.lost { // what is asked for is done, and nobody learns of it
		if s.dropped {
			panic(http.ErrAbortHandler)
		}
		w = httptest.NewRecorder()
		defer panic(http.ErrAbortHandler)
	}
	r := &request{Request: hr, w: w}
	token := strings.TrimPrefix(hr.Header.Get("Authorization"), "Bearer ")
	access, known := s.tokens[token]
	if token != "" && !known {
		r.fail(http.StatusUnauthorized, "Bad credentials")
		return
	}
	r.access = access
	for _, part := range strings.Split(strings.TrimPrefix(hr.URL.EscapedPath(), "/"), "/") {
		plain, err := url.PathUnescape(part)
		if err != nil {
			r.fail(http.StatusBadRequest, "Bad Request")
			return
		}
		r.path = append(r.path, plain)
	}
	s.route(r)
}

func (f *Failure) matches(r *http.Request) bool {
	if f.Times < 0 || f.Method != "" && f.Method != r.Method || !strings.HasPrefix(r.URL.EscapedPath(), f.Path) {
		return false
	}
	if f.Times > 0 {
		if f.Times--; f.Times == 0 {
			f.Times = -1
		}
	}
	return true
}

func (f *Failure) answer(w http.ResponseWriter) {
	for k, v := range f.Header {
		w.Header().Set(k, v)
	}
	w.WriteHeader(f.Status)
	body := f.Body
	if body == "" {
		b, _ := json.Marshal(map[string]string{"message": f.Message})
		body = string(b)
	}
	io.WriteString(w, body)
}

func (s *Server) route(r *request) {
	if r.is("GET", "user") {
		s.user(r)
		return
	}
	if r.is("POST", "graphql") {
		s.graphQL(r)
		return
	}
	if r.is("GET", "orgs", "*", "teams", "*", "members") {
		s.team(r)
		return
	}
	if len(r.path) < 3 || r.path[0] != "repos" || !strings.EqualFold(r.path[1], s.Owner) ||
		!strings.EqualFold(r.path[2], s.Name) {
		r.notFound()
		return
	}
	r.path = r.path[3:]
	switch {
	case r.is("GET"), r.is("PATCH"):
		s.repository(r)
	case r.is("GET", "actions", "permissions", "workflow"), r.is("PUT", "actions", "permissions", "workflow"):
		s.workflowToken(r)
	case r.is("GET", "collaborators"):
		s.collaborators(r)
	case r.is("GET", "codeowners", "errors"):
		r.send(http.StatusOK, map[string]any{"errors": append([]map[string]any{}, s.OwnerErrors...)})
	case r.is("GET", "pulls"):
		s.listPulls(r)
	case r.is("GET", "pulls", "*"):
		s.pull(r)
	case r.is("GET", "pulls", "*", "reviews"), r.is("GET", "pulls", "*", "commits"):
		s.pullList(r)
	case r.is("GET", "pulls", "*", "files"):
		s.files(r)
	case r.is("GET", "commits"):
		s.newest(r)
	case r.is("POST", "issues", "*", "labels"), r.is("DELETE", "issues", "*", "labels", "*"):
		s.pullLabels(r)
	case r.is("GET", "compare", "*"):
		s.comparison(r)
	case r.is("GET", "issues", "*"):
		s.issue(r)
	case r.is("GET", "git", "commits", "*"):
		s.commit(r)
	case r.is("GET", "issues", "*", "comments"), r.is("POST", "issues", "*", "comments"):
		s.issueComments(r)
	case r.is("PATCH", "issues", "comments", "*"):
		s.editComment(r)
	case r.is("GET", "issues"), r.is("POST", "issues"):
		s.issueList(r)
	case r.is("PATCH", "issues", "*"):
		s.editIssue(r)
	case r.is("GET", "labels", "*"):
		s.label(r)
	case r.is("GET", "actions", "runs"):
		s.runList(r)
	case r.is("POST", "actions", "runs", "*", "rerun-failed-jobs"):
		s.rerun(r)
	case r.is("GET", "branches", "*"):
		s.branch(r)
	case r.is("GET", "branches", "*", "protection", "required_status_checks"),
		r.is("PATCH", "branches", "*", "protection", "required_status_checks"),
		r.is("DELETE", "branches", "*", "protection", "required_status_checks"):
		s.classicChecks(r)
	case r.is("GET", "branches", "*", "protection"):
		s.protection(r)
	case r.is("GET", "rules", "branches", "*"):
		s.branchRules(r)
	case r.is("GET", "rulesets"), r.is("POST", "rulesets"):
		s.rulesetList(r)
	case r.is("GET", "rulesets", "*"), r.is("PUT", "rulesets", "*"):
		s.ruleset(r)
	default:
		r.notFound()
	}
}

// is reports whether the request has that method and path; "*" matches one segment.
func (r *request) is(method string, path ...string) bool {
	if r.Method != method || len(r.path) != len(path) {
		return false
	}
	for i, part := range path {
		if part != "*" && part != r.path[i] {
			return false
		}
	}
	return true
}

func (r *request) number(i int) int64 {
	n, err := strconv.ParseInt(r.path[i], 10, 64)
	if err != nil {
		return -1
	}
	return n
}

func (r *request) send(status int, v any) {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	r.w.WriteHeader(status)
	r.w.Write(b)
}

func (r *request) fail(status int, message string, errors ...any) {
	body := map[string]any{"message": message, "documentation_url": "https://docs.example.org/rest",
		"status": strconv.Itoa(status)}
	if len(errors) > 0 {
		body["errors"] = errors
	}
	r.send(status, body)
}

func (r *request) notFound() { r.fail(http.StatusNotFound, "Not Found") }

// refuse answers as GitHub does if a token lacks a permission: it says so to installation tokens, others see nothing
// there.
func (r *request) refuse() {
	if r.access.App {
		r.fail(http.StatusForbidden, "Resource not accessible by integration")
		return
	}
	r.notFound()
}

func (r *request) decode(v any) bool {
	if err := json.NewDecoder(io.LimitReader(r.Body, 1<<20)).Decode(v); err != nil {
		r.fail(http.StatusBadRequest, "Problems parsing JSON")
		return false
	}
	return true
}

// page sends the page of all that the request asks for, with a Link header.
func page[T any](s *Server, r *request, all []T) {
	r.send(http.StatusOK, pageOf(s, r, all))
}

// pageOf sets the links of the page that is asked for, and returns its elements.
func pageOf[T any](s *Server, r *request, all []T) []T {
	q := r.URL.Query()
	per, err := strconv.Atoi(q.Get("per_page"))
	if err != nil || per < 1 {
		per = 30
	}
	if per = min(per, 100); s.PageCap > 0 {
		per = min(per, s.PageCap)
	}
	n, err := strconv.Atoi(q.Get("page"))
	if err != nil || n < 1 {
		n = 1
	}
	last := max((len(all)+per-1)/per, 1)
	var links []string
	link := func(n int, rel string) {
		q.Set("page", strconv.Itoa(n))
		links = append(links, fmt.Sprintf("<%s%s?%s>; rel=%q", s.URL, r.URL.EscapedPath(), q.Encode(), rel))
	}
	if n > 1 {
		link(n-1, "prev")
	}
	if n < last {
		link(n+1, "next")
		link(last, "last")
	}
	if n > 1 {
		link(1, "first")
	}
	if links != nil {
		r.w.Header().Set("Link", strings.Join(links, ", "))
	}
	from := min((n-1)*per, len(all))
	return append([]T{}, all[from:min(from+per, len(all))]...)
}
