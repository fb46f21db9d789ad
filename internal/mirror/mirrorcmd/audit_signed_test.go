package mirrorcmd_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/clitest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/fixture"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/needs"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// signedRegistry is a registry to which commits are added with real gpg and ssh-keygen.
type signedRegistry struct {
	t     *testing.T
	w     *fixture.World
	home  string
	files string
}

// Seconds since the epoch: the keys are made on 2026-05-01, the commits in the minutes before 2026-05-25, the
// audit is of 2026-06-01.
const (
	madeKeys = 1777593600
	signedAt = 1779667200
)

func newSignedRegistry(t *testing.T) *signedRegistry {
	t.Helper()
	needs.Program(t, "gpg", "gpgconf", "ssh-keygen")
	w := clitest.Build(t, "base: [{listing: eve}]")
	home, err := os.MkdirTemp("", "sig") // the agent's socket needs a short path
	must.OK(t, err)
	r := &signedRegistry{t, w, home, t.TempDir()}
	t.Cleanup(func() {
		_, _ = r.try("", "gpgconf", "--kill", "all")
		if err := os.RemoveAll(home); err != nil {
			t.Error(err)
		}
	})
	r.run("", "git", "checkout", "-q", "main")
	return r
}

func (r *signedRegistry) try(input, name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir = r.w.Repo.Dir
	cmd.Stdin = strings.NewReader(input)
	date := fmt.Sprint(signedAt, " +0000")
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + r.home, "GNUPGHOME=" + r.home, "LC_ALL=C", "TZ=UTC",
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_AUTHOR_NAME=Registry",
		"GIT_AUTHOR_EMAIL=registry@example.org",
		"GIT_COMMITTER_NAME=Registry", "GIT_COMMITTER_EMAIL=registry@example.org", "GIT_AUTHOR_DATE=" + date,
		"GIT_COMMITTER_DATE=" + date}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("%s %q: %w: %s", name, args, err, stderr.Bytes())
	}
	return string(out), err
}

func (r *signedRegistry) run(input, name string, args ...string) string {
	r.t.Helper()
	out := must.Get(r.try(input, name, args...))(r.t)
	return out
}

func (r *signedRegistry) file(name, text string) string {
	r.t.Helper()
	path := filepath.Join(r.files, name)
	must.OK(r.t, os.WriteFile(path, []byte(text), 0o700))
	return path
}

// commit adds a commit to main; options are of git.
func (r *signedRegistry) commit(options ...string) {
	r.t.Helper()
	sign := "-S"
	if len(options) == 0 {
		sign = "--no-gpg-sign"
	}
	r.run("", "git", append(options, "commit", "-q", "--allow-empty", sign, "-m", "step")...)
}

func (r *signedRegistry) gpgKey(name, expire string) string {
	r.t.Helper()
	base := []string{"--batch", "--quiet", "--no-tty", "--pinentry-mode", "loopback", "--faked-system-time",
		fmt.Sprint(madeKeys, "!"), "--passphrase", ""}
	r.run("", "gpg", append(base, "--quick-gen-key", name+"@example.org", "ed25519", "sign", expire)...)
	return r.run("", "gpg", append(base, "--armor", "--export", name+"@example.org")...)
}

// revoke returns a key with its revocation.
func (r *signedRegistry) revoke(name string) string {
	r.t.Helper()
	listed := r.run("", "gpg", "--batch", "--with-colons", "--list-keys", name+"@example.org")
	_, rest, _ := strings.Cut(listed, "\nfpr:")
	fingerprint, _, _ := strings.Cut(strings.Trim(rest, ":"), ":")
	text := must.Read(r.t, filepath.Join(r.home, "openpgp-revocs.d", fingerprint+".rev"))
	r.run(strings.Replace(string(text), ":-----BEGIN", "-----BEGIN", 1), "gpg", "--batch", "--quiet", "--import")
	return r.run("", "gpg", "--batch", "--armor", "--export", name+"@example.org")
}

func (r *signedRegistry) byGPG(name string) {
	r.t.Helper()
	gpg := r.file("gpg", fmt.Sprintf("#!/bin/sh\nexec gpg --pinentry-mode loopback --faked-system-time %d! \"$@\"\n",
		signedAt))
	r.commit("-c", "gpg.program="+gpg, "-c", "user.signingKey="+name+"@example.org")
}

func (r *signedRegistry) sshKey(name string) string {
	r.t.Helper()
	r.run("", "ssh-keygen", "-q", "-N", "", "-C", name, "-t", "ed25519", "-f", filepath.Join(r.files, name))
	text := must.Read(r.t, filepath.Join(r.files, name+".pub"))
	return strings.Join(strings.Fields(string(text))[:2], " ")
}

func (r *signedRegistry) bySSH(name string) {
	r.t.Helper()
	r.commit("-c", "gpg.format=ssh", "-c", "user.signingKey="+filepath.Join(r.files, name))
}

// tamper changes the message of the tip, under its signature.
func (r *signedRegistry) tamper() {
	r.t.Helper()
	raw := r.run("", "git", "cat-file", "commit", "HEAD")
	id := r.run(strings.Replace(raw, "\n\nstep", "\n\nStep", 1), "git", "hash-object", "-t", "commit", "-w", "--stdin")
	r.run("", "git", "reset", "-q", "--hard", strings.TrimSpace(id))
}

// TestAuditSignatures checks that the program counts commits by their signatures, with OpenPGP and SSH keys side by
// side, that only --require-signed makes a failure of them, and that the text tells the counts.
func TestAuditSignatures(t *testing.T) {
	t.Parallel()
	r := newSignedRegistry(t)
	keys := r.gpgKey("ada", "never") + r.gpgKey("brief", "seconds=2160000") // 25 days, to 2026-05-26
	r.gpgKey("stranger", "never")
	r.gpgKey("lost", "never")
	allowed := "ina@example.org " + r.sshKey("ina") + "\n" +
		"old@example.org valid-before=\"20260502Z\" " + r.sshKey("old") + "\n" +
		"file@example.org namespaces=\"file\" " + r.sshKey("file") + "\n"
	signers := r.file("allowed", allowed)
	r.sshKey("nobody")
	for range 2 {
		r.byGPG("ada") // good
		r.bySSH("ina") // good
	}
	r.byGPG("stranger") // unknown key
	r.bySSH("nobody")   // unknown key
	r.byGPG("brief")    // good: the key ended after the commit landed
	r.byGPG("lost")     // revoked key, though it was revoked after the commit landed
	lost := strings.TrimSpace(r.run("", "git", "rev-parse", "HEAD"))
	keyring := r.file("keyring", keys+r.revoke("lost"))
	r.bySSH("old") // expired key
	r.byGPG("ada")
	r.tamper() // bad
	r.bySSH("ina")
	r.tamper() // bad
	r.commit() // unsigned, beside the first

	report := filepath.Join(r.files, "report.json")
	args := slices.Concat([]string{"audit", "--offline", "--rev", "main", "--report", "json=" + report}, r.w.Args())
	both := []string{"--keyring", keyring, "--allowed-signers", signers}
	for _, c := range []struct {
		name     string
		flags    []string
		status   int
		counts   string
		findings int
	}{
		{"counted", both, 0,
			"5 good, 2 bad, 2 unsigned, 2 by an unknown key, 1 by an expired key, 1 by a revoked key", 8},
		{"required", append(both, "--require-signed"), 1,
			"5 good, 2 bad, 2 unsigned, 2 by an unknown key, 1 by an expired key, 1 by a revoked key", 8},
		{"OpenPGP alone", both[:2], 0,
			"3 good, 1 bad, 2 unsigned, 6 by an unknown key, 0 by an expired key, 1 by a revoked key", 10},
		{"SSH alone", both[2:], 0,
			"2 good, 1 bad, 2 unsigned, 7 by an unknown key, 1 by an expired key, 0 by a revoked key", 11},
		{"no keys", nil, 0,
			"0 good, 0 bad, 2 unsigned, 11 by an unknown key, 0 by an expired key, 0 by a revoked key", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			code, out := clitest.Program(t, append(args, c.flags...)...)
			if code != c.status || !strings.Contains(strings.Join(strings.Fields(out), " "), c.counts) {
				t.Errorf("exit status %d, want %d, and %q in\n%s", code, c.status, c.counts, out)
			}
			var rep verdict.Report
			must.OK(t, json.Unmarshal(must.Read(t, report), &rep))
			severity := "warning"
			if c.status == 1 {
				severity = "error"
			}
			n := 0
			for r := range rep.Results.All() {
				for _, f := range r.Findings {
					if r.Check == "commit-signatures" && f.Severity.String() == severity {
						n++
					}
				}
			}
			if n != c.findings {
				t.Errorf("%d findings of the severity %s, want %d", n, severity, c.findings)
			}
			if got := rep.History.Signatures.String(); got != c.counts {
				t.Errorf("the report counts %s, want %s", got, c.counts)
			}
			text := string(must.Read(t, report))
			if c.name == "counted" && (!strings.Contains(text, "signed by an unknown key (SHA256:") ||
				!strings.Contains(text, " old@example.org): ")) {
				t.Errorf("the keys of signatures are not named in\n%s", text)
			}
		})
	}

	// The finding of the revoked key is accepted by its code.
	accepted := r.file("accepted", lost+" commit-signatures/signature-key-revoked the key was lost later\n")
	code, out := clitest.Program(t, append(append(args, both...), "--require-signed", "--accepted", accepted)...)
	if code != 1 || strings.Contains(out, "accepted-unused") || !strings.Contains(out, "signature-key-revoked") ||
		!strings.Contains(out, `accepted: "the key was lost later"`) {
		t.Errorf("exit status %d of\n%s", code, out)
	}

	// Signatures that are demanded anew are judged from the root on, whatever a checkpoint without them says.
	state := filepath.Join(r.files, "state")
	pinned := append(args, "--checkpoint", state, "--origin", "registry.example")
	clitest.Run(t, 0, "", pinned...)
	before := must.Read(t, state)
	clitest.Run(t, 1, "2 bad", append(append(pinned, both...), "--require-signed")...)
	if !bytes.Equal(must.Read(t, state), before) {
		t.Error("the checkpoint moved")
	}
}
