package governance

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/git/gitstore"
	"github.com/openagentprotocol-OAP/oap-gate/internal/governance/markdown"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// maxCode is how many bytes of the files under test-suite/ and reference/ are compared with what a view changes there.
const maxCode = 64 << 20

// codeDirectories are those whose code is evidence.
var codeDirectories = []string{"test-suite", "reference"}

// evidence is what a view changes under test-suite/ and reference/.
type evidence struct {
	files     []string   // that have a new line, or new bytes where code has no lines
	lines     int        // the new lines of these, each once
	withdrawn []string   // tests that a removed requirement takes along
	rejected  []string   // the others, each with the reason
	missing   int        // tests that levels.json newly names and that are not there
	at        verdict.At // the place of the change that lacks evidence
}

func (e *evidence) counts() bool { return len(e.files)+len(e.withdrawn) > 0 }

// String describes the evidence that counts.
func (e *evidence) String() string {
	switch {
	case len(e.files) == 0:
		return fmt.Sprintf("%s removed: %s", plain.Count(len(e.withdrawn), "test"), words(e.withdrawn))
	case e.lines == 0:
		return fmt.Sprintf("%s: %s", plain.Count(len(e.files), "file"), words(e.files))
	}
	return fmt.Sprintf("%s, %s: %s", plain.Count(len(e.files), "file"), plain.Count(e.lines, "new line"),
		words(e.files))
}

// words lists the first few paths, quoted if they have other than plain characters.
func words(paths []string) string {
	var out []string
	for _, p := range paths {
		out = append(out, plain.ShellWord(p))
	}
	return list(out)
}

// source is a changed path under test-suite/ or reference/.
type source struct {
	change registry.Change
	reason string // why it does not count; empty where its lines decide
	wasm   bool   // it has no lines
	whole  int    // the text without white space, by its number
	lines  []line // lines of the head, each once: those that are neither comments nor without a letter or digit
}

// line is a line of a source and the part before a comment at its end, both by their numbers; -1 means no such part.
type line struct{ text, before int }

// evidence looks for code that neither the base of the view nor the base that judges has.
func (v *View) evidence(judge *registry.Tree) (evidence, error) {
	var e evidence
	var sources []source
	old := seen{numbers: map[string]int{}, ids: map[gitstore.ID]bool{}}
	budget := maxTexts
	for _, c := range v.Changes {
		if !inCodeDirectory(c.Path) {
			continue
		}
		s, err := v.source(c, &old, &budget)
		if err != nil {
			return e, err
		}
		if c.Path == levelsPath {
			if e.missing, err = v.missingTests(&budget); err != nil {
				return e, err
			}
		}
		sources = append(sources, s)
	}
	if slices.ContainsFunc(sources, func(s source) bool { return s.reason == "" }) {
		if err := old.read(v.Base, judge); err != nil {
			return e, err
		}
	}
	counted := make([]bool, len(old.had))
	for i := range sources {
		s := &sources[i]
		fresh := s.reason == "" && s.wasm && !old.ids[s.change.Head.ID]
		if s.reason == "" && !s.wasm && !old.had[s.whole] {
			for _, l := range s.lines {
				if old.had[l.text] || l.before >= 0 && old.had[l.before] {
					continue
				}
				if fresh = true; !counted[l.text] {
					counted[l.text] = true
					e.lines++
				}
			}
		}
		switch {
		case fresh:
			e.files = append(e.files, s.change.Path)
		case s.reason == "":
			s.reason = "no new line"
		}
		if s.reason != "" {
			e.rejected = append(e.rejected, fmt.Sprintf("%q (%s)", s.change.Path, s.reason))
		}
	}
	var err error
	if len(e.files) == 0 && len(sources) > 0 {
		e.withdrawn, err = v.withdrawnTests(sources, &old, &budget)
	}
	return e, err
}

func inCodeDirectory(p string) bool {
	directory, _, deeper := strings.Cut(p, "/")
	return deeper && slices.Contains(codeDirectories, directory)
}

// source reads a changed path and numbers its lines.
func (v *View) source(c registry.Change, old *seen, budget *int) (source, error) {
	s := source{change: c}
	switch {
	case c.Head == nil:
		s.reason = "deleted"
		return s, nil
	case !isFile(c.Head):
		s.reason = "not a file"
		return s, nil
	case !mayBeCode(c.Path):
		s.reason = "no code"
		return s, nil
	}
	data, err := read(v.Head, c.Path, maxText, budget)
	if err != nil {
		return s, err
	}
	s.wasm = extension(c.Path) == ".wasm" && len(data) > 0
	switch {
	case !isCode(c.Path, data):
		s.reason = "no code"
	case s.wasm:
	case bytes.IndexByte(data[:min(len(data), sniffed)], 0) >= 0:
		s.reason = "binary"
	default:
		s.whole = old.number(appendVisible(nil, data))
		taken := map[int]bool{}
		for l := range codeLines(c.Path, data) {
			if l.comment || !l.says() {
				continue
			}
			if text := old.number(l.text); !taken[text] {
				taken[text] = true
				before := -1
				if l.before != nil {
					before = old.number(appendVisible(nil, l.before))
				}
				s.lines = append(s.lines, line{text, before})
			}
		}
	}
	return s, nil
}

// seen is what the directories of code had before a change, of what is asked for.
type seen struct {
	numbers map[string]int // of lines and of whole texts, without white space
	had     []bool         // by number: whether a file had it
	ids     map[gitstore.ID]bool
}

// number returns the number of a line or of a whole text, which read looks for.
func (s *seen) number(text []byte) int {
	n, known := s.numbers[string(text)]
	if !known {
		n = len(s.had)
		s.numbers[string(text)] = n
		s.had = append(s.had, false)
	}
	return n
}

func (s *seen) mark(text []byte) {
	if n, asked := s.numbers[string(text)]; asked {
		s.had[n] = true
	}
}

// read looks through the code directories of some trees.
func (s *seen) read(trees ...*registry.Tree) error {
	budget := maxCode
	var buffer []byte
	for _, t := range trees {
		for _, directory := range codeDirectories {
			err := t.WalkFolder(directory, func(p string, e registry.Entry) error {
				if !isFile(&e) || s.ids[e.ID] {
					return nil
				}
				s.ids[e.ID] = true
				data, err := read(t, p, maxText, &budget)
				switch {
				case errors.Is(err, gitstore.ErrTooLarge) && !mayBeCode(p):
					return nil
				case errors.Is(err, ErrLimit):
					return remedy.Errorf("move what is not code out of test-suite/ and reference/", "reading %q: %w: "+
						"test-suite/ and reference/ of the base have more than %d MiB", p, ErrLimit, maxCode>>20)
				case err != nil:
					return err
				}
				buffer = appendVisible(buffer[:0], data)
				s.mark(buffer)
				for l := range codeLines(p, data) {
					s.mark(l.text)
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

// codeLine is one line of a file.
type codeLine struct {
	text    []byte // without white space; valid until the next line
	before  []byte // the part before a comment at its end; may be nil
	comment bool
}

// says reports whether the line has a letter or a digit.
func (l codeLine) says() bool {
	return bytes.ContainsFunc(l.text, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) })
}

// codeLines yields the lines of a file. It recognizes a comment by the start of its line. The language of the file does
// not matter, except that JSON has no comments.
func codeLines(p string, data []byte) iter.Seq[codeLine] {
	comments := extension(p) != ".json"
	return func(yield func(codeLine) bool) {
		var text []byte
		first, block := true, false
		for raw := range bytes.FieldsFuncSeq(data, isLineEnd) {
			text = appendVisible(text[:0], raw)
			l := codeLine{text: text}
			if comments {
				if opens := bytes.HasPrefix(text, []byte("/*")); block || opens {
					l.comment = true
					rest := text
					if opens && !block {
						rest = text[len("/*"):]
					}
					block = !bytes.Contains(rest, []byte("*/"))
				} else if l.comment = isComment(text, first); !l.comment {
					l.before = beforeComment(raw)
				}
			}
			first = false
			if !yield(l) {
				return
			}
		}
	}
}

// isLineEnd reports whether r ends a line. It also returns true for characters that some languages do not end a line
// with: otherwise a file that uses them instead of line feeds would be one new line.
func isLineEnd(r rune) bool {
	return r == '\n' || r == '\r' || r == '\v' || r == '\f' || r == '\u0085' || r == '\u2028' || r == '\u2029'
}

// isComment reports whether a line without white space begins as a comment does. Among lines that begin with a number
// sign, the interpreter's line at the top of a file and the inclusion of another file are code.
func isComment(text []byte, first bool) bool {
	begins := func(prefix string) bool { return bytes.HasPrefix(text, []byte(prefix)) }
	if begins("#") {
		return !(first && begins("#!")) && !begins("#include<") && !begins(`#include"`)
	}
	return begins("//") || begins("--") || begins("*")
}

// beforeComment returns the part of a line before a blank and what may begin a comment, or nil. It does not decide
// whether that does begin one: a line is old only if the base has all of that part as a line.
func beforeComment(raw []byte) []byte {
	for i := 1; i < len(raw); i++ {
		if raw[i-1] != ' ' && raw[i-1] != '\t' {
			continue
		}
		for _, begin := range []string{"//", "/*", "#"} {
			if bytes.HasPrefix(raw[i:], []byte(begin)) {
				return raw[:i]
			}
		}
	}
	return nil
}

// appendVisible appends a text without white space and without characters that are not seen.
func appendVisible(to, text []byte) []byte {
	for len(text) > 0 {
		if c := text[0]; c < utf8.RuneSelf {
			if c > ' ' && c != '\x7f' {
				to = append(to, c)
			}
			text = text[1:]
			continue
		}
		r, n := utf8.DecodeRune(text)
		if !unicode.IsSpace(r) && !unicode.IsControl(r) && !unicode.In(r, unicode.Cf,
			unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) {
			to = append(to, text[:n]...)
		}
		text = text[n:]
	}
	return to
}

// Code is known by its name. JSON is code only under test-suite/, where the tests of schemas are documents.
var (
	codeExtensions = strings.Fields(".js .mjs .cjs .jsx .ts .mts .cts .tsx .py .go .rs .java .kt .swift .c .h .cc " +
		".cpp .hpp .cs .rb .php .sh .bash .ps1 .sql .wasm .lua .ex .exs .scala")
	configurations = strings.Fields("package.json package-lock.json npm-shrinkwrap.json composer.json deno.json " +
		"jsconfig.json pyrightconfig.json renovate.json vercel.json tsconfig*.json *.config.* setup.py")
)

// sniffed is how many bytes of a file are searched for a NUL.
const sniffed = 8000

func extension(p string) string { return strings.ToLower(path.Ext(p)) }

// mayBeCode reports whether a path is that of code, or has no extension, so that its first line decides.
func mayBeCode(p string) bool {
	p = strings.ToLower(p)
	if p == levelsPath || strings.HasPrefix(p, ".") || strings.Contains(p, "/.") ||
		slices.ContainsFunc(configurations, func(pattern string) bool {
			match, _ := path.Match(pattern, path.Base(p))
			return match
		}) {
		return false
	}
	ext := path.Ext(p)
	return ext == "" || slices.Contains(codeExtensions, ext) || ext == ".json" && strings.HasPrefix(p, "test-suite/")
}

// isCode is mayBeCode of a file that was read.
func isCode(p string, data []byte) bool {
	return mayBeCode(p) && (path.Ext(p) != "" || bytes.HasPrefix(data, []byte("#!")))
}

// withdrawnTests lists the tests that are deleted or shortened where the view only removes governed text: a rule that
// is withdrawn takes its test along. A test whose lines the view moves to another file is not one.
func (v *View) withdrawnTests(sources []source, old *seen, budget *int) ([]string, error) {
	if removed, err := v.onlyRemoves(); err != nil || removed == 0 {
		return nil, err
	}
	kept := make([]bool, len(old.had))
	for _, s := range sources {
		for _, l := range s.lines {
			kept[l.text] = true
		}
	}
	var out []string
	for _, s := range sources {
		c := s.change
		if !strings.HasPrefix(c.Path, "test-suite/") || !isFile(c.Base) || c.Head != nil && s.reason != "no new line" {
			continue
		}
		data, err := read(v.Base, c.Path, maxText, budget)
		if err != nil {
			return nil, err
		}
		if !isCode(c.Path, data) {
			continue
		}
		had, gone := map[int]bool{}, false
		for l := range codeLines(c.Path, data) {
			if !l.comment && l.says() {
				n, asked := old.numbers[string(l.text)]
				had[n] = had[n] || asked
				gone = gone || !asked || !kept[n]
			}
		}
		if gone && !slices.ContainsFunc(s.lines, func(l line) bool { return !had[l.text] }) {
			out = append(out, c.Path)
		}
	}
	return out, nil
}

// onlyRemoves counts the requirements that a view removes, 0 if it changes anything else that is normative.
func (v *View) onlyRemoves() (int, error) {
	d, err := v.difference()
	if err != nil {
		return 0, err
	}
	for _, c := range v.normative() {
		if !isText(c.Path) || c.Base != nil && !isFile(c.Base) || c.Head != nil && !isFile(c.Head) {
			return 0, nil
		}
	}
	count := 0
	for _, p := range d.pairs {
		removed, only := markdown.Removed(p.old, p.new)
		if !only {
			return 0, nil
		}
		count += removed
	}
	return count, nil
}

// carried describes what normative change the evidence of a view is for.
func (v *View) carried() (string, error) {
	d, err := v.difference()
	if err != nil {
		return "", err
	}
	requirements, schemas := len(d.changes), 0
	for _, c := range v.normative() {
		if isSchema(c.Path) {
			schemas++
		}
	}
	var parts []string
	if requirements > 0 {
		parts = append(parts, plain.Count(requirements, "requirement"))
	}
	if schemas > 0 {
		parts = append(parts, plain.Count(schemas, "schema"))
	}
	out := cmp.Or(strings.Join(parts, " and "), "no requirement") + " changed"
	if others := len(d.why) - len(d.changes); others > 0 { // a Status, a file that is not text
		out += ", " + plain.Count(others, "other normative change")
	}
	return out, nil
}

const levelsPath = "test-suite/levels/levels.json"

// missingTests counts the tests that levels.json newly names and that are not there.
func (v *View) missingTests(budget *int) (int, error) {
	old, err := levelPairs(v.Base, budget)
	if err != nil {
		return 0, err
	}
	new, err := levelPairs(v.Head, budget)
	if err != nil {
		return 0, err
	}
	known, missing := map[[2]string]bool{}, map[string]bool{}
	for _, pair := range old {
		known[pair] = true
	}
	for _, pair := range new {
		if known[pair] {
			continue
		}
		there := false
		if test := "test-suite/" + pair[1]; fs.ValidPath(test) {
			e, err := v.Head.Leaf(test)
			if err != nil {
				return 0, err
			}
			there = isFile(e)
		}
		if !there {
			missing[pair[1]] = true
		}
	}
	return len(missing), nil
}

// levelPairs returns the pairs of level and test that levels.json of a tree names, or nil if it cannot be read.
func levelPairs(t *registry.Tree, budget *int) ([][2]string, error) {
	e, err := t.Leaf(levelsPath)
	if err != nil || !isFile(e) {
		return nil, err
	}
	data, err := read(t, levelsPath, maxText, budget)
	if err != nil {
		return nil, err
	}
	doc, err := strict.Parse(levelsPath, data, strict.Limits{Bytes: maxText, Depth: 64, Number: 64, Values: 1 << 18})
	if err != nil {
		return nil, nil // not what a level is read from
	}
	var out [][2]string
	levels, _ := strict.Member(doc.Root, "levels").(map[string]any)
	for level, tests := range levels {
		tests, _ := tests.([]any)
		for _, test := range tests {
			if test, ok := test.(string); ok {
				out = append(out, [2]string{level, test})
			}
		}
	}
	return out, nil
}
