package markdown

import (
	"strings"
	"testing"
)

// TestSameRequirements has pairs of texts that ask for the same, each next to a pair that does not.
func TestSameRequirements(t *testing.T) {
	used := func(word string) bool { return word == "lest" }
	for _, c := range []struct {
		name, old, new string
		same           bool
	}{
		{"no requirement", "One.", "Two.", true},
		{"a requirement", "It MUST be one.", "It MUST be two.", false},
		{"in small letters", "It must be one.", "It must be two.", true},
		{"wrapped", "It MUST\nbe one.", "It MUST be\none.", true},
		{"emphasis", "It **MUST** be *one*.", "It MUST be one.", true},
		{"code", "It MUST be `one`.", "It MUST be one.", false},
		{"an entity", "It is.", "It M&#85;ST.", false},
		{"a full-width letter", "It is.", "It ＭUST.", false},
		{"a block outside", "One.\n\nIt MUST.", "Two.\n\nIt MUST.", true},
		{"another order", "It MUST a.\n\nIt MUST b.", "It MUST b.\n\nIt MUST a.", false},
		{"into a comment", "It MUST.", "<!--\nIt MUST.\n-->", false},
		{"into a heading", "It MUST.", "# It MUST.", false},
		{"a governed row", "It MUST:\n\n| a |\n|---|", "It MUST:\n\n| b |\n|---|", false},
		{"a row beside one with a requirement", "| a |\n|---|\n| MUST |", "| b |\n|---|\n| MUST |", false},
		{"a row of another table", "| a |\n|---|\n\nIt MUST.", "| b |\n|---|\n\nIt MUST.", true},
		{"below a heading", "# MUST\n\nOne.", "# MUST\n\nTwo.", false},
		{"below the next heading", "# MUST\n\n# A\n\nOne.", "# MUST\n\n# A\n\nTwo.", true},
		{"a repair", "It MUST be opn.", "It MUST be open.", true},
		{"another first letter", "It MUST be visible.", "It MUST be invisible.", false},
		{"a word in use", "It MUST be lest, always.", "It MUST be lost, always.", false},
		{"a swap", "It MUST be recieved.", "It MUST be received.", true},
		{"four repairs", "It MUST keyss linnes wordss pagees.", "It MUST keys lines words pages.", false},
		{"a number", "It MUST be 30.", "It MUST be 3.", false},
		{"a point in a number", "It MUST be 3.0", "It MUST be 30", false},
		{"doubled", "It MUST be be so.", "It MUST be so.", true},
		{"a doubled number", "It MUST be 3 3.", "It MUST be 3.", false},
		{"a doubled negation", "It MUST not not be.", "It MUST not be.", false},
		{"a doubled requirement", "It MUST MUST be.", "It MUST be.", false},
		{"an operator", "It MUST a == b.", "It MUST a != b.", false},
	} {
		if got := SameRequirements(c.old, c.new, used); got != c.same {
			t.Errorf("%s: %t", c.name, got)
		}
		if !SameRequirements(c.old, c.old, used) || !SameRequirements(c.new, c.new, used) {
			t.Errorf("%s: a text differs from itself", c.name)
		}
	}
	for _, hostile := range []string{"> ", "*", "- ", "| a ", "MUST ", "<!--", "\x00", "\xff\xfe"} {
		text := strings.Repeat(hostile, 1<<20/len(hostile))
		if !SameRequirements(text, text, nil) {
			t.Errorf("%q repeated differs from itself", hostile)
		}
	}
}
