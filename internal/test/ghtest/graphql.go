package ghtest

import (
	"strconv"
	"strings"
)

// graphQL answers the two documents of auto-merge: it reads a pull request, and enables or disables its auto-merge. It
// refuses a head that has moved, and what could be merged at once.
func (s *Server) graphQL(r *request) answer {
	var sent struct {
		Query     string
		Variables struct {
			Number   int64
			ID, Head string
			On       bool
		}
	}
	if !r.decode(&sent) {
		return noJSON
	}
	refuse := func(kind, message string) answer {
		return ok(map[string]any{"data": nil, "errors": []map[string]string{{"type": kind, "message": message}}})
	}
	v, reads := sent.Variables, strings.HasPrefix(sent.Query, "query")
	if !reads {
		v.Number, _ = strconv.ParseInt(strings.TrimPrefix(v.ID, "PR_"), 10, 64)
	}
	p := s.pullByNumber(v.Number)
	switch {
	case p == nil:
		return refuse("NOT_FOUND", "Could not resolve to a PullRequest.")
	case reads:
		var request any
		if p.Merging != "" {
			request = map[string]any{"enabledBy": map[string]string{"login": p.Merging}}
		}
		return ok(map[string]any{"data": map[string]any{"viewer": map[string]string{"login": r.access.Login},
			"repository": map[string]any{"squashMergeAllowed": !s.OnlyRebase, "pullRequest": map[string]any{
				"id": "PR_" + strconv.Itoa(p.Number), "headRefOid": p.Head, "autoMergeRequest": request}}}})
	case !r.access.Comment:
		return refuse("FORBIDDEN", "Resource not accessible by integration")
	case v.On && v.Head != p.Head:
		return refuse("UNPROCESSABLE", "Head sha didn't match expected head.")
	case v.On && p.Clean:
		return refuse("UNPROCESSABLE", "Pull request Pull request is in clean status")
	}
	if p.Merging = ""; v.On {
		p.Merging = strings.TrimSuffix(r.access.Login, "[bot]")
	}
	s.changes = append(s.changes, strconv.Itoa(p.Number)+" "+strconv.FormatBool(v.On))
	return ok(map[string]any{"data": map[string]any{}})
}

// AutoMerges returns the changes of auto-merge so far, as "7 true".
func (s *Server) AutoMerges() []string { return copied(s, &s.changes) }
