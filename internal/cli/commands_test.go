package cli_test

import (
	"go/ast"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/openagentprotocol-OAP/oap-gate/internal/cli"
	"github.com/openagentprotocol-OAP/oap-gate/internal/cli/programs"
	"github.com/openagentprotocol-OAP/oap-gate/internal/frame"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/clitest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

// TestEveryCommand checks that each command has an example, a script that runs it, and a page that shows it.
func TestEveryCommand(t *testing.T) {
	scripts := textOf(t, "../../testdata/script/*.txtar")
	pages := textOf(t, "../../docs/*.md") + textOf(t, "../../README.md")
	checked := 0
	var walk func(*cobra.Command)
	walk = func(c *cobra.Command) {
		group := c.HasSubCommands() && c.Name() != "audit" // prints its help
		if c.Runnable() && c.HasParent() && !group &&
			!strings.Contains(c.CommandPath(), " help") &&
			!strings.Contains(c.CommandPath(), " completion") { // which cobra adds
			checked++
			for _, lack := range lacks(c, scripts, pages) {
				t.Errorf("%s has no %s", c.CommandPath(), lack)
			}
		}
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	for _, p := range programs.All {
		walk(cli.Command(p, frame.IO{}))
	}
	if checked < 20 {
		t.Errorf("%d commands were checked; expected all", checked)
	}
}

// TestMoved checks that a word of an earlier command line says where it is, whatever follows it, and does nothing else.
func TestMoved(t *testing.T) {
	for _, p := range programs.All {
		for _, row := range p.Moved {
			old := append([]string{p.Name}, strings.Fields(row[0])...)
			for _, args := range [][]string{old, append(slices.Clone(old), "--no-such-flag", "--report", "json=r.json"),
				slices.Insert(slices.Clone(old), 1, "help")} {
				var out, told strings.Builder
				code := clitest.Main(args, frame.IO{Stdout: &out, Stderr: &told, Getenv: clitest.NoEnvironment})
				want := "error: " + p.Name + " " + row[0] + " is " + row[1] + "\n"
				if code != 2 || out.String() != "" || told.String() != want {
					t.Errorf("%q: exit status %d, %q and %q, want 2 and %q", args, code, out.String(), told.String(),
						want)
				}
			}
			now, words := programs.Of(strings.Fields(row[1]))
			if c, rest, err := cli.Command(now, frame.IO{}).Find(words); err != nil ||
				c.HasParent() != (len(words) > 0) || len(rest) > 0 && !strings.HasPrefix(rest[0], "--") {
				t.Errorf("%q: %q is not a command, %q is left of it", row[0], row[1], rest)
			}
		}
	}
}

// TestLackIsNoticed checks that a command without a script, an example or a page is noticed.
func TestLackIsNoticed(t *testing.T) {
	root := &cobra.Command{Use: "oap-gate"}
	greet := &cobra.Command{Use: "greet", Run: func(*cobra.Command, []string) {}}
	root.AddCommand(greet)
	for _, c := range []struct{ example, scripts, pages, want string }{
		{"  oap-gate greet", "oap greet\n", "`oap-gate greet`\n", ""},
		{"  oap-gate greet", "exec oap-gate greet --x\n", "    oap-gate greet\n", ""},
		{"", "oap 1 greet\n", "`greet`\n", "example"},
		{"  oap-gate meet", "oap 1 greet\n", "`greet`\n", "example"},
		{"  oap-gate greet", "oap greeting\n", "oap-gate greet\n", "script in testdata/script"},
		{"  oap-gate greet", "oap greet\n", "oap-gate greeting\n", "page in docs"},
	} {
		greet.Example = c.example
		if got := strings.Join(lacks(greet, c.scripts, c.pages), ", "); got != c.want {
			t.Errorf("%q: got %q, want %q", c, got, c.want)
		}
	}
}

// lacks returns what a command does not have of an example, a script and a page.
func lacks(c *cobra.Command, scripts, pages string) (all []string) {
	program, words, _ := strings.Cut(c.CommandPath(), " ")
	words = regexp.QuoteMeta(words)
	runner := strings.TrimPrefix(program, "oap-") // the scripts' command that runs it
	if program == "oap-gate" {
		runner = "oap"
	}
	if !regexp.MustCompile(program + ` ` + words + `\b`).MatchString(c.Example) {
		all = append(all, "example")
	}
	// The scripts' own commands run the program as well.
	ran := `(?m)^[!?]? *(exec ` + program + `|` + runner + `( \d)?|(run|record)( \d)?) ` + words + `( |$)|^` + words + ` \d`
	if !regexp.MustCompile(ran).MatchString(scripts) && words != "check" { // which "gate" runs
		all = append(all, "script in testdata/script")
	}
	if !regexp.MustCompile("(?m)(" + program + " |`)" + words + "( |`|$)").MatchString(pages) {
		all = append(all, "page in docs")
	}
	return all
}

// textOf returns the texts of the files of a pattern.
func textOf(t *testing.T, pattern string) string {
	t.Helper()
	files := must.Get(filepath.Glob(pattern))(t)
	var b strings.Builder
	for _, file := range files {
		text := must.Read(t, file)
		b.Write(text)
	}
	return b.String()
}

var (
	callOf   = regexp.MustCompile(`\b(oap-(?:gate|spec|conform))((?: +[a-z][a-z-]*)+)([^\n|;&>#` + "`" + `"]*)`)
	longFlag = regexp.MustCompile(`--[a-z][a-z-]*`)
	// What precedes a command line, and what precedes one if the word after the program is the name of a command.
	asCode = regexp.MustCompile("(?:^(?: {2,}|\\$ )|`|run: )(?:[A-Z_]+=\\S* )*$")
	likely = regexp.MustCompile(`(?:\brun |\(|: )$`)
)

// TestWords reads the command lines in the texts that users read, and finds each command, and its flags, in the program
// that the line names.
func TestWords(t *testing.T) {
	roots, names, found := map[string]*cobra.Command{}, map[string]bool{}, 0
	for _, p := range programs.All {
		roots[p.Name] = cli.Command(p, frame.IO{})
		for _, c := range roots[p.Name].Commands() {
			names[c.Name()] = true
		}
		for _, row := range p.Moved {
			names[strings.Fields(row[0])[0]] = true
		}
	}
	for path, text := range shownTexts(t) {
		for _, fault := range faults(roots, names, text, &found) {
			t.Errorf("%s: %s", path, fault)
		}
	}
	if found < 400 {
		t.Errorf("%d command lines were read; expected all", found)
	}
	for text, faulty := range map[string]bool{"run oap-gate forge protect --apply": false, "an oap-gate audit": false,
		"run oap-gate protect --apply": true, "as oap-gate merge joins": true, "`oap-gate schema diff OLD NEW`": true,
		"    oap-gate validate": true, "oap-gate reads a clone": false, "`oap-spec check`": true,
		"`oap-gate forge protcet`": true, "    oap-gate key show k --id x": true, "run oap-gate where git is": false,
		"    oap-gate prove a --log x": false, "(oap-gate key new FILE --log NAME)": true} {
		if got := faults(roots, names, text, &found); (len(got) > 0) != faulty {
			t.Errorf("%q: %q", text, got)
		}
	}
}

// faults returns what a text calls that its program does not have. It counts the lines.
func faults(roots map[string]*cobra.Command, names map[string]bool, text string, found *int) (all []string) {
	for _, m := range callOf.FindAllStringSubmatchIndex(text, -1) {
		begin := strings.LastIndexByte(text[:m[0]], '\n') + 1
		line, words, code := text[m[0]:m[1]], strings.Fields(text[m[4]:m[5]]), asCode.MatchString(text[begin:m[0]])
		if !names[words[0]] && !code {
			continue // prose
		}
		*found++
		code = code || likely.MatchString(text[begin:m[0]])
		p, _ := programs.Of([]string{text[m[2]:m[3]]})
		c, rest, err := roots[p.Name].Find(words)
		gone := func(m [2]string) bool { return strings.HasPrefix(strings.Join(words, " ")+" ", m[0]+" ") }
		switch group := c.HasSubCommands() && c.Name() != "audit" && c.Name() != "schema"; {
		case err != nil || !c.HasParent() || slices.ContainsFunc(p.Moved, gone) || code && group && len(rest) > 0:
			all = append(all, line+": no such command")
		case code:
			for _, flag := range longFlag.FindAllString(strings.SplitN(text[m[6]:m[7]], " -- ", 2)[0], -1) {
				if f := c.Flags().Lookup(flag[2:]); (f == nil || f.Name != flag[2:]) && flag != "--help" {
					all = append(all, line+": no flag "+flag)
				}
			}
		}
	}
	return all
}

// shownTexts returns the pages and the workflows by their paths, and the string literals of the product by places.
func shownTexts(t *testing.T) map[string]string {
	all, root := map[string]string{}, filepath.Join("..", "..")
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/*.yml", "docs/workflows/*", "action.yml"} {
		files := must.Get(filepath.Glob(filepath.Join(root, pattern)))(t)
		for _, file := range files {
			if filepath.Base(file) != "CHANGELOG.md" { // which says what commands were called
				all[file] = strings.ReplaceAll(textOf(t, file), "\\\n", " ")
			}
		}
	}
	productFiles(t, func(fset *token.FileSet, file *ast.File) {
		ast.Inspect(file, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				if text, err := strconv.Unquote(lit.Value); err == nil && strings.Contains(text, "oap-") {
					all[fset.Position(lit.Pos()).String()] = text
				}
			}
			return true
		})
	})
	return all
}
