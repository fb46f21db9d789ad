// Package opengap checks an agent's directory against OpenGAP: the criteria for agents of dialect 0.4, or what the
// public command of dialect 0.1 asks for. Nothing of the agent is run or imported.
package opengap

import (
	"cmp"
	"fmt"
	"io/fs"
	"slices"

	"github.com/openagentprotocol-OAP/oap-gate/internal/conformance"
	"github.com/openagentprotocol-OAP/oap-gate/internal/conformance/form"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict/capped"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// The dialects: two formats that bear the name.
const (
	Auto      = "auto"
	Dialect04 = "0.4" // opengap: "0.4", skills in Python
	Dialect01 = "0.1" // spec_version: "0.1.0", SOUL.md, skills/NAME/SKILL.md
)

// Options say what to judge.
type Options struct {
	Dir         string
	Dialect     string           // Auto, Dialect04 or Dialect01
	Recommended verdict.Severity // for what the published page of 0.4 only recommends
	// Python starts an interpreter that runs Script; the error says why it did not start. It is called at most once.
	Python func() (Python, error)
}

// Judgement is what was found of an agent.
type Judgement struct {
	Dialect string // Dialect04 or Dialect01
	Because string // why that one
	Rules   []verdict.Rule
	Results []verdict.Result
}

// agent is one look at one agent.
type agent struct {
	*directory
	manifest    *form.File // nil if it cannot be read
	unread      error      // why: fs.ErrNotExist, a *strictyaml.Error, or what directory.read returns
	recommended verdict.Severity
	said        conformance.Tally

	skillsDir    string
	open         func() (Python, error)
	python       Python
	noPython     error           // why there is no Python
	ended        error           // why Python reads no more
	version      string          // of Python
	stdlib       map[string]bool // the modules of Python; empty: they are not known
	documented   words           // the words of README files and comments
	undocumented string          // what files named README could not be read, for a message
	// what files that declare packages say, as names of packages compare; empty: not read
	declarations string
	parsed       map[string]*parsed // by path
	modules      map[string]string  // the files of modules, by their paths without an extension
	declared     map[string]bool    // the packages that the agent depends on
}

// Judge judges the agent in a directory. The error wraps ErrTooLarge, or says why the directory cannot be read.
func Judge(o Options) (*Judgement, error) {
	root, err := capped.OpenRoot(o.Dir)
	if err != nil {
		return nil, fmt.Errorf("opening the agent's directory: %w", err)
	}
	defer root.Close()
	f := &directory{root: root, links: map[string]string{}}
	a := &agent{directory: f, recommended: o.Recommended, open: o.Python, parsed: map[string]*parsed{},
		modules: map[string]string{}, said: conformance.Tally{Catalogue: catalogue}}
	defer func() {
		if a.python != nil {
			a.python.Close()
		}
	}()
	text, err := f.read(manifestName)
	if a.unread = err; err == nil {
		a.manifest, a.unread = form.ReadMapping(manifestName, text, MaxFile, 0)
	}
	j := &Judgement{}
	j.Dialect, j.Because = a.dialect(o.Dialect)
	judge, keep := a.judge01, []string{manifestName, soulName, "skills", "tools", "agents", "hooks"}
	if j.Rules = rules01; j.Dialect == Dialect04 {
		keep = a.kept()
		j.Rules = slices.Concat(rules04, []verdict.Rule{computed}, runtime)
		judge = func() { a.judge04(j.Because == unclear) }
	}
	f.list(keep)
	if judge(); f.err != nil {
		return nil, fmt.Errorf("reading the agent's directory: %w", f.err)
	}
	j.Results = a.said.Results
	return j, a.said.Err
}

const unclear = "neither agent.yaml nor a SOUL.md says which"

// dialect returns the dialect that was asked for, or the one that the directory looks like, and why.
func (a *agent) dialect(asked string) (dialect, why string) {
	has := func(member string) bool { return a.manifest != nil && a.manifest.Value("/"+member) != nil }
	switch {
	case asked != Auto:
		return asked, "as --dialect says"
	case has("opengap"):
		return Dialect04, "agent.yaml has opengap"
	case has("spec_version"):
		return Dialect01, "agent.yaml has spec_version and no opengap"
	case a.mode(soulName) != fs.ModeIrregular:
		return Dialect01, "there is a SOUL.md, and no opengap"
	}
	return Dialect04, unclear
}

// maxFindings is how many findings one rule reports on one subject.
const maxFindings = 100

// enough reports whether an outcome fails already and has more findings than are reported.
func enough(out *verdict.Outcome) bool {
	return len(out.Findings) > maxFindings && out.Has(verdict.Error)
}

// say adds the result of a rule on a subject. If there are too many findings, the last one says so.
func (a *agent) say(id, subject string, out verdict.Outcome) {
	if len(out.Findings) > maxFindings {
		slices.SortStableFunc(out.Findings,
			func(a, b verdict.Finding) int { return cmp.Compare(a.Severity, b.Severity) })
		out.Findings = out.Findings[:maxFindings]
		out.Findings[maxFindings-1].Message += " (and more)"
	}
	a.said.Add(id, subject, out)
}
