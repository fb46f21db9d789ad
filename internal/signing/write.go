package signing

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// pkcs8 is what stands before the seed in the PKCS #8 form of an Ed25519 key (RFC 8410 section 7).
var pkcs8 = []byte{0x30, 0x2e, 2, 1, 0, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 4, 0x22, 4, 0x20}

// WriteFile writes the key as PKCS #8 PEM to a new file, which its owner alone may read and write. A file that is there
// is never overwritten: the error then is fs.ErrExist. Nor is one made in a Git work tree.
func (k *Key) WriteFile(path string) error {
	if k.private == nil {
		return errors.New("writing the key: it was wiped")
	}
	dir, err := filepath.Abs(filepath.Dir(path))
	if err != nil {
		return err
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return fmt.Errorf("writing the key: %w", err)
	}
	if tree := workTree(dir); tree != "" {
		return refused("name a file outside of it",
			"%s lies in the Git work tree %s, and a key that is committed is known to all", path, tree)
	}
	// For a better message alone: link refuses it too.
	if _, err := os.Lstat(path); err == nil {
		return fmt.Errorf("writing the key: %w", &fs.PathError{Op: "create", Path: path, Err: fs.ErrExist})
	}
	text := k.pem()
	defer clear(text)
	if err := unnamed(dir, filepath.Base(path), text); !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	return named(dir, filepath.Base(path), text)
}

// pem is one line of base64 in its frame. The encoder of encoding/pem would leave copies behind.
func (k *Key) pem() []byte {
	der := append(append(make([]byte, 0, len(pkcs8)+ed25519.SeedSize), pkcs8...), k.private[:ed25519.SeedSize]...)
	defer clear(der)
	text := append(make([]byte, 0, 128), "-----BEGIN PRIVATE KEY-----\n"...)
	text = base64.StdEncoding.AppendEncode(text, der)
	return append(text, "\n-----END PRIVATE KEY-----\n"...)
}

// workTree is the root of the work tree that a folder lies in, empty where it lies in none.
func workTree(dir string) string {
	for {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			return ""
		}
		dir = up
	}
}

// named writes beside the new file and links it to its name, where no file can be without one.
func named(dir, name string, text []byte) error {
	f, err := os.OpenFile(filepath.Join(dir, "."+name+"."+rand.Text()+".oap-gate.tmp"), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("writing the key: %w", err)
	}
	_, err = f.Write(text)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Link(f.Name(), filepath.Join(dir, name))
	}
	if err = errors.Join(err, os.Remove(f.Name())); err != nil {
		return fmt.Errorf("writing the key: %w", err)
	}
	return nil
}
