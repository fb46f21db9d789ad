//go:build unix && !darwin

package live

import (
	"crypto/x509"
	"os"
	"path/filepath"
)

// rootFiles and rootDirectories are where crypto/x509 looks: the first file that holds certificates, or else the
// directories.
var rootFiles = []string{
	"/etc/ssl/certs/ca-certificates.crt",                // Debian, Ubuntu, Arch, Alpine
	"/etc/pki/tls/certs/ca-bundle.crt",                  // Fedora, RHEL 6
	"/etc/ssl/ca-bundle.pem",                            // openSUSE
	"/etc/pki/tls/cacert.pem",                           // OpenELEC
	"/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", // RHEL 7
	"/usr/local/etc/ssl/cert.pem",                       // FreeBSD
	"/etc/ssl/cert.pem",                                 // Alpine, OpenBSD
	"/usr/local/share/certs/ca-root-nss.crt",            // DragonFly
	"/etc/openssl/certs/ca-certificates.crt",            // NetBSD
}

var rootDirectories = []string{"/etc/ssl/certs", "/etc/pki/tls/certs", "/usr/local/share/certs", "/etc/openssl/certs"}

func systemRoots() (*x509.CertPool, error) {
	pool := x509.NewCertPool()
	for _, file := range rootFiles {
		if pem, err := os.ReadFile(file); err == nil && pool.AppendCertsFromPEM(pem) {
			return pool, nil
		}
	}
	for _, directory := range rootDirectories {
		files, err := os.ReadDir(directory)
		if err != nil {
			continue
		}
		for _, file := range files {
			if pem, err := os.ReadFile(filepath.Join(directory, file.Name())); err == nil {
				pool.AppendCertsFromPEM(pem)
			}
		}
	}
	return pool, nil
}
