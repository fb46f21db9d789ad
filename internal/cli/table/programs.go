package table

import (
	"slices"
	"strings"
)

// Names are the programs of the project.
var Names = []string{"oap-gate", "oap-spec", "oap-conform"}

// Others returns the names of the other programs.
func Others(name string) []string {
	return slices.DeleteFunc(slices.Clone(Names), func(other string) bool { return other == name })
}

// ModeOf says which program has a mode of the Action, and which inputs that not all modes take this one takes.
type ModeOf = struct{ Mode, Program, Inputs string }

// ActionModes are the modes of the Action, those of other programs too. A test compares them with the tables.
var ActionModes = []ModeOf{
	{"", "oap-gate", "checks skip base governance allow-pull-request-target"},
	{"verify", "oap-gate", "targets level max-age"},
	{"comment", "oap-gate", "file head labels mention"},
	{"remind", "oap-gate", "file within apply"},
	{"rerun", "oap-gate", "apply"},
	{"auto-merge", "oap-gate", "file head apply"},
	{"protect", "oap-gate", "apply"},
	{"governance", "oap-spec", "base checks skip allow-pull-request-target"},
	{"oasis", "oap-conform", "url response profile requirements schema tier"},
	{"opengap", "oap-conform", "dialect recommended"},
	{"aaep", "oap-conform", "url level layout scenario listen command events"},
}

// Owned are words that not all programs have, by the programs: schemas, formats of reports, and modes of bundles that
// are replayed by --replay alone. A test compares them with the tables.
var Owned = []struct{ Program, Schemas, Formats, Bundles string }{
	{"oap-gate", "listing revocation workflow-anchor receipt gate-policy repo-config verification-report listings " +
		"mirror-state proof-report", "prometheus vsa", ""},
	{"oap-spec", "", "checklist", ""},
	{"oap-conform", "aaep-event aaep-reply aaep-subscription aaep-manifest", "checklist aaep", "conformance"},
}

// SchemaOf returns the other programs that have a schema, FormatOf those that have a format.
func (p *Program) SchemaOf(name string) []string {
	return p.others(func(i int) string { return Owned[i].Schemas }, name)
}

// FormatOf returns the other programs that have a format of reports.
func (p *Program) FormatOf(name string) []string {
	return p.others(func(i int) string { return Owned[i].Formats }, name)
}

func (p *Program) others(words func(int) string, name string) (programs []string) {
	for i, o := range Owned {
		if o.Program != p.Name && slices.Contains(strings.Fields(words(i)), name) {
			programs = append(programs, o.Program)
		}
	}
	return programs
}

// BundleOf returns the program whose commands replay a bundle of that mode by --replay alone, empty if none does.
func BundleOf(mode string) string {
	for _, o := range Owned {
		if slices.Contains(strings.Fields(o.Bundles), mode) {
			return o.Program
		}
	}
	return ""
}

// ModesOf returns the modes of the Action that a program has.
func ModesOf(program string) (modes []string) {
	for _, m := range ActionModes {
		if m.Program == program {
			modes = append(modes, m.Mode)
		}
	}
	return modes
}
