package report

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// vector is a statement as others made it, from a known key.
type vector struct {
	Name, Statement, Signature string
	PAE                        string `json:"pae_sha256"`
	Bundle                     any
}

const vectorVerifier = "https://mirror.example.org/oap-gate"

func vectors(t *testing.T) map[string]vector {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "shared", "data", "proofs", "vsa.json"))
	if os.IsNotExist(err) {
		t.Skip("SKIPPED: vsa.json is not here")
	}
	var all struct{ Statements []vector }
	if err == nil {
		err = json.Unmarshal(text, &all)
	}
	must.OK(t, err)
	out := map[string]vector{}
	for _, v := range all.Statements {
		out[v.Name] = v
	}
	return out
}

func vectorKey() ed25519.PrivateKey {
	seed := sha256.Sum256([]byte("oap-gate proofs vector key"))
	return ed25519.NewKeyFromSeed(seed[:])
}

func vectorSigner() *Signer {
	return &Signer{Verifier: vectorVerifier,
		PolicySHA256: "b0d51c58c8b9c1f458fadf16c7d375630ef51da4df81915893b05c0fa4ed8bc6",
		Sign:         func(m []byte) ([]byte, error) { return ed25519.Sign(vectorKey(), m), nil }}
}

const (
	statedListing = "9be760faeafd130a28d8dfc57c9d5ac21254c1d6d98de34196ab3a9ad2a094f7"
	statedHead    = "466814812cab1f2a695f5b94493c8ebed4ffc9c2"
	statedBase    = "e65664da2f0ca8bfc1751cd6aadc838eae496195"
)

// stated returns a run that has a statement.
func stated(mode string) *verdict.Report {
	r := &verdict.Report{Version: 1, Tool: verdict.Tool{Version: "v0.0.0-vector", Commit: "unknown"}, Mode: mode,
		EvaluatedAt: time.Date(2026, 5, 7, 0, 0, 0, 987654321, time.UTC), Head: statedHead, Verdict: verdict.Passed,
		Origin: "registry.example.org/oap", Assumed: []string{}, Counts: verdict.Counts{Records: 1},
		EvidenceSHA256: "4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945"}
	listing := verdict.Digest{Name: "implementations/assistant-net.json", SHA256: statedListing}
	switch mode {
	case "check":
		r.Base, r.MergeBase, r.Judged = statedBase, statedBase, []verdict.Digest{listing}
	case "verify":
		r.Origin = ""
		r.Judged = []verdict.Digest{{Name: "https://assistant-net.vercel.app/oap-conformance-receipt.json",
			SHA256: "2689481cb19283e7e3e04f191022bae4f1199256bb6a5b4f338f10289f111a6d"}, listing}
		r.Verified = &verdict.Verified{DID: "did:web:assistant-net.vercel.app", Levels: []string{"L0", "L1-NC"},
			AsOf: time.Date(2026, 5, 6, 22, 0, 0, 0, time.UTC)}
	}
	return r
}

// TestStatementVectors builds the statements of the vectors byte for byte.
func TestStatementVectors(t *testing.T) {
	all := vectors(t)
	for _, mode := range []string{"check", "audit", "verify"} {
		want := all[mode]
		text := must.Get(vectorSigner().Statement(stated(mode)))(t)
		payload, signature := opened(t, text)
		if diff := cmp.Diff(want.Statement, payload); diff != "" {
			t.Errorf("%s: %s", mode, diff)
		}
		if signature != want.Signature {
			t.Errorf("%s: signature %s, want %s", mode, signature, want.Signature)
		}
		var got any
		if err := json.Unmarshal(text, &got); err != nil || cmp.Diff(want.Bundle, got) != "" {
			t.Errorf("%s: bundle: %v %s", mode, err, cmp.Diff(want.Bundle, got))
		}
		if sum := fmt.Sprintf("%x", sha256.Sum256([]byte(pae(payload)))); sum != want.PAE {
			t.Errorf("%s: SHA-256 of the PAE %s, want %s", mode, sum, want.PAE)
		}
	}
}

func pae(payload string) string {
	return fmt.Sprintf("DSSEv1 %d %s %d %s", len("application/vnd.in-toto+json"), "application/vnd.in-toto+json",
		len(payload), payload)
}

// opened returns the payload of a bundle and its signature, which verifies.
func opened(t *testing.T, text []byte) (payload, signature string) {
	t.Helper()
	var b struct {
		DSSEEnvelope struct {
			Payload    []byte
			Signatures []struct{ Sig, KeyID string }
		}
	}
	if err := json.Unmarshal(text, &b); err != nil || len(b.DSSEEnvelope.Signatures) != 1 {
		t.Fatalf("%s: %v", text, err)
	}
	payload, signature = string(b.DSSEEnvelope.Payload), b.DSSEEnvelope.Signatures[0].Sig
	raw, err := base64.StdEncoding.DecodeString(signature)
	if err != nil || !ed25519.Verify(vectorKey().Public().(ed25519.PublicKey), []byte(pae(payload)), raw) {
		t.Errorf("the signature does not verify: %v", err)
	}
	return payload, signature
}

// TestNoStatement edits a run that has a statement so that it has none: only a full, live run that passed is signed.
func TestNoStatement(t *testing.T) {
	for _, c := range []struct {
		mode, want string
		edit       func(*verdict.Report)
	}{
		{"check", "the verdict is fail", func(r *verdict.Report) { r.Verdict = verdict.Failed }},
		{"audit", "the verdict is inconclusive", func(r *verdict.Report) { r.Verdict = verdict.Inconclusive }},
		{"verify", "the verdict is error", func(r *verdict.Report) { r.Verdict = verdict.Errored }},
		{"check", "the run assumed --at X, --only schema",
			func(r *verdict.Report) { r.Assumed = []string{"--at X", "--only schema"} }},
		{"audit", "the run assumed interrupted", func(r *verdict.Report) { r.Assumed = []string{verdict.Interrupted} }},
		{"verify", "the run assumed --proof", func(r *verdict.Report) { r.Assumed = []string{"--proof"} }},
		{"check", "base and head are the same commit", func(r *verdict.Report) { r.Base = r.Head }},
		{"check", "the run judged no record",
			func(r *verdict.Report) { r.Counts.Records, r.Judged = 0, nil }},
		{"check", "the run judged 1001 records; a statement names at most 1000",
			func(r *verdict.Report) { r.Counts.Records = 1001 }},
		{"check", "head has none of the records that the run judged", func(r *verdict.Report) { r.Judged = nil }},
		{"check", "the clone has no remote that names the registry", func(r *verdict.Report) { r.Origin = "" }},
		{"audit", "the clone has no remote that names the registry", func(r *verdict.Report) { r.Origin = "" }},
		{"audit", "the run judged only the part 1/4 of the records", func(r *verdict.Report) { r.Shard = "1/4" }},
		{"verify", "the run read no clone of the registry", func(r *verdict.Report) { r.Head, r.Verified = "", nil }},
		{"audit", "a run of the mode governance has none", func(r *verdict.Report) { r.Mode = "governance" }},
	} {
		r := stated(c.mode)
		if why := NoStatement(r); why != "" {
			t.Errorf("%s: %s", c.mode, why)
		}
		c.edit(r)
		if why := NoStatement(r); why != c.want {
			t.Errorf("%s: %q, want %q", c.mode, why, c.want)
		}
		if text, err := vectorSigner().Statement(r); err == nil {
			t.Errorf("%s: a statement of a run with none (%s): %s", c.mode, c.want, text)
		}
	}
	r := stated("check")
	r.Counts.Records = MaxStated
	if why := NoStatement(r); why != "" {
		t.Errorf("of %d records: %s", MaxStated, why)
	}
}

// TestStatementSubject checks that the statement of a check names the judged records alone as its subject: the commit
// of a pull request is not what was accepted.
func TestStatementSubject(t *testing.T) {
	text, err := vectorSigner().Statement(stated("check"))
	must.OK(t, err)
	payload, _ := opened(t, text)
	subject, _, _ := strings.Cut(payload, `"predicateType"`)
	if strings.Contains(subject, statedHead) || strings.Contains(subject, statedBase) ||
		strings.Count(subject, "sha256") != 1 {
		t.Errorf("subject: %s", subject)
	}
	w := stated("check")
	w.Head, w.MergeBase = "", "" // files on disk
	if text, err = vectorSigner().Statement(w); err != nil {
		t.Fatal(err)
	}
	payload, _ = opened(t, text)
	if strings.Contains(payload, "urn:oap-gate:head") || !strings.Contains(payload, "urn:oap-gate:base") {
		t.Errorf("without a head: %s", payload)
	}
}

// TestStatementTool names the commit of a build without a release, and what a URL may hold as it is.
func TestStatementTool(t *testing.T) {
	r := stated("verify")
	r.Tool = verdict.Tool{Version: "devel", Commit: statedHead}
	r.Judged[0].Name = "https://tool.example/receipt?a=1&b=<2>"
	text := must.Get(vectorSigner().Statement(r))(t)
	payload, _ := opened(t, text)
	for _, want := range []string{"oap-gate/tree/" + statedHead + `"`, "receipt?a=1&b=<2>"} {
		if !strings.Contains(payload, want) {
			t.Errorf("no %s in %s", want, payload)
		}
	}
	if slices.Contains(Names(Formats), StatementFormat) {
		t.Error("a statement is not a report that every command writes")
	}
}
