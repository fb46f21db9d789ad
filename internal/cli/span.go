package cli

import "github.com/spf13/cobra"

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
