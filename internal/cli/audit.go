package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/openagentprotocol-OAP/oap-gate/gate"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// auditOptions are the flags of audit beside those it shares with check.
type auditOptions struct {
	options
	rev    string
	strict bool
	shard  string
	part   [2]int // the shard and how many there are; 0 of 0: all
}

func newAudit(sys IO) *cobra.Command {
	var o auditOptions
	c := &cobra.Command{
		Use:   "audit",
		Short: "revalidate a whole clone: every record and the whole history",
		Long: strings.TrimSpace(`
audit trusts neither the forge nor the maintainers: it judges every first-parent commit by the
rules of a pull request, and every record at the head as of now. An expired or revoked listing
is a fact, not a failure, unless --strict.`),
		Example: `  oap-gate audit
  oap-gate audit --offline
  oap-gate audit --report html=audit.html --report prometheus=oap.prom`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return o.tellVerdict(cmd.Context(), sys)
		},
	}
	o.bind(c)
	return c
}

func (o *auditOptions) bind(c *cobra.Command) {
	o.mode = "audit"
	o.options.bind(c)
	f := c.Flags()
	f.StringVar(&o.rev, "rev", "HEAD", "commit to audit")
	f.BoolVar(&o.strict, "strict", false, "expired and revoked listings are failures")
	f.StringVar(&o.shard, "shard", "", "only the `I/N`-th part of the records, stable by slug")
}

// tellVerdict runs the audit and tells the verdict everywhere it was asked to.
func (o *auditOptions) tellVerdict(ctx context.Context, sys IO) error {
	if err := o.check(); err != nil {
		return o.failed(sys, err)
	}
	rep, err := o.run(ctx, sys)
	if err != nil {
		return o.failed(sys, err)
	}
	return o.verdict(sys, rep)
}

func (o *auditOptions) check() error {
	if err := o.options.check(); err != nil {
		return err
	}
	if o.shard != "" {
		if n, err := fmt.Sscanf(o.shard, "%d/%d", &o.part[0], &o.part[1]); n != 2 || err != nil || o.part[0] < 1 || o.part[0] > o.part[1] ||
			o.shard != fmt.Sprintf("%d/%d", o.part[0], o.part[1]) {
			return usagef("write I/N, such as 1/4", "--shard %q is no part of a whole", o.shard)
		}
	}
	return nil
}

func (o *auditOptions) run(ctx context.Context, sys IO) (*gate.Report, error) {
	repo, err := registry.Open(o.repo)
	if err != nil {
		return nil, err
	}
	defer repo.Close()
	head, err := repo.Resolve(o.rev)
	if err != nil {
		return nil, err
	}
	progress := newProgress(sys)
	defer progress.stop()
	src, err := o.source(progress.set)
	if err != nil {
		return nil, err
	}
	cfg := gate.AuditConfig{Strict: o.strict, Shard: o.part[0], Of: o.part[1], Config: gate.Config{Tool: version(),
		Chosen: fmt.Sprintf("head %s (%s)", short(head), o.rev), Selected: o.selected, Offline: o.offline, Assumed: o.assumed()}}
	return gate.Audit(ctx, repo, head, src, cfg)
}
