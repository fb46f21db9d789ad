// Package upkeep does at the forge what a registry's maintainers would otherwise be asked for: it reminds of listings
// that end, and runs the gate again once time alone may have changed its verdict. It touches nothing that it did not
// make.
package upkeep

import (
	"context"
	"fmt"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/forge"
)

// MaxChanges is how many changes one run makes; the next one goes on.
const MaxChanges = 50

// Change is one request that changes something at the forge.
type Change struct {
	Text   string // for people, one line
	Method string
	Path   string // below the repository
	Body   any
}

// Apply makes the first MaxChanges of a plan, in order, and tells each that was made. After each it waits, since the
// forge limits how fast content is made. The error is a *forge.Error; what was told was made.
func Apply(ctx context.Context, c *forge.Client, plan []Change, wait time.Duration, made func(Change)) error {
	for i, change := range plan[:min(len(plan), MaxChanges)] {
		if i > 0 {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(wait):
			}
		}
		if _, err := c.Call(ctx, change.Text, change.Method, change.Path, change.Body, nil); err != nil {
			return err
		}
		made(change)
	}
	return nil
}

func date(t time.Time) string { return t.UTC().Format(time.DateOnly) }

func issuePath(number int) string { return fmt.Sprintf("issues/%d", number) }
