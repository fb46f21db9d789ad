package forge

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/forge/repoconfig"
)

// Run is one run of a workflow.
type Run struct {
	ID         int64     `json:"id"`
	Path       string    `json:"path"`
	Event      string    `json:"event"`
	Head       string    `json:"head_sha"`
	Status     string    `json:"status"`
	Conclusion string    `json:"conclusion"`
	Attempt    int       `json:"run_attempt"`
	Created    time.Time `json:"created_at"`
	Started    time.Time `json:"run_started_at"` // start of the last attempt
	Updated    time.Time `json:"updated_at"`     // end of the last attempt, if that has ended
}

// Runs returns the runs of a workflow on a commit that an event started, or any event if it is empty. A commit with
// more runs than fit on one page is an error, because the newest one is unknown then.
func (c *Client) Runs(ctx context.Context, workflow, head, event string) ([]Run, error) {
	var list struct {
		Total int   `json:"total_count"`
		Runs  []Run `json:"workflow_runs"`
	}
	op := "listing the runs on " + head
	query := "actions/runs?per_page=100&head_sha=" + url.QueryEscape(head)
	if event != "" {
		query += "&event=" + event
	}
	_, err := c.Call(ctx, op, http.MethodGet, query, nil, &list)
	if err == nil && list.Total > len(list.Runs) {
		err = &Error{Op: op, Kind: ErrUnavailable, Err: ErrEndless}
	}
	return slices.DeleteFunc(list.Runs, func(r Run) bool {
		path, _, _ := strings.Cut(r.Path, "@") // behind it the forge may name the ref
		return path != workflow || r.Head != head || event != "" && r.Event != event
	}), err
}

// NewestRun returns the run that was created last, or nil.
func NewestRun(runs []Run) *Run {
	if len(runs) == 0 {
		return nil
	}
	newest := slices.MaxFunc(runs, func(a, b Run) int {
		return cmp.Or(a.Created.Compare(b.Created), cmp.Compare(a.ID, b.ID))
	})
	return &newest
}

// InForce returns what the rulesets in force demand of a branch. Everyone who may read the repository sees it.
func (c *Client) InForce(ctx context.Context, branch string) (repoconfig.Protection, error) {
	var s Standing
	var l Layer
	for r, err := range c.branchRules(ctx, branch) {
		if err == nil {
			err = s.addRule(&l, r.rule)
		}
		if err != nil {
			return l.Protection, err
		}
	}
	return l.Protection, nil
}
