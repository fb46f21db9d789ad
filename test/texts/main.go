// Command texts prints each Go file that two commits give another meaning: it compares their tokens without comments
// and without the values of strings. A commit that changes only texts prints nothing.
//
//	go run ./test/texts BASE [HEAD]
//
// It joins split strings, so a message may be broken at other places. It compares the values of strings that a
// compiler or a program reads: import paths, the members json and yaml of struct tags, and directives such as
// //go:build. For each file it prints the first difference, and whether it swaps two operands.
package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"os"
	"os/exec"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

func main() {
	args := os.Args[1:]
	if len(args) == 1 {
		args = append(args, "HEAD")
	}
	if len(args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: texts BASE [HEAD]")
		os.Exit(2)
	}
	found, err := compare(context.Background(), ".", args[0], args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(2)
	}
	for _, line := range found {
		fmt.Println(line)
	}
	if len(found) > 0 {
		os.Exit(1)
	}
}

// compare returns a line for each Go file that differs between two commits of the repository in dir.
func compare(ctx context.Context, dir, base, head string) (found []string, err error) {
	git := func(args ...string) ([]byte, error) {
		cmd := exec.CommandContext(ctx, "git", append([]string{"-C", dir}, args...)...)
		var diag bytes.Buffer
		cmd.Stderr = &diag
		out, err := cmd.Output()
		if err != nil {
			return nil, fmt.Errorf("git %s: %w: %s", args[0], err, bytes.TrimSpace(diag.Bytes()))
		}
		return out, nil
	}
	for _, rev := range []*string{&base, &head} {
		id, err := git("rev-parse", "--verify", "--end-of-options", *rev+"^{commit}")
		if err != nil {
			return nil, fmt.Errorf("%q is not a commit: %w", *rev, err)
		}
		*rev = string(bytes.TrimSpace(id))
	}
	names, err := git("diff-tree", "-r", "-z", "--no-renames", "--name-status", base, head, "--")
	if err != nil {
		return nil, err
	}
	fields := strings.Split(strings.TrimSuffix(string(names), "\x00"), "\x00")
	for pair := range slices.Chunk(fields, 2) {
		if len(pair) < 2 || !strings.HasSuffix(pair[1], ".go") {
			continue
		}
		status, name := pair[0], pair[1]
		if status != "M" {
			found = append(found, fmt.Sprintf("%s: status %s; a text is changed in its file", name, status))
			continue
		}
		var sides [2][]tok
		for i, rev := range []string{base, head} {
			source, err := git("cat-file", "blob", rev+":"+name)
			if err != nil {
				return nil, err
			}
			if sides[i], err = tokens(source); err != nil {
				return nil, fmt.Errorf("%s:%s: %w", rev, name, err)
			}
		}
		if where := difference(sides[0], sides[1]); where != "" {
			found = append(found, name+":"+where)
		}
	}
	return found, nil
}

// A tok is a token with its line.
type tok struct {
	text string
	line int
}

// anyString is what each string is compared as.
const anyString = `"…"`

// tokens returns the tokens of a Go file as they are compared.
func tokens(source []byte) ([]tok, error) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "", source, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	kept := map[int]string{} // by offset, what a string is compared as that is read by more than people
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			kept[fset.Position(n.Path.Pos()).Offset] = n.Path.Value
		case *ast.Field:
			if n.Tag != nil {
				value, _ := strconv.Unquote(n.Tag.Value)
				tag := reflect.StructTag(value)
				kept[fset.Position(n.Tag.Pos()).Offset] =
					fmt.Sprintf("json:%q yaml:%q", tag.Get("json"), tag.Get("yaml"))
			}
		}
		return true
	})
	var s scanner.Scanner
	f := token.NewFileSet().AddFile("", -1, len(source))
	s.Init(f, source, nil, scanner.ScanComments)
	var all []tok
	for {
		pos, kind, literal := s.Scan()
		text := kind.String()
		switch {
		case kind == token.EOF:
			return all, nil
		case kind == token.COMMENT:
			if !strings.HasPrefix(literal, "//go:") && !strings.HasPrefix(literal, "//line ") &&
				!strings.HasPrefix(literal, "// +build ") {
				continue
			}
			text = literal
		case kind == token.STRING:
			text = anyString
			if value, is := kept[f.Offset(pos)]; is {
				text = value
			}
		case kind == token.SEMICOLON: // written or not
		case literal != "":
			text = literal
		}
		all = join(all, tok{text, f.Line(pos)})
	}
}

// join appends a token. A string that is added to a string is one with it, and the comma before a closing bracket,
// which a broken line needs, goes.
func join(all []tok, next tok) []tok {
	n := len(all)
	switch {
	case next.text == anyString && n > 1 && all[n-1].text == "+" && all[n-2].text == anyString:
		return all[:n-1]
	case n > 0 && all[n-1].text == "," && slices.Contains([]string{")", "]", "}"}, next.text):
		return append(all[:n-1], next)
	}
	return append(all, next)
}

// difference returns the line and the first difference of two files; empty: they do not differ.
func difference(base, head []tok) string {
	same := func(a, b tok) bool { return a.text == b.text }
	if slices.EqualFunc(base, head, same) {
		return ""
	}
	at := 0
	for at < min(len(base), len(head)) && same(base[at], head[at]) {
		at++
	}
	end := 0
	for end < min(len(base), len(head))-at && same(base[len(base)-1-end], head[len(head)-1-end]) {
		end++
	}
	old, now := spell(base[at:len(base)-end]), spell(head[at:len(head)-end])
	line := head[min(at, len(head)-1)].line
	if a, b := swapped(old, now); a != "" {
		return fmt.Sprintf("%d: %s and %s are swapped", line, a, b)
	}
	return fmt.Sprintf("%d: %s became %s", line, short(old), short(now))
}

func spell(tokens []tok) (words []string) {
	for _, t := range tokens {
		words = append(words, t.text)
	}
	return words
}

// short returns the beginning of some tokens.
func short(words []string) string {
	if len(words) > 8 {
		words = append(words[:8:8], "…")
	}
	return cmp.Or(strings.Join(words, " "), "nothing")
}

// swapped returns the two parts that change places, with the same tokens between them; empty: the change is another.
func swapped(old, now []string) (a, b string) {
	n := min(len(old), 40)
	if len(old) != len(now) {
		return "", ""
	}
	for x := 1; x < n; x++ {
		for y := 1; x+y < n; y++ {
			if slices.Equal(old[:x], now[len(now)-x:]) && slices.Equal(old[len(old)-y:], now[:y]) &&
				slices.Equal(old[x:len(old)-y], now[y:len(now)-x]) {
				return strings.Join(old[:x], ""), strings.Join(old[len(old)-y:], "")
			}
		}
	}
	return "", ""
}
