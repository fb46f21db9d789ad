package doctor

import (
	"strings"
	"testing"
)

func TestConformanceInstallation(t *testing.T) {
	at := strings.Repeat("ab12", 10) + " # replace by the SHA of a release"
	const owners = ".github/CODEOWNERS"
	for _, name := range []string{"oasis", "opengap", "aaep", "verify"} {
		file := ".github/workflows/" + name + ".yml"
		for _, c := range []struct{ name, old, new, want string }{
			{"as documented", "", "", ""},
			{"as a command", "uses: openagentprotocol-OAP/oap-gate@" + at + "\n        with:\n",
				"run: oap-conform oasis\n        env:\n", ""},
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
				f := tree{file: filled.Replace(text(t, docsDir+"workflows/"+name+".yml")),
					owners: filled.Replace(text(t, docsDir+"workflows/CODEOWNERS"))}
				f.edit(t, file, c.old, c.new)
				if got := short(f, look(t, f, nil)); got != c.want {
					t.Errorf("got\n%s\nwant\n%s", got, c.want)
				}
				if c.old != "" {
					return
				}
				// Without owners the fix is the line that they need, not the installation of a registry.
				delete(f, owners)
				all := found(look(t, f, nil))
				if len(all) != 1 || all[0].Code != "fork-can-edit-gate" {
					t.Fatalf("without owners: %+v", all)
				}
				_, line, _ := strings.Cut(all[0].Fix, "the line: ")
				f[owners] = strings.Replace(line, "@ORG/TEAM", "@acme/owners", 1) + "\n"
				if all := found(look(t, f, nil)); len(all) > 0 {
					t.Errorf("with the line %q: %+v", line, all)
				}
			})
		}
	}
}

// A registry needs its gate, whatever else it holds against a protocol.
func TestConformanceIsNoGateOfARegistry(t *testing.T) {
	f := documented(t)
	delete(f, ".github/workflows/check.yml")
	f[".github/workflows/oasis.yml"] = filled.Replace(text(t, docsDir+"workflows/oasis.yml"))
	if got := short(f, look(t, f, nil)); !strings.Contains(got, "error no-gate ") {
		t.Errorf("got\n%s", got)
	}
}
