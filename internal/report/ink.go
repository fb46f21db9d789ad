package report

import (
	"github.com/fatih/color"

	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// ink colours text that is neutral already.
type ink struct{ on bool }

func newInk(on bool) ink { return ink{on} }

// paint colors s. The color library would read the environment and the terminal, so paint decides for it.
func (k ink) paint(s string, attributes ...color.Attribute) string {
	if !k.on || len(attributes) == 0 {
		return s
	}
	c := color.New(attributes...)
	c.EnableColor()
	return c.Sprint(s)
}

func (k ink) bold(s string) string { return k.paint(s, color.Bold) }

func (k ink) faint(s string) string { return k.paint(s, color.Faint) }

func (k ink) severity(s verdict.Severity) string {
	switch s {
	case verdict.Error:
		return k.verdict(verdict.Failed, s.String())
	case verdict.Doubt:
		return k.verdict(verdict.Inconclusive, s.String())
	case verdict.Warning:
		return k.verdict(verdict.Warned, s.String())
	}
	return s.String()
}

// verdict colours s, a neutral text, as v.
func (k ink) verdict(v verdict.Verdict, s string) string {
	if !k.on {
		return s
	}
	return k.paint(s, shades[v]...)
}

// Shade colours s, a neutral text, as the text of a report colours v, where that is on.
func Shade(on bool, v verdict.Verdict, s string) string { return newInk(on).verdict(v, s) }

var shades = map[verdict.Verdict][]color.Attribute{
	verdict.Passed:       {color.FgGreen},
	verdict.Failed:       {color.FgRed, color.Bold},
	verdict.Errored:      {color.FgRed, color.Bold},
	verdict.Inconclusive: {color.FgMagenta},
	verdict.Warned:       {color.FgYellow},
	verdict.Skipped:      {color.Faint},
	verdict.Manual:       {color.FgCyan},
}
