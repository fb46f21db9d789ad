package cli_test

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"github.com/openagentprotocol-OAP/oap-gate/internal/cli"
	"github.com/openagentprotocol-OAP/oap-gate/internal/cli/programs"
	"github.com/openagentprotocol-OAP/oap-gate/internal/cli/table"
	"github.com/openagentprotocol-OAP/oap-gate/internal/frame"
	"github.com/openagentprotocol-OAP/oap-gate/internal/report"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/clitest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

// TestActionRefusesInputs sets each input of action.yml in each mode: one that the mode does not read ends the run with
// 2, unless it has its default.
func TestActionRefusesInputs(t *testing.T) {
	text := must.Read(t, filepath.Join("..", "..", "action.yml"))
	var action struct {
		Inputs map[string]struct{ Default string }
	}
	must.OK(t, yaml.Unmarshal(text, &action))
	const most = "mode path summary max-annotations offline timeout budget "
	const every = "mode path report summary max-annotations offline timeout budget "
	for _, m := range table.ActionModes {
		takes := strings.Fields(every + m.Inputs)
		if slices.Contains([]string{"comment", "remind", "rerun"}, m.Mode) { // without a report
			takes = strings.Fields(most + m.Inputs)
		}
		events := []string{"push"}
		if m.Mode == "" {
			events = append(events, "schedule")
		}
		for name, input := range action.Inputs {
			if value, is := cli.Defaults[name]; is && value != input.Default {
				t.Errorf("the default of the input %s is %q, in action.yml %q", name, value, input.Default)
			}
			for _, event := range events {
				if slices.Contains(takes, name) {
					continue
				}
				// "deny" is no default.
				code, log, _, _ := clitest.StepOf(t, event, map[string]string{"mode": m.Mode, name: "deny"})
				if want := "does not take the input " + name + " here"; code != 2 || !strings.Contains(log, want) {
					t.Errorf("mode %q, event %s: exit status %d, want 2 and %q\n%s", m.Mode, event, code, want, log)
				}
			}
		}
		for _, event := range events { // with all defaults, which stepOf sets
			_, log, _, _ := clitest.StepOf(t, event, map[string]string{"mode": m.Mode})
			if strings.Contains(log, "does not take") {
				t.Errorf("mode %q, event %s: a default is refused\n%s", m.Mode, event, log)
			}
		}
	}
	_, log, _, _ := clitest.StepOf(t, "push", map[string]string{"targets": "nova"})
	if want := "fix: leave the input targets empty; mode verify takes it"; !strings.Contains(log, want) {
		t.Errorf("no %q in\n%s", want, log)
	}
}

// TestModes checks that action.yml describes each mode, that each is of the program and takes the inputs that the list
// of modes says, that it has a step that nothing asks for, and that its inputs are flags of its command.
func TestModes(t *testing.T) {
	text := must.Read(t, filepath.Join("..", "..", "action.yml"))
	_, described, _ := strings.Cut(string(text), "\n  mode:\n    description: ")
	described, _, _ = strings.Cut(described, "\n")
	words := strings.FieldsFunc(described, func(r rune) bool { return (r < 'a' || r > 'z') && r != '-' })
	for _, m := range table.ActionModes {
		if !slices.Contains(words, m.Mode) && m.Mode != "" {
			t.Errorf("the Action has no word of mode %s in the description of its input mode", m.Mode)
		}
	}
	found := 0
	for _, p := range programs.All {
		for _, m := range p.Modes {
			found++
			at := slices.IndexFunc(table.ActionModes, func(of table.ModeOf) bool { return of.Mode == m.Name })
			if at < 0 || table.ActionModes[at].Program != p.Name {
				t.Fatalf("the list of modes does not say that %q is of %s", m.Name, p.Name)
			}
			if last := m.Steps[len(m.Steps)-1]; last.Asked != "" || last.Events != nil {
				t.Errorf("mode %q has no step that is asked for by nothing", m.Name)
			}
			takes := map[string]bool{}
			for _, s := range m.Steps {
				c, rest, err := cli.Command(p, frame.IO{}).Find(strings.Fields(s.Command))
				if err != nil || len(rest) > 0 {
					t.Fatalf("mode %q runs %q, of which %q is no command: %v", m.Name, s.Command, rest, err)
				}
				for _, in := range append(slices.Clone(s.Inputs), s.Asked, s.Args) {
					name, flag, renamed := strings.Cut(in, "=")
					if takes[name] = true; !renamed {
						flag = name
					}
					if flag != "" && in != s.Args && c.Flags().Lookup(flag) == nil {
						t.Errorf("mode %q, %s: no flag --%s", m.Name, s.Command, flag)
					}
				}
			}
			delete(takes, "")
			delete(takes, "path")
			want := strings.Fields(table.ActionModes[at].Inputs)
			if got := slices.Sorted(maps.Keys(takes)); !slices.Equal(got, slices.Sorted(slices.Values(want))) {
				t.Errorf("mode %q takes %q, and the list of modes says %q", m.Name, got, want)
			}
		}
	}
	if found != len(table.ActionModes) {
		t.Errorf("the programs have %d modes, and the list has %d", found, len(table.ActionModes))
	}
}

// TestOwned checks that the list of what single programs have agrees with their tables.
func TestOwned(t *testing.T) {
	count := map[string]int{}
	for _, p := range programs.All {
		for _, name := range slices.Concat(p.Schemas, report.Names(p.Formats)) {
			count[name]++
		}
	}
	for _, o := range table.Owned {
		at := slices.IndexFunc(programs.All, func(p *table.Program) bool { return p.Name == o.Program })
		only := func(names []string) (own []string) {
			for _, name := range names {
				if count[name] < len(programs.All) {
					own = append(own, name)
				}
			}
			return own
		}
		formats := only(report.Names(programs.All[at].Formats))
		if o.Program == "oap-gate" {
			formats = append(formats, report.StatementFormat)
		}
		if got, want := strings.Fields(o.Schemas), only(programs.All[at].Schemas); !slices.Equal(got, want) {
			t.Errorf("%s has the schemas %q, and the list says %q", o.Program, want, got)
		}
		if got := strings.Fields(o.Formats); !slices.Equal(got, formats) {
			t.Errorf("%s has the formats %q, and the list says %q", o.Program, formats, got)
		}
	}
}
