package outside

import (
	"crypto/ed25519"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/c2sp/wycheproof"

	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/did"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/signature"
)

var (
	wycheproofVersion = goVersion("github.com/c2sp/wycheproof")
)

var wycheproofEd25519 = &judge{name: "Wycheproof Ed25519", version: wycheproofVersion, cases: 151, sound: true,
	run: func(r *run) {
		each(r, func(id string, want answer, key, message, sig []byte) {
			r.compare(id, want, func() (string, error) { return "", verified(key, message, sig) })
		})
	}}

var wycheproofText = &judge{name: "Wycheproof Ed25519, signature as text", version: wycheproofVersion, cases: 151,
	sound: true, run: func(r *run) {
		each(r, func(id string, want answer, key, message, sig []byte) {
			r.compare(id, want, func() (string, error) {
				for _, e := range []*base64.Encoding{base64.StdEncoding, base64.RawStdEncoding, base64.RawURLEncoding} {
					raw, err := signature.Text(e.EncodeToString(sig))
					if err != nil {
						return "", err
					}
					if err := verified(key, message, raw); err != nil {
						return "", err
					}
				}
				return "", nil
			})
		})
	}}

// A DID Document with the JWK has the key of the group.
var wycheproofJWK = &judge{name: "Wycheproof Ed25519, keys as JWK", version: wycheproofVersion, cases: 78, sound: true,
	explained: []explanation{{outcome: stricter, cases: "6|7|8|9|77",
		reason: "a key whose private half RFC 8032 section 7.1 publishes"}},
	run: func(r *run) {
		const subject = "did:web:a.example"
		want, err := did.Parse(subject)
		if err != nil {
			r.Fatal(err)
		}
		for i, g := range vectors(r) {
			r.compare(fmt.Sprint(i), answer{value: g.PublicKey.Pk}, func() (string, error) {
				text, err := json.Marshal(map[string]any{"id": subject, "verificationMethod": []any{map[string]any{
					"id": "#k", "type": "JsonWebKey2020", "controller": subject, "publicKeyJwk": g.PublicKeyJwk}}})
				if err != nil {
					return "", err
				}
				doc, err := did.ParseDocument("https://a.example/.well-known/did.json", text, want, time.Unix(0, 0))
				if err != nil {
					return "", err
				}
				return hex.EncodeToString(doc.Keys[0].Public), nil
			})
		}
	}}

type vectorGroup struct {
	PublicKey    struct{ Pk string }
	PublicKeyJwk map[string]any
	Tests        []struct {
		TcId             int
		Msg, Sig, Result string
	}
}

func vectors(r *run) []vectorGroup {
	text, err := fs.ReadFile(wycheproof.TestVectors, "ed25519_test.json")
	var file struct{ TestGroups []vectorGroup }
	if err == nil {
		err = json.Unmarshal(text, &file)
	}
	if err != nil {
		r.Fatal(err)
	}
	return file.TestGroups
}

func each(r *run, f func(id string, want answer, key, message, sig []byte)) {
	for _, g := range vectors(r) {
		for _, c := range g.Tests {
			key, message, sig := unhex(r, g.PublicKey.Pk), unhex(r, c.Msg), unhex(r, c.Sig)
			f(fmt.Sprint(c.TcId), accept(c.Result == "valid"), key, message, sig)
		}
	}
}

func unhex(r *run, text string) []byte {
	raw, err := hex.DecodeString(text)
	if err != nil {
		r.Fatal(err)
	}
	return raw
}

var errSignature = errors.New("the signature does not verify")

// verified verifies a signature as the gate does: the key and the text have been read by signature.PublicKey and Text.
func verified(raw, message, sig []byte) error {
	key, err := signature.PublicKey(raw)
	if err != nil {
		return err
	}
	if len(sig) != ed25519.SignatureSize || !signature.Verify(key, message, sig) {
		return errSignature
	}
	return nil
}
