package cli

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/openagentprotocol-OAP/oap-gate/checks"
	"github.com/openagentprotocol-OAP/oap-gate/internal/author/authorcmd"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/frame"
	"github.com/openagentprotocol-OAP/oap-gate/internal/mirror"
	"github.com/openagentprotocol-OAP/oap-gate/internal/mirror/mirrorstate"
	"github.com/openagentprotocol-OAP/oap-gate/internal/mirror/prove"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/proof"
	"github.com/openagentprotocol-OAP/oap-gate/internal/report"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

func newExplain(sys frame.IO) *cobra.Command {
	return &cobra.Command{
		Use:   "explain [ID | CODE | SUBJECT]",
		Short: "explain a check, a finding code or a catalogue",
		Long: `explain prints what a check requires, why, its source, its codes and how to fix a finding. For a code, the word in
brackets at the end of a finding, it prints the meaning and the fix, and what reports it. For a subject it prints the
rules. Without an argument it prints the checks of the registry, and the other subjects.`,
		Example: "  oap-gate explain\n  oap-gate explain domain-age\n" +
			"  oap-gate explain receipt-hash-mismatch\n  oap-gate explain verify",
		Args: func(c *cobra.Command, args []string) error {
			if len(args) > 1 {
				return remedy.Errorf("oap-gate explain [ID | CODE | SUBJECT]",
					"explain takes one id, code or subject; %d were given", len(args))
			}
			return nil
		},
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return explained(), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				explainAll(sys.Stdout)
				return nil
			}
			if !explain(sys.Stdout, args[0]) {
				fix := "the checks are " + strings.Join(verdict.IDs(mirror.Catalogue()), ", ") +
					"; all that there is to explain: oap-gate explain"
				return remedy.Errorf(remedy.DidYouMean(args[0], explained(), fix),
					"no check, code or subject is called %q", args[0])
			}
			return nil
		},
	}
}

// explained returns every word that explain takes.
func explained() []string {
	words := slices.Concat(ruleIDs(), codeIDs())
	for _, s := range subjects() {
		words = append(words, s.name)
	}
	return words
}

// explainAll lists the checks of the registry, and each other subject with its number of rules.
func explainAll(w io.Writer) {
	listRules(w, mirror.Catalogue())
	fmt.Fprint(w, "\nMore rules: oap-gate explain SUBJECT\n\n")
	for _, s := range subjects() {
		row(w, fmt.Sprintf("%-22s ", s.name), plain.Count(len(s.rules), "rule")+": "+s.judges)
	}
}

// row writes a name and a text, which is broken at 80 columns below its beginning.
func row(w io.Writer, name, text string) {
	fmt.Fprintln(w, report.Hang(name, text, len(name), report.Columns))
}

func listRules(w io.Writer, rules []verdict.Rule) {
	for _, r := range rules {
		row(w, fmt.Sprintf("%-22s ", r.ID), r.Title)
	}
}

// explain explains each check, rule, code and subject of that name, and reports whether there is one.
func explain(w io.Writer, name string) bool {
	check := explainCheck(w, name)
	known := check
	next := func() { // begins what follows something else after an empty line
		if known {
			fmt.Fprintln(w)
		}
		known = true
	}
	for _, s := range subjects() {
		if s.name == name {
			next()
			listRules(w, s.rules)
		}
		for _, rule := range s.rules {
			if rule.ID == name {
				next()
				explainRule(w, rule, s.judges, s.network(rule))
				if s.members != nil && s.members(rule.ID) != "" {
					fmt.Fprintf(w, "\n%s", s.members(rule.ID))
				}
			}
		}
	}
	for _, c := range codes() {
		switch {
		case c.ID != name:
			continue
		case check:
			row(w, "as code:  ", c.Meaning+"; "+c.Fix)
		default:
			next()
			fmt.Fprintln(w, report.Hang(c.ID+", a code of ", strings.Join(c.of, ", "), 2, report.Columns)+"\n")
			row(w, "means:    ", c.Meaning)
			if d, ok := details[c.ID]; ok {
				row(w, "cause:    ", d.causes)
				fmt.Fprintf(w, "show:     %s\n", d.show) // a command, to be copied
			}
			row(w, "fix:      ", c.Fix)
		}
	}
	return known
}

// subject is what is judged other than a registry, with its catalogue.
type subject struct {
	name       string // by which explain lists the rules
	judges     string // what the rules are about
	reportedBy string // the command that reports the codes; empty: each rule for itself
	rules      []verdict.Rule
	members    func(id string) string // what a rule requires of each member of a message, a line each; nil: nothing
	online     string                 // what the network is needed for; empty: as the method of each rule says
}

func (s subject) network(r verdict.Rule) string {
	switch {
	case s.online != "":
		return s.online
	case r.Method == verdict.Live:
		return "needed"
	case r.Method == verdict.Attested:
		return "not needed: people attest it, on the checklist"
	}
	return "not needed"
}

// explainCheck explains the registry's check of that id, and reports whether there is one.
func explainCheck(w io.Writer, id string) bool {
	if c := checks.ByID(id); c != nil {
		var kinds []string
		for _, k := range c.Kinds {
			kinds = append(kinds, k.String())
		}
		explainRule(w, c.Rule(), strings.Join(kinds, ", "), network(c))
		return true
	}
	for _, r := range mirror.Rules() {
		if r.ID == id {
			explainRule(w, r, "the registry as a whole, in an audit", "not needed")
			return true
		}
	}
	return false
}

func explainRule(w io.Writer, r verdict.Rule, judges, network string) {
	var codes []string
	for _, code := range r.Codes {
		codes = append(codes, code.ID)
	}
	fmt.Fprintf(w, "%s\n\n", r.ID)
	for _, line := range [][2]string{{"requires: ", r.Title},
		{"cites:    ", cmp.Or(r.Cite, "nothing: it follows from how the forge works")}, {"judges:   ", judges},
		{"network:  ", network}, {"why:      ", r.Why}, {"fix:      ", r.Fix},
		{"codes:    ", strings.Join(codes, ", ")}} {
		row(w, line[0], line[1])
	}
}

// code is one code and who reports it.
type code struct {
	checks.Code
	of []string
}

// codes returns all codes that a finding may have, each with everything that reports it in the same sense.
func codes() []code {
	var out []code
	at := map[checks.Code]int{}
	add := func(of string, more []checks.Code) {
		for _, c := range more {
			i, known := at[c]
			if !known {
				i, out = len(out), append(out, code{Code: c})
				at[c] = i
			}
			if !slices.Contains(out[i].of, of) { // steps of one command share codes
				out[i].of = append(out[i].of, of)
			}
		}
	}
	for _, c := range mirror.Catalogue() {
		add(c.ID, c.Codes)
	}
	add("every check", report.Codes)
	add("the directory of a mirror", slices.Concat(mirror.Codes, mirrorstate.Codes))
	add("every command that reads a clone", cloneCodes)
	add("witness, revoke and key", authorcmd.SigningCodes)
	add("prove", slices.Concat(proof.Codes, prove.Codes))
	for _, s := range subjects() {
		for _, rule := range s.rules {
			add(cmp.Or(s.reportedBy, rule.ID), rule.Codes)
		}
	}
	return out
}

func codeIDs() []string {
	var out []string
	for _, c := range codes() {
		out = append(out, c.ID)
	}
	return out
}

func network(c *checks.Check) string {
	switch {
	case c.Online():
		return "needed"
	case c.Owns != 0 || len(c.Uses) > 0:
		return "needed for a part; the rest is judged offline too"
	}
	return "not needed"
}

// ruleIDs returns the ids of all that explain knows.
func ruleIDs() []string {
	all := verdict.IDs(mirror.Catalogue())
	for _, s := range subjects() {
		all = append(all, verdict.IDs(s.rules)...)
	}
	return all
}

// cloneCodes are the codes of the errors and warnings about the clone that a command reads.
var cloneCodes = []checks.Code{
	{registry.NestedRepository, "the repository is a directory in the work tree of another one; if that one tracks " +
		"it, a pull request may have brought it",
		"name the outer clone itself, or a clone outside of its work tree"},
}
