package checks_test

import (
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/checktest"
)

func TestManifestReachability(t *testing.T) {
	checktest.Run(t, []checktest.Case{
		// no JSON, a member twice, a byte order mark, text behind, no object, too large: each with its place
		{Name: "html", PR: `{listing: nova, manifest: {body: "<!doctype html>"}}`,
			Want: `implementations/nova.json:5:3: error: manifest-reachability: json-syntax`,
			Says: []string{`manifest-reachability: https://nova.example/.well-known/oap-tool.json:1:1: `}},
		{Name: "twice",
			PR:   `{listing: nova, manifest: {replace: {'"risk_class"': '"oap_version": "2.0", "risk_class"'}}}`,
			Want: `implementations/nova.json:5:3: error: manifest-reachability: duplicate-member`},
		{Name: "bom", PR: `{listing: nova, manifest: {body: "\uFEFF{}"}}`,
			Want: `implementations/nova.json:5:3: error: manifest-reachability: byte-order-mark`},
		{Name: "behind", PR: `{listing: nova, manifest: {replace: {"\n}": "\n} {}"}}}`,
			Want: `implementations/nova.json:5:3: error: manifest-reachability: trailing-text`},
		{Name: "array", PR: `{listing: nova, manifest: {body: "[]"}}`,
			Want: `implementations/nova.json:5:3: error: manifest-reachability: manifest-no-object`},
		{Name: "absent", World: `web: [{url: "https://nova.example/.well-known/oap-tool.json", status: 404}]`,
			PR: "{listing: nova}", Want: `implementations/nova.json:5:3: error: manifest-reachability: http-status`,
			Says: []string{`fix: serve /.well-known/oap-tool.json with status 200 \(it answers 404\); if the Manifest has ` +
				`another URL: oap-gate new SLUG URL`}},
		{Name: "unsure",
			World: `pr: [{listing: nova}]
web: [{url: "https://nova.example/.well-known/oap-tool.json", status: 500}]
`,
			Want: `
implementations/nova.json:5:3: inconclusive: manifest-reachability: http-status
implementations/nova.json: inconclusive: manifest-did
implementations/nova.json: inconclusive: fallback-policy`,
			Says: []string{`fix: try again`}},
	})
}

// Without the network, what needs none is judged, and nothing else passes for it.
func TestOffline(t *testing.T) {
	with := func(all []checktest.Case) []checktest.Case {
		for i := range all {
			all[i].Config.Offline = true
		}
		return all
	}
	checktest.Run(t, with([]checktest.Case{
		{Name: "a new listing", PR: "{listing: nova}", Want: `pass`,
			Says: []string{`signed dates not judged: offline`}},
		{Name: "expired", PR: "{listing: nova, issued: -100d}",
			Want: `implementations/nova.json:10:3: error: receipt-validity: expired`},
		{Name: "a renewal", World: `{base: [{listing: ada}], pr: [{reissue: ada}]}`, Want: `pass`,
			Says: []string{`signature not judged: offline`}},
		{Name: "a renewal of the same second", Base: "{listing: ada}",
			PR:   `{reissue: ada, issued: "2026-05-22T12:00:01Z"}`,
			Want: `implementations/ada.json:9:3: error: reissue: receipt-not-newer`},
		{Name: "a renewal two seconds later", Base: "{listing: ada}",
			PR: `{reissue: ada, issued: "2026-05-22T12:00:02Z"}`, Want: `pass`},
		{Name: "a revocation", World: `{base: [{listing: ada}], pr: [{revoke: ada}]}`, Want: `pass`,
			Says: []string{`signatures not judged: offline`}},
		{Name: "a revocation of what was never pinned", World: `
base: [{listing: eve}]
pr: [{revoke: eve, sha256: "` + strings.Repeat("0", 64) + `"}]`,
			Want: "revocations/eve-" + strings.Repeat("0", 64) + ".json:3:3: error: revocations: never-pinned"},
		{Name: "an audit", World: `base: [{listing: ada}, {listing: bob, level: L4, provisional: true}]`, Audit: true,
			Want: `README.md: warning: history: mixed`},
	}))
}
