package doctor

import (
	"strings"
	"testing"
)

func TestConformanceInstallation(t *testing.T) {
	at := strings.Repeat("ab12", 10) + " # replace by the SHA of a release"
	for _, name := range []string{"oasis", "opengap", "aaep"} {
		file := ".github/workflows/" + name + ".yml"
		for _, c := range []struct{ name, old, new, want string }{
			{"as documented", "", "", ""},
			{"as a command", "uses: openagentprotocol-OAP/oap-gate@" + at + "\n        with:\n",
				"run: oap-gate conformance " + name + "\n        env:\n", ""},
			{"target", "  pull_request:\n", "  pull_request_target:\n", "error pull-request-target " + name +
				".yml <pull_request_target:>"},
			{"a token that can write", "contents: read", "contents: write", "error write-permissions " + name +
				".yml <contents: write>"},
			{"zeros", at, strings.Repeat("0", 40), "error placeholder " + name +
				".yml <uses: openagentprotocol-OAP/oap-gate@" +
				strings.Repeat("0", 40) + ">"},
			{"another mode", "mode: " + name, "mode: x" + name,
				"error no-repo-config .github/repo-config.yml\nerror no-gate .github/workflows"},
		} {
			t.Run(name+", "+c.name, func(t *testing.T) {
				f := tree{file: filled.Replace(text(t, docs+"workflows/"+name+".yml")),
					".github/CODEOWNERS": filled.Replace(text(t, docs+"workflows/CODEOWNERS"))}
				was := f[file]
				if f[file] = strings.Replace(was, c.old, c.new, 1); c.old != "" && f[file] == was {
					t.Fatalf("%q is not in the workflow", c.old)
				}
				if got := short(f, look(t, f, nil)); got != c.want {
					t.Errorf("got\n%s\nwant\n%s", got, c.want)
				}
			})
		}
	}
}

// A registry needs its gate, whatever else it holds against a protocol.
func TestConformanceIsNoGateOfARegistry(t *testing.T) {
	f := documented(t)
	delete(f, ".github/workflows/check.yml")
	f[".github/workflows/oasis.yml"] = filled.Replace(text(t, docs+"workflows/oasis.yml"))
	if got := short(f, look(t, f, nil)); !strings.Contains(got, "error no-gate ") {
		t.Errorf("got\n%s", got)
	}
}
