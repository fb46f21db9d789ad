package ghtest

import (
	"encoding/json"
	"net/http"
	"strings"
)

// AddReview adds a review of a pull request, a JSON object as GitHub lists it.
func (s *Server) AddReview(pull int, text string) { s.listAt(pull, "reviews", text) }

// AddPullCommit adds a commit of a pull request by its author's and its committer's login, which may be empty.
func (s *Server) AddPullCommit(pull int, author, committer string) {
	account := func(login string) string {
		if login == "" {
			return "null"
		}
		text, _ := json.Marshal(map[string]string{"login": login})
		return string(text)
	}
	s.listAt(pull, "commits", `{"author": `+account(author)+`, "committer": `+account(committer)+`}`)
}

func (s *Server) listAt(pull int, list, text string) {
	if !json.Valid([]byte(text)) {
		panic("no JSON: " + text)
	}
	s.with(func() {
		if s.lists == nil {
			s.lists = map[int64]map[string][]json.RawMessage{}
		}
		if s.lists[int64(pull)] == nil {
			s.lists[int64(pull)] = map[string][]json.RawMessage{}
		}
		s.lists[int64(pull)][list] = append(s.lists[int64(pull)][list], json.RawMessage(text))
	})
}

// SetLabels makes an issue with these labels.
func (s *Server) SetLabels(issue int, labels ...string) {
	s.with(func() {
		if s.labels == nil {
			s.labels = map[int64][]string{}
		}
		s.labels[int64(issue)] = labels
	})
}

// pullList sends the reviews or the commits of a pull request.
func (s *Server) pullList(r *request) {
	number := r.number(1)
	for _, p := range s.pulls {
		if int64(p.Number) == number {
			all := s.lists[number][r.path[2]]
			if r.path[2] == "commits" {
				all = all[:min(len(all), maxPullCommits)]
			}
			page(s, r, all)
			return
		}
	}
	r.notFound()
}

// maxPullCommits is how many commits of a pull request GitHub lists.
const maxPullCommits = 250

// comparison sends the commits between a base and the head of a pull request.
func (s *Server) comparison(r *request) {
	base, head, _ := strings.Cut(r.path[1], "...")
	for _, p := range s.pulls {
		if p.Head == head {
			all := s.lists[int64(p.Number)]["commits"]
			r.send(http.StatusOK, map[string]any{"total_commits": len(all), "commits": pageOf(s, r, all)})
			return
		}
	}
	switch _, known := s.parents[base]; {
	case head != s.DefaultBranch:
		r.notFound()
	case known:
		r.send(http.StatusOK, map[string]any{"status": "ahead"})
	default:
		r.send(http.StatusOK, map[string]any{"status": "diverged"})
	}
}

func (s *Server) issue(r *request) {
	labels, found := s.labels[r.number(1)]
	if !found {
		r.notFound()
		return
	}
	list := []map[string]string{}
	for _, l := range labels {
		list = append(list, map[string]string{"name": l, "color": strings.Repeat("0", 6)})
	}
	r.send(http.StatusOK, map[string]any{"number": r.number(1), "labels": list})
}
