package verifycmd_test

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/frame"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/clitest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/fixture"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/needs"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/webtest"
)

// caller calls the reference verifier of the specification's repository, whose requests all go to one server.
const caller = `
const https = require('https'), fs = require('fs');
const [verifier, target, server, ca] = process.argv.slice(2);
const [host, port] = server.split(':');
global.fetch = (url) => new Promise((done, failed) => {
  const u = new URL(url);
  https.get({host, port, servername: u.hostname, path: u.pathname, headers: {host: u.host}, ca: fs.readFileSync(ca)}, (r) => {
    let text = '';
    r.on('data', (d) => { text += d; });
    r.on('end', () => done({ok: r.statusCode === 200, status: r.statusCode, json: async () => JSON.parse(text), text: async () => text}));
  }).on('error', failed);
});
require(verifier).verifyConformance(target, {trustedSuiteVersions: ['1.0.0'], reverify: false}).then((r) => console.log(JSON.stringify(r)));
`

// TestReferenceVerifier compares what the reference verifier says about honest Receipts at L1 to L3, and of a target
// without one, and holds that code written for its report reads ours. OAP_SPEC names a clone of the specification.
func TestReferenceVerifier(t *testing.T) {
	verifier, err := filepath.Abs(filepath.Join(os.Getenv("OAP_SPEC"), "reference", "agent", "conformance-verifier.js"))
	if err == nil {
		_, err = os.Stat(verifier)
	}
	if err != nil || os.Getenv("OAP_SPEC") == "" {
		t.Skip("OAP_SPEC names no clone of the specification: THE REFERENCE VERIFIER WAS NOT COMPARED WITH")
	}
	needs.Program(t, "node")
	w, err := fixture.New(t.TempDir(), time.Now().UTC().Truncate(time.Second),
		webtest.Options{}) // it knows no other clock
	must.OK(t, err)
	defer w.Close()
	script := filepath.Join(w.Dir, "caller.js")
	must.OK(t, os.WriteFile(script, []byte(caller), 0o644))
	w.Add(fixture.Implementation{Slug: "one"}, fixture.Implementation{Slug: "two", Level: "L2"},
		fixture.Implementation{Slug: "three", Level: "L3"},
		fixture.Implementation{Slug: "sparing", Level: "L1-NC"}, fixture.Implementation{Slug: "over", Issued: "-60d",
			NotAfter: "-1d"})
	for _, slug := range []string{"one", "two", "three", "sparing", "over"} {
		if _, err := w.Publish(slug); err != nil {
			t.Fatal(err)
		}
	}
	for _, slug := range []string{"one", "two", "three", "sparing", "over", "none"} {
		target := "https://" + slug + ".example"
		theirs, err := exec.CommandContext(t.Context(), "node", script, verifier, target, w.Web.Addr(),
			filepath.Join(w.Dir,
				"ca.pem")).Output()
		if err != nil {
			t.Fatalf("%s: %v", slug, err)
		}
		var ours bytes.Buffer
		clitest.Main(append([]string{"verify", target, "--format", "json", "--without-registry"}, w.WebArgs()...),
			frame.IO{Stdout: &ours, Stderr: io.Discard, Getenv: clitest.NoEnvironment})
		var a, b map[string]any
		if json.Unmarshal(theirs, &a) != nil || json.Unmarshal(ours.Bytes(), &b) != nil {
			t.Fatalf("%s: %s%s", slug, theirs, &ours)
		}
		if a["accepted"] != b["accepted"] || !reflect.DeepEqual(a["accepted_levels"], b["accepted_levels"]) {
			t.Errorf("%s: it says %v %v, here %v %v: %v", slug, a["accepted"], a["accepted_levels"], b["accepted"],
				b["accepted_levels"], b["reasons"])
		}
		for name, value := range a {
			if reflect.TypeOf(value) != reflect.TypeOf(b[name]) {
				t.Errorf("%s: the member %s is %T there, %T here", slug, name, value, b[name])
			}
		}
		known := map[string]map[string]any{}
		for _, s := range b["steps"].([]any) {
			known[s.(map[string]any)["step"].(string)] = s.(map[string]any)
		}
		for _, s := range a["steps"].([]any) {
			step := s.(map[string]any)
			own := known[step["step"].(string)]
			if own == nil || own["ok"] != step["ok"] || step["receipt_id"] != nil &&
				step["receipt_id"] != own["receipt_id"] {
				t.Errorf("%s: the step %v is %v here", slug, step, own)
			}
		}
	}
}
