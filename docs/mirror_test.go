// Package docs_test tests what the documentation shows.
package docs_test

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"github.com/openagentprotocol-OAP/oap-gate/internal/git/commitsig"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

// blocks are the files that mirror.md shows.
func blocks(t *testing.T) map[string]string {
	t.Helper()
	text := must.Read(t, "mirror.md")
	all := map[string]string{}
	for _, m := range regexp.MustCompile("(?s)<!-- file: (\\S+) -->\n```[a-z]+\n(.*?)```").
		FindAllStringSubmatch(string(text), -1) {
		all[m[1]] = m[2]
	}
	return all
}

func TestFilesOfTheMirrorPage(t *testing.T) {
	files := blocks(t)
	for _, name := range []string{"oap-audit", "crontab", "oap-audit.service", "oap-audit.timer", "oap-mirror.service",
		"deployment.yaml", "Dockerfile", "job.yaml", "matrix.yml", "allowed_signers", "key.go", "rules.yml",
		"oap-mirror.conf"} {
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
	image, _, _ := strings.Cut(page(t, "mirror.md")[strings.Index(page(t, "mirror.md"), "ghcr.io/"):], " ")
	program := regexp.MustCompile(`(?m)^ENTRYPOINT \["(.*)"\]$`).FindStringSubmatch(page(t, "../Dockerfile"))
	if text := files["Dockerfile"]; !strings.HasPrefix(text, "FROM "+image) ||
		!strings.Contains(text, "\nCOPY --from=gate "+program[1]+" ") {
		t.Errorf("the Dockerfile takes another image than %s, or another file of it than %s", image, program[1])
	}
}
