package demo

import (
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
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/fixture"
)

// kept is the world of --keep: the registry of the demonstration, a newcomer at L1, and one at L4 that no witness has
// signed for.
const kept = demoBase + `
pr:
  - {publish: nova, level: L1}
  - {publish: nola, level: L4}
`

// keptSlugs are the implementations of that world.
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
	fixture.Salt(rand.Text() + " ") // a trial's keys are nobody else's
	now := time.Now().UTC().Truncate(time.Second)
	w, err := fixture.BuildUnserved(dir, []byte("clock: "+now.Format(time.RFC3339)+kept))
	if err != nil {
		return err
	}
	defer w.Close()
	w.Time = now.Add(-30 * time.Minute)
	if _, err := w.Publish("eve"); err != nil { // a new Receipt, which renew can list
		return err
	}
	for _, slug := range keptSlugs {
		if err := keepSite(w, slug); err != nil {
			return fmt.Errorf("keeping %s: %w", slug, err)
		}
	}
	upstream, fork := filepath.Join(dir, "upstream.git"), filepath.Join(dir, "fork.git")
	if err := os.Rename(w.Repo.Dir, upstream); err != nil {
		return err
	}
	// The branch pr, which the fixture leaves checked out, is not the one to clone.
	if err := os.WriteFile(filepath.Join(upstream, "HEAD"), []byte("ref: refs/heads/main\n"), 0o644); err != nil {
		return err
	}
	if err := os.CopyFS(fork, os.DirFS(upstream)); err != nil {
		return err
	}
	candidate, err := w.Implementation("nola")
	if err != nil {
		return err
	}
	text := commands(dir, plain.SHA256(w.Web.Body(candidate.ReceiptURL())))
	if err := os.WriteFile(filepath.Join(dir, "README"), []byte(text), 0o644); err != nil {
		return err
	}
	_, err = io.WriteString(sys.Stdout, "\n"+text)
	return err
}

// keepSite writes what an implementation serves, and its key.
func keepSite(w *fixture.World, slug string) error {
	i, err := w.Implementation(slug)
	if err != nil {
		return err
	}
	if err := w.WriteSite(slug, filepath.Join(w.Dir, "sites", i.Host)); err != nil {
		return err
	}
	der, err := x509.MarshalPKCS8PrivateKey(fixture.Key(i.Key))
	if err != nil {
		return err
	}
	file := filepath.Join(w.Dir, "keys", slug+".pem")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	return os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), 0o600)
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
