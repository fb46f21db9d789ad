package evidence_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence/bundle"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence/sources"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// TestVouchersBounded checks that one target leads to at most so many documents, whatever its Receipt names; which ones
// does not hang on time.
func TestVouchersBounded(t *testing.T) {
	var peers strings.Builder
	for i := range evidence.MaxWitnesses {
		fmt.Fprintf(&peers, `{"witness_did":"did:web:w%d.example:a"},`, i)
	}
	receipt := `{"claimed_levels":["L5"],"peer_witnesses":[` + strings.TrimSuffix(peers.String(), ",") + `]}`
	b := &bundle.Bundle{Now: time.Unix(0, 0), Observations: []evidence.Observation{{
		Request: file(sources.FileReceipt, evidence.MaxReceipt), State: evidence.Obtained, Body: []byte(receipt)}}}
	var maintainers []string
	for i := range 40 {
		maintainers = append(maintainers, fmt.Sprintf("did:web:m%d.example", i))
	}
	for _, c := range []struct {
		independence bool
		maintainers  []string
	}{{true, nil}, {false, nil}, {true, maintainers}} {
		src := b.Source()
		collector, facts := evidence.NewCollector(t.Context(), src, nil), &evidence.Facts{}
		collector.Manifest(file(sources.FileManifest, evidence.MaxManifest))
		at := file(sources.FileReceipt, evidence.MaxReceipt)
		facts.ReceiptText, facts.Receipt = collector.Receipt(at, evidence.Ask(t.Context(), src, at).SHA256)
		collector.DIDDocument("did:web:tool.example:a", time.Time{})
		var kinds evidence.Set
		collector.Vouchers(facts, evidence.Wanted{
			Kinds: kinds.With(evidence.Witnesses), MaxDocuments: 50, Maintainers: c.maintainers,
			Listed: func(did string) *registry.Listing {
				return &registry.Listing{ToolDID: did, ManifestURI: "https://" + did[8:11] + ".example/m",
					ReceiptURI: "https://" + did[8:11] + ".example/r"}
			},
			ReferenceServer: func(string) bool { return true }}, c.independence)
		collector.Wait()
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
