package governance

import (
	"context"
	"slices"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/governance/markdown"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict/fold"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// maintainer is a row of the roster.
type maintainer struct {
	handle       string // without @
	organisation string // folded; may be empty
	advocate     bool
}

func (m maintainer) key() string { return strings.ToLower(m.handle) }

func readOptional(t *registry.Tree, path string) ([]byte, error) {
	e, err := t.Leaf(path)
	if err != nil || !isFile(e) {
		return nil, err
	}
	return t.File(context.Background(), path, maxText)
}

var handle = plain.Pattern(`^@([A-Za-z0-9][A-Za-z0-9_-]{0,99})$`)

var marks = []string{"yes", "x", "✓", "✔", "✅", "true"}

// roster is the table under the heading Current Maintainers.
type roster struct {
	line    int   // line of the table, else of the heading; 0 without either
	rows    []row // those with a handle
	members []maintainer
}

// row is a row as it is shown.
type row string

func (r row) key() string { return string(r) }

// readRoster reads the first table under the heading Current Maintainers. If a handle has two rows, the first counts.
func readRoster(text string) roster {
	var r roster
	table, advocate := 0, -1
	seen := map[string]bool{}
	blocks, err := markdown.Split(text)
	if err != nil {
		return r // what is too long to be read names nobody
	}
	for _, b := range blocks {
		switch {
		case b.Kind == markdown.Heading && r.line > 0:
			return r
		case b.Kind == markdown.Heading:
			if b.Level == 2 && strings.TrimSpace(b.Source()) == "Current Maintainers" {
				r.line = b.Line
			}
		case r.line == 0 || b.Table == 0 || b.Quoted():
		case table == 0:
			table, r.line = b.Table, b.Line
			advocate = slices.IndexFunc(cells(b.Source()), func(c string) bool {
				return strings.Contains(strings.ToLower(strings.Join(strings.Fields(c), " ")), "user advocate")
			})
		case b.Table == table:
			columns := cells(b.Source())
			// A handle in code is an example.
			first := new(speech).shown(markdown.Cells(b.Source())[0], false)
			m := handle().FindStringSubmatch(strings.Trim(first, " _"))
			if m == nil {
				continue
			}
			isAdvocate := advocate >= 0 && advocate < len(columns) &&
				slices.Contains(marks, strings.ToLower(columns[advocate]))
			shown := strings.Join(columns, " | ")
			if isAdvocate {
				shown += " (User Advocate)"
			}
			r.rows = append(r.rows, row(shown))
			if seen[strings.ToLower(m[1])] {
				continue
			}
			seen[strings.ToLower(m[1])] = true
			person := maintainer{handle: m[1], advocate: isAdvocate}
			if len(columns) > 1 {
				person.organisation = organisation(columns[1])
			}
			r.members = append(r.members, person)
		}
	}
	return r
}

// maxColumns is how many cells of a row are read.
const maxColumns = 64

// cells returns the cells of a row as they are shown.
func cells(row string) []string {
	var out []string
	all := markdown.Cells(row)
	for _, cell := range all[:min(len(all), maxColumns)] {
		out = append(out, plainText(strings.ReplaceAll(cell, `\|`, "|")))
	}
	return out
}

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
