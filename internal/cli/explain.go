package cli

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/typed"
	"github.com/openagentprotocol-OAP/oap-gate/internal/cli/table"
	"github.com/openagentprotocol-OAP/oap-gate/internal/frame"
	"github.com/openagentprotocol-OAP/oap-gate/internal/report"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

func newExplain(t *table.Program, sys frame.IO) *cobra.Command {
	rule, last := t.Subjects[0].Rules[0], t.Subjects[len(t.Subjects)-1]
	var examples []string
	for _, word := range []string{"", " " + rule.ID, " " + rule.Codes[0].ID, " " + last.Name} {
		examples = append(examples, "  "+t.Name+" explain"+word)
	}
	return &cobra.Command{
		Use:   "explain [ID | CODE | SUBJECT]",
		Short: "explain a check, a finding code or a catalogue",
		Long: `explain prints what a check requires, why, its source, its codes and how to fix a finding. For a code, the word in
brackets at the end of a finding, it prints the meaning and the fix, and what reports it. For a subject it prints the
rules. Without an argument it prints all subjects, or the checks of the registry and the other subjects.`,
		Example: strings.Join(examples, "\n"),
		Args: func(c *cobra.Command, args []string) error {
			if len(args) > 1 {
				return remedy.Errorf(t.Name+" explain [ID | CODE | SUBJECT]",
					"explain takes one id, code or subject; %d were given", len(args))
			}
			return nil
		},
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return explained(t), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				explainAll(t, sys.Stdout)
				return nil
			}
			if !explain(t, sys.Stdout, args[0]) {
				fix := t.Name + " explain lists all"
				for _, other := range table.Others(t.Name) {
					fix += "; " + other + " explain " + plain.ShellWord(args[0]) + " if a report of " + other +
						" has it"
				}
				return remedy.Errorf(typed.DidYouMean(args[0], explained(t), fix),
					"no check, code or subject of %s is called %q", t.Name, args[0])
			}
			return nil
		},
	}
}

// explained returns every word that explain takes.
func explained(t *table.Program) []string {
	var words, names []string
	for _, s := range t.Subjects {
		words = append(words, verdict.IDs(s.Rules)...)
		if s.Name != "" {
			names = append(names, s.Name)
		}
	}
	for _, c := range codes(t) {
		words = append(words, c.ID)
	}
	return append(words, names...)
}

// explainAll lists the rules of the first subject if it has no name, and each other subject with its number of rules.
func explainAll(t *table.Program, w io.Writer) {
	listed := false
	for _, s := range t.Subjects {
		if s.Name == "" {
			listRules(w, s.Rules)
			continue
		}
		if !listed {
			fmt.Fprintf(w, "\nMore rules: %s explain SUBJECT\n\n", t.Name)
			listed = true
		}
		row(w, fmt.Sprintf("%-22s ", s.Name), plain.Count(len(s.Rules), "rule")+": "+s.Judges)
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

// explain explains each rule, code and subject of that name, and reports whether there is one.
func explain(t *table.Program, w io.Writer, name string) bool {
	known, check := false, false // check: it is one of the subject without a name
	next := func() {             // begins what follows something else after an empty line
		if known {
			fmt.Fprintln(w)
		}
		known = true
	}
	for _, s := range t.Subjects {
		if s.Name == name {
			next()
			listRules(w, s.Rules)
		}
		for _, rule := range s.Rules {
			if rule.ID == name {
				next()
				check = check || s.Name == ""
				judges, network := s.About(rule)
				explainRule(w, rule, judges, network)
				if s.Members != nil && s.Members(rule.ID) != "" {
					fmt.Fprintf(w, "\n%s", s.Members(rule.ID))
				}
			}
		}
	}
	for _, c := range codes(t) {
		switch {
		case c.ID != name:
			continue
		case check:
			row(w, "as code:  ", c.Meaning+"; "+c.Fix)
		default:
			next()
			fmt.Fprintln(w, report.Hang(c.ID+", a code of ", strings.Join(c.of, ", "), 2, report.Columns)+"\n")
			row(w, "means:    ", c.Meaning)
			if d, ok := t.Details[c.ID]; ok {
				row(w, "cause:    ", d.Causes)
				fmt.Fprintf(w, "show:     %s\n", d.Show) // a command, to be copied
			}
			row(w, "fix:      ", c.Fix)
		}
	}
	return known
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
	strict.Code
	of []string
}

// codes returns all codes that a finding may have, each with everything that reports it in the same sense.
func codes(t *table.Program) []code {
	var out []code
	at := map[strict.Code]int{}
	add := func(of string, more []strict.Code) {
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
	of := func(s table.Subject) {
		for _, rule := range s.Rules {
			add(cmp.Or(s.ReportedBy, rule.ID), rule.Codes)
		}
	}
	named := t.Subjects
	if t.Subjects[0].Name == "" {
		of(t.Subjects[0])
		named = t.Subjects[1:]
	}
	add("every check", report.Codes)
	add("every command that writes a file", report.OutputCodes)
	for _, more := range t.Codes {
		add(more.Of, more.Codes)
	}
	for _, s := range named {
		of(s)
	}
	return out
}
