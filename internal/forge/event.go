package forge

import (
	"bytes"
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

// ReadEvent reads the payload of a workflow's event, which may begin with a byte order mark.
func ReadEvent(path string) (any, error) {
	data, err := capped.ReadFile(path, maxEvent)
	if err != nil {
		return nil, fmt.Errorf("reading the event file: %w", err)
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	doc, err := strict.Parse(path, data, strict.Limits{Bytes: maxEvent, Depth: 200, Number: 400})
	if err != nil {
		return nil, fmt.Errorf("the event file is not JSON: %w", err)
	}
	return doc.Root, nil
}
