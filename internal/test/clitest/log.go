package clitest

import (
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/mirror/prove"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/proof"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/fixture"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// WriteLog writes the log checkpoint of a clone's main, with cosignatures of two witnesses of that time, and the
// policy that asks for both.
func WriteLog(clone, dir string, at time.Time) (policy string, err error) {
	repo, err := registry.Open(clone)
	if err != nil {
		return "", err
	}
	defer repo.Close()
	h := prove.NewHistory(repo)
	if err := h.Extend(context.Background(), "main", 0); err != nil {
		return "", err
	}
	root, err := h.Log.Root(h.Log.Size())
	if err != nil {
		return "", err
	}
	text := proof.Checkpoint{Origin: "log.example", Size: h.Log.Size(), Root: root}.Text()
	signed := text + "\n"
	for i, name := range []string{"log.example", "a.example", "b.example"} {
		private := fixture.Key(name)
		kind, line, message, stamp := byte(1), "log ", text, []byte(nil)
		if i > 0 {
			kind, line = 4, "witness "+name+" "
			message = fmt.Sprintf("cosignature/v1\ntime %d\n%s", at.Unix(), text)
			stamp = binary.BigEndian.AppendUint64(nil, uint64(at.Unix()))
		}
		key := append([]byte{kind}, private.Public().(ed25519.PublicKey)...)
		hash := sha256.Sum256(append([]byte(name+"\n"), key...))
		policy += fmt.Sprintf("%s%s+%x+%s\n", line, name, hash[:4], base64.StdEncoding.EncodeToString(key))
		signature := slices.Concat(hash[:4], stamp, ed25519.Sign(private, []byte(message)))
		signed += "— " + name + " " + base64.StdEncoding.EncodeToString(signature) + "\n"
	}
	policy += "group both all a.example b.example\nquorum both\n"
	return policy, errors.Join(os.MkdirAll(dir, 0o777),
		os.WriteFile(filepath.Join(dir, "checkpoint"), []byte(signed), 0o666),
		os.WriteFile(filepath.Join(dir, "policy"), []byte(policy), 0o666))
}
