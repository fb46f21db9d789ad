package gitfsck

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/gittest"
)

var rounds = flag.Int("rounds", 150, "random inputs that are compared with git")

// TestConfigAsGit compares the variables of random configuration files with those that git reads.
func TestConfigAsGit(t *testing.T) {
	c := gittest.New(t)
	rnd := rand.New(rand.NewPCG(1, 2))
	pieces := []string{"[submodule \"a\"]", "[submodule.B]", "[", "]", "\"", "\n", "\n", "\r\n", "\r", " ", "\t", "=",
		" = ",
		"url", "Path", "update", "\\", "\\\n", "\\n", "\\\"", "\\\\", "#", ";", "x", "-x", "..", "/", "\v", "\f",
		"\x00", "é",
		"[submodule \"a\\\"b\"]\n", "[Submodule \"../x\"]\n", "[a.b-c]\n", "[x]y=z", "1", "@", "=\"a # b\" # c\n",
		"\x01"}
	for range *rounds {
		var text bytes.Buffer
		text.WriteString("[submodule \"s\"]\n")
		for range rnd.IntN(14) {
			text.WriteString(pieces[rnd.IntN(len(pieces))])
		}
		var got strings.Builder
		ReadConfig(text.Bytes(), func(variable string, value []byte, set bool) bool {
			value, _, _ = bytes.Cut(value, []byte{0})
			got.WriteString(variable)
			if set { // versions of git differ in what happens to a tab between words
				value = bytes.Map(func(c rune) rune {
					if c == '\t' || c == '\r' {
						return ' '
					}
					return c
				}, value)
				fmt.Fprintf(&got, "\n%s", value)
			}
			got.WriteByte(0)
			return true
		})
		cmd := c.Command("config", "--list", "-z", "-f", "-")
		cmd.Stdin = bytes.NewReader(text.Bytes())
		want, _ := cmd.Output() // up to what git cannot read
		want = bytes.ReplaceAll(want, []byte("\t"), []byte(" "))
		if got.String() != strings.ReplaceAll(string(want), "\r", " ") {
			t.Errorf("%q gives\n%q, git reads\n%q", text.Bytes(), got.String(), want)
		}
	}
}
