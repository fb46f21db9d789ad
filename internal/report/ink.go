package report

import (
	"github.com/fatih/color"

	"github.com/openagentprotocol-OAP/oap-gate/gate"
)

// ink colours text that is neutral already.
type ink struct{ on bool }

func newInk(on bool) ink { return ink{on} }

// paint colours s. The colour library would ask the environment and the terminal: it is told instead.
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

func (k ink) severity(severity string) string {
	switch severity {
	case "error":
		return k.verdict(gate.Fail, severity)
	case "inconclusive":
		return k.verdict(gate.Inconclusive, severity)
	case "warning":
		return k.verdict(gate.Warn, severity)
	}
	return line(severity)
}

// verdict colours s, a neutral text, as v.
func (k ink) verdict(v gate.Verdict, s string) string {
	return k.paint(s, shades[v]...)
}

var shades = map[gate.Verdict][]color.Attribute{
	gate.Pass:         {color.FgGreen},
	gate.Fail:         {color.FgRed, color.Bold},
	gate.Errored:      {color.FgRed, color.Bold},
	gate.Inconclusive: {color.FgMagenta},
	gate.Warn:         {color.FgYellow},
	gate.Skip:         {color.Faint},
}
