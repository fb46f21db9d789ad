package rooms

import (
	"go/scanner"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

// TestColumns checks that a line of Go has at most 120 columns; a tab counts as four. A line with a part of a raw
// string, such as a struct tag, may be longer, and so may a single token: neither can be broken.
func TestColumns(t *testing.T) {
	const most = 120
	list, err := exec.CommandContext(t.Context(), "git", "-C", root, "ls-files", "-z", "*.go").Output()
	if err != nil {
		t.Skipf("SKIPPED: git lists no files here: %v", err)
	}
	for name := range strings.SplitSeq(strings.TrimSuffix(string(list), "\x00"), "\x00") {
		text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
		if os.IsNotExist(err) {
			continue // deleted, and not committed yet
		}
		must.OK(t, err)
		var unbroken map[int]bool
		for i, line := range strings.Split(string(text), "\n") {
			if utf8.RuneCountInString(strings.ReplaceAll(line, "\t", "    ")) <= most {
				continue
			}
			if unbroken == nil {
				unbroken = unbreakable(text)
			}
			if !unbroken[i+1] {
				t.Errorf("%s:%d: the line is longer than %d columns", name, i+1, most)
			}
		}
	}
}

// unbreakable are the lines of a Go file with a part of a raw string, or with no more than one token and a comma.
func unbreakable(text []byte) map[int]bool {
	file := token.NewFileSet().AddFile("", 1, len(text))
	var s scanner.Scanner
	s.Init(file, text, nil, 0)
	raw, tokens := map[int]bool{}, map[int]int{}
	for {
		pos, tok, literal := s.Scan()
		if tok == token.EOF {
			break
		}
		line := file.Line(pos)
		if tok != token.COMMA && tok != token.SEMICOLON {
			tokens[line]++
		}
		if tok == token.STRING && literal[0] == '`' {
			for i := range strings.Count(literal, "\n") + 1 {
				raw[line+i] = true
			}
		}
	}
	for line, n := range tokens {
		if n == 1 {
			raw[line] = true
		}
	}
	return raw
}
