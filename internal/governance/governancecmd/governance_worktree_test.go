package governancecmd_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/clitest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/gittest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

// TestGovernanceWorktree checks that the files on disk are judged as `git add -A` commits them: whatever Git's settings
// for line ends, modes and links, the verdict is that of the commit, and a clean status gives that of HEAD.
func TestGovernanceWorktree(t *testing.T) {
	origin := gittest.New(t)
	write := func(c *gittest.Clone, files map[string]string) {
		for path, text := range files {
			file := filepath.Join(c.Dir, path)
			must.OK(t, os.MkdirAll(filepath.Dir(file), 0o755))
			must.OK(t, os.WriteFile(file, []byte(text), 0o644))
		}
	}
	write(origin, small)
	write(origin, map[string]string{"test-suite/t.sh": "#!/bin/sh\nanswers\n"})
	if err := os.Symlink("t.sh", filepath.Join(origin.Dir, "test-suite", "link.sh")); err != nil {
		t.Skip("NOT TESTED: no symbolic links here")
	}
	origin.Git("add", "-A")
	origin.Git("update-index", "--chmod=+x", "test-suite/t.sh")
	origin.Git("commit", "-q", "-m", "base")
	origin.Git("checkout", "-q", "-b", "topic")
	write(origin, map[string]string{"rfcs/RFC-0001-a.md": "# A\n\nA Tool MUST answer soon.\n"})
	origin.Git("commit", "-q", "-a", "-m", "topic")

	const schema = "schemas/v1.0/a.json"
	crlf := func(text string) string { return strings.ReplaceAll(text, "\n", "\r\n") }
	edits := map[string]func(c *gittest.Clone) error{
		"nothing": func(*gittest.Clone) error { return nil },
		"line ends": func(c *gittest.Clone) error {
			write(c, map[string]string{schema: crlf(small[schema] + "\n"),
				"rfcs/RFC-0016-c.md": crlf("Memory MUST be kept.\n"),
				"test-suite/t.sh":    crlf("#!/bin/sh\nanswers\n")})
			return nil
		},
		"modes": func(c *gittest.Clone) error { return os.Chmod(filepath.Join(c.Dir, schema), 0o755) },
		"a link": func(c *gittest.Clone) error {
			if err := os.Remove(filepath.Join(c.Dir, schema)); err != nil {
				return err
			}
			return os.Symlink("../../CHANGELOG.md", filepath.Join(c.Dir, schema))
		},
		"a test": func(c *gittest.Clone) error {
			write(c, map[string]string{"test-suite/new.js": "assert(soon)\r\n"})
			return nil
		},
	}
	for _, settings := range [][]string{nil, {"core.autocrlf=true"}, {"core.autocrlf=input", "core.fileMode=false"},
		{"core.autocrlf=true", "core.fileMode=false", "core.symlinks=false"}} {
		for name, edit := range edits {
			t.Run(fmt.Sprintf("%s %s", name, strings.Join(settings, " ")), func(t *testing.T) {
				t.Parallel()
				c := gittest.At(t, t.TempDir())
				args := []string{"clone", "-q", "-b", "topic"}
				for _, s := range settings {
					args = append(args, "-c", s)
				}
				c.Git(append(args, origin.Dir, ".")...)
				c.Git("branch", "main", "origin/main")
				judge := func(args ...string) string {
					args = append([]string{"--repo", c.Dir, "--base", "main"}, args...)
					rep, _ := governed(t, clitest.NoEnvironment, args...)
					var out strings.Builder
					for r := range rep.Results.All() {
						must.OK(t, json.NewEncoder(&out).Encode(r))
					}
					return out.String()
				}
				must.OK(t, edit(c))
				late := time.Unix(2_000_000_000, 0) // so that the index knows no file by its times
				err := filepath.WalkDir(c.Dir, func(path string, d os.DirEntry, err error) error {
					if err != nil || d.Name() == ".git" || !d.Type().IsRegular() {
						if d != nil && d.Name() == ".git" {
							return filepath.SkipDir
						}
						return err
					}
					return os.Chtimes(path, late, late)
				})
				must.OK(t, err)
				disk := judge("--worktree")
				c.Git("add", "-A")
				write(c, map[string]string{"rfcs/RFC-0001-a.md": "# A\n\nA Tool MAY answer.\n"}) // which is not staged
				index := judge("--staged")
				c.Git("commit", "-q", "--allow-empty", "-m", "change")
				if commit := judge("--head", "HEAD"); disk != commit || index != commit {
					t.Errorf("on disk\n%s\nin the index\n%s\nas a commit\n%s", disk, index, commit)
				}
			})
		}
	}
}
