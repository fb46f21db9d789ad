// Package checktest judges worlds, as package fixture describes them, in this process: without network, git or a work
// tree. What it finds is what `oap-gate check` finds on the same world and its real web.
package checktest

import (
	"bytes"
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/checks"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/foreign"
	"github.com/openagentprotocol-OAP/oap-gate/internal/judge"
	"github.com/openagentprotocol-OAP/oap-gate/internal/mirror"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/receipt/explain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/report"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/fixture"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// Case is a world and what is found in its pull request, or in an audit of its head.
type Case struct {
	Name  string
	World string // as fixture.Build reads it
	Base  string // the steps of World's member base, if World has none
	PR    string // those of its member pr

	Audit  bool
	Config judge.Config // Selected follows from Only and Skip

	Only, Skip string // ids of checks, separated by blanks; without both all run

	// Want has a line "place: severity: check: code" for each finding, in the report's order, and "path: inconclusive:
	// check" for what was not decided because another check has such a finding. The worst line is the verdict; where
	// there is no line it is "pass".
	Want string
	// Says are regular expressions that the report as text matches.
	Says []string
}

// Run judges the world of each case.
func Run(t *testing.T, cases []Case) {
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			c.run(t)
		})
	}
}

// world returns the description of the world.
func (c Case) world() string {
	text := c.World
	if c.Base != "" {
		text += "\nbase: [" + c.Base + "]"
	}
	if c.PR != "" {
		text += "\npr: [" + c.PR + "]"
	}
	return text
}

func (c Case) run(t *testing.T) {
	only, skip := strings.Fields(c.Only), strings.Fields(c.Skip)
	cfg := c.Config
	cfg.Selected = func(id string) bool {
		return (len(only) == 0 || slices.Contains(only, id)) && !slices.Contains(skip, id)
	}
	w, repo := Build(t, c.world())
	var rep *verdict.Report
	if c.Audit {
		rep = audit(t, w, repo, cfg)
	} else {
		rng := changes(t, w, repo)
		rep = check(t, w, repo, rng, cfg)
		if len(only)+len(skip) == 0 {
			follow(t, w, repo, rng, rep)
		}
	}
	got := lines(rep)
	if want := strings.TrimSpace(c.Want); got != want {
		t.Errorf("found\n%s\nwant\n%s", got, want)
	}
	if worst := worst(got); rep.Verdict != worst {
		t.Errorf("the verdict is %s, by the findings it is %s", rep.Verdict, worst)
	}
	for _, code := range unexplained(rep) {
		t.Errorf("no check explains the code %q", code)
	}
	if c.Says == nil {
		return
	}
	var text bytes.Buffer
	must.OK(t, report.Write(&text, "text", rep, report.Options{Rules: checks.Rules()}))
	unwrapped := regexp.MustCompile(`\n {20,}`).ReplaceAll(text.Bytes(), []byte(" ")) // a reason may wrap
	for _, says := range c.Says {
		if says := regexp.MustCompile("(?m)" + says); !says.Match(text.Bytes()) && !says.Match(unwrapped) {
			t.Errorf("the report does not match %q:\n%s", says, &text)
		}
	}
}

// Judge gives the report of a check of the world's pull request by the selected checks.
func Judge(t testing.TB, world string, selected func(id string) bool) *verdict.Report {
	t.Helper()
	return JudgeBy(t, world, judge.Config{Selected: selected})
}

// JudgeBy gives the report of a check of the world's pull request by a configuration.
func JudgeBy(t testing.TB, world string, cfg judge.Config) *verdict.Report {
	t.Helper()
	w, repo := Build(t, world)
	return check(t, w, repo, changes(t, w, repo), cfg)
}

// Build builds a world in memory, and opens its registry on disk until the test ends.
func Build(t testing.TB, world string) (*fixture.World, *registry.Repository) {
	t.Helper()
	w := must.Get(fixture.BuildUnserved(t.TempDir(), []byte(world)))(t)
	repo := must.Get(registry.Open(w.Repo.Dir))(t)
	t.Cleanup(func() { repo.Close() })
	return w, repo
}

// changes returns the range of the world's pull request.
func changes(t testing.TB, w *fixture.World, repo *registry.Repository) *registry.Range {
	t.Helper()
	rng := must.Get(repo.Range(t.Context(), w.Base, w.Head))(t)
	return rng
}

func check(t testing.TB, w *fixture.World, repo *registry.Repository, rng *registry.Range,
	cfg judge.Config) *verdict.Report {
	t.Helper()
	cfg.Explain = explain.Signature
	rep := must.Get(judge.Check(t.Context(), repo, []*registry.Range{rng}, web{t, w}, cfg))(t)
	return rep
}

func audit(t testing.TB, w *fixture.World, repo *registry.Repository, cfg judge.Config) *verdict.Report {
	t.Helper()
	head := must.Get(repo.Resolve(w.Head))(t)
	cfg.Explain = explain.Signature
	rep := must.Get(mirror.Audit(t.Context(), repo, head, web{t, w}, mirror.AuditConfig{Config: cfg}))(t)
	return rep
}

func unexplained(rep *verdict.Report) (codes []string) {
	for r := range rep.Results.All() {
		for _, f := range r.Findings {
			own := slices.ContainsFunc(mirror.Rules(), func(rule verdict.Rule) bool { return rule.ID == r.Check })
			if !own && !slices.ContainsFunc(checks.All, func(c *checks.Check) bool { return explains(c, f.Code) }) {
				codes = append(codes, f.Code)
			}
		}
	}
	return codes
}

func explains(c *checks.Check, code string) bool {
	return slices.ContainsFunc(c.Codes, func(known checks.Code) bool { return known.ID == code })
}

// lines returns the report in the form of Case.Want.
func lines(rep *verdict.Report) string {
	var out []string
	for r := range rep.Results.All() {
		doubts := false
		for _, f := range r.Findings {
			place := foreign.Line(cmp.Or(f.Pos.String(), r.Subject))
			out = append(out, fmt.Sprintf("%s: %s: %s: %s", place, f.Severity, r.Check, f.Code))
			doubts = doubts || f.Severity == verdict.Doubt
		}
		if r.Verdict == verdict.Inconclusive && !doubts {
			out = append(out, fmt.Sprintf("%s: %s: %s", r.Subject, r.Verdict, r.Check))
		}
	}
	if out == nil {
		return string(verdict.Passed)
	}
	return strings.Join(out, "\n")
}

// worst returns the verdict of such lines.
func worst(lines string) verdict.Verdict {
	switch {
	case strings.Contains(lines, ": "+verdict.Error.String()+": "):
		return verdict.Failed
	case strings.Contains(lines, ": "+verdict.Doubt.String()+": "):
		return verdict.Inconclusive
	}
	return verdict.Passed
}
