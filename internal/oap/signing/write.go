package signing

import (
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/atomicfile"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/usergit"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict/capped"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// pkcs8 is the prefix of the seed in the PKCS #8 form of an Ed25519 key (RFC 8410 section 7).
var pkcs8 = []byte{0x30, 0x2e, 2, 1, 0, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 4, 0x22, 4, 0x20}

// WriteFile writes the key as PKCS #8 PEM to a new file, which only its owner may read and write. A file that is there
// is never overwritten: the error then is fs.ErrExist. WriteFile refuses a file in a Git work tree whose repository
// does not ignore it, in a Git directory, and in a data directory of a registry.
func (k *Key) WriteFile(path string) error {
	if k.private == nil {
		return errors.New("writing the key: it was wiped")
	}
	text := k.pem()
	defer clear(text)
	return writeFile(path, text)
}

func writeFile(path string, text []byte) error {
	if IsKey(path) || unrepeated(path) && filepath.Base(path) == path {
		return ErrIsKey()
	}
	if _, name := filepath.Split(path); name == "" {
		// filepath.Base would take the directory's own name.
		return remedy.Errorf("name the file too", "%s names a directory", path)
	}
	dir, err := filepath.Abs(filepath.Dir(path))
	if err != nil {
		return err
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil && unrepeated(path) {
		return remedy.Errorf("name a file in a directory that is there", "writing the key: its directory is not there")
	}
	if err != nil {
		return fmt.Errorf("writing the key: %w", err)
	}
	at, err := usergit.Locate(filepath.Join(dir, filepath.Base(path)))
	switch outside := "name a file outside of it"; {
	case at.InGit:
		return remedy.Errorf(outside, "%s lies in the Git directory of the Git work tree %s", path, at.Root)
	case inData(at.Path):
		return remedy.Errorf(outside, "%s lies in a data directory of the Git work tree %s", path, at.Root)
	case err != nil:
		return remedy.Errorf(outside,
			"%s lies in the Git work tree %s, and what that ignores cannot be read: %v", path, at.Root, err)
	case at.Root != "" && !at.Ignored:
		return remedy.Errorf(outside+", or ignore it there first: a key that is committed is known to all",
			"%s lies in the Git work tree %s, which does not ignore it", path, at.Root)
	}
	root, err := capped.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("writing the key: %w", err)
	}
	defer root.Close()
	if err := atomicfile.Create(root, filepath.Base(path), text, 0o600); err != nil {
		return fmt.Errorf("writing the key: %w", err)
	}
	return nil
}

// inData reports whether a path is in a data directory of a registry, in any case of letters.
func inData(path string) bool {
	first, _, below := strings.Cut(path, "/")
	return below && slices.ContainsFunc(registry.DataKinds,
		func(k registry.Kind) bool { return strings.EqualFold(first, k.Directory()) })
}

// pem returns one line of base64 in its frame. The encoder of encoding/pem would leave copies in memory.
func (k *Key) pem() []byte {
	der := append(append(make([]byte, 0, len(pkcs8)+ed25519.SeedSize), pkcs8...), k.private[:ed25519.SeedSize]...)
	defer clear(der)
	text := append(make([]byte, 0, 128), "-----BEGIN PRIVATE KEY-----\n"...)
	text = base64.StdEncoding.AppendEncode(text, der)
	return append(text, "\n-----END PRIVATE KEY-----\n"...)
}
