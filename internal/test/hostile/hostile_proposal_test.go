package hostile_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/cli/oapspec"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/fixture"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

// TestHostileProposal checks that no text of a pull request, a review or a tree takes effect in what is told.
func TestHostileProposal(t *testing.T) {
	for _, payload := range slices.Sorted(maps.Keys(payloads)) {
		t.Run(payload, func(t *testing.T) {
			mark := func(place string) string {
				return strings.ReplaceAll(payloads[payload], "MARK", "pwned-"+place+".")
			}
			text := func(place string) string { return strings.Join(strings.Fields(mark(place)), " ") } // one sentence
			quote := func(s string) string { b, _ := json.Marshal(s); return string(b) }
			const why = " 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15"
			dir, head := proposed(t, map[string]string{
				"rfcs/RFC-0002-" + fileName(mark("path")) + ".md": "Memory MUST hold " + text("sentence") + "\n",
				"reference/" + fileName(mark("evidence")) + ".md": "x",
				"schemas/v1.0/" + fileName(mark("schema")) + ".json": `{"$id": ` + quote(mark("id")) + `, "$schema": ` +
					quote(mark("draft")) + `}`,
				"schemas/v1.0/a.json": `{"$id": "https://x.example/schemas/v1.0/a.json", "type": "object", "title": "x", "properties": {` +
					quote(mark("member")) + `: {"description": ` + quote("MUST "+mark("description")) + `}}}`,
			})
			approval := func(login, role, commit string) string {
				return fmt.Sprintf(`{"user": {"login": %q, "type": "User"}, "state": "APPROVED", "commit_id": %s,
					"body": "Charter Review Gate cleared", "submitted_at": "2026-06-01T10:00:00Z",
					"author_association": %s}`, login, quote(commit), quote(role))
			}
			list := "[" + approval("ann", "MEMBER", head) + "," + approval("bob", "MEMBER", mark("commit")) + "," +
				approval("cyd", mark("role"), head) + "]"
			reviews := filepath.Join(t.TempDir(), "reviews.json")
			must.OK(t, os.WriteFile(reviews, []byte(list), 0o644))
			event := filepath.Join(t.TempDir(), "event.json")
			tell := func(dir, head, body string, more ...string) string {
				payload := fmt.Sprintf(
					`{"pull_request": {"number": 7, "body": %s, "user": {"login": %s}, "head": {"sha": %q},
					"base": {"ref": "release"}, "labels": [{"name": %s}, {"name": "charter-affecting"}]}}`, quote(body),
					quote(mark("opener")), head,
					quote(mark("label")))
				must.OK(t, os.WriteFile(event, []byte(payload), 0o644))
				args := append([]string{"oap-spec", "governance", "--repo", dir, "--base", "merge^1", "--head", "merge",
					"--pr", event, "--reviews", reviews}, more...)
				return inEveryFormat(t, oapspec.Program.Formats, args, nil, nil)
			}
			told := ""
			for _, body := range []string{"additive only " + text("body"), "Implementability Gate exception:" + why +
				" " + text("claim")} {
				told += tell(dir, head, body, "--label", mark("flag"))
			}
			// Where nothing breaks, the body is told: the line that declares, and the reason of an exception.
			dir, head = proposed(t, map[string]string{"rfcs/RFC-0016-c.md": "Memory MUST be shown.\n",
				"schemas/v1.0/a.json": strings.Replace(specification["schemas/v1.0/a.json"], "{", `{"description": "x", `, 1)})
			told += tell(dir, head, "additive only: "+text("body"))
			dir, head = proposed(t, map[string]string{"rfcs/RFC-0001-a.md": "# The " + text("heading") +
				"\n\nA Tool MUST answer.\n"})
			told += tell(dir, head, "Implementability Gate exception:"+why+" "+text("claim"))
			for _, place := range []string{"path", "sentence", "evidence", "schema", "id", "draft", "member", "role",
				"flag", "body", "heading", "claim"} {
				if !strings.Contains(told, "pwned-"+place+".") {
					t.Errorf("nothing is said of %s, so that nothing is tested there\n%s", place, told)
				}
			}
		})
	}
}

// specification is the tree of a small specification.
var specification = map[string]string{
	"rfcs/RFC-0001-a.md": "# A\n\nA Tool MUST answer.\n", "rfcs/RFC-0016-c.md": "Memory MUST be kept.\n",
	"spec/v1.0/core.md": "x\n", "CHANGELOG.md": "x\n",
	"schemas/v1.0/a.json": `{"$id": "https://x.example/schemas/v1.0/a.json", "type": "object"}`,
	"governance/MAINTAINERS.md": "## Current Maintainers\n\n| handle | organisation | User Advocate |\n" +
		"|---|---|---|\n| @ann | A | yes |\n| @bob | B | |\n| @cyd | C | |\n| @dee | D | |\n",
}

// proposed returns a clone with a pull request that is merged into the branch merge, and the head of that request.
func proposed(t *testing.T, change map[string]string) (dir, head string) {
	t.Helper()
	repo, err := fixture.NewRepo(t.TempDir())
	must.OK(t, err)
	commit := func(files map[string]string) {
		for path, text := range files {
			repo.Write(path, []byte(text))
		}
		repo.Commit("x", fixture.Clock)
	}
	commit(specification)
	repo.SetRef("refs/remotes/origin/release")
	repo.Branch("topic")
	commit(change)
	err = repo.Checkout("main")
	repo.Branch("merge")
	must.OK(t, errors.Join(err, repo.Merge("topic")))
	commit(nil)
	err = repo.Sync()
	head, missing := repo.RevParse("topic")
	must.OK(t, errors.Join(err, missing))
	return repo.Dir, head
}
