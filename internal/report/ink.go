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
	return k.verdict(blames[s], s.String())
}

// blames are the verdicts that findings lead to; a notice leads to none.
var blames = map[verdict.Severity]verdict.Verdict{verdict.Error: verdict.Failed, verdict.Doubt: verdict.Inconclusive,
	verdict.Warning: verdict.Warned}

// verdict colours s, a neutral text, as v.
func (k ink) verdict(v verdict.Verdict, s string) string { return k.paint(s, shades[v]...) }

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
