// Package commitsig judges the signatures of commits as `git verify-commit` does: OpenPGP by a keyring, SSH by an
// allowed signers file (ssh-keygen(1), "ALLOWED SIGNERS").
//
// A key counts by the time at which the commit landed: one that has ended since does not make a commit bad. With that
// one difference, since git verify-commit judges OpenPGP keys by today's clock, a commit is good only if `git
// verify-commit` accepts it with the same keys. The reverse does not hold; refused beyond what Git refuses are two
// signature headers, text after the signature, RSA below 2048 bits, DSA, SHA-1 and older digests, OpenPGP signatures of
// other versions than 4, an OpenPGP key whose user ids are all revoked, and critical options of an SSH certificate that
// do not concern logins.
package commitsig

import (
	"errors"
	"fmt"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/git/gitstore"
)

// Verdict is what a commit's signature is worth. The words are part of the report.
type Verdict string

// The verdicts.
const (
	// Good: a key that is trusted and in force made the signature over these bytes.
	Good Verdict = "good"
	// Bad: there is a signature and it does not verify, or its key is too weak.
	Bad Verdict = "bad"
	// Unsigned: there is no signature.
	Unsigned Verdict = "unsigned"
	// UnknownKey: the key is not among those trusted for signing commits; nothing is said about the signature.
	UnknownKey Verdict = "unknown key"
	// ExpiredKey: the signature verifies, by a trusted key that is out of its time, or is itself out of its time.
	ExpiredKey Verdict = "expired key"
	// RevokedKey: the signature verifies, by a trusted key that is revoked, whenever it signed.
	RevokedKey Verdict = "revoked key"
)

// Result is the judgement of one commit.
type Result struct {
	Verdict Verdict
	Signer  string // user id, or the principals of an SSH key; empty where the key is unknown
	KeyID   string // OpenPGP fingerprint, or key id of an unknown key; SHA256: fingerprint of an SSH key
	Detail  string // why the verdict is not Good; empty where it is, and for Unsigned
}

// Limits on what is read, in bytes.
const (
	MaxKeyring        = 16 << 20
	MaxAllowedSigners = 1 << 20
	maxSignature      = 64 << 10
)

// ErrTooLarge means that a keyring or an allowed signers file exceeds its limit.
var ErrTooLarge = errors.New("over the limit")

// Verifier holds the trusted keys. It is safe for concurrent use.
type Verifier struct {
	keys    map[uint64][]*pgpKey
	signers map[string][]*signer // by the key in its SSH wire form
	digest  string
}

// New reads the trusted keys: a keyring of OpenPGP public keys, armored or binary, and an allowed signers file. Either
// may be nil, for no key of that kind. A keyring without a key and a file without a line are errors, as is
// everything in them that cannot be read: a key that were skipped silently would look like an unknown one.
func New(keyring, allowedSigners []byte) (*Verifier, error) {
	v := &Verifier{digest: digest(keyring, allowedSigners)}
	var err error
	if keyring != nil {
		if v.keys, err = parseKeyring(keyring); err != nil {
			return nil, fmt.Errorf("reading keyring: %w", err)
		}
	}
	if allowedSigners != nil {
		if v.signers, err = parseAllowedSigners(allowedSigners); err != nil {
			return nil, fmt.Errorf("reading allowed signers: %w", err)
		}
	}
	return v, nil
}

// SignersSHA256 returns a digest of the trusted keys, 64 hexadecimal digits in lower case: the SHA-256 of three lines,
// each with its line end, "oap-gate signers v1", the hexadecimal SHA-256 of the keyring's bytes, and that of the
// allowed signers file's bytes. A "-" replaces the sum of a file that was not given.
func (v *Verifier) SignersSHA256() string { return v.digest }

func digest(files ...[]byte) string {
	text := "oap-gate signers v1\n"
	for _, f := range files {
		line := "-"
		if f != nil {
			line = plain.SHA256(f)
		}
		text += line + "\n"
	}
	return plain.SHA256([]byte(text))
}

// Verify judges the signature of a commit. The validity of keys and signatures is judged at the time at, at which the
// commit landed. That of an OpenPGP key is also judged at the time that the signature says.
func (v *Verifier) Verify(c *gitstore.CommitObject, at time.Time) Result {
	of := signatureOf(c)
	if len(of.signature) > maxSignature {
		return bad("the signature has %d bytes, at most %d are read", len(of.signature), maxSignature)
	}
	switch of.kind {
	case noSignature:
		return Result{Verdict: Unsigned}
	case byOpenPGP:
		return v.verifyOpenPGP(of.payload, of.signature, at)
	case bySSH:
		return v.verifySSH(of.payload, of.signature, at)
	case byX509:
		return Result{Verdict: UnknownKey, Detail: "the signature is by X.509, for which no keys can be given"}
	case severalSignatures:
		return bad("more than one signature header")
	}
	return bad("the signature is of no known kind")
}

func bad(format string, args ...any) Result {
	return Result{Verdict: Bad, Detail: fmt.Sprintf(format, args...)}
}

// with says whose signature a result is about.
func (r Result) with(signer, keyID string) Result {
	r.Signer, r.KeyID = signer, keyID
	return r
}
