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
	mux      *http.ServeMux
	tokens   map[string]Access
	pulls    []Pull
	parents  map[string][]string
	comments []Comment
	changes  []string           // changes of auto-merge
	authors  map[string]Author  // authors of the newest commit, by path
	reviews  map[int64][]any    // by pull request
	commits  map[int64][]any    // by pull request
	labels   map[int64][]string // by issue
	rulesets []map[string]any
	classic  map[string]map[string]any // by branch
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
		classic: map[string]map[string]any{}, reviews: map[int64][]any{}, commits: map[int64][]any{},
		labels: map[int64][]string{}, mux: http.NewServeMux()}
	for pattern, answer := range s.routes() {
		s.mux.HandleFunc(pattern, func(w http.ResponseWriter, hr *http.Request) {
			r := &request{hr, s.tokens[bearer(hr)]}
			given := notFound
			if owner, name := r.PathValue("owner"), r.PathValue("name"); owner+name == "" ||
				strings.EqualFold(owner, s.Owner) && strings.EqualFold(name, s.Name) {
				given = answer(r)
			}
			given.send(w)
		})
	}
	s.http = httptest.NewServer(http.HandlerFunc(s.serve))
	s.URL = s.http.URL
	return s
}

// routes returns what answers each kind of request.
func (s *Server) routes() map[string]func(*request) answer {
	all := map[string]func(*request) answer{"/": func(*request) answer { return notFound }, "GET /user": s.user,
		"POST /graphql": s.graphQL, "GET /orgs/{org}/teams/{team}/members": s.team}
	for pattern, answer := range map[string]func(*request) answer{
		"GET ":                                      s.repository,
		"PATCH ":                                    administering(s.editRepository),
		"GET /actions/permissions/workflow":         administering(s.workflowToken),
		"PUT /actions/permissions/workflow":         administering(s.setWorkflowToken),
		"GET /collaborators":                        administering(s.collaborators),
		"GET /codeowners/errors":                    s.ownerErrors,
		"GET /pulls":                                s.listPulls,
		"GET /pulls/{number}":                       s.ofPull(s.pull),
		"GET /pulls/{number}/reviews":               s.ofPull(s.listReviews),
		"GET /pulls/{number}/commits":               s.ofPull(s.listCommits),
		"GET /pulls/{number}/files":                 s.ofPull(s.files),
		"GET /commits":                              s.newest,
		"GET /git/commits/{sha}":                    s.commit,
		"GET /compare/{range}":                      s.comparison,
		"GET /branches/{branch}":                    s.branch,
		"GET /issues":                               s.listIssues,
		"POST /issues":                              writing(s.newIssue),
		"GET /issues/{number}":                      s.issue,
		"PATCH /issues/{number}":                    writing(s.editIssue),
		"GET /issues/{number}/comments":             s.ofPull(s.listComments),
		"POST /issues/{number}/comments":            s.ofPull(s.newComment),
		"PATCH /issues/comments/{id}":               s.editComment,
		"POST /issues/{number}/labels":              s.ofPull(s.addLabels),
		"DELETE /issues/{number}/labels/{one}":      s.ofPull(s.removeLabel),
		"GET /labels/{one}":                         s.label,
		"GET /actions/runs":                         s.listRuns,
		"POST /actions/runs/{id}/rerun-failed-jobs": writing(s.rerun),
		"GET /branches/{branch}/protection":         administering(s.protection),
		"GET /branches/{branch}/protection/required_status_checks":    administering(s.classicChecks),
		"PATCH /branches/{branch}/protection/required_status_checks":  administering(s.classicChecks),
		"DELETE /branches/{branch}/protection/required_status_checks": administering(s.classicChecks),
		"GET /rules/branches/{branch}":                                s.branchRules,
		"GET /rulesets":                                               s.listRulesets,
		"POST /rulesets":                                              administering(s.newRuleset),
		"GET /rulesets/{id}":                                          s.ruleset,
		"PUT /rulesets/{id}":                                          administering(s.editRuleset),
	} {
		method, path, _ := strings.Cut(pattern, " ")
		all[method+" /repos/{owner}/{name}"+path] = answer
	}
	return all
}

// Close ends the server.
func (s *Server) Close() { s.http.Close() }

// Grant makes token known.
func (s *Server) Grant(token string, a Access) { s.with(func() { s.tokens[token] = a }) }

// Fail makes requests fail from now on; the first failure that matches answers.
func (s *Server) Fail(f Failure) { s.with(func() { s.failures = append(s.failures, &f) }) }

// FailAt makes the n-th request fail, counted from 0.
func (s *Server) FailAt(n int, f Failure) {
	f.at = n + 1
	s.Fail(f)
}

// Requests returns the requests so far, as "GET /user".
func (s *Server) Requests() []string { return copied(s, &s.requests) }

// Writes returns the requests so far that were to change something.
func (s *Server) Writes() []string {
	return slices.DeleteFunc(s.Requests(), func(r string) bool { return strings.HasPrefix(r, "GET ") })
}

func (s *Server) with(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
}

func copied[T any](s *Server, of *[]T) (all []T) {
	s.with(func() { all = slices.Clone(*of) })
	return all
}

func (s *Server) newID() int64 { s.lastID++; return s.lastID }

func bearer(r *http.Request) string {
	return strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, r.Method+" "+r.URL.EscapedPath())
	h := w.Header()
	h.Set("Content-Type", "application/json; charset=utf-8")
	h.Set("X-RateLimit-Limit", "5000")
	h.Set("X-RateLimit-Remaining", "4999")
	h.Set("X-RateLimit-Reset", "4102444800")
	for _, f := range s.failures {
		if (f.at == 0 || f.at == len(s.requests)) && f.matches(r) {
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
	if _, known := s.tokens[bearer(r)]; bearer(r) != "" && !known {
		fail(http.StatusUnauthorized, "Bad credentials").send(w)
		return
	}
	s.mux.ServeHTTP(w, r)
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
	if f.Body == "" {
		answer{status: f.Status, body: map[string]string{"message": f.Message}}.send(w)
		return
	}
	w.WriteHeader(f.Status)
	io.WriteString(w, f.Body)
}

// request is one request with what its sender may do.
type request struct {
	*http.Request
	access Access
}

// number returns the number at a wildcard of the path, or -1.
func (r *request) number(wildcard string) int64 {
	n, err := strconv.ParseInt(r.PathValue(wildcard), 10, 64)
	if err != nil {
		return -1
	}
	return n
}

// answer is what the forge answers. If body is nil, there is no body.
type answer struct {
	status int
	body   any
	link   string // header of a page
}

func (a answer) send(w http.ResponseWriter) {
	if a.link != "" {
		w.Header().Set("Link", a.link)
	}
	w.WriteHeader(a.status)
	if a.body == nil {
		return
	}
	text, err := json.Marshal(a.body)
	if err != nil {
		panic(err)
	}
	w.Write(text)
}

func ok(body any) answer { return answer{status: http.StatusOK, body: body} }

func created(body any) answer { return answer{status: http.StatusCreated, body: body} }

func fail(status int, message string, errors ...any) answer {
	body := map[string]any{"message": message, "documentation_url": "https://docs.example.org/rest",
		"status": strconv.Itoa(status)}
	if len(errors) > 0 {
		body["errors"] = errors
	}
	return answer{status: status, body: body}
}

// The refusals that need no more words.
var (
	notFound = fail(http.StatusNotFound, "Not Found")
	unknown  = fail(http.StatusUnauthorized, "Requires authentication")
	noAccess = fail(http.StatusForbidden, "Resource not accessible by integration")
	noJSON   = fail(http.StatusBadRequest, "Problems parsing JSON")
)

// refused answers as GitHub does if a token lacks a permission: it says so to installation tokens, others see nothing
// there.
func (r *request) refused() answer {
	if r.access.App {
		return noAccess
	}
	return notFound
}

// administering answers only those who may administer.
func administering(next func(*request) answer) func(*request) answer {
	return func(r *request) answer {
		if !r.access.Admin {
			return r.refused()
		}
		return next(r)
	}
}

// writing answers only those who may write.
func writing(next func(*request) answer) func(*request) answer {
	return func(r *request) answer {
		if !r.access.Comment {
			return r.refused()
		}
		return next(r)
	}
}

// ofPull answers about a pull request that is there.
func (s *Server) ofPull(next func(*request, *Pull) answer) func(*request) answer {
	return func(r *request) answer {
		if p := s.pullByNumber(r.number("number")); p != nil {
			return next(r, p)
		}
		return notFound
	}
}

func (r *request) decode(v any) bool {
	return json.NewDecoder(io.LimitReader(r.Body, 1<<20)).Decode(v) == nil
}

// page answers with the page of all that the request asks for, with a Link header.
func page[T any](s *Server, r *request, all []T) answer {
	part, link := pageOf(s, r, all)
	return answer{http.StatusOK, part, link}
}

// pageOf returns the elements of the page that is asked for, and the links to others.
func pageOf[T any](s *Server, r *request, all []T) ([]T, string) {
	q := r.URL.Query()
	asked := func(name string, otherwise int) int {
		if n, err := strconv.Atoi(q.Get(name)); err == nil && n >= 1 {
			return n
		}
		return otherwise
	}
	per, n := min(asked("per_page", 30), 100), asked("page", 1)
	if s.PageCap > 0 {
		per = min(per, s.PageCap)
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
	from := min((n-1)*per, len(all))
	return append([]T{}, all[from:min(from+per, len(all))]...), strings.Join(links, ", ")
}
