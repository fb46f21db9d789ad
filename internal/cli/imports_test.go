package cli

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// TestImports holds which of the program's own packages a package rests on, others' imports included.
func TestImports(t *testing.T) {
	noGit := []string{"registry", "internal/gitstore"}
	const module = "github.com/openagentprotocol-OAP/oap-gate/"
	rules := []struct {
		name       string
		only, none []string // nil only: any
	}{
		{name: "internal/verdict", only: []string{"internal/strict", "internal/plain", "internal/remedy"}},
		{name: "internal/did", none: noGit},
		{name: "internal/receipt", none: noGit},
		{name: "internal/manifest", none: noGit},
		{name: "internal/domainage", none: noGit},
		{name: "internal/level", none: noGit},
		{name: "internal/signature", none: noGit},
		{name: "internal/conformance/oasis", none: []string{"gate", "checks", "internal/report"}},
		{name: "internal/doctor", none: []string{"gate", "internal/report"}},
		{name: "internal/forge", none: []string{"gate", "checks", "registry", "internal/report", "internal/verdict"}},
	}
	args := []string{"list", "-f", "{{.ImportPath}}{{range .Deps}} {{.}}{{end}}"}
	for _, of := range rules {
		args = append(args, module+of.name)
	}
	out, err := exec.CommandContext(t.Context(), "go", args...).Output()
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string][]string{}
	for line := range strings.Lines(string(out)) {
		paths := strings.Fields(line)
		listed[paths[0]] = paths[1:]
	}
	for _, of := range rules {
		deps, is := listed[module+of.name]
		if !is {
			t.Errorf("go list knows no %s", of.name)
		}
		for _, path := range deps {
			name, ours := strings.CutPrefix(path, module)
			if !ours {
				continue
			}
			if of.only != nil && !slices.Contains(of.only, name) || slices.Contains(of.none, name) {
				t.Errorf("%s imports %s", of.name, name)
			}
		}
	}
}
