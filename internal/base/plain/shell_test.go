package plain

import (
	"os/exec"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/needs"
)

func TestShellWord(t *testing.T) {
	needs.Program(t, "sh")
	for _, text := range []string{"implementations/a-b.json", "$(id)", "a b", "it's", "`id`", "-n",
		"~", "*", "", "a\nb", `\`, "#"} {
		got, err := exec.Command("sh", "-c", "printf %s. "+ShellWord(text)).Output()
		if err != nil || string(got) != text+"." {
			t.Errorf("ShellWord(%q) = %s, which a shell takes for %q, %v", text, ShellWord(text), got, err)
		}
	}
}
