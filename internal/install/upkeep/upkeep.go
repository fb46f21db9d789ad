// Package upkeep reminds owners of listings that end, and runs the gate again once time alone may have changed its
// verdict. Otherwise a registry's maintainers would do both at the forge. It touches nothing that it did not make.
package upkeep

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/forge"
)

// MaxChanges is how many changes one run makes; the next one continues.
const MaxChanges = 50

// Plan is what a run found and what it would change.
type Plan struct {
	Changes []Change
	Looked  string // what was looked at, for people, one line
}

// Change is one request that changes something at the forge.
type Change struct {
	Text   string // for people, one line
	Method string
	Path   string // below the repository
	Body   any

	holds func(forge.Author) error // whether the next run will know for its own what was made; nil: nothing was
}

// Apply makes the changes of a plan in their order until MaxChanges were made, and passes each to report. After each it
// waits, since the forge limits how fast content is created. A change that the forge refuses is reported with the
// reason and does not prevent the others: it may be refused permanently. After MaxChanges refusals Apply ends. The
// error is the first refusal, or what ended Apply: a *forge.Error, or that the writer's own change is not recognized.
func Apply(ctx context.Context, c *forge.Client, plan []Change, wait time.Duration, report func(Change, error)) error {
	var first error
	made, refused := 0, 0
	for i, change := range plan {
		if made == MaxChanges || refused == MaxChanges {
			break
		}
		if i > 0 {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(wait):
			}
		}
		var author forge.Author
		_, err := c.Call(ctx, change.Text, change.Method, change.Path, change.Body, &author)
		switch {
		case err == nil:
			made++
			report(change, nil)
		case forge.Temporary(err) || errors.Is(err, forge.ErrUnauthorized):
			return err
		default:
			if refused++; first == nil {
				first = err
			}
			report(change, err)
			continue
		}
		if change.holds != nil {
			if err := change.holds(author); err != nil {
				return err
			}
		}
	}
	return first
}

func date(t time.Time) string { return t.UTC().Format(time.DateOnly) }

func issuePath(number int) string { return fmt.Sprintf("issues/%d", number) }
