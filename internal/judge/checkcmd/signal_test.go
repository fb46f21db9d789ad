package checkcmd_test

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/cli"
	"github.com/openagentprotocol-OAP/oap-gate/internal/cli/oapgate"
	"github.com/openagentprotocol-OAP/oap-gate/internal/frame"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/signing"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/clitest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/fixture"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

// TestInterrupted checks that an audit or a check that gets a signal reports what it found, and says that it did not
// see all.
func TestInterrupted(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no SIGTERM here")
	}
	for name, c := range map[string]struct {
		description string
		args        []string
		sent        os.Signal
	}{
		"audit": {"base:\n  - {listing: eve, level: L1}\n", []string{"audit", "--rev", "main"}, syscall.SIGTERM},
		"check": {"pr:\n  - {listing: eve, level: L1}\n", []string{"check", "--base", "main", "--head", "pr"},
			os.Interrupt},
	} {
		t.Run(name, func(t *testing.T) { interrupt(t, c.description, c.args, c.sent) })
	}
}

func interrupt(t *testing.T, description string, command []string, sent os.Signal) {
	w := clitest.Build(t, description+`
web:
  - {url: "https://eve.example/oap-conformance-receipt.json", delay: 1h}
`)
	report, bundle := filepath.Join(t.TempDir(), "report.json"), filepath.Join(t.TempDir(), "bundle.json")
	args := slices.Concat(command, []string{"--timeout", "1h", "--report", "json=" + report, "--record", bundle},
		w.Args())
	code, out := signalledRun(t, w, "", args, sent)
	if code != 3 {
		t.Errorf("exit status %d, want 3: %s", code, out)
	}
	if !strings.Contains(out, "inconclusive: interrupted before all was judged; ") {
		t.Errorf("the verdict line does not say that the run was interrupted: %s", out)
	}
	text := must.Read(t, report)
	for _, want := range []string{`"verdict": "inconclusive"`, `"interrupted"`} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the report lacks %s", want)
		}
	}
	// Its bundle gives the same report.
	quiet := frame.IO{Stdout: io.Discard, Stderr: io.Discard, Getenv: clitest.NoEnvironment}
	replay := []string{"replay", bundle, "--repo", w.Repo.Dir, "--report", "json=" + report}
	if code := clitest.Main(replay, quiet); code != 3 {
		t.Errorf("replay: exit status %d, want 3", code)
	}
	if again, err := os.ReadFile(report); err != nil || string(again) != string(text) {
		t.Errorf("replay gives another report, error %v:\n%s", err, again)
	}
}

// signalledRun runs the program, sends it a signal once it has asked the web for a URL (empty: for anything), and
// returns its exit status and what it printed.
func signalledRun(t *testing.T, w *fixture.World, url string, args []string, sent os.Signal) (int, string) {
	t.Helper()
	cmd := exec.Command("oap-gate", args...) // which testscript.Main puts on the PATH
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	must.OK(t, cmd.Start())
	asked := func() bool {
		if url != "" {
			return w.Web.Hits(url) > 0
		}
		return len(w.Web.Requests()) > 0
	}
	for deadline := time.Now().Add(time.Minute); !asked(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			_ = cmd.Process.Kill()
			t.Fatalf("the program asked for nothing: %s", out.String())
		}
	}
	must.OK(t, cmd.Process.Signal(sent))
	_ = cmd.Wait()
	return cmd.ProcessState.ExitCode(), out.String()
}

// TestInterruptedRecord checks that a command that writes records and is asked to end writes nothing and exits with 2,
// whatever it was waiting for.
func TestInterruptedRecord(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no SIGINT here")
	}
	const (
		receipt  = "https://eve.example/oap-conformance-receipt.json"
		manifest = "https://eve.example/.well-known/oap-tool.json"
		document = "https://eve.example/.well-known/did.json"
	)
	for name, c := range map[string]struct {
		world, url string
		args       []string
	}{
		"new, Receipt": {"base: [{listing: ada}]\npr: [{listing: eve}]\n", receipt,
			[]string{"new", "eve", "https://eve.example"}},
		"renew, Manifest":     {"base: [{listing: eve}]\npr: [{reissue: eve}]\n", manifest, []string{"renew", "eve"}},
		"renew, Receipt":      {"base: [{listing: eve}]\npr: [{reissue: eve}]\n", receipt, []string{"renew", "eve"}},
		"renew, while judged": {"base: [{listing: eve}]\npr: [{reissue: eve}]\n", document, []string{"renew", "eve"}},
		"revoke": {"base: [{listing: eve}]\n", document,
			[]string{"revoke", "eve", "--reason", "superseded"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := clitest.Build(t, c.world+"web:\n  - {url: \""+c.url+"\", delay: 1h}\n")
			if _, err := w.Repo.Git("checkout", "-q", "main"); err != nil {
				t.Fatal(err)
			}
			if c.args[0] == "revoke" {
				key, err := signing.New()
				file := filepath.Join(t.TempDir(), "key.pem")
				must.OK(t, errors.Join(err, key.WriteFile(file)))
				c.args = append(c.args, "--key", file)
			}
			code, out := signalledRun(t, w, c.url, slices.Concat(c.args, []string{"--timeout", "1h"}, w.Args()),
				os.Interrupt)
			if code != 2 || !strings.Contains(out, "error: interrupted, before there was a verdict\nfix: run it") {
				t.Errorf("exit status %d, want 2: %s", code, out)
			}
			if status, err := w.Repo.Git("status", "--porcelain"); err != nil || status != "" {
				t.Errorf("something was written: %s %v", status, err)
			}
		})
	}
}

// signalled is a context that is canceled when it was asked so many times.
type signalled struct {
	context.Context
	end  context.CancelFunc
	left *atomic.Int64
}

func (s signalled) Err() error {
	if s.left.Add(-1) == 0 {
		s.end()
	}
	return s.Context.Err()
}

// TestReplayOfInterrupted checks that the bundle of an audit gives its report wherever a signal ended it, on the walk
// through the history too.
func TestReplayOfInterrupted(t *testing.T) {
	w := must.Get(fixture.BuildUnserved(t.TempDir(), []byte(
		"base: [{listing: ada, level: L1}, {commit: Second}, {listing: bob, level: L1}, {commit: Third}]\n")))(t)
	dir := t.TempDir()
	recorded, again, bundle := filepath.Join(dir, "recorded"), filepath.Join(dir, "again"), filepath.Join(dir, "bundle")
	walks := map[string]bool{}
	for n := range int64(12) {
		ctx, end := context.WithCancel(t.Context())
		e := signalled{ctx, end, &atomic.Int64{}}
		e.left.Store(n)
		quiet := frame.IO{Stdout: io.Discard, Stderr: io.Discard, Getenv: clitest.NoEnvironment}
		run := func(ctx context.Context, args ...string) {
			c := cli.Command(&oapgate.Program, quiet)
			c.SetArgs(args)
			_ = c.ExecuteContext(ctx)
		}
		run(e, "audit", "--repo", w.Repo.Dir, "--rev", "main", "--only", "history,layout,schema",
			"--at", "2026-06-01T00:00:00Z", "--record", bundle, "--report", "json="+recorded)
		end()
		if _, err := os.Stat(bundle); err != nil {
			continue // ended before there was anything to tell
		}
		run(t.Context(), "replay", bundle, "--repo", w.Repo.Dir, "--report", "json="+again)
		want := must.Read(t, recorded)
		if got, err := os.ReadFile(again); err != nil || string(got) != string(want) {
			t.Errorf("ended when it was asked for the %d. time: replay gives another report, error %v:\n%s\n%s", n,
				err, want, got)
		}
		walks[string(regexp.MustCompile(`"walked": \d+`).Find(want))] = true
		for _, name := range []string{recorded, again, bundle} {
			must.OK(t, os.Remove(name))
		}
	}
	for _, want := range []string{`"walked": 0`, `"walked": 1`, `"walked": 2`} {
		if !walks[want] {
			t.Errorf("no run ended with %s: %v", want, walks)
		}
	}
}
