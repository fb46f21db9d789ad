package outside

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/fixture"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

// TestNightly asks the judges of reports that are too large for each run: their packages have 75 MB, and one needs
// Java. Each finds no error in the report of an audit, and finds the fault in a report that gets one.
func TestNightly(t *testing.T) {
	if _, err := os.Stat(filepath.Join("nightly", "node_modules")); err != nil {
		const missing = "the npm packages are missing: run npm ci --ignore-scripts in test/outside/nightly"
		fmt.Println("NOT CHECKED: TestNightly:", missing)
		t.Skip(missing)
	}
	need(t, "java")
	audit := audited(t)
	for _, c := range []struct {
		format, old, fault string // fault replaces old
		judge              func(t *testing.T, file string) string
	}{
		{"sarif", `"ruleId":`, `"ruleID":`, multitool},
		{"html", "</main>", "<p id=a id=a></main>", nuChecker},
	} {
		t.Run(c.format, func(t *testing.T) {
			file := audit + c.format
			if found := c.judge(t, file); found != "" {
				t.Error(found)
			}
			text := bytes.Replace(readFile(t, file), []byte(c.old), []byte(c.fault), 1)
			must.OK(t, os.WriteFile(file, text, 0o600))
			if found := c.judge(t, file); !strings.Contains(found, "error") {
				t.Errorf("no error is found in a report in which %s is %s", c.old, c.fault)
			}
		})
	}
}

// audited audits a registry with the program, and returns what the names of the reports begin with.
func audited(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	r, err := fixture.Generate(filepath.Join(dir, "registry"), fixture.Bulk{Listings: 3, Commits: 2})
	must.OK(t, err)
	cmd := exec.Command("go", "run", "./cmd/oap-gate", "audit", "--repo", r.Dir, "--offline", "--rev", "main",
		"--report", "sarif="+dir+"/audit.sarif", "--report", "html="+dir+"/audit.html")
	cmd.Dir = filepath.Join("..", "..")
	out, err := cmd.CombinedOutput()
	if exit := new(exec.ExitError); err != nil && (!errors.As(err, &exit) || exit.ExitCode() == 2) {
		t.Fatalf("%v: %s", err, out)
	}
	return filepath.Join(dir, "audit.")
}

// multitool returns the errors that the SARIF validator finds, by its own rules and those of GitHub.
func multitool(t *testing.T, file string) string {
	t.Helper()
	program := filepath.Join("nightly", "node_modules", "@microsoft", "sarif-multitool-linux", "Sarif.Multitool")
	if err := os.Chmod(program, 0o755); err != nil { // npm leaves that to a script, and none is run
		t.Fatal(err)
	}
	cmd := exec.Command(program, "validate", file, "--rule-kind", "Sarif;Ghas", "--level", "Error")
	cmd.Env = append(os.Environ(), "DOTNET_SYSTEM_GLOBALIZATION_INVARIANT=1") // the program has no tables of its own
	out, err := cmd.CombinedOutput()
	if !strings.Contains(string(out), "1 files scanned") {
		t.Fatalf("%v: %s", err, out)
	}
	return strings.Join(regexp.MustCompile(`(?m)^.*: error .*$`).FindAllString(string(out), -1), "\n")
}

// nuChecker returns the errors that the Nu HTML Checker finds.
func nuChecker(t *testing.T, file string) string {
	t.Helper()
	jar := filepath.Join("nightly", "node_modules", "vnu-jar", "build", "dist", "vnu.jar")
	out, err := exec.Command("java", "-jar", jar, "--html", "--errors-only", file).CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	if err == nil {
		return ""
	}
	return string(out)
}
