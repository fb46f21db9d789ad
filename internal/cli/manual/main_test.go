package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/cli/programs"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/needs"
)

// TestManual writes the manual, and shows a page with man if there is one; .ci/release-test shows all of them.
func TestManual(t *testing.T) {
	dir := t.TempDir()
	must.OK(t, run([]string{"v1.2.3", "2026-06-01T12:00:00Z", dir}))
	for _, p := range programs.All {
		for _, name := range []string{"bash-completion/completions/" + p.Name, "zsh/site-functions/_" + p.Name,
			"fish/vendor_completions.d/" + p.Name + ".fish", "doc/oap-gate/" + p.Name + ".ps1"} {
			if info, err := os.Stat(filepath.Join(dir, "share", name)); err != nil || info.Size() == 0 {
				t.Errorf("%s is missing or empty: %v", name, err)
			}
		}
	}
	pages, err := filepath.Glob(filepath.Join(dir, "share", "man", "man1", "oap-*.1"))
	if err != nil || len(pages) < 30 {
		t.Fatalf("%d pages, error %v", len(pages), err)
	}
	man := needs.Has(t, "what man shows", "man")
	for _, page := range pages {
		text, readErr := os.ReadFile(page)
		program := strings.Join(strings.FieldsFunc(filepath.Base(page), func(r rune) bool {
			return r == '-' || r == '.'
		})[:2], "-")
		if readErr != nil || !strings.Contains(string(text), program+" v1.2.3") {
			t.Errorf("%s does not name the version: %v", page, readErr)
		}
		if !man || filepath.Base(page) != "oap-gate-check.1" {
			continue
		}
		out, showErr := exec.CommandContext(t.Context(), "man", "-l", page).CombinedOutput()
		if showErr != nil || !strings.Contains(string(out), "NAME") {
			t.Errorf("man -l %s: %v\n%s", page, showErr, out)
		}
	}
}
