package main

import (
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/gittest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

const before = `//go:build linux

// Package p is what it is.
package p

import "fmt"

type T struct {
	A string ` + "`json:\"a\" jsonschema_description:\"it tells\"`" + `
}

// F is the text.
func F(got, want string) string { // which is had
	return fmt.Sprintf("the file %q wants "+
		"%q", got, want) + got
}
`

// TestDifference changes one thing at a time. Texts, comments and the places where they are broken may change; nothing
// else may.
func TestDifference(t *testing.T) {
	for _, c := range []struct {
		name, old, now string
		want           string // the line; empty: nothing is printed
	}{
		{"a comment", "F is the text.", "F returns the text.\n//\n// It allocates.", ""},
		{"a message", "the file %q wants ", "the file is %q; expected ", ""},
		{"a message that is broken elsewhere", "\"the file %q wants \"+\n\t\t\"%q\"", "\"the file %q wants %q\"", ""},
		{"a message on a line of its own", "got, want) + got", "got,\n\t\twant,\n\t) + got", ""},
		{"a description", "it tells", "it prints", ""},
		{"nothing", "", "", ""},
		{"swapped variables", "got, want)", "want, got)", "15: got and want are swapped"},
		{"swapped members", "got, want)", "want.B, got.A)", "15: got , want became want . B , got . A"},
		{"another variable", "want) + got", "want) + want", "15: got became want"},
		{"a variable less", ", want)", ")", "15: , want became nothing"},
		{"a name", "func F(", "func G(", "13: F became G"},
		{"a member of JSON", `json:"a"`, `json:"b"`, `9: json:"a" yaml:"" became json:"b" yaml:""`},
		{"an import", `"fmt"`, `"log"`, `6: "fmt" became "log"`},
		{"a directive", "go:build linux", "go:build darwin", "1: //go:build linux became //go:build darwin"},
		{"a variable in a message", `"%q", got`, `want+"%q", got`, `14: nothing became + want + "…"`},
	} {
		old := must.Get(tokens([]byte(before)))(t)
		now := must.Get(tokens([]byte(strings.Replace(before, c.old, c.now, 1))))(t)
		if got := difference(old, now); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

// TestCompare checks that a file that comes or goes is listed, and that what is not Go is not.
func TestCompare(t *testing.T) {
	clone := gittest.New(t)
	clone.Write("a.go", "package a\n")
	clone.Write("c.go", "package c\n\nvar a, b = c, b\n")
	clone.Git("add", ".")
	clone.Git("commit", "-q", "-m", "x")
	clone.Git("mv", "a.go", "b.go")
	clone.Write("c.go", "package c\n\nvar a, b = b, c\n")
	clone.Write("README.md", "text\n")
	clone.Git("add", ".")
	clone.Git("commit", "-q", "-m", "x")
	got := must.Get(compare(t.Context(), clone.Dir, "HEAD~1", "HEAD"))(t)
	want := "a.go: status D; a text is changed in its file\nb.go: status A; a text is changed in its file\n" +
		"c.go:3: c and b are swapped"
	if strings.Join(got, "\n") != want {
		t.Errorf("got %q, want %q", got, want)
	}
	for _, rev := range []string{"nowhere", "--help", "HEAD:a.go"} {
		if _, err := compare(t.Context(), clone.Dir, rev, "HEAD"); err == nil {
			t.Errorf("%q is compared", rev)
		}
	}
}
