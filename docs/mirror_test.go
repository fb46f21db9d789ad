// Package docs_test tests what the documentation shows.
package docs_test

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/openagentprotocol-OAP/oap-gate/internal/cli"
	"github.com/openagentprotocol-OAP/oap-gate/internal/commitsig"
)

// blocks are the files that mirror.md shows.
func blocks(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile("mirror.md")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, m := range regexp.MustCompile("(?s)<!-- file: (\\S+) -->\n```[a-z]+\n(.*?)```").
		FindAllStringSubmatch(string(text), -1) {
		all[m[1]] = m[2]
	}
	return all
}

var (
	command = regexp.MustCompile(`oap-gate (audit|merge|mirror)((?:[^\n]|\\\n)*)`)
	option  = regexp.MustCompile(`--[a-z][a-z-]+`)
)

// TestFlagsOfTheMirrorPage holds every command line of the page to the command's help.
func TestFlagsOfTheMirrorPage(t *testing.T) {
	text, err := os.ReadFile("mirror.md")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.ReplaceAll(string(text), "\\\n", " ")
	n := 0
	for _, name := range []string{"audit", "merge", "mirror"} {
		var help bytes.Buffer
		if code := cli.Main([]string{name, "--help"},
			cli.IO{Stdout: &help, Stderr: &help, Getenv: func(string) string { return "" }}); code != 0 {
			t.Fatalf("%s --help ends with %d", name, code)
		}
		for _, m := range command.FindAllStringSubmatch(lines, -1) {
			if m[1] != name {
				continue
			}
			for _, f := range option.FindAllString(m[2], -1) {
				n++
				if !strings.Contains(help.String(), f+" ") {
					t.Errorf("oap-gate %s has no flag %s", name, f)
				}
			}
		}
	}
	if n < 20 {
		t.Errorf("%d flags found on the page", n)
	}
}

func TestFilesOfTheMirrorPage(t *testing.T) {
	files := blocks(t)
	for _, name := range []string{"oap-audit", "crontab", "oap-audit.service", "oap-audit.timer", "oap-mirror.service",
		"deployment.yaml", "Dockerfile", "job.yaml", "matrix.yml", "allowed_signers", "key.go", "rules.yml"} {
		if files[name] == "" {
			t.Errorf("the page shows no %s", name)
		}
	}
	for name, text := range files {
		if ext := filepath.Ext(name); ext == ".yml" || ext == ".yaml" {
			var v map[string]any
			if err := yaml.Unmarshal([]byte(text), &v); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	if _, err := commitsig.New(nil, []byte(files["allowed_signers"])); err != nil {
		t.Errorf("allowed_signers: %v", err)
	}
}
