package gitstore

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/git/gitobject"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

func TestDecodeCommit(t *testing.T) {
	parent := "parent " + strings.Repeat("1", 40) + "\n"
	for _, test := range []struct{ name, data, want string }{
		{"plain", plain + "\nmessage\n", ""},
		{"no message", plain + "\n", ""},
		{"message of any bytes", plain + "\n\xff\n\n", ""},
		{"no empty line", plain, ""},
		{"other headers", plain + "encoding ISO-8859-1\nmergetag object x\n type commit\n \n text\nHG:extra x\n\n", ""},
		{"SHA-256", strings.ReplaceAll(plain, emptyTree, strings.Repeat("a", 64)) + "\n", ""},
		{"committer goes on", plain + " more\n\n", ""},
		{"a line that is no header", plain + "nonsense\n\n", ""},
		{"blanks before the date", strings.ReplaceAll(plain, "> ", ">  \t") + "\n", ""},

		{"empty", "", "expected the header tree"},
		{"no tree", strings.TrimPrefix(plain, "tree "+emptyTree+"\n") + "\n", "expected the header tree"},
		{"tree without an end", "tree " + emptyTree, "has no end"},
		{"tree in capitals", strings.Replace(plain, emptyTree, strings.ToUpper(emptyTree), 1) + "\n", "lower-case"},
		{"short tree", strings.Replace(plain, emptyTree, emptyTree[:39], 1) + "\n", "want 40 or 64"},
		{"tree and a space", strings.Replace(plain, emptyTree, emptyTree+" ", 1) + "\n", "want 40 or 64"},
		{"two spaces", strings.Replace(plain, "tree ", "tree  ", 1) + "\n", "want 40 or 64"},
		{"parent before tree", parent + plain + "\n", "expected the header tree"},
		{"parent of another size", strings.Replace(plain, "author", "parent "+strings.Repeat("1", 64)+"\nauthor", 1) +
			"\n", "another size"},
	} {
		c, err := DecodeCommit([]byte(test.data))
		_, message, _ := strings.Cut(test.data, "\n\n")
		switch {
		case test.want == "" && err != nil:
			t.Errorf("%s: %v", test.name, err)
		case test.want == "" && (c.When != 1700000000 || !c.Dated || c.Fault != nil ||
			string(c.Message) != message || string(c.Data) != test.data || len(c.Parents) > 0):
			t.Errorf("%s: got %+v", test.name, c)
		case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want) ||
			!errors.Is(err, ErrMalformed)):
			t.Errorf("%s: got %v, want %q", test.name, err, test.want)
		}
	}
}

// TestCommitFault has commits that git can read and refuses to receive.
func TestCommitFault(t *testing.T) {
	for name, test := range map[string]struct{ data, id string }{
		"parent after committer": {plain + "parent " + emptyTree + "\n\n", "duplicate-header"},
		"two committers":         {plain + "committer A <a@example.org> 5 +0000\n\n", "duplicate-header"},
		"no end":                 {strings.TrimSuffix(plain, "\n"), "unterminatedHeader"},
		"NUL in a header":        {strings.Replace(plain, "A U", "A\x00U", 1) + "\n", "nulInHeader"},
		"NUL in another":         {plain + "encoding a\x00b\n\n", "nulInHeader"},
		"NUL in the message":     {plain + "\n\x00", "nulInCommit"},
		"two trees":              {"tree " + emptyTree + "\n" + plain + "\n", "missingAuthor"},
		"no author":              {strings.Replace(plain, "author "+person+"\n", "", 1) + "\n", "missingAuthor"},
		"two authors": {strings.Replace(plain, "committer", "author "+person+"\ncommitter", 1) + "\n",
			"multipleAuthors"},
		"parent after author": {strings.Replace(plain, "committer", "parent x\ncommitter", 1) + "\n",
			"missingCommitter"},
		"only a tree":        {"tree " + emptyTree + "\n", "missingAuthor"},
		"only tree, message": {"tree " + emptyTree + "\n\nm\n", "missingAuthor"},
	} {
		c, err := DecodeCommit([]byte(test.data))
		if err != nil || c.Tree.String() != emptyTree || c.Fault == nil || c.Fault.ID != test.id ||
			(c.When != 0) != c.Dated {
			t.Errorf("%s: %+v, %v, want %s", name, c, err, test.id)
		}
	}
}

func TestCommitterTime(t *testing.T) {
	for line, want := range map[string]int64{
		"A <a@example.org> 0 +0000":                      0,
		"A <a@example.org> 1700000000 -0330":             1700000000,
		" <> 1 +0000":                                    1,
		"A > B <a> c> 5 +0000":                           5,
		"A <a@example.org> 253402300799 +0000":           maxWhen,
		"A <a@example.org>  1 +0000":                     1,
		"A <a@example.org> \t1 +9999":                    1,
		"A <a@example.org> 253402300800 +0000":           -1,
		"A <a@example.org> -1 +0000":                     -1,
		"A <a@example.org> 01 +0000":                     -1,
		"A <a@example.org> +1 +0000":                     -1,
		"A <a@example.org> 1  +0000":                     -1,
		"A <a@example.org> 1 +000":                       -1,
		"A <a@example.org> 1 0000":                       -1,
		"A <a@example.org> 1 +00:00":                     -1,
		"A <a@example.org> 1 UTC":                        -1,
		"A <a@example.org> 1":                            -1,
		"A <a@example.org>":                              -1,
		"A a@example.org 1 +0000":                        -1,
		"":                                               -1,
		"A <a@example.org> 9999999999999999999999 +0000": -1,
	} {
		if got, ok := when([]byte(line)); ok != (want >= 0) || ok && got != want {
			t.Errorf("%q: got %d, %v, want %d", line, got, ok, want)
		}
	}
}

func TestDecodeCommitParents(t *testing.T) {
	c := newClone(t)
	first := c.commit("one")
	c.Git("checkout", "-q", "-b", "side")
	side := c.commit("side")
	c.Git("checkout", "-q", "main")
	second := c.commit("two")
	c.Git("merge", "-q", "--no-ff", "-m", "merge", "side")
	s := c.open()
	for rev, want := range map[string][]gitobject.ID{"HEAD": {mustID(t, second), mustID(t, side)}, "HEAD^": {mustID(t,
		first)},
		"HEAD~2": nil} {
		id := must.Get(s.Resolve(rev))(t)
		_, data, err := s.Read(id, 1<<20)
		must.OK(t, err)
		commit, err := DecodeCommit(data)
		if err != nil || !reflect.DeepEqual(commit.Parents, want) ||
			commit.Tree != mustID(t, c.Git("rev-parse", rev+"^{tree}")) {
			t.Errorf("%s: %+v, %v, want parents %v", rev, commit, err, want)
		}
		if string(commit.Author) != "A <a@example.org> 1700000000 +0100" || commit.When != 1700000001 {
			t.Errorf("%s: author %q, time %d", rev, commit.Author, commit.When)
		}
	}
}
