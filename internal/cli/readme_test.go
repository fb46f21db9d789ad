package cli_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/checks"
	"github.com/openagentprotocol-OAP/oap-gate/internal/cli/programs"
	"github.com/openagentprotocol-OAP/oap-gate/internal/cli/table"
	"github.com/openagentprotocol-OAP/oap-gate/internal/conformance/aaep"
	"github.com/openagentprotocol-OAP/oap-gate/internal/install/doctor"
	"github.com/openagentprotocol-OAP/oap-gate/internal/mirror"
	"github.com/openagentprotocol-OAP/oap-gate/internal/report"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

var update = flag.Bool("update", false, "write what the tests would compare")

// follows holds a file of the documentation to what the catalogue makes of it.
func follows(t *testing.T, file string, made func(text string) string) {
	t.Helper()
	path := filepath.Join("..", "..", filepath.FromSlash(file))
	text := must.Read(t, path)
	want := made(string(text))
	if *update {
		must.OK(t, os.WriteFile(path, []byte(want), 0o644))
	} else if want != string(text) {
		t.Errorf("%s is not what the catalogue makes of it; run: go test ./internal/cli -run Readme -update", file)
	}
}

// between replaces what stands between two marks.
func between(t *testing.T, text, begin, end, made string) string {
	t.Helper()
	before, rest, found := strings.Cut(text, begin)
	_, after, ended := strings.Cut(rest, end)
	if !found || !ended {
		t.Fatalf("the marks %q and %q are lost", begin, end)
	}
	return before + begin + made + end + after
}

// TestReadme checks that the catalogue agrees with what the documentation says about the checks, and with the workflow
// that has a job for each row of section 6.
func TestReadme(t *testing.T) {
	follows(t, "README.md", func(text string) string {
		var b strings.Builder
		b.WriteString("| check | requires | source |\n|---|---|---|\n")
		for _, c := range slices.Concat(checks.Rules(), mirror.Rules()) {
			fmt.Fprintf(&b, "| `%s` | %s | %s |\n", c.ID, c.Title, c.Cite)
		}
		text = between(t, text, "-update -->\n", "<!-- end of checks -->", b.String())
		return between(t, text, "checks[", " checks<br>", fmt.Sprint(len(checks.All)))
	})
	follows(t, "docs/install.md", func(text string) string {
		table := "| RFC 0026 section 6 | check ids |\n|---|---|\n"
		for _, row := range doctor.Section6 {
			table += "| " + row + " | `" + strings.Join(doctor.InRow(row), "`, `") + "` |\n"
		}
		return between(t, text, "<!-- section 6 -->\n", "<!-- end -->\n", table)
	})
	follows(t, "docs/workflows/check-ten-jobs.yml", func(text string) string {
		for _, row := range doctor.Section6 {
			job := regexp.MustCompile(`(?s)(\n    name: ` + regexp.QuoteMeta(row) +
				`\n.*?\n          checks: )[^\n]*`)
			if !job.MatchString(text) {
				t.Errorf("no job %q", row)
			}
			text = job.ReplaceAllString(text, "${1}"+strings.Join(doctor.InRow(row), ","))
		}
		return text
	})
}

// TestReadmeFormats compares the formats that action.yml and docs/action.md list with those of package report.
func TestReadmeFormats(t *testing.T) {
	var names []string
	for _, p := range programs.All {
		for _, name := range report.Names(p.Formats) {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	formats := strings.Join(names, ", ")
	follows(t, "action.yml", func(text string) string {
		return between(t, text, "line breaks; the formats are ", ".\n", formats)
	})
	follows(t, "docs/action.md", func(text string) string {
		return between(t, text, "`FORMAT=FILE`, by commas or lines; ", "; no file in a data", formats)
	})
}

// TestReadmeModes compares the protocols that action.yml lists with the products.
func TestReadmeModes(t *testing.T) {
	names := table.ModesOf("oap-conform")
	last := len(names) - 1
	follows(t, "action.yml", func(text string) string {
		return between(t, text, "verifies implementations. With ", " it checks an implementation against that",
			strings.Join(names[:last], ", ")+" or "+names[last])
	})
}

// TestReadmeMembers compares the table of AAEP's members in docs/conformance.md with the program's.
func TestReadmeMembers(t *testing.T) {
	follows(t, "docs/conformance.md", func(text string) string {
		table := "| message | member | | value |\n|---|---|---|---|\n"
		for _, r := range aaep.MemberRows("") {
			table += fmt.Sprintf("| %s | `%s` | %s | %s |\n", cell(r.Message), r.Member, r.Need, cell(r.Form))
		}
		return between(t, text, "<!-- members: go test ./internal/cli -run Readme -update -->\n",
			"<!-- end of members -->", table)
	})
}

// TestReadmeRules compares docs/rules.md, where SARIF's helpUri leads, with all catalogues.
func TestReadmeRules(t *testing.T) {
	follows(t, "docs/rules.md", func(text string) string {
		var b strings.Builder
		users := map[strict.Code]int{} // how many checks have a code; those of more than five share a table
		var shared []strict.Code
		rows := func(codes []strict.Code) {
			if len(codes) > 0 {
				b.WriteString("\n| code | means | fix |\n|---|---|---|\n")
			}
			for _, c := range codes {
				fmt.Fprintf(&b, "| `%s` | %s | %s |\n", c.ID, cell(c.Meaning), cell(c.Fix))
			}
		}
		section := func(title string, rules []verdict.Rule) {
			fmt.Fprintf(&b, "\n## %s\n", title)
			for _, r := range rules {
				fmt.Fprintf(&b, "\n### %s\n\n%s\n\n", r.ID, strings.TrimSpace(sentence(r.Title)+". "+r.Cite))
				for _, part := range [][2]string{{"Why", r.Why}, {"Fix", r.Fix}} {
					if part[1] != "" {
						fmt.Fprintf(&b, "- %s: %s.\n", part[0], part[1])
					}
				}
				var own []strict.Code
				var also []string
				for _, c := range r.Codes {
					if users[c] <= 5 {
						own = append(own, c)
						continue
					}
					also = append(also, "`"+c.ID+"`")
					if !slices.Contains(shared, c) {
						shared = append(shared, c)
					}
				}
				rows(own)
				if also != nil {
					fmt.Fprintf(&b, "\n[Codes of many checks](#codes-of-many-checks): %s.\n", strings.Join(also, ", "))
				}
			}
		}
		var subjects []table.Subject
		for _, p := range programs.All {
			subjects = append(subjects, p.Subjects...)
		}
		for _, s := range subjects {
			for _, r := range s.Rules {
				for _, c := range r.Codes {
					users[c]++
				}
			}
		}
		for _, s := range subjects {
			section(sentence(s.Judges), s.Rules)
		}
		b.WriteString("\n## Codes of many checks\n")
		rows(shared)
		before, _, found := strings.Cut(text, "-update -->\n")
		if !found {
			t.Fatal("docs/rules.md has lost its mark")
		}
		return before + "-update -->\n" + b.String()
	})
}

// sentence begins with a capital, unless it begins with the name of a member.
func sentence(text string) string {
	if first, _, _ := strings.Cut(text, " "); strings.ContainsAny(first, "_.") {
		return text
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

// cell is a text in a cell of a Markdown table.
func cell(text string) string {
	return strings.NewReplacer("|", "\\|", "<", "&lt;", "\n", " ").Replace(text)
}
