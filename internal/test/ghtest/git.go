package ghtest

import (
	"fmt"
	"io"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// ServeGit offers the repositories below a directory by Git's smart HTTP protocol, on loopback, until the server is
// closed. The error is that the git command or its git-http-backend is missing.
func ServeGit(root string) (*httptest.Server, error) {
	out, err := exec.Command("git", "--exec-path").Output()
	if err != nil {
		return nil, fmt.Errorf("asking git for its directory: %w", err)
	}
	backend := filepath.Join(strings.TrimSpace(string(out)), "git-http-backend")
	if _, err := os.Stat(backend); err != nil {
		return nil, err
	}
	return httptest.NewServer(&cgi.Handler{Path: backend, Dir: root, Stderr: io.Discard,
		Env: []string{"GIT_PROJECT_ROOT=" + root, "GIT_HTTP_EXPORT_ALL=1",
			"HOME=/nonexistent", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull}}), nil
}
