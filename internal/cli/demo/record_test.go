package demo

import (
	"bytes"
	"compress/gzip"
	"crypto/rand"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence/bundle"
	"github.com/openagentprotocol-OAP/oap-gate/internal/frame"
	"github.com/openagentprotocol-OAP/oap-gate/internal/judge/checkcmd"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/fixture"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

var update = flag.Bool("update", false, "record the worlds of the demonstration again, with new keys")

// base is the registry of the demonstration: listings at L1, L4 and L5, and witnesses for them.
const base = `
schemas: [listing, revocation, workflow-anchor]
base:
  - {listing: ada, level: L4, witness: [bob]}
  - {listing: bob, level: L4, witness: [ada]}
  - {listing: cyd, level: L4, witness: [ada]}
  - {listing: dot, level: L5, witness: [ada, bob, cyd]}
  - {listing: eve, level: L1}
  - {listing: fox, level: L4, witness: [ada], legal_name: Ada Ltd, publisher_did: "did:web:ada.example"}
pr:`

// pulls are the pull requests, in the order of demoCases.
var pulls = []string{`
  - {listing: nova, level: L4, witness: [bob]}`, `
  - {reissue: eve, issued: "-2h"}`, `
  - {revoke: eve}`, `
  - {edit: implementations/eve.json, set: {/contact: "mallory@eve.example"}}`, `
  - {listing: nova, level: L3, tamper: {set: {/results_summary/passed: 999, /results_summary/total: 999}}}`, `
  - {listing: nova, level: L5, witness: [ada, fox, bob]}`, `
  - {publish: mallory}
  - {revoke: eve, by: mallory}`, `
  - {move: [implementations/eve.json, implementations/evil.json]}`, `
  - {listing: nova, level: L1, set: {/extra: "anything"}}
  - {edit: schemas/implementation.schema.json, set: {/additionalProperties: true}}`, `
  - {listing: nova, level: L1, pin: "0000000000000000000000000000000000000000000000000000000000000000"}`, `
  - {listing: nova, level: L1, registered: "-1d"}`}

func build(t *testing.T, pr string) *fixture.World {
	t.Helper()
	w := must.Get(fixture.Build(t.TempDir(), []byte(base+pr+"\n")))(t)
	t.Cleanup(func() { _ = w.Close() })
	return w
}

// TestRecorded checks that the demonstration shows of each pull request what the gate says of it on a live web. With
// -update it records them again.
func TestRecorded(t *testing.T) {
	if *update {
		record(t)
		return // the next run embeds what this one wrote
	}
	dir := t.TempDir()
	w := must.Get(load())(t)
	must.OK(t, w.unpack(dir))
	repo := must.Get(registry.Open(filepath.Join(dir, "registry")))(t)
	defer repo.Close()
	if len(pulls) != len(demoCases) {
		t.Fatalf("%d pull requests, %d cases", len(pulls), len(demoCases))
	}
	for i, pr := range pulls {
		live := build(t, pr)
		here := must.Get(registry.Open(live.Repo.Dir))(t)
		want := must.Get(again(t.Context(), here, check(t, live)))(t)
		must.OK(t, here.Close())
		got := must.Get(w.gate(t.Context(), repo, i+1))(t)
		if told, found := told(got), told(want); told != found {
			t.Errorf("%s: run this test with -update\nrecorded:\n%s\nlive:\n%s", demoCases[i].title, told, found)
		}
	}
}

// check gates the pull request of a world on its live web, and returns what the run recorded.
func check(t *testing.T, w *fixture.World) *bundle.Bundle {
	t.Helper()
	file := filepath.Join(w.Dir, "bundle.json")
	c := checkcmd.New(frame.IO{Stdout: io.Discard, Stderr: io.Discard, Getenv: func(string) string { return "" }})
	c.SilenceErrors, c.SilenceUsage = true, true
	c.SetArgs(slices.Concat(w.Args(), w.RangeArgs(), []string{"--record", file}))
	_ = c.ExecuteContext(t.Context()) // the verdict
	b := must.Get(bundle.Read(file))(t)
	return b
}

var hash = regexp.MustCompile(`[0-9a-f]{64}`)

// told returns what a report says whatever the keys are.
func told(rep *verdict.Report) string {
	var b strings.Builder
	for r := range rep.Results.All() {
		fmt.Fprintln(&b, r.Subject, r.Check, r.Verdict)
		for _, f := range r.Findings {
			fmt.Fprintln(&b, "  ", f.Pointer, f.Code)
		}
	}
	return hash.ReplaceAllString(b.String(), "HASH")
}

// record writes what recorded holds.
func record(t *testing.T) {
	fixture.Salt(rand.Text() + " ")
	into, err := fixture.NewBareRepo(filepath.Join(t.TempDir(), "registry"))
	must.OK(t, err)
	texts := world{"now": fixture.Clock.Format(time.RFC3339)}
	for i, pr := range pulls {
		w := build(t, pr)
		b := check(t, w)
		name := fmt.Sprintf("%d.json", i+1)
		b.Flags.Assumed = []string{"--at " + texts["now"], "--replay " + name}
		texts[name] = string(b.Encode())
		_, err = into.Git("fetch", "-q", w.Repo.Dir, "main:main", fmt.Sprintf("pr:pr-%d", i+1))
		must.OK(t, err)
	}
	_, err = into.Git("repack", "-adfq", "--depth=50")
	must.OK(t, err)
	for _, name := range []string{"HEAD", "config", "refs/heads/main"} {
		texts["registry/"+name] = string(must.Read(t, filepath.Join(into.Dir, name)))
	}
	packs := must.Get(filepath.Glob(filepath.Join(into.Dir, "objects", "pack", "*.pack")))(t)
	for _, of := range []string{".pack", ".idx"} {
		data := must.Read(t, strings.TrimSuffix(packs[0], ".pack")+of)
		must.OK(t, os.WriteFile(filepath.Join("recorded", "demo"+of), data, 0o644))
	}
	w := build(t, "\n  - {publish: nova, level: L4, witness: [bob]}")
	site(t, texts, w, "nova", "site")
	w = build(t, "\n  - {publish: nova, level: L1}\n  - {publish: nola, level: L4}")
	for _, slug := range keptSlugs {
		site(t, texts, w, slug, "sites/"+slug+".example")
	}
	text := must.Get(json.Marshal(texts))(t)
	var packed bytes.Buffer
	z, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	must.OK(t, err)
	_, err = z.Write(text)
	must.OK(t, err)
	must.OK(t, z.Close())
	must.OK(t, os.WriteFile(filepath.Join("recorded", "world.json.gz"), packed.Bytes(), 0o644))
}

// site adds what a host serves to texts, below a directory.
func site(t *testing.T, texts world, w *fixture.World, slug, below string) {
	t.Helper()
	dir := t.TempDir()
	must.OK(t, w.WriteSite(slug, dir))
	files := os.DirFS(dir)
	for _, name := range []string{".well-known/did.json", ".well-known/oap-tool.json", "oap-conformance-receipt.json"} {
		text := must.Get(fs.ReadFile(files, name))(t)
		texts[below+"/"+name] = string(text)
	}
}
