package gitfsck

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/gittest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

// objects is a repository of loose objects of any content.
type objects struct {
	*gittest.Clone
	names map[string]string // what an object was made of, by its id
}

func newObjects(t *testing.T) *objects { return &objects{gittest.New(t), map[string]string{}} }

func (o *objects) add(kind, data, name string) string {
	o.T.Helper()
	text := fmt.Appendf(nil, "%s %d\x00%s", kind, len(data), data)
	id := fmt.Sprintf("%x", sha1.Sum(text))
	var packed bytes.Buffer
	w, _ := zlib.NewWriterLevel(&packed, zlib.BestSpeed)
	if _, err := w.Write(text); err != nil {
		o.T.Fatal(err)
	}
	must.OK(o.T, w.Close())
	o.Write(filepath.Join(".git", "objects", id[:2], id[2:]), packed.String())
	o.names[id] = name
	return id
}

func (o *objects) tree(mode, name, id, made string) string {
	raw := must.Get(hex.DecodeString(id))(o.T)
	return o.add("tree", mode+" "+name+"\x00"+string(raw), made)
}

// faults are the ids that git prints of each object.
func (o *objects) faults() map[string]string {
	o.T.Helper()
	cmd := o.Command("fsck", "--strict", "--no-dangling", "--no-progress")
	out, _ := cmd.CombinedOutput() // an error means that there are faults
	found := map[string]string{}
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		if len(fields) > 4 && fields[1] == "in" {
			id := strings.Trim(fields[3], ":")
			found[id] += strings.Trim(fields[4], ":") + " "
		}
	}
	return found
}

// TestNamesAsGit compares which names of tree entries git takes for .gitmodules and .gitattributes. It names each link
// under such a name.
func TestNamesAsGit(t *testing.T) {
	o := newObjects(t)
	rnd := rand.New(rand.NewPCG(3, 4))
	link := o.add("blob", "target", "")
	seeds := []string{".gitmodules", ".gitattributes", "gitmod~1", "gitatt~4", "gi7eba~1", "gi7d29~9", "GI7EB~12",
		"~1000000",
		"gi7e~0123", "gitmod~5", ".gitmodules ", ".gitmodules::$DATA", "a\\.gitmodules", "\\gitmod~2 .",
		"a\\.gitattributes",
		".git\u200cmodules", ".gitmodules\xff", "\ufeff.GitAttributes", ".gitmodules\uffff", ".ſitmodules",
		".gitmodules.x",
		".gitmodule", "gitmodules", "gi7ebax~1", "a\\b\\.gitmodules\\c", ".gitmodules\\x", "g~1", "~12345678",
		"~123456 ",
		".gitattributes\xed\xa0\x80", ".gitmodules\xc0\x80"}
	bits := []string{".", " ", ":", "~", "1", "0", "9", "\\", "\u200d", "\u206f", "\xe2", "\xff", "a", "g", "G",
		"gi7eba", "é", "K"}
	names := map[string]bool{}
	for _, s := range seeds {
		names[s] = true
	}
	for range *rounds * 4 {
		name := seeds[rnd.IntN(len(seeds))]
		for range 1 + rnd.IntN(2) {
			at := rnd.IntN(len(name) + 1)
			keep := at
			if rnd.IntN(2) == 0 && at < len(name) {
				keep++ // replace
			}
			name = name[:at] + bits[rnd.IntN(len(bits))] + name[keep:]
		}
		names[name] = true
	}
	for name := range names {
		o.tree("120000", name, link, name)
	}
	faults := o.faults()
	for id, name := range o.names {
		if name == "" {
			continue
		}
		if got, want := IsModules(name), strings.Contains(faults[id], "gitmodulesSymlink"); got != want {
			t.Errorf("%q as .gitmodules: %v; git says %v", name, got, want)
		}
		if got, want := IsAttributes(name), strings.Contains(faults[id], "gitattributesSymlink"); got != want {
			t.Errorf("%q as .gitattributes: %v; git says %v", name, got, want)
		}
	}
}

// TestCommitsAsGit compares the faults of commits with those that git names.
func TestCommitsAsGit(t *testing.T) {
	o := newObjects(t)
	rnd := rand.New(rand.NewPCG(5, 6))
	tree := o.add("tree", "", "")
	const person = "A U Thor <a@example.org> 1700000000 +0100"
	valid := "tree " + tree + "\nauthor " + person + "\ncommitter " + person + "\n\nm\n"
	o.add("commit", valid, valid)
	bits := []string{"<", ">", " ", "\t", "0", "9", "+", "-", "\n", "\n\n", "\x00", "author ", "committer ", "é",
		"\xff",
		"99999999999999999999", "9223372036854775807", "9223372036854775808", "author " + person + "\n"}
	start := strings.Index(valid, "author")
	for range *rounds * 4 {
		text := valid
		for range 1 + rnd.IntN(2) {
			at := start + rnd.IntN(len(text)-start)
			end := at + rnd.IntN(3)
			switch rnd.IntN(8) {
			case 0:
				end = at + rnd.IntN(20)
			case 1:
				text = text[:at] // cut short
			}
			text = text[:at] + bits[rnd.IntN(len(bits))] + text[min(end, len(text)):]
		}
		o.add("commit", text, text)
	}
	faults := o.faults()
	for id, text := range o.names {
		if text == "" {
			continue
		}
		got := ""
		if f := Commit([]byte(text)); f != nil {
			got = f.ID
		}
		if got == DuplicateHeader {
			got = "" // git reads the first, and accepts it
		}
		if want, _, _ := strings.Cut(faults[id], " "); got != want && !newer(got, text) {
			t.Errorf("%q: %q; git says %q", text, got, faults[id])
		}
	}
}

// newer reports whether versions of git differ: since 2.40 nothing but blanks may stand before the digits of a date,
// and
// these do not count as a part of it.
func newer(got, text string) bool {
	return (got == "badDate" || got == "zeroPaddedDate") && regexp.MustCompile(`> [^0-9]`).MatchString(text)
}

// TestModulesAsGit checks that what git refuses of random .gitmodules is refused, by the same id. Of an URL the newer
// versions refuse more than the older ones.
func TestModulesAsGit(t *testing.T) {
	o := newObjects(t)
	rnd := rand.New(rand.NewPCG(7, 8))
	starts := []string{"", "./", "../", ".../", "http://", "https://", "HTTPS://", "ftp://", "https::",
		"ftps::http://", "ssh://",
		"git@h:", "-", ".\\\\", "..\\\\", "https:", "file://", "https::file://"}
	bits := []string{"h", "example.org", "/", "/", "../", "..", ":", "@", "%0a", "%0A", "%00", "%zz", "%2e", "?", "#",
		"80", "0",
		"\\n", "\\\\", "[::1]", "a b", "é", "%", "-", ".", "user:pw@", "\\t"}
	keys := []string{"url", "url", "url", "URL", "path", "update", "name"}
	names := []string{"a", "a", "a", "..", "a/..", "..b", "a\\\\..", "", ".", "a/../b", "x.url"}
	made := map[string]bool{}
	for range *rounds * 4 {
		var text strings.Builder
		for range 1 + rnd.IntN(2) {
			fmt.Fprintf(&text, "[submodule \"%s\"]\n", names[rnd.IntN(len(names))])
			value := starts[rnd.IntN(len(starts))]
			for range rnd.IntN(5) {
				value += bits[rnd.IntN(len(bits))]
			}
			if rnd.IntN(20) == 0 {
				value = "!" + value
			}
			fmt.Fprintf(&text, "\t%s = \"%s\"\n", keys[rnd.IntN(len(keys))], value)
		}
		if rnd.IntN(10) == 0 {
			text.WriteString("broken\\\n")
		}
		if made[text.String()] {
			continue
		}
		made[text.String()] = true
		o.tree("100644", ".gitmodules", o.add("blob", text.String(), text.String()), "")
	}
	faults, refused := o.faults(), 0
	for id, text := range o.names {
		if text == "" {
			continue
		}
		got := ""
		if f := Modules([]byte(text)); f != nil {
			got = f.ID
		}
		want, _, _ := strings.Cut(strings.ReplaceAll(faults[id], "gitmodulesParse ", ""), " ")
		if want != "" {
			refused++
		}
		if got != want && got != "gitmodulesUrl" {
			t.Errorf("%q: %q; git says %q", text, got, faults[id])
		}
	}
	if refused < len(made)/10 {
		t.Errorf("git refuses %d of %d: the test shows little", refused, len(made))
	}
}

// TestAttributesAsGit checks the length of lines at the bound.
func TestAttributesAsGit(t *testing.T) {
	o := newObjects(t)
	at, over := strings.Repeat("a", 2047), strings.Repeat("a", 2048)
	for _, text := range []string{"", "\n", "* text\n", at, at + "\n", over, over + "\n", "x\n" + at + "\ny", "x\n" +
		over + "\ny",
		"x\x00\n" + over, over + "\x00", at + "\x00aa", at + "\r\n", strings.Repeat("a\n", 5000)} {
		o.tree("100644", ".gitattributes", o.add("blob", text, text), "")
	}
	faults := o.faults()
	for id, text := range o.names {
		got := ""
		if f := Attributes([]byte(text)); f != nil {
			got = f.ID + " "
		}
		if got != faults[id] {
			t.Errorf("%.20q of %d bytes: %q; git says %q", text, len(text), got, faults[id])
		}
	}
}
