package verifycmd

import (
	"bufio"
	"context"
	"io"

	"github.com/spf13/cobra"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/frame"
	"github.com/openagentprotocol-OAP/oap-gate/internal/mirror/prove"
	"github.com/openagentprotocol-OAP/oap-gate/internal/report"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verify"
)

// NewChanges returns the command changes.
func NewChanges(sys frame.IO) *cobra.Command {
	var repo, rev string
	var since int64
	c := &cobra.Command{
		Use:   "changes --since SIZE",
		Short: "list what changed in a registry since a log size",
		Long: `changes reads the first-parent history of a clone. It prints one JSON object a line for
each record, and each revoked/SLUG-HASH, that was added, modified or removed after the
first SIZE commits, and last the size and the root of the log.`,
		Example: "  oap-gate changes --since 0\n  oap-gate changes --since 120 --repo oap-registry",
		Args:    frame.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if !c.Flags().Changed("since") || since < 0 {
				return remedy.Errorf("give --since SIZE; 0 prints the whole history",
					"changes requires --since with a SIZE of 0 or more")
			}
			return changes(c.Context(), sys, repo, rev, since)
		},
	}
	frame.BindRepo(c, &repo)
	f := c.Flags()
	f.StringVar(&rev, "rev", "",
		"commit `REV` whose history is read (default: HEAD or main of the remote upstream, else of origin, else "+
			"main)")
	f.Int64Var(&since, "since", 0, "print what changed after the first `SIZE` commits")
	return c
}

func changes(ctx context.Context, sys frame.IO, dir, rev string, since int64) error {
	repo, err := frame.OpenClone(sys, dir)
	if err != nil {
		return err
	}
	defer repo.Close()
	_, commit, _, err := verify.Choose(ctx, repo, dir, rev)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(sys.Stdout)
	if err := prove.Changes(ctx, repo, commit, since, escaped{out}); err != nil {
		return err
	}
	return out.Flush()
}

// escaped writes JSON that is as harmless in a log as the JSON report. Each write has whole lines.
type escaped struct{ to io.Writer }

func (e escaped) Write(lines []byte) (int, error) {
	_, err := e.to.Write(report.Escaped(lines))
	return len(lines), err
}
