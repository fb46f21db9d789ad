package ghtest

import (
	"net/http"
	"strconv"
	"strings"
)

// graphQL answers the two documents of auto-merge: it reads a pull request, and enables or disables its auto-merge. It
// refuses a head that has moved, and what could be merged at once.
func (s *Server) graphQL(r *request) {
	var sent struct {
		Query     string
		Variables struct {
			Number   int
			ID, Head string
			On       bool
		}
	}
	if !r.decode(&sent) {
		return
	}
	v := sent.Variables
	refuse := func(kind, message string) {
		r.send(http.StatusOK, map[string]any{"data": nil, "errors": []map[string]string{{"type": kind,
			"message": message}}})
	}
	number := v.Number
	if change := strings.HasPrefix(sent.Query, "mutation"); change {
		number, _ = strconv.Atoi(strings.TrimPrefix(v.ID, "PR_"))
	}
	p := s.pullByNumber(int64(number))
	switch {
	case p == nil:
		refuse("NOT_FOUND", "Could not resolve to a PullRequest.")
	case strings.HasPrefix(sent.Query, "query"):
		var request any
		if p.Merging != "" {
			request = map[string]any{"enabledBy": map[string]string{"login": p.Merging}}
		}
		r.send(http.StatusOK, map[string]any{"data": map[string]any{
			"viewer": map[string]string{"login": r.access.Login},
			"repository": map[string]any{"squashMergeAllowed": !s.OnlyRebase, "pullRequest": map[string]any{
				"id": "PR_" + strconv.Itoa(p.Number), "headRefOid": p.Head, "autoMergeRequest": request}}}})
	case !r.access.Comment:
		refuse("FORBIDDEN", "Resource not accessible by integration")
	case v.On && v.Head != p.Head:
		refuse("UNPROCESSABLE", "Head sha didn't match expected head.")
	case v.On && p.Clean:
		refuse("UNPROCESSABLE", "Pull request Pull request is in clean status")
	default:
		p.Merging = ""
		if v.On {
			p.Merging = strings.TrimSuffix(r.access.Login, "[bot]")
		}
		s.changes = append(s.changes, strconv.Itoa(p.Number)+" "+strconv.FormatBool(v.On))
		r.send(http.StatusOK, map[string]any{"data": map[string]any{}})
	}
}

// AutoMerges returns the changes of auto-merge so far, as "7 true".
func (s *Server) AutoMerges() (all []string) {
	s.with(func() { all = append(all, s.changes...) })
	return all
}
