package governance

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/governance/markdown"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// right is a word of a user's right: RFC 0019 section 5, RFC 0016 section 4 and the words for it in OAP-CORE.
var right = plain.Pattern(`(?i)\b(?:identit(?:y|ies)|memor(?:y|ies)|reputations?|projections?|personas?|` +
	`cooling off|cool off|escalat\w*|delet\w*|replaceab\w*|plural\w*|` +
	`explanations?|explain\w*|optimi[sz]\w*|personali[sz]\w*|human (?:path|being|contact|operator)s?|disappear\w*|` +
	`forgotten|eras(?:e|ure)\w*|charter|rfc 0*1[678])\b`)

// rightStems are in every text that right matches, in small letters.
var rightStems = strings.Fields("identit memor reputation projection persona cool escalat delet replaceab plural " +
	"expla optimi human disappear forgotten eras charter rfc")

// ofRight returns the word of a right that a text or a name has, or a word that mixes scripts and may look like one;
// empty if it has none. Hyphens, strokes, dots, low lines, digits and capitals within a name part words.
func ofRight(text string) string {
	text, disguised := markdown.Plain(strings.ReplaceAll(text, "*", ""))
	if disguised != "" {
		return disguised
	}
	lower := strings.ToLower(text)
	if !slices.ContainsFunc(rightStems, func(stem string) bool { return strings.Contains(lower, stem) }) {
		return ""
	}
	var out strings.Builder
	last := ' '
	runes := []rune(text)
	for i, r := range runes {
		switch {
		case strings.ContainsRune("_-/.", r):
			r = ' '
		case unicode.IsUpper(r) && (unicode.IsLower(last) || unicode.IsUpper(last) && i+1 < len(runes) &&
			unicode.IsLower(runes[i+1])),
			unicode.IsDigit(r) && unicode.IsLetter(last), unicode.IsLetter(r) && unicode.IsDigit(last):
			out.WriteByte(' ')
		}
		out.WriteRune(r)
		last = r
	}
	return right().FindString(strings.Join(strings.Fields(out.String()), " "))
}

// trigger is why a change touches a user's right.
type trigger struct {
	kind string // path, text, heading, name, affects, property, label
	text string // what has the word
	at   verdict.At
}

func (t trigger) String() string {
	if t.kind == "label" {
		return fmt.Sprintf("label %q", t.text)
	}
	place := plain.ShellWord(t.at.Path)
	if t.at.Line > 0 {
		place += ":" + strconv.Itoa(t.at.Line)
	}
	return fmt.Sprintf("%s %q (%s)", t.kind, shorten(t.text), place)
}

// triggers collects those of all views, each once.
type triggers struct {
	all  []trigger
	seen map[trigger]bool
}

func (t *triggers) add(kind, text string, at verdict.At) {
	one := trigger{kind, text, at}
	if t.seen == nil {
		t.seen = map[trigger]bool{}
	}
	if !t.seen[one] {
		t.seen[one] = true
		t.all = append(t.all, one)
	}
}

// kinds counts the triggers by kind, in the order in which the kinds come.
func (t *triggers) kinds() string {
	var kinds []string
	count := map[string]int{}
	for _, one := range t.all {
		if count[one.kind]++; count[one.kind] == 1 {
			kinds = append(kinds, one.kind)
		}
	}
	for i, kind := range kinds {
		kinds[i] = fmt.Sprintf("%s %d", kind, count[kind])
	}
	return strings.Join(kinds, ", ")
}

// String shows the first triggers, the first of each kind before others.
func (t *triggers) String() string {
	var first, more []string
	seen := map[string]bool{}
	for _, one := range t.all {
		if !seen[one.kind] {
			seen[one.kind] = true
			first = append(first, one.String())
		} else if len(more) < maxSentences {
			more = append(more, one.String())
		}
	}
	shown := append(first, more...)
	return fmt.Sprintf("the change touches user rights (%s): %s", t.kinds(),
		strings.Join(shown[:min(len(shown), maxSentences)], "; "))
}

func isCharterPath(path string) bool {
	return slices.ContainsFunc([]string{"rfcs/rfc-0016-", "rfcs/rfc-0017-", "rfcs/rfc-0018-", "test-suite/charter/"},
		func(begin string) bool { return strings.HasPrefix(strings.ToLower(path), begin) })
}

// touchesRights returns why a proposal touches user rights. It warns of a change of a charter's front matter only.
func (p *Proposal) touchesRights(out *verdict.Outcome) (*triggers, error) {
	t := &triggers{}
	for _, v := range p.Views {
		texts, err := v.revisions()
		if err != nil {
			return nil, err
		}
		front := map[string]bool{} // paths of which only the front matter differs
		for _, pair := range texts {
			front[pair.path()] = pair.frontMatterOnly()
		}
		for _, c := range v.Changes {
			switch {
			case !isCharterPath(c.Path):
			case front[c.Path]:
				out.Warnf(file(c.Path), "", "front-matter-only", "only lines before the first section of %s differ, "+
					"and no requirement: the change does not touch user rights", plain.ShellWord(c.Path)).
					WithFix("look at the lines: a program cannot see what they mean")
			default:
				at, err := v.firstChange(c)
				if err != nil {
					return nil, err
				}
				t.add("path", c.Path, at)
			}
		}
		names, err := v.rightRFCs()
		if err != nil {
			return nil, err
		}
		for _, pair := range texts {
			if err := pair.touches(t, names); err != nil {
				return nil, err
			}
		}
		if err := v.properties(t); err != nil {
			return nil, err
		}
	}
	var at verdict.At
	for _, v := range p.Views {
		if n := v.normative(); at.Path == "" && len(n) > 0 {
			at.Path = n[0].Path
		}
	}
	if label := p.charterLabel(out, at, len(t.all) > 0); label != "" {
		t.add("label", label, at)
	}
	return t, nil
}

// revision is a normative text that differs, as it was and as it becomes. A side that is not there is empty.
type revision struct {
	view     *View
	change   registry.Change // change with the new text, or the old one if it is deleted
	old, new *draft
}

// draft is one side of a revision.
type draft struct {
	path     string
	text     string
	document *markdown.Document
}

// path returns the path at which the text is, or was.
func (p *revision) path() string { return cmp.Or(p.new.path, p.old.path) }

// revisions returns the normative texts of a view that differ, in path order. A deleted and an added text of one
// directory are one if their names without digits are equal, or their Status and their requirements.
func (v *View) revisions() ([]*revision, error) {
	if v.revised != nil {
		return v.revised, nil
	}
	budget := maxTexts
	var deleted []*revision
	v.revised = []*revision{}
	for _, c := range v.normative() {
		if isJSON(c.Path) && inVersion(strings.ToLower(c.Path), "schemas/") {
			continue
		}
		old, err := v.readDraft(v.Base, c.Path, c.Base, &budget)
		if err != nil {
			return nil, err
		}
		new, err := v.readDraft(v.Head, c.Path, c.Head, &budget)
		if err != nil {
			return nil, err
		}
		pair := &revision{v, c, old, new}
		v.revised = append(v.revised, pair)
		if new.path == "" {
			deleted = append(deleted, pair)
		}
	}
	taken := map[*revision]bool{}
	for _, pair := range v.revised {
		if pair.old.path != "" {
			continue
		}
		for _, was := range deleted {
			if !taken[was] && pair.new.replaces(was.old) {
				taken[was] = true
				pair.old = was.old
				break
			}
		}
	}
	v.revised = slices.DeleteFunc(v.revised, func(p *revision) bool { return taken[p] })
	return v.revised, nil
}

// replaces reports whether an added text takes the place of a deleted one.
func (d *draft) replaces(old *draft) bool {
	if path.Dir(old.path) != path.Dir(d.path) {
		return false
	}
	undigited := func(p string) string {
		return strings.Map(func(r rune) rune {
			if unicode.IsDigit(r) {
				return -1
			}
			return r
		}, p)
	}
	return undigited(old.path) == undigited(d.path) || old.document.Requirements() == d.document.Requirements()
}

// readDraft reads one side of a text. What is not UTF-8 is read without the bytes that are not, and without NULs: the
// letters of UTF-16 are then legible.
func (v *View) readDraft(t *registry.Tree, path string, e *registry.Entry, budget *int) (*draft, error) {
	if !isFile(e) {
		return &draft{document: nothing}, nil
	}
	data, err := read(t, path, maxText, budget)
	if err != nil {
		return nil, err
	}
	d, err := v.document(t, path, e, budget)
	if err != nil {
		return nil, err
	}
	text := string(data)
	if d == nil {
		text = strings.ReplaceAll(strings.ToValidUTF8(text, ""), "\x00", "")
		if d, err = markdown.Read(text); err != nil {
			return nil, remedy.Errorf("split the text into several files", "reading %q: %w", path, err)
		}
	}
	return &draft{path, text, d}, nil
}

// frontMatterOnly reports whether a text differs before its first section only, in no Status and in no requirement.
func (p *revision) frontMatterOnly() bool {
	if p.old.path != p.new.path {
		return false
	}
	old, new := body(p.old.text), body(p.new.text)
	return old != "" && old == new && p.old.document.Requirements() == p.new.document.Requirements()
}

// body returns a text from its first section on.
func body(text string) string {
	at := strings.Index("\n"+text, "\n## ")
	if at < 0 {
		return ""
	}
	return text[at:]
}

// touches adds the triggers of a text.
func (p *revision) touches(t *triggers, names map[int]bool) error {
	// What is gone has no line in the new text.
	gone, err := p.view.firstChange(p.change)
	if err != nil {
		return err
	}
	texts := map[*markdown.Block]string{} // with a word of a right, else empty
	ofBlock := func(d *draft, b *markdown.Block) string {
		text, known := texts[b]
		if !known {
			if text = d.document.Text(b); ofRight(text) == "" {
				text = ""
			}
			texts[b] = text
		}
		return text
	}
	add := func(d *draft, b *markdown.Block, at verdict.At) {
		if text := ofBlock(d, b); text != "" {
			t.add("text", text, at)
		}
		for above := b.Above; b.Governed && above != nil; above = above.Above {
			if text := ofBlock(d, above); text != "" {
				t.add("heading", text, at)
			}
		}
	}
	place := func(b *markdown.Block) verdict.At { return verdict.At{Path: p.new.path, Line: b.Line} }
	changes, _ := markdown.Compare(p.old.document, p.new.document, markdown.Tree{})
	for _, c := range changes {
		at := gone
		if c.New != nil {
			at = place(c.New)
			add(p.new, c.New, at)
		}
		if c.Old != nil {
			add(p.old, c.Old, at)
		}
	}
	come, went := p.passages()
	for _, b := range come {
		add(p.new, b.Block, place(b.Block))
	}
	for _, b := range went {
		add(p.old, b.Block, gone)
	}
	if name := path.Base(p.path()); ofRight(name) != "" &&
		p.old.document.Requirements() != p.new.document.Requirements() {
		t.add("name", name, gone)
	}
	p.affects(t, names, gone)
	return nil
}

// unspecified are words of headings below which a text specifies nothing.
var unspecified = plain.Pattern(`(?i)\b(?:References|Acknowledge?ments|Motivation|Alternatives)\b`)

// passage is a block with the text by which it is compared.
type passage struct {
	*markdown.Block
	text string
}

func (p passage) key() string { return p.text }

// passages returns the blocks that specify something and that only the new text, or only the old one has. The words are
// read only of those whose lines differ.
func (p *revision) passages() (come, gone []passage) {
	old, new := p.old.specifies(), p.new.specifies()
	come, gone = without(new, old), without(old, new)
	if len(come) == 0 || len(gone) == 0 {
		return come, gone
	}
	for i, b := range come {
		come[i].text = p.new.document.Text(b.Block)
	}
	for i, b := range gone {
		gone[i].text = p.old.document.Text(b.Block)
	}
	return without(come, gone), without(gone, come)
}

// specifies returns the requirements of a text, and its paragraphs and items from the first section on that are not
// under a heading with a word of unspecified, each with its lines.
func (d *draft) specifies() []passage {
	var out []passage
	began := false
	silent := map[*markdown.Block]bool{nil: false} // headings under which nothing is specified
	for _, b := range d.document.Blocks {
		began = began || b.Kind == markdown.Heading && b.Level >= 2
		if b.Kind == markdown.Heading {
			silent[b] = silent[b.Above] || unspecified().MatchString(d.document.Text(b))
		}
		isText := b.Kind == markdown.Paragraph || b.Kind == markdown.Item || b.Kind == markdown.Later
		if b.Governed || began && isText && !silent[b.Above] {
			out = append(out, passage{b, b.Source()})
		}
	}
	return out
}

var (
	affecting = plain.Pattern(
		`(?i)^[\s*_>|#+-]*(?:Affects|Extends|Updates|Amends|Supersedes|Obsoletes|Replaces|Deprecates|Targets)\b`)
	rfcNumbers = plain.Pattern(`[0-9]+`)
	rfcName    = plain.Pattern(`(?i)\bRFC`)
)

// claimLine is a line that says which text this one affects.
type claimLine struct {
	number int
	text   string
}

func (l claimLine) key() string { return l.text }

func (d *draft) claimLines() (out []claimLine) {
	n := 0
	for l := range strings.Lines(d.text) {
		n++
		// The pattern is slow on lines that begin otherwise, which most do.
		first := strings.TrimLeft(l, " \t\r\n\f*_>|#+-")
		if first != "" && (first[0] >= utf8.RuneSelf || strings.IndexByte("AEUSORDTaeusordt", first[0]) >= 0) &&
			affecting().MatchString(l) {
			out = append(out, claimLine{n, strings.Join(strings.Fields(l), " ")})
		}
	}
	return out
}

// affects adds the lines that differ and say that this text affects one of rights.
func (p *revision) affects(t *triggers, names map[int]bool, gone verdict.At) {
	named := func(text string) bool {
		return ofRight(text) != "" || rfcName().MatchString(text) &&
			slices.ContainsFunc(rfcNumbers().FindAllString(text, -1), func(digits string) bool {
				n, err := strconv.Atoi(digits)
				return err == nil && (16 <= n && n <= 18 || names[n])
			})
	}
	add := func(l claimLine, at verdict.At) {
		if named(l.text) || named(plainText(l.text)) {
			t.add("affects", l.text, at)
		}
	}
	old, new := p.old.claimLines(), p.new.claimLines()
	for _, l := range without(new, old) {
		add(l, verdict.At{Path: p.new.path, Line: l.number})
	}
	for _, l := range without(old, new) {
		add(l, gone)
	}
}

// rightRFCs returns the numbers of the RFCs of both trees whose file name has a word of a right.
func (v *View) rightRFCs() (map[int]bool, error) {
	out := map[int]bool{}
	for _, tree := range []*registry.Tree{v.Base, v.Head} {
		err := tree.WalkFolder("rfcs", func(p string, _ registry.Entry) error {
			// Without the number: affects knows RFC 0016 to 0018 by theirs.
			if m := rfcNumber().FindStringSubmatch(p); m != nil && ofRight(p[len(m[0]):]) != "" {
				if n, err := strconv.Atoi(m[1]); err == nil {
					out[n] = true
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// properties adds the fields of schemas that come or go and have a word of a right.
func (v *View) properties(t *triggers) error {
	for _, c := range v.Changes {
		if !isSchema(c.Path) {
			continue
		}
		s, err := v.comparesSchemas()
		if err != nil {
			return err
		}
		old, new := fields(v.texts, s.base, c.Path), fields(v.texts, s.head, c.Path)
		document, _ := v.texts.document(s.head, c.Path)
		for _, pointer := range slices.Sorted(maps.Keys(new)) {
			if _, had := old[pointer]; !had && ofRight(new[pointer]) != "" {
				t.add("property", new[pointer], verdict.At(document.Pos(pointer)))
			}
		}
		for _, pointer := range slices.Sorted(maps.Keys(old)) {
			if _, has := new[pointer]; !has && ofRight(old[pointer]) != "" {
				at, err := v.firstChange(c)
				if err != nil {
					return err
				}
				t.add("property", old[pointer], at)
			}
		}
	}
	return nil
}

// fields returns the names of the fields of a schema by pointer, none if it is not there or cannot be read.
func fields(x *Texts, s *schemaSet, path string) map[string]string {
	out := map[string]string{}
	document, _ := x.document(s, path)
	if document == nil {
		return out
	}
	var walk func(v any, at string)
	walk = func(v any, at string) {
		switch v := v.(type) {
		case map[string]any:
			for name, below := range v {
				pointer := at + "/" + strict.Escape(name)
				if named, ok := below.(map[string]any); ok && (name == "properties" || name == "patternProperties") {
					for field := range named {
						out[pointer+"/"+strict.Escape(field)] = field
					}
				}
				walk(below, pointer)
			}
		case []any:
			for i, item := range v {
				walk(item, at+"/"+strconv.Itoa(i))
			}
		}
	}
	walk(document.Root, "")
	return out
}
