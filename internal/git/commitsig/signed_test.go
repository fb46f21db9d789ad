package commitsig

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/gittest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/needs"
)

var head = strings.TrimSuffix(unsignedText, "\nmessage\n")

const pgp = "gpgsig -----BEGIN PGP SIGNATURE-----\n \n wsBcBAABCAAQBQJ\n -----END PGP SIGNATURE-----\n"

// TestSignatureAsGit checks that payload and signature are what git hands to the program that verifies.
func TestSignatureAsGit(t *testing.T) {
	needs.Program(t, "sh", "cat")
	c := gittest.New(t)
	said := filepath.Join(c.Dir, "payload")
	c.Write("verify", "#!/bin/sh\nfor a; do case $a in /*|.*) cat \"$a\" >'"+said+".sig';; esac; done\ncat >'"+said+
		"'\nexit 1\n")
	must.OK(t, os.Chmod(filepath.Join(c.Dir, "verify"), 0o777))
	c.Config("gpg.program", filepath.Join(c.Dir, "verify"))
	other := strings.Replace(pgp, "gpgsig ", "gpgsig-sha256 ", 1)
	for name, data := range map[string]string{
		"signed":               head + pgp + "\nmessage\n",
		"encoding before":      head + "encoding x\n" + pgp + "\nmessage\n",
		"encoding after":       head + pgp + "encoding x\n\nmessage\n",
		"mergetag before":      head + "mergetag object x\n gpgsig y\n" + pgp + "\nmessage\n",
		"other hash after":     head + pgp + other + "\nmessage\n",
		"other hash before":    head + other + pgp + "\nmessage\n",
		"message like headers": head + pgp + "\ngpgsig x\n y\n" + pgp,
		"no message":           head + pgp + "\n",
	} {
		t.Run(name, func(t *testing.T) {
			of := signatureOf(decode(t, data))
			if of.kind != byOpenPGP {
				t.Fatalf("signed %v, want OpenPGP", of.kind)
			}
			id := c.GitInput(data, "hash-object", "-w", "-t", "commit", "--stdin")
			if out, err := c.Try("", "verify-commit", id); err == nil {
				t.Fatalf("git verifies it: %s", out)
			}
			for file, got := range map[string][]byte{said: of.payload, said + ".sig": of.signature} {
				if want, err := os.ReadFile(file); err != nil || !bytes.Equal(got, want) {
					t.Errorf("got %q, git says %q, %v", got, want, err)
				}
			}
		})
	}
}

// TestKinds checks each kind of signature, and headers that only look like one.
func TestKinds(t *testing.T) {
	sig := func(first string) string { return "gpgsig -----BEGIN " + first + "-----\n x\n" }
	for headers, want := range map[string]kind{
		"":                               noSignature,
		sig("PGP SIGNATURE"):             byOpenPGP,
		sig("PGP MESSAGE"):               byOpenPGP,
		sig("SSH SIGNATURE"):             bySSH,
		sig("SIGNED MESSAGE"):            byX509,
		sig("OTHER"):                     otherKind,
		"gpgsig \n":                      otherKind,
		pgp + pgp:                        severalSignatures,
		pgp + "encoding x\n" + pgp:       severalSignatures,
		pgp + sig("SSH SIGNATURE"):       severalSignatures,
		"gpgsig-sha256 x\n":              noSignature,
		"mergetag x\n gpgsig y\n":        noSignature,
		"encoding gpgsig\n":              noSignature,
		"gpgsigs -----BEGIN PGP x\n y\n": noSignature,
	} {
		of := signatureOf(decode(t, head+headers+"\n"))
		one := want != noSignature && want != severalSignatures
		if of.kind != want || one != (of.payload != nil) || one != (of.signature != nil) {
			t.Errorf("%q: %+v, want the kind %v", headers, of, want)
		}
	}
	of := signatureOf(decode(t, head+"gpgsig x\ngpgsig")) // it ends in a header without a blank
	if of.kind != otherKind || string(of.payload) != head || string(of.signature) != "x\n" {
		t.Errorf("a header cut short: %+v", of)
	}
	wide := strings.ReplaceAll(head, "4b825dc642cb6eb9a060e54bf8d69288fbee4904", strings.Repeat("a", 64))
	for headers, want := range map[string]kind{
		pgp: noSignature, strings.Replace(pgp, "gpgsig", "gpgsig-sha256", 1): byOpenPGP,
	} {
		if of := signatureOf(decode(t, wide+headers+"\n")); of.kind != want {
			t.Errorf("SHA-256, %q: %+v, want the kind %v", headers, of, want)
		}
	}
}
