package mirrorcmd_test

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/proof"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/clitest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

// noting is a witness that cosigns whatever it is sent, and keeps it: what left the machine.
type noting struct {
	private ed25519.PrivateKey
	mu      sync.Mutex
	sent    []*proof.Signed
}

func (w *noting) key() []byte { return append([]byte{4}, w.private.Public().(ed25519.PublicKey)...) }

func (w *noting) hash() []byte {
	sum := sha256.Sum256(slices.Concat([]byte("w.example\n"), w.key()))
	return sum[:4]
}

func (w *noting) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	_, checkpoint, _ := bytes.Cut(body, []byte("\n\n"))
	s, err := proof.ParseSigned(checkpoint)
	if err != nil {
		rw.WriteHeader(http.StatusBadRequest)
		return
	}
	w.mu.Lock()
	w.sent = append(w.sent, s)
	w.mu.Unlock()
	now := time.Now().Unix()
	line := binary.BigEndian.AppendUint64(w.hash(), uint64(now))
	line = append(line, ed25519.Sign(w.private, fmt.Appendf(nil, "cosignature/v1\ntime %d\n%s", now, s.Text()))...)
	fmt.Fprintf(rw, "— w.example %s\n", base64.StdEncoding.EncodeToString(line))
}

// TestLogKilled kills audits that publish a log at many moments, while the history grows. Each log checkpoint that
// left the machine is one of the same log, and the next run continues.
func TestLogKilled(t *testing.T) {
	clitest.SkipKills(t)
	t.Parallel()
	c, dir := empty(t), t.TempDir()
	w := &noting{private: ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))}
	server := httptest.NewServer(w)
	t.Cleanup(server.Close)
	key, policy, log := filepath.Join(dir, "log.key"), filepath.Join(dir, "policy"), filepath.Join(dir, "log")
	code, out := clitest.Program(t, "key", "new", key, "--origin", "registry.example/log")
	if code != 0 {
		t.Fatal(out)
	}
	verifier, _, _ := strings.Cut(out, "\n")
	text := fmt.Sprintf("log %s\nwitness w w.example+%x+%s %s/\nquorum w\n", verifier, w.hash(),
		base64.StdEncoding.EncodeToString(w.key()), server.URL)
	must.OK(t, os.WriteFile(policy, []byte(text), 0o666))
	args := []string{"audit", "--repo", c.Dir, "--checkpoint", filepath.Join(dir, "cp"), "--origin",
		"registry.example", "--log", log, "--log-sign-key", key, "--witness-policy", policy}
	began := time.Now()
	if out, err := exec.Command("oap-gate", args...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	took := time.Since(began)
	signedAt := func(name string) *proof.Signed {
		s, err := proof.ParseSigned(must.Read(t, filepath.Join(log, name)))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		return s
	}
	const kills = 24
	unfinished := 0
	for n := range kills {
		c.Commit("README.md", fmt.Sprintf("%d\n", n))
		cmd := exec.Command("oap-gate", args...)
		must.OK(t, cmd.Start())
		time.Sleep(took * time.Duration(n+1) * 3 / 2 / kills)
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if signed, published := signedAt("signed"), signedAt("checkpoint"); published.Size > signed.Size {
			t.Errorf("kill %d: published at size %d, signed at %d", n, published.Size, signed.Size)
		}
		if signedAt("checkpoint").Size < int64(n+2) {
			unfinished++
		}
	}
	if unfinished == 0 {
		t.Error("every kill came too late: this shows nothing")
	}
	if out, err := exec.Command("oap-gate", args...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	last := signedAt("checkpoint")
	if last.Size != kills+1 {
		t.Errorf("the log has %d entries, want %d", last.Size, kills+1)
	}
	entries := must.Get(proof.ReadEntries(last.Checkpoint, func(path string, _ int64) ([]byte, error) {
		return os.ReadFile(filepath.Join(log, filepath.FromSlash(path)))
	}))(t)
	var whole proof.Log
	for _, e := range entries {
		must.OK(t, whole.Add(e.Text()))
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, s := range w.sent {
		if root, err := whole.Root(s.Size); err != nil || root != s.Root {
			t.Errorf("at size %d the root %s left the machine, and the log has %s, %v", s.Size, s.Root, root, err)
		}
	}
	if len(w.sent) < 2 {
		t.Errorf("%d log checkpoints left the machine", len(w.sent))
	}
}
