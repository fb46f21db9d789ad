package evidence_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence/bundle"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// One target leads to at most so many documents, whatever its Receipt names; which ones does not hang on time.
func TestCollectTargetBounded(t *testing.T) {
	var peers strings.Builder
	for i := range evidence.MaxWitnesses {
		fmt.Fprintf(&peers, `{"witness_did":"did:web:w%d.example:a"},`, i)
	}
	receipt := `{"claimed_levels":["L5"],"peer_witnesses":[` + strings.TrimSuffix(peers.String(), ",") + `]}`
	b := &bundle.Bundle{Now: time.Unix(0, 0), Observations: []evidence.Observation{{
		Request: file(evidence.FileReceipt, evidence.MaxReceipt), State: evidence.Obtained, Body: []byte(receipt)}}}
	var maintainers []string
	for i := range 40 {
		maintainers = append(maintainers, fmt.Sprintf("did:web:m%d.example", i))
	}
	for _, c := range []struct {
		independence bool
		maintainers  []string
	}{{true, nil}, {false, nil}, {true, maintainers}} {
		src := b.Source()
		facts := evidence.CollectTarget(t.Context(), src, evidence.Target{
			Manifest: file(evidence.FileManifest, evidence.MaxManifest),
			Receipt:  file(evidence.FileReceipt, evidence.MaxReceipt)},
			func(*evidence.Facts) (string, bool, evidence.Wanted) {
				var kinds evidence.Set
				return "did:web:tool.example:a", c.independence, evidence.Wanted{
					Kinds: kinds.With(evidence.Witnesses), MaxDocuments: 50, Maintainers: c.maintainers,
					Listed: func(did string) *registry.Listing {
						return &registry.Listing{ToolDID: did, ManifestURI: "https://" + did[8:11] + ".example/m",
							ReceiptURI: "https://" + did[8:11] + ".example/r"}
					},
					ReferenceServer: func(string) bool { return true }}
			})
		if n := len(src.Observations()); n > 50 || n < 25 {
			t.Errorf("independence %v, %d maintainers: %d documents, want some and at most 50", c.independence,
				len(c.maintainers), n)
		}
		if len(facts.Witnesses) == 0 && c.maintainers == nil {
			t.Error("no witness was looked for")
		}
	}
}

func file(name string, most int64) evidence.Request {
	return evidence.Request{Protocol: evidence.File, Target: name, MaxBytes: most}
}

func TestIsHTTPS(t *testing.T) {
	for text, want := range map[string]bool{"https://a": true, "HTTPS://a": true, "https://": false, "http://a": false,
		"": false, "https:///r.json": false, "https://:443/r.json": false, "https://?a": false, "https:a": false,
		"//a": false, "https://[::1/r.json": false, "https://[::1]/r.json": true,
		"https://" + strings.Repeat("a", evidence.MaxURL): false} {
		if got := evidence.IsHTTPS(text); got != want {
			t.Errorf("%.20q: %v", text, got)
		}
	}
}
