package conformancecmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict/capped"
)

// Limits of git.
const (
	gitTime   = 20 * time.Second
	gitOutput = 64 << 20 // bytes
)

// notIgnored returns the files of a directory that its .gitignore files do not exclude, as the first git of PATH says
// that does not lie in the agent's directory. The repository is an empty one elsewhere, and git reads no configuration.
func notIgnored(agent, dir string) (files []string, err error) {
	name, err := find("git", "", agent)
	if err != nil {
		return nil, err
	}
	repository, err := os.MkdirTemp("", "oap-git-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(repository)
	if err := errors.Join(os.Mkdir(filepath.Join(repository, "objects"), 0o700),
		os.Mkdir(filepath.Join(repository, "refs"), 0o700),
		os.WriteFile(filepath.Join(repository, "HEAD"), []byte("ref: refs/heads/none\n"), 0o600)); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), gitTime)
	defer cancel()
	c := exec.CommandContext(ctx, name, "ls-files", "-z", "--others", "--exclude-per-directory=.gitignore")
	c.Dir, c.Env = dir, slices.DeleteFunc(os.Environ(), func(v string) bool {
		return strings.HasPrefix(strings.ToUpper(v), "GIT_")
	})
	c.Env = append(c.Env, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+filepath.Join(repository, "none"),
		"GIT_DIR="+repository, "GIT_WORK_TREE=.", "PWD="+dir)
	var messages tail
	c.Stderr = &messages
	ownGroup(c)
	c.Cancel = func() error { kill(c); return nil }
	c.WaitDelay = time.Second
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		return nil, err
	}
	text, err := capped.ReadAll(out, gitOutput)
	if err != nil {
		cancel()
	}
	if ended := c.Wait(); err == nil {
		err = ended
	}
	switch {
	case ctx.Err() == context.DeadlineExceeded:
		return nil, fmt.Errorf("%s did not end within %v", name, gitTime)
	case err != nil:
		return nil, fmt.Errorf("%s ls-files: %w: %s", name, err, plain.Line(strings.TrimSpace(messages.String())))
	}
	return strings.Split(strings.TrimSuffix(string(text), "\x00"), "\x00"), nil
}
