package evidence

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/signature"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// Digest returns the SHA-256, in hex, of the RFC 8785 form of the array of [url, state, status, sha256] of each
// document, sorted.
func Digest(all []verdict.Evidence) string {
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
