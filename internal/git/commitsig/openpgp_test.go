package commitsig

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

// gpgKey makes a key at a time and gives its fingerprint.
func (b *bench) gpgKey(at int64, name, algorithm, usage, expire string) string {
	b.t.Helper()
	fpr := func(text string) string {
		for line := range strings.Lines(text) {
			if rest, ok := strings.CutPrefix(line, "fpr:::::::::"); ok {
				return strings.TrimRight(rest, ":\n")
			}
		}
		b.t.Fatalf("no fingerprint in %s", text)
		return ""
	}
	b.gpg("", at, "--passphrase", "", "--quick-gen-key", name, algorithm, usage, expire)
	return fpr(b.gpg("", at, "--with-colons", "--list-keys", "="+name))
}

func (b *bench) gpg(input string, at int64, args ...string) string {
	b.t.Helper()
	return b.must(input, "GNUPGHOME="+b.home, "gpg",
		append([]string{"--batch", "--quiet", "--no-tty", "--pinentry-mode", "loopback",
			"--faked-system-time", fmt.Sprint(at) + "!"}, args...)...)
}

// program writes a gpg that signs at a time, with more options.
func (b *bench) program(at int64, options string) string {
	name := fmt.Sprintf("%s/gpg-%d-%x", b.home, at, options)
	script := fmt.Sprintf("#!/bin/sh\nexec gpg --pinentry-mode loopback --faked-system-time %d! %s \"$@\"\n", at,
		options)
	must.OK(b.t, os.WriteFile(name, []byte(script), 0o700))
	return "gpg.program=" + name
}

func (b *bench) signedBy(fpr string, at int64, options string) string {
	b.t.Helper()
	return b.signed(at, "-c", b.program(at, options), "-c", "user.signingKey="+fpr)
}

// TestOpenPGP compares the verdicts with those of git verify-commit, with real keys.
func TestOpenPGP(t *testing.T) {
	b := newBench(t, "sha1", "gpg", "gpgconf")
	const day = 86400
	made := int64(epoch - 100*day)
	rsa := b.gpgKey(made, "R <r@example.org>", "rsa2048", "sign", "never")
	small := b.gpgKey(made, "S <s@example.org>", "rsa1024", "sign", "never")
	ed := b.gpgKey(made, "E <e@example.org>", "ed25519", "sign", "never")
	nist := b.gpgKey(made, "N <n@example.org>", "nistp256", "sign", "never")
	brief := b.gpgKey(made, "B <b@example.org>", "ed25519", "sign", "seconds=8726400") // 101 days
	gone := b.gpgKey(made, "G <g@example.org>", "ed25519", "sign", "never")
	unknown := b.gpgKey(made, "U <u@example.org>", "ed25519", "sign", "never")
	sub := b.gpgKey(made, "M <m@example.org>", "ed25519", "cert", "never")
	b.gpg("", made, "--passphrase", "", "--quick-add-key", sub, "ed25519", "sign", "never")
	subBrief := b.gpgKey(made, "O <o@example.org>", "ed25519", "cert", "never")
	b.gpg("", made, "--passphrase", "", "--quick-add-key", subBrief, "ed25519", "sign", "seconds=8726400")
	noSign := b.gpgKey(made, "C <c@example.org>", "ed25519", "cert", "never")
	grown := b.gpgKey(made, "X <x@example.org>", "ed25519", "sign", "seconds=8726400")

	good := map[string]string{"RSA": b.signedBy(rsa, epoch, ""), "Ed25519": b.signedBy(ed, epoch, ""),
		"ECDSA": b.signedBy(nist, epoch, ""), "subkey": b.signedBy(sub, epoch, ""),
		"SHA-512": b.signedBy(ed, epoch, "--digest-algo SHA512"), "text": b.signedBy(ed, epoch, "--textmode")}
	byBrief, byGone, bySubBrief := b.signedBy(brief, epoch, ""), b.signedBy(gone, epoch, ""),
		b.signedBy(subBrief, epoch, "")
	byGrown := b.signedBy(grown, epoch, "")
	passing := b.signedBy(ed, epoch, "--default-sig-expire seconds=172800")
	byUnknown, bySmall := b.signedBy(unknown, epoch, ""), b.signedBy(small, epoch, "")
	sha1 := b.signedBy(rsa, epoch, "--digest-algo SHA1")
	notation := b.signedBy(ed, epoch, "--sig-notation !n@example.org=v")

	revocation := must.Read(t, b.home+"/openpgp-revocs.d/"+gone+".rev")
	b.gpg(strings.Replace(string(revocation), ":-----BEGIN", "-----BEGIN", 1), epoch+day, "--import")
	b.gpg("", epoch, "--passphrase", "", "--quick-set-expire", grown, "seconds=86400000")
	keyring := b.gpg("", epoch, "--armor", "--export", rsa, small, ed, nist)
	for _, k := range []string{brief, gone, sub, subBrief, noSign, grown} {
		keyring += b.gpg("", epoch, "--armor", "--export", k)
	}
	b.must(keyring, "GNUPGHOME="+b.public, "gpg", "--batch", "--quiet", "--import")
	v := must.Get(New([]byte(keyring), nil))(t)

	plain := b.signedBy(ed, epoch, "")
	raw := b.raw(plain)
	header := sigHeader(t, raw)
	other := sigHeader(t, b.raw(b.signedBy(rsa, epoch+1, "")))
	without := edit(t, raw, header, "")
	armored := strings.ReplaceAll(strings.TrimPrefix(header, "gpgsig "), "\n ", "\n")
	twoBlocks := "gpgsig " + strings.ReplaceAll(strings.TrimSuffix(armored, "\n")+"\n"+
		strings.TrimPrefix(strings.ReplaceAll(other, "\n ", "\n"), "gpgsig "), "\n", "\n ")
	twoBlocks = strings.TrimRight(twoBlocks, " ")
	cases := []verdictCase{
		{name: "unsigned", commit: b.store(without), want: Unsigned},
		{name: "tampered message", commit: b.store(edit(t, raw, "\n\nmessage", "\n\nMessage")), want: Bad},
		{name: "tampered author", commit: b.store(edit(t, raw, "author A", "author B")), want: Bad},
		{name: "two headers", commit: b.store(edit(t, raw, header, header+other)), want: Bad},
		{name: "two headers, equal", commit: b.store(edit(t, raw, header, header+header)), want: Bad},
		{name: "two blocks in one header", commit: b.store(edit(t, raw, header, twoBlocks)), want: Bad},
		{name: "other header before", commit: b.store(edit(t, raw, header, "encoding UTF-8\n"+header)), want: Bad},
		{name: "signature of SHA-256 beside", commit: b.store(edit(t, raw, header, header+"gpgsig-sha256 x\n y\n")),
			want: Good},
		{name: "signature of SHA-256 alone",
			commit: b.store(edit(t, raw, header, strings.Replace(header, "gpgsig ", "gpgsig-sha256 ", 1))),
			want:   Unsigned},
		{name: "header after the signature", commit: b.store(edit(t, raw, header, header+"x y\n")), want: Bad},
		{name: "another commit's signature", commit: b.store(edit(t, raw, header, other)), want: Bad},
		{name: "armor of a message",
			commit: b.store(edit(t, raw, header, strings.ReplaceAll(header, "PGP SIGNATURE", "PGP MESSAGE"))),
			want:   Good},
		{name: "text after the signature", commit: b.store(edit(t, raw, header, header+" trailing\n")), want: Bad,
			strict: true},
		{name: "empty line after the signature", commit: b.store(edit(t, raw, header, header+" \n")), want: Good},
		{name: "no signature in it", commit: b.store(edit(t, raw, header, "gpgsig -----BEGIN PGP SIGNATURE-----\n")),
			want: Bad},
		{name: "unknown kind", commit: b.store(edit(t, raw, header, "gpgsig x\n")), want: Bad},
		{name: "X.509",
			commit: b.store(edit(t, raw, header, "gpgsig -----BEGIN SIGNED MESSAGE-----\n x\n -----END SIGNED "+
				"MESSAGE-----\n")), want: UnknownKey},
		{name: "unknown key", commit: byUnknown, want: UnknownKey},
		{name: "small RSA", commit: bySmall, want: Bad, strict: true},
		{name: "SHA-1", commit: sha1, want: Bad, strict: true},
		{name: "critical notation", commit: notation, want: Bad},
		{name: "revoked", commit: byGone, at: time.Unix(epoch+2*day, 0), want: RevokedKey},
		{name: "revoked since", commit: byGone, at: time.Unix(epoch+day/2, 0), want: RevokedKey},
		{name: "key ended since", commit: byBrief, at: time.Unix(epoch+day-1, 0), clock: time.Unix(epoch+9*day, 0),
			want: Good, ended: true},
		{name: "key in force", commit: byBrief, at: time.Unix(epoch+day-1, 0), want: Good},
		{name: "key expired", commit: byBrief, at: time.Unix(epoch+day+1, 0), want: ExpiredKey},
		{name: "subkey in force", commit: bySubBrief, at: time.Unix(epoch+day-1, 0), want: Good},
		{name: "subkey expired", commit: bySubBrief, at: time.Unix(epoch+day+1, 0), want: ExpiredKey},
		{name: "key extended", commit: byGrown, at: time.Unix(epoch+10*day, 0), want: Good},
		{name: "signature in force", commit: passing, at: time.Unix(epoch+2*day-1, 0), want: Good},
		{name: "signature expired", commit: passing, at: time.Unix(epoch+2*day+1, 0), want: ExpiredKey},
		{name: "clock behind the signature", commit: plain, at: time.Unix(epoch-day, 0), want: Good},
		{name: "landed before the key, by dates", commit: plain, at: time.Unix(made-day, 0),
			clock: time.Unix(epoch+day, 0), want: Good},
	}
	for name, id := range good {
		cases = append(cases, verdictCase{name: name, commit: id, want: Good})
	}
	b.compare(v, append(cases, b.merges(ed)...))

	if got := v.Verify(decode(t, raw), time.Unix(epoch, 0)); got != (Result{Good, "E <e@example.org>", ed, ""}) {
		t.Errorf("signer %+v", got)
	}
	if got := v.Verify(decode(t, b.raw(byUnknown)), time.Unix(epoch, 0)); got.KeyID != unknown[24:] {
		t.Errorf("key id %+v, want the end of %s", got, unknown)
	}
	t.Run("keyrings", func(t *testing.T) { b.keyrings(t, rsa, keyring) })
}

// merges makes signed merges: of a branch, and of a signed tag, which leaves a mergetag header.
func (b *bench) merges(key string) []verdictCase {
	b.t.Helper()
	sign := []string{"-c", b.program(epoch, ""), "-c", "user.signingKey=" + key}
	do := func(args ...string) { b.git("", append(sign, args...)...) }
	do("commit", "-q", "--allow-empty", "-S", "-m", "one")
	do("checkout", "-q", "-b", "side")
	do("commit", "-q", "--allow-empty", "-S", "-m", "two")
	do("tag", "-s", "-m", "tagged", "v1")
	do("checkout", "-q", "main")
	do("commit", "-q", "--allow-empty", "-S", "-m", "three")
	do("merge", "-q", "--no-ff", "-S", "-m", "merge", "v1^{commit}")
	merge := b.git("", "rev-parse", "HEAD")
	do("reset", "-q", "--hard", "HEAD^")
	do("merge", "-q", "--no-ff", "-S", "-m", "merge", "v1")
	tagged := b.git("", "rev-parse", "HEAD")
	raw := b.raw(tagged)
	if !strings.Contains(raw, "\nmergetag object ") {
		b.t.Fatalf("no mergetag header in\n%s", raw)
	}
	return []verdictCase{
		{name: "merge", commit: merge, want: Good},
		{name: "merge of a tag", commit: tagged, want: Good},
		{name: "merge of a tampered tag", commit: b.store(edit(b.t, raw, "\n tagged\n", "\n Tagged\n")), want: Bad},
	}
}

func (b *bench) keyrings(t *testing.T, key, keyring string) {
	one := b.gpg("", epoch, "--armor", "--export", key)
	private := b.gpg("", epoch, "--passphrase", "", "--armor", "--export-secret-keys", key)
	tests := []struct{ name, keyring, want string }{
		{"binary", b.gpg("", epoch, "--export", key), ""},
		{"words before", "# keys\n" + one, "neither"},
		{"empty", "", "no OpenPGP public key"},
		{"private", private, "PRIVATE KEY BLOCK"},
		{"private, binary", b.gpg("", epoch, "--passphrase", "", "--export-secret-keys", key), "private key"},
		{"twice", keyring + one, "is twice"},
		{"cut off", one[:len(one)/2], "reading keyring"},
		{"another block", strings.ReplaceAll(one, "PUBLIC KEY BLOCK", "MESSAGE"), "a block"},
		{"too large", strings.Repeat(" ", MaxKeyring+1), "over the limit"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := New([]byte(tt.keyring), nil)
			if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
		})
	}
}
