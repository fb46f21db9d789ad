package governance

import (
	"bytes"
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/git/gitstore"
	"github.com/openagentprotocol-OAP/oap-gate/internal/governance/markdown"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// textPair is a text before and after a change. A text that one of the trees lacks is empty there.
type textPair struct {
	oldPath, path string // equal unless the text is renamed
	old, new      *markdown.Document
}

// difference is how the normative texts of a view differ.
type difference struct {
	pairs   []textPair
	changes []textChange
	repairs []markdown.Repair
	why     []string // what is more than editorial, each with its place
}

// textChange is a requirement that differs.
type textChange struct {
	textPair
	markdown.Change
}

// String quotes the change, with its place.
func (c textChange) String() string {
	if c.New == nil {
		return fmt.Sprintf("%s (%s:%d)", c.Describe(maxQuote), c.oldPath, c.Old.Line)
	}
	return fmt.Sprintf("%s (%s:%d)", c.Describe(maxQuote), c.path, c.New.Line)
}

// isText reports whether a path is that of a text whose blocks are read.
func isText(p string) bool {
	return slices.Contains([]string{".md", ".markdown", ".txt"}, extension(p))
}

func isPicture(p string) bool {
	return slices.Contains([]string{".png", ".jpg", ".jpeg", ".gif", ".svg", ".webp"}, extension(p))
}

// difference compares the normative files of a view that are not schemas, once.
func (v *View) difference() (*difference, error) {
	if v.differing != nil {
		return v.differing, nil
	}
	d := &difference{}
	budget := maxTexts
	for _, c := range v.normative() {
		switch {
		case isJSON(c.Path) && inVersion(strings.ToLower(c.Path), "schemas/"):
		case c.Base != nil && !isFile(c.Base) || c.Head != nil && !isFile(c.Head):
			d.why = append(d.why, fmt.Sprintf("%q is or was not a regular file", c.Path))
		case isPicture(c.Path):
		case !isText(c.Path):
			d.why = append(d.why, fmt.Sprintf("%q is neither Markdown nor text, a schema or a picture", c.Path))
		default:
			old, err := v.document(v.Base, c.Path, c.Base, &budget)
			if err != nil {
				return nil, err
			}
			new, err := v.document(v.Head, c.Path, c.Head, &budget)
			if err != nil {
				return nil, err
			}
			if old == nil || new == nil {
				d.why = append(d.why, fmt.Sprintf("%q is or was not UTF-8 text", c.Path))
				continue
			}
			d.pairs = append(d.pairs, textPair{c.Path, c.Path, old, new})
		}
	}
	d.pairs = renamed(d.pairs)
	for _, p := range d.pairs {
		d.compare(v, p)
	}
	v.differing = d
	return d, nil
}

// compare enters how one text differs.
func (d *difference) compare(v *View, p textPair) {
	changes, repairs := markdown.Compare(p.old, p.new, markdown.Tree{
		Used:  func(word string) bool { return v.texts.count(v.Base, word) > 1 },
		Lacks: func(target string) bool { return lacks(v.Base, p.oldPath, target) },
	})
	d.repairs = append(d.repairs, repairs...)
	for _, c := range changes {
		t := textChange{p, c}
		d.changes = append(d.changes, t)
		d.why = append(d.why, t.String())
	}
	for i := range max(len(p.old.Status), len(p.new.Status)) {
		switch {
		case i >= len(p.new.Status):
			s := p.old.Status[i]
			d.why = append(d.why, fmt.Sprintf("the Status %q is removed (%s:%d)", shorten(s.Text), p.oldPath, s.Line))
		case i >= len(p.old.Status):
			s := p.new.Status[i]
			d.why = append(d.why, fmt.Sprintf("the Status %q is new (%s:%d)", shorten(s.Text), p.path, s.Line))
		case p.old.Status[i].Text != p.new.Status[i].Text:
			s := p.new.Status[i]
			d.why = append(d.why, fmt.Sprintf("the Status %q becomes %q (%s:%d)", shorten(p.old.Status[i].Text),
				shorten(s.Text), p.path, s.Line))
		}
	}
}

// renamed makes one pair of a deleted and an added text of one directory whose requirements and Status are equal.
func renamed(pairs []textPair) []textPair {
	gone := map[string]int{}
	key := func(p textPair, d *markdown.Document) string { return path.Dir(p.path) + "\n" + d.Requirements() }
	for i, p := range pairs {
		if p.new == nothing && p.old != nothing {
			gone[key(p, p.old)] = i
		}
	}
	if len(gone) == 0 {
		return pairs
	}
	merged := map[int]bool{}
	for i, p := range pairs {
		if p.old != nothing || p.new == nothing {
			continue
		}
		if old, found := gone[key(p, p.new)]; found && !merged[old] {
			pairs[i].old, pairs[i].oldPath = pairs[old].old, pairs[old].path
			merged[old] = true
		}
	}
	var out []textPair
	for i, p := range pairs {
		if !merged[i] {
			out = append(out, p)
		}
	}
	return out
}

// nothing is the document of a text that is not there.
var nothing = &markdown.Document{}

// document reads a text, once for each of its versions. A missing text is an empty document; a text that is not UTF-8
// is nil.
func (v *View) document(t *registry.Tree, path string, e *registry.Entry, budget *int) (*markdown.Document, error) {
	if e == nil {
		return nothing, nil
	}
	if known, ok := v.texts.documents[e.ID]; ok {
		return known, nil
	}
	data, err := read(t, path, maxText, budget)
	if err != nil {
		return nil, err
	}
	var d *markdown.Document
	if utf8.Valid(data) && bytes.IndexByte(data, 0) < 0 {
		if d, err = markdown.Read(string(data)); err != nil {
			return nil, remedy.Errorf("split the text into several files", "reading %q: %w", path, err)
		}
	}
	if v.texts.documents == nil {
		v.texts.documents = map[gitstore.ID]*markdown.Document{}
	}
	v.texts.documents[e.ID] = d
	return d, nil
}

// lacks reports whether a tree has nothing at the path that a link in a file of the tree leads to.
func lacks(t *registry.Tree, from, target string) bool {
	u, err := url.Parse(target)
	if err != nil || u.Scheme != "" || u.Host != "" || u.Path == "" {
		return false
	}
	to := path.Join(path.Dir(from), u.Path)
	if strings.HasPrefix(u.Path, "/") {
		to = strings.TrimPrefix(path.Clean(u.Path), "/")
	}
	if to == "" || to == "." || to == ".." || strings.HasPrefix(to, "../") {
		return false
	}
	_, found, err := t.Entry(to)
	return err == nil && !found
}

// manyTimes is the count of a word in a tree whose texts cannot be read.
const manyTimes = 1 << 20

// count returns how often the Markdown and text files of a tree use a word. All are read on the first question.
func (x *Texts) count(t *registry.Tree, word string) int {
	if x.counted != t {
		x.counted, x.words = t, map[string]int{}
		if err := x.countWords(t); err != nil {
			x.words = nil
		}
	}
	if x.words == nil {
		return manyTimes
	}
	return x.words[word]
}

func (x *Texts) countWords(t *registry.Tree) error {
	budget := maxTexts
	return t.Walk(func(p string, e registry.Entry) error {
		if !isFile(&e) || !isText(p) {
			return nil
		}
		counts, known := x.counts[e.ID]
		if !known {
			data, err := read(t, p, maxText, &budget)
			if err != nil {
				return err
			}
			counts = markdown.Words(string(data))
			if x.counts == nil {
				x.counts = map[gitstore.ID]map[string]int{}
			}
			x.counts[e.ID] = counts
		}
		for word, n := range counts {
			x.words[word] += n
		}
		return nil
	})
}
