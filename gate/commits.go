package gate

import (
	"slices"
	"strings"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

const (
	maxCommits = 200 // that a report tells of
	maxSubject = 100 // characters
)

// nameCommits tells of the commits that the report names, in the order of their ids. One that cannot be read is left
// out: what that means was judged elsewhere.
func nameCommits(rep *verdict.Report, repo *registry.Repository) {
	ids := []string{rep.Base, rep.Head, rep.MergeBase}
	if rep.History != nil {
		ids = append(ids, rep.History.Checkpoint)
	}
	for r := range rep.Results.All() {
		if len(ids) >= maxCommits {
			break
		}
		for _, f := range r.Findings {
			if len(ids) < maxCommits {
				ids = append(ids, f.Commit)
			}
		}
	}
	slices.Sort(ids)
	for _, id := range slices.Compact(ids) {
		if id == "" {
			continue
		}
		c, err := repo.CommitObject(id)
		if err != nil {
			continue
		}
		subject, _, _ := strings.Cut(strings.ToValidUTF8(strings.TrimSpace(string(c.Message)), "\uFFFD"), "\n")
		subject = plain.Cut(subject, maxSubject)
		rep.Commits = append(rep.Commits, verdict.Commit{ID: id, Time: time.Unix(c.When, 0).UTC(), Subject: subject})
	}
}
