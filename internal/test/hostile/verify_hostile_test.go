//go:build (linux || darwin) && !race

package hostile_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/fixture"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/webtest"
)

// TestHostileTargetsInMemory verifies sixty-four targets side by side whose sites serve what costs most. Each ends in
// a step that says what is wrong.
func TestHostileTargetsInMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long")
	}
	page := func(body string) *webtest.Behaviour { return &webtest.Behaviour{Body: []byte(body)} }
	receipt := `{"implementation":{"did":"did:web:%s.example"},"claimed_levels":["L1"],"signatures":[` +
		strings.TrimSuffix(strings.Repeat(`{"by":"did:web:%[1]s.example#k","alg":"EdDSA","value":"`+strings.Repeat("A",
			86)+`"},`, 20), ",") +
		`],"a":"` + strings.Repeat("a", 1000<<10) + `"}`
	var keys strings.Builder
	for i := range 4000 {
		// A point of the curve each, or none: both cost a look.
		fmt.Fprintf(&keys, `{"id":"#%d","type":"JsonWebKey","publicKeyJwk":{"kty":"OKP","crv":"Ed25519","x":"%s"}},`, i,
			base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, "%032d", i)))
	}
	manyKeys := func(host string) string {
		all := `{"id":"did:web:` + host + `.example","verificationMethod":[` + keys.String()
		return all[:strings.LastIndex(all[:255<<10], "},{")] + "}]}"
	}
	for name, c := range map[string]struct {
		manifest, receipt, document func(host string) *webtest.Behaviour // nil: honest
		step, code                  string
		status                      int
		flags                       []string
	}{
		"endless": {manifest: func(string) *webtest.Behaviour { return &webtest.Behaviour{Endless: true} },
			step: "manifest", code: "body-too-large", status: 1},
		"loopback": {manifest: func(
			string) *webtest.Behaviour {
			return &webtest.Behaviour{Redirect: "https://127.0.0.1/"}
		}, step: "manifest", code: "url-not-usable", status: 1},
		"drip": {manifest: func(string) *webtest.Behaviour {
			return &webtest.Behaviour{Body: bytes.Repeat([]byte(" "), 1<<20), Drip: 1,
				Interval: webtest.Duration(50_000_000)}
		}, step: "manifest", code: "timeout", status: 3, flags: []string{"--timeout", "1s"}},
		"gzip": {receipt: func(string) *webtest.Behaviour { return &webtest.Behaviour{Bomb: 30 << 20} },
			step: "receipt-fetch", code: "body-too-large", status: 1},
		"keys": {receipt: func(host string) *webtest.Behaviour { return page(fmt.Sprintf(receipt, host)) },
			document: func(host string) *webtest.Behaviour { return page(manyKeys(host)) }, step: "schema",
			code: "receipt-schema", status: 1},
		"deep": {receipt: func(string) *webtest.Behaviour { return page(strings.Repeat(`{"a":`, 200<<10)) },
			step: "schema", code: "nesting-too-deep", status: 1},
		"objects": {receipt: func(string) *webtest.Behaviour {
			return page(`{"a":[` + strings.Repeat(`{"a":0},`,
				30<<10) + `0]}`)
		}, step: "schema", code: "receipt-schema", status: 1},
		"texts": {receipt: func(host string) *webtest.Behaviour {
			long := `"` + strings.Repeat("x", 120<<10) + `"`
			return page(`{"receipt_id":` + long + `,"implementation":{"did":` + long + `,"name":` + long +
				`},"suite":{"version":` + long +
				`},"target":{"uri":` + long + `},"claimed_levels":["L4",` + long +
				`],"registry_anchor":{"commit_sha":` + long + `}}`)
		}, step: "identity", code: "receipt-did-differs", status: 1},
		"levels": {receipt: func(host string) *webtest.Behaviour {
			return page(`{"implementation":{"did":"did:web:` + host + `.example"},"claimed_levels":[` +
				strings.Repeat(`"L9",`, 20<<10) + `"L4"]}`)
		}, step: "claims", code: "no-such-level", status: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := begin(t)
			var list strings.Builder
			for n := range 64 {
				i := fixture.Implementation{Slug: fmt.Sprintf("nova-%d", n)}
				w.Add(i)
				if _, err := w.Publish(i.Slug); err != nil {
					t.Fatal(err)
				}
				host := "https://" + i.Slug + ".example/"
				fmt.Fprintln(&list, host)
				for path, b := range map[string]func(string) *webtest.Behaviour{".well-known/did.json": c.document,
					".well-known/oap-tool.json": c.manifest, "oap-conformance-receipt.json": c.receipt} {
					if b != nil {
						w.Web.Set(host+path, *b(i.Slug))
					}
				}
			}
			targets, report := filepath.Join(w.Dir, "list"), filepath.Join(w.Dir, "report.json")
			must.OK(t, os.WriteFile(targets, []byte(list.String()), 0o644))
			var usage bytes.Buffer
			args := slices.Concat([]string{"oap-gate", "verify", "--without-registry", "--targets",
				targets, "--jobs", "64", "--retry-wait", "1ms", "--timeout", "60s", "--format", "text", "--report",
				"json=" + report}, c.flags, w.WebArgs())
			run := exec.CommandContext(t.Context(), "peak", args...)
			run.Stderr = &usage
			out, err := run.Output()
			if run.ProcessState == nil || run.ProcessState.ExitCode() != c.status {
				t.Fatalf("%v, want exit status %d\n%.3000s%s", err, c.status, out, &usage)
			}
			most := must.Get(strconv.Atoi(strings.TrimSpace(usage.String())))(t)
			t.Logf("%d MiB", most>>20)
			if most > maxVerifyMemoryTaken {
				t.Errorf("the run took %d MiB, want at most %d", most>>20, maxVerifyMemoryTaken>>20)
			}
			text := must.Read(t, report)
			if n := strings.Count(string(text), `{"step":"`+c.step+`","ok":false,`); n != 64 {
				t.Errorf("step %s stopped %d targets, want 64", c.step, n)
			}
			if n := strings.Count(string(text), `"code":"`+c.code+`"`); n < 64 {
				t.Errorf("the code %s was told %d times, want 64", c.code, n)
			}
		})
	}
}

// maxVerifyMemoryTaken is what a run over sixty-four hostile targets may take.
const maxVerifyMemoryTaken = 300 << 20
