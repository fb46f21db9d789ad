// Package install installs the gate and inspects the installation.
//
// The package itself writes the gate into a registry: its workflows, their owners and the configurations, as the
// documentation has them, with what is left open there filled in.
package install

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/openagentprotocol-OAP/oap-gate/docs"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/atomicfile"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/forge/repoconfig"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict/capped"
)

// Release is what the files name of the gate.
type Release struct {
	Commit  string // full SHA of the commit that was released
	Version string // of that commit, for people; may be empty
	Owner   string // "@user" or "@organisation/team" that must approve changes of the gate; empty: left to be filled in

	Branch        string // the default branch; empty: main
	Specification bool   // the repository is the specification's, and not a registry
	Trial         bool   // only a check that is not required, and its comment
	AutoMerge     bool   // the workflow that lets the forge merge what is routine, too
}

// Errors of a Release.
var (
	ErrCommit = errors.New("not a full commit SHA: 40 lower-case hexadecimal digits that are not all zero")
	ErrOwner  = errors.New("not a code owner: @user or @organisation/team")
	ErrName   = errors.New("no version: letters, digits, dots and hyphens")
	ErrBranch = errors.New("not a branch that a workflow can name: letters, digits, dots, hyphens, underscores and " +
		"slashes")
)

var (
	commitForm  = plain.Pattern(`^[0-9a-f]{40}$`)
	ownerForm   = plain.Pattern(`^@[A-Za-z0-9][A-Za-z0-9-]{0,38}(/[A-Za-z0-9._-]{1,100})?$`)
	versionForm = plain.Pattern(`^[A-Za-z0-9.-]{1,64}$`)
	// branchForm has no character that a branch filter takes for a pattern, nor one that ends a plain scalar of YAML.
	branchForm = plain.Pattern(`^[A-Za-z0-9][A-Za-z0-9._/-]{0,200}$`)
	// unlikeText are the names that YAML reads as a truth value, as nothing or as a number.
	unlikeText = plain.Pattern(`^(?i:true|false|yes|no|on|off|y|n|null|[0-9].*)$`)
)

// Check checks that the members are well-formed. The error is ErrCommit, ErrOwner, ErrName or ErrBranch.
func (r Release) Check() error {
	switch {
	case !commitForm().MatchString(r.Commit) || r.Commit == noCommit:
		return fmt.Errorf("%q is %w", r.Commit, ErrCommit)
	case r.Owner != "" && !ownerForm().MatchString(r.Owner):
		return fmt.Errorf("%q is %w", r.Owner, ErrOwner)
	case r.Version != "" && !versionForm().MatchString(r.Version):
		return fmt.Errorf("%q is %w", r.Version, ErrName)
	case r.Branch != "" && !branchForm().MatchString(r.Branch):
		return fmt.Errorf("%q is %w", r.Branch, ErrBranch)
	}
	return nil
}

// What the documentation leaves open.
var noCommit = strings.Repeat("0", 40)

const (
	noOwner   = "@example/registry-maintainers"
	toReplace = " # replace by the SHA of a release"
)

// File is one file of the installation.
type File struct {
	Path string // in the repository
	Text []byte

	elsewhere []string // other places in which the forge looks for it if nothing is at Path
}

// source is a file of the documentation, and what happens to it in a repository.
type source struct {
	from, to  string
	elsewhere []string
}

var (
	ownersElsewhere = []string{"CODEOWNERS", "docs/CODEOWNERS"}

	ofRegistry = []source{
		{from: "workflows/check.yml", to: ".github/workflows/check.yml"},
		{from: "workflows/comment.yml", to: ".github/workflows/comment.yml"},
		{from: "workflows/audit.yml", to: ".github/workflows/audit.yml"},
		{from: "workflows/protect.yml", to: ".github/workflows/protect.yml"},
		{from: "workflows/remind.yml", to: ".github/workflows/remind.yml"},
		{from: "workflows/rerun.yml", to: ".github/workflows/rerun.yml"},
		{from: "workflows/rerun-command.yml", to: ".github/workflows/rerun-command.yml"},
		{from: "workflows/CODEOWNERS", to: ".github/CODEOWNERS", elsewhere: ownersElsewhere},
		{from: "repo-config.example.yml", to: repoconfig.Path},
		{from: "gate-policy.example.yml", to: ".github/gate-policy.yml"},
		{from: "dependabot.example.yml", to: ".github/dependabot.yml", elsewhere: []string{".github/dependabot.yaml"}},
	}
	ofTrial         = ofRegistry[:2]
	ofSpecification = []source{
		{from: "workflows/governance.yml", to: ".github/workflows/governance.yml"},
		{from: "workflows/CODEOWNERS.specification", to: ".github/CODEOWNERS", elsewhere: ownersElsewhere},
	}
)

// Files returns the files of the installation of r, which Check accepts.
func Files(r Release) []File {
	sources := ofRegistry
	switch {
	case r.Specification:
		sources = ofSpecification
	case r.Trial:
		sources = ofTrial
	}
	if r.AutoMerge {
		sources = append(slices.Clone(sources), source{from: "workflows/auto-merge.yml",
			to: ".github/workflows/auto-merge.yml"})
	}
	var out []File
	for _, s := range sources {
		out = append(out, File{Path: s.to, Text: r.Text(s.from), elsewhere: s.elsewhere})
	}
	return out
}

// Text returns a file of the documentation with what it leaves open filled in.
func (r Release) Text(name string) []byte {
	text, err := docs.Files.ReadFile(name)
	if err != nil {
		panic(err) // the program's own file
	}
	fill := []string{noCommit + toReplace, strings.TrimSuffix(r.Commit+" # "+r.Version, " # ")}
	if r.Owner != "" {
		fill = append(fill, noOwner, r.Owner)
	}
	if r.Branch != "" {
		fill = append(fill, onMain, "branches: ["+scalar(r.Branch)+"]")
	}
	if r.Trial {
		fill = append(fill, "\n  oap-gate:\n", "\n  "+TrialJob+":\n", "# The required check.",
			"# A check to try the gate, which is not required.")
	}
	return []byte(strings.NewReplacer(fill...).Replace(string(text)))
}

// FirstNode24 is the first major version of an action that runs on Node 24, by the action's name. GitHub's runners drop
// Node 20.
var FirstNode24 = map[string]int{"actions/checkout": 5, "actions/upload-artifact": 6, "actions/download-artifact": 7,
	"actions/setup-go": 6, "github/codeql-action/upload-sarif": 4, "actions/cache": 5}

// TrialJob is the job of a trial.
const TrialJob = "oap-gate-trial"

// onMain is how the workflows name the default branch.
const onMain = "branches: [main]"

// scalar spells a branch in YAML.
func scalar(branch string) string {
	if unlikeText().MatchString(branch) {
		return `"` + branch + `"`
	}
	return branch
}

// State says what the installation does about one file.
type State string

// The states. A file that Differs, or that is not a plain file, is kept as it is.
const (
	Missing State = "write"
	Same    State = "same"
	Differs State = "differs"
	Replace State = "replace" // it is what a trial wrote
)

// maxFile is the size of the largest file that is compared, in bytes.
const maxFile = 1 << 20

// Plan is what the installation does to a repository.
type Plan struct {
	Steps []Step
	Move  *Move // nil: there is no prose
}

// Step is what the installation does about one file.
type Step struct {
	File
	State      State
	Difference []byte // how a file Differs, as a unified diff
}

// Move is that of a prose repo-config.yml to repoconfig.ProsePath.
type Move struct {
	Blocked   bool     // a file is there already, and nothing is written
	Otherwise []string // the settings of the prose that the new file sets otherwise
}

// Look plans the installation of r and writes nothing. The error is that of the disk.
func Look(root *os.Root, r Release) (*Plan, error) {
	p := &Plan{}
	for _, f := range Files(r) {
		step := Step{File: f}
		var err error
		if step.State, step.Difference, err = Compare(root.FS(), f); err != nil {
			return nil, err
		}
		if step.State == Differs && !r.Trial && !r.Specification && ofATrial(root, f.Path, r) {
			step.State, step.Difference = Replace, nil
		}
		if f.Path == repoconfig.Path && step.State == Differs {
			if err := p.moves(root, &step); err != nil {
				return nil, err
			}
		}
		p.Steps = append(p.Steps, step)
	}
	return p, nil
}

// ofATrial reports whether the file at the path is what a trial writes, with whatever pins.
func ofATrial(root *os.Root, path string, r Release) bool {
	old, err := read(root, path)
	if err != nil {
		return false
	}
	r.Trial = true
	return slices.ContainsFunc(Files(r), func(f File) bool {
		return f.Path == path && pins().ReplaceAllString(string(old), "@") == pins().ReplaceAllString(string(f.Text),
			"@")
	})
}

var pins = plain.Pattern(`@[0-9a-f]{40}( # [^\n]*)?`)

// moves plans to move the repo-config away if it is prose.
func (p *Plan) moves(root *os.Root, s *Step) error {
	old, err := read(root, s.Path)
	if err != nil || !repoconfig.Prose(old) {
		return err
	}
	config, err := repoconfig.Parse(s.Text)
	if err != nil {
		return err
	}
	p.Move = &Move{Otherwise: Otherwise(old, config.Protection)}
	_, err = root.Lstat(repoconfig.ProsePath)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		s.State, s.Difference = Missing, nil
	case err != nil:
		return fmt.Errorf("moving %s: %w", s.Path, err)
	default:
		p.Move.Blocked = true
	}
	return nil
}

// Compare compares f with the file at its path, or with the one that the forge finds elsewhere: a new file must not put
// that one out of force. It returns Missing, Same, or Differs with the unified diff.
func Compare(tree fs.FS, f File) (State, []byte, error) {
	for _, name := range append([]string{f.Path}, f.elsewhere...) {
		old, err := Read(tree, name, maxFile)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return "", nil, fmt.Errorf("reading %s: %w", name, err)
		case bytes.Equal(old, f.Text):
			return Same, nil, nil
		}
		return Differs, diff.Diff(name+" (here)", old, f.Path+" (oap-gate)", f.Text), nil
	}
	return Missing, nil, nil
}

// Write carries the plan out and reports each path that it wrote. It overwrites only what a trial wrote. The error is
// that of the disk; what was reported before it is done.
func (p *Plan) Write(root *os.Root, wrote func(path string)) error {
	if p.Move != nil && p.Move.Blocked {
		return nil
	}
	if p.Move != nil {
		if err := moveProse(root); err != nil {
			return fmt.Errorf("moving %s: %w", repoconfig.Path, err)
		}
		wrote(repoconfig.ProsePath)
	}
	for _, s := range p.Steps {
		write := atomicfile.Create
		switch s.State {
		case Missing:
		case Replace:
			write = atomicfile.Replace
		default:
			continue
		}
		if err := place(root, s.File, write); err != nil {
			return fmt.Errorf("writing %s: %w", s.Path, err)
		}
		wrote(s.Path)
	}
	return nil
}

func moveProse(root *os.Root) error {
	if err := root.MkdirAll(path.Dir(repoconfig.ProsePath), 0o777); err != nil {
		return err
	}
	return root.Rename(repoconfig.Path, repoconfig.ProsePath)
}

// place writes a file into its directory, which it makes.
func place(root *os.Root, f File, write func(*os.Root, string, []byte, fs.FileMode) error) error {
	if err := root.MkdirAll(path.Dir(f.Path), 0o777); err != nil {
		return err
	}
	dir, err := root.OpenRoot(path.Dir(f.Path))
	if err != nil {
		return err
	}
	defer dir.Close()
	return write(dir, path.Base(f.Path), f.Text, 0o666)
}

func read(root *os.Root, name string) ([]byte, error) { return Read(root.FS(), name, maxFile) }

// Read returns the text of a plain file of at most limit bytes, and not that of a link.
func Read(tree fs.FS, name string, limit int64) ([]byte, error) {
	info, err := fs.Lstat(tree, name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("it is not a plain file (%s)", info.Mode().Type())
	}
	f, err := tree.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return capped.ReadAll(f, limit)
}
