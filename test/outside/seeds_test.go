package outside

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

var (
	seeds     = flag.String("seeds", "", "write the cases of the corpora as fuzz seeds into `DIR`/PACKAGE.cache/FuzzX")
	libfuzzer = flag.Bool("libfuzzer", false, "write seeds as OSS-Fuzz reads them, not as go test does")
)

// TestSeeds writes seeds for the targets that read bytes as a corpus has them, in the form of go test, so that no
// package of the product reads a corpus.
func TestSeeds(t *testing.T) {
	if *seeds == "" {
		t.Skip("-seeds is not set")
	}
	need(t, "node")
	need(t, "npm")
	r, written := &run{TB: t}, map[string]int{}
	write := func(target string, values ...any) {
		text := []byte("go test fuzz v1\n")
		if *libfuzzer {
			text = nil
		}
		for _, v := range values {
			spelled := fmt.Sprintf("%s", v)
			switch _, isText := v.(string); {
			case *libfuzzer:
				text = append(binary.BigEndian.AppendUint32(text, uint32(len(spelled))), spelled...)
			case isText:
				text = fmt.Appendf(text, "string(%q)\n", spelled)
			default:
				text = fmt.Appendf(text, "[]byte(%q)\n", spelled)
			}
		}
		path := filepath.Join(*seeds, target, fmt.Sprintf("outside-%d", written[target]))
		must.OK(t, os.MkdirAll(filepath.Dir(path), 0o777))
		must.OK(t, os.WriteFile(path, text, 0o666))
		written[target]++
	}
	for _, c := range jsonCases(r) {
		if len(c.Input) > 64<<10 {
			continue
		}
		for _, target := range []string{"internal-strict.cache/FuzzParse", "internal-oap-signature.cache/FuzzCanonical",
			"internal-oap-did.cache/FuzzParseDocument", "internal-oap-receipt.cache/FuzzReceipt"} {
			write(target, []byte(c.Input))
		}
	}
	for _, g := range vectors(r) {
		document, err := json.Marshal(map[string]any{"id": "did:web:example.org", "verificationMethod": []any{
			map[string]any{"id": "#k", "type": "JsonWebKey", "publicKeyJwk": g.PublicKeyJwk}}})
		must.OK(t, err)
		write("internal-oap-did.cache/FuzzParseDocument", document)
	}
	each(r, func(_ string, _ answer, _, _, sig []byte) {
		write("internal-oap-signature.cache/FuzzText", base64.RawURLEncoding.EncodeToString(sig))
	})
	for _, directory := range []string{"noterror", "notfound"} {
		whoisFiles(r, directory, func(_, domain string, reply []byte) {
			write("internal-oap-domainage.cache/FuzzFromWHOIS", domain, reply)
		})
	}
	for target, least := range map[string]int{"internal-strict.cache/FuzzParse": 300,
		"internal-oap-did.cache/FuzzParseDocument": 378, "internal-oap-domainage.cache/FuzzFromWHOIS": 297} {
		if written[target] < least {
			t.Errorf("%d seeds for %s; expected %d", written[target], target, least)
		}
	}
}
