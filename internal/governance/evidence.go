package governance

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/git/gitobject"
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
)

// codeDirectories are those whose code is evidence.
var codeDirectories = []string{"test-suite", "reference"}

// A language is a family of languages whose comments begin with the same marks.
type language struct {
	extensions string
	comments   []string // marks of a comment up to the end of its line, at its start or behind white space
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

// noCode matches the names of files that are never code.
var noCode = plain.Pattern(`^(?:\..*|package(?:-lock)?\.json|levels\.json|tsconfig.*\.json)$`)

// languageOf returns the language of a file, and whether the file is code of it. A file without extension is code if it
// begins with #!.
func languageOf(p string, data []byte) (language, bool) {
	p = strings.ToLower(p)
	may := !noCode().MatchString(path.Base(p))
	ext := strings.TrimPrefix(path.Ext(p), ".")
	if ext == "" {
		return language{comments: []string{"#"}}, may && bytes.HasPrefix(data, []byte("#!"))
	}
	for _, l := range languages {
		if slices.Contains(strings.Fields(l.extensions), ext) {
			return l, may && (!l.suite || strings.HasPrefix(p, "test-suite/"))
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

func (l codeLine) text() string { return l.left }

// isBare reports whether a line has neither a letter nor a digit outside of comments.
func (l codeLine) isBare() bool { return !strings.ContainsFunc(l.left, isWord) }

// codeLines returns the lines of a file.
func codeLines(l language, data []byte) (out []codeLine) {
	block, number := false, 0
	for raw := range bytes.FieldsFuncSeq(data, isLineEnd) {
		number++
		seen := strings.TrimSpace(strings.Map(func(r rune) rune {
			if fold.DefaultIgnorable(r) || unicode.IsControl(r) && r != '\t' {
				return -1
			}
			return r
		}, string(raw)))
		code := seen
		if begins := l.block && strings.HasPrefix(code, "/*"); begins || block {
			if !block {
				code = code[len("/*"):]
			}
			block, code = !strings.Contains(code, "*/"), ""
		}
		left := strings.Fields(code)
		for i, word := range left {
			if slices.ContainsFunc(l.comments, func(mark string) bool { return strings.HasPrefix(word, mark) }) {
				left = left[:i]
				break
			}
		}
		out = append(out, codeLine{number, strings.TrimSpace(string(raw)), strings.Join(left, ""),
			strings.Join(strings.Fields(seen), "")})
	}
	return out
}

// isLineEnd reports whether r ends a line. It also returns true for characters that some languages do not end a line
// with: otherwise a file that uses them instead of line feeds would be one new line.
func isLineEnd(r rune) bool {
	return r == '\n' || r == '\r' || r == '\v' || r == '\f' || r == '\u0085' || r == '\u2028' || r == '\u2029'
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

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
	return fmt.Sprintf("evidence: %s, %s: %s", plain.Count(len(e.files), "file"), plain.Count(len(e.lines), what),
		listUpTo(names, maxSentences))
}

// readCode returns the lines of a file. The word says why it cannot count, if it cannot.
func readCode(t *registry.Tree, p string, e *registry.Entry, b *budget) (lines []codeLine, word string, err error) {
	switch {
	case e == nil:
		return nil, "deleted", nil
	case !isFile(e):
		return nil, "not a file", nil
	}
	l, named := languageOf(p, []byte("#!"))
	data, err := b.read(t, p)
	if errors.Is(err, gitobject.ErrTooLarge) && !named {
		return nil, "no code", nil
	}
	if _, is := languageOf(p, data); !is {
		word = "no code"
	} else if bytes.IndexByte(data[:min(len(data), sniffed)], 0) >= 0 {
		word = "binary"
	}
	return codeLines(l, data), word, err
}

// changedCode is a changed path under test-suite/ or reference/.
type changedCode struct {
	path, word string     // the word says why it cannot count, if it cannot
	new        []codeLine // if it can count
	fallen     []codeLine // the lines as they were, if lines only fall away
}

// evidence looks for code that neither the base of the view nor the base that judges has.
func (v *View) evidence(judge *registry.Tree) (e evidence, err error) {
	b := budget{"the changed files under test-suite/ and reference/", "split the change", maxText, maxCode}
	known := map[string]bool{} // whether the base has a line, by what is left of it and by all of it
	var changed []changedCode
	for _, c := range v.Changes {
		directory, _, below := strings.Cut(c.Path, "/")
		if !below || !slices.Contains(codeDirectories, directory) {
			continue
		}
		f := changedCode{path: c.Path}
		old, was, err := readCode(v.Base, c.Path, c.Base, &b)
		if err != nil {
			return e, err
		}
		if f.new, f.word, err = readCode(v.Head, c.Path, c.Head, &b); err != nil {
			return e, err
		}
		old, f.new = slices.DeleteFunc(old, codeLine.isBare), slices.DeleteFunc(f.new, codeLine.isBare)
		if was == "" && (f.word == "" || c.Head == nil) && directory == "test-suite" && len(f.new) < len(old) &&
			isWithin(f.new, old, codeLine.text) {
			f.fallen = old
		}
		if f.word != "" {
			f.new = nil
		}
		for _, l := range f.new {
			known[l.left], known[l.whole] = false, false
		}
		changed = append(changed, f)
	}
	if err := findLines(known, v.Base, judge); err != nil {
		return e, err
	}
	gone := evidence{withdrawn: true}
	for _, f := range changed {
		gone.add(f.path, "withdrawn: ", slices.DeleteFunc(f.fallen, func(l codeLine) bool { return known[l.left] }))
		fresh := slices.DeleteFunc(f.new, func(l codeLine) bool {
			has := known[l.left] || known[l.whole]
			known[l.left] = true // it is new once
			return has
		})
		if e.add(f.path, "", fresh); len(fresh) == 0 {
			e.noCode = e.noCode || f.word == "no code"
			e.rejected = append(e.rejected, fmt.Sprintf("%q (%s)", f.path, cmp.Or(f.word, "no new line")))
		}
	}
	if len(e.files) == 0 && len(gone.files) > 0 {
		if only, err := v.onlyWithdraws(); only || err != nil {
			return gone, err
		}
	}
	return e, nil
}

// add adds the lines of a file that count.
func (e *evidence) add(path, said string, lines []codeLine) {
	if len(lines) > 0 {
		e.files = append(e.files, path)
	}
	for _, l := range lines {
		e.lines = append(e.lines, fmt.Sprintf("%s:%d: %s%s", path, l.number, said, shorten(l.shown)))
	}
}

// isWithin reports whether a sequence is what is left of another without some of its elements, by their keys.
func isWithin[T any](short, long []T, key func(T) string) bool {
	for _, one := range long {
		if len(short) > 0 && key(short[0]) == key(one) {
			short = short[1:]
		}
	}
	return len(short) == 0
}

// findLines looks for lines in the code directories of some trees: for what is left of a line there, and for all of it.
func findLines(known map[string]bool, trees ...*registry.Tree) error {
	b := budget{"the files under test-suite/ and reference/ of the base",
		"move what is not code out of test-suite/ and reference/", maxText, maxCode}
	seen := map[textKey]bool{}
	for _, t := range trees {
		for _, directory := range codeDirectories {
			err := t.WalkFolder(directory, func(p string, e registry.Entry) error {
				key := textKey{path.Ext(p), e.ID}
				if !isFile(&e) || seen[key] || len(known) == 0 {
					return nil
				}
				seen[key] = true
				lines, _, err := readCode(t, p, &e, &b)
				for _, line := range lines {
					for _, text := range []string{line.left, line.whole} {
						if _, is := known[text]; is {
							known[text] = true
						}
					}
				}
				return err
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
	fallen := 0
	for _, f := range files {
		if f.old.text == nil || f.new.path != "" && f.new.text == nil ||
			!isWithin(f.new.words(), f.old.words(), itself) ||
			!isWithin(f.new.keyWords(), f.old.keyWords(), itself) {
			return false, nil
		}
		fallen += len(f.old.keyWords()) - len(f.new.keyWords())
	}
	return fallen > 0, err
}

// words returns the words that a reader of a text sees.
func (s version) words() []string {
	if s.text == nil {
		return nil
	}
	return strings.FieldsFunc(s.text.Seen(), func(r rune) bool { return !isWord(r) })
}
