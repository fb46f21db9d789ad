package checks

import (
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/fixture"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// An anchor that names another scheme is wrong for ever; what its URL leads to may change.
func TestAnchorScheme(t *testing.T) {
	for _, c := range []struct {
		uri, code string
		want      verdict.Basis
	}{
		{"http://ada.example/flow.json", evidence.CodeScheme, verdict.Text},
		{"https://ada.example/flow.json", evidence.CodeScheme, verdict.World},
		{"https://ada.example/flow.json", evidence.CodeHTTPStatus, verdict.World},
	} {
		s := &Subject{Run: &Run{Base: emptyStanding(nil), Now: fixture.Clock, Asks: OfHead,
			Range: &registry.Range{Head: &registry.Tree{}}},
			Path: "workflow-anchors/flow.json",
			Anchor: &registry.Anchor{WorkflowID: "wf_1", CoordinatorDID: "did:web:ada.example", ReceiptURI: c.uri,
				Anchored: fixture.Clock},
			Facts: &evidence.Facts{}}
		s.Facts.DIDDocument.State = evidence.Obtained
		s.Facts.CrossMatch.State, s.Facts.CrossMatch.Code = evidence.Absent, c.code
		out := must.Get(runWorkflowAnchors(s))(t)
		if f := out.Findings; len(f) != 1 || f[0].Code != c.code || f[0].Basis != c.want {
			t.Errorf("%s, %s: %v; expected it to rest on %v", c.uri, c.code, f, c.want)
		}
	}
}
