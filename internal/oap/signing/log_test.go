package signing

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/mod/sumdb/note"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

func TestWriteLogKey(t *testing.T) {
	file := filepath.Join(t.TempDir(), "log.key")
	const origin = "registry.example.org/oap/log"
	public := must.Get(WriteLogKey(file, origin))(t)
	text := must.Read(t, file)
	private, found := strings.CutPrefix(string(text), "oap-gate log key v1\n")
	signer, err := note.NewSigner(strings.TrimSuffix(private, "\n"))
	if err != nil || !found || signer.Name() != origin {
		t.Fatalf("the file holds no key of the log: %v", err)
	}
	verifier := must.Get(note.NewVerifier(public))(t)
	if signature, err := signer.Sign([]byte("x")); err != nil || !verifier.Verify([]byte("x"), signature) {
		t.Errorf("the keys are not a pair: %v", err)
	}
	if _, _, err := Read(file, nil); err == nil || strings.Contains(err.Error(), private[:20]) {
		t.Errorf("a log key is read as one that signs records: %v", err)
	}
	for _, bad := range []string{"", "a b", "a\tb", "a+b", "a\x01", "\xff", "a\u2003b", strings.Repeat("a", 256)} {
		other := filepath.Join(t.TempDir(), "x")
		if _, err := WriteLogKey(other, bad); err == nil {
			t.Errorf("%q is accepted", bad)
		}
		if _, err := os.Stat(other); err == nil {
			t.Errorf("%q: a key was written", bad)
		}
	}
}
