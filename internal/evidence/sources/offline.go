package sources

import (
	"context"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence"
)

// Offline returns a source that asks nobody: each observation is Unsought, with CodeOffline, and none is kept. The
// budget is as in live.Options.
func Offline(now time.Time, budget time.Duration) evidence.Source {
	return &offline{now.UTC(), NewBudget(budget)}
}

type offline struct {
	now time.Time
	*Budget
}

func (o *offline) Now() time.Time { return o.now }

func (o *offline) Observe(_ context.Context, r evidence.Request) evidence.Observation {
	return Refuse(evidence.Unsought, evidence.CodeOffline, "nothing was asked").Observation(Canonical(r))
}

func (o *offline) Observations() []evidence.Observation { return nil }
