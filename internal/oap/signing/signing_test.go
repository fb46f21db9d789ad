package signing

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/mr-tron/base58"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/did"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/receipt"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/needs"
)

// seed is that of RFC 8032 section 7.1, TEST 2.
var seed, _ = hex.DecodeString("4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb")

func key(t testing.TB) ed25519.PrivateKey {
	t.Helper()
	return ed25519.NewKeyFromSeed(seed)
}

func b64(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

func pemOf(kind string, der []byte) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
}

func pkcs8Of(t testing.TB, k any) []byte {
	t.Helper()
	der := must.Get(x509.MarshalPKCS8PrivateKey(k))(t)
	return der
}

// version2 is the key of RFC 8410 section 10.3, with its public half and an attribute.
const version2 = `-----BEGIN PRIVATE KEY-----
MHICAQEwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC
oB8wHQYKKoZIhvcNAQkJFDEPDA1DdXJkbGUgQ2hhaXJzgSEAGb9ECWmEzf6FQbrB
Z9w7lshQhqowtrbLDFw4rXAxZuE=
-----END PRIVATE KEY-----
`

// forms are texts of the key, each in a form that is read.
func forms(t testing.TB) map[string]string {
	private := key(t)
	public := private[ed25519.SeedSize:]
	jwk := fmt.Sprintf(`{"kty":"OKP","crv":"Ed25519","d":"%s","x":"%s"}`, b64(seed), b64(public))
	return map[string]string{
		"PKCS #8":             pemOf("PRIVATE KEY", pkcs8Of(t, private)),
		"PKCS #8, CRLF":       strings.ReplaceAll(pemOf("PRIVATE KEY", pkcs8Of(t, private)), "\n", "\r\n"),
		"PKCS #8, with words": "my key\n" + pemOf("PRIVATE KEY", pkcs8Of(t, private)) + "ED25519 Private-Key:\n",
		"JWK":                 jwk,
		"JWK, spaced": "\n  " + strings.ReplaceAll(strings.ReplaceAll(jwk, ":", " :\t"), "{",
			"{\n \"kid\": {\"a\": [1]}, \"alg\" : \"EdDSA\",") + "\n",
		"Multikey":        "z" + base58.Encode(append([]byte{0x80, 0x26}, seed...)) + "\n",
		"Multikey, whole": "z" + base58.Encode(append([]byte{0x80, 0x26}, private...)),
	}
}

func read(text string) (*Key, error) {
	k, _, err := Read(Stdin, strings.NewReader(text))
	return k, err
}

func TestForms(t *testing.T) {
	for name, text := range forms(t) {
		k, err := read(text)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if !k.Public().Equal(key(t).Public()) {
			t.Errorf("%s: another key", name)
		}
	}
	if k, err := read(version2); err != nil || k.X() != "Gb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE" {
		t.Errorf("the key of RFC 8410: %v, %v", k, err)
	}
}

// TestRefusals checks that what cannot sign is refused, with a remedy and without a byte of it.
func TestRefusals(t *testing.T) {
	private := key(t)
	public := private[ed25519.SeedSize:]
	rsaKey := must.Get(rsa.GenerateKey(rand.Reader, 2048))(t)
	ecKey := must.Get(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
	ecDER, _ := x509.MarshalECPrivateKey(ecKey)
	publicDER, _ := x509.MarshalPKIXPublicKey(private.Public())
	good := pemOf("PRIVATE KEY", pkcs8Of(t, private))
	der := pkcs8Of(t, private)
	v2, _ := pem.Decode([]byte(version2))
	other := append(bytes.Clone(v2.Bytes[:len(v2.Bytes)-1]), 0)
	jwk := func(edit ...string) string {
		return strings.NewReplacer(edit...).Replace(forms(t)["JWK"])
	}
	x25519 := bytes.Replace(der, []byte{0x2b, 0x65, 0x70}, []byte{0x2b, 0x65, 0x6e}, 1)
	for _, c := range []struct{ name, text, want string }{
		{"empty", " \n", "is empty"},
		{"large", strings.Repeat(" ", MaxBytes) + good, "more than 16384 bytes"},
		{"no key", "hello", "neither PKCS #8 PEM nor a JWK nor a Multikey"},
		{"hex", hex.EncodeToString(seed), "neither"},
		{"raw", string(seed), "neither"},
		{"RSA", pemOf("PRIVATE KEY", pkcs8Of(t, rsaKey)), "the key is for RSA"},
		{"RSA, PKCS #1", pemOf("RSA PRIVATE KEY", x509.MarshalPKCS1PrivateKey(rsaKey)), `for "RSA"`},
		{"ECDSA", pemOf("PRIVATE KEY", pkcs8Of(t, ecKey)), "for ECDSA"},
		{"ECDSA, SEC 1", pemOf("EC PARAMETERS", []byte{1}) + pemOf("EC PRIVATE KEY", ecDER), `for "EC"`},
		{"X25519", pemOf("PRIVATE KEY", x25519), "for X25519"},
		{"unknown", pemOf("PRIVATE KEY", bytes.Replace(der, []byte{0x2b, 0x65, 0x70}, []byte{0x2b, 0x65, 0x0c}, 1)),
			"the algorithm 1.3.101.12"},
		{"encrypted", pemOf("ENCRYPTED PRIVATE KEY", der), "encrypted"},
		{"encrypted, old",
			"-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,AA\n\nAAAA\n-----END RSA " +
				"PRIVATE KEY-----\n", "encrypted"},
		{"OpenSSH", pemOf("OPENSSH PRIVATE KEY", der), "format of OpenSSH"},
		{"OpenPGP", pemOf("PGP PRIVATE KEY BLOCK", der), "format of OpenPGP"},
		{"PuTTY", "PuTTY-User-Key-File-3: ssh-ed25519", "of PuTTY"},
		{"note", "PRIVATE+KEY+x+00000000+AAAA", "signed note"},
		{"public", pemOf("PUBLIC KEY", publicDER), "a public key cannot sign"},
		{"certificate", pemOf("CERTIFICATE", der), "a public key cannot sign"},
		{"ssh public", "ssh-ed25519 AAAA me", "in the format of OpenSSH"},
		{"did:key", "did:key:z6Mk", "a public key cannot sign"},
		{"Multikey, public", "z" + base58.Encode(append([]byte{0xed, 1}, public...)), "a public key cannot sign"},
		{"public, bare", base64.StdEncoding.EncodeToString(publicDER), "a public key cannot sign"},
		{"other block", pemOf("X509 CRL", der), `is a "X509 CRL"`},
		{"two", good + good, "more than one PEM block"},
		{"cut off", good[:60], "cut off or broken"},
		{"no DER", pemOf("PRIVATE KEY", seed), "no PKCS #8 key"},
		{"trailing", pemOf("PRIVATE KEY", append(bytes.Clone(der), 0)), "no PKCS #8 key"},
		{"version 2", pemOf("PRIVATE KEY", bytes.Replace(der, []byte{2, 1, 0}, []byte{2, 1, 2}, 1)), "no PKCS #8 key"},
		{"other public half", pemOf("PRIVATE KEY", other), "that of another private key"},
		{"JWK, public", jwk(`"d":"`+b64(seed)+`",`, ""), "has no member d"},
		{"JWK, no x", jwk(`,"x":"`+b64(public)+`"`, ""), "has no member x"},
		{"JWK, other x", jwk(b64(public), b64(seed)), "x of the JWK is that of another private key"},
		{"JWK, EC", jwk("OKP", "EC"), "kty OKP"},
		{"JWK, X25519", jwk("Ed25519", "X25519"), "crv Ed25519"},
		{"JWK, padded", jwk(b64(seed), b64(seed)+"="), "base64url"},
		{"JWK, stray bits", jwk(b64(seed), b64(seed)[:42]+"_"), "base64url"},
		{"JWK, number", jwk(`"`+b64(seed)+`"`, "12"), "base64url"},
		{"JWK, twice", jwk(`"kty"`, `"d":"`+b64(seed)+`","kty"`), "distinct members"},
		{"JWK, cut off", jwk("}", ""), "distinct members"},
		{"JWK, trailing", jwk("}", "} x"), "distinct members"},
		{"JWK set", `{"keys":[` + jwk() + `]}`, "a set of JWKs"},
		{"JWK, encrypted", `{"ciphertext":"x"}`, "encrypted"},
		{"method", `{"secretKeyMultibase":"` + forms(t)["Multikey"][:40] + `"}`, "put the text"},
		{"Multikey, other", "z" + base58.Encode(append([]byte{0x81, 0x26}, seed...)), "multicodec"},
		{"Multikey, short", "z" + base58.Encode(append([]byte{0x80, 0x26}, seed[1:]...)), "multicodec"},
		{"Multikey, leading zero", strings.Replace(forms(t)["Multikey"], "z", "z1", 1), "multicodec"},
		{"Multikey, other half", "z" + base58.Encode(append(append([]byte{0x80, 0x26}, seed...), seed...)),
			"that of another private key"},
		{"Multikey, no base58", "z0OIl", "multicodec"},
		{"Multikey, long", "z" + strings.Repeat("2", 4000), "multicodec"},
	} {
		k, err := read(c.text)
		if err == nil {
			t.Errorf("%s: read as %v", c.name, k)
			continue
		}
		e, ok := errors.AsType[*remedy.Error](err)
		if !ok || e.Fix() == "" || !strings.Contains(e.Error()+" "+e.Fix(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
		if leak := shows(err.Error()+e.Fix(), seed); leak != "" {
			t.Errorf("%s: the error shows the key as %s", c.name, leak)
		}
	}
}

// shows says in which form a text shows a key, empty where it does not: eight bytes of it are enough.
func shows(text string, secret []byte) string {
	for i := 0; i+8 <= len(secret); i++ {
		part := secret[i : i+8]
		for name, form := range map[string]string{
			"raw bytes": string(part), "hex": hex.EncodeToString(part),
			"HEX":     strings.ToUpper(hex.EncodeToString(part)),
			"decimal": strings.Trim(fmt.Sprint(part), "[]"),
		} {
			if strings.Contains(text, form) {
				return name
			}
		}
		// In a longer text of base64 a part begins at any of three places; the middle is the same in all.
		for pad := range 3 {
			for name, encoding := range map[string]*base64.Encoding{"base64": base64.RawStdEncoding,
				"base64url": base64.RawURLEncoding} {
				form := encoding.EncodeToString(append(make([]byte, pad), part...))
				if strings.Contains(text, form[(pad*8+5)/6:len(form)-1]) {
					return name
				}
			}
		}
	}
	for _, whole := range [][]byte{secret, append([]byte{0x80, 0x26}, secret...)} {
		if strings.Contains(text, base58.Encode(whole)[3:20]) {
			return "base58"
		}
	}
	return ""
}

func TestShows(t *testing.T) {
	for name, text := range forms(t) {
		if name != "Multikey, whole" && shows(text, seed) == "" {
			t.Errorf("%s is not found to show the key", name)
		}
	}
	if got := shows(b64(key(t)[ed25519.SeedSize:]), seed); got != "" {
		t.Errorf("the public half shows the key as %s", got)
	}
}

// TestNotShown checks that no way of printing a key shows its private half, as a panic would.
func TestNotShown(t *testing.T) {
	k := must.Get(read(forms(t)["JWK"]))(t)
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d", "%T"} {
		text := fmt.Sprintf(verb, k)
		if leak := shows(text, seed); leak != "" || verb != "%T" && !strings.Contains(text, "z6Mk") {
			t.Errorf("%s gives %s (%s)", verb, text, leak)
		}
	}
	struct1 := struct{ K *Key }{k}
	if leak := shows(fmt.Sprintf("%+v %#v", struct1, struct1), seed); leak != "" {
		t.Errorf("inside a struct it is shown as %s", leak)
	}
}

func TestSign(t *testing.T) {
	k := must.Get(New())(t)
	message := []byte("canonical")
	text, err := k.Sign(message)
	if err != nil || !receipt.VerifyBy([]did.Key{{Public: k.Public()}}, message, text) {
		t.Errorf("Sign = %q, %v", text, err)
	}
	d := must.Get(did.Parse(k.DID()))(t)
	doc, err := did.Local(d)
	if err != nil || !doc.Keys[0].Public.Equal(k.Public()) {
		t.Errorf("the did:key %s is of another key: %v", k.DID(), err)
	}
	held := k.private
	k.Wipe()
	if len(bytes.Trim(held, "\x00")) != 0 {
		t.Error("the private half is still there")
	}
	if _, err := k.Sign(message); err == nil {
		t.Error("a wiped key signs")
	}
	if err := k.WriteFile(filepath.Join(t.TempDir(), "k")); err == nil {
		t.Error("a wiped key is written")
	}
}

func TestWriteFile(t *testing.T) {
	k := must.Get(New())(t)
	dir := t.TempDir()
	path := filepath.Join(dir, "key.pem")
	must.OK(t, k.WriteFile(path))
	info, err := os.Stat(path)
	if err != nil || runtime.GOOS != "windows" && info.Mode() != 0o600 {
		t.Fatalf("%v, %v", info.Mode(), err)
	}
	before, _ := os.ReadFile(path)
	if err := k.WriteFile(path); !errors.Is(err, fs.ErrExist) {
		t.Errorf("written over: %v", err)
	}
	if after, _ := os.ReadFile(path); !bytes.Equal(before, after) {
		t.Error("the file has changed")
	}
	block, _ := pem.Decode(before)
	if parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes); err != nil || !parsed.(ed25519.PrivateKey).
		Equal(k.private) {
		t.Errorf("crypto/x509 reads another key: %v", err)
	}
	again, warning, err := Read(path, nil)
	if err != nil || warning != "" || !again.Public().Equal(k.Public()) {
		t.Errorf("%v, %q, %v", again, warning, err)
	}
	if err := os.Symlink("nowhere", filepath.Join(dir, "link")); err == nil {
		if err := k.WriteFile(filepath.Join(dir, "link")); !errors.Is(err, fs.ErrExist) {
			t.Errorf("written through a link: %v", err)
		}
	}
	for _, name := range list(t, dir) {
		if strings.HasPrefix(name, ".") {
			t.Errorf("%q is left", name)
		}
	}
	if err := k.WriteFile(filepath.Join(dir, "no", "key")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("written without a directory: %v", err)
	}
}

func list(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries := must.Get(os.ReadDir(dir))(t)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestNoWorkTree(t *testing.T) {
	k := must.Get(New())(t)
	tree := t.TempDir()
	below := filepath.Join(tree, "a", "b")
	must.OK(t, os.MkdirAll(below, 0o755))
	must.OK(t, os.WriteFile(filepath.Join(tree, ".git"), []byte("gitdir: elsewhere\n"), 0o644))
	links := []string{below, filepath.Join(t.TempDir(), "link")}
	if err := os.Symlink(below, links[1]); err != nil {
		links = links[:1]
	}
	for _, dir := range links {
		err := k.WriteFile(filepath.Join(dir, "key"))
		if e, ok := errors.AsType[*remedy.Error](err); !ok || !strings.Contains(e.Error(), "Git work tree") {
			t.Errorf("%s: %v", dir, err)
		}
	}
	if names := list(t, below); len(names) > 0 {
		t.Errorf("written: %q", names)
	}
}

func TestExposed(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no such bits")
	}
	path := filepath.Join(t.TempDir(), "key")
	for mode, want := range map[fs.FileMode]bool{0o600: false, 0o400: false, 0o640: true, 0o604: true, 0o644: true,
		0o622: false} {
		must.OK(t, os.WriteFile(path, []byte(forms(t)["JWK"]), 0o600))
		must.OK(t, os.Chmod(path, mode))
		if _, warning, err := Read(path, nil); err != nil || (warning != "") != want {
			t.Errorf("%04o: %q, %v", mode, warning, err)
		}
		must.OK(t, os.Remove(path))
	}
}

// TestOpenSSL reads what openssl writes, and has it read what this package writes.
func TestOpenSSL(t *testing.T) {
	needs.Program(t, "openssl")
	dir := t.TempDir()
	openssl := func(args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "openssl", args...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("openssl %q: %v\n%s", args, err, out)
		}
		return string(out)
	}
	openssl("genpkey", "-algorithm", "ED25519", "-out", "made.pem")
	k, _, err := Read(filepath.Join(dir, "made.pem"), nil)
	must.OK(t, err)
	publicOf := func(file string) string {
		block, _ := pem.Decode([]byte(openssl("pkey", "-in", file, "-pubout")))
		return string(block.Bytes[len(block.Bytes)-ed25519.PublicKeySize:])
	}
	if publicOf("made.pem") != string(k.Public()) {
		t.Error("openssl gives the key another public half")
	}
	must.OK(t, k.WriteFile(filepath.Join(dir, "written.pem")))
	if publicOf("written.pem") != string(k.Public()) {
		t.Error("openssl reads another key from what was written")
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"genpkey", "-algorithm", "ED448"}, "Ed448"},
		{[]string{"genpkey", "-algorithm", "X25519"}, "X25519"},
		{[]string{"genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"}, "ECDSA"},
		{[]string{"pkey", "-in", "made.pem", "-aes256", "-passout", "pass:secret"}, "encrypted"},
		{[]string{"pkey", "-in", "made.pem", "-pubout"}, "public key"},
	} {
		openssl(append(c.args, "-out", "other.pem")...)
		if _, _, err := Read(filepath.Join(dir, "other.pem"), nil); err == nil ||
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %q", c.args, err, c.want)
		}
	}
}

// FuzzRead checks that no text crashes the reader, and that what it refuses is not shown.
func FuzzRead(f *testing.F) {
	for _, text := range forms(f) {
		f.Add([]byte(text))
	}
	f.Add([]byte(version2))
	f.Fuzz(func(t *testing.T, text []byte) {
		k, _, err := Read(Stdin, bytes.NewReader(text))
		if err != nil {
			if _, ok := errors.AsType[*remedy.Error](err); !ok {
				t.Fatal(err)
			}
			return
		}
		if _, err := k.Sign([]byte("message")); err != nil {
			t.Fatal(err)
		}
	})
}
