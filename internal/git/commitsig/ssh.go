package commitsig

import (
	"bytes"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hiddeco/sshsig"
	"golang.org/x/crypto/ssh"
)

const gitNamespace = "git"

// verifySSH verifies as Git does, by `ssh-keygen -Y find-principals` and then `-Y verify`. It does no cryptography with
// a key that the allowed signers do not name, since the author of the commit chose that key.
func (v *Verifier) verifySSH(payload, text []byte, when time.Time) Result {
	sig, err := decodeSSH(text)
	if err != nil {
		return bad("reading the signature: %v", err)
	}
	id := ssh.FingerprintSHA256(sig.PublicKey)
	key := sig.PublicKey
	cert, isCert := key.(*ssh.Certificate)
	authority := key
	if isCert {
		key, authority = cert.Key, cert.SignatureKey
		id = ssh.FingerprintSHA256(key)
	}
	lines := slices.DeleteFunc(slices.Clone(v.signers[string(authority.Marshal())]),
		func(s *signer) bool { return s.ca != isCert })
	if len(lines) == 0 {
		return Result{Verdict: UnknownKey, Detail: "the key is not among the allowed signers"}.with("", id)
	}
	name := lines[0].principals
	if isCert {
		name = strings.Join(cert.ValidPrincipals, ",")
		if r := judgeCertificate(cert, when); r.Verdict != Good {
			return r.with("", id)
		}
	}
	switch err := checkSSH(payload, sig, key); {
	case errors.Is(err, sshsig.ErrNamespaceMismatch):
		return bad("the signature is for the namespace %.80q; expected %q", sig.Namespace, gitNamespace).with(name, id)
	case err != nil:
		return bad("the signature does not fit the commit: %v", err).with(name, id)
	}
	r, line := authorize(lines, cert, when)
	if line != nil && !isCert {
		name = line.principals
	}
	return r.with(name, id)
}

// decodeSSH reads an armored signature and nothing else.
func decodeSSH(text []byte) (*sshsig.Signature, error) {
	block, rest := pem.Decode(text)
	if block == nil || block.Type != sshsig.PEMType || len(block.Headers) > 0 || len(bytes.TrimSpace(rest)) > 0 {
		return nil, errors.New("want one armored block")
	}
	return sshsig.ParseSignature(block.Bytes)
}

func checkSSH(payload []byte, sig *sshsig.Signature, key ssh.PublicKey) error {
	if weak := weakSSH(key); weak != "" {
		return errors.New(weak)
	}
	if key.Type() == ssh.KeyAlgoRSA && isSHA1(sig.Signature) { // sshsig looks only at keys without certificate
		return errors.New("an RSA signature with SHA-1")
	}
	return sshsig.Verify(bytes.NewReader(payload), sig, sig.PublicKey, sig.HashAlgorithm, gitNamespace)
}

func isSHA1(s *ssh.Signature) bool {
	return s.Format != ssh.KeyAlgoRSASHA256 && s.Format != ssh.KeyAlgoRSASHA512
}

// judgeCertificate holds a certificate of a known authority to what ssh-keygen asks of it.
func judgeCertificate(cert *ssh.Certificate, when time.Time) Result {
	if weak := weakSSH(cert.SignatureKey); weak != "" {
		return bad("the authority has %s", weak)
	}
	if cert.SignatureKey.Type() == ssh.KeyAlgoRSA && isSHA1(cert.Signature) {
		return bad("the certificate is signed with SHA-1")
	}
	if cert.CertType != ssh.UserCert || len(cert.ValidPrincipals) == 0 {
		return bad("the certificate is not one of a user with principals")
	}
	// The two critical options of OpenSSH are about logins.
	checker := ssh.CertChecker{
		SupportedCriticalOptions: []string{"force-command", "source-address"},
		Clock:                    func() time.Time { return time.Unix(int64(cert.ValidAfter), 0) },
	}
	if cert.ValidAfter >= cert.ValidBefore {
		return bad("the certificate is never valid")
	}
	if err := checker.CheckCert(cert.ValidPrincipals[0], cert); err != nil {
		return bad("the certificate does not hold: %v", err)
	}
	if at := uint64(max(when.Unix(), 0)); at < cert.ValidAfter || at >= cert.ValidBefore {
		return Result{Verdict: ExpiredKey, Detail: fmt.Sprintf("the certificate is not valid at %s", stamp(when))}
	}
	return Result{Verdict: Good}
}

// authorize looks for a line that lets the key sign commits, and gives the line that speaks for or against it.
//
// ssh-keygen is first asked for principals, and gives those of the first line in force (of a certificate: those of
// its own that this line lets through), whatever its namespaces; then for a line that lets one of these sign.
func authorize(lines []*signer, cert *ssh.Certificate, when time.Time) (Result, *signer) {
	var principals []string
	for _, s := range lines {
		if !s.inForce(when) {
			continue
		}
		principals = strings.Split(s.principals, ",")
		if cert != nil {
			principals = slices.DeleteFunc(slices.Clone(cert.ValidPrincipals), func(p string) bool {
				return !slices.ContainsFunc(strings.Split(s.principals, ","),
					func(pattern string) bool { return matchPattern(p, pattern) })
			})
		}
		if len(principals) > 0 {
			break
		}
	}
	forbidden := false
	for _, s := range lines {
		if !slices.ContainsFunc(principals, func(p string) bool { return matchList(p, s.principals) }) ||
			!s.inForce(when) {
			continue
		}
		if s.namespaces == "" || matchList(gitNamespace, s.namespaces) {
			return Result{Verdict: Good}, s
		}
		forbidden = true
	}
	switch {
	case forbidden:
		return Result{Verdict: UnknownKey, Detail: fmt.Sprintf("the key may not sign for the namespace %q",
			gitNamespace)}, nil
	case !slices.ContainsFunc(lines, func(s *signer) bool { return s.inForce(when) }):
		return Result{Verdict: ExpiredKey, Detail: fmt.Sprintf("the key is not valid at %s", stamp(when))}, nil
	}
	return Result{Verdict: UnknownKey, Detail: "no principal of the key is allowed"}, nil
}
