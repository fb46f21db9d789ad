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
func (b *bench) verifyMany() []figure {
	targets := 1000
	if b.quick {
		targets = 20
	}
	w, err := fixture.New(filepath.Join(b.temporary, "verify"), fixture.Clock, webtest.Options{Delay: delay})
	try(err)
	defer w.Close()
	var list strings.Builder
	for n := range targets {
		slug := fmt.Sprintf("agent-%04d", n)
		w.Add(fixture.Implementation{Slug: slug})
		_, err := w.Publish(slug)
		try(err)
		fmt.Fprintf(&list, "https://%s.example\n", slug)
	}
	file := filepath.Join(w.Dir, "targets")
	try(os.WriteFile(file, []byte(list.String()), 0o644))
	c := b.verify(w, "--targets", file)
	used := b.inTurn(c)
	// Each target has a Manifest, a Receipt and a DID Document.
	least := time.Duration(3*targets) * delay / jobs
	ratio := median(used[0], wall) / least.Seconds()
	f := b.figure(fmt.Sprintf("verify %d targets, each on its own host, 50 ms a reply; peer: %d documents x 50 ms / "+
		"%d jobs", targets, 3*targets, jobs), used[0], nil, times(ratio), "<= 1.5x", ratio <= 1.5, c)
	f.peer = seconds(least.Seconds())
	return []figure{f}
}

// verifyCached measures the verification of one target whose documents are all in the cache, from a web without delay,
// which confirms them.
func (b *bench) verifyCached() []figure {
	w, err := fixture.New(filepath.Join(b.temporary, "cached"), fixture.Clock, webtest.Options{})
	try(err)
	defer w.Close()
	w.Add(fixture.Implementation{Slug: "nova"})
	d, err := w.Publish("nova")
	try(err)
	for path, body := range map[string][]byte{".well-known/did.json": d.DIDDocument,
		".well-known/oap-tool.json":    d.Manifest,
		"oap-conformance-receipt.json": d.Receipt} {
		w.Web.Set("https://nova.example/"+path, webtest.Behaviour{Body: body, ETag: `"1"`})
	}
	c := b.verify(w, "https://nova.example", "--cache", filepath.Join(b.temporary, "documents"))
	used := b.inTurn(c)
	took := median(used[0], wall)
	return []figure{b.figure("verify one target whose documents are cached, and confirmed without delay", used[0],
		nil, "", "< 60 ms", took < 0.06, c)}
}

func (b *bench) verify(w *fixture.World, more ...string) command {
	args := append([]string{b.gate, "verify"}, more...)
	return command{args: append(append(args, w.WebArgs()...), "--without-registry", "--at",
		fixture.Clock.Format(time.RFC3339))}
}
