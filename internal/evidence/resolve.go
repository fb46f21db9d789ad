package evidence

import (
	"context"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/did"
)

// Resolve seeks the DID Document of a DID as it is to be read at a time, with every fallback that a listing's has.
func Resolve(ctx context.Context, s Source, id string, at time.Time) Result[*did.Document] {
	c := &collector{ctx: ctx, s: s}
	doc, _ := c.didDocument(id, at)
	return doc
}
