package checkpoint

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"golang.org/x/mod/sumdb/note"
)

// Read reads the checkpoint in a file. See Parse for the verifier and the errors; where there is no such file, the
// error is fs.ErrNotExist.
func Read(path string, verifier note.Verifier) (*Checkpoint, error) {
	data, err := readFile(path, maxBytes)
	if err != nil {
		return nil, fmt.Errorf("reading checkpoint: %w", err)
	}
	c, err := Parse(data, verifier)
	if err != nil {
		return nil, fmt.Errorf("reading checkpoint %q: %w", path, err)
	}
	return c, nil
}

// readFile reads a regular file of at most limit bytes; of a larger one, limit+1.
func readFile(path string, limit int64) ([]byte, error) {
	// Opening a FIFO would wait for a writer.
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%q is not a regular file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	return data, errors.Join(err, f.Close())
}

// WriteFile puts the checkpoint into a file, signed if there is a signer. Whenever the process or the machine stops,
// the file is as it was before or as it is afterwards; a file ".NAME.….new" may be left beside it, which nobody
// reads. On any error the old file stands.
func (c *Checkpoint) WriteFile(path string, signer note.Signer) error {
	data, err := c.Encode(signer)
	if err != nil {
		return err
	}
	if err := replace(path, data); err != nil {
		return fmt.Errorf("writing checkpoint: %w", err)
	}
	return nil
}

// replace writes a file beside path and renames it. The rename is durable only once the folder is.
func replace(path string, data []byte) error {
	dir := filepath.Dir(path)
	name := filepath.Join(dir, "."+filepath.Base(path)+"."+rand.Text()+".new")
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(name, path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(name))
	}
	return syncFolder(dir)
}

func syncFolder(dir string) error {
	if runtime.GOOS == "windows" { // which cannot
		return nil
	}
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

const maxKey = 4096

// Signer reads a file with a private key as note.GenerateKey gives it. Errors never hold its text.
func Signer(path string) (note.Signer, error) {
	data, err := readFile(path, maxKey)
	if err != nil {
		return nil, fmt.Errorf("reading signing key: %w", err)
	}
	s, err := note.NewSigner(strings.TrimSpace(string(data)))
	if err != nil {
		return nil, fmt.Errorf("reading signing key %q: want one line PRIVATE+KEY+name+hash+key: %w", path, err)
	}
	return s, nil
}

// Verifier reads a public key as note.GenerateKey gives it: name+hash+key.
func Verifier(text string) (note.Verifier, error) {
	v, err := note.NewVerifier(strings.TrimSpace(text))
	if err != nil {
		return nil, fmt.Errorf("reading verification key %.200q: want name+hash+key: %w", text, err)
	}
	return v, nil
}
