package mirrorcmd_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/clitest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

// TestTamperedBundle checks that no change of what a bundle says that its audit was told, or had verified before, makes
// a registry pass whose history is broken, or one that was not judged whole.
func TestTamperedBundle(t *testing.T) {
	const whole = "base: [{listing: ada, level: L1}, {commit: Second}, {listing: bob, level: L1}, {commit: Third}"
	for name, world := range map[string]string{"honest": whole + "]\n", "broken": whole +
		", {write: implementations/ada.json, text: '{}'}, {commit: Fourth}, {reissue: ada}, {commit: Fifth}]\n"} {
		w := clitest.Build(t, world)
		bundle := filepath.Join(t.TempDir(), "bundle.json")
		run := func(args ...string) (int, string) {
			status, out := clitest.Program(t, args...)
			return status, out
		}
		run(append([]string{"audit", "--rev", "main", "--record", bundle}, w.Args()...)...)
		text := must.Read(t, bundle)
		head := must.Get(w.Repo.RevParse("main"))(t)
		for _, c := range []struct {
			members        string // by path, with their values, one a line
			honest, broken int    // exit statuses
		}{
			{``, 0, 1},
			{`flags/unwalked 0`, 2, 2},
			{`flags/unwalked null`, 2, 2},
			{`flags/unwalked "1"`, 2, 2},
			{`flags/unwalked 1e9`, 2, 2},
			{`flags/unwalked 9223372036854775808`, 2, 2},
			{`flags/Unwalked 2`, 2, 2},
			{`flags/unwalked 2`, 3, 3},
			{"flags/unwalked 2\nflags/assumed [\"interrupted\"]", 3, 3},
			{"flags/unwalked 2\nflags/only [\"layout\"]\nflags/assumed [\"--only layout\"]", 3, 3},
			{`flags/unwalked 99`, 0, 1}, // more than there are: all is judged
			{`flags/unwalked -5`, 0, 1},
			{`flags/assumed ["interrupted"]`, 3, 1},
			{`flags/only ["layout"]`, 2, 2},
			{`flags/only [""]`, 2, 2},
			{`flags/skip ["history"]`, 2, 2},
			{`flags/require_signed true`, 2, 2},
			{`compared/verified "HEAD"`, 2, 2},
			{`compared/size 1000000000`, 2, 2},
			{`compared/size -7`, 2, 2},
			{"compared/verified \"HEAD\"\ncompared/checkpoint \"HEAD\"", 2, 2},
			{"compared/verified \"main\"\ncompared/checkpoint \"main\"\ncompared/size 3", 2, 2},
			{`head "main"`, 2, 2},
			{`head ""`, 2, 2},
			{`mode "check"`, 2, 2},
			{`version 1`, 2, 2},
			{`version 2.0`, 2, 2},
			{`compared null`, 2, 2},
			{`observations []`, 3, 1},
		} {
			var b map[string]any
			decoder := json.NewDecoder(bytes.NewReader(text))
			decoder.UseNumber()
			must.OK(t, decoder.Decode(&b))
			for line := range strings.Lines(c.members) {
				path, value, _ := strings.Cut(strings.TrimSpace(line), " ")
				in := b
				if parent, child, nested := strings.Cut(path, "/"); nested {
					in, path = b[parent].(map[string]any), child
				}
				in[path] = json.RawMessage(strings.ReplaceAll(value, "HEAD", head))
			}
			tampered := must.Get(json.Marshal(b))(t)
			must.OK(t, os.WriteFile(bundle, tampered, 0o644))
			want := map[string]int{"honest": c.honest, "broken": c.broken}[name]
			if got, out := run("replay", bundle, "--repo", w.Repo.Dir); got != want {
				t.Errorf("%s, %q: exit status %d, want %d\n%s", name, c.members, got, want, out)
			}
		}
	}
}
