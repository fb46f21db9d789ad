package evidence

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/signature"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// Offline returns a source that asks nobody: each observation is Unsought, with CodeOffline, and none is kept. The
// budget is as in live.Options.
func Offline(now time.Time, budget time.Duration) Source {
	return &offline{now.UTC(), NewBudget(budget)}
}

type offline struct {
	now time.Time
	*Budget
}

func (o *offline) Now() time.Time { return o.now }

func (o *offline) Observe(_ context.Context, r Request) Observation {
	return Refuse(Unsought, CodeOffline, "nothing was asked").Observation(r.Canonical())
}

func (o *offline) Observations() []Observation { return nil }

// Digest returns DigestEvidence of the observations.
func Digest(all []Observation) string {
	rows := make([]verdict.Evidence, 0, len(all))
	for _, o := range all {
		rows = append(rows, o.Evidence())
	}
	return DigestEvidence(rows)
}

// DigestEvidence returns the SHA-256, in hex, of the RFC 8785 form of the array of [url, state, status, sha256] of each
// document, sorted.
func DigestEvidence(all []verdict.Evidence) string {
	all = slices.SortedFunc(slices.Values(all), func(a, b verdict.Evidence) int {
		return cmp.Or(cmp.Compare(a.URL, b.URL), cmp.Compare(a.State, b.State), cmp.Compare(a.Status, b.Status),
			cmp.Compare(a.SHA256, b.SHA256))
	})
	rows := make([]any, 0, len(all))
	for _, r := range all {
		rows = append(rows, []any{r.URL, r.State, r.Status, r.SHA256})
	}
	text, err := signature.Canonical(rows)
	if err != nil {
		panic(fmt.Sprintf("canonicalizing strings and integers: %v", err))
	}
	return plain.SHA256(text)
}
