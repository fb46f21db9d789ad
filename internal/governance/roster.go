package governance

import (
	"fmt"
	"slices"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/governance/page"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict/fold"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

const maintainersPath = "governance/MAINTAINERS.md"

// maintainer is a row of the roster.
type maintainer struct {
	handle       string // without @
	organisation string // folded; may be empty
	advocate     bool
}

func (m maintainer) is(login string) bool { return strings.EqualFold(m.handle, login) }

// roster is the table under the heading Current Maintainers.
type roster struct {
	line    int // line of the table, else of the heading; 0 without either
	rows    []string
	members []maintainer
	unread  []*page.Block // rows that name nobody, or whose mark is neither a yes nor a placeholder
}

// rosterOf returns the roster of a tree, an empty one if the tree has none.
func rosterOf(t *registry.Tree) (*roster, error) {
	e, err := t.Leaf(maintainersPath)
	if err != nil || !isFile(e) {
		return &roster{}, err
	}
	data, err := textBudget().read(t, maintainersPath)
	if err != nil {
		return nil, err
	}
	return readRoster(data)
}

// readRoster reads the first table under the heading Current Maintainers. If a handle has two rows, the first counts.
func readRoster(data []byte) (*roster, error) {
	r := &roster{}
	text, err := page.Read(maintainersPath, data)
	if err != nil {
		return r, fmt.Errorf("reading %q: %w", maintainersPath, err)
	}
	if text == nil {
		return r, nil
	}
	var header []string // nil until the table begins
	for _, b := range text.Blocks() {
		cells := b.Cells()
		switch {
		case r.line == 0:
			if b.Level == 2 && b.Text() == "Current Maintainers" {
				r.line = b.Line
			}
		case b.Level > 0, header != nil && (cells == nil || b.Header):
			return r, nil
		case header != nil:
			r.add(b, cells, slices.IndexFunc(header, func(c string) bool {
				return strings.Contains(strings.ToLower(c), "user advocate")
			}))
		case b.Header && !strings.HasPrefix(b.Source, ">"):
			r.line, header = b.Line, cells
		}
	}
	return r, nil
}

var handle = plain.Pattern(`^@([A-Za-z0-9][A-Za-z0-9_-]{0,99})$`)

// add reads a row. advocate is the index of the column User Advocate, negative without one.
func (r *roster) add(b *page.Block, cells []string, advocate int) {
	cell := func(i int) string {
		if i < 0 || i >= len(cells) {
			return ""
		}
		return cells[i]
	}
	m := handle().FindStringSubmatch(cell(0))
	mark := strings.ToLower(cell(advocate))
	isAdvocate := slices.Contains(marks, mark)
	if m == nil && cell(0) != "" || !isAdvocate && organisation(mark) != "" {
		r.unread = append(r.unread, b)
	}
	if m == nil {
		return
	}
	shown := strings.Join(cells, " | ")
	if isAdvocate {
		shown += " (User Advocate)"
	}
	r.rows = append(r.rows, shown)
	if !slices.ContainsFunc(r.members, func(o maintainer) bool { return o.is(m[1]) }) {
		r.members = append(r.members, maintainer{m[1], organisation(cell(1)), isAdvocate})
	}
}

// count warns of the rows that cannot be read. It is for each check that counts the members.
func (r *roster) count(out *verdict.Outcome) {
	for _, u := range r.unread {
		out.Warnf(verdict.At{Path: maintainersPath, Line: u.Line, Column: 1}, "", "roster-row",
			"the row %q of the roster does not count, or not in full; expected @handle in its first cell, and yes or "+
				"nothing as the mark of a User Advocate", shorten(strings.Join(u.Cells(), " | ")))
	}
}

// marks are the cells that mark a User Advocate.
var marks = []string{"yes", "y", "x", "true", "✓", "✔", "✅", "☑", "[x]", ":heavy_check_mark:", ":white_check_mark:",
	"user advocate"}

// placeholders are the cells that name no organisation.
var placeholders = []string{"", "-", "–", "—", "n/a", "na", "none", "no", "tbd", "unaffiliated", "?"}

// organisation returns the name of an organisation as it is compared, empty for a placeholder.
func organisation(name string) string {
	name = strings.Join(strings.Fields(fold.Text(name)), " ")
	if slices.Contains(placeholders, name) {
		return ""
	}
	return name
}

// organisations returns how many organisations Maintainers are of.
func organisations(members []maintainer) int {
	names := map[string]bool{"": true}
	for _, m := range members {
		names[m.organisation] = true
	}
	return len(names) - 1
}

// advocates returns how many of them are User Advocates.
func advocates(members []maintainer) (n int) {
	for _, m := range members {
		if m.advocate {
			n++
		}
	}
	return n
}

// rosterChanges warns of rows of the roster that a proposal changes.
func (p *Proposal) rosterChanges(out *verdict.Outcome, j *Judgement) error {
	for _, v := range p.Views {
		if !slices.ContainsFunc(v.Changes, func(c registry.Change) bool { return c.Path == maintainersPath }) {
			continue
		}
		was, err := rosterOf(v.Base)
		if err != nil {
			return err
		}
		is, err := rosterOf(v.Head)
		if err != nil {
			return err
		}
		gone, come := without(was.rows, is.rows, itself), without(is.rows, was.rows, itself)
		if len(gone)+len(come) == 0 {
			continue
		}
		out.Warnf(verdict.At{Path: maintainersPath, Line: is.line}, "", "roster-changed",
			"the roster changes: new rows %s; old rows %s; it counts once it is merged", quoted(come), quoted(gone))
		j.attest(charterReview, nil, "the Maintainers agreed to the change of the roster; new rows %s; old rows %s",
			quoted(come), quoted(gone))
	}
	return nil
}

// itself is the key of a text.
func itself(text string) string { return text }

// without returns the elements whose key others lack, or have less often.
func without[T any](of, others []T, key func(T) string) []T {
	count := map[string]int{}
	for _, one := range others {
		count[key(one)]++
	}
	return slices.DeleteFunc(slices.Clone(of), func(one T) bool {
		count[key(one)]--
		return count[key(one)] >= 0
	})
}
