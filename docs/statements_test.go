package docs_test

import (
	"bytes"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/report"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/needs"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

const (
	statedVerifier = "https://mirror.example.org/gate"
	statedRegistry = "git+https://registry.example.org/oap"
	statedCommit   = "466814812cab1f2a695f5b94493c8ebed4ffc9c2"
)

// verifyBlob verifies the signature and the artifact of a statement with openssl, by the arguments that the script
// gives cosign. It looks at no verdict and no type, and skips carriage returns, as cosign does.
const verifyBlob = `#!/bin/sh
set -eu
claims=true
while [ $# -gt 0 ]; do
  case $1 in
  --key) key=$2; shift ;;
  --bundle) bundle=$2; shift ;;
  --type) shift ;;
  --trusted-root) test -s "$2"; shift ;;
  --check-claims=*) claims=${1#*=} ;;
  --insecure-ignore-tlog | --new-bundle-format | verify-blob-attestation) ;;
  --) shift; break ;;
  -*) echo "unknown argument $1" >&2; exit 2 ;;
  *) break ;;
  esac
  shift
done
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
jq -r .dsseEnvelope.payload "$bundle" | tr -d '\r' | base64 -d >"$dir/payload"
jq -r '.dsseEnvelope.signatures[0].sig' "$bundle" | base64 -d >"$dir/sig"
kind=$(jq -r .dsseEnvelope.payloadType "$bundle")
{ printf 'DSSEv1 %d %s %d ' "${#kind}" "$kind" "$(wc -c <"$dir/payload")"; cat "$dir/payload"; } >"$dir/pae"
openssl pkeyutl -verify -pubin -inkey "$key" -rawin -in "$dir/pae" -sigfile "$dir/sig" >/dev/null
if $claims; then
  sum=$(openssl dgst -sha256 -r "$1" | cut -d' ' -f1)
  jq -e --arg s "$sum" 'any(.subject[]; .digest.sha256 == $s)' "$dir/payload" >/dev/null
fi
echo "Verified OK" >&2
`

// signs signs payloads with a key of the tests.
func signs(seed byte) (*report.Signer, ed25519.PrivateKey) {
	key := ed25519.NewKeyFromSeed([]byte(strings.Repeat(string(rune('a'+seed)), ed25519.SeedSize)))
	return &report.Signer{Verifier: statedVerifier, PolicySHA256: plain.SHA256(nil),
		Sign: func(m []byte) ([]byte, error) { return ed25519.Sign(key, m), nil }}, key
}

// altered is a statement in which a text is replaced, signed again by a key.
func altered(t *testing.T, bundle []byte, key ed25519.PrivateKey, old, new string) []byte {
	t.Helper()
	var b map[string]any
	var raw struct{ DSSEEnvelope struct{ Payload []byte } }
	must.OK(t, json.Unmarshal(bundle, &b))
	must.OK(t, json.Unmarshal(bundle, &raw))
	payload := strings.ReplaceAll(string(raw.DSSEEnvelope.Payload), old, new)
	if payload == string(raw.DSSEEnvelope.Payload) && old != "" {
		t.Fatalf("%q is not in %s", old, payload)
	}
	kind := "application/vnd.in-toto+json"
	envelope := b["dsseEnvelope"].(map[string]any)
	envelope["payload"] = []byte(payload)
	envelope["signatures"] = []any{map[string]any{"keyid": "",
		"sig": ed25519.Sign(key, fmt.Appendf(nil, "DSSEv1 %d %s %d %s", len(kind), kind, len(payload), payload))}}
	text := must.Get(json.Marshal(b))(t)
	return text
}

// TestConsumersScript runs the script of the page on honest statements and on those that it must refuse. Most of them
// have a signature that verifies.
func TestConsumersScript(t *testing.T) {
	needs.Program(t, "jq", "base64", "openssl", "sh")
	t.Run("openssl", func(t *testing.T) {
		dir := t.TempDir()
		must.OK(t, os.WriteFile(filepath.Join(dir, "cosign"), []byte(verifyBlob), 0o755))
		consume(t, dir)
	})
	t.Run("cosign", func(t *testing.T) {
		needs.Program(t, "cosign")
		program := must.Get(exec.LookPath("cosign"))(t)
		consume(t, filepath.Dir(program))
	})
}

func consume(t *testing.T, programs string) {
	script := regexp.MustCompile("(?s)```sh\n(.*?)```").FindStringSubmatch(page(t, "statements.md"))
	if script == nil {
		t.Fatal("the page has no script")
	}
	dir := t.TempDir()
	write := func(name string, text []byte) string {
		path := filepath.Join(dir, name)
		must.OK(t, os.WriteFile(path, text, 0o644))
		return path
	}
	accept := write("accept-statement", []byte(script[1]))
	record, other := write("record.json", []byte("{}\n")), write("other.json", []byte("[]\n"))
	signer, key := signs(0)
	_, stranger := signs(1)
	public := func(name string, key ed25519.PrivateKey) string {
		der := must.Get(x509.MarshalPKIXPublicKey(key.Public()))(t)
		return write(name, pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}))
	}
	pub := public("pub.pem", key)
	now := time.Now()
	of := func(mode string, at time.Time) []byte {
		r := &verdict.Report{Mode: mode, Verdict: verdict.Passed, EvaluatedAt: at, Origin: "registry.example.org/oap",
			Head: statedCommit, Base: strings.Repeat("0", 40), Counts: verdict.Counts{Records: 1},
			Judged:   []verdict.Digest{{Name: "implementations/tool.json", SHA256: plain.SHA256([]byte("{}\n"))}},
			Verified: &verdict.Verified{DID: "did:web:tool.example", Levels: []string{"L1-NC", "L2"}}}
		text := must.Get(signer.Statement(r))(t)
		return text
	}
	env := append(os.Environ(), "TZ=AAA0BBB,J1/0,J365/25", // always summer time
		"PATH="+programs+string(os.PathListSeparator)+os.Getenv("PATH"))
	run := func(args ...string) (string, error) {
		cmd := exec.Command("sh", append([]string{accept}, args...)...)
		cmd.Env, cmd.Dir = env, dir
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	check, audit, verify := of("check", now), of("audit", now), of("verify", now)
	const proposed, audited = "OAP_PROPOSED", "OAP_AUDIT"
	// returns is a statement with carriage returns before its payload: cosign skips them, base64 prints nothing.
	returns := func(bundle []byte) []byte {
		return bytes.Replace(bundle, []byte(`"payload":"`), []byte(`"payload":"\r\r\r\r`), 1)
	}
	option := write("--check-claims=false", []byte("[]\n"))
	for _, c := range []struct {
		name, key, verifier, resource, level, subject string
		statement                                     []byte
		accepted, verified                            bool // verified: the signature and the artifact
	}{
		{"check", pub, statedVerifier, statedRegistry, proposed, record, check, true, true},
		{"audit", pub, statedVerifier, statedRegistry, audited, statedCommit, audit, true, true},
		{"verify", pub, statedVerifier, "did:web:tool.example", "OAP_L1-NC", record, verify, true, true},
		{"23 hours ago", pub, statedVerifier, statedRegistry, proposed, record, of("check", now.Add(-23*time.Hour)),
			true, true},
		{"failed", pub, statedVerifier, statedRegistry, proposed, record,
			altered(t, check, key, `"PASSED"`, `"FAILED"`), false, true},
		{"failed twin", pub, statedVerifier, statedRegistry, "FAILED", record,
			altered(t, altered(t, check, key, `"PASSED"`, `"FAILED"`), key, proposed, "FAILED"), false, true},
		{"failed audit", pub, statedVerifier, statedRegistry, audited, statedCommit,
			altered(t, audit, key, `"PASSED"`, `"FAILED"`), false, true},
		{"another verifier", pub, "https://mirror.example.org/", statedRegistry, proposed, record, check, false, true},
		{"another resource", pub, statedVerifier, "git+https://registry.example.org/oap2", proposed, record, check,
			false, true},
		{"another level", pub, statedVerifier, "did:web:tool.example", "OAP_L3", record, verify, false, true},
		{"a part of a level", pub, statedVerifier, "did:web:tool.example", "OAP_L1", record, verify, false, true},
		{"a proposal for an audit", pub, statedVerifier, statedRegistry, audited, statedCommit, check, false, true},
		{"another commit", pub, statedVerifier, statedRegistry, audited, strings.Repeat("1", 40), audit, false, true},
		{"no commit", pub, statedVerifier, statedRegistry, audited, "", audit, false, false},
		{"25 hours ago", pub, statedVerifier, statedRegistry, proposed, record, of("check", now.Add(-25*time.Hour)),
			false, true},
		{"one hour ahead", pub, statedVerifier, statedRegistry, proposed, record, of("check", now.Add(time.Hour)),
			false, true},
		{"another key", public("other.pem", stranger), statedVerifier, statedRegistry, proposed, record, check, false,
			false},
		{"signed by another key", pub, statedVerifier, statedRegistry, proposed, record,
			altered(t, check, stranger, "", ""), false, false},
		{"another artifact", pub, statedVerifier, statedRegistry, proposed, other, check, false, false},
		{"returns", pub, statedVerifier, statedRegistry, proposed, record, returns(of("check", now.Add(-25*time.Hour))),
			false, true},
		{"returns in an audit", pub, statedVerifier, statedRegistry, audited, strings.Repeat("1", 40), returns(check),
			false, true},
		{"another type", pub, statedVerifier, statedRegistry, proposed, record,
			altered(t, check, key, "verification_summary/v1", "verification_summary/v2"), false, true},
		{"a level in a text", pub, statedVerifier, statedRegistry, proposed, record,
			altered(t, check, key, `["OAP_PROPOSED"]`, `"NOT_OAP_PROPOSED"`), false, true},
		{"an option as artifact", pub, statedVerifier, statedRegistry, proposed, filepath.Base(option), check, false,
			false},
		{"no statement", pub, statedVerifier, statedRegistry, proposed, record, []byte("{}\n"), false, false},
	} {
		out, err := run(c.key, c.verifier, c.resource, c.level, write("statement.json", c.statement), c.subject)
		if _, ended := err.(*exec.ExitError); err != nil && !ended {
			t.Fatal(err)
		}
		if (err == nil) != c.accepted || strings.Contains(out, "Verified OK") != c.verified {
			t.Errorf("%s: %v, want accepted %t, verified %t\n%s", c.name, err, c.accepted, c.verified, out)
		}
	}
}
