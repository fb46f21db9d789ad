package verifycmd

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/frame"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

// A run has at most 10,000 targets, and a list of them at most 16 MiB.
func TestTargets(t *testing.T) {
	const one = "https://a.example\n"
	for _, c := range []struct {
		text    string
		size    int64
		targets int
		want    string
	}{
		{strings.Repeat(one, 9_999), 0, 10_000, ""},
		{strings.Repeat(one, 10_000), 0, 0, "10001 targets were given, at most 10000"},
		{one + "#", 16 << 20, 2, ""},
		{one + "#", 16<<20 + 1, 0, "reading --targets"},
	} {
		list := filepath.Join(t.TempDir(), "list")
		must.OK(t, os.WriteFile(list, []byte(c.text), 0o666))
		if c.size > 0 {
			must.OK(t, os.Truncate(list, c.size))
		}
		out, places, err := (&verifyOptions{list: list}).targets(frame.IO{}, []string{"https://b.example"})
		if len(out) != c.targets || len(places) != c.targets || (err == nil) != (c.want == "") ||
			err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("a list of %d bytes: %d targets, %d places, %v; want %d, %q", max(int64(len(c.text)), c.size),
				len(out), len(places), err, c.targets, c.want)
		}
	}
}
