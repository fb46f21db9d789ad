package outside

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

// Each wrong line that is added on purpose fails, and nothing does without one.
func TestHarness(t *testing.T) {
	cases := func(outcomes ...int) (all []kase) {
		for i, o := range outcomes {
			all = append(all, kase{id: string(rune('a' + i)), outcome: o})
		}
		return all
	}
	why := func(pattern string, outcome int) []explanation {
		return []explanation{{pattern, outcome, "a rule", nil}}
	}
	never := []explanation{{"b", laxer, "a rule", func(kase) bool { return false }}}
	always := []explanation{{"b", laxer, "a rule", func(kase) bool { return true }}}
	for _, test := range []struct {
		name  string
		judge judge
		cases []kase
		want  string // empty: nothing is wrong
	}{
		{"all agree", judge{cases: 2}, cases(agree, agree), ""},
		{"one is out of scope", judge{cases: 2}, cases(agree, outOfScope), ""},
		{"one is explained", judge{cases: 2, explained: why("b", stricter)}, cases(agree, stricter), ""},
		{"one is laxer, and explained", judge{cases: 2, explained: why("b", laxer)}, cases(agree, laxer), ""},
		{"one is laxer by a predicate", judge{cases: 2, sound: true, explained: always}, cases(agree, laxer), ""},
		{"one fewer than pinned", judge{cases: 3}, cases(agree, agree), "2 cases; expected 3"},
		{"one more than pinned", judge{cases: 1}, cases(agree, agree), "2 cases; expected 1"},
		{"one is not explained", judge{cases: 2}, cases(agree, stricter), `"b" is stricter, which 0 explanations match`},
		{"it is explained as another outcome", judge{cases: 2, explained: why("b", stricter)}, cases(agree, other),
			`"b" is other, which 0 explanations match`},
		{"it is explained twice", judge{cases: 2, explained: slices.Concat(why("b", other), why(".", other))},
			cases(agree, other), `"b" is other, which 2 explanations match`},
		{"a pattern matches a part of an id only", judge{cases: 1, explained: why("", stricter)}, cases(stricter),
			`"a" is stricter, which 0 explanations match`},
		{"a predicate does not hold", judge{cases: 2, explained: never}, cases(agree, laxer),
			`"b" is laxer, which 0 explanations match`},
		{"an explanation matches nothing", judge{cases: 2, explained: why("c", stricter)}, cases(agree, agree),
			`explanation "c" (stricter) matches no case`},
		{"what must be sound is laxer", judge{cases: 2, sound: true, explained: why("b", laxer)}, cases(agree, laxer),
			`explanation "b" explains what is laxer`},
		{"what must be sound is other", judge{cases: 2, sound: true, explained: why("b", other)}, cases(agree, other),
			`explanation "b" explains what is other`},
		{"an id twice", judge{cases: 2}, append(cases(agree), cases(agree)...), `two cases have the id "a"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, wrong := test.judge.result(test.cases)
			got := strings.Join(wrong, "\n")
			if test.want == "" && got != "" || !strings.Contains(got, test.want) {
				t.Errorf("got %q; want %q", got, test.want)
			}
		})
	}
}

// A corpus whose first case has the other result fails, whatever the explanations say.
func TestCaseTurnedAround(t *testing.T) {
	for _, j := range []*judge{wycheproofEd25519, jsonSuite, suffixList} {
		for _, n := range j.needs {
			need(t, n)
		}
		honest := &run{TB: t}
		j.run(honest)
		i := slices.IndexFunc(honest.cases, func(k kase) bool { return k.outcome == agree })
		turned := &run{TB: t, turn: honest.cases[i].id}
		j.run(turned)
		if _, wrong := j.result(honest.cases); len(wrong) > 0 {
			t.Errorf("%s: %q", j.name, wrong)
		}
		if _, wrong := j.result(turned.cases); len(wrong) == 0 {
			t.Errorf("%s: the case %q is turned around, and nothing is wrong", j.name, turned.turn)
		}
	}
}

func TestFaults(t *testing.T) {
	r := &run{TB: t}
	r.compare("panics", accepts, func() (string, error) { panic("a fault") })
	if len(r.fault) != 1 || r.fault[0] != `"panics": panic: a fault` {
		t.Errorf("a panic: %q", r.fault)
	}
	forever := make(chan bool)
	defer close(forever)
	endless := func() (string, error) { <-forever; return "", nil }
	if _, _, fault := guarded(0, endless); fault != "it takes longer than 0s" {
		t.Errorf("a case that does not end: %q", fault)
	}
	if v, err, fault := guarded(longest, func() (string, error) { return "v", errors.New("e") }); v != "v" ||
		err.Error() != "e" || fault != "" {
		t.Errorf("a case that ends: %q, %v, %q", v, err, fault)
	}
}

func TestPage(t *testing.T) {
	one := &judge{name: "One", cases: 3, explained: []explanation{{".*", stricter, "a rule", nil}}}
	rows := []row{{judge: one, counts: [outcomes]int{2, 1, 0, 0, 0}, explanation: []int{1}}}
	root := t.TempDir()
	must.OK(t, os.Mkdir(filepath.Join(root, "docs"), 0o700))
	write := func(name, text string) {
		must.OK(t, os.WriteFile(filepath.Join(root, name), []byte(text), 0o600))
	}
	write("README.md", "See [1 judges that others wrote,\nwith 3 cases](docs/external-tests.md).\n")
	if err := settlePage(root, rows, false); err == nil {
		t.Error("there is no page, and nothing is wrong")
	}
	one.of = func() string { return "1.2" }
	must.OK(t, settlePage(root, rows, true))
	one.of = func() string { return "1.3" } // of another machine
	if err := settlePage(root, rows, false); err != nil {
		t.Error(err)
	}
	text := string(readFile(t, root, pageName))
	for _, want := range []string{"\n| One | 1.2 | 3 | 2 | 1 | 0 | 0 | 0 |\n",
		"\n### One: 1 differs\n\n- 1 stricter: a rule\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q:\n%s", want, text)
		}
	}
	write(pageName, strings.Replace(text, "| 3 | 2 |", "| 3 | 3 |", 1))
	err := settlePage(root, rows, false)
	if err == nil || !strings.Contains(err.Error(), "docs/external-tests.md:12 is ") {
		t.Errorf("an edited page: %v", err)
	}
	measured := "\n## Mutants and fuzzing\n\n| x |\n"
	write(pageName, strings.Replace(text, pageEnd, measured+pageEnd, 1))
	must.OK(t, settlePage(root, rows, true))
	if now := string(readFile(t, root, pageName)); !strings.Contains(now, measured+pageEnd) {
		t.Errorf("the part that was measured is lost:\n%s", now)
	}
	write("README.md", "See [2 judges that others wrote, with 3 cases](docs/external-tests.md).\n")
	if err := settlePage(root, rows, false); err == nil || !strings.Contains(err.Error(), "README.md lacks") {
		t.Errorf("a README with another sum: %v", err)
	}
}

// In CI a judge that is missing fails the run and is named; elsewhere its test is skipped.
func TestMissingJudge(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	for _, ci := range []string{"true", ""} {
		t.Setenv("CI", ci)
		r := &recorder{TB: t}
		func() {
			defer func() { _ = recover() }()
			need(r, "node")
		}()
		const want = "node is missing: install the package nodejs"
		if ci == "true" && r.failed != want || ci == "" && r.skipped != want {
			t.Errorf("CI=%s: failed %q, skipped %q", ci, r.failed, r.skipped)
		}
	}
}

// recorder notes how a test ends.
type recorder struct {
	testing.TB
	failed, skipped string
}

func (r *recorder) Fatal(args ...any) { r.failed = args[0].(string); panic("ended") }
func (r *recorder) Skip(args ...any)  { r.skipped = args[0].(string); panic("ended") }
