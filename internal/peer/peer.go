// Package peer fetches another copy of a registry into a temporary folder, by the git command. What is in the copy
// is judged by package registry; here it is only transported.
//
// Git runs without any configuration of the user or the machine, without credentials, hooks and prompts, and may
// use one protocol: https, or http where the host is a loopback address.
package peer

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/crash"
)

// Errors of Fetch and Dir.
var (
	// ErrURL: a peer that is neither a folder nor a URL that may be fetched.
	ErrURL = errors.New("not a peer")
	// ErrNoGit: the git command is missing.
	ErrNoGit = errors.New("the git command is missing")
	// ErrTooLarge: the copy took more than MaxBytes on the disk.
	ErrTooLarge = errors.New("the copy is too large")
	// ErrFetch: git could not fetch it; the text holds what git said.
	ErrFetch = errors.New("git fetch ended with an error")
)

// Source says what to fetch. Clone and Tip spare traffic and may be empty: the copy then borrows the clone's
// objects, and its maker only sends what Tip does not reach. The clone is not written to.
type Source struct {
	URL      string
	Clone    string // folder of one's own clone, which must outlive the copy
	Tip      string // commit of the clone whose history is complete there
	Proxy    string // URL of an HTTP proxy; empty: none, whatever the environment says
	MaxBytes int64  // on the disk; 0: DefaultMaxBytes. It is looked at every 200 ms, so more may come before it counts
}

// DefaultMaxBytes is far above what 100,000 listings and 50,000 commits take.
const DefaultMaxBytes = 4 << 30

// Copy is a bare repository in a temporary folder whose HEAD is the peer's.
type Copy struct{ Dir string }

// Close removes the copy.
func (c *Copy) Close() error { return os.RemoveAll(c.Dir) }

// Dir is the folder that a peer names, by a path or a file: URL without host; false for other URLs.
func Dir(peer string) (string, bool) {
	if !strings.Contains(peer, "://") {
		return peer, true
	}
	u, err := url.Parse(peer)
	if err != nil || u.Scheme != "file" || u.Host != "" {
		return "", false
	}
	return filepath.FromSlash(u.Path), true
}

// protocol is the one by which a URL may be fetched.
func protocol(text string) (string, error) {
	u, err := url.Parse(text)
	if err != nil {
		return "", fmt.Errorf("%w: %.200q is no URL", ErrURL, text)
	}
	switch {
	case u.User != nil:
		return "", fmt.Errorf("%w: a URL of %q with a user or password, want one without", ErrURL, u.Host)
	case u.Hostname() == "" || u.Opaque != "" || u.RawQuery != "" || u.Fragment != "":
		return "", fmt.Errorf("%w: %.200q, want https://host/path", ErrURL, text)
	case u.Scheme == "https", u.Scheme == "http" && isLoopback(u.Hostname()):
		return u.Scheme, nil
	}
	return "", fmt.Errorf("%w: %.200q, want a folder or https://host/path (http:// on loopback only)", ErrURL, text)
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// Fetch copies the branch that the peer's HEAD names. It ends with the context, whose deadline is the only limit
// on time; the copy is removed on any error.
func Fetch(ctx context.Context, s Source) (_ *Copy, err error) {
	allowed, err := protocol(s.URL)
	if err != nil {
		return nil, err
	}
	git, err := exec.LookPath("git")
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoGit, err)
	}
	dir, err := os.MkdirTemp("", "oap-gate-peer-")
	if err != nil {
		return nil, err
	}
	c := &Copy{Dir: dir}
	defer func() {
		if err != nil {
			err = fmt.Errorf("fetching peer %q: %w", s.URL, errors.Join(err, c.Close()))
		}
	}()
	r := runner{git: git, dir: dir, protocol: allowed}
	if err := r.prepare(ctx, s); err != nil {
		return nil, err
	}
	if err := r.fetch(ctx, s); err != nil {
		return nil, err
	}
	return c, nil
}

type runner struct{ git, dir, protocol string }

// have is a ref of one's own commit, so that git names it to the peer.
const have = "refs/own/tip"

// prepare makes an empty repository that borrows the objects of one's own clone.
func (r *runner) prepare(ctx context.Context, s Source) error {
	format := "sha1"
	if len(s.Tip) == 64 {
		format = "sha256"
	}
	if _, err := r.run(ctx, "init", "-q", "--bare", "--template=", "--object-format="+format, "--initial-branch=peer", r.dir); err != nil {
		return err
	}
	if s.Clone == "" || s.Tip == "" {
		return nil
	}
	clone, err := filepath.Abs(s.Clone) // git runs in the copy's folder
	if err != nil {
		return err
	}
	objects, err := r.run(ctx, "-C", clone, "rev-parse", "--path-format=absolute", "--git-path", "objects")
	if err != nil {
		return err
	}
	objects = strings.TrimSuffix(objects, "\n")
	if strings.ContainsAny(objects, "\n\r") || objects == "" || objects[0] == '"' || objects[0] == '#' {
		return nil // no such path can be written into alternates; the fetch is larger without
	}
	file := filepath.Join(r.dir, "objects", "info", "alternates")
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		return err
	}
	if err := os.WriteFile(file, []byte(objects+"\n"), 0o666); err != nil {
		return err
	}
	_, err = r.run(ctx, "--git-dir="+r.dir, "update-ref", "--no-deref", have, s.Tip)
	return err
}

func (r *runner) fetch(ctx context.Context, s Source) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	limit := cmp.Or(s.MaxBytes, DefaultMaxBytes)
	watched := make(chan struct{})
	var crashed crash.Carrier
	go func() {
		defer close(watched)
		defer crashed.Catch(func() { cancel(nil) })
		watch(ctx, r.dir, limit, func() { cancel(ErrTooLarge) })
	}()
	follow := "initial" // to https alone, see GIT_ALLOW_PROTOCOL
	if r.protocol == "http" {
		follow = "false"
	}
	args := []string{"--git-dir=" + r.dir, "-c", "http.followRedirects=" + follow, "-c", "http.proxy=" + s.Proxy,
		"fetch", "-q", "--no-tags", "--no-write-fetch-head", "--no-auto-maintenance", "--no-recurse-submodules", "--no-show-forced-updates"}
	if _, err := os.Stat(filepath.Join(r.dir, filepath.FromSlash(have))); err == nil {
		args = append(args, "--negotiation-tip="+have)
	}
	_, err := r.run(ctx, append(args, "--", s.URL, "+HEAD:refs/heads/peer")...)
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	cancel(nil)
	<-watched
	crashed.Rethrow()
	if err == nil && size(r.dir) > limit {
		err = ErrTooLarge
	}
	return err
}

// watch calls over once a folder holds more than limit bytes, and ends with the context.
func watch(ctx context.Context, dir string, limit int64, over func()) {
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if size(dir) > limit {
				over()
				return
			}
		}
	}
}

// size is what the files of a folder that is being written to hold, as far as they are there.
func size(dir string) int64 {
	var total int64
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			if info, err := d.Info(); err == nil {
				total += info.Size()
			}
		}
		return nil
	})
	return total
}

// run runs git and gives what it prints.
func (r *runner) run(ctx context.Context, args ...string) (string, error) {
	fixed := []string{"--no-pager", "-c", "core.hooksPath=" + os.DevNull, "-c", "core.fsmonitor=false",
		"-c", "core.alternateRefsCommand=true", // a program that lists none: what is in the clone is said by refs/own
		"-c", "gc.auto=0", "-c", "maintenance.auto=false", "-c", "fetch.writeCommitGraph=false", "-c", "fetch.unpackLimit=1",
		"-c", "core.bigFileThreshold=1m", "-c", "http.sslVerify=true", "-c", "http.lowSpeedLimit=1", "-c", "http.lowSpeedTime=30",
		"-c", "credential.helper=", "-c", "safe.directory=*"}
	cmd := exec.CommandContext(ctx, r.git, append(fixed, args...)...)
	cmd.Dir = r.dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "SYSTEMROOT=" + os.Getenv("SYSTEMROOT"), "HOME=" + r.dir, "LC_ALL=C",
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_OPTIONAL_LOCKS=0", "GIT_NO_REPLACE_OBJECTS=1",
		"GIT_TERMINAL_PROMPT=0", "GIT_ALLOW_PROTOCOL=" + r.protocol, "GIT_NO_LAZY_FETCH=1"}
	killWithChildren(cmd)
	limitMemory(cmd)
	cmd.WaitDelay = 2 * time.Second
	var stdout, stderr capped
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return "", context.Cause(ctx)
		}
		return "", fmt.Errorf("%w: %w: %q", ErrFetch, err, bytes.TrimSpace(stderr.text))
	}
	return string(stdout.text), nil
}

// capped keeps the beginning of what is written to it: git passes on what the peer says.
type capped struct{ text []byte }

func (c *capped) Write(p []byte) (int, error) {
	c.text = append(c.text, p[:min(len(p), 4096-len(c.text))]...)
	return len(p), nil
}
