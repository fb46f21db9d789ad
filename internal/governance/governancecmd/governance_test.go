package governancecmd_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/frame"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/clitest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// governed runs governance with these arguments and gives its report and exit status.
func governed(t *testing.T, getenv func(string) string, args ...string) (*verdict.Report, int) {
	t.Helper()
	var out, complaint bytes.Buffer
	code := clitest.Main(append([]string{"oap-spec", "governance", "--format", "json"}, args...),
		frame.IO{Stdout: &out, Stderr: &complaint, Getenv: getenv})
	rep := &verdict.Report{}
	if err := json.Unmarshal(out.Bytes(), rep); err != nil {
		t.Fatalf("%v of %q; %s", err, out.String(), complaint.String())
	}
	clitest.Matches(t, "report", out.Bytes())
	return rep, code
}

// specification is a clone of the specification's history.
func specification(t testing.TB) string {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	dir := filepath.Join(t.TempDir(), "spec")
	cmd := exec.Command("git", "clone", "-q", filepath.Join("..", "..", "..", "testdata", "governance",
		"spec-history.bundle"), dir)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return dir
}

// TestSpecificationHistory checks the verdicts on the real history, and that the documentation agrees with them.
func TestSpecificationHistory(t *testing.T) {
	rep, code := governed(t, clitest.NoEnvironment, "--repo", specification(t), "--each", "--head", "HEAD")
	verdicts, codes := map[string]int{}, map[string]int{}
	byPath, byText, byProperty, breaking := 0, 0, 0, 0
	for r := range rep.Results.All() {
		verdicts[r.Check+" "+string(r.Verdict)]++
		seen := map[string]bool{}
		for _, f := range r.Findings {
			if !seen[f.Code] {
				codes[f.Code]++
			}
			seen[f.Code] = true
			if f.Code == "roster-empty" {
				_, kinds, _ := strings.Cut(f.Message, "touches user rights (")
				kinds, _, _ = strings.Cut(kinds, ")")
				for kind, n := range map[string]*int{"path ": &byPath, "text ": &byText, "property ": &byProperty} {
					if strings.Contains(kinds, kind) {
						*n++
					}
				}
			}
			if f.Commit != r.Subject {
				t.Errorf("a finding of %s names the commit %q", r.Subject, f.Commit)
			}
		}
		if r.Check == "backward-compatibility" && r.Verdict == verdict.Failed && !seen["additive-undeclared"] {
			breaking++
		}
	}
	failed := func(check string) int { return verdicts[check+" fail"] }
	triggered := 0 // of implementability, which passes with a reason
	for r := range rep.Results.All() {
		if r.Check == "implementability" && r.Verdict != verdict.Skipped &&
			r.Reason != "no normative artifact is touched" {
			triggered++
		}
	}
	table := fmt.Sprintf(`| | triggered | pass | fail or warn |
|---|---|---|---|
| `+"`implementability`"+` | %d | %d | %d: %d `+"`no-evidence`, %d `evidence-does-not-count`"+` |
| `+"`backward-compatibility`"+` | %d | 0 | %d: %d `+"`additive-undeclared`"+`, %d breaking |
| `+"`charter-review`"+` | %d (%d by path, %d by text, %d by property) | | %d `+"`roster-empty`"+` |
| `+"`changelog`"+` | | | %d warnings |
`, triggered, triggered-failed("implementability"), failed("implementability"), codes["no-evidence"],
		codes["evidence-does-not-count"], failed("backward-compatibility"), failed("backward-compatibility"),
		codes["additive-undeclared"], breaking, failed("charter-review"), byPath, byText, byProperty,
		codes["roster-empty"], verdicts["changelog warn"])
	page := string(must.Read(t, filepath.Join("..", "..", "..", "docs", "governance.md")))
	if !strings.Contains(page, "\n\n"+table+"\n") {
		t.Errorf("docs/governance.md has another table than\n%s", table)
	}
	if code != 1 || rep.Counts.Records != 91 || rep.Counts.Skip != 4 || rep.Mode != "governance" ||
		rep.Results.Len() != 4*91 {
		t.Errorf("exit status %d, mode %s, %+v, %d results", code, rep.Mode, rep.Counts, rep.Results.Len())
	}
}

// TestEachReport checks that every format has a block for each commit, in the order of the history, and that the
// checklist leaves something to people for each gate that is triggered.
func TestEachReport(t *testing.T) {
	dir, out := specification(t), t.TempDir()
	formats := []string{"text", "markdown", "html", "junit", "checklist"}
	args := []string{"--repo", dir, "--each", "--base", "HEAD~3", "--head", "HEAD"}
	for _, format := range formats {
		args = append(args, "--report", format+"="+filepath.Join(out, format))
	}
	rep, _ := governed(t, clitest.NoEnvironment, args...)
	var ids []string
	for r := range rep.Results.All() {
		if len(ids) == 0 || ids[len(ids)-1] != r.Subject {
			ids = append(ids, r.Subject)
		}
	}
	if len(ids) != 3 || len(rep.Commits) != 3 {
		t.Fatalf("results of %q, %d commits", ids, len(rep.Commits))
	}
	for i, c := range rep.Commits {
		if c.ID != ids[i] || i > 0 && c.Time.Before(rep.Commits[i-1].Time) {
			t.Errorf("commit %d is %s of %s, its results are of %s", i, c.ID, c.Time, ids[i])
		}
	}
	for _, format := range formats {
		text, at := html.UnescapeString(string(must.Read(t, filepath.Join(out, format)))), 0
		for _, c := range rep.Commits {
			if format == "checklist" && strings.Contains(c.Subject, "AHT probes") {
				continue // it triggers no gate
			}
			title := fmt.Sprintf("%.12s %s %s", c.ID, c.Time.Format("2006-01-02"), c.Subject)
			next := strings.Index(text[at:], title)
			if next < 0 {
				t.Errorf("%s: no block %q after byte %d", format, title, at)
				continue
			}
			at += next + len(title)
		}
		if format != "text" && format != "junit" && !strings.Contains(text, "Governance of a specification") {
			t.Errorf("%s has another title", format)
		}
		if format != "junit" && strings.Contains(text, " times: also at") {
			t.Errorf("%s folds findings of two commits", format)
		}
	}
	asked := map[string]int{}
	for _, a := range rep.Attest {
		asked[a.Check]++
	}
	if asked["implementability"] != 2 || asked["backward-compatibility"] != 2 || asked["charter-review"] != 2 {
		t.Errorf("left to people: %+v", rep.Attest)
	}
}

// TestEachRange checks which commits --each judges.
func TestEachRange(t *testing.T) {
	dir := specification(t)
	git := func(args ...string) string {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=a", "-c", "user.email=a@example.org"},
			args...)...)
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("git %q: %v", args, err)
		}
		return strings.TrimSpace(string(out))
	}
	subjects := func(args ...string) []string {
		rep, _ := governed(t, clitest.NoEnvironment, append([]string{"--repo", dir, "--each"}, args...)...)
		var out []string
		for r := range rep.Results.All() {
			if !slices.Contains(out, r.Subject) {
				out = append(out, r.Subject)
			}
		}
		slices.Sort(out)
		return out
	}
	list := func(args ...string) []string {
		out := strings.Fields(git(append([]string{"rev-list", "--first-parent"}, args...)...))
		slices.Sort(out)
		return out
	}
	if got, want := subjects("--base", "HEAD~5", "--head", "HEAD"), list("HEAD~5..HEAD"); !slices.Equal(got, want) {
		t.Errorf("judged %q, want %q", got, want)
	}
	// A branch from an older commit, which merged the base into itself: its own commits and the merge.
	git("checkout", "-q", "-b", "topic", "HEAD~7")
	git("commit", "-q", "--allow-empty", "-m", "one")
	git("merge", "-q", "--no-edit", "main~3")
	git("commit", "-q", "--allow-empty", "-m", "two")
	if got, want := subjects("--base", "main", "--head", "topic"), list("main..topic"); !slices.Equal(got,
		want) || len(got) != 3 {
		t.Errorf("judged %q, want %q", got, want)
	}
	if got := subjects("--base", "main", "--head", "main"); len(got) != 0 {
		t.Errorf("judged %q of an empty range", got)
	}
}
