package judge

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/netip"
	"reflect"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/checks"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence/bundle"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence/live"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/fixture"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// pureWorlds have evidence of every kind: honest, wrong, and not to be had.
var pureWorlds = map[string]string{
	"honest": `
policy: {reference_server: ref, maintainers: [mia]}
base:
  - {publish: mia}
  - {listing: ada, level: L4, witness: [bob]}
  - {listing: bob, level: L4, witness: [ada]}
  - {listing: cyd, level: L4, witness: [ada]}
  - {listing: dan}
  - {listing: eve, level: L4, witness: [ada]}
pr:
  - {listing: one}
  - {listing: two, level: L4, witness: [ada]}
  - {listing: three, level: L5, witness: [ada, bob, cyd]}
  - {listing: four, did: key}
  - {listing: five, host: five.github.io, provisional: true}
  - {listing: ref, level: L4, co_signers: [mia]}
  - {reissue: dan, set: {/license: MIT}}
  - {revoke: dan, number: 1}
  - {revoke: eve, witness: [ada, bob, cyd]}
  - {anchor: flow, coordinator: ada, failover: bob}
`,
	"wrong": `
base:
  - {listing: ada, level: L4, witness: [bob]}
  - {listing: bob, level: L4, witness: [ada]}
  - {listing: cyd, level: L4, witness: [ada], publisher_did: "did:web:ada.example"}
  - {listing: dan}
  - {listing: eve}
  - {listing: fay}
pr:
  - {listing: one, did_document: {set: {/id: "did:web:else.example"}}}
  - {listing: two, manifest: {set: {/tool/did: "did:web:else.example"}}}
  - {listing: three, set: {/manifest_uri: "https://one.example/.well-known/oap-tool.json", /conformance_receipt_uri: "https://one.example/oap-conformance-receipt.json"}}
  - {listing: four, pin: minified}
  - {listing: five, tamper: {body: "[]"}}
  - {listing: six, signing_key: other, receipt: {set: {/results_summary/failed: 1}}}
  - {listing: seven, level: L5, witness: [ada, bob, cyd], receipt: {delete: [/external_audit]}}
  - {listing: eight, level: L4, witness: [{slug: ada, key: other}], set: {/expires_at: "2026-12-01T00:00:00Z"}}
  - {listing: nine, registered: -3d, manifest: {set: {/ad_hoc_teamwork: {convention_discovery_v2: true}}}}
  - {reissue: dan, signing_key: other}
  - {edit: implementations/fay.json, set: {/name: Stolen, /provisional: true}}
  - {revoke: eve, by: ada}
  - {anchor: flow, coordinator: ada, uri: "https://bob.example/flow.json"}
`,
	"not to be had": `
policy: {reference_server: ref, maintainers: [mia]}
base:
  - {publish: mia}
  - {listing: ada, level: L4, witness: [bob]}
  - {listing: bob, level: L4, witness: [ada]}
  - {listing: cyd, level: L4, witness: [ada]}
  - {listing: dan}
  - {listing: eve}
  - {listing: fay}
  - {listing: gus}
pr:
  - {listing: one}
  - {listing: two}
  - {listing: three, level: L5, witness: [ada, bob, cyd]}
  - {listing: four}
  - {listing: six, level: L4, witness: [cyd]}
  - {listing: ref, level: L4, co_signers: [mia]}
  - {listing: seven, set: {/manifest_uri: "https://one.example/.well-known/oap-tool.json"}}
  - {reissue: dan}
  - {reissue: gus, set: {/provisional: true}}
  - {revoke: eve}
  - {revoke: fay, witness: [ada, bob, cyd]}
  - {anchor: flow, coordinator: ada, failover: cyd}
web:
  - {url: "https://one.example/.well-known/did.json", status: 503}
  - {url: "https://two.example/.well-known/oap-tool.json", status: 503}
  - {url: "https://four.example/oap-conformance-receipt.json", status: 503}
  - {url: "https://seven.example/oap-conformance-receipt.json", status: 503}
  - {url: "https://dan.example/oap-conformance-receipt.json", status: 404}
  - {url: "https://eve.example/.well-known/did.json", reset: true}
  - {url: "https://mia.example/.well-known/did.json", status: 500}
  - {url: "https://cyd.example/oap-conformance-receipt.json", status: 500}
  - {url: "https://cyd.example/.well-known/did.json", status: 404}
  - {domain: two.example, rdap: {status: 503}, whois: {reset: true}}
  - {domain: gus.example, rdap: {status: 503}, whois: {reset: true}}
`,
}

// TestChecksArePure checks that a check is a function of registry, clock and the evidence that it declares: judged a
// second time on recorded evidence, without all that it neither owns, needs nor uses, each check finds the same on
// every record.
func TestChecksArePure(t *testing.T) {
	for name, description := range pureWorlds {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := must.Get(fixture.Build(t.TempDir(), []byte(description)))(t)
			defer w.Close()
			repo := must.Get(registry.Open(w.Repo.Dir))(t)
			defer repo.Close()
			source := recordedOf(t, repo, w)
			whole, bare := freshRun(t, repo, w, source), freshRun(t, repo, w, source)
			for _, s := range bare.Subjects {
				s.Facts = &evidence.Facts{}
			}
			for i, s := range whole.Subjects {
				for _, c := range checks.All {
					if !c.Judges(s.Kind) {
						continue
					}
					alone := bare.Subjects[i]
					alone.Facts = only(s.Facts, declares(c, s), s.Kind)
					want, got := outcomeOf(t, c, s), outcomeOf(t, c, alone)
					if !reflect.DeepEqual(got, want) {
						t.Errorf("%s on %s: with what it declares alone it finds\n%+v\nwith all\n%+v", c.ID, s.Path,
							got, want)
					}
					if again := outcomeOf(t, c, s); !reflect.DeepEqual(again, want) {
						t.Errorf("%s on %s: a second time it finds\n%+v\nthe first time\n%+v", c.ID, s.Path, again,
							want)
					}
					alone.Facts = &evidence.Facts{}
				}
			}
		})
	}
}

// recordedOf gates a world, and gives the evidence for doing so again, which must give the same report.
func recordedOf(t *testing.T, repo *registry.Repository, w *fixture.World) evidence.Source {
	t.Helper()
	addr := must.Get(netip.ParseAddrPort(w.Web.Addr()))(t)
	live := must.Get(live.New(live.Options{Now: w.Now,
		ConnectTo: []live.ConnectTo{{Host: "*", Addr: addr}},
		CACert:    w.Web.CAPEM(), RDAPURL: w.Web.RDAPURL(), WHOISServer: w.Web.WHOISAddr()}))(t)
	defer live.Close()
	first := reportOf(t, repo, w, live)
	bundle := must.Get(bundle.Decode("bundle",
		(&bundle.Bundle{Mode: "check", Now: w.Now, Observations: live.Observations()}).Encode()))(t)
	if second := reportOf(t, repo, w, bundle.Source()); !bytes.Equal(first, second) {
		t.Errorf("the recorded run reports\n%s\nnot\n%s", second, first)
	}
	return bundle.Source()
}

func everything(string) bool { return true }

func reportOf(t *testing.T, repo *registry.Repository, w *fixture.World, src evidence.Source) []byte {
	t.Helper()
	rng := must.Get(repo.Range(t.Context(), w.Base, w.Head))(t)
	rep := must.Get(Check(t.Context(), repo, []*registry.Range{rng}, src, Config{Selected: everything}))(t)
	text := must.Get(json.MarshalIndent(rep, "", " "))(t)
	return text
}

// freshRun has every subject of a world's pull request with all evidence that checks want, judged by the
// checks that run before evidence is sought.
func freshRun(t *testing.T, repo *registry.Repository, w *fixture.World, src evidence.Source) *checks.Run {
	t.Helper()
	ctx := context.Background()
	rng := must.Get(repo.Range(ctx, w.Base, w.Head))(t)
	run := &checks.Run{Catalogue: checks.All, Context: ctx, Repo: repo, Range: rng, Now: w.Now, Selected: everything}
	changes, err := touched(rng)
	must.OK(t, err)
	if run.Base, err = checks.NewStanding(ctx, rng.Base,
		func(p string) bool { return touches(changes, p) }); err != nil {
		t.Fatal(err)
	}
	for _, change := range changes {
		s := must.Get(checks.NewSubject(run, change))(t)
		run.Subjects = append(run.Subjects, s)
	}
	for _, s := range run.Subjects {
		for _, c := range checks.All {
			if c.First && c.Judges(s.Kind) {
				outcomeOf(t, c, s)
			}
		}
		must.OK(t, collect(ctx, run, s, src, false))
	}
	return run
}

func outcomeOf(t *testing.T, c *checks.Check, s *checks.Subject) verdict.Outcome {
	t.Helper()
	out := must.Get(c.Judge(s))(t)
	return out
}

func declares(c *checks.Check, s *checks.Subject) evidence.Set {
	declared := evidence.Set(0).With(c.Owns)
	if c.Needs != nil {
		for _, k := range c.Needs(s) {
			declared = declared.With(k)
		}
	}
	for _, k := range c.Uses {
		declared = declared.With(k)
	}
	return declared
}

// only is the evidence of some kinds.
func only(f *evidence.Facts, kinds evidence.Set, of registry.Kind) *evidence.Facts {
	out := &evidence.Facts{}
	revocation := kinds.Has(evidence.RevocationProof) && of == registry.KindRevocation
	if kinds.Has(evidence.DIDDocument) || kinds.Has(evidence.AnchorProof) || revocation {
		out.DIDDocument, out.DIDFallback = f.DIDDocument, f.DIDFallback
	}
	if kinds.Has(evidence.Manifest) {
		out.Manifest = f.Manifest
	}
	if kinds.Has(evidence.ReceiptText) {
		out.ReceiptText = f.ReceiptText
	}
	if kinds.Has(evidence.Receipt) {
		out.Receipt = f.Receipt
	}
	if kinds.Has(evidence.DomainAge) {
		out.DomainAge = f.DomainAge
	}
	if kinds.Has(evidence.Witnesses) || revocation {
		out.Witnesses = f.Witnesses
	}
	if kinds.Has(evidence.Witnesses) {
		out.Maintainers = f.Maintainers
	}
	if kinds.Has(evidence.AnchorProof) {
		out.Failover, out.CrossMatch = f.Failover, f.CrossMatch
	}
	return out
}

// TestEvidenceHasOneOwner checks that exactly one check reports that a kind of evidence is missing.
func TestEvidenceHasOneOwner(t *testing.T) {
	owners := map[evidence.Kind][]string{}
	for _, c := range checks.All {
		if c.Owns != 0 {
			owners[c.Owns] = append(owners[c.Owns], c.ID)
		}
	}
	for k := evidence.DIDDocument; k <= evidence.AnchorProof; k++ {
		if len(owners[k]) != 1 {
			t.Errorf("%s is owned by %s", k, fmt.Sprintf("%q", owners[k]))
		}
	}
}
