// Package doctor inspects the installation of the gate in a registry. It reads the workflows and CODEOWNERS of a clone
// and, with a client, the protections at the forge, and reports what is wrong and how to fix it.
package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/forge"
	"github.com/openagentprotocol-OAP/oap-gate/internal/forge/repoconfig"
	"github.com/openagentprotocol-OAP/oap-gate/internal/install"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/domainage"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict/strictyaml"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// Limits of what is read from the clone.
const (
	maxWorkflow  = 256 << 10 // bytes of one file
	maxWorkflows = 200       // files
	maxNodes     = 20_000    // in one file, with its aliases followed
)

const workflowDirectory = ".github/workflows"

// Options say what to look at.
type Options struct {
	Dir    string        // root of the clone's work tree
	Branch string        // the default branch as the clone shows it; empty: main
	Forge  *forge.Client // nil: only the clone

	// Specification reports whether the clone is one of the specification: only its governance workflow, and the owners
	// of the files that decide about it, are judged.
	Specification bool
	// Commit is the head of the work tree, at which the forge is asked about CODEOWNERS; empty: the default branch.
	Commit string

	// Now is the time by which the age of the Public Suffix List is judged; zero: it is not.
	Now time.Time

	// Modes are those of the Action by which another program checks an implementation against a protocol.
	Modes []string
}

// Doctor looks at the installation. An error means that the clone cannot be read at all; a forge that does not answer
// is a finding.
func Doctor(ctx context.Context, o Options) (*verdict.Report, error) {
	root, err := os.OpenRoot(o.Dir)
	if err != nil {
		return nil, fmt.Errorf("opening the clone: %w", err)
	}
	defer root.Close()
	v := &inspection{tree: root.FS(), branch: cmp.Or(o.Branch, "main"), modes: o.Modes,
		specification: o.Specification}
	if o.Forge != nil {
		if err := v.askForge(ctx, o.Forge); err != nil {
			v.unanswered(err)
		}
	}
	if err := v.readWorkflows(); err != nil {
		return nil, err
	}
	if !v.specification {
		v.readConfig()
	}
	for _, c := range v.wanted().RequiredChecks {
		v.deciding = append(v.deciding, c.Context)
	}
	for _, gate := range v.jobs(checkRole, governsRole) {
		v.deciding = append(v.deciding, gate.context())
	}
	for _, w := range v.workflows {
		v.judge(w)
	}
	v.judgeCoverage()
	if err := v.judgeOwn(); err != nil {
		return nil, err
	}
	if !v.trial() {
		v.judgeOwners()
	}
	if v.standing != nil && !v.specification && !v.trial() {
		if err := v.protect(ctx, o.Forge, Changes{Commit: o.Commit}); err != nil {
			return nil, err
		}
	}
	v.judgeSuffixList(domainage.ListDate, o.Now)
	return v.report("doctor")
}

// inspection is one look at one installation.
type inspection struct {
	modes []string
	tree  fs.FS

	specification bool

	branch     string
	forge      string
	standing   *forge.Standing  // nil: not asked, or no answer
	config     *repoconfig.File // nil: not there, or not readable
	workflows  []*workflow
	pin        string   // the commit of the gate's release here; empty: none
	deciding   []string // names of the checks that decide: those that the branch requires, and the gate's
	local      bool     // the clone's own action is the gate
	unreadable bool     // a workflow could not be read
	called     bool     // a workflow on pull_request calls the gate in another file or by a command line
	examined   []string
	findings   map[string][]verdict.Finding // by rule
	faulty     map[strict.Pos]bool          // files, and lines of them, that have a finding
	told       bool                         // a fix has the line that writes what is missing
	diffs      []string                     // from files to what init writes
	applied    []string                     // what was written at the forge
	hidden     []string                     // what the token may not read
	reasons    []string                     // and why
	compared   string                       // result of comparing the protections; empty: not compared
}

// codes are those of Rules, and rules the ids of their rules, by their ids.
var codes, rules = func() (map[string]strict.Code, map[string]string) {
	codes, rules := map[string]strict.Code{}, map[string]string{}
	for _, rule := range Rules {
		for _, code := range rule.Codes {
			codes[code.ID], rules[code.ID] = code, rule.ID
		}
	}
	return codes, rules
}()

// add adds a finding to the rule of its code, whose meaning and fix are those of a finding that has none of its own.
func (v *inspection) add(s verdict.Severity, code string, pos strict.Pos, fix, format string, args ...any) {
	if v.findings == nil {
		v.findings, v.faulty = map[string][]verdict.Finding{}, map[strict.Pos]bool{}
	}
	f := verdict.Finding{Severity: s, Code: code, Pos: pos, Fix: cmp.Or(fix, codes[code].Fix),
		Message: cmp.Or(fmt.Sprintf(format, args...), codes[code].Meaning)}
	if of := rules[code]; !slices.Contains(v.findings[of], f) { // a key of a file is of each of its jobs
		v.findings[of] = append(v.findings[of], f)
	}
	if pos.Line > 0 && s != verdict.Notice {
		v.faulty[strict.Pos{Path: pos.Path}], v.faulty[strict.Pos{Path: pos.Path, Line: pos.Line}] = true, true
	}
}

func (v *inspection) askForge(ctx context.Context, c *forge.Client) error {
	v.forge = c.Repository
	standing, err := c.Standing(ctx)
	if err == nil {
		v.standing, v.branch = standing, standing.Branch
	}
	return err
}

// unanswered says that the forge could not be asked.
func (v *inspection) unanswered(err error) {
	fix := "name the repository, and give a token that may read it (administration: read shows all)"
	if e, ok := errors.AsType[*forge.Error](err); ok {
		fix = e.Fix()
	}
	v.add(verdict.Doubt, "forge-not-read", strict.Pos{}, fix, "%v", err)
}

// read returns the text of a plain file of the clone, nil if it is not there.
func (v *inspection) read(name string, limit int64) ([]byte, error) {
	data, err := install.Read(v.tree, name, limit)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return data, err
}

// Fixes of more than one finding.
const (
	initLine = "oap-gate init --release VERSION --commit SHA --owner @ORG/TEAM (each release's notes have the line " +
		"to paste)"
	RepoConfigFix = "write the file in the format that oap-gate schema repo-config prints"
)

// initFix returns the line that writes what is missing; after the first time, that it writes this, too.
func (v *inspection) initFix() string {
	if v.told {
		return "oap-gate init writes it, too"
	}
	v.told = true
	return initLine
}

// trial reports whether the only gate is the job of a trial, and nothing says what the branch requires.
func (v *inspection) trial() bool {
	_, err := fs.Stat(v.tree, repoconfig.Path)
	gates := v.gates()
	return errors.Is(err, fs.ErrNotExist) && len(gates) == 1 && gates[0].key == install.TrialJob
}

func (v *inspection) readConfig() {
	pos := strict.Pos{Path: repoconfig.Path}
	data, err := v.read(repoconfig.Path, repoconfig.MaxBytes)
	switch {
	case err != nil:
		v.fault(verdict.Error, "repo-config", repoconfig.Path, fmt.Errorf("reading the file: %w", err),
			"make it a plain file")
		return
	case data == nil && (v.has(governsRole) || v.conforms()) && len(v.gates()) == 0:
		return // RFC 0026 asks it of a registry
	case data == nil && v.trial():
		v.add(verdict.Notice, "trial", v.gates()[0].Pos, "", "")
		return
	case data == nil:
		v.add(verdict.Error, "no-repo-config", pos, v.initFix(),
			"the file is not there: RFC 0026 section 7 keeps the protections of the branch in it")
		return
	}
	v.examined = append(v.examined, repoconfig.Path)
	f, err := repoconfig.Parse(data)
	fix := RepoConfigFix
	if errors.Is(err, repoconfig.ErrProse) {
		fix = repoconfig.ProseFix
	}
	if err != nil {
		v.fault(verdict.Error, "repo-config", repoconfig.Path, err, fix)
		return
	}
	v.config = f
	v.judgeConfig()
}

// fault reports why a file cannot be read, at the place that a YAML reader names.
func (v *inspection) fault(s verdict.Severity, code, file string, err error, fix string) {
	if e, ok := errors.AsType[*strictyaml.Error](err); ok {
		v.add(s, code, e.Pos, fix, "%s", e.Message)
		return
	}
	v.add(s, code, strict.Pos{Path: file}, fix, "%v", err)
}

// judgeConfig holds the wanted protections to what RFC 0026 section 7 demands.
func (v *inspection) judgeConfig() {
	have, least := v.config.Protection, repoconfig.Minimum()
	if have.MergeQueue {
		least.UpToDate = false
	}
	standing := &forge.Standing{Layers: []forge.Layer{{Protection: have}}}
	for _, d := range forge.Plan(standing, least) {
		if d.State == forge.Missing {
			v.add(verdict.Error, "config-below-rfc", v.config.Pos(d.Path), fmt.Sprintf("set %s to %s", d.Path, d.Want),
				"%s is %s; RFC 0026 section 7 requires %s", d.Path, d.Have, d.Want)
		}
	}
	if len(have.RequiredChecks) == 0 {
		v.add(verdict.Error, "config-below-rfc", v.config.Pos("protection.required_checks"), "list the job of the gate",
			"protection.required_checks is empty, RFC 0026 section 7 needs every check of section 6")
	}
	for i, c := range have.RequiredChecks {
		if c.AppID == 0 {
			v.add(verdict.Warning, "check-from-any-app",
				v.config.Pos(fmt.Sprintf("protection.required_checks[%d].context", i)), "",
				"required check %q counts from any app: anyone who may set a status can report it", c.Context)
		}
	}
	if !have.BlockRebaseMerging {
		v.add(verdict.Warning, "rebase-merging", v.config.Pos("protection.block_rebase_merging"), "", "")
	}
}

// wanted returns the protection that the forge is compared with.
func (v *inspection) wanted() repoconfig.Protection {
	if v.config != nil {
		return v.config.Protection
	}
	least := repoconfig.Minimum()
	for _, j := range v.gates() {
		least.RequiredChecks = append(least.RequiredChecks, repoconfig.RequiredCheck{Context: j.context()})
	}
	return least
}

const applyFix = "run oap-gate forge protect --apply with a token that may administer"

// readFix names the permission that shows all protections.
const readFix = "give a token with the permission Administration: read, of an account that may write"

// differences reports and counts the differences, and what is not compared. fix is that of one that is missing.
func (v *inspection) differences(all []forge.Difference, fix string) {
	count := map[forge.State]int{}
	var unknown []string
	for _, d := range all {
		count[d.State]++
		severity, code, pos, how := verdict.Error, "protection-missing", v.config.Pos(d.Path), fix
		switch {
		case d.State == forge.Unknown:
			unknown = append(unknown, strings.TrimPrefix(d.Path, "protection."))
			continue
		case d.State == forge.Stricter:
			severity, code, how = verdict.Notice, "protection-stricter", ""
		case d.Path == forge.PathWorkflowsMayApprove:
			code, pos = "workflows-may-approve", strict.Pos{}
		case d.Path == forge.PathWorkflowToken:
			code, pos = "workflow-token-writes", strict.Pos{}
		}
		v.add(severity, code, pos, how, "%s is %s at the forge; expected %s", d.Path, d.Have, d.Want)
	}
	for _, kind := range v.standing.NotChecked {
		v.add(verdict.Notice, "rule-not-checked", strict.Pos{}, "", "the forge has a rule of type %q", kind)
	}
	if why := v.standing.WorkflowsUnread; why != "" {
		v.hide("the settings of workflows", why)
	}
	names := plain.Count(len(unknown), "protection") + " of branch " + strconv.Quote(v.branch) + ": " +
		strings.Join(unknown, ", ")
	switch {
	case len(unknown) > 0 && len(v.hidden)+len(v.standing.Unread) > 0:
		v.hidden = slices.Insert(v.hidden, 0, names)
		v.reasons = slices.Insert(v.reasons, 0, v.standing.Unread...)
	case len(unknown) > 0:
		v.add(verdict.Doubt, "protection-not-read", v.config.Pos("protection"), "",
			"a ruleset sets %s; the token cannot read who may bypass it", names)
	}
	v.compared = fmt.Sprintf("%s, branch %s: %d missing, %d unknown, %d stricter and kept",
		v.forge, v.branch, count[forge.Missing], count[forge.Unknown], count[forge.Stricter])
}

// hide notes what the token may not read, and why. It is one finding: one token decides it all.
func (v *inspection) hide(what string, why ...string) {
	v.hidden, v.reasons = append(v.hidden, what), append(v.reasons, why...)
}

// maxListAge is the age of the Public Suffix List from which on it is old.
const maxListAge = 60 * 24 * time.Hour

// judgeSuffixList warns of an embedded Public Suffix List that is old at that time.
func (v *inspection) judgeSuffixList(date string, now time.Time) {
	made, err := time.Parse(time.DateOnly, date)
	if now.IsZero() || err == nil && now.Sub(made) < maxListAge {
		return
	}
	v.add(verdict.Warning, "suffix-list-old", strict.Pos{}, "",
		"the embedded Public Suffix List is of %s; expected one of the last %d days", date, maxListAge/(24*time.Hour))
}

// Others returns the readable workflows of a clone's work tree that run on pull requests and do not use the gate, by
// their paths: the names under which their jobs report. The error means that the directory cannot be read.
func Others(tree fs.FS) (map[string][]string, error) {
	v, out := &inspection{tree: tree}, map[string][]string{}
	err := v.readWorkflows()
	for _, w := range v.workflows {
		for _, j := range w.jobs {
			if !w.uses() && w.runsOn("pull_request", "pull_request_target") {
				out[w.Path] = append(out[w.Path], j.context())
			}
		}
	}
	return out, err
}
