package commitsig

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

// sshKey makes a key and gives the file of its private half.
func (b *bench) sshKey(name string, options ...string) string {
	b.t.Helper()
	file := filepath.Join(b.home, name)
	b.must("", "A=", "ssh-keygen", append([]string{"-q", "-N", "", "-C", name, "-f", file}, options...)...)
	return file
}

// public is the text of a key's public half: type and key.
func (b *bench) publicKey(file string) string {
	b.t.Helper()
	text := must.Read(b.t, file+".pub")
	fields := strings.Fields(string(text))
	return fields[0] + " " + fields[1]
}

func (b *bench) signedWith(key string, when int64) string {
	b.t.Helper()
	return b.signed(when, "-c", "gpg.format=ssh", "-c", "user.signingKey="+key)
}

// signedFor signs a commit for a namespace of SSH.
func (b *bench) signedFor(key, namespace, raw string, options ...string) string {
	b.t.Helper()
	args := append([]string{"-q", "-Y", "sign", "-n", namespace, "-f", key}, options...)
	return withSignature(raw, b.must(raw, "A=", "ssh-keygen", args...))
}

// withSignature puts a signature as header into a commit that has none.
func withSignature(raw, signature string) string {
	head, message, _ := strings.Cut(raw, "\n\n")
	return head + "\ngpgsig " + strings.ReplaceAll(strings.TrimSuffix(signature, "\n"), "\n", "\n ") + "\n\n" + message
}

// certify makes a certificate for a key and gives the file that git takes as signing key.
func (b *bench) certify(ca, key, name string, options ...string) string {
	b.t.Helper()
	file := filepath.Join(b.home, name)
	for _, end := range []string{"", ".pub"} {
		data, err := os.ReadFile(key + end)
		if err == nil {
			err = os.WriteFile(file+end, data, 0o600)
		}
		must.OK(b.t, err)
	}
	b.must("", "A=", "ssh-keygen", append(append([]string{"-q", "-s", ca, "-I", name}, options...), file+".pub")...)
	// ssh-keygen finds the private half beside it by cutting off -cert.pub.
	return file + "-cert.pub"
}

// TestSSH compares the verdicts with those of git verify-commit, with real keys.
func TestSSH(t *testing.T) {
	b := newBench(t, "sha1", "ssh-keygen")
	ed, rsa, nist := b.sshKey("ed", "-t", "ed25519"), b.sshKey("rsa", "-t", "rsa", "-b", "2048"),
		b.sshKey("nist", "-t", "ecdsa", "-b", "384")
	small, unknown := b.sshKey("small", "-t", "rsa", "-b", "1024"), b.sshKey("unknown", "-t", "ed25519")
	until, from, fileOnly := b.sshKey("until", "-t", "ed25519"), b.sshKey("from", "-t", "ed25519"),
		b.sshKey("fileonly", "-t", "ed25519")
	both, listed := b.sshKey("both", "-t", "ed25519"), b.sshKey("listed", "-t", "ed25519")
	negated, split, renewed := b.sshKey("negated", "-t", "ed25519"), b.sshKey("split", "-t", "ed25519"),
		b.sshKey("renewed", "-t", "ed25519")
	crossed := b.sshKey("crossed", "-t", "ed25519")
	ca, caRSA, rogue := b.sshKey("ca", "-t", "ed25519"), b.sshKey("carsa", "-t", "rsa", "-b", "2048"),
		b.sshKey("rogue", "-t", "ed25519")
	user := b.sshKey("user", "-t", "ed25519")

	// The committer date of epoch is 2023-11-14 22:13:20.
	allowed := strings.Join([]string{
		"# a comment", "", "  \t",
		"ed@example.org " + b.publicKey(ed) + " with a comment",
		"rsa@example.org,other@example.org namespaces=\"git,file\" " + b.publicKey(rsa),
		"\"nist@example.org\" NAMESPACES=\"g?t\" " + b.publicKey(nist),
		"small@example.org " + b.publicKey(small),
		"until@example.org valid-before=\"20231114221320Z\" " + b.publicKey(until),
		"from@example.org valid-after=\"20231114221320\" " + b.publicKey(from),
		"file@example.org namespaces=\"file\" " + b.publicKey(fileOnly),
		"both@example.org valid-after=\"20231114Z\",valid-before=\"202311150000Z\",namespaces=\"git\" " +
			b.publicKey(both),
		"*@example.org,!listed@example.org " + b.publicKey(listed),
		"negated@example.org namespaces=\"*,!git\" " + b.publicKey(negated),
		// Two lines of one key: Git asks for the first one's principals.
		"split@example.org namespaces=\"file\" " + b.publicKey(split),
		"split@example.org namespaces=\"git\" " + b.publicKey(split),
		"crossed@example.org namespaces=\"file\" " + b.publicKey(crossed),
		"another@example.org namespaces=\"git\" " + b.publicKey(crossed),
		"renewed@example.org valid-before=\"20230101Z\" " + b.publicKey(renewed),
		"renewed@example.org valid-after=\"20230101Z\" " + b.publicKey(renewed),
		"*@example.com cert-authority " + b.publicKey(ca),
		"*@example.net cert-authority,namespaces=\"git\" " + b.publicKey(caRSA),
	}, "\n") + "\n"
	must.OK(t, os.WriteFile(b.allowed, []byte(allowed), 0o600))
	v := must.Get(New(nil, []byte(allowed)))(t)

	plain := b.signedWith(ed, epoch)
	raw := b.raw(plain)
	header := sigHeader(t, raw)
	without := edit(t, raw, header, "")
	other := sigHeader(t, b.raw(b.signedWith(rsa, epoch+1)))
	cert := func(ca, name string, options ...string) string {
		b.t.Helper()
		file := b.certify(ca, user, name, options...)
		return b.store(b.signedFor(file, "git", without))
	}
	const in = "20231101Z:20231201Z"
	cases := []verdictCase{
		{name: "Ed25519", commit: plain, want: Good},
		{name: "RSA", commit: b.signedWith(rsa, epoch), want: Good},
		{name: "ECDSA", commit: b.signedWith(nist, epoch), want: Good},
		{name: "SHA-256", commit: b.store(b.signedFor(ed, "git", without, "-O", "hashalg=sha256")), want: Good},
		{name: "small RSA", commit: b.signedWith(small, epoch), want: Bad, strict: true},
		{name: "unsigned", commit: b.store(without), want: Unsigned},
		{name: "tampered", commit: b.store(edit(t, raw, "\n\nmessage", "\n\nMessage")), want: Bad},
		{name: "another commit's signature", commit: b.store(edit(t, raw, header, other)), want: Bad},
		{name: "two headers", commit: b.store(edit(t, raw, header, header+other)), want: Bad, strict: true},
		{name: "two headers, the first of another commit", commit: b.store(edit(t, raw, header, other+header)),
			want: Bad},
		{name: "text after the signature", commit: b.store(edit(t, raw, header, header+" trailing\n")), want: Bad,
			strict: true},
		{name: "no signature in it", commit: b.store(edit(t, raw, header, "gpgsig -----BEGIN SSH SIGNATURE-----\n")),
			want: Bad},
		{name: "wrong namespace", commit: b.store(b.signedFor(ed, "file", without)), want: Bad},
		{name: "unknown key", commit: b.signedWith(unknown, epoch), want: UnknownKey},
		{name: "until then", commit: b.signedWith(until, epoch), want: Good},
		{name: "expired", commit: b.signedWith(until, epoch+1), want: ExpiredKey},
		{name: "expired, tampered",
			commit: b.store(edit(t, b.raw(b.signedWith(until, epoch+1)), "\n\nmessage", "\n\nMessage")), want: Bad},
		{name: "from then", commit: b.signedWith(from, epoch), want: Good},
		{name: "not yet valid", commit: b.signedWith(from, epoch-1), want: ExpiredKey},
		{name: "landed after the key's end", commit: b.signedWith(until, epoch), at: time.Unix(epoch*2, 0),
			want: ExpiredKey, strict: true},
		{name: "namespace not allowed", commit: b.signedWith(fileOnly, epoch), want: UnknownKey},
		{name: "three options", commit: b.signedWith(both, epoch), want: Good},
		{name: "three options, expired", commit: b.signedWith(both, epoch+86400), want: ExpiredKey},
		{name: "principals with a negation", commit: b.signedWith(listed, epoch), want: Good},
		{name: "namespace negated", commit: b.signedWith(negated, epoch), want: UnknownKey},
		{name: "two lines of one principal", commit: b.signedWith(split, epoch), want: Good},
		{name: "two lines of two principals", commit: b.signedWith(crossed, epoch), want: UnknownKey},
		{name: "renewed", commit: b.signedWith(renewed, epoch), want: Good},
		{name: "certificate", commit: cert(ca, "c1", "-n", "u@example.com", "-V", in), want: Good},
		{name: "certificate of an RSA authority", commit: cert(caRSA, "c2", "-n", "u@example.net", "-V", in),
			want: Good},
		{name: "certificate for somebody else", commit: cert(ca, "c3", "-n", "u@example.net", "-V", in),
			want: UnknownKey},
		{name: "certificate for two", commit: cert(ca, "c4", "-n", "u@example.net,u@example.com", "-V", in),
			want: Good},
		{name: "certificate for nobody", commit: cert(ca, "c5", "-V", in), want: Bad},
		{name: "certificate of a host", commit: cert(ca, "c6", "-h", "-n", "u@example.com", "-V", in), want: Bad},
		{name: "certificate expired", commit: cert(ca, "c7", "-n", "u@example.com", "-V", "20231001Z:20231101Z"),
			want: ExpiredKey},
		{name: "certificate not yet valid", commit: cert(ca, "c8", "-n", "u@example.com", "-V", "20231201Z:20240101Z"),
			want: ExpiredKey},
		{name: "certificate of a stranger", commit: cert(rogue, "c9", "-n", "u@example.com", "-V", in),
			want: UnknownKey},
		{name: "certificate with a login's option", commit: cert(ca, "c10", "-n", "u@example.com", "-V", in, "-O",
			"force-command=x"), want: Good},
		{name: "certificate with an unknown option", commit: cert(ca, "c11", "-n", "u@example.com", "-V", in, "-O",
			"critical:x@example.org=y"), want: Bad, strict: true},
		{name: "an authority's own signature", commit: b.signedWith(ca, epoch), want: UnknownKey},
		{name: "certificate of a listed key",
			commit: b.store(b.signedFor(b.certify(rogue, ed, "c12", "-n", "ed@example.org"), "git", without)),
			want:   UnknownKey},
		{name: "certificate, RSA with SHA-256",
			commit: b.store(b.signedFor(b.certify(caRSA, rsa, "c13", "-n", "u@example.net"), "git", without)),
			want:   Good},
	}
	// The certificate's principals, changed under the authority's signature.
	forged := withSignature(without,
		forge(t, string(signatureOf(decode(t, b.raw(cert(ca, "c15", "-n", "u@example.net", "-V", in)))).signature),
			"u@example.net",
			"u@example.com"))
	cases = append(cases, verdictCase{name: "forged certificate", commit: b.store(forged), want: Bad})
	b.compare(v, cases)

	if got := v.Verify(decode(t, b.raw(cases[1].commit)),
		time.Unix(epoch, 0)); got.Signer != "rsa@example.org,other@example.org" ||
		!strings.HasPrefix(got.KeyID, "SHA256:") {
		t.Errorf("signer %+v", got)
	}
}

// forge replaces text of the same length within an armored signature.
func forge(t *testing.T, armored, old, now string) string {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(armored), "\n")
	data, err := base64.StdEncoding.DecodeString(strings.Join(lines[1:len(lines)-1], ""))
	if err != nil || strings.Count(string(data), old) != 1 || len(old) != len(now) {
		t.Fatalf("%v: %q stands %d times", err, old, strings.Count(string(data), old))
	}
	text := base64.StdEncoding.EncodeToString([]byte(strings.Replace(string(data), old, now, 1)))
	var wrapped strings.Builder
	for len(text) > 70 {
		wrapped.WriteString(text[:70] + "\n")
		text = text[70:]
	}
	return lines[0] + "\n" + wrapped.String() + text + "\n" + lines[len(lines)-1] + "\n"
}

// TestSHA256 checks that in a SHA-256 clone the header is gpgsig-sha256.
func TestSHA256(t *testing.T) {
	b := newBench(t, "sha256", "ssh-keygen")
	ed := b.sshKey("ed", "-t", "ed25519")
	allowed := "ed@example.org " + b.publicKey(ed) + "\n"
	must.OK(t, os.WriteFile(b.allowed, []byte(allowed), 0o600))
	v := must.Get(New(nil, []byte(allowed)))(t)
	id := b.signedWith(ed, epoch)
	raw := b.raw(id)
	header := sigHeader(t, raw)
	b.compare(v, []verdictCase{
		{name: "good", commit: id, want: Good},
		{name: "tampered", commit: b.store(edit(t, raw, "\n\nmessage", "\n\nMessage")), want: Bad},
		{name: "signature of SHA-1 beside", commit: b.store(edit(t, raw, header, header+"gpgsig x\n y\n")), want: Good},
		{name: "signature of SHA-1 alone",
			commit: b.store(edit(t, raw, header, strings.Replace(header, "gpgsig-sha256 ", "gpgsig ", 1))),
			want:   Unsigned},
	})
}
