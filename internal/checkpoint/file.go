package checkpoint

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/mod/sumdb/note"

	"github.com/openagentprotocol-OAP/oap-gate/internal/atomicfile"
	"github.com/openagentprotocol-OAP/oap-gate/internal/capped"
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
	data, err := capped.ReadFile(path, limit)
	if errors.Is(err, capped.ErrTooLarge) {
		err = nil
	}
	return data, err
}

// WriteFile puts the checkpoint into a file, signed if there is a signer. Whenever the process or the machine stops,
// the file is as it was before or as it is afterwards; see package atomicfile for what may be left beside it. Where it
// cannot be written, the old file stands.
func (c *Checkpoint) WriteFile(path string, signer note.Signer) error {
	data, err := c.Encode(signer)
	if err != nil {
		return err
	}
	err = atomicfile.Write(path, data, 0o666)
	if err == nil {
		err = atomicfile.SyncFolder(filepath.Dir(path)) // the rename is durable only then
	}
	if err != nil {
		return fmt.Errorf("writing checkpoint: %w", err)
	}
	return nil
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
