// Package prose checks the texts that people read: comments, catalogues, messages, help, documents and workflows.
//
//	go test ./internal/test/prose
//
// prints what is not plain English, each with what to write instead.
package prose

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"regexp/syntax"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"unicode"

	"golang.org/x/sync/errgroup"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

// expressions find what is not plain English, each with what to write. A space stands for itself: a text is one line.
var expressions = []struct{ find, write string }{
	{`\b(tells|told)\b`, "prints, reports, says"},
	{`\b(stands|stood)\b`, "is, appears, remains"},
	{`\b(is|are|was|were) none\b`, "is not a X, there is no X"},
	{`\b(holds?|held) (that|[a-z]+ (to|against))\b`, "requires, checks that, checks X against Y"},
	{`\b(whoever|whom|whomever)\b`, "anyone who, the user"},
	{`\bin (the |its )?place of\b`, "instead of, replaces"},
	{`\b(beside|anew|likewise|for ever)\b`, "next to, in addition to, again, also, permanently"},
	{`\bmend(s|ed|ing)?\b`, "fix"},
	{`\b(is|be|are|been) had\b`, "is available, could not be fetched"},
	{`\b(but for|nothing but|but by|but as)\b`, "except, only"},
	{`(^|\S+ )(is|are|was|were) no [a-z]+`, "is not a X, has no X"},
	{`\b(bears?( it| the [a-z]+)? out|goes on|go on|went on|(takes?|taken|took)( it| them)? away|(is|are) over)\b`,
		"supports, continues, removes, has expired"},
	{`(?m)(^|[.;:] )(Of (a|an|the|each|any|what|several|one|all|those)|By (a|the|what) [a-z]+ alone|` +
		`What [a-z]+ [a-z]+,|Who )`, "a sentence that starts with its subject"},
	{`(, be it|\blest\b|nor yet|thereof|therein|\bhence\b)`, "whether, so that, also, of it, in it, so"},
	{`\b(is|are|was|were) (passed over|held against)\b`, "is skipped, is compared with"},
	{`\b(let|lets) go\b`, "releases"},
	{`\bsome [0-9]`, "about"},
	{`, (([^,;:]|%[a-z])+ (is|are) needed$|want ([a-z0-9%]|$))`, "; expected X"},
	{`\bwants (a|an|one|two|either|the|at)\b`, "requires"},
}

// An exception is a hit that stays, in one file.
type exception struct{ file, words, reason string }

var exceptions = []exception{
	{"checks/subject.go", "Stood", "the name of an exported field"},
	{"internal/conformance/oasis/checks.go", ", %s is needed", "the two ends of a gap, as its rule words them"},
	{"docs/mirror.md", "What to do,", "the heading that operators look for"},
	{"docs/governance.md", "goes on", "the words of a message"},
	{"internal/governance/page/said.go", "goes on", "the words that the page of the gates gives for this place"},
}

const (
	maxExceptions = 20
	maxOpenings   = 3  // percent of the func comments begin "Name is the"
	maxWords      = 30 // of a sentence in a document, a message, a fix or a reason
	maxOpening    = 25 // words of the first sentence of a package comment
)

// A hit is a place in a text that a rule does not allow.
type hit struct {
	place, rule, file string
	line              int
	words, write      string
}

// row returns the place and the rule, by which hits are grouped.
func (h hit) row() string { return h.place + " " + h.rule }

func (h hit) String() string {
	return fmt.Sprintf("%s:%d: %q: write %q", h.file, h.line, h.words, h.write)
}

// hits returns the hits of all rules.
func (t *text) hits() []hit { return slices.Concat(t.wordHits(), t.openingHits(), t.lengthHits()) }

// A finder finds an expression. A text without one of its literals, in lower case, has no match; nil is any text.
type finder struct {
	*regexp.Regexp
	literals []string
}

var finders = func() (all []finder) {
	for _, e := range expressions {
		find := "(?i)" + e.find
		tree, _ := syntax.Parse(find, syntax.Perl)
		all = append(all, finder{regexp.MustCompile(find), literals(tree)})
	}
	return all
}()

// literals returns a list of texts in lower case. Each match of the expression contains at least one of them. It
// returns nil if it finds no such list, and of several lists the one whose shortest text is the longest.
func literals(x *syntax.Regexp) (all []string) {
	switch x.Op {
	case syntax.OpLiteral:
		return []string{strings.ToLower(string(x.Rune))}
	case syntax.OpCapture, syntax.OpPlus:
		return literals(x.Sub[0])
	case syntax.OpConcat:
		shortest := func(all []string) (n int) {
			for i, s := range all {
				if i == 0 || len(s) < n {
					n = len(s)
				}
			}
			return n
		}
		for _, sub := range x.Sub {
			if of := literals(sub); shortest(of) > shortest(all) {
				all = of
			}
		}
	case syntax.OpAlternate:
		for _, sub := range x.Sub {
			of := literals(sub)
			if of == nil {
				return nil
			}
			all = append(all, of...)
		}
	}
	return all
}

// may reports whether the expression may match a text, which is given in lower case.
func (f finder) may(lower string) bool {
	within := func(literal string) bool { return strings.Contains(lower, literal) }
	return f.literals == nil || slices.ContainsFunc(f.literals, within)
}

// negates matches what RE2 cannot leave out of the expression for "is no X".
var negates = regexp.MustCompile(`(?i)^there | no (longer|more)$`)

// wordHits returns the hits of the expressions.
func (t *text) wordHits() (hits []hit) {
	lower := strings.ToLower(t.words)
	for i, find := range finders {
		if !find.may(lower) {
			continue
		}
		for _, at := range find.FindAllStringIndex(t.words, -1) {
			words := strings.TrimLeft(t.words[at[0]:at[1]], ".;: ")
			if !negates.MatchString(words) {
				hits = append(hits, t.hit("words", at[1]-len(words), words, expressions[i].write))
			}
		}
	}
	return hits
}

func (t *text) hit(rule string, at int, words, write string) hit {
	return hit{t.place(), rule, t.file, int(t.lines[at]), words, write}
}

var (
	isThe = regexp.MustCompile(`^\w+ (is|are) (the|an?|th(is|at|ese|ose)|one|all|each|every|any|some|no|none|both|its?|` +
		`what|whether|how|who|whom|where|when|which|as)\b`)
	name     = regexp.MustCompile(`^[\pL\pN_-]+((, [\pL\pN_]+)*,? (and|or) [\pL\pN_]+)?`)
	sentence = regexp.MustCompile(`[.!?]["')]* `)
)

// openingHits returns a hit if a comment that documents a declaration does not begin as it should.
func (t *text) openingHits() []hit {
	opening := t.words[:min(len(t.words), 60)]
	switch t.kind {
	case funcDoc, exportedDoc:
		if isThe.MatchString(t.words) {
			return []hit{t.hit(string(t.kind), 0, opening, "Name returns, Name reports whether, Name VERBs")}
		}
		if t.kind == exportedDoc && !startsWithVerb(t.words) {
			return []hit{t.hit(string(t.kind), 0, opening, "Name VERBs")}
		}
	case overview:
		first := t.sentences()[0]
		after, ok := strings.CutPrefix(first.words, "Package ")
		if !ok {
			after, ok = strings.CutPrefix(first.words, "Command ")
		}
		if !ok || !startsWithVerb(after) || len(strings.Fields(first.words)) > maxOpening {
			return []hit{t.hit(string(t.kind), 0, opening,
				fmt.Sprintf("Package x VERBs, in at most %d words", maxOpening))}
		}
	}
	return nil
}

// startsWithVerb reports whether a comment begins with a name and a verb in the present tense.
func startsWithVerb(words string) bool {
	names := name.FindString(words)
	verb, _, _ := strings.Cut(strings.TrimPrefix(words[len(names):], " "), " ")
	verb = strings.TrimRight(verb, ".,:;")
	switch {
	case names == "":
		return false
	case slices.Contains([]string{"can", "cannot", "may", "must", "should", "will", "never", "also", "only"}, verb):
		return true
	case strings.Contains(names, " "): // the verb is a plural
		return verb != "" && strings.ToLower(verb) == verb
	}
	return strings.HasSuffix(verb, "s") && strings.ToLower(verb) == verb && !slices.Contains(
		[]string{"as", "this", "its", "whose", "us", "thus", "plus", "less", "is"}, verb)
}

// sentences splits a text.
func (t *text) sentences() (all []text) {
	from := 0
	for _, at := range sentence.FindAllStringIndex(t.words, -1) {
		next := []rune(t.words[at[1]:])
		if len(next) > 0 && unicode.IsLower(next[0]) { // an abbreviation
			continue
		}
		all = append(all, t.sub(from, at[1]-1))
		from = at[1]
	}
	return append(all, t.sub(from, len(t.words)))
}

// lengthHits returns the sentences that are too long.
func (t *text) lengthHits() (hits []hit) {
	if t.kind != document && t.kind != message {
		return nil
	}
	for _, s := range t.sentences() {
		if n := len(strings.Fields(s.words)); n > maxWords {
			hits = append(hits, s.hit("sentences", 0, s.words[:min(len(s.words), 60)],
				fmt.Sprintf("at most %d words, it has %d", maxWords, n)))
		}
	}
	return hits
}

// TestProse checks all texts of the tree.
func TestProse(t *testing.T) {
	hits, funcs := treeHits(t)
	found := map[string][]hit{}
	for _, h := range hits {
		found[h.row()] = append(found[h.row()], h)
	}
	for row, of := range found {
		if of[0].rule == string(funcDoc) && openings(found)*100 <= funcs*maxOpenings {
			continue
		}
		t.Errorf("%s: %d hits:\n%s", row, len(of), lines(of))
	}
}

// treeHits returns all hits but the exceptions, and the number of func comments.
func treeHits(t *testing.T) (hits []hit, funcs int) {
	t.Helper()
	if len(exceptions) > maxExceptions {
		t.Errorf("%d exceptions; expected at most %d", len(exceptions), maxExceptions)
	}
	used := make([]bool, len(exceptions))
	for _, one := range readTree(t, "../../..") {
		if one.kind == funcDoc || one.kind == exportedDoc {
			funcs++
		}
		for _, h := range one.hits() {
			i := slices.IndexFunc(exceptions, func(e exception) bool { return e.file == h.file && e.words == h.words })
			if i >= 0 {
				used[i] = true
				continue
			}
			hits = append(hits, h)
		}
	}
	for i, e := range exceptions {
		if !used[i] || e.reason == "" {
			t.Errorf("the exception %q of %s is not used or has no reason: remove it", e.words, e.file)
		}
	}
	return hits, funcs
}

// openings returns how many func comments of unexported functions do not begin as they should.
func openings(found map[string][]hit) (n int) {
	for row, of := range found {
		if strings.HasSuffix(row, " "+string(funcDoc)) {
			n += len(of)
		}
	}
	return n
}

func lines(of []hit) string {
	var b strings.Builder
	for _, h := range of {
		fmt.Fprintln(&b, h)
	}
	return b.String()
}

// TestRewrites checks that the old texts are found, as far as the rules can see them, and that no new text is.
func TestRewrites(t *testing.T) {
	text := must.Read(t, "testdata/rewrites.txt")
	rows := strings.Split(strings.TrimSpace(string(text)), "\n\n")
	if len(rows) != 47 {
		t.Errorf("%d rewrites; expected 47", len(rows))
	}
	for _, row := range rows {
		parts := strings.Split(row, "\n")
		if len(parts) != 3 {
			t.Fatalf("%q is not KIND, the old text, the new text", row)
		}
		kinds, seen := strings.CutSuffix(parts[0], " found")
		if hits := of(kinds, parts[1]); (len(hits) > 0) != seen {
			t.Errorf("%s %q: found %v", kinds, parts[1], hits)
		}
		if hits := of(kinds, parts[2]); len(hits) > 0 {
			t.Errorf("%s %q: found %v", kinds, parts[2], hits)
		}
	}
}

// TestPlaces checks that each kind of file is read, that a hit has its line, and that code and quotations are skipped.
func TestPlaces(t *testing.T) {
	goFile := `// Package p does it.
package p

//go:generate whoever
// F checks it in
// place of G.
//
//	whoever // code
func F() {
	_ = errorf("the file %q is "+
		"none", "whoever", "\"who stands\" here", "the flag "+x+" is no level")
}

type T struct {
	A string ` + "`json:\"whoever is it\" jsonschema_description:\"it tells all\"`" + ` // mended
}
`
	markdown := "# Who stands\n\ntext `told` and \"it told\" goes\non.\n\n    whoever\n\n```\nwhoever\n```\n" +
		"\n> whoever\n\n| a | told |\n|---|---|\n| b | of [whom](told.md) |\n\n<!-- checks: -update -->\ntold\n" +
		"<!-- end of checks -->\n- holds it to that\n"
	yml := "name: told\n# runs in\n# place of it\nwith: # anew\n  description: >-\n    what is\n    over\n"
	of := func(texts []text, err error) (found []string) {
		must.OK(t, err)
		for _, one := range texts {
			for _, h := range one.hits() {
				found = append(found, fmt.Sprintf("%d %s", h.line, h.words))
			}
		}
		slices.Sort(found)
		return found
	}
	for _, c := range []struct {
		name      string
		got, want []string
	}{
		{"go", of(readGo("p.go", []byte(goFile), true)),
			[]string{"10 is none", "11 %s is no level", "15 mended", "15 tells", "5 in place of"}},
		{"markdown", of(readMarkdown("p.md", []byte(markdown)), nil),
			[]string{"1 Who ", "1 stands", "14 told", "16 whom", "21 holds it to", "3 goes on"}},
		{"yaml", of(readYAML("p.yml", []byte(yml))), []string{"2 in place of", "4 anew", "5 is over"}},
	} {
		if !slices.Equal(c.got, c.want) {
			t.Errorf("%s: got %q, want %q", c.name, c.got, c.want)
		}
	}
}

// TestGoodSentences checks that plain English passes, also where it comes near to an expression.
func TestGoodSentences(t *testing.T) {
	text := must.Read(t, "testdata/good.txt")
	sentences := strings.Split(strings.TrimSpace(string(text)), "\n")
	if len(sentences) < 40 {
		t.Errorf("%d sentences; expected at least 40", len(sentences))
	}
	for _, s := range sentences {
		if hits := of("docs", s); len(hits) > 0 {
			t.Errorf("%q: found %v", s, hits)
		}
	}
}

// of returns the hits in a text of a kind of style.
func of(kinds, words string) (hits []hit) {
	k := message
	switch kinds {
	case "func":
		k = exportedDoc
	case "package":
		k = overview
	case "field", "type":
		k = comment
	case "docs":
		k = document
	}
	t := text{file: "x.go", kind: k}
	t.add(words, 1)
	for _, p := range t.paragraphs() {
		p.kind = k
		hits = append(hits, p.hits()...)
	}
	return hits
}

// TestGoroot checks that the expressions are fair to good English: the comments of Go's own packages.
func TestGoroot(t *testing.T) {
	root, err := exec.CommandContext(t.Context(), "go", "env", "GOROOT").Output()
	if err != nil {
		t.Skipf("SKIPPED: go does not name its directory: %v", err)
	}
	var words, hits, funcs, opened atomic.Int64
	var work errgroup.Group
	work.SetLimit(runtime.NumCPU())
	for _, dir := range []string{"net", "crypto", "encoding", "go", "text", "archive", "os", "io"} {
		base := filepath.Join(strings.TrimSpace(string(root)), "src", dir)
		err := filepath.WalkDir(base, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				if d != nil && d.Name() == "testdata" {
					return fs.SkipDir
				}
				return err
			}
			if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return nil
			}
			work.Go(func() error {
				source, err := os.ReadFile(path)
				if err != nil {
					return err
				}
				texts, err := readGo(path, source, false)
				for _, one := range texts {
					words.Add(int64(len(strings.Fields(one.words))))
					hits.Add(int64(len(one.wordHits())))
					if one.kind == funcDoc || one.kind == exportedDoc {
						funcs.Add(1)
						if isThe.MatchString(one.words) {
							opened.Add(1)
						}
					}
				}
				return err
			})
			return nil
		})
		must.OK(t, err)
	}
	must.OK(t, work.Wait())
	if words.Load() < 300_000 {
		t.Fatalf("only %d words were read", words.Load())
	}
	rate := float64(hits.Load()) * 1000 / float64(words.Load())
	t.Logf("%d hits in %d words, %.2f per 1,000; %d of %d func comments begin with Name is the", hits.Load(),
		words.Load(), rate, opened.Load(), funcs.Load())
	if rate > 0.25 {
		t.Errorf("%.2f hits per 1,000 words of Go's own comments; expected at most 0.25", rate)
	}
}
