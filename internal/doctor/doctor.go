// Package doctor looks at the installation of the gate in a registry: the workflows and CODEOWNERS of a clone, and, with a
// client, the protections at the forge. It says what is wrong and how to mend it.
package doctor

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/internal/capped"
	"github.com/openagentprotocol-OAP/oap-gate/internal/forge"
	"github.com/openagentprotocol-OAP/oap-gate/internal/repoconfig"
	"github.com/openagentprotocol-OAP/oap-gate/internal/report"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strictyaml"
)

// Limits of what is read from the clone.
const (
	maxWorkflow  = 256 << 10 // bytes of one file
	maxWorkflows = 200       // files
)

const workflowFolder = ".github/workflows"

// Severity says what a Finding means for the verdict.
type Severity string

// The severities. Error fails, Inconclusive leaves the verdict open, the others do neither.
const (
	Error        Severity = "error"
	Inconclusive Severity = "inconclusive"
	Warning      Severity = "warning"
	Notice       Severity = "notice"
)

// Finding is one thing that is wrong, or could not be seen.
type Finding struct {
	Severity Severity `json:"severity"`
	Code     string   `json:"code"`
	File     string   `json:"file,omitempty"`
	Line     int      `json:"line,omitempty"`
	Column   int      `json:"column,omitempty"`
	Message  string   `json:"message"`
	Fix      string   `json:"fix,omitempty"`
}

// Report is all that was found. The same clone and the same answers of the forge give the same report.
type Report struct {
	Version  int       `json:"version"`
	Verdict  string    `json:"verdict"` // pass, fail, inconclusive
	Branch   string    `json:"branch"`  // the default branch that was assumed or read
	Forge    string    `json:"forge"`   // owner/name that was asked; empty: the forge was not asked
	Examined []string  `json:"examined"`
	Findings []Finding `json:"findings"`
}

// ExitStatus is 0 where nothing is wrong, 1 where something is, 3 where something could not be seen.
func (r *Report) ExitStatus() int {
	return map[string]int{"pass": 0, "fail": 1, "inconclusive": 3}[r.Verdict]
}

// Options say what to look at.
type Options struct {
	Dir    string        // root of the clone's work tree
	Branch string        // the default branch where the forge is not asked; empty: main
	Forge  *forge.Client // nil: the clone alone
}

// Doctor looks at the installation. An error means that the clone cannot be read at all; a forge that does not answer is a
// finding.
func Doctor(ctx context.Context, o Options) (*Report, error) {
	root, err := os.OpenRoot(o.Dir)
	if err != nil {
		return nil, fmt.Errorf("opening the clone: %w", err)
	}
	defer root.Close()
	v := &visit{tree: root.FS(), branch: cmp.Or(o.Branch, "main")}
	if o.Forge != nil {
		v.askForge(ctx, o.Forge)
	}
	v.readConfig()
	if err := v.readWorkflows(); err != nil {
		return nil, err
	}
	for _, w := range v.workflows {
		v.judge(w)
	}
	v.judgeCoverage()
	v.judgeOwners()
	v.judgeProtections()
	return v.report(), nil
}

// visit is one look at one installation.
type visit struct {
	tree      fs.FS
	branch    string
	forge     string
	standing  *forge.Standing  // nil: not asked, or no answer
	config    *repoconfig.File // nil: not there, or not readable
	workflows []*workflow
	unread    bool // a workflow could not be read
	called    bool // a workflow on pull_request calls the gate in another file
	examined  []string
	findings  []Finding
}

func (v *visit) add(s Severity, code string, pos strict.Pos, fix, format string, args ...any) {
	v.findings = append(v.findings, Finding{Severity: s, Code: code, File: pos.Path, Line: pos.Line, Column: pos.Column, Message: fmt.Sprintf(format, args...), Fix: fix})
}

func (v *visit) askForge(ctx context.Context, c *forge.Client) {
	v.forge = c.Repository
	standing, err := c.Standing(ctx)
	if err != nil {
		fix := "name the repository, and give a token that may read it (administration: read shows all)"
		if e, ok := errors.AsType[*forge.Error](err); ok {
			fix = e.Fix()
		}
		v.add(Inconclusive, "forge-not-read", strict.Pos{}, fix, "%v", err)
		return
	}
	v.standing, v.branch = standing, standing.Branch
}

// read gives the text of a regular file of the clone, nil where it is not there.
func (v *visit) read(name string, limit int) ([]byte, error) {
	f, err := v.tree.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("it is no regular file (%s)", info.Mode().Type())
	}
	data, err := capped.ReadAll(f, int64(limit))
	if errors.Is(err, capped.ErrTooLarge) {
		return nil, fmt.Errorf("it has more than %d bytes", limit)
	}
	if err != nil {
		return nil, err
	}
	if data == nil {
		data = []byte{}
	}
	return data, nil
}

const exampleFix = "copy docs/repo-config.example.yml of oap-gate to .github/repo-config.yml and run oap-gate protect --dry-run"

func (v *visit) readConfig() {
	pos := strict.Pos{Path: repoconfig.Path}
	data, err := v.read(repoconfig.Path, repoconfig.MaxBytes)
	switch {
	case err != nil:
		v.add(Error, "repo-config", pos, "make it a plain file", "reading the file: %v", err)
		return
	case data == nil:
		v.add(Error, "no-repo-config", pos, exampleFix, "the file is not there: RFC 0026 section 7 keeps the protections of the branch in it")
		return
	}
	v.examined = append(v.examined, repoconfig.Path)
	f, err := repoconfig.Parse(data)
	if err != nil {
		v.fault(Error, "repo-config", err, "see oap-gate schema repo-config")
		return
	}
	v.config = f
	v.judgeConfig()
}

// fault reports an error of a YAML reader at its place.
func (v *visit) fault(s Severity, code string, err error, fix string) {
	var e *strictyaml.Error
	if errors.As(err, &e) {
		v.add(s, code, e.Pos, fix, "%s", e.Message)
		return
	}
	v.add(s, code, strict.Pos{}, fix, "%v", err)
}

// judgeConfig holds the wanted protections to what RFC 0026 section 7 demands.
func (v *visit) judgeConfig() {
	have, least := v.config.Protection, repoconfig.Minimum()
	if have.MergeQueue {
		least.UpToDate = false
	}
	standing := &forge.Standing{Layers: []forge.Layer{{Protection: have}}}
	for _, d := range forge.Plan(standing, least) {
		if d.State == forge.Missing {
			v.add(Error, "config-below-rfc", v.place(d.Path), fmt.Sprintf("set %s to %s", d.Path, d.Want), "%s is %s, RFC 0026 section 7 needs %s", d.Path, d.Have, d.Want)
		}
	}
	if len(have.RequiredChecks) == 0 {
		v.add(Error, "config-below-rfc", v.place("protection.required_checks"), "list the job of the gate", "protection.required_checks is empty, RFC 0026 section 7 needs every check of section 6")
	}
	for i, c := range have.RequiredChecks {
		if c.AppID == 0 {
			v.add(Warning, "check-from-any-app", v.config.Pos(fmt.Sprintf("protection.required_checks[%d].context", i)), "add app_id: 15368 (GitHub Actions)", "required check %q counts from any app: whoever may set a status can report it", c.Context)
		}
	}
	if !have.BlockRebaseMerging {
		v.add(Warning, "rebase-merging", v.place("protection.block_rebase_merging"), "set protection.block_rebase_merging to true", "a pull request may be merged by rebasing: the steps between, which need not pass, would stand on the branch")
	}
}

// place is the position of a member of the repo-config, or of the protection that should have it.
func (v *visit) place(path string) strict.Pos {
	if v.config == nil {
		return strict.Pos{Path: repoconfig.Path}
	}
	member, _, _ := strings.Cut(path, "[")
	if pos := v.config.Pos(member); pos.Line > 0 {
		return pos
	}
	return v.config.Pos("protection")
}

// wanted is the protection that the forge is held to.
func (v *visit) wanted() repoconfig.Protection {
	if v.config != nil {
		return v.config.Protection
	}
	least := repoconfig.Minimum()
	for _, j := range v.gates() {
		least.RequiredChecks = append(least.RequiredChecks, repoconfig.RequiredCheck{Context: j.context()})
	}
	return least
}

func (v *visit) judgeProtections() {
	if v.standing == nil {
		return
	}
	for _, d := range forge.Plan(v.standing, v.wanted()) {
		where := fmt.Sprintf("at the forge %s of branch %q is %s", d.Path, v.branch, d.Have)
		switch d.State {
		case forge.Missing:
			v.add(Error, "protection-missing", v.place(d.Path), "run oap-gate protect --apply with a token that may administer", "%s, wanted is %s", where, d.Want)
		case forge.Unknown:
			v.add(Inconclusive, "protection-not-read", v.place(d.Path), "give a token with administration: read", "%s, wanted is %s", where, d.Want)
		case forge.Stricter:
			v.add(Notice, "protection-stricter", v.place(d.Path), "put it into repo-config.yml, or loosen it at the forge by hand", "%s, wanted is %s", where, d.Want)
		}
	}
	for _, kind := range v.standing.NotChecked {
		v.add(Notice, "rule-not-checked", strict.Pos{}, "", "the forge has a rule of type %q, which is not checked", kind)
	}
}

func (v *visit) report() *Report {
	slices.SortStableFunc(v.findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column), cmp.Compare(a.Code, b.Code), cmp.Compare(a.Message, b.Message))
	})
	v.findings = slices.Compact(v.findings)
	slices.Sort(v.examined)
	r := &Report{Version: 1, Verdict: "pass", Branch: v.branch, Forge: v.forge, Examined: append([]string{}, v.examined...), Findings: append([]Finding{}, v.findings...)}
	for _, f := range r.Findings {
		switch {
		case f.Severity == Error:
			r.Verdict = "fail"
		case f.Severity == Inconclusive && r.Verdict == "pass":
			r.Verdict = "inconclusive"
		}
	}
	return r
}

// WriteJSON writes r as indented JSON.
func (r *Report) WriteJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(r)
}

// WriteText writes r for people. Foreign text takes no effect in a terminal or a runner's log.
func (r *Report) WriteText(w io.Writer) error {
	var b strings.Builder
	count := map[Severity]int{}
	for _, f := range r.Findings {
		count[f.Severity]++
		pos := cmp.Or(f.File, "forge")
		if f.Line > 0 {
			pos = fmt.Sprintf("%s:%d:%d", f.File, f.Line, f.Column)
		}
		fmt.Fprintf(&b, "%s: %s: %s: %s\n", report.Line(pos), f.Severity, f.Code, report.Line(f.Message))
		if f.Fix != "" {
			fmt.Fprintf(&b, "    fix: %s\n", report.Line(f.Fix))
		}
	}
	asked := "the forge was not asked"
	if r.Forge != "" {
		asked = "asked the forge for " + r.Forge
	}
	fmt.Fprintf(&b, "%s: %d errors, %d inconclusive, %d warnings, %d notices; read %d files, %s\n", r.Verdict, count[Error], count[Inconclusive], count[Warning], count[Notice], len(r.Examined), asked)
	_, err := io.WriteString(w, b.String())
	return err
}
