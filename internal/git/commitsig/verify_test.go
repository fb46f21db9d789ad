package commitsig

import (
	"bytes"
	"encoding/pem"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ProtonMail/go-crypto/openpgp"
	"github.com/ProtonMail/go-crypto/openpgp/armor"
	"github.com/ProtonMail/go-crypto/openpgp/packet"
	"github.com/hiddeco/sshsig"

	"github.com/openagentprotocol-OAP/oap-gate/internal/git/gitstore"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

const unsignedText = "tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904\nauthor A <a@example.org> 1700000000 +0000\n" +
	"committer C <c@example.org> 1700000000 +0000\n\nmessage\n"

var judgedAt = time.Unix(epoch+60, 0)

// trusted is a verifier and a commit signed by each of its keys.
func trusted(t testing.TB) (v *Verifier, byPGP, bySSH string) {
	t.Helper()
	config := &packet.Config{Algorithm: packet.PubKeyAlgoEdDSA, Time: func() time.Time { return time.Unix(epoch, 0) }}
	entity := must.Get(openpgp.NewEntity("E", "", "e@example.org", config))(t)
	var keyring, sig bytes.Buffer
	must.OK(t, entity.Serialize(&keyring))
	must.OK(t, openpgp.ArmoredDetachSign(&sig, entity, strings.NewReader(unsignedText), config))
	key, text := sshSigner(t, 'k')
	signed, err := sshsig.Sign(strings.NewReader(unsignedText), key, sshsig.HashSHA512, gitNamespace)
	must.OK(t, err)
	if v, err = New(keyring.Bytes(), []byte("k@example.org "+text)); err != nil {
		t.Fatal(err)
	}
	return v, withSignature(unsignedText, sig.String()), withSignature(unsignedText, string(sshsig.Armor(signed)))
}

func TestVerify(t *testing.T) {
	v, byPGP, bySSH := trusted(t)
	for _, raw := range []string{byPGP, bySSH} {
		c := decode(t, raw)
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				for range 20 {
					if got := v.Verify(c, judgedAt); got.Verdict != Good {
						t.Errorf("judged %+v", got)
					}
				}
			})
		}
		wg.Wait()
		none := must.Get(New(nil, nil))(t)
		if got := none.Verify(c, judgedAt); got.Verdict != UnknownKey {
			t.Errorf("without keys judged %+v", got)
		}
	}
	long := decode(t, withSignature(unsignedText, "-----BEGIN SSH SIGNATURE-----\n"+strings.Repeat("A", maxSignature)))
	if got := v.Verify(long, judgedAt); got.Verdict != Bad {
		t.Errorf("judged %+v", got)
	}
}

func TestSignersSHA256(t *testing.T) {
	_, text := sshSigner(t, 'k')
	none := must.Get(New(nil, nil))(t)
	some := must.Get(New(nil, []byte("a "+text)))(t)
	// printf 'oap-gate signers v1\n-\n-\n' | sha256sum
	if got, want := none.SignersSHA256(),
		"7e33c019149bade2b5d6bc0339927dc3745059ee0b26976e6d7465aae49cffb3"; got != want {
		t.Errorf("digest %s, want %s", got, want)
	}
	// printf 'oap-gate signers v1\n-\n%s\n' "$(printf '%s' 'a ssh-ed25519 …' | sha256sum | cut -c-64)" | sha256sum
	if got, want := some.SignersSHA256(),
		"37f2a8d2e1966de1ab8c9e0eb5cbc8a4ea13f2f8bc9481413ae64ced14bf8767"; got != want {
		t.Errorf("digest %s of %q, want %s", got, "a "+text, want)
	}
}

// FuzzSignature checks that no signature of foreign making is good for a commit that nobody signed.
func FuzzSignature(f *testing.F) {
	v, byPGP, bySSH := trusted(f)
	block, _ := pem.Decode(signatureOf(decode(f, bySSH)).signature)
	f.Add(block.Bytes)
	sig := must.Get(armor.Decode(bytes.NewReader(signatureOf(decode(f, byPGP)).signature)))(f)
	var blob bytes.Buffer
	if _, err := blob.ReadFrom(sig.Body); err != nil {
		f.Fatal(err)
	}
	f.Add(blob.Bytes())
	other := strings.Replace(unsignedText, "message", "another", 1)
	f.Fuzz(func(t *testing.T, blob []byte) {
		var pgp bytes.Buffer
		w := must.Get(armor.Encode(&pgp, openpgp.SignatureType, nil))(t)
		if _, err := w.Write(blob); err != nil {
			t.Fatal(err)
		}
		must.OK(t, w.Close())
		for _, text := range []string{pgp.String(),
			string(pem.EncodeToMemory(&pem.Block{Type: sshsig.PEMType, Bytes: blob}))} {
			got := v.Verify(decode(t, withSignature(other, text)), judgedAt)
			if got.Verdict == Good || got.Verdict == Unsigned || got.Verdict == "" {
				t.Errorf("judged %+v", got)
			}
		}
	})
}

// FuzzCommit checks that a commit is good only if what was signed is all that it says beside the signature.
func FuzzCommit(f *testing.F) {
	v, byPGP, bySSH := trusted(f)
	for _, raw := range []string{byPGP, bySSH, unsignedText,
		strings.Replace(bySSH, "\n\n", "\ngpgsig-sha256 x\n y\n\n", 1),
		strings.Replace(byPGP, "gpgsig ", "gpgsig x\ngpgsig ", 1)} {
		f.Add([]byte(raw))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		c, err := gitstore.DecodeCommit(raw)
		if err != nil {
			return
		}
		got := v.Verify(c, judgedAt)
		of := signatureOf(c)
		if got.Verdict == Good && string(of.payload) != unsignedText {
			t.Errorf("judged %+v, payload %q", got, of.payload)
		}
		if (got.Verdict == Unsigned) != (of.kind == noSignature) || len(of.payload)+len(of.signature) > len(raw) {
			t.Errorf("judged %+v, the signature is %+v", got, of)
		}
		if of.payload != nil {
			if again, err := gitstore.DecodeCommit(of.payload); err != nil || signatureOf(again).kind != noSignature ||
				again.Tree != c.Tree {
				t.Errorf("payload %q gives %+v, %v", of.payload, again, err)
			}
		}
	})
}

func BenchmarkVerify(b *testing.B) {
	v, byPGP, bySSH := trusted(b)
	for _, bb := range []struct{ name, raw string }{{"OpenPGP", byPGP}, {"SSH", bySSH}} {
		b.Run(bb.name, func(b *testing.B) {
			raw := []byte(bb.raw)
			for b.Loop() {
				c := must.Get(gitstore.DecodeCommit(raw))(b)
				if got := v.Verify(c, judgedAt); got.Verdict != Good {
					b.Fatal(got)
				}
			}
		})
	}
}
