package rooms

import (
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

var update = flag.Bool("update", false, "lower the rows of testdata/bounds.txt to the counts")

// bounds maps the name of a room or a sum to a number of lines of Go.
type bounds map[string]int

const boundsFile = "testdata/bounds.txt"

// isSum reports whether a name counts lines that rooms count, too.
func isSum(name string) bool {
	return name == "kernel" || name == "tree" || name == "tests" || strings.HasPrefix(name, "linked/")
}

// highest returns the highest row that a name with so many lines may have, so that not each small fix raises it.
func highest(name string, lines int) int {
	step := 100
	if isSum(name) {
		step = 500
	}
	return (lines + step - 1) / step * step
}

// problems returns what is wrong with the rows, sorted. The counts are those of the tree. In base are the rows of the
// merge base, nil if it has none or nobody knows it. In said is how far the messages of the commits since then say that
// each row rises.
func (rows bounds) problems(counts, base, said bounds) (wrong []string) {
	together := 0 // how far the rows of rooms rise
	for name, most := range rows {
		if !isSum(name) {
			together += max(0, most-base[name])
		}
	}
	for name, n := range counts {
		most, known := rows[name]
		line := fmt.Sprintf("%q", fmt.Sprintf("Raises-bound: %s by %d: REASON", name, n-most))
		switch {
		case !known:
			wrong = append(wrong, fmt.Sprintf("%s has %d lines and no row: add %q, and %s to the commit message", name,
				n, fmt.Sprintf("%s %d", name, n), line))
		case n > most:
			wrong = append(wrong, fmt.Sprintf("%s has %d lines, its bound is %d: remove %d, or add to the commit "+
				"message %s and raise the row", name, n, most, n-most, line))
		}
	}
	for name, most := range rows {
		n, there := counts[name]
		if !there {
			wrong = append(wrong, fmt.Sprintf("%s has a row and no lines: remove the row", name))
		} else if most > highest(name, n) {
			wrong = append(wrong, fmt.Sprintf("%s has %d lines, its row is %d: lower the row to at most %d by "+
				"go test ./internal/test/rooms -update", name, n, most, highest(name, n)))
		}
		may := said[name]
		if isSum(name) && name != "tests" {
			may += together
		}
		if rise := most - base[name]; base != nil && rise > may {
			wrong = append(wrong, fmt.Sprintf("the row of %s rises by %d, to %d, and the commit messages say %d: add "+
				"\"Raises-bound: %s by %d: REASON\" to the message", name, rise, most, said[name], name, rise-may+
				said[name]))
		}
	}
	slices.Sort(wrong)
	return wrong
}

var (
	boundRow  = regexp.MustCompile(`^(\S+) +(\d+)$`)
	raisesRow = regexp.MustCompile(`(?m)^Raises-bound: (\S+) by (\d+): \S`)
)

// readBounds returns the rows of a text. Each line is NAME LINES.
func readBounds(text string) (bounds, error) {
	rows := bounds{}
	for line := range strings.Lines(text) {
		row := boundRow.FindStringSubmatch(strings.TrimSuffix(line, "\n"))
		if row == nil {
			return nil, fmt.Errorf("%q is not NAME LINES", line)
		}
		n, err := strconv.Atoi(row[2])
		if _, twice := rows[row[1]]; err != nil || twice {
			return nil, fmt.Errorf("%q is not a number of lines, or has a second row", line)
		}
		rows[row[1]] = n
	}
	return rows, nil
}

// countLines returns the count of each room and sum of the module. Files count for every platform, except in what a
// program links.
func countLines(t *testing.T) bounds {
	t.Helper()
	counts := bounds{}
	for room := range rooms {
		counts[room] = 0
	}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == ".git" || d.Name() == "node_modules"):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, ".go"):
			return nil
		}
		n := linesOf(t, path)
		if strings.HasSuffix(path, "_test.go") {
			counts["tests"] += n
			return nil
		}
		counts["tree"] += n
		rel, err := filepath.Rel(root, path)
		room := roomOf(filepath.ToSlash(rel))
		if _, known := rooms[room]; known {
			counts[room] += n
		}
		return err
	})
	must.OK(t, err)
	counts["kernel"] = linesLinked(t, "./internal/judge")
	programs := must.Get(filepath.Glob(filepath.Join(root, "cmd", "*")))(t)
	for _, p := range programs {
		counts["linked/"+filepath.Base(p)] = linesLinked(t, "./cmd/"+filepath.Base(p))
	}
	return counts
}

func linesOf(t *testing.T, path string) int {
	text := must.Read(t, path)
	return strings.Count(string(text), "\n")
}

// linesLinked returns the lines of the module's own files that a package links on one platform.
func linesLinked(t *testing.T, path string) (n int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f",
		`{{if .Module}}{{if .Module.Main}}{{range .GoFiles}}{{$.Dir}}/{{.}}{{"\n"}}{{end}}{{end}}{{end}}`, path)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH=amd64", "CGO_ENABLED=0")
	out := must.Get(cmd.Output())(t)
	for _, file := range strings.Split(strings.TrimSpace(string(out)), "\n") {
		if file != "" {
			n += linesOf(t, file)
		}
	}
	return n
}

// mergeBase returns the commit where HEAD left CI_BASE, the remote's default branch or, if neither is known, its own
// first parent. The zeros that a forge sends for a new branch name no commit.
func mergeBase(t *testing.T) (string, error) {
	t.Helper()
	wanted := os.Getenv("CI_BASE")
	if strings.Trim(wanted, "0") == "" {
		wanted = ""
		if _, err := gitText(t, "rev-parse", "--verify", "--quiet", "origin/HEAD^{commit}"); err == nil {
			wanted = "origin/HEAD"
		}
	}
	if wanted == "" {
		return gitText(t, "rev-parse", "--verify", "--quiet", "HEAD~1^{commit}")
	}
	return gitText(t, "merge-base", "HEAD", wanted)
}

func gitText(t *testing.T, args ...string) (string, error) {
	out, err := exec.CommandContext(t.Context(), "git", append([]string{"-C", root}, args...)...).Output()
	return strings.TrimSpace(string(out)), err
}

// keepBounds checks each count against its row, and the rows against those of the merge base.
func keepBounds(t *testing.T) {
	path := filepath.Join(root, filepath.FromSlash(boundsFile))
	text := must.Read(t, path)
	rows, err := readBounds(string(text))
	if err != nil {
		t.Fatalf("%s: %v", boundsFile, err)
	}
	counts := countLines(t)
	if *update {
		var lowered strings.Builder
		for line := range strings.Lines(string(text)) {
			name := strings.Fields(line)[0]
			if n, there := counts[name]; there {
				rows[name] = min(rows[name], highest(name, n))
				fmt.Fprintf(&lowered, "%s %d\n", name, rows[name])
			}
		}
		must.OK(t, os.WriteFile(path, []byte(lowered.String()), 0o644))
	}
	var base bounds
	said := bounds{}
	from, err := mergeBase(t)
	if err != nil {
		fmt.Println("NOT CHECKED: whether rows of " + boundsFile +
			" rise: Git does not know the commit to compare with")
		if os.Getenv("CI") == "true" {
			t.Error("CI needs the history: check out with fetch-depth: 0")
		}
		// without the file there is no row to raise
	} else if old, err := gitText(t, "show", from+":"+boundsFile); err == nil {
		if base, err = readBounds(old + "\n"); err != nil {
			t.Fatalf("%s of %s: %v", boundsFile, from, err)
		}
		messages := must.Get(gitText(t, "log", "--format=%B", from+"..HEAD"))(t)
		for _, raise := range raisesRow.FindAllStringSubmatch(messages, -1) {
			n, err := strconv.Atoi(raise[2])
			if err != nil {
				t.Fatalf("%q: %v", raise[0], err)
			}
			said[raise[1]] += n
		}
	}
	for _, problem := range rows.problems(counts, base, said) {
		t.Error(problem)
	}
}

// TestBounds checks what each rule refuses, next to what it allows.
func TestBounds(t *testing.T) {
	base := bounds{"oap": 1000, "strict": 500, "tree": 9000, "kernel": 1500, "tests": 800}
	for _, c := range []struct {
		name        string
		rows, count bounds // what differs from the base; a count is its row if it is not named
		said        bounds
		want        string // a part of the one problem; empty: nothing is wrong
	}{
		{name: "nothing changes"},
		{name: "code above the bound", count: bounds{"oap": 1041},
			want: "oap has 1041 lines, its bound is 1000: remove " +
				`41, or add to the commit message "Raises-bound: oap by 41: REASON" and raise the row`},
		{name: "a row far above its count", count: bounds{"oap": 899}, want: "lower the row to at most 900"},
		{name: "a row at the next hundred", count: bounds{"oap": 901}},
		{name: "a sum far above its count", count: bounds{"tree": 8500}, want: "lower the row to at most 8500"},
		{name: "a raised row that nobody explains", rows: bounds{"oap": 1030}, want: "the row of oap rises by 30"},
		{name: "a raised row, and the sums with it", rows: bounds{"oap": 1030, "tree": 9030, "kernel": 1530},
			said: bounds{"oap": 30}},
		{name: "the line of another room", rows: bounds{"oap": 1030}, said: bounds{"strict": 30},
			want: "the row of oap"},
		{name: "a line with a smaller number", rows: bounds{"oap": 1030}, said: bounds{"oap": 29}, want: "say 29"},
		{name: "a sum that rises more", rows: bounds{"oap": 1030, "kernel": 1531}, said: bounds{"oap": 30},
			want: `"Raises-bound: kernel by 1: REASON"`},
		{name: "a sum that rises more, explained", rows: bounds{"oap": 1030, "kernel": 1531},
			said: bounds{"oap": 30, "kernel": 1}},
		{name: "a file that moves between rooms", rows: bounds{"oap": 970, "strict": 530}, said: bounds{"strict": 30}},
		{name: "tests that grow with a room", rows: bounds{"oap": 1030, "tests": 830}, said: bounds{"oap": 30},
			want: "the row of tests rises by 30"},
		{name: "a new room", rows: bounds{"util": 40}, want: "the row of util rises by 40"},
		{name: "a new room, explained", rows: bounds{"util": 40}, said: bounds{"util": 40}},
		{name: "a row without its room", count: bounds{"strict": -1}, want: "strict has a row and no lines"},
		{name: "a room without its row", rows: bounds{"strict": -1}, count: bounds{"strict": 500},
			want: "strict has 500 " +
				`lines and no row: add "strict 500", and "Raises-bound: strict by 500: REASON" to the commit message`},
	} {
		rows, counts := bounds{}, bounds{}
		for name, n := range base {
			rows[name], counts[name] = n, n
		}
		for name, n := range c.rows {
			rows[name], counts[name] = n, n
		}
		for name, n := range c.count {
			counts[name] = n
		}
		for _, m := range []bounds{rows, counts} {
			for name, n := range m {
				if n < 0 {
					delete(m, name)
				}
			}
		}
		got := rows.problems(counts, base, c.said)
		if c.want == "" && len(got) > 0 || c.want != "" && (len(got) != 1 || !strings.Contains(got[0], c.want)) {
			t.Errorf("%s: the problems are %q, want %q", c.name, got, c.want)
		}
		if c.want != "" && strings.Contains(c.want, "the row of") && rows.problems(counts, nil, nil) != nil {
			t.Errorf("%s: without a base a row was compared with it", c.name)
		}
	}
	for _, text := range []string{"oap\n", "oap 1 2\n", "oap -1\n", "oap 1\noap 1\n", "\n",
		"oap 99999999999999999999\n"} {
		if rows, err := readBounds(text); err == nil {
			t.Errorf("%q is read as %v", text, rows)
		}
	}
	for message, want := range map[string]int{
		"Raises-bound: oap by 30: why": 1, "raise\n\nRaises-bound: oap by 30: why\n": 1, "Raises-bound: oap by 30:": 0,
		"Raises-bound: oap by 30: ": 0, " Raises-bound: oap by 30: why": 0, "Raises-bound: oap by -3: why": 0,
	} {
		if got := raisesRow.FindAllString(message, -1); len(got) != want {
			t.Errorf("%q has the lines %q, want %d", message, got, want)
		}
	}
}
