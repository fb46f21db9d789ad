// Package outside checks the product against judges that others wrote: test corpora and programs that answer the same
// question. Each file is one judge or a few of a kind. Corpora come from modules and npm packages that go.sum and
// package-lock.json pin; no byte of one is in this repository.
package outside

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

var (
	update = flag.Bool("update", false, "write docs/external-tests.md")
	seed   = flag.Uint64("seed", 1, "of what random judges generate; the page holds the results of 1")
)

// The outcomes of a case.
const (
	agree    = iota
	stricter // refused here, accepted there
	laxer    // accepted here, refused there
	other    // both accept, and read another value
	outOfScope
	outcomes
)

var outcomeNames = [outcomes]string{"agree", "stricter", "laxer", "other", "out of scope"}

// A judge compares the product with one corpus or program.
type judge struct {
	name    string
	version string        // empty: of says
	of      func() string // a version that is known when the judge runs
	random  bool          // cases come from the seed
	cases   int           // pinned: fewer or more fail
	// sound says that no case may be laxer or other, whatever explains it, unless a predicate does.
	sound     bool
	explained []explanation
	needs     []string // programs; "npm" is the directory of npm ci
	run       func(r *run)
}

// An explanation is why some cases do not agree.
type explanation struct {
	cases   string // a regular expression that the whole id of a case matches
	outcome int
	reason  string            // one line, which cites the rule
	holds   func(k kase) bool // a predicate besides; nil holds
}

type kase struct {
	id      string
	outcome int
	detail  string
}

// run collects the cases of one judge.
type run struct {
	testing.TB
	cases []kase
	turn  string // the id of the case whose expected result is turned around, for the tests of this harness
	fault []string
	most  time.Duration // for one case; longest unless a case is many
}

// answer is what a judge makes of a case: a value, or a refusal.
type answer struct {
	value   string
	refuses bool
}

var (
	accepts = answer{}
	refuses = answer{refuses: true}
)

func accept(is bool) answer { return answer{refuses: !is} }

// longest is how long one case may take.
const longest = 2 * time.Second

// compare adds a case. ours returns the product's value, or an error if it refuses the case. A panic and a case that
// takes longer than 2 s fail the judge.
func (r *run) compare(id string, theirs answer, ours func() (string, error)) {
	r.Helper()
	if r.turn == id {
		theirs = answer{value: theirs.value + "!", refuses: !theirs.refuses}
	}
	value, err, fault := guarded(max(longest, r.most), ours)
	if fault != "" {
		r.fault = append(r.fault, fmt.Sprintf("%q: %s", id, fault))
	}
	k := kase{id: id, detail: fmt.Sprintf("here %.200q, %v; there %.200q, refused: %v", value, err, theirs.value,
		theirs.refuses)}
	switch {
	case err != nil && !theirs.refuses:
		k.outcome = stricter
	case err == nil && theirs.refuses:
		k.outcome = laxer
	case err == nil && value != theirs.value:
		k.outcome = other
	}
	r.cases = append(r.cases, k)
}

// skip adds a case that is out of scope.
func (r *run) skip(id string) { r.cases = append(r.cases, kase{id: id, outcome: outOfScope}) }

// guarded calls f, and says what is wrong if it panics or does not return in time.
func guarded(most time.Duration, f func() (string, error)) (value string, err error, fault string) {
	type result struct {
		value, fault string
		err          error
	}
	ended := make(chan result, 1)
	go func() {
		var r result
		defer func() {
			if p := recover(); p != nil {
				r.fault = fmt.Sprintf("panic: %v", p)
			}
			ended <- r
		}()
		r.value, r.err = f()
	}()
	begun, end := cpu(), time.Now().Add(30*most)
	for {
		select {
		case r := <-ended:
			return r.value, r.err, r.fault
		case <-time.After(most):
			if cpu()-begun >= most || time.Now().After(end) {
				return "", nil, fmt.Sprintf("it takes longer than %v", most)
			}
		}
	}
}

// cpu returns the time that this process has used. On a machine that is busy with others, a case takes longer.
func cpu() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// row is one line of the page's table, and what the page says below it.
type row struct {
	judge       *judge
	counts      [outcomes]int
	explanation []int // cases of each explanation
}

// result counts the cases of a judge, and returns what is wrong with them.
func (j *judge) result(cases []kase) (row, []string) {
	out := row{judge: j, explanation: make([]int, len(j.explained))}
	var wrong []string
	if n := len(cases); n != j.cases {
		wrong = append(wrong, fmt.Sprintf("%d cases; expected %d", n, j.cases))
	}
	patterns := make([]*regexp.Regexp, len(j.explained))
	for i, e := range j.explained {
		patterns[i] = regexp.MustCompile("^(?s:" + e.cases + ")$")
		if j.sound && e.outcome != stricter && e.holds == nil {
			wrong = append(wrong, fmt.Sprintf("explanation %q explains what is %s; expected none here", e.cases,
				outcomeNames[e.outcome]))
		}
	}
	seen := map[string]bool{}
	for _, k := range cases {
		if seen[k.id] {
			wrong = append(wrong, fmt.Sprintf("two cases have the id %q", k.id))
		}
		seen[k.id] = true
		out.counts[k.outcome]++
		if k.outcome == agree || k.outcome == outOfScope {
			continue
		}
		matched := 0
		for i, e := range j.explained {
			if e.outcome == k.outcome && patterns[i].MatchString(k.id) && (e.holds == nil || e.holds(k)) {
				matched++
				out.explanation[i]++
			}
		}
		if matched != 1 {
			wrong = append(wrong, fmt.Sprintf("%q is %s, which %d explanations match; expected 1: %s", k.id,
				outcomeNames[k.outcome], matched, k.detail))
		}
	}
	for i, n := range out.explanation {
		if n == 0 {
			wrong = append(wrong, fmt.Sprintf("explanation %q (%s) matches no case", j.explained[i].cases,
				outcomeNames[j.explained[i].outcome]))
		}
	}
	return out, wrong
}

// judges are all, in the order of the page.
var judges = []*judge{
	wycheproofEd25519, wycheproofText, wycheproofJWK,
	jcsFiles, jcsNumbers,
	jsonSuite,
	schemaSuite,
	suffixList,
	wptASCII, wptURL, idnaTest, wptFormat,
	whoisReplies, whoisNotFound, rdapReplies, rdapStandard,
	yamlSuite,
	packs, clones,
	promlintJudge, htmlValidate,
	nodeSignatures, smallOrder, opensslSignatures, nodeJSON, nodeHosts, refNames, ignorePatterns, hostilePacks,
	mergeTree, didKeys, addresses, schemaPairs, controlLines, controlReports,
}

// TestJudges asks each judge, and compares the page with what they say.
func TestJudges(t *testing.T) {
	var rows []row
	for _, j := range judges {
		t.Run(strings.ReplaceAll(j.name, " ", "-"), func(t *testing.T) {
			for _, n := range j.needs {
				need(t, n)
			}
			begun := cpu()
			r := &run{TB: t}
			j.run(r)
			found, wrong := j.result(r.cases)
			for _, w := range append(r.fault, wrong...) {
				t.Error(w)
			}
			if took := cpu() - begun; took > time.Minute {
				t.Errorf("it takes %v; expected at most a minute", took)
			}
			if j.random {
				t.Logf("seed %d", *seed)
			}
			rows = append(rows, found)
		})
	}
	cases, explained := 0, 0
	for _, r := range rows {
		cases += r.judge.cases
		for _, n := range r.explanation {
			explained += n
		}
	}
	if t.Failed() {
		return
	}
	fmt.Printf("outside: %d judges, %d cases, %d explained, 0 unexplained\n", len(rows), cases, explained)
	if len(rows) < len(judges) || *seed != 1 {
		return // the page is of all judges
	}
	if err := settlePage(filepath.Join("..", ".."), rows, *update); err != nil {
		t.Error(err)
	}
}

// packages are where a Debian system has the programs.
var packages = map[string]string{"node": "nodejs", "git": "git", "openssl": "openssl", "python3": "python3",
	"java": "default-jre-headless"}

// need skips the test if a program is missing. With CI=true it fails it, and names the package.
func need(t testing.TB, program string) {
	t.Helper()
	var missing string
	if program == "npm" {
		if _, err := os.Stat("node_modules"); err != nil {
			missing = "the npm packages are missing: run npm ci --ignore-scripts in test/outside"
		}
	} else if _, err := exec.LookPath(program); err != nil {
		missing = fmt.Sprintf("%s is missing: install the package %s", program, packages[program])
	}
	if missing == "" {
		return
	}
	if os.Getenv("CI") == "true" {
		t.Fatal(missing)
	}
	fmt.Printf("NOT CHECKED: %s: %s\n", t.Name(), missing)
	t.Skip(missing)
}

// module returns the directory of a module and its version as the page shows it: that of a commit by its first digits.
func module(t testing.TB, path string) (dir, version string) {
	t.Helper()
	out, err := exec.Command("go", "list", "-m", "-json", path).Output()
	var m struct{ Dir, Version string }
	if err == nil {
		err = json.Unmarshal(out, &m)
	}
	if err != nil || m.Dir == "" {
		t.Fatalf("finding module %s: %v: %s", path, err, out)
	}
	return m.Dir, m.Version
}

// npmVersion returns the version of an installed npm package.
func npmVersion(name string) string {
	text, err := os.ReadFile(filepath.Join("node_modules", filepath.FromSlash(name), "package.json"))
	if err != nil {
		return ""
	}
	var p struct{ Version string }
	_ = json.Unmarshal(text, &p)
	return p.Version
}

// node runs a program of Node.js as a module in this directory, hands it input as JSON and reads its output as JSON.
func node(t testing.TB, program string, input, output any) {
	t.Helper()
	text, err := json.Marshal(input)
	must.OK(t, err)
	cmd := exec.Command("node", "--input-type=module", "-e",
		"import { readFileSync, writeSync } from 'node:fs'\n"+
			"const input = JSON.parse(readFileSync(0, 'utf8'))\n"+
			"const print = v => { const b = Buffer.from(JSON.stringify(v)); let n = 0\n"+
			"  while (n < b.length) try { n += writeSync(1, b, n) } catch (e) { if (e.code !== 'EAGAIN') throw e } }\n"+
			program)
	cmd.Stdin = strings.NewReader(string(text))
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err == nil {
		err = json.Unmarshal(out, output)
	}
	if err != nil {
		t.Fatalf("asking Node.js: %v: %s", err, stderr.String())
	}
}

// readFile reads a file of a corpus.
func readFile(t testing.TB, parts ...string) []byte {
	t.Helper()
	text := must.Read(t, filepath.Join(parts...))
	return text
}

func readJSON(t testing.TB, v any, parts ...string) {
	t.Helper()
	if err := json.Unmarshal(readFile(t, parts...), v); err != nil {
		t.Fatalf("%s: %v", filepath.Join(parts...), err)
	}
}

// goVersion is the version that go.mod requires of a module, as the page shows it: a commit by its digits.
func goVersion(path string) string {
	text, err := os.ReadFile("go.mod")
	if err != nil {
		return ""
	}
	for line := range strings.SplitSeq(string(text), "\n") {
		if f := strings.Fields(line); len(f) > 1 && slices.Contains(f, path) {
			version := f[slices.Index(f, path)+1]
			if parts := strings.Split(version, "-"); len(parts) == 3 && strings.HasPrefix(version, "v0.0.0-") {
				return parts[2]
			}
			return version
		}
	}
	return ""
}
