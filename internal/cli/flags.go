package cli

import (
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/openagentprotocol-OAP/oap-gate/checks"
	"github.com/openagentprotocol-OAP/oap-gate/gate"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence"
	"github.com/openagentprotocol-OAP/oap-gate/internal/mirror"
	"github.com/openagentprotocol-OAP/oap-gate/internal/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// assumed names the flags in effect that leave a check out or replace network, clock or trust root, by their names.
func assumed(s *selectionFlags, n *networkFlags) []string {
	return byName(slices.Concat(n.assumed(), s.assumed()))
}

// byName sorts flags by their names, each in front of its value.
func byName(flags []string) []string {
	slices.SortStableFunc(flags, func(a, b string) int {
		a, _, _ = strings.Cut(a, " ")
		b, _, _ = strings.Cut(b, " ")
		return strings.Compare(a, b)
	})
	return flags
}

// unmade is the report of a run that could not be made, without the reason.
func unmade(mode string, s *selectionFlags, n *networkFlags) *verdict.Report {
	src := evidence.Offline(n.now(), 0)
	cfg := gate.Config{Tool: version(), Selected: s.selected, Assumed: assumed(s, n)}
	if mode == "audit" {
		return mirror.NewReport(src, cfg)
	}
	return gate.NewReport(mode, src, cfg)
}

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

func oneOf(name, value string, known ...string) error {
	if slices.Contains(known, value) {
		return nil
	}
	return usagef("use one of "+strings.TrimPrefix(strings.Join(known, ", "), ", "), "%s %q is not known", name, value)
}

// givenFlag is a text that, where its flag is given, says something. A script whose variable is not set gives an empty
// one: taken for left out, it would leave a condition out that the caller set.
type givenFlag struct{ pflag.Value }

func (g givenFlag) Set(text string) error {
	if text == "" {
		return usagef("give it a value, or leave it out", "is empty")
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
		return usagef("give a duration such as 10s, 5m, 36h or 30d", "%v", err)
	}
	return nil
}

// spanFlags say which commits of which clone are judged.
type spanFlags struct {
	repo, base, head string
	worktree         bool
	allowTarget      bool // pull_request_target is acknowledged
	// specification: the clone is the specification's, where reviews count as events and any branch is one to land on.
	specification bool
}

func (s *spanFlags) bind(c *cobra.Command) {
	f := c.Flags()
	bindRepo(c, &s.repo)
	f.StringVar(&s.base, "base", "", "commit that the range would land on (default: of the event, "+
		"else HEAD or main of the remote upstream, else of origin, else main)")
	f.StringVar(&s.head, "head", "", "commit that is proposed (default: of the event, else HEAD)")
	f.BoolVar(&s.worktree, "worktree", false, "the head is the files on disk, before the commit")
	f.BoolVar(&s.allowTarget, "allow-pull-request-target", false,
		"accept the event pull_request_target: only data of the pull request is read, nothing of it is run")
}

func bindRepo(c *cobra.Command, repo *string) {
	c.Flags().StringVar(repo, "repo", ".", "the clone: a work tree, a bare clone or a linked worktree")
}

func (s *spanFlags) inputs() []input {
	return []input{{"path", text(&s.repo)}, {"base", text(&s.base)},
		{"allow-pull-request-target", boolean("allow-pull-request-target", &s.allowTarget)}}
}

func (s *spanFlags) check() error {
	if s.worktree && s.head != "" {
		return usagef("give one of them", "--worktree and --head exclude one another")
	}
	return nil
}

// selectionFlags say which checks run.
type selectionFlags struct {
	only, skip []string
	known      []string // ids of the checks that the command knows
}

func (s *selectionFlags) bind(c *cobra.Command, known []string) {
	s.known = known
	c.Flags().StringSliceVar(&s.only, "only", nil, "run these checks only")
	c.Flags().StringSliceVar(&s.skip, "skip", nil, "leave these checks out")
	for _, name := range []string{"only", "skip"} {
		_ = c.RegisterFlagCompletionFunc(name, oneOrMore(known))
	}
}

func (s *selectionFlags) inputs() []input {
	return []input{{"checks", words(&s.only)}, {"skip", words(&s.skip)}}
}

func (s *selectionFlags) check(offline bool) error {
	for _, ids := range [][]string{s.only, s.skip} {
		for i := range ids {
			ids[i] = strings.TrimSpace(ids[i])
		}
	}
	for _, id := range slices.Concat(s.only, s.skip) {
		if !slices.Contains(s.known, id) {
			return s.unknown(id)
		}
		if c := checks.ByID(id); offline && slices.Contains(s.only, id) && c != nil && c.Online() {
			return usagef("drop --offline, or leave the check out of --only",
				"check %s needs the network, and --offline forbids it", id)
		}
	}
	if !slices.ContainsFunc(s.known, s.selected) {
		return usagef("leave fewer of them out", "--only and --skip leave no check to run")
	}
	return nil
}

func (s *selectionFlags) unknown(id string) error {
	if slices.Contains(ids(catalogue()), id) {
		return usagef("run oap-gate audit for it", "check %s is one of audit", id)
	}
	return usagef(didYouMean(id, s.known, "the checks are "+strings.Join(s.known, ", ")), "no check is called %q", id)
}

// selected reports whether a check is to run.
func (s *selectionFlags) selected(id string) bool {
	return (len(s.only) == 0 || slices.Contains(s.only, id)) && !slices.Contains(s.skip, id)
}

// assumed names the flags in effect that leave a check out.
func (s *selectionFlags) assumed() []string {
	var out []string
	if only := strings.Join(s.only, ","); only != "" {
		out = append(out, "--only "+only)
	}
	if skip := strings.Join(s.skip, ","); skip != "" {
		out = append(out, "--skip "+skip)
	}
	return out
}

// likely are the known words, at most three, that somebody who wrote word may have meant, the nearest first.
func likely(word string, known []string) []string {
	const most = 2
	word = strings.ToLower(word)
	var near [most + 1][]string
	for _, k := range known {
		away := checks.Distance([]rune(word), []rune(strings.ToLower(k)), most)
		if away > most && len(word) > most && strings.HasPrefix(strings.ToLower(k), word) {
			away = most
		}
		if away <= most && away < len(k)-1 && !slices.Contains(near[away], k) {
			near[away] = append(near[away], k)
		}
	}
	all := slices.Concat(near[:]...)
	return all[:min(len(all), 3)]
}

// didYouMean puts in front of a fix what was likely meant.
func didYouMean(word string, known []string, fix string) string {
	like := likely(word, known)
	if len(like) == 0 {
		return fix
	}
	return "did you mean " + strings.Join(like, " or ") + "? " + fix
}
