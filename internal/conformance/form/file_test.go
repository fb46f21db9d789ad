package form

import (
	"encoding/json"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/strict/strictyaml"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

// TestPlain checks that a document has the value that JSON of the same meaning has.
func TestPlain(t *testing.T) {
	for text, want := range map[string]string{
		"a: [1, -2.5, 1e3]\nb: {c: ~, d: x}\n": `{"a":[1,-2.5,1e3],"b":{"c":null,"d":"x"}}`,
		"[true, True, TRUE, false, False]":     `[true,true,true,false,false]`,
		"[0x10, .5, .inf, '1', \"\", {}, []]":  `["0x10",".5",".inf","1","",{},[]]`,
	} {
		root := must.Get(strictyaml.Parse("f.yml", []byte(text), 1<<10))(t)
		if got, err := json.Marshal(Plain(root)); err != nil || string(got) != want {
			t.Errorf("%s is %s, %v, want %s", text, got, err, want)
		}
	}
}
