package outside

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

const pageName = "docs/external-tests.md"

const pageHead = `# Results on the tests of others

A project that writes its code and its tests grades itself. This page shows what judges that others wrote say.
A judge is a corpus of test cases or a program that answers the same question, pinned by version and hash.
"Agree" counts the cases that both accept with the same value, and those that both refuse.
"Stricter": the gate refuses what the judge accepts. "Laxer": the opposite. "Other": both accept and read another value.
"Out of scope" counts cases about what the gate does not read. A list below the table explains each difference.
` + "`go test ./...` in `test/outside`, after `npm ci --ignore-scripts`, repeats all of this and fails if a number " +
	"differs.\n\n"

const pageEnd = `
## What this page does not show

Agreement on a corpus is not a proof. A corpus holds the mistakes that its authors thought of.
The judges named "generated" get their cases from this project, and their answers from the program that the row names.

A nightly run also asks two judges that are too large for each run. Microsoft's SARIF validator (sarif-multitool 5.7.0, rules
Sarif and Ghas) finds no error in the SARIF report of an audit. The Nu HTML Checker (vnu 26.9.27) finds none in its HTML report.
`

// page writes the page of all rows. The version of a program is that of the machine that wrote the page: it is read
// from old if that is not nil, so that another machine compares the numbers only.
func page(rows []row, measured string, old []byte) []byte {
	var out bytes.Buffer
	out.WriteString(pageHead)
	out.WriteString("| judge | version | cases | agree | stricter | laxer | other | out of scope |\n")
	out.WriteString("|---|---|---|---|---|---|---|---|\n")
	for _, r := range rows {
		version := r.judge.version
		if r.judge.of != nil {
			version = versionIn(old, r.judge.name)
			if version == "" {
				version = r.judge.of()
			}
		}
		if r.judge.random && !strings.HasSuffix(version, seedOne) {
			version = strings.TrimPrefix(version+seedOne, ", ")
		}
		fmt.Fprintf(&out, "| %s | %s | %d", r.judge.name, version, r.judge.cases)
		for _, n := range r.counts {
			fmt.Fprintf(&out, " | %d", n)
		}
		out.WriteString(" |\n")
	}
	for _, r := range rows {
		differ := r.judge.cases - r.counts[agree] - r.counts[outOfScope]
		if differ == 0 {
			continue
		}
		verb := "differ"
		if differ == 1 {
			verb = "differs"
		}
		fmt.Fprintf(&out, "\n### %s: %d %s\n\n", r.judge.name, differ, verb)
		for i, e := range r.judge.explained {
			fmt.Fprintf(&out, "- %d %s: %s\n", r.explanation[i], outcomeNames[e.outcome], e.reason)
		}
	}
	out.WriteString(measured)
	out.WriteString(pageEnd)
	return out.Bytes()
}

const seedOne = ", seed 1"

// versionIn returns the version of a judge's row in a page, or "".
func versionIn(old []byte, judge string) string {
	_, rest, _ := strings.Cut(string(old), "\n| "+judge+" | ")
	version, _, _ := strings.Cut(rest, " |")
	return version
}

// summary is the sentence of the README that links the page.
func summary(rows []row) string {
	cases := 0
	for _, r := range rows {
		cases += r.judge.cases
	}
	return fmt.Sprintf("[%d judges that others wrote, with %d cases](docs/external-tests.md)", len(rows), cases)
}

// settlePage writes the page, or compares it, and compares the README's sentence.
func settlePage(root string, rows []row, write bool) error {
	path := filepath.Join(root, filepath.FromSlash(pageName))
	old, err := os.ReadFile(path)
	if err != nil && !write {
		return err
	}
	versions := old
	if write {
		versions = nil
	}
	text := page(rows, measuredPart(old), versions)
	if write {
		if err := os.WriteFile(path, text, 0o644); err != nil {
			return err
		}
	} else if err := samePage(old, text); err != nil {
		return err
	}
	readme, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err == nil && !bytes.Contains(bytes.ReplaceAll(readme, []byte("\n"), []byte(" ")), []byte(summary(rows))) {
		err = fmt.Errorf("README.md lacks %q", summary(rows))
	}
	return err
}

// measuredPart is the part of the page that no test writes: the results of mutation and of fuzzing, by commit.
func measuredPart(old []byte) string {
	_, rest, found := strings.Cut(string(old), "\n## Mutants")
	if !found {
		return ""
	}
	part, _, _ := strings.Cut(rest, pageEnd)
	return "\n## Mutants" + part
}

// samePage returns an error that shows the first line that differs.
func samePage(old, text []byte) error {
	if bytes.Equal(old, text) {
		return nil
	}
	a, b := strings.Split(string(old), "\n"), strings.Split(string(text), "\n")
	for i := range a {
		if i >= len(b) || a[i] != b[i] {
			now := ""
			if i < len(b) {
				now = b[i]
			}
			return fmt.Errorf("%s:%d is %q; expected %q\nfix: go test ./... -update in test/outside", pageName, i+1,
				a[i], now)
		}
	}
	return fmt.Errorf("%s ends too soon\nfix: go test ./... -update in test/outside", pageName)
}
