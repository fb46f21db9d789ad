package cli_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/cli/programs"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

// emptyPhrase is the beginning of a fix that says nothing.
var emptyPhrase = regexp.MustCompile(`^(correct it|see|leave them out|give one of them)\b`)

// retried has the codes of causes that another try can change; only the fix of such a one begins with "try again".
var retried = []string{"cosigner-open", "audit-open", "owner-open", "domain-age-unsure", "peer-unavailable",
	"budget-spent", "authors-unknown", "labels-unknown"}

// TestFixesSaySomething reads every fix of every catalogue, and every one in the source.
func TestFixesSaySomething(t *testing.T) {
	read := 0
	hold := func(id, fix string) {
		if read++; emptyPhrase.MatchString(fix) {
			t.Errorf("%s: the fix is %q", id, fix)
		}
	}
	for _, p := range programs.All {
		for _, s := range p.Subjects {
			for _, r := range s.Rules {
				hold(r.ID, r.Fix)
				for _, c := range r.Codes {
					hold(r.ID+" "+c.ID, c.Fix)
					if strings.HasPrefix(c.Fix, "try again") && !slices.Contains(retried, c.ID) {
						t.Errorf("%s %s: the fix is %q", r.ID, c.ID, c.Fix)
					}
				}
			}
		}
	}
	given := regexp.MustCompile(`(?s)(?:WithFix|remedy\.Errorf|remedy\.With|refusef|inconclusivef)\(\s*"([^"]*)"`)
	for _, root := range []string{"internal", "checks", "registry"} {
		err := filepath.WalkDir(filepath.Join("..", "..", root), func(path string, d fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			text, err := os.ReadFile(path)
			for _, m := range given.FindAllStringSubmatch(string(text), -1) {
				hold(path, m[1])
			}
			return err
		})
		must.OK(t, err)
	}
	if read < 1000 {
		t.Errorf("%d fixes were read: the test shows nothing", read)
	}
}
