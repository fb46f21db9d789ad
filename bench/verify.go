package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/fixture"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/webtest"
)

// verifyMany measures the verification of many targets, each on a host of its own.
func (b *bench) verifyMany() ([]figure, error) {
	targets := 1000
	if b.quick {
		targets = 20
	}
	w, err := fixture.New(filepath.Join(b.temporary, "verify"), fixture.Clock, webtest.Options{Delay: delay})
	if err != nil {
		return nil, err
	}
	defer w.Close()
	var list strings.Builder
	for n := range targets {
		slug := fmt.Sprintf("agent-%04d", n)
		w.Add(fixture.Implementation{Slug: slug})
		if _, err := w.Publish(slug); err != nil {
			return nil, err
		}
		fmt.Fprintf(&list, "https://%s.example\n", slug)
	}
	file := filepath.Join(w.Dir, "targets")
	if err := os.WriteFile(file, []byte(list.String()), 0o644); err != nil {
		return nil, err
	}
	c := b.verify(w, "--targets", file)
	used, err := b.inTurn(c)
	if err != nil {
		return nil, err
	}
	// Each target has a Manifest, a Receipt and a DID Document.
	least := time.Duration(3*targets) * delay / jobs
	ratio := median(used[0], wall) / least.Seconds()
	return []figure{{name: fmt.Sprintf("verify %d targets, each on its own host, 50 ms a reply; peer: %d documents x "+
		"50 ms / %d jobs", targets, 3*targets, jobs),
		gate: spread(used[0]), peer: seconds(least.Seconds()), ratio: fmt.Sprintf("%.2fx",
			ratio), memory: mebibytes(used[0]),
		must: "<= 1.5x", holds: ratio <= 1.5, unjudged: b.quick, commands: []string{c.String()}}}, nil
}

// verifyCached measures the verification of one target whose documents are all in the cache, from a web without delay,
// which confirms them.
func (b *bench) verifyCached() ([]figure, error) {
	w, err := fixture.New(filepath.Join(b.temporary, "cached"), fixture.Clock, webtest.Options{})
	if err != nil {
		return nil, err
	}
	defer w.Close()
	w.Add(fixture.Implementation{Slug: "nova"})
	d, err := w.Publish("nova")
	if err != nil {
		return nil, err
	}
	for path, body := range map[string][]byte{".well-known/did.json": d.DIDDocument,
		".well-known/oap-tool.json":    d.Manifest,
		"oap-conformance-receipt.json": d.Receipt} {
		w.Web.Set("https://nova.example/"+path, webtest.Behaviour{Body: body, ETag: `"1"`})
	}
	c := b.verify(w, "https://nova.example", "--cache", filepath.Join(b.temporary, "documents"))
	used, err := b.inTurn(c)
	if err != nil {
		return nil, err
	}
	took := median(used[0], wall)
	return []figure{{name: "verify one target whose documents are cached, and confirmed without delay",
		gate:   spread(used[0]),
		memory: mebibytes(used[0]), must: "< 60 ms", holds: took < 0.06, unjudged: b.quick,
		commands: []string{c.String()}}}, nil
}

func (b *bench) verify(w *fixture.World, more ...string) command {
	args := append([]string{b.gate, "verify"}, more...)
	return command{args: append(append(args, w.WebArgs()...), "--without-registry", "--at",
		fixture.Clock.Format(time.RFC3339))}
}
