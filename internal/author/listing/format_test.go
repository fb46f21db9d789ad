package listing

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/openagentprotocol-OAP/oap-gate/docs/schemas"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/signature"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// TestOrders compares the order of members with that of the built-in schemas, which is that of the registry's.
func TestOrders(t *testing.T) {
	names := map[registry.Kind]string{registry.KindListing: "listing", registry.KindPeerWitness: "listing",
		registry.KindRevocation: "revocation", registry.KindWorkflowAnchor: "workflow-anchor"}
	for kind, name := range names {
		all, err := spans(schemas.Text(name), '{')
		must.OK(t, err)
		properties := all[find(all, "properties")]
		all, err = spans(schemas.Text(name)[properties.value:properties.end], '{')
		must.OK(t, err)
		var want []string
		for _, m := range all {
			want = append(want, m.text)
		}
		if !slices.Equal(orders[kind], want) {
			t.Errorf("%s: %q, the schema has %q", name, orders[kind], want)
		}
	}
}

func TestFormat(t *testing.T) {
	for _, c := range []struct{ path, text, want string }{
		{"implementations/a.json",
			`{"tool_did":"did:web:a","x":[],"slug":"a","a":{},"categories":["b","a"],"name":"é\u202e\u0007\ud83d\ude00<\/\u00ad"}`,
			`{
  "slug": "a",
  "name": "é\u202e\u0007😀</\u00ad",
  "tool_did": "did:web:a",
  "categories": [
    "b",
    "a"
  ],
  "a": {},
  "x": []
}
`},
		{"revocations/a-b.json",
			`{"peer_witness_signatures":[{"by":"x","value":"v","alg":"EdDSA","witness_did":"w"}],"signature":{"by":"b","alg":"EdDSA","value":1.50E1},"slug":null}`,
			`{
  "slug": null,
  "signature": {
    "alg": "EdDSA",
    "value": 1.50E1,
    "by": "b"
  },
  "peer_witness_signatures": [
    {
      "witness_did": "w",
      "alg": "EdDSA",
      "value": "v",
      "by": "x"
    }
  ]
}
`},
	} {
		got, err := Format(c.path, []byte(c.text))
		if err != nil || string(got) != c.want {
			t.Errorf("%v\n%s", err, got)
		}
		again, err := Format(c.path, got)
		if err != nil || !bytes.Equal(got, again) {
			t.Errorf("laid out again: %v\n%s", err, again)
		}
	}
	for _, text := range []string{"", "[]", "1", `{"a":1,"a":2}`, `{"a":1} x`, `{"a":"` + strings.Repeat("\x7f",
		12_000) + `"}`} {
		if got, err := Format("implementations/a.json", []byte(text)); err == nil {
			t.Errorf("%.40s: %.40s", text, got)
		}
	}
}

// FuzzFormat checks that what is laid out keeps its value, and is laid out as it is.
func FuzzFormat(f *testing.F) {
	f.Add([]byte(`{"slug":"a","signature":{"x":[1,-0.0,1e2,true,null]},"\u2028\ud83d\ude00":"\\\"\/\b"}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		const path = "revocations/a.json"
		out, err := Format(path, text)
		if err != nil {
			return
		}
		before := must.Get(strict.Parse(path, text, strict.RegistryFile))(t)
		after, err := strict.Parse(path, out, strict.RegistryFile)
		if err != nil {
			t.Fatalf("%v in\n%s", err, out)
		}
		was, errWas := signature.Canonical(before.Root)
		now, errNow := signature.Canonical(after.Root)
		if (errWas == nil) != (errNow == nil) || !bytes.Equal(was, now) {
			t.Fatalf("%s became %s", was, now)
		}
		again, err := Format(path, out)
		if err != nil || !bytes.Equal(again, out) || !jsontext.Value(out).IsValid() {
			t.Fatalf("%v, laid out again it is\n%s", err, again)
		}
	})
}
