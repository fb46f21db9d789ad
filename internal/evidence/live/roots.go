package live

import (
	"crypto/x509"
	"errors"
	"fmt"
	"sync"
)

// roots are the system's, which are read once, as by crypto/x509.
var roots = sync.OnceValues(systemRoots)

// Roots returns the pool of the system's certificate authorities and those of a PEM bundle, if that is not nil. On Unix
// except macOS, crypto/x509 lets SSL_CERT_FILE and SSL_CERT_DIR replace the system's roots. A variable that an earlier
// step of a workflow set must not decide what a gate trusts, so Roots reads the files itself.
func Roots(more []byte) (*x509.CertPool, error) {
	pool, err := roots()
	if err != nil {
		return nil, fmt.Errorf("reading system roots: %w", err)
	}
	pool = pool.Clone()
	if err := addRoots(pool, more); err != nil {
		return nil, err
	}
	if pool.Equal(x509.NewCertPool()) {
		return nil, errors.New("reading system roots: none found, and no other CA certificate was given")
	}
	return pool, nil
}

func addRoots(pool *x509.CertPool, more []byte) error {
	if more != nil && !pool.AppendCertsFromPEM(more) {
		return errors.New("reading CA certificates: no PEM certificate in them")
	}
	return nil
}
