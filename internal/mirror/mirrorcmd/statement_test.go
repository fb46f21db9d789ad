package mirrorcmd_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/json"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/checks"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence/bundle"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence/live"
	"github.com/openagentprotocol-OAP/oap-gate/internal/judge/replay"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/signing"
	"github.com/openagentprotocol-OAP/oap-gate/internal/report"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/clitest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/fixture"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/ghtest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/gittest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verify"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// stated is the part of a statement that the tests look at.
type stated struct {
	Subject []struct {
		Name   string
		Digest map[string]string
	}
	Predicate struct {
		Verifier          struct{ ID string }
		TimeVerified      time.Time
		ResourceURI       string
		VerifiedLevels    []string
		InputAttestations []struct {
			URI                 string
			Digest, Annotations map[string]string
		}
		VerificationResult string
	}
}

// readStatement verifies the signature of a bundle and returns its statement.
func readStatement(t *testing.T, text []byte, key ed25519.PublicKey) (s stated) {
	t.Helper()
	var b struct {
		DSSEEnvelope struct {
			Payload, PayloadType string
			Signatures           []struct{ Sig []byte }
		}
	}
	if err := json.Unmarshal(text, &b); err != nil || len(b.DSSEEnvelope.Signatures) != 1 {
		t.Fatalf("%q: %v", text, err)
	}
	var raw struct{ DSSEEnvelope struct{ Payload []byte } }
	must.OK(t, json.Unmarshal(text, &raw))
	payload, kind := raw.DSSEEnvelope.Payload, b.DSSEEnvelope.PayloadType
	pae := fmt.Appendf(nil, "DSSEv1 %d %s %d %s", len(kind), kind, len(payload), payload)
	if !ed25519.Verify(key, pae, b.DSSEEnvelope.Signatures[0].Sig) {
		t.Fatalf("the signature of %s does not verify", payload)
	}
	must.OK(t, json.Unmarshal(payload, &s))
	return s
}

// operator makes the key of an operator, and returns the flags that name it.
func operator(t *testing.T) (flags []string, key ed25519.PublicKey) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "key.pem")
	k, err := signing.New()
	if err == nil {
		err = k.WriteFile(file)
	}
	must.OK(t, err)
	return []string{"--verifier", "https://mirror.example/oap-gate", "--key", file}, k.Public()
}

// empty makes a registry without a record: to audit it takes no network, so that nothing is assumed.
func empty(t *testing.T) *gittest.Clone {
	t.Helper()
	c := gittest.At(t, t.TempDir())
	c.Git("init", "-q", "-b", "main")
	c.Write("implementations/.gitkeep", "")
	c.Git("add", "-A")
	c.Git("commit", "-q", "-m", "Begin")
	c.Git("remote", "add", "origin", "https://registry.example/oap.git")
	return c
}

// TestStatementOfAudit audits without any flag that replaces a part of a live run, and reads the statement.
func TestStatementOfAudit(t *testing.T) {
	c, flags := empty(t), []string(nil)
	sign, key := operator(t)
	file := filepath.Join(t.TempDir(), "out.vsa")
	flags = slices.Concat([]string{"audit", "--repo", c.Dir, "--report", "vsa=" + file}, sign)
	if code, out := clitest.Program(t, flags...); code != 0 || strings.Contains(out, "no statement") {
		t.Fatalf("exit status %d\n%s", code, out)
	}
	s := readStatement(t, must.Read(t, file), key)
	p := s.Predicate
	if len(s.Subject) != 1 || s.Subject[0].Digest["gitCommit"] != c.Git("rev-parse", "HEAD") ||
		p.ResourceURI != "git+https://registry.example/oap" || p.VerificationResult != "PASSED" ||
		!slices.Equal(p.VerifiedLevels, []string{"OAP_AUDIT"}) || len(p.InputAttestations) != 1 {
		t.Errorf("%+v", s)
	}
	// A part of the records is no audit of the commit, and a run that fails later leaves nothing.
	for _, more := range [][]string{{"--shard", "1/2"}, {"--report", "json=" + file + "/x"}, {"--rev", "nowhere"}} {
		code, out := clitest.Program(t, append(slices.Clone(flags), more...)...)
		if _, err := os.Stat(file); !os.IsNotExist(err) || !strings.Contains(out, "no statement was written to") {
			t.Errorf("%q: exit status %d, %v\n%s", more, code, err, out)
		}
	}
}

// TestStatementKilled kills audits at many moments: the file of the statement is not there, or it is whole and new.
func TestStatementKilled(t *testing.T) {
	clitest.SkipKills(t)
	t.Parallel()
	c := empty(t)
	sign, key := operator(t)
	file := filepath.Join(t.TempDir(), "out.vsa")
	args := slices.Concat([]string{"audit", "--repo", c.Dir, "--report", "vsa=" + file}, sign)
	began := time.Now()
	if out, err := exec.Command("oap-gate", args...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	took := time.Since(began)
	readStatement(t, must.Read(t, file), key)
	const kills, older = 40, `{"mediaType":"application/vnd.dev.sigstore.bundle.v0.3+json"}`
	none := 0
	for n := range kills {
		must.OK(t, os.WriteFile(file, []byte(older), 0o644))
		cmd := exec.Command("oap-gate", args...)
		must.OK(t, cmd.Start())
		if n%2 == 0 {
			time.Sleep(took * time.Duration(n+1) * 3 / 2 / kills)
		} else {
			for range 10_000 { // until the run has removed the older statement
				if text, err := os.ReadFile(file); err != nil || string(text) != older {
					break
				}
				time.Sleep(time.Millisecond)
			}
		}
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		switch text, err := os.ReadFile(file); {
		case os.IsNotExist(err):
			none++
		case err != nil:
			t.Fatal(err)
		case string(text) != older: // else it was killed before it began
			readStatement(t, text, key)
		}
	}
	if none == 0 {
		t.Errorf("none of %d kills came between the older statement and the next: this shows nothing", kills)
	}
}

// TestStatementOfMirror mirrors an empty registry: the statement names the commit. Once the origin is gone there is
// none.
func TestStatementOfMirror(t *testing.T) {
	root := t.TempDir()
	server, err := ghtest.ServeGit(root)
	if err != nil {
		t.Skip("NOT TESTED: ", err)
	}
	t.Cleanup(server.Close)
	c := empty(t)
	c.Git("clone", "-q", "--bare", c.Dir, filepath.Join(root, "origin.git"))
	sign, key := operator(t)
	file := filepath.Join(t.TempDir(), "out.vsa")
	args := slices.Concat([]string{"mirror", server.URL + "/origin.git", filepath.Join(t.TempDir(), "m"), "--origin",
		"registry.example/oap", "--report", "vsa=" + file}, sign)
	clitest.Run(t, 0, "", args...)
	s := readStatement(t, must.Read(t, file), key)
	if len(s.Subject) != 1 || s.Subject[0].Digest["gitCommit"] != c.Git("rev-parse", "HEAD") ||
		s.Predicate.ResourceURI != "git+https://registry.example/oap" {
		t.Errorf("%+v", s)
	}
	server.Close()
	code, out := clitest.Program(t, append(args, "--retry-wait", "1ms")...)
	if _, err := os.Stat(file); !os.IsNotExist(err) || code != 3 {
		t.Errorf("exit status %d, %v\n%s", code, err, out)
	}
}

// TestStatementOfCheck checks a pull request that adds one listing: its bytes are the one subject.
func TestStatementOfCheck(t *testing.T) {
	w := clitest.Build(t, "base: [{listing: ada}]\npr: [{listing: eve}]\n")
	file := filepath.Join(t.TempDir(), "bundle.json")
	clitest.Run(t, 0, "", slices.Concat([]string{"check", "--record", file}, w.Args(), w.RangeArgs())...)
	b := must.Get(bundle.Read(file))(t)
	cfg := must.Get(replay.Recall(b, verdict.IDs(checks.Rules())))(t)
	repo := must.Get(registry.Open(w.Repo.Dir))(t)
	defer repo.Close()
	rep, err := replay.Again(t.Context(), repo, b, b.Chosen(), cfg)
	if err != nil || rep.Verdict != verdict.Passed {
		t.Fatalf("%+v, %v", rep, err)
	}
	listing := gittest.At(t, w.Repo.Dir).Git("show", w.Head+":implementations/eve.json")
	s := ofReport(t, rep)
	p := s.Predicate
	if len(s.Subject) != 1 || s.Subject[0].Name != "implementations/eve.json" ||
		s.Subject[0].Digest["sha256"] != plain.SHA256([]byte(listing+"\n")) ||
		!slices.Equal(p.VerifiedLevels, []string{"OAP_PROPOSED"}) {
		t.Errorf("%+v", s)
	}
	base, head := gittest.At(t, w.Repo.Dir).Git("rev-parse", w.Base), gittest.At(t, w.Repo.Dir).Git("rev-parse", w.Head)
	var inputs []string
	for _, in := range p.InputAttestations[1:] {
		inputs = append(inputs, in.URI+" "+in.Digest["gitCommit"])
	}
	if want := []string{"urn:oap-gate:base " + base, "urn:oap-gate:merge-base " + base,
		"urn:oap-gate:head " + head}; !slices.Equal(inputs, want) {
		t.Errorf("inputs %q, want %q", inputs, want)
	}
}

// ofReport signs the statement of a run as if nothing had been assumed: flags gave it the web.
func ofReport(t *testing.T, rep *verdict.Report) stated {
	t.Helper()
	if rep.Assumed, rep.Origin = nil, "registry.example/oap"; report.NoStatement(rep) != "" {
		t.Fatal(report.NoStatement(rep))
	}
	private := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{7}, ed25519.SeedSize))
	text := must.Get((&report.Signer{Verifier: "https://mirror.example/oap-gate",
		Sign: func(m []byte) ([]byte, error) { return ed25519.Sign(private, m), nil }}).Statement(rep))(t)
	return readStatement(t, text, private.Public().(ed25519.PublicKey))
}

// TestStatementOfVerify verifies one implementation by each form of a target: the resource is its DID, the subjects
// are the Receipt and the listing that pins it, and the clone's commit and time are among the inputs.
func TestStatementOfVerify(t *testing.T) {
	w := clitest.Build(t, "base: [{listing: ada}, {listing: eve}]\n")
	repo, err := registry.Open(w.Repo.Dir)
	must.OK(t, err)
	defer repo.Close()
	commit := gittest.At(t, w.Repo.Dir).Git("rev-parse", w.Base)
	fetched := w.Now.Add(-time.Hour)
	for _, text := range []string{"eve", "https://eve.example", "did:web:eve.example"} {
		clone := &verify.Clone{Repo: repo, Commit: commit, Changed: fetched, Fetched: fetched}
		cfg := &verify.Config{Clone: clone, MaxAge: 24 * time.Hour, Digests: true}
		if cfg.Standing, err = clone.Stand(t.Context()); err != nil {
			t.Fatal(err)
		}
		s := ofReport(t, verify.Common([]*verify.Report{verified(t, w, cfg, text)}))
		p := s.Predicate
		receipt := must.Get(w.Pin("eve", 0))(t)
		listing := gittest.At(t, w.Repo.Dir).Git("show", w.Base+":implementations/eve.json")
		if p.ResourceURI != "did:web:eve.example" || len(s.Subject) != 2 || s.Subject[0].Digest["sha256"] != receipt ||
			s.Subject[0].Name != "https://eve.example/oap-conformance-receipt.json" ||
			s.Subject[1].Name != "implementations/eve.json" ||
			s.Subject[1].Digest["sha256"] != plain.SHA256([]byte(listing+"\n")) || len(p.VerifiedLevels) == 0 {
			t.Errorf("%s: %+v", text, s)
		}
		in := p.InputAttestations
		if len(in) != 2 || in[1].URI != "urn:oap-gate:clone" || in[1].Digest["gitCommit"] != commit ||
			in[1].Annotations["time"] != fetched.Format(time.RFC3339) {
			t.Errorf("%s: inputs %+v", text, in)
		}
		cfg.MaxAge = time.Minute // the clone is older
		old := verify.Common([]*verify.Report{verified(t, w, cfg, text)})
		if old.Assumed = nil; report.NoStatement(old) != "the verdict is inconclusive" {
			t.Errorf("%s: of an old clone: %q", text, report.NoStatement(old))
		}
	}
}

// verified verifies a target on a world's web.
func verified(t *testing.T, w *fixture.World, cfg *verify.Config, text string) *verify.Report {
	t.Helper()
	addr := must.Get(netip.ParseAddrPort(w.Web.Addr()))(t)
	src := must.Get(live.New(live.Options{Now: w.Now, CACert: w.Web.CAPEM(), RDAPURL: w.Web.RDAPURL(),
		ConnectTo: []live.ConnectTo{{Host: "*", Addr: addr}}, WHOISServer: w.Web.WHOISAddr()}))(t)
	defer src.Close()
	target := must.Get(verify.ParseTarget(text, true))(t)
	r := must.Get(verify.Verify(context.Background(), src, target, cfg))(t)
	return r.Report
}
