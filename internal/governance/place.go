package governance

import (
	"bytes"
	"errors"

	"github.com/openagentprotocol-OAP/oap-gate/internal/git/gitobject"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// firstChange returns the place of the first line of a changed file that differs, or of the last line if the change
// only cuts the file short. What is not a regular file, or larger than a text, has no line.
func (v *View) firstChange(c registry.Change) (verdict.At, error) {
	at := verdict.At{Path: c.Path}
	budget := textBudget()
	var texts [2][]byte
	for i, side := range []struct {
		tree  *registry.Tree
		entry *registry.Entry
	}{{v.Base, c.Base}, {v.Head, c.Head}} {
		if !isFile(side.entry) {
			continue
		}
		var err error
		if texts[i], err = budget.read(side.tree, c.Path); errors.Is(err, gitobject.ErrTooLarge) {
			return at, nil
		} else if err != nil {
			return at, err
		}
	}
	base, head := texts[0], texts[1]
	if len(head) == 0 {
		return at, nil
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
