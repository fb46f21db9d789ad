package forge

import (
	"fmt"

	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict/capped"
)

// maxEvent is the size of an event file in bytes.
const maxEvent = 32 << 20

// AuditEvents are the workflow events that ask for an audit: they name no range.
var AuditEvents = []string{"schedule", "workflow_dispatch"}

// PullEvents are those that hold a pull request.
var PullEvents = []string{"pull_request", "pull_request_review", "pull_request_target"}

// ReadEvent reads the payload of a workflow's event.
func ReadEvent(path string) (any, error) {
	data, err := capped.ReadFile(path, maxEvent)
	if err != nil {
		return nil, fmt.Errorf("reading the event file: %w", err)
	}
	doc, err := strict.Parse(path, data, strict.Limits{Bytes: maxEvent, Depth: 200, Number: 400})
	if err != nil {
		return nil, fmt.Errorf("reading the event file: %w", err)
	}
	return doc.Root, nil
}
