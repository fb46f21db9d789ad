package governance

import (
	"bytes"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/git/gitobject"
	"github.com/openagentprotocol-OAP/oap-gate/internal/governance/page"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict/fold"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

const (
	// maxCode is how many bytes of the files under test-suite/ and reference/ are compared with what a view changes
	// there.
	maxCode = 64 << 20
	// sniffed is how many bytes of a file are searched for a NUL.
	sniffed = 8000
	// maxFacts is how many lines a row for people has at most.
	maxFacts = 1000
)

// codeDirectories are those whose code is evidence.
var codeDirectories = []string{"test-suite", "reference"}

// A language is a family of languages whose comments begin with the same marks.
type language struct {
	extensions string
	comments   []string // marks of a comment up to the end of its line
	block      bool     // whether a line that begins with /* begins a comment up to */
	suite      bool     // whether its files are code under test-suite/ only
}

var languages = []language{
	{"js mjs cjs jsx ts mts cts tsx go rs java kt swift c h cc cpp hpp cs scala", []string{"//"}, true, false},
	{"php", []string{"//", "#"}, true, false},
	{"py rb sh bash ps1 ex exs", []string{"#"}, false, false},
	{"sql lua", []string{"--"}, false, false},
	{"yaml yml", []string{"#"}, false, true},
	{"json", nil, false, true},
}

// interpreted is the language of a file that has no extension and begins with #!.
var interpreted = language{comments: []string{"#"}}

// languageOf returns the language of a file, and whether the file is code of it.
func languageOf(p string, data []byte) (language, bool) {
	p = strings.ToLower(p)
	name := path.Base(p)
	never := strings.HasPrefix(name, ".") || slices.Contains(
		[]string{"package.json", "package-lock.json", "levels.json"}, name) ||
		strings.HasPrefix(name, "tsconfig") && strings.HasSuffix(name, ".json")
	ext := strings.TrimPrefix(path.Ext(name), ".")
	if ext == "" {
		return interpreted, !never && bytes.HasPrefix(data, []byte("#!"))
	}
	for _, l := range languages {
		if slices.Contains(strings.Fields(l.extensions), ext) {
			return l, !never && (!l.suite || strings.HasPrefix(p, "test-suite/"))
		}
	}
	return language{}, false
}

// codeLine is a line of a file.
type codeLine struct {
	number int
	shown  string
	left   string // without comment, white space and invisible characters
	whole  string // without white space and invisible characters
}

// codeLines returns the lines of a file that have a letter or a digit outside of comments; all lines if every is true.
func codeLines(l language, data []byte, every bool) []codeLine {
	var out []codeLine
	block, number := false, 0
	for raw := range bytes.FieldsFuncSeq(data, isLineEnd) {
		number++
		seen := strings.Map(func(r rune) rune {
			if fold.DefaultIgnorable(r) || unicode.IsControl(r) && r != '\t' {
				return -1
			}
			return r
		}, string(raw))
		code := strings.TrimSpace(seen)
		if begins := l.block && strings.HasPrefix(code, "/*"); begins || block {
			rest := code
			if !block {
				rest = code[len("/*"):]
			}
			block, code = !strings.Contains(rest, "*/"), ""
		}
		for _, mark := range l.comments {
			code = beforeComment(code, mark)
		}
		one := codeLine{number, strings.TrimSpace(string(raw)), squeeze(code), squeeze(seen)}
		if every || strings.ContainsFunc(one.left, func(r rune) bool {
			return unicode.IsLetter(r) || unicode.IsDigit(r)
		}) {
			out = append(out, one)
		}
	}
	return out
}

// isLineEnd reports whether r ends a line. It also returns true for characters that some languages do not end a line
// with: otherwise a file that uses them instead of line feeds would be one new line.
func isLineEnd(r rune) bool {
	return r == '\n' || r == '\r' || r == '\v' || r == '\f' || r == '\u0085' || r == '\u2028' || r == '\u2029'
}

// beforeComment returns what is before a mark at the start of a line or after white space.
func beforeComment(line, mark string) string {
	for at := 0; ; at += len(mark) {
		next := strings.Index(line[at:], mark)
		if next < 0 {
			return line
		}
		at += next
		if at == 0 || strings.TrimRightFunc(line[:at], unicode.IsSpace) != line[:at] {
			return line[:at]
		}
	}
}

func squeeze(text string) string { return strings.Join(strings.Fields(text), "") }

// evidence is what a view changes under test-suite/ and reference/.
type evidence struct {
	files     []string // that have a new line, or are withdrawn
	lines     []string // those lines, each with its place
	withdrawn bool     // the lines fall away with the rule
	rejected  []string // the other paths, each with its word
	noCode    bool     // whether the word of one is "no code"
	at        verdict.At
}

// String describes the evidence that counts.
func (e *evidence) String() string {
	what := "new line"
	if e.withdrawn {
		what = "withdrawn line"
	}
	var names []string
	for _, p := range e.files {
		names = append(names, plain.ShellWord(p))
	}
	return fmt.Sprintf("%s, %s: %s", plain.Count(len(e.files), "file"), plain.Count(len(e.lines), what),
		listUpTo(names, maxSentences))
}

// evidence looks for code that neither the base of the view nor the base that judges has.
func (v *View) evidence(judge *registry.Tree) (evidence, error) {
	var e evidence
	budget := maxCode
	type source struct {
		path  string
		lines []codeLine
	}
	var sources, gone []source
	reject := func(p, word string) { e.rejected = append(e.rejected, fmt.Sprintf("%q (%s)", p, word)) }
	asked := map[string]bool{} // whether the base has a line, by what is left of it
	for _, c := range v.Changes {
		directory, _, deeper := strings.Cut(c.Path, "/")
		if !deeper || !slices.Contains(codeDirectories, directory) {
			continue
		}
		old, _, err := v.codeOf(v.Base, c.Path, c.Base, &budget)
		if err != nil {
			return e, err
		}
		lines, word, err := v.codeOf(v.Head, c.Path, c.Head, &budget)
		if err != nil {
			return e, err
		}
		if directory == "test-suite" && len(old) > 0 && (c.Head == nil || word == "") && fallAway(old, lines) {
			gone = append(gone, source{c.Path, old})
		}
		if word != "" {
			e.noCode = e.noCode || word == "no code"
			reject(c.Path, word)
			continue
		}
		sources = append(sources, source{c.Path, lines})
		for _, l := range lines {
			asked[l.left], asked[l.whole] = false, false
		}
	}
	if len(asked) > 0 {
		if err := findLines(asked, v.Base, judge); err != nil {
			return e, err
		}
	}
	for _, s := range sources {
		fresh := false
		for _, l := range s.lines {
			if !asked[l.left] && !asked[l.whole] {
				asked[l.left] = true // it is new once
				e.lines = append(e.lines, fmt.Sprintf("%s:%d: %s", s.path, l.number, shorten(l.shown)))
				fresh = true
			}
		}
		if fresh {
			e.files = append(e.files, s.path)
		} else {
			reject(s.path, "no new line")
		}
	}
	slices.Sort(e.rejected)
	if len(e.files) > 0 || len(gone) == 0 {
		return e, nil
	}
	only, err := v.onlyWithdraws()
	if !only || err != nil {
		return e, err
	}
	for _, s := range gone {
		n := len(e.lines)
		for _, l := range s.lines {
			if _, kept := asked[l.left]; !kept {
				e.lines = append(e.lines, fmt.Sprintf("%s:%d: withdrawn: %s", s.path, l.number, shorten(l.shown)))
			}
		}
		if len(e.lines) > n {
			e.files, e.withdrawn = append(e.files, s.path), true
		}
	}
	return e, nil
}

// codeOf reads the lines of one side of a changed path. The word says why the path does not count, if it does not.
func (v *View) codeOf(t *registry.Tree, p string, e *registry.Entry, budget *int) (lines []codeLine, word string,
	err error) {
	switch _, named := languageOf(p, []byte("#!")); {
	case e == nil:
		return nil, "deleted", nil
	case !isFile(e):
		return nil, "not a file", nil
	case !named:
		return nil, "no code", nil
	}
	data, err := read(t, p, maxText, budget)
	if err != nil {
		return nil, "", err
	}
	l, is := languageOf(p, data)
	switch {
	case !is:
		return nil, "no code", nil
	case bytes.IndexByte(data[:min(len(data), sniffed)], 0) >= 0:
		return nil, "binary", nil
	}
	return codeLines(l, data, false), "", nil
}

// fallAway reports whether what is left of lines is what was there, without at least one line.
func fallAway(old, new []codeLine) bool {
	left := func(lines []codeLine) (out []string) {
		for _, l := range lines {
			out = append(out, l.left)
		}
		return out
	}
	return len(new) < len(old) && isWithin(left(new), left(old))
}

// isWithin reports whether a sequence is what is left of another without some of its elements.
func isWithin(short, long []string) bool {
	at := 0
	for _, s := range short {
		next := slices.Index(long[at:], s)
		if next < 0 {
			return false
		}
		at += next + 1
	}
	return true
}

// findLines looks for lines in the code directories of some trees: for what is left of a line there, and for all of it.
func findLines(asked map[string]bool, trees ...*registry.Tree) error {
	budget := maxCode
	seen := map[textKey]bool{}
	for _, t := range trees {
		for _, directory := range codeDirectories {
			err := t.WalkFolder(directory, func(p string, e registry.Entry) error {
				key := textKey{path.Ext(p), e.ID}
				if !isFile(&e) || seen[key] {
					return nil
				}
				seen[key] = true
				l, named := languageOf(p, []byte("#!"))
				data, err := read(t, p, maxText, &budget)
				switch {
				case errors.Is(err, gitobject.ErrTooLarge) && !named:
					return nil
				case errors.Is(err, ErrLimit):
					return remedy.Errorf("move what is not code out of test-suite/ and reference/", "reading %q: %w: "+
						"test-suite/ and reference/ of the base have more than %d MiB", p, ErrLimit, maxCode>>20)
				case err != nil:
					return err
				}
				for _, line := range codeLines(l, data, true) {
					for _, text := range []string{line.left, line.whole} {
						if _, is := asked[text]; is {
							asked[text] = true
						}
					}
				}
				return nil
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// onlyWithdraws reports whether the change only removes words from the normative texts of a view, and at least one key
// word among them.
func (v *View) onlyWithdraws() (bool, error) {
	files, err := v.normativeFiles()
	if err != nil {
		return false, err
	}
	fallen := 0
	for _, f := range files {
		if f.old.text == nil || f.new.path != "" && f.new.text == nil {
			return false, nil
		}
		words := func(t *page.Text) []string {
			return strings.FieldsFunc(t.Seen(), func(r rune) bool {
				return !unicode.IsLetter(r) && !unicode.IsDigit(r)
			})
		}
		var left, kept []string
		if f.new.text != nil {
			left, kept = words(f.new.text), f.new.text.KeyWords()
		}
		if !isWithin(left, words(f.old.text)) || !isWithin(kept, f.old.text.KeyWords()) {
			return false, nil
		}
		fallen += len(f.old.text.KeyWords()) - len(kept)
	}
	return fallen > 0, nil
}
