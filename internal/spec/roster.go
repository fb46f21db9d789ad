package spec

import (
	"context"
	"slices"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/internal/markdown"
	"github.com/openagentprotocol-OAP/oap-gate/internal/plain"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// maintainer is a row of the roster.
type maintainer struct {
	handle       string // without @
	organisation string // folded; empty is none
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

var (
	handle    = plain.Pattern(`^@([A-Za-z0-9][A-Za-z0-9_-]{0,99})$`)
	delimiter = plain.Pattern(`^\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$`)
	linkText  = plain.Pattern(`\[([^\[\]]*)\]\([^()]*\)`)
)

var marks = []string{"yes", "x", "✓", "✔", "✅", "true"}

// readRoster reads the table under the heading Current Maintainers; of a handle that stands twice the first row counts.
func readRoster(text string) []maintainer {
	lines := strings.Split(withoutComments(withoutCodeBlocks(strings.ReplaceAll(text, "\r\n", "\n"))), "\n")
	start := slices.IndexFunc(lines, func(l string) bool {
		return markdown.KindOf(l) == markdown.Heading &&
			strings.TrimSpace(strings.Trim(strings.TrimSpace(l), "#")) == "Current Maintainers" &&
			strings.HasPrefix(strings.TrimSpace(l), "## ")
	})
	if start < 0 {
		return nil
	}
	lines = lines[start+1:]
	for i := 1; i < len(lines) && markdown.KindOf(lines[i-1]) != markdown.Heading; i++ {
		if strings.Contains(lines[i-1], "|") && delimiter().MatchString(lines[i]) {
			return rows(cells(lines[i-1]), lines[i+1:])
		}
	}
	return nil
}

func rows(header []string, lines []string) []maintainer {
	advocate := slices.IndexFunc(header, func(c string) bool {
		return strings.Contains(strings.ToLower(strings.Join(strings.Fields(c), " ")), "user advocate")
	})
	var out []maintainer
	seen := map[string]bool{}
	for _, line := range lines {
		if k := markdown.KindOf(line); k != markdown.Row && (k != markdown.Paragraph || !strings.Contains(line, "|")) {
			break
		}
		columns := cells(line)
		m := handle().FindStringSubmatch(columns[0])
		if m == nil || seen[strings.ToLower(m[1])] {
			continue
		}
		seen[strings.ToLower(m[1])] = true
		person := maintainer{handle: m[1]}
		if len(columns) > 1 {
			person.organisation = organisation(columns[1])
		}
		if advocate >= 0 && advocate < len(columns) {
			person.advocate = slices.Contains(marks, strings.ToLower(strings.TrimSuffix(columns[advocate], "\ufe0f")))
		}
		out = append(out, person)
	}
	return out
}

// maxColumns is how many cells of a row are read.
const maxColumns = 64

// cells are the cells of a row as they show: the texts of links, without emphasis.
func cells(line string) []string {
	line = strings.TrimSpace(line)
	line = strings.TrimPrefix(line, "|")
	var out []string
	var cell strings.Builder
	end := func() {
		text := linkText().ReplaceAllString(cell.String(), "$1")
		out = append(out, strings.TrimSpace(strings.Trim(strings.TrimSpace(text), "*_`")))
		cell.Reset()
	}
	for i := 0; i < len(line) && len(out) < maxColumns; i++ {
		switch {
		case line[i] == '\\' && i+1 < len(line) && line[i+1] == '|':
			cell.WriteByte('|')
			i++
		case line[i] == '|':
			end()
		default:
			cell.WriteByte(line[i])
		}
	}
	if strings.TrimSpace(cell.String()) != "" || len(out) == 0 {
		end()
	}
	return out
}
