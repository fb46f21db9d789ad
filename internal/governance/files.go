package governance

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"path"
	"slices"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/git/gitobject"
	"github.com/openagentprotocol-OAP/oap-gate/internal/governance/page"
	"github.com/openagentprotocol-OAP/oap-gate/internal/governance/schemadiff"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// normativeFile is a normative file that a view changes, as it was and as it becomes.
type normativeFile struct {
	old, new version
	change   registry.Change // where it is added or changed, else deleted
}

// version is one side of a normative file. The zero version is that of a file that is not there.
type version struct {
	path string
	data []byte           // nil for a link and a submodule
	json *strict.Document // nil for what is not strict JSON
	text *page.Text       // nil for what is not a text: JSON, other encodings, a link
}

// path returns the path at which the file is, or was.
func (f normativeFile) path() string { return cmp.Or(f.new.path, f.old.path) }

// keyWords returns the words of RFC 2119 that a reader sees.
func (s version) keyWords() []string {
	if s.text == nil {
		return nil
	}
	return s.text.KeyWords()
}

// normativeFiles returns the normative files that a view changes, in path order. A deleted and an added text of one
// directory are one file if their names differ only in digits, or if they have the same key words.
func (v *View) normativeFiles() ([]normativeFile, error) {
	if v.files != nil {
		return v.files, nil
	}
	budget := textBudget()
	v.files = []normativeFile{}
	for _, c := range v.normative() {
		f, err := v.versions(c, budget)
		if err != nil {
			return nil, err
		}
		v.files = append(v.files, f)
	}
	for i := range v.files {
		added := &v.files[i]
		if added.old.path != "" || added.new.text == nil {
			continue
		}
		gone := slices.IndexFunc(v.files, func(f normativeFile) bool {
			return f.new.path == "" && renames(f.old, added.new)
		})
		if gone >= 0 {
			added.old, v.files[gone] = v.files[gone].old, normativeFile{}
		}
	}
	v.files = slices.DeleteFunc(v.files, func(f normativeFile) bool { return f.path() == "" })
	return v.files, nil
}

var digits = plain.Pattern(`\p{Nd}+`)

// renames reports whether an added text is a deleted one with another name.
func renames(old, new version) bool {
	if old.text == nil || path.Dir(old.path) != path.Dir(new.path) {
		return false
	}
	bare := func(p string) string { return digits().ReplaceAllLiteralString(p, "") }
	return bare(old.path) == bare(new.path) || len(new.keyWords()) > 0 && slices.Equal(old.keyWords(), new.keyWords())
}

// versions reads both sides of a changed file.
func (v *View) versions(c registry.Change, budget *budget) (f normativeFile, err error) {
	f.change = c
	if f.old, err = v.version(v.Base, c.Path, c.Base, budget); err == nil {
		f.new, err = v.version(v.Head, c.Path, c.Head, budget)
	}
	return f, err
}

// version reads one side of a file.
func (v *View) version(t *registry.Tree, p string, e *registry.Entry, budget *budget) (version, error) {
	if e == nil {
		return version{}, nil
	}
	data, err := budget.side(t, p, e)
	out := version{path: p, data: data}
	if !isFile(e) || err != nil {
		return out, err
	}
	if isJSON(p) {
		if out.json, err = strict.Parse(p, data, schemadiff.Limits); err == nil {
			return out, nil
		}
	}
	key := textKey{path.Ext(p), e.ID}
	if text, known := v.texts.pages[key]; known {
		delete(v.texts.pages, key) // what a commit replaces is seldom seen again
		out.text = text
		return out, nil
	}
	if out.text, err = page.Read(p, data); err != nil {
		return out, fmt.Errorf("reading %q: %w", p, err)
	}
	if v.texts.pages == nil {
		v.texts.pages = map[textKey]*page.Text{}
	}
	if t == v.Head {
		v.texts.pages[key] = out.text
	}
	return out, nil
}

// firstChange returns the place of the first line of a changed file that differs, or of the last line if the change
// only cuts the file short. What is not a regular file, or larger than a text, has no line.
func (v *View) firstChange(c registry.Change) (verdict.At, error) {
	at := verdict.At{Path: c.Path}
	base, err := textBudget().side(v.Base, c.Path, c.Base)
	head, headErr := textBudget().side(v.Head, c.Path, c.Head)
	if err = errors.Join(err, headErr); errors.Is(err, gitobject.ErrTooLarge) {
		return at, nil
	}
	if err != nil || len(head) == 0 {
		return at, err
	}
	same := 0
	for same < min(len(base), len(head)) && base[same] == head[same] {
		same++
	}
	at.Line, at.Column = 1+bytes.Count(head[:min(same, len(head)-1)], []byte("\n")), 1
	return at, nil
}

// firstNormative returns the place of the first normative change of a view, or the zero place.
func (v *View) firstNormative() (at verdict.At, err error) {
	if n := v.normative(); len(n) > 0 && v.first.Path == "" {
		v.first, err = v.firstChange(n[0])
	}
	return v.first, err
}

// firstNormative returns the place of the first normative change of the first view that has one, or the zero place.
func (p *Proposal) firstNormative() (at verdict.At, err error) {
	for _, v := range p.Views {
		if at, err = v.firstNormative(); at.Path != "" || err != nil {
			break
		}
	}
	return at, err
}
