package gitstore

import (
	"maps"
	"strings"
	"testing"
)

var configTests = []string{
	"",
	"\ufeff[core]\n\tbare = true\n",
	"[core]\nbare\n[Core]\nBARE=false\n",
	"[core]bare = true",
	"[remote \"origin\"]\n\turl = https://git.example/a.git # comment\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n",
	"[remote \"O\\\"r\\\\ig in\"]\nurl = x\n",
	"[Remote.Old]\nurl = x\n",
	"[a]\nk = \"x ; y\" z  # c\n",
	"[a]\nk = one \\\n  two\\\nthree\n",
	"[a]\nk = \\t\\n\\b\\\"\\\\x\n",
	"[a]\nk =   \" lead and trail \"  \n",
	"[a]\r\nk = v\r\nl = w\r\n",
	"[a]\nk = v ; c\n;c\n#c\n",
	"[a]\nk =\n",
	"[a]\nk = in  ner  space  \t\n",
	"[a \"b\"] c = d\n",
	"[a]\nk1-x = v\n",
	"[include]\npath = /absent\n[includeIf \"gitdir:/x/.path\"]\npath = /absent\n",
	"[core\n", "[]\n", "[a b]\n", "[a \"b]\n", "[a \"b\nc\"]\n", "[a \"b\" ]\n", "[a]\n1k = v\n", "[a]\nk v\n",
	"[a]\nk_k = v\n",
	"[a]\nk = \"open\n", "[a]\nk = \\q\n", "[a]\nk = v\\", "[a]\nk = \"a\nb\"\n", "[a\"b\"]\n", "=v\n", "[a]=v\n",
}

// Keys and values are those that git reads.
func TestConfigAsGit(t *testing.T) {
	c := newClone(t)
	for _, text := range configTests {
		got, err := parseConfig(text)
		c.Write("config", text)
		out, gitErr := c.Try("", "config", "--file", "config", "--no-includes", "--list", "--null")
		if (err != nil) != (gitErr != nil) {
			t.Errorf("%q: got %v, %v, git says %q, %v", text, got, err, out, gitErr)
			continue
		}
		want := config{}
		for item := range strings.SplitSeq(out, "\x00") {
			if item == "" {
				continue
			}
			key, value, ok := strings.Cut(item, "\n")
			if !ok {
				value = "true"
			}
			want[key] = value
		}
		if err == nil && !maps.Equal(got, want) {
			t.Errorf("%q: got %q, git says %q", text, got, want)
		}
	}
}

// Git takes a key that is in no section; nothing that is asked for could be there.
func TestConfigKeyBeforeSection(t *testing.T) {
	if c, err := parseConfig("bare = true\n[core]\n"); err == nil {
		t.Errorf("got %q", c)
	}
}

func TestConfigBool(t *testing.T) {
	c := config{"a.t": "true", "a.y": "Yes", "a.1": "1", "a.f": "False", "a.n": "no", "a.0": "0", "a.e": "",
		"a.x": "maybe"}
	for key, want := range map[string]bool{"a.t": true, "a.y": true, "a.1": true, "a.f": false, "a.n": false,
		"a.0": false, "a.e": false, "a.absent": false} {
		if got, err := c.bool(key); err != nil || got != want {
			t.Errorf("%s: got %v, %v", key, got, err)
		}
	}
	if _, err := c.bool("a.x"); err == nil {
		t.Error("maybe is taken for true or false")
	}
}
