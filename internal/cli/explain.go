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
		Use:   "explain [ID | CODE]",
		Short: "what a check requires, cites, and how to fix it, or what a finding's code means; no ID: the list",
		Example: "  oap-gate explain\n  oap-gate explain domain-age\n" +
			"  oap-gate explain receipt-hash-mismatch   # the word in brackets at the end of a finding",
		Args: func(c *cobra.Command, args []string) error {
			if len(args) > 1 {
				return remedy.Errorf("oap-gate explain [ID | CODE]", "explain wants one id or code, %d were given",
					len(args))
			}
			return nil
		},
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return slices.Concat(ruleIDs(), codeIDs()), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				for _, c := range mirror.Catalogue() {
					fmt.Fprintf(sys.Stdout, "%-22s %s\n", c.ID, c.Title)
				}
				for _, s := range subjects() {
					fmt.Fprintf(sys.Stdout, "\n(%s)\n", s.judges)
					for _, r := range s.rules {
						fmt.Fprintf(sys.Stdout, "%-22s %s\n", r.ID, r.Title)
					}
				}
				return nil
			}
			check := explainCheck(sys.Stdout, args[0])
			known := check
			for _, s := range subjects() {
				for _, rule := range s.rules {
					if rule.ID == args[0] {
						if known {
							fmt.Fprintln(sys.Stdout)
						}
						explainRule(sys.Stdout, rule, s.judges, s.network(rule))
						if s.members != nil && s.members(rule.ID) != "" {
							fmt.Fprintf(sys.Stdout, "\n%s", s.members(rule.ID))
						}
						known = true
					}
				}
			}
			for _, c := range codes() {
				switch {
				case c.ID != args[0]:
					continue
				case check:
					fmt.Fprintf(sys.Stdout, "as code:  %s; %s\n", c.Meaning, c.Fix)
					continue
				case known:
					fmt.Fprintln(sys.Stdout)
				}
				known = true
				fmt.Fprintf(sys.Stdout, "%s, a code of %s\n\nmeans:    %s\nfix:      %s\n", c.ID,
					strings.Join(c.of, ", "), c.Meaning, c.Fix)
			}
			if !known {
				fix := "the checks are " + strings.Join(verdict.IDs(mirror.Catalogue()), ", ") +
					"; all that there is to explain: oap-gate explain"
				return remedy.Errorf(remedy.DidYouMean(args[0], slices.Concat(ruleIDs(), codeIDs()), fix),
					"no check and no code is called %q", args[0])
			}
			return nil
		},
	}
}

// subject is what is judged beside a registry, with the catalogue that it is judged by.
type subject struct {
	judges     string // what the rules are about
	reportedBy string // who is said to report the codes; empty: each rule for itself
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
	fmt.Fprintf(w, "%s\n\nrequires: %s\ncites:    %s\njudges:   %s\nnetwork:  %s\nwhy:      %s\nfix:      %s\ncodes: "+
		"   %s\n",
		r.ID, r.Title, cmp.Or(r.Cite, "nothing: it follows from how the forge works"), judges, network, r.Why, r.Fix,
		strings.Join(codes, ", "))
}

// code is one code and who reports it.
type code struct {
	checks.Code
	of []string
}

// codes are all codes that a finding may have, each with everything that reports it in the same sense.
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

// ruleIDs are the ids of all that explain knows.
func ruleIDs() []string {
	all := verdict.IDs(mirror.Catalogue())
	for _, s := range subjects() {
		all = append(all, verdict.IDs(s.rules)...)
	}
	return all
}

// cloneCodes are the codes of the errors and warnings about the clone that a command reads.
var cloneCodes = []checks.Code{
	{registry.NestedRepository, "the repository is a folder in the work tree of another one; if that one tracks " +
		"it, a pull request may have brought it",
		"name the outer clone itself, or a clone outside of its work tree"},
}
