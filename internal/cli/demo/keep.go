package demo

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/foreign"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/typed"
	"github.com/openagentprotocol-OAP/oap-gate/internal/frame"
)

// keptSlugs are the implementations that --keep leaves: those of the registry, a newcomer at L1, and one at L4 that no
// witness has signed for.
var keptSlugs = []string{"ada", "bob", "cyd", "dot", "eve", "fox", "nola", "nova"}

// keep leaves a registry and a fork of it, the directories of its sites and its keys in a new directory, and prints
// what can be tried there. Its documents are dated by the real clock, so that no command needs --at.
func keep(sys frame.IO, dir string) (err error) {
	if err := os.Mkdir(dir, 0o755); errors.Is(err, fs.ErrExist) {
		return remedy.Errorf("choose a directory that does not exist", "--keep %q exists", dir)
	} else if err != nil {
		return typed.Unwritten(fmt.Errorf("making --keep: %w", err))
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(dir))
		}
	}()
	if dir, err = filepath.Abs(dir); err != nil {
		return err
	}
	w, err := load()
	if err != nil {
		return err
	}
	t := &trial{world: w, keys: map[string]ed25519.PrivateKey{}}
	listings := map[string][]byte{".gitkeep": nil}
	for _, slug := range keptSlugs {
		if t.keys[slug], err = newKey(filepath.Join(dir, "keys", slug+".pem")); err != nil {
			return err
		}
	}
	now, candidate := time.Now().UTC().Truncate(time.Second), ""
	began := now.AddDate(0, 0, -10)
	for _, slug := range keptSlugs {
		issued := began
		if slug == "nola" || slug == "nova" {
			issued = now.Add(-time.Hour)
		}
		documents, r, err := t.documents(slug, issued)
		if err != nil {
			return fmt.Errorf("keeping %s: %w", slug, err)
		}
		hash := plain.SHA256(r.Text())
		if issued == began {
			listings[slug+".json"] = t.listing(slug, r, hash)
		}
		switch slug {
		case "nola":
			candidate = hash
		case "eve": // a new Receipt, which renew can list
			if documents, _, err = t.documents(slug, now.Add(-30*time.Minute)); err != nil {
				return err
			}
		}
		for name, text := range documents {
			if err := write(filepath.Join(dir, "sites", slug+".example", name), []byte(text)); err != nil {
				return err
			}
		}
	}
	for _, clone := range []string{"upstream.git", "fork.git"} {
		if err := commit(filepath.Join(dir, clone), listings, began); err != nil {
			return err
		}
	}
	text := commands(dir, candidate)
	if err := write(filepath.Join(dir, "README"), []byte(text)); err != nil {
		return err
	}
	_, err = io.WriteString(sys.Stdout, "\n"+text)
	return err
}

// newKey makes a key, which is nobody else's, and writes it to a file.
func newKey(file string) (ed25519.PrivateKey, error) {
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return nil, err
	}
	return key, os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), 0o600)
}

// commands returns what can be tried in the directory; candidate is the SHA-256 of the Receipt that a witness signs.
func commands(dir, candidate string) string {
	local := func(hosts ...string) string {
		var b strings.Builder
		for _, slug := range hosts {
			fmt.Fprintf(&b, " --local %[1]s.example=../sites/%[1]s.example", slug)
		}
		return b.String()
	}
	return "next:\n" + foreign.Lines("  cd "+plain.ShellWord(dir)+"\n"+
		"  git clone -q -b main fork.git registry\n"+
		"  cd registry\n"+
		"  git remote add upstream ../upstream.git\n"+
		"  git fetch -q upstream\n"+
		"  oap-gate verify https://nova.example --registry ."+local("nova")+"\n"+
		"  oap-gate new nova https://nova.example"+local("nova")+"\n"+
		"  oap-gate renew eve"+local("eve")+"\n"+
		"  oap-gate revoke ada --reason superseded --key ../keys/ada.pem"+local("ada")+"\n"+
		"  oap-gate witness https://nola.example --did did:web:ada.example --key ../keys/ada.pem"+
		" --tests-executed "+candidate+" --dry-run"+local("ada", "nola")+"\n")
}
