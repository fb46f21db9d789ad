package forge

import (
	"context"
	"errors"
	"fmt"
	"net/http"
)

// WorkflowToken is what the forge lets the token of a workflow do in the repository, if the workflow does not say.
type WorkflowToken struct {
	Default    string `json:"default_workflow_permissions"`     // "read" or "write"
	MayApprove *bool  `json:"can_approve_pull_request_reviews"` // of pull requests
}

// safeToken is the only WorkflowToken that RFC 0026 section 7 leaves: reviews are the Maintainers'.
var safeToken = map[string]any{"default_workflow_permissions": "read", "can_approve_pull_request_reviews": false}

const tokenSettings = "actions/permissions/workflow"

// readWorkflowToken reads WorkflowToken, or why the token cannot.
func (s *Standing) readWorkflowToken(ctx context.Context, c *Client) error {
	const op = "reading the permissions of workflows"
	var w WorkflowToken
	_, err := c.Call(ctx, op, http.MethodGet, tokenSettings, nil, &w)
	wrong := err == nil && (w.Default != "read" && w.Default != "write" || w.MayApprove == nil)
	e, failed := errors.AsType[*Error](err)
	switch {
	case wrong, failed && e.unreadable:
		s.WorkflowsUnread = op + ": the answer is not the settings of workflows"
	case unreadable(err):
		s.WorkflowsUnread = err.Error()
	case err != nil:
		return err
	default:
		s.Workflows = &w
	}
	return nil
}

// differences returns what the settings allow and RFC 0026 section 7 does not. A nil w has none.
func (w *WorkflowToken) differences() (all []Difference) {
	if w != nil && *w.MayApprove {
		all = append(all, Difference{PathWorkflowsMayApprove, Missing, "true", "false"})
	}
	if w != nil && w.Default != "read" {
		all = append(all, Difference{PathWorkflowToken, Missing, w.Default, "read"})
	}
	return all
}

// The paths of differences that are not members of a repo-config.
const (
	PathWorkflowsMayApprove = "workflows_may_approve"
	PathWorkflowToken       = "workflow_token"
)

// OfWorkflows reports whether the difference is one of the settings of workflows.
func (d Difference) OfWorkflows() bool {
	return d.Path == PathWorkflowsMayApprove || d.Path == PathWorkflowToken
}

// restrictWorkflows sets both settings. The error wraps ErrOrganization if the organization decides them.
func (c *Client) restrictWorkflows(ctx context.Context) error {
	const op = "restricting the token of workflows"
	response, err := c.Call(ctx, op, http.MethodPut, tokenSettings, safeToken, nil)
	if err != nil && response != nil && response.StatusCode == http.StatusConflict {
		return fmt.Errorf("%w: %w", ErrOrganization, err)
	}
	return err
}

// ErrOrganization means that a setting cannot be changed in the repository.
var ErrOrganization = errors.New("the organization decides the setting")
