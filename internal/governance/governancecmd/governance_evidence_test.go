package governancecmd_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/clitest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/fixture"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

// TestReadmeEvidence checks that the program prints the example of a renamed test in docs/governance.md.
func TestReadmeEvidence(t *testing.T) {
	repo := must.Get(fixture.NewRepo(t.TempDir()))(t)
	at := time.Date(2026, 6, 1, 10, 0, 0, 0, time.UTC)
	const core = "# Core\n\nA Tool MUST answer.\n"
	repo.Write("rfcs/README.md", []byte("x\n"))
	repo.Write("spec/v1.0/core.md", []byte(core))
	repo.Write("test-suite/answer.js", []byte("assert(answers(tool));\n"))
	repo.Commit("base", at)
	repo.Branch("topic")
	repo.Write("spec/v1.0/core.md", []byte(core+"\nA Tool MUST bow.\n"))
	must.OK(t, repo.Remove("test-suite/answer.js"))
	shown := func(test string, want int) string {
		t.Helper()
		repo.Write("test-suite/bow.js", []byte(test))
		repo.Commit("topic", at)
		must.OK(t, repo.Sync())
		args := []string{"oap-spec", "governance", "--base", "main", "--head", "topic", "--only", "implementability"}
		code, out := clitest.Program(t, append(args, "--repo", repo.Dir)...)
		if code != want {
			t.Fatalf("exit status %d\n%s", code, out)
		}
		_, text, _ := strings.Cut(strings.TrimSuffix(out, "\n"), "\n\n") // behind the line with the commits
		text = "$ " + strings.Join(args, " ") + "\n" + text
		return strings.ReplaceAll("\n    "+strings.ReplaceAll(text, "\n", "\n    ")+"\n\n", "    \n", "\n")
	}
	renamed := shown("assert(answers(tool));\n", 1)
	extended := shown("assert(answers(tool));\nassert(answers(tool, \"bow\"));\n", 0)
	page := string(must.Read(t, filepath.Join("..", "..", "..", "docs", "governance.md")))
	if !strings.Contains(page, renamed) || !strings.Contains(page, "of a test is new:\n"+extended) {
		t.Errorf("docs/governance.md lacks one of these\n%s%s", renamed, extended)
	}
}
