package verify

import (
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence/bundle"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence/sources"
)

// Files returns a source that answers with given documents, by their names, and fetches nothing: each other request is
// Unavailable, with CodeNotGiven. A document over its cap is Invalid, with CodeTooLarge.
func Files(now time.Time, given map[string][]byte) evidence.Source {
	return (&bundle.Bundle{Now: now.UTC()}).SourceOr(func(r evidence.Request) evidence.Observation {
		body, there := given[r.Target]
		switch {
		case r.Protocol != evidence.File:
			return sources.Refuse(evidence.Unavailable, evidence.CodeNotGiven,
				"%s was not fetched, since documents were given as files", r).Observation(r)
		case !there:
			return sources.Refuse(evidence.Unavailable, evidence.CodeNotGiven,
				"no file was given with --%s", r.Target).Observation(r)
		case int64(len(body)) > r.MaxBytes:
			return sources.TooLarge(r.MaxBytes).Observation(r)
		}
		return evidence.Observation{Request: r, State: evidence.Obtained, SHA256: plain.SHA256(body), Body: body,
			Attempts: 1}
	})
}
