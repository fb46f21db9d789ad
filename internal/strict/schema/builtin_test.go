package schema

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/openagentprotocol-OAP/oap-gate/docs/schemas"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

// publishedDirectories names directories, as PATH does, with the schemas that the registry and the specification
// publish.
const publishedDirectories = "OAP_PUBLISHED_SCHEMAS"

// published names the file of the schema that each built-in stands in for, and the digest of its structure.
var published = map[string]struct{ file, digest string }{
	"listing": {"implementation.schema.json",
		"636c2f426207d7585cccc1d49c0cbb4cf911e6fab4d26a7a1ee3933496045ba8"},
	"revocation": {"revocation.schema.json", "78d10fa3fc9defeb9e16ed8cb781889ae045c851a2de18604272eaffe55c27c9"},
	"workflow-anchor": {"workflow-anchor.schema.json",
		"be379009cd996670652c1e5c8545c52410a7ac4412182152c984dfbbd03fbdfd"},
	"receipt": {"oap-conformance-receipt.schema.json",
		"2bc498dfe0ea1ce137e17001b4884a95e1270d6b70b1ca1298ab51f8ebbf9a85"},
}

// structure is a schema without its prose.
func structure(t *testing.T, text []byte) any {
	t.Helper()
	var v any
	must.OK(t, json.Unmarshal(text, &v))
	s := newSurvey(v)
	for _, sub := range s.subschemas {
		if object, ok := sub.(map[string]any); ok {
			delete(object, "title")
			delete(object, "description")
			delete(object, "$id")
		}
	}
	return v
}

func TestBuiltinStructure(t *testing.T) {
	for name, want := range published {
		t.Run(name, func(t *testing.T) {
			got := structure(t, schemas.Text(name))
			text, err := json.Marshal(got)
			must.OK(t, err)
			sum := sha256.Sum256(text)
			if digest := hex.EncodeToString(sum[:]); digest != want.digest {
				t.Errorf("structure of the built-in schema has sha256 %s, that of the published one %s", digest,
					want.digest)
			}
			directories := filepath.SplitList(os.Getenv(publishedDirectories))
			if len(directories) == 0 {
				t.Skipf("%s is not set: held against the stored digest alone", publishedDirectories)
			}
			var beside []byte
			for _, directory := range directories {
				if beside, err = os.ReadFile(filepath.Join(directory, want.file)); err == nil {
					break
				}
			}
			must.OK(t, err)
			if published := structure(t, beside); !reflect.DeepEqual(got, published) {
				t.Errorf("structure differs from the published schema: %s", cmp.Diff(published, got))
			}
		})
	}
}

func TestBuiltinNames(t *testing.T) {
	if len(Names) != len(builtins) {
		t.Errorf("%d names for %d built-in schemas", len(Names), len(builtins))
	}
	for _, name := range Names {
		text := schemas.Text(name)
		again, err := Compile(name, text)
		if err != nil || Builtin(name) == nil {
			t.Fatalf("%s: %v", name, err)
		}
		if again.fast == nil != slices.Contains([]string{"gate-policy"}, name) {
			t.Errorf("%s: fast path is %v", name, again.fast)
		}
	}
	if Builtin("manifest") != nil || schemas.Text("manifest") != nil {
		t.Error("there is a schema of a name that is not listed")
	}
}
