package docs_test

import (
	"io/fs"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/install"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

var (
	usesLine = regexp.MustCompile(`(?m)^\s*(?:- )?uses: ([^\s#]+)(.*)$`)
	fullPin  = regexp.MustCompile(`^ # v(\d+)\.\d+\.\d+$`)
	fullSHA  = regexp.MustCompile(`^[0-9a-f]{40}$`)
)

// TestPins checks each `uses:` of the documents and workflows: actions of others have a full SHA and its version, one
// for each action, that a runner still runs. The gate's own pin is filled in by init.
func TestPins(t *testing.T) {
	pins := map[string]string{}
	read := func(path string) {
		text := must.Read(t, path)
		for _, uses := range usesLine.FindAllStringSubmatch(string(text), -1) {
			action, at, _ := strings.Cut(uses[1], "@")
			if strings.HasPrefix(action, "openagentprotocol-OAP/oap-gate") || strings.HasPrefix(action, "./") {
				continue
			}
			version := fullPin.FindStringSubmatch(uses[2])
			if !fullSHA.MatchString(at) || version == nil {
				t.Errorf("%s: %q has no full SHA with its version, as in \"@SHA # v1.2.3\"", path, uses[0])
				continue
			}
			if major, _ := strconv.Atoi(version[1]); major < install.FirstNode24[action] {
				t.Errorf("%s: %q runs on a Node that runners drop; expected v%d or newer", path, uses[0],
					install.FirstNode24[action])
			}
			pin := at + uses[2]
			if other, seen := pins[action]; seen && other != pin {
				t.Errorf("%s: %q has another pin elsewhere: %s", path, uses[0], other)
			}
			pins[action] = pin
		}
	}
	read(filepath.Join("..", "README.md"))
	for _, dir := range []string{".", filepath.Join("..", ".github")} {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if ext := filepath.Ext(path); err == nil && (ext == ".md" || ext == ".yml") {
				read(path)
			}
			return err
		})
		must.OK(t, err)
	}
	for action := range install.FirstNode24 {
		if pins[action] == "" {
			t.Errorf("nothing uses %s: remove its row", action)
		}
	}
}
