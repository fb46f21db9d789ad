package commitsig

import (
	"crypto/ed25519"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

// sshSigner is a key made of a seed.
func sshSigner(t testing.TB, seed byte) (ssh.Signer, string) {
	t.Helper()
	s, err := ssh.NewSignerFromKey(ed25519.NewKeyFromSeed([]byte(strings.Repeat(string(rune(seed)), ed25519.SeedSize))))
	must.OK(t, err)
	return s, strings.TrimSpace(string(ssh.MarshalAuthorizedKey(s.PublicKey())))
}

func TestAllowedSigners(t *testing.T) {
	key, text := sshSigner(t, 'k')
	tests := []struct{ name, file, want string }{
		{"plain", "a@example.org " + text, ""},
		{"tabs, CRLF, spaces before", " \ta@example.org\t" + strings.Replace(text, " ", "\t", 1) + "\tcomment \"x\r\n",
			""},
		{"options", `a CERT-authority,namespaces="git,\"x\"",valid-after="20200101",valid-before="202101010000Z" ` +
			text, ""},
		{"quoted principals", `"a@example.org,b@example.org" ` + text, ""},
		{"empty", "", "no key"},
		{"comments alone", "# x\n\n", "no key"},
		{"principals alone", "a@example.org", "expected principals"},
		{"no key", "a@example.org ssh-ed25519", "expected principals"},
		{"key alone", text, "expected principals"},
		{"not base64", "a ssh-ed25519 !!!!", "base64"},
		{"line after a good one", "a " + text + "\nb", "line 2"},
		{"another type", "a ssh-rsa " + strings.Fields(text)[1], "behind the word"},
		{"unknown option", "a no-touch-required " + text, "the option"},
		{"option twice", `a namespaces="git",namespaces="file" ` + text, "twice"},
		{"value without quotes", "a namespaces=git " + text, "in quotes"},
		{"value without end", `a namespaces="git ` + text, "closing quote"},
		{"option without value", "a namespaces " + text, "the option"},
		{"option with value", `a cert-authority="x" ` + text, "the option"},
		{"empty value", `a namespaces="" ` + text, "the option"},
		{"comma at the end", "a cert-authority, " + text, "the option"},
		{"no space after a value", `a namespaces="git"x ` + text, "expected a comma or a space"},
		{"time", `a valid-after="2020" ` + text, "the time"},
		{"time with two Z", `a valid-after="20200101ZZ" ` + text, "the time"},
		{"the 30th of February", `a valid-after="20200230Z" ` + text, "the time"},
		{"never valid", `a valid-after="20210101Z",valid-before="20210101Z" ` + text, "not later"},
		{"quote without end", `"a ` + text, "in quotes"},
		{"quote in the middle", `a"b ` + text, "a quote within"},
		{"control character", "a\x1b " + text, "control"},
		{"not UTF-8", "a\xff " + text, "UTF-8"},
		{"long line", "a " + text + strings.Repeat(" x", maxLine), "over the limit"},
		{"large", strings.Repeat("\n", MaxAllowedSigners+1), "over the limit"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := parseAllowedSigners([]byte(tt.file))
			if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("error %v, want %q", err, tt.want)
			}
			if err == nil && len(got[string(key.PublicKey().Marshal())]) != 1 {
				t.Errorf("the key is not found")
			}
		})
	}
	got := must.Get(parseAllowedSigners([]byte(tests[2].file)))(t)
	s := *got[string(key.PublicKey().Marshal())][0]
	want := signer{"a", true, `git,"x"`, time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC),
		time.Date(2021, 1, 1, 0, 0, 0, 0, time.UTC)}
	if s != want {
		t.Errorf("read %+v, want %+v", s, want)
	}
}

func TestMatch(t *testing.T) {
	tests := []struct {
		text, list string
		want       bool
	}{
		{"git", "git", true}, {"git", "g?t", true}, {"git", "*", true}, {"git", "g*t*", true}, {"git", "", false},
		{"git", "file,git", true}, {"git", "*,!git", false}, {"git", "!git", false}, {"git", "!file", false},
		{"git", "?", false}, {"git", "git?", false}, {"", "*", true}, {"", "", true}, {"a*b", "a*b", true},
		{strings.Repeat("a", 5000) + "b", strings.Repeat("*a", 500) + "c", false},
		{"u@a.example.org", "*@*.example.org", true}, {"u@example.org", "*@*.example.org", false}, {"aab", "*ab", true},
	}
	for _, tt := range tests {
		if got := matchList(tt.text, tt.list); got != tt.want {
			t.Errorf("%.20q matches %.20q: %v", tt.text, tt.list, got)
		}
	}
}

func FuzzAllowedSigners(f *testing.F) {
	_, text := sshSigner(f, 'k')
	f.Add([]byte("a " + text))
	f.Add([]byte(`"a,b" cert-authority,namespaces="git,\"",valid-after="20200101Z",valid-before="202001012359" ` +
		text + " c\n#\n"))
	f.Add([]byte("* ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAAAAQA=\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		signers, err := parseAllowedSigners(data)
		if (err == nil) != (len(signers) > 0) {
			t.Errorf("%d keys, error %v", len(signers), err)
		}
		for _, lines := range signers {
			for _, s := range lines {
				if s.principals == "" || strings.ContainsAny(s.principals, "\r\n") {
					t.Errorf("principals %q", s.principals)
				}
			}
		}
	})
}
