// Package witness tests the published log with a witness and a verifier that others wrote. It is a module of its own:
// what these require does not belong into the program's go.mod.
package witness

import (
	"bufio"
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"filippo.io/torchwood"
	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// command runs a program, which must end with a status, and returns what it wrote.
func command(t *testing.T, status int, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != status {
		t.Fatalf("%s %q: %v, want exit status %d\n%s", filepath.Base(name), args, err, status, out)
	}
	return string(out)
}

// built builds the program and the witness.
func built(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for _, args := range [][]string{
		{"-C", filepath.Join("..", ".."), "build", "-o", dir, "./cmd/oap-gate"},
		{"build", "-mod=readonly", "-o", dir, "filippo.io/torchwood/cmd/litewitness"}} {
		if out, err := exec.Command("go", args...).CombinedOutput(); err != nil {
			t.Fatalf("go %q: %v\n%s", args, err, out)
		}
	}
	return dir
}

// keys serves an SSH agent that holds the key of the witness, on a socket, and returns the key's fingerprint.
func keys(t *testing.T, socket string) (fingerprint string) {
	t.Helper()
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	ring := agent.NewKeyring()
	if err := ring.Add(agent.AddedKey{PrivateKey: private}); err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() { _ = agent.ServeAgent(ring, conn) }()
		}
	}()
	public, err := ssh.NewPublicKey(private.Public())
	if err != nil {
		t.Fatal(err)
	}
	return ssh.FingerprintSHA256(public)
}

// knows adds a log to the database of the witness. witnessctl does that, and requires a module that does not resolve.
func knows(t *testing.T, database, origin, verifier string) {
	t.Helper()
	db, err := sqlite.OpenConn(database, sqlite.OpenReadWrite)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	none := sha256.Sum256(nil)
	for statement, args := range map[string][]any{
		"INSERT INTO log (origin, tree_size, tree_hash) VALUES (?, 0, ?)": {origin,
			base64.StdEncoding.EncodeToString(none[:])},
		"INSERT INTO key (origin, key) VALUES (?, ?)": {origin, verifier}} {
		if err := sqlitex.Execute(db, statement, &sqlitex.ExecOptions{Args: args}); err != nil {
			t.Fatal(err)
		}
	}
}

// TestLitewitness publishes a log that litewitness cosigns at two sizes, again at the same size, and refuses after a
// fork. torchwood verifies a proof from that log, with the entry that the program writes.
func TestLitewitness(t *testing.T) {
	programs, dir := built(t), t.TempDir()
	program := func(name string) string { return filepath.Join(programs, name) }
	in := func(name string) string { return filepath.Join(dir, name) }
	const origin = "registry.example/log"
	verifier := strings.TrimSpace(command(t, 0, program("oap-gate"), "key", "new", in("log.key"), "--origin", origin))
	verifier, _, _ = strings.Cut(verifier, "\n")
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := free.Addr().String()
	free.Close()
	fingerprint := keys(t, in("agent"))
	cmd := exec.Command(program("litewitness"), "-db", in("db"), "-name", "witness.example/w", "-ssh-agent",
		in("agent"), "-key", fingerprint, "-listen", address)
	messages, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	witness := ""
	lines := bufio.NewScanner(messages)
	for lines.Scan() {
		if _, after, found := strings.Cut(lines.Text(), "vkey="); found {
			witness = strings.Trim(after, `"`)
		}
		if strings.Contains(lines.Text(), "listening") {
			break
		}
	}
	if witness == "" {
		t.Fatal("the witness names no verifier key")
	}
	go func() {
		for lines.Scan() {
		}
	}()
	knows(t, in("db"), origin, verifier)
	policy := fmt.Sprintf("log %s\nwitness w %s http://%s/\nquorum w\n", verifier, witness, address)
	if err := os.WriteFile(in("policy"), []byte(policy), 0o666); err != nil {
		t.Fatal(err)
	}

	clone := in("clone")
	git := func(args ...string) string {
		return strings.TrimSpace(command(t, 0, "git", append([]string{"-C", clone, "-c", "user.name=a", "-c",
			"user.email=a@a.example"}, args...)...))
	}
	commits := 0
	commit := func(text string) {
		commits++
		if err := os.WriteFile(filepath.Join(clone, "README.md"), fmt.Appendf(nil, "%s %d\n", text, commits),
			0o666); err != nil {
			t.Fatal(err)
		}
		git("add", "-A")
		git("commit", "-q", "-m", text)
	}
	command(t, 0, "git", "init", "-q", "-b", "main", clone)
	if err := os.MkdirAll(filepath.Join(clone, "implementations"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(clone, "implementations", ".gitkeep"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	audit := func(status int, log string) string {
		return command(t, status, program("oap-gate"), "audit", "--repo", clone, "--checkpoint", log+".cp", "--origin",
			"registry.example", "--log", log, "--log-sign-key", in("log.key"), "--witness-policy", in("policy"))
	}
	for range 4 {
		commit("a")
	}
	for _, more := range []int{0, 3, 0} { // sizes 4 and 7, and 7 again
		for range more {
			commit("a")
		}
		if out := audit(0, in("log")); !strings.Contains(out, "cosigned by 1") {
			t.Errorf("size %d: not cosigned\n%s", commits, out)
		}
	}

	// torchwood accepts the proof, and not of another entry.
	command(t, 0, program("oap-gate"), "prove", "tool", "--repo", clone, "--log", in("log"), "--out", in("proof"))
	command(t, 1, program("oap-gate"), "prove", "tool", "--check", in("proof"), "--witness-policy", in("policy"),
		"--entry", in("entry"))
	read := func(name string) []byte {
		data, err := os.ReadFile(in(name))
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	log, err := note.NewVerifier(verifier)
	if err != nil {
		t.Fatal(err)
	}
	cosigner, err := torchwood.NewCosignatureVerifier(witness)
	if err != nil {
		t.Fatal(err)
	}
	both := torchwood.ThresholdPolicy(3, torchwood.OriginPolicy(origin), torchwood.SingleVerifierPolicy(log),
		torchwood.SingleVerifierPolicy(cosigner))
	entry := read("entry")
	if err := torchwood.VerifyProof(both, tlog.RecordHash(entry), read("proof")); err != nil {
		t.Error(err)
	}
	if torchwood.VerifyProof(both, tlog.RecordHash(bytes.ToUpper(entry)), read("proof")) == nil {
		t.Error("torchwood accepts the proof of another entry: this shows nothing")
	}

	// Another history under the same key, from a directory that forgot what was signed.
	git("checkout", "-q", "-B", "main", "main~3")
	for range 5 {
		commit("b")
	}
	if out := audit(1, in("forked")); !strings.Contains(out, "witness-refused") {
		t.Errorf("a fork\n%s", out)
	}
	if _, err := os.Stat(in("forked/checkpoint")); !os.IsNotExist(err) {
		t.Errorf("a fork is published: %v", err)
	}
}
