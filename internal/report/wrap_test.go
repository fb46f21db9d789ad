package report

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

func TestHang(t *testing.T) {
	hash := strings.Repeat("a", 64)
	for _, c := range []struct{ lead, text, want string }{
		{"  id  ", "", "  id  "},
		{"  id  ", "one two", "  id  one two"},
		{"  id  ", strings.Repeat("word ", 20),
			"  id  " + strings.Repeat("word ", 14) + "word\n      word word word word word"},
		{strings.Repeat("x", 75) + " ", "word two", strings.Repeat("x", 75) + " word\n      two"},
		{strings.Repeat("x", 78) + " ", "word", strings.Repeat("x", 78) + "\n      word"},
		{strings.Repeat("x", 70) + " ", hash + hash + ", as pinned",
			strings.Repeat("x", 70) + " " + hash + hash + ",\n      as pinned"},
		{strings.Repeat("x", 70) + " ", "word ::error::no command",
			strings.Repeat("x", 70) + " word ::error::no\n      command"},
	} {
		if got := Hang(c.lead, c.text, 6, Columns); got != c.want {
			t.Errorf("%q and %q give\n%s\nwant\n%s", c.lead, c.text, got, c.want)
		}
	}
	if got := Hang("ab ", "cd", 500, Columns); got != "ab cd" {
		t.Errorf("an indent wider than the text gives %q", got)
	}
	wide := Hang("", strings.Repeat("word ", 30), 0, 132)
	if first, _, _ := strings.Cut(wide, "\n"); utf8.RuneCountInString(first) <= Columns {
		t.Errorf("a wide terminal changes nothing: %q", first)
	}
}

// TestTablesFit requires that the tables of the golden files fit 80 columns. A line with a URL, a hash or a color may
// be longer.
func TestTablesFit(t *testing.T) {
	row := regexp.MustCompile(`^ (  \S+ +(pass|fail|warn|skip|manual|inconclusive)| {18}|  [│┌✓✗?!~-] )`)
	long := regexp.MustCompile(`https?://|[0-9a-f]{40}|\x1b`)
	files := must.Get(filepath.Glob(filepath.Join("testdata", "*.*")))(t)
	rows := 0
	for _, file := range files {
		if ext := filepath.Ext(file); ext != ".text" && ext != ".github" {
			continue
		}
		text := must.Read(t, file)
		for line := range strings.Lines(string(text)) {
			line = strings.TrimSuffix(line, "\n")
			if !row.MatchString(" " + line) {
				continue
			}
			if rows++; utf8.RuneCountInString(line) > Columns && !long.MatchString(line) {
				t.Errorf("%s: the line has over %d columns: %s", file, Columns, line)
			}
		}
	}
	if rows < 50 {
		t.Errorf("only %d rows were read", rows)
	}
}
