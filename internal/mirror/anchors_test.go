package mirror_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence/sources"
	"github.com/openagentprotocol-OAP/oap-gate/internal/judge"
	"github.com/openagentprotocol-OAP/oap-gate/internal/mirror"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/fixture"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// TestAnchorsOfOneWorkflow checks that of several anchors of one workflow each is told of another, in a whole audit and
// in shards that do not judge that other one.
func TestAnchorsOfOneWorkflow(t *testing.T) {
	made := must.Get(fixture.NewRepo(filepath.Join(t.TempDir(), "registry")))(t)
	const uri = "https://a.example/receipt.json"
	for _, slug := range []string{"first", "middle", "last"} {
		made.Write("workflow-anchors/"+slug+".json", fmt.Appendf(nil, `{"slug":%q,"workflow_id":"wf_%026d",
"workflow_manifest_id":"wfm_%026d","workflow_type":"procurement","coordinator_did":"did:web:a.example",
"cross_match_receipt_uri":%q,"cross_match_receipt_sha256":"%064x","anchored_at":"2026-05-01T00:00:00Z",
"merkle_root":"sha256:%064x"}`, slug, 1, 2, uri, 3, 4))
	}
	made.Commit("anchors", fixture.Clock.AddDate(0, 0, -1))
	must.OK(t, made.Sync())
	repo := must.Get(registry.Open(made.Dir))(t)
	defer repo.Close()
	head := must.Get(repo.Resolve("main"))(t)
	want := map[string]string{"first": "middle", "last": "middle", "middle": "first"}
	for _, of := range []int{1, 2, 3} {
		outcome := 0
		for part := range of {
			// Nothing can be had, and yet this much is judged.
			rep := must.Get(mirror.Audit(t.Context(), repo, head, sources.Offline(fixture.Clock, 0),
				mirror.AuditConfig{Shard: part + 1, Of: of,
					Config: judge.Config{Selected: func(id string) bool { return id == "workflow-anchors" }}}))(t)
			for r := range rep.Results.All() {
				slug := strings.TrimSuffix(filepath.Base(r.Subject), ".json")
				for _, f := range r.Findings {
					if f.Code != "workflow-anchored-twice" {
						continue
					}
					outcome++
					if !strings.Contains(f.Message, "/"+want[slug]+".json already") {
						t.Errorf("%s, %d of %d: %s", slug, part+1, of, f.Message)
					}
				}
			}
		}
		if outcome != 3 {
			t.Errorf("%d shards: %d of 3 anchors are told of another", of, outcome)
		}
	}
}
