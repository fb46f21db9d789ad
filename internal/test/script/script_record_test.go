package script_test

import (
	"crypto/ed25519"
	"crypto/sha256"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/fixture"
)

// record runs a command of the program that writes records, on the world's registry and web.
func record(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: record STATUS COMMAND [ARG…]")
	}
	flags := state(ts).world.Args()
	if args[1] == "verify" { // has no --repo
		flags = flags[2:]
	}
	endsWith(ts, args[0], slices.Concat(args[1:], []string{"--retry-wait", "1ms"}, flags))
}

// deploy publishes an implementation whose owner has the key in a file: the DID Document holds its public half, and it
// signs the Receipt.
func deploy(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: deploy KEYFILE SLUG LEVEL")
	}
	block, _ := pem.Decode([]byte(ts.ReadFile(args[0])))
	if block == nil {
		ts.Fatalf("%s holds no PEM", args[0])
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	ts.Check(err)
	w := state(ts).world
	w.Add(fixture.Implementation{Slug: args[1], Level: args[2]})
	ts.Check(w.PublishBy(parsed.(ed25519.PrivateKey), args[1]))
}

// writeSite writes what the host of an implementation serves now into a directory.
func writeSite(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: site SLUG DIR")
	}
	ts.Check(state(ts).world.WriteSite(args[0], ts.MkAbs(args[1])))
}

// snapshot remembers the files of the world's work tree and of the script's own directory.
func snapshot(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 0 {
		ts.Fatalf("usage: snapshot")
	}
	state(ts).files = filesOf(ts)
}

// unchanged requires that everything stands as snapshot noted it.
func unchanged(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) > 0 || state(ts).files == nil {
		ts.Fatalf("usage: unchanged, after snapshot")
	}
	var differ []string
	was, now := state(ts).files, filesOf(ts)
	for path := range now {
		if was[path] != now[path] {
			differ = append(differ, path)
		}
	}
	for path := range was {
		if _, there := now[path]; !there {
			differ = append(differ, path)
		}
	}
	if slices.Sort(differ); neg == (len(differ) == 0) {
		ts.Fatalf("changed: %q", differ)
	}
}

// unasked requires that nothing was asked of the world's web, or that a URL was not.
func unasked(ts *testscript.TestScript, neg bool, args []string) {
	web := state(ts).world.Web
	switch {
	case neg || len(args) > 1:
		ts.Fatalf("usage: unasked [URL]")
	case len(args) == 1 && web.Hits(args[0]) > 0, len(args) == 0 && len(web.Requests()) > 0:
		ts.Fatalf("the web was asked for %q", web.Requests())
	}
}

// filesOf are the hashes of all files of the work tree, and of the names, modes and targets of everything there.
func filesOf(ts *testscript.TestScript) map[string]string {
	all := map[string]string{}
	root := state(ts).world.Repo.Dir
	ts.Check(filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.Name() == "index" && filepath.Base(filepath.Dir(path)) == ".git" {
			return nil // git refreshes it when it is asked what changed
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		var text []byte
		switch {
		case d.Type().IsRegular():
			text, err = os.ReadFile(path)
		case d.Type() == fs.ModeSymlink:
			var to string
			to, err = os.Readlink(path)
			text = []byte(to)
		}
		all[path] = fmt.Sprintf("%v %x", info.Mode(), sha256.Sum256(text))
		return err
	}))
	return all
}
