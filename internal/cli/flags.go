package cli

import (
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence"
	"github.com/openagentprotocol-OAP/oap-gate/internal/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/remedy"
)

// inOrder gives the first error, and asks no further.
func inOrder(checks ...func() error) error {
	for _, check := range checks {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

// writable mends a file that could not be written.
const writable = "name a file in a folder that can be written"

// byName sorts flags by their names, each in front of its value.
func byName(groups ...[]string) []string {
	flags := slices.Concat(groups...)
	slices.SortStableFunc(flags, func(a, b string) int {
		a, _, _ = strings.Cut(a, " ")
		b, _, _ = strings.Cut(b, " ")
		return strings.Compare(a, b)
	})
	return flags
}

// givenFlag is a text that, where its flag is given, says something. A script whose variable is not set gives an empty
// one: taken for left out, it would leave a condition out that the caller set.
type givenFlag struct{ pflag.Value }

func (g givenFlag) Set(text string) error {
	if text == "" {
		return remedy.Errorf("give it a value, or leave it out", "is empty")
	}
	return g.Value.Set(text)
}

// refuseEmpty makes givenFlags of the texts among the flags of c and of the commands below it.
func refuseEmpty(c *cobra.Command) {
	for _, sub := range c.Commands() {
		refuseEmpty(sub)
	}
	c.Flags().VisitAll(func(f *pflag.Flag) {
		switch f.Value.Type() {
		case "string", "stringSlice":
			f.Value = givenFlag{f.Value}
			if f.DefValue == "[]" { // help would show it, of a type that pflag does not know
				f.DefValue = ""
			}
		}
	})
}

// durationFlag is a flag's duration, shown as it was given.
type durationFlag struct {
	to   *time.Duration
	text string
}

// durationVar defines a flag that [plain.ParseSpan] reads.
func durationVar(f *pflag.FlagSet, to *time.Duration, name, value, usage string) {
	d := &durationFlag{to: to}
	if err := d.Set(value); err != nil {
		panic(err)
	}
	f.Var(d, name, usage)
}

func (d *durationFlag) String() string { return d.text }
func (d *durationFlag) Type() string   { return "duration" }

func (d *durationFlag) Set(text string) (err error) {
	d.text = text
	if *d.to, err = plain.ParseSpan(text); err != nil {
		return remedy.Errorf("give a duration such as 10s, 5m, 36h or 30d", "%v", err)
	}
	return nil
}

// spanFlags say which commits of which clone are judged.
type spanFlags struct {
	repo, base, head string
	worktree         bool
	each             bool // each first-parent commit is judged by itself; without a base from the root on
	allowTarget      bool // pull_request_target is acknowledged
	// specification: the clone is the specification's, where reviews count as events and any branch is one to land on.
	specification bool
	sys           IO
}

// bind defines the flags of c; specification says that the clone is the specification's.
func (s *spanFlags) bind(c *cobra.Command, sys IO, specification bool) {
	s.sys, s.specification = sys, specification
	f := c.Flags()
	bindRepo(c, &s.repo)
	f.StringVar(&s.base, "base", "", "commit that the range would land on (default: of the event, "+
		"else HEAD or main of the remote upstream, else of origin, else main)")
	f.StringVar(&s.head, "head", "", "commit that is proposed (default: of the event, else HEAD)")
	f.BoolVar(&s.worktree, "worktree", false, "the head is the files on disk, before the commit")
	f.BoolVar(&s.allowTarget, "allow-pull-request-target", false,
		"accept the event pull_request_target: only data of the pull request is read, nothing of it is run")
	if specification {
		f.BoolVar(&s.each, "each", false, "judge every first-parent commit by itself, its message being the words; "+
			"without --base from the root on")
	}
}

func bindRepo(c *cobra.Command, repo *string) {
	c.Flags().StringVar(repo, "repo", ".", "the clone: a work tree, a bare clone or a linked worktree")
}

// check refuses what no run could use.
func (s *spanFlags) check() error {
	if s.worktree && s.head != "" {
		return remedy.Errorf("give one of them", "--worktree and --head exclude one another")
	}
	if s.sys.inAction() { // the input base must not get around it
		return s.admit(s.sys.Getenv("GITHUB_EVENT_NAME"))
	}
	return nil
}

// selectionFlags say which checks run.
type selectionFlags struct {
	evidence.Selection
	known   []string             // ids of the checks that the command knows
	ofAudit []string             // ids of those that audit alone knows
	online  func(id string) bool // nil: none needs the network
}

// bind defines the flags of c, which knows these checks. ofAudit are ids of checks that audit alone knows, online
// reports whether a check needs the network; both may be nil.
func (s *selectionFlags) bind(c *cobra.Command, known, ofAudit []string, online func(id string) bool) {
	s.known, s.ofAudit, s.online = known, ofAudit, online
	c.Flags().StringSliceVar(&s.Only, "only", nil, "run these checks only")
	c.Flags().StringSliceVar(&s.Skip, "skip", nil, "leave these checks out")
	for _, name := range []string{"only", "skip"} {
		_ = c.RegisterFlagCompletionFunc(name, oneOrMore(known))
	}
}

// check refuses a selection that no run could use.
func (s *selectionFlags) check(offline bool) error {
	for _, ids := range [][]string{s.Only, s.Skip} {
		for i := range ids {
			ids[i] = strings.TrimSpace(ids[i])
		}
	}
	for _, id := range slices.Concat(s.Only, s.Skip) {
		switch {
		case slices.Contains(s.known, id):
		case slices.Contains(s.ofAudit, id):
			return remedy.Errorf("run oap-gate audit for it", "check %s is one of audit", id)
		default:
			return remedy.Errorf(remedy.DidYouMean(id, s.known, "the checks are "+strings.Join(s.known, ", ")),
				"no check is called %q", id)
		}
		if offline && s.online != nil && slices.Contains(s.Only, id) && s.online(id) {
			return remedy.Errorf("drop --offline, or leave the check out of --only",
				"check %s needs the network, and --offline forbids it", id)
		}
	}
	if !slices.ContainsFunc(s.known, s.Selected) {
		return remedy.Errorf("leave fewer of them out", "--only and --skip leave no check to run")
	}
	return nil
}
