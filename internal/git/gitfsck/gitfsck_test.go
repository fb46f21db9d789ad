package gitfsck

import (
	"strings"
	"testing"
)

// TestURLs has the URLs about which versions of git differ, and ordinary ones.
func TestURLs(t *testing.T) {
	for url, bad := range map[string]bool{
		"https://github.com/a/b.git":         false,
		"https://github.com:8443/a/b.git":    false,
		"https://github.com:/a":              false,
		"https://github.com:00080/a":         false,
		"https://user:p%40ss@example.org/a":  false,
		"https://example.org/a/../b":         false,
		"https://example.org/a?x=..#y/../..": false,
		"https://[2001:db8::1]:443/a":        false,
		"http://example.org":                 false,
		"ftp://example.org/a%20b":            false,
		"https::https://example.org/a":       false,
		"git@github.com:a/b.git":             false,
		"ssh://git@example.org:22/a":         false,
		"git://example.org/a%0ab":            false,
		"../b.git":                           false,
		"./b.git":                            false,
		"../../a/b:c":                        false,
		"/srv/git/a.git":                     false,
		"C:\\git\\a":                         false,
		"..":                                 false,
		"":                                   false,

		"https://example.org/a%zz":        true,
		"https://example.org/%":           true,
		"https://example.org/../a":        true,
		"https://example.org/a/%2e%2e/..": true,
		"https://example.org:0/a":         true,
		"https://example.org:65536/a":     true,
		"https://example.org:8a/a":        true,
		"https://exa mple.org/a":          true,
		"https://%65xample.org/a":         true,
		"https:///a":                      true,
		"https://@/a":                     true,
		"https://:80/a":                   true,
		"https::example.org/a":            true,
		"https::://example.org/a":         true,
		"https::1https://example.org/a":   true,
		"https://u%zz@example.org/a":      true,
		"https://u%0a@example.org/a":      true,
		"https://example.org/%0a":         true,
		"https://example.org/?%0A":        true,
		"./%0a":                           true,
		"..\\%0a":                         true,
		"../:a":                           true,
		"../..//a":                        true,
		".././/a":                         true,
		"-x":                              true,
	} {
		text := "[submodule \"a\"]\n\turl = \"" + strings.ReplaceAll(url, `\`, `\\`) + "\"\n"
		if f := Modules([]byte(text)); (f != nil) != bad {
			t.Errorf("%q: %v, want a fault: %v", url, f, bad)
		}
	}
}

// TestModulesBuilds has the bytes that git reads in one way where a char is signed, and in another where it is not.
func TestModulesBuilds(t *testing.T) {
	const bad, good = "[submodule \"a\"]\n\turl = -x\n", "[submodule \"a\"]\n\turl = x\n"
	for text, want := range map[string]bool{
		"\ufeff" + bad:           true,
		"\ufeff" + good:          false,
		bad + "\xff":             true,
		"\xff" + bad:             false,
		"# \xff\n" + bad:         true,
		good + "\xff" + good:     false,
		"\xef\xbb" + bad:         false,
		"\ufeff\ufeff" + bad:     false,
		"[a]\n" + bad + "[":      true,
		good + "[\n" + bad:       false,
		"url = -x\n[submodule]x": false,
	} {
		if f := Modules([]byte(text)); (f != nil) != want {
			t.Errorf("%q: %v, want a fault: %v", text, f, want)
		}
	}
}

// A header that readers look for is in its place only. Git accepts it anywhere.
func TestDuplicateHeader(t *testing.T) {
	const head = "tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904\nauthor A <a@a.example> 1 +0000\n" +
		"committer A <a@a.example> 1 +0000\n"
	for more, want := range map[string]bool{
		"\ntree x\n":                        false,
		"":                                  false,
		"encoding latin1\ntree x\n\n":       true,
		"tree x\n\n":                        true,
		"tree\n\n":                          true,
		"parent x\n\n":                      true,
		"author x\n\n":                      true,
		"committer x\n\n":                   true,
		"committer x\n":                     true,
		"gpgsig x\n tree x\n parent x\n\nm": false,
		"mergetag object x\n tree x\n tagger y\n\n": false,
		"trees x\ntreeless\nTree x\n\n":             false,
	} {
		f := Commit([]byte(head + more))
		if got := f != nil && f.ID == DuplicateHeader; got != want || f != nil && !want {
			t.Errorf("%q: %v, want a fault: %v", more, f, want)
		}
	}
}

func TestLarge(t *testing.T) {
	text := make([]byte, MaxFile+1)
	for name, f := range map[string]func([]byte) *Fault{"gitmodulesLarge": Modules, "gitattributesLarge": Attributes} {
		if f := f(text); f == nil || f.ID != name {
			t.Errorf("%s: got %v", name, f)
		}
	}
}

// FuzzModules checks that hostile files end, and that what is quoted of them is short and printable.
func FuzzModules(f *testing.F) {
	f.Add([]byte("[submodule \"a\"]\n\turl = -x\n"))
	f.Add([]byte("\ufeff[submodule \"..\"]\npath\\\n=-x"))
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, found := range []*Fault{Modules(text), Attributes(text), Commit(text)} {
			if found != nil && (len(found.Detail) > 600 || strings.ContainsAny(found.Detail, "\n\x1b\x00")) {
				t.Errorf("%q", found.Detail)
			}
		}
	})
}
