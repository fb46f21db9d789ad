// Package table describes a program of the project as data: its table.
//
// The table says what a program has: commands, modes of the Action, rules, schemas, bundles that it replays, and words
// that a shell completes. Package cli runs any program by its table, and reads nothing else of its products.
package table

import (
	"github.com/spf13/cobra"

	"github.com/openagentprotocol-OAP/oap-gate/docs/schemas"
	"github.com/openagentprotocol-OAP/oap-gate/internal/frame"
	"github.com/openagentprotocol-OAP/oap-gate/internal/report"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// A Program is all that a program of the project has.
type Program struct {
	Name                 string // the name of its binary
	Short, Long, Example string // help

	// Groups are the commands in the order of the help. Each program has explain, schema, help, completion and version
	// in addition, at the end of the last group.
	Groups []Group
	Topics []Topic // help topics of this program only
	// Exits and FormatRows are rows of the topics exit-status and formats, Environment and FormatNote sentences of the
	// topics environment and formats.
	Exits, FormatRows, Environment, FormatNote string
	// Moved are words of an earlier command line, each with the one that has them now.
	Moved [][2]string

	Formats []report.Format // of reports

	Becomes bool   // as the Action, it becomes the program next to it that has the mode
	Modes   []Mode // modes of the Action; the first is the mode without a name, if the program has it

	// Subjects are what the program judges. Explain without an argument lists the rules of the first one if it has no
	// name, and the other subjects by their names.
	Subjects []Subject
	Codes    []Codes           // those that no subject has
	Details  map[string]Detail // by code

	Schemas        []string                        // names
	OwnSchema      func(name string) []byte        // returns the text of one that package schemas does not have
	SchemaCommands []func(frame.IO) *cobra.Command // below schema
	Rules          func() string                   // what version --rules prints; nil: it has no such flag
	Words          map[string][]string             // what a flag takes, by FLAG or, of one command, COMMAND FLAG
	Arguments      map[string]cobra.CompletionFunc // what arguments a command takes
}

// Schema returns the text of one of the program's schemas.
func (p *Program) Schema(name string) []byte {
	if text := schemas.Text(name); text != nil {
		return text
	}
	return p.OwnSchema(name)
}

// A Group has commands, under a title of the help.
type Group = struct {
	Title    string
	Commands []func(frame.IO) *cobra.Command
}

// A Topic is a text of help that is about no single command.
type Topic = struct{ Name, Short, Text string }

// A Subject is what is judged, with its catalogue.
type Subject struct {
	Name       string // by which explain lists the rules
	Judges     string // what the rules are about
	ReportedBy string // the command that reports the codes; empty: each rule for itself
	Rules      []verdict.Rule
	Members    func(id string) string // what a rule requires of each member of a message, a line each; nil: nothing
	Online     string                 // what the network is needed for; empty: as the method of each rule says
	// Of says what one rule judges, and what it needs the network for; nil: Judges and Online say it.
	Of func(id string) (judges, network string)
}

// About returns what a rule of the subject judges, and what it needs the network for.
func (s *Subject) About(r verdict.Rule) (judges, network string) {
	switch {
	case s.Of != nil:
		return s.Of(r.ID)
	case s.Online != "":
		return s.Judges, s.Online
	case r.Method == verdict.Live:
		return s.Judges, "needed"
	case r.Method == verdict.Attested:
		return s.Judges, "not needed: people attest it, on the checklist"
	}
	return s.Judges, "not needed"
}

// Codes are codes of findings, with what reports them.
type Codes = struct {
	Of    string
	Codes []strict.Code
}

// A Detail is what usually causes a finding of one error code, and the command that shows the value at fault.
type Detail = struct{ Causes, Show string }

// A Mode is what the Action does if its input mode has that name.
type Mode = struct {
	Name  string
	Steps []Step // the first whose event or input asks for it runs; the last is asked for by nothing
}

// A Step is a command as the Action runs it: each input becomes an argument.
type Step struct {
	Command string   // words of the command line
	Events  []string // the workflow events that ask for it
	Asked   string   // the input that asks for it
	Inputs  []string // each sets the flag of its name, or as INPUT=FLAG that flag; INPUT= sets none
	Asks    []string // the workflow events at which --forge is set
	Args    string   // the input that provides the arguments after the flags; may be empty
	// Rest makes those arguments; nil: they are the input's words.
	Rest func(value string) []string
}

// JSONFiles completes an argument that is a JSON file.
var JSONFiles = cobra.FixedCompletions([]string{"json"}, cobra.ShellCompDirectiveFilterFileExt)

// CloneCodes are the codes of the errors and warnings about the clone that a command reads.
var CloneCodes = []strict.Code{
	{registry.NestedRepository, "the repository is a directory in the work tree of another one; if that one tracks " +
		"it, a pull request may have brought it",
		"name the outer clone itself, or a clone outside of its work tree"},
	{"record-ignored", "a record on disk is ignored by Git, so that no commit would contain it", "git add -f FILE"},
}
