package gitstore

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/git/gitobject"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/needs"
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
		case test.want == "" && (c.When != 1700000000 || !c.Dated || c.Signed != Unsigned || c.Fault != nil ||
			string(c.Message) != message || len(c.Parents) > 0):
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

// Payload and signature are what git hands to the program that verifies.
func TestSignatureAsGit(t *testing.T) {
	needs.Program(t, "sh", "cat")
	c := newClone(t)
	said := filepath.Join(c.Dir, "payload")
	c.Write("verify", "#!/bin/sh\nfor a; do case $a in /*|.*) cat \"$a\" >'"+said+".sig';; esac; done\ncat >'"+said+
		"'\nexit 1\n")
	must.OK(t, os.Chmod(filepath.Join(c.Dir, "verify"), 0o777))
	c.Config("gpg.program", filepath.Join(c.Dir, "verify"))
	other := strings.Replace(pgp, "gpgsig ", "gpgsig-sha256 ", 1)
	for name, data := range map[string]string{
		"signed":               plain + pgp + "\nmessage\n",
		"encoding before":      plain + "encoding x\n" + pgp + "\nmessage\n",
		"encoding after":       plain + pgp + "encoding x\n\nmessage\n",
		"mergetag before":      plain + "mergetag object x\n gpgsig y\n" + pgp + "\nmessage\n",
		"other hash after":     plain + pgp + other + "\nmessage\n",
		"other hash before":    plain + other + pgp + "\nmessage\n",
		"message like headers": plain + pgp + "\ngpgsig x\n y\n" + pgp,
		"no message":           plain + pgp + "\n",
	} {
		t.Run(name, func(t *testing.T) {
			commit, err := DecodeCommit([]byte(data))
			must.OK(t, err)
			if commit.Signed != OpenPGP {
				t.Fatalf("signed %v, want OpenPGP", commit.Signed)
			}
			id := c.GitInput(data, "hash-object", "-w", "-t", "commit", "--stdin")
			if out, err := c.Try("", "verify-commit", id); err == nil {
				t.Fatalf("git verifies it: %s", out)
			}
			for file, got := range map[string][]byte{said: commit.Payload, said + ".sig": commit.Signature} {
				if want, err := os.ReadFile(file); err != nil || !bytes.Equal(got, want) {
					t.Errorf("got %q, git says %q, %v", got, want, err)
				}
			}
		})
	}
}

func TestSignatureKinds(t *testing.T) {
	sig := func(first string) string { return "gpgsig -----BEGIN " + first + "-----\n x\n" }
	for headers, want := range map[string]SignatureKind{
		"":                               Unsigned,
		sig("PGP SIGNATURE"):             OpenPGP,
		sig("PGP MESSAGE"):               OpenPGP,
		sig("SSH SIGNATURE"):             SSH,
		sig("SIGNED MESSAGE"):            X509,
		sig("OTHER"):                     UnknownSignature,
		"gpgsig \n":                      UnknownSignature,
		pgp + pgp:                        SeveralSignatures,
		pgp + "encoding x\n" + pgp:       SeveralSignatures,
		pgp + sig("SSH SIGNATURE"):       SeveralSignatures,
		"gpgsig-sha256 x\n":              Unsigned,
		"mergetag x\n gpgsig y\n":        Unsigned,
		"encoding gpgsig\n":              Unsigned,
		"gpgsigs -----BEGIN PGP x\n y\n": Unsigned,
	} {
		c, err := DecodeCommit([]byte(plain + headers + "\n"))
		if err != nil {
			t.Errorf("%q: %v", headers, err)
			continue
		}
		if c.Signed != want {
			t.Errorf("%q: signed %v, want %v", headers, c.Signed, want)
		}
		if one := want != Unsigned && want != SeveralSignatures; one != (c.Payload != nil) ||
			one != (c.Signature != nil) {
			t.Errorf("%q: payload %q, signature %q", headers, c.Payload, c.Signature)
		}
	}
	c, err := DecodeCommit([]byte(plain + "gpgsig x\ngpgsig")) // it ends in a header without a blank
	if err != nil || c.Signed != UnknownSignature || string(c.Payload) != plain || string(c.Signature) != "x\n" {
		t.Errorf("a header cut short: %+v, %v", c, err)
	}
	wide := strings.ReplaceAll(plain, emptyTree, strings.Repeat("a", 64))
	for headers, want := range map[string]SignatureKind{
		pgp: Unsigned, strings.Replace(pgp, "gpgsig", "gpgsig-sha256", 1): OpenPGP,
	} {
		if c, err := DecodeCommit([]byte(wide + headers + "\n")); err != nil || c.Signed != want {
			t.Errorf("SHA-256, %q: %+v, %v, want %v", headers, c, err, want)
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
		id, err := s.Resolve(rev)
		must.OK(t, err)
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
