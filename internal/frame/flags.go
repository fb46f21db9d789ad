package frame

import (
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/typed"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence/bundle"
)

// durationFlag is a flag's duration, shown as it was given.
type durationFlag struct {
	to   *time.Duration
	text string
}

// DurationVar defines a flag that [typed.ParseSpan] reads.
func DurationVar(f *pflag.FlagSet, to *time.Duration, name, value, usage string) {
	d := &durationFlag{to: to}
	if err := d.Set(value); err != nil {
		panic(err)
	}
	f.Var(d, name, usage)
}

func (d *durationFlag) String() string { return d.text }
func (d *durationFlag) Type() string   { return "DURATION" }

func (d *durationFlag) Set(text string) (err error) {
	d.text = text
	if *d.to, err = typed.ParseSpan(text); err != nil {
		return remedy.Errorf("give a duration such as 10s, 5m, 36h or 30d", "%v", err)
	}
	return nil
}

// Span say which commits of which clone are judged.
type Span struct {
	Repo, base, head string
	Worktree         bool
	staged           bool
	Each             bool // each first-parent commit is judged by itself; without a base from the root on
	allowTarget      bool // pull_request_target is acknowledged
	// specification: the clone is the specification's, where reviews count as events and any branch is one to land on.
	specification bool
	sys           IO
}

// Bind defines the flags of c; specification says that the clone is the specification's.
func (s *Span) Bind(c *cobra.Command, sys IO, specification bool) {
	s.sys, s.specification = sys, specification
	f := c.Flags()
	BindRepo(c, &s.Repo)
	f.StringVar(&s.base, "base", "", "commit `REV` to land on (default: the event's, "+
		"else HEAD or main of the remote upstream, else of origin, else main)")
	f.StringVar(&s.head, "head", "", "commit `REV` that is proposed (default: the event's, else HEAD)")
	f.BoolVar(&s.Worktree, "worktree", false, "take the files on disk as the head, before the commit")
	f.BoolVar(&s.staged, "staged", false, "take the index as the head: what git commit would commit now")
	f.BoolVar(&s.allowTarget, "allow-pull-request-target", false,
		"accept the event pull_request_target: only data of the pull request is read, nothing of it is run")
	as := ""
	if specification {
		as = "; its message is the pull request's text"
	}
	f.BoolVar(&s.Each, "each", false, "judge each first-parent commit by itself"+as+
		"; without --base, or with one of all zeros, from the root on")
}

func BindRepo(c *cobra.Command, repo *string) {
	c.Flags().StringVar(repo, "repo", ".",
		"directory `DIR` of the clone: a work tree, a bare clone or a linked worktree")
}

// Check refuses what no run could use.
func (s *Span) Check() error {
	flag := "--worktree"
	if s.staged {
		flag = "--staged"
	}
	switch disk := s.Worktree || s.staged; {
	case s.Worktree && s.staged:
		return remedy.Errorf("leave out one of them", "--worktree and --staged exclude one another")
	case disk && s.head != "":
		return remedy.Errorf("leave --head out", "%s and --head exclude one another", flag)
	case disk && s.Each:
		return remedy.Errorf("leave out one of them", "--each judges commits, and %s is about the next one", flag)
	}
	if s.sys.inAction() { // the input base must not get around it
		return s.admit(s.sys.Getenv("GITHUB_EVENT_NAME"))
	}
	return nil
}

// Checks say which checks run.
type Checks struct {
	bundle.Selection
	known  []string             // ids of the checks that the command knows
	others map[string]string    // fixes for ids of checks that the command cannot select
	online func(id string) bool // nil: none needs the network
}

// Bind defines the flags of c, which knows these checks. others are the fixes for ids of checks that it cannot select,
// online reports whether a check needs the network; both may be nil.
func (s *Checks) Bind(c *cobra.Command, known []string, others map[string]string, online func(id string) bool) {
	s.known, s.others, s.online = known, others, online
	c.Flags().StringSliceVar(&s.Only, "only", nil, "only the checks with these `IDS`, joined by commas")
	c.Flags().StringSliceVar(&s.Skip, "skip", nil, "skip the checks with these `IDS`, joined by commas")
	for _, name := range []string{"only", "skip"} {
		_ = c.RegisterFlagCompletionFunc(name, OneOrMore(known))
	}
}

// Check refuses a selection that no run could use.
func (s *Checks) Check(offline bool) error {
	for _, ids := range [][]string{s.Only, s.Skip} {
		for i := range ids {
			ids[i] = strings.TrimSpace(ids[i])
		}
	}
	if err := s.Selection.Check(s.known, s.others); err != nil {
		return err
	}
	for _, id := range s.Only {
		if offline && s.online != nil && s.online(id) {
			return remedy.Errorf("drop --offline, or leave the check out of --only",
				"check %s needs the network, and --offline forbids it", id)
		}
	}
	return nil
}

// OneOrMore offers words, also behind a comma.
func OneOrMore(words []string) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
		before := begun[:strings.LastIndexByte(begun, ',')+1]
		var all []string
		for _, w := range words {
			all = append(all, before+w)
		}
		return all, cobra.ShellCompDirectiveNoFileComp
	}
}
