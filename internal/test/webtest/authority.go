package webtest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"slices"
	"strings"
	"sync"
	"time"
)

// TLSMode is what the handshake for a host ends in.
type TLSMode string

// The modes. The zero value is a certificate that verifies.
const (
	TLSWrongName TLSMode = "wrong-name" // a certificate for another host
	TLSExpired   TLSMode = "expired"    // a certificate that ended an hour ago
	TLSUntrusted TLSMode = "untrusted"  // a certificate by another authority
	TLSChain     TLSMode = "chain"      // a certificate by an intermediate authority, with that one's certificate
	TLSAlone     TLSMode = "alone"      // the same certificate without the intermediate's
	TLSReset     TLSMode = "reset"      // the connection is reset instead of a handshake
	TLSSilent    TLSMode = "silent"     // the handshake never continues
)

var tlsModes = []TLSMode{"", TLSWrongName, TLSExpired, TLSUntrusted, TLSChain, TLSAlone, TLSReset, TLSSilent}

// authority issues certificates by one key, all for one shared leaf key: a certificate costs a signature.
type authority struct {
	pem  []byte
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	leaf *ecdsa.PrivateKey

	parent *authority // nil: a root

	mu           sync.Mutex
	serial       int64
	issued       map[string]*tls.Certificate
	other        *authority // the one that nobody trusts
	intermediate *authority
}

// trusted is the authority of every web of this process.
var trusted = sync.OnceValues(func() (*authority, error) { return newAuthority(nil) })

// newAuthority returns an authority below another, or a root.
func newAuthority(parent *authority) (*authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	leaf, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "oap-gate test authority"},
		NotBefore: now.Add(-48 * time.Hour), NotAfter: now.Add(7 * 24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	issuer, signer := template, key
	if parent != nil {
		template.Subject.CommonName = "oap-gate test intermediate"
		issuer, signer = parent.cert, parent.key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, issuer, key.Public(), signer)
	if err != nil {
		return nil, err
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, err
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	return &authority{pem: text, cert: cert, key: key, leaf: leaf, parent: parent, serial: 1,
		issued: map[string]*tls.Certificate{}}, nil
}

func (a *authority) certificate(host string, m TLSMode) (*tls.Certificate, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	k := string(m) + " " + host
	if c := a.issued[k]; c != nil {
		return c, nil
	}
	c, err := a.issue(host, m)
	if err == nil {
		a.issued[k] = c
	}
	return c, err
}

func (a *authority) issue(host string, m TLSMode) (*tls.Certificate, error) {
	notAfter := time.Now().Add(6 * 24 * time.Hour)
	switch m {
	case TLSWrongName:
		host = "another.example"
	case TLSExpired:
		notAfter = time.Now().Add(-time.Hour)
	case TLSUntrusted:
		if err := a.have(&a.other, nil); err != nil {
			return nil, err
		}
		return a.other.certificate(host, "")
	case TLSChain, TLSAlone:
		if err := a.have(&a.intermediate, a); err != nil {
			return nil, err
		}
		c, err := a.intermediate.certificate(host, "")
		if err != nil || m == TLSAlone {
			return c, err
		}
		return &tls.Certificate{Certificate: append(slices.Clone(c.Certificate), a.intermediate.cert.Raw),
			PrivateKey: c.PrivateKey}, nil
	}
	a.serial++
	template := &x509.Certificate{
		SerialNumber: big.NewInt(a.serial), DNSNames: []string{host},
		NotBefore: time.Now().Add(-24 * time.Hour), NotAfter: notAfter,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	if a.parent != nil {
		template.IssuingCertificateURL = []string{"http://authority.example/intermediate.crt"}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, a.leaf.Public(), a.key)
	if err != nil {
		return nil, err
	}
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: a.leaf}, nil
}

// have makes another authority that is needed for the first time.
func (a *authority) have(other **authority, parent *authority) (err error) {
	if *other == nil {
		*other, err = newAuthority(parent)
	}
	return err
}

func (w *Web) handshake(hello *tls.ClientHelloInfo) (*tls.Config, error) {
	host := strings.ToLower(hello.ServerName)
	if host == "" {
		return nil, errors.New("client named no host")
	}
	w.mu.Lock()
	mode := w.tlsModes[host]
	w.mu.Unlock()
	switch mode {
	case TLSReset:
		reset(hello.Conn)
		return nil, errors.New("reset")
	case TLSSilent:
		<-hello.Context().Done()
		return nil, errors.New("silent")
	}
	cert, err := w.ca.certificate(host, mode)
	if err != nil {
		return nil, err
	}
	return &tls.Config{Certificates: []tls.Certificate{*cert}, NextProtos: []string{"http/1.1"}}, nil
}
