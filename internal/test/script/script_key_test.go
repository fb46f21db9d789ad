package script_test

import (
	"crypto/ed25519"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mr-tron/base58"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/clitest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/fixture"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

// keyFile writes the key of a name, which the world's implementations have too, as PEM, jwk or multikey.
func keyFile(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 || len(args) > 3 {
		ts.Fatalf("usage: keyfile NAME FILE [jwk|multikey]")
	}
	key := fixture.Key(args[0])
	der, err := x509.MarshalPKCS8PrivateKey(key)
	ts.Check(err)
	text := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
	switch b64 := base64.RawURLEncoding.EncodeToString; args[len(args)-1] {
	case "jwk":
		text = fmt.Appendf(nil, `{"kty":"OKP","crv":"Ed25519","d":"%s","x":"%s"}`, b64(key.Seed()),
			b64(key[ed25519.SeedSize:]))
	case "multikey":
		text = []byte("z" + base58.Encode(append([]byte{0x80, 0x26}, key.Seed()...)))
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), text, 0o600))
	s := state(ts)
	s.secrets = append(s.secrets, fixture.Key(args[0]).Seed())
	s.keys = append(s.keys, ts.MkAbs(args[1]))
}

// unseen requires that no file of the script but the keys' own has one of its keys, and that the last program wrote
// none.
func unseen(ts *testscript.TestScript, neg bool, args []string) {
	s := state(ts)
	if neg || len(args) > 0 || len(s.secrets) == 0 {
		ts.Fatalf("usage: unseen, after keyfile")
	}
	check := func(name, text string) {
		for _, secret := range s.secrets {
			if form := shows(text, secret); form != "" {
				ts.Fatalf("%s shows a private key as %s", name, form)
			}
		}
	}
	check("stdout", ts.ReadFile("stdout"))
	check("stderr", ts.ReadFile("stderr"))
	ts.Check(filepath.WalkDir(ts.MkAbs("."), func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || slices.Contains(s.keys, path) {
			return err
		}
		text, err := os.ReadFile(path)
		check(path, string(text))
		return err
	}))
}

// shows says in which form a text shows a key, empty where it does not: a part of ten bytes is enough.
func shows(text string, secret []byte) string {
	for i := 0; i+10 <= len(secret); i += 3 {
		part := secret[i : i+10]
		forms := map[string]string{"raw bytes": string(part), "hex": hex.EncodeToString(part),
			"HEX": strings.ToUpper(hex.EncodeToString(part)), "decimal": strings.Trim(fmt.Sprint(part), "[]")}
		for pad := range 3 { // in a longer text a part begins at any of three places
			for name, encoding := range map[string]*base64.Encoding{"base64": base64.RawStdEncoding,
				"base64url": base64.RawURLEncoding} {
				form := encoding.EncodeToString(append(make([]byte, pad), part...))
				forms[fmt.Sprint(name, pad)] = form[(pad*8+5)/6 : len(form)-1]
			}
		}
		for name, form := range forms {
			if strings.Contains(text, form) {
				return name
			}
		}
	}
	whole := ed25519.NewKeyFromSeed(secret)
	for _, raw := range [][]byte{secret, slices.Concat([]byte{0x80, 0x26}, secret), slices.Concat([]byte{0x80, 0x26},
		whole)} {
		if strings.Contains(text, base58.Encode(raw)[4:24]) {
			return "multibase"
		}
	}
	return ""
}

// runCommand runs a command with the flags of the script's world, for which it must end with the status.
func runCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: run STATUS COMMAND [ARGUMENT…]")
	}
	w := state(ts).world
	flags := append(w.Args(), "--retry-wait", "1ms")
	words := 2
	switch args[1] {
	case "key": // has no --repo
		flags, words = flags[2:], 3
	case "list": // asks nobody
		flags = flags[:4]
	}
	endsWith(ts, args[0], slices.Concat(args[1:words], flags, args[words:]))
}

// sign puts into the environment what somebody whose key lives elsewhere would give back: the signature, by the key
// of a name, of the second line of stdout.
func sign(ts *testscript.TestScript, neg bool, args []string) {
	lines := strings.Split(ts.ReadFile("stdout"), "\n")
	if neg || len(args) != 2 || len(lines) != 4 {
		ts.Fatalf("usage: sign VAR NAME, after what prints a path, the bytes to sign and their SHA-256")
	}
	if sum := sha256.Sum256([]byte(lines[1])); hex.EncodeToString(sum[:]) != lines[2] {
		ts.Fatalf("the SHA-256 of the bytes is not %s", lines[2])
	}
	setenv(ts, args[0], base64.StdEncoding.EncodeToString(ed25519.Sign(fixture.Key(args[1]), []byte(lines[1]))))
}

// serve has the world's web serve a file at a URL.
func serve(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: serve FILE URL")
	}
	state(ts).world.Web.Page(args[1], []byte(ts.ReadFile(args[0])))
}

// publishLog is the command publish of scripts.
func publishLog(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: publish DIR")
	}
	at, err := time.Parse(time.RFC3339, ts.Getenv("AT"))
	ts.Check(err)
	_, err = clitest.WriteLog(ts.Getenv("REGISTRY"), ts.MkAbs(args[0]), at)
	ts.Check(err)
}

// TestShows checks that what `unseen` looks for is found where it is.
func TestShows(t *testing.T) {
	key := fixture.Key("nova")
	der := must.Get(x509.MarshalPKCS8PrivateKey(key))(t)
	for name, text := range map[string]string{
		"PEM": string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})), "raw": "x" + string(key),
		"hex": fmt.Sprintf("%x", der), "list": fmt.Sprint(key),
		"base64url": base64.RawURLEncoding.EncodeToString(key.Seed()),
		"multibase": "z" + base58.Encode(append([]byte{0x80, 0x26}, key.Seed()...)),
		"whole":     "z" + base58.Encode(append([]byte{0x80, 0x26}, key...)),
	} {
		if shows(text, key.Seed()) == "" {
			t.Errorf("%s is not found", name)
		}
	}
	if form := shows(fmt.Sprintf("%x %v", key[32:], key[32:]), key.Seed()); form != "" {
		t.Errorf("the public half is taken for the private one, as %s", form)
	}
}
