//go:build !unix || darwin

package live

import "crypto/x509"

// systemRoots returns the platform's own verifier, which reads no environment variables.
func systemRoots() (*x509.CertPool, error) { return x509.SystemCertPool() }
