package signing

import (
	"encoding/base64"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

// TestKeyForFile checks that a key which is given as the name of a file is refused and not repeated, and that the long
// name of a file is no key.
func TestKeyForFile(t *testing.T) {
	texts := forms(t)
	for name, text := range texts {
		if text = strings.TrimSpace(text); strings.HasPrefix(name, "PKCS #8, with") {
			text = text[strings.Index(text, "-----"):]
		}
		for _, given := range []string{text, " " + text, text + "\n"} {
			_, _, err := Read(given, nil)
			if err == nil || !strings.Contains(err.Error(), "this is a key, not a file") ||
				strings.Contains(err.Error(), given) {
				t.Errorf("%s: %v", name, err)
			}
			if !IsKey(given) || !HoldsKey("--key="+given) {
				t.Errorf("%s is not taken for a key", name)
			}
		}
	}
	for _, bare := range []string{hex.EncodeToString(seed), base64.StdEncoding.EncodeToString(seed), b64(seed),
		base64.StdEncoding.EncodeToString(pkcs8Of(t, key(t)))} {
		if _, _, err := Read(bare, nil); err == nil || strings.Contains(err.Error(), bare[:12]) {
			t.Errorf("a key without its frame is repeated: %v", err)
		}
	}
	if body := base64.StdEncoding.EncodeToString(pkcs8Of(t, key(t))); !HoldsKey("--key=" + body) {
		t.Error("PKCS #8 without its frame is not taken for a key")
	}
	for _, name := range []string{"my-organisation-registry-signing-key-for-production", "key.pem", "~/keys/z3u",
		"secrets/Registry2026/signing-keys/production.pem"} {
		if IsKey(name) || HoldsKey(name) || unrepeated(name) {
			t.Errorf("%q is taken for a key", name)
		}
	}
}

// TestReadPublic checks that the public half is read from each form of a private and of a public key, and cannot sign.
func TestReadPublic(t *testing.T) {
	for name, text := range forms(t) {
		k, private, _, err := ReadPublic(Stdin, strings.NewReader(text))
		if err != nil || !private || !k.Public().Equal(key(t).Public()) {
			t.Errorf("%s: private %t, %v", name, private, err)
			continue
		}
		if _, err := k.Sign([]byte("x")); err == nil {
			t.Errorf("%s: the key signs", name)
		}
	}
	whole, _ := read(forms(t)["JWK"])
	file := filepath.Join(t.TempDir(), "public")
	for _, text := range []string{whole.Multikey(), whole.DID(),
		`{"kty":"OKP","crv":"Ed25519","x":"` + whole.X() + `"}`} {
		must.OK(t, os.WriteFile(file, []byte(text+"\n"), 0o644))
		k, private, _, err := ReadPublic(file, nil)
		if err != nil || private || k.DID() != whole.DID() {
			t.Errorf("%s: private %t, %v", text, private, err)
		}
		if _, _, err := Read(file, nil); err == nil {
			t.Errorf("%s signs", text)
		}
	}
	for _, text := range []string{"", "z6Mk", "did:key:z6Mkabc", "hello", `{"kty":"OKP","crv":"Ed25519","x":"AA"}`} {
		if k, _, _, err := ReadPublic(Stdin, strings.NewReader(text)); err == nil {
			t.Errorf("%q is read as %v", text, k)
		}
	}
}
