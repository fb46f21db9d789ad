package gate

import (
	"context"
	"slices"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/checks"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence/bundle"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence/choose"
	"github.com/openagentprotocol-OAP/oap-gate/internal/judge"
	"github.com/openagentprotocol-OAP/oap-gate/internal/judge/replay"
	"github.com/openagentprotocol-OAP/oap-gate/internal/mirror"
	"github.com/openagentprotocol-OAP/oap-gate/internal/mirror/bulk"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verify"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// otherRun is the fix for a call that does not ask for what a bundle recorded.
const otherRun = "ask for the run that the bundle recorded, or record a new one with --record"

// decode reads the text of a bundle.
func decode(text []byte) (*bundle.Bundle, error) {
	b, err := bundle.Decode("bundle", text)
	return b, remedy.With(err, bundle.RecordAgain)
}

func checkAgain(ctx context.Context, repo *registry.Repository, base, head string, b *bundle.Bundle,
	o Options) (*Report, error) {
	if err := sameRun(b, "check", o, Options{DenyGovernance: b.Flags.Governance == "deny"}); err != nil {
		return nil, err
	}
	for _, rev := range [][2]string{{base, b.Base}, {head, b.Head}} {
		if err := sameCommit(repo, rev[0], rev[1]); err != nil {
			return nil, err
		}
	}
	cfg, err := replay.Recall(b, verdict.IDs(checks.Rules()))
	if err != nil {
		return nil, err
	}
	return replay.Again(ctx, repo, b, b.Chosen(), cfg)
}

func auditAgain(ctx context.Context, repo *registry.Repository, rev string, b *bundle.Bundle,
	o Options) (*Report, error) {
	if err := sameRun(b, "audit", o, Options{Strict: b.Flags.Strict}); err != nil {
		return nil, err
	}
	if err := sameCommit(repo, rev, b.Head); err != nil {
		return nil, err
	}
	cfg, err := replay.Recall(b, verdict.IDs(mirror.Catalogue()))
	if err != nil {
		return nil, err
	}
	rep, err := mirror.Again(ctx, repo, b, cfg, bulk.Spool{})
	return rep, remedy.With(err, bundle.RecordAgain)
}

func verifyAgain(ctx context.Context, r *verify.Run, target string, b *bundle.Bundle, o VerifyOptions) error {
	flags := b.Flags.Verify
	switch {
	case b.Mode != "verify" || flags == nil:
		return otherMode(b, "verify")
	case !slices.Equal(flags.Targets, []string{target}):
		return remedy.Errorf(otherRun, "the bundle was recorded for the targets %q; expected %q", flags.Targets, target)
	case o.Level != "" && o.Level != flags.Level, o.WithoutRegistry && !flags.Without, o.Rev != "",
		o.MaxAge != 0 && o.MaxAge != time.Duration(flags.MaxAge)*time.Second:
		return remedy.Errorf(otherRun, "the bundle was recorded with other options")
	case o.Registry != nil && b.Head == "":
		return remedy.Errorf(otherRun, "the bundle was recorded without a clone, and Registry is one")
	}
	if o.Registry == nil {
		return r.Again(ctx, b, nil)
	}
	return r.Again(ctx, b, func() (*registry.Repository, error) { return o.Registry, nil })
}

// sameRun refuses a bundle of another mode, and options that differ from those of the recorded run. Zero options stand
// for the recorded ones.
func sameRun(b *bundle.Bundle, mode string, o, recorded Options) error {
	recorded.Only, recorded.Skip = b.Flags.Only, b.Flags.Skip
	same := slices.Equal(o.Only, recorded.Only) && slices.Equal(o.Skip, recorded.Skip) &&
		o.DenyGovernance == recorded.DenyGovernance && o.Strict == recorded.Strict
	zero := len(o.Only) == 0 && len(o.Skip) == 0 && !o.DenyGovernance && !o.Strict
	switch {
	case b.Mode != mode:
		return otherMode(b, mode)
	case !same && !zero:
		return remedy.Errorf(otherRun, "the bundle was recorded with other options")
	}
	return nil
}

// checkBundle returns the bundle of a check, as --record writes it.
func checkBundle(c choose.Chosen, cfg judge.Config, src evidence.Source, rep *Report, o Options) *bundle.Bundle {
	cfg.Assumed = rep.Assumed
	b := replay.NewBundle("check", c, cfg, src)
	b.MergeBase, b.Flags.Selection = rep.MergeBase, bundle.Selection{Only: o.Only, Skip: o.Skip}
	if b.Flags.Governance = "review"; o.DenyGovernance {
		b.Flags.Governance = "deny"
	}
	return b
}

// auditBundle returns the bundle of an audit, as --record writes it.
func auditBundle(cfg mirror.AuditConfig, head string, src evidence.Source, rep *Report, o Options) *bundle.Bundle {
	cfg.Assumed = rep.Assumed
	b := replay.NewBundle("audit", choose.Chosen{Head: head, How: cfg.Chosen}, cfg.Config, src)
	b.Flags.Selection, b.Flags.Strict = bundle.Selection{Only: o.Only, Skip: o.Skip}, o.Strict
	b.Compared = &bundle.Compared{File: rep.History.CheckpointFile}
	return b
}

func otherMode(b *bundle.Bundle, mode string) error {
	return remedy.Errorf(otherRun, "the bundle is of the mode %q; expected %q", b.Mode, mode)
}

// sameCommit refuses a revision of another commit than the bundle names; an empty one means that commit.
func sameCommit(repo *registry.Repository, rev, recorded string) error {
	if rev == "" {
		return nil
	}
	commit, err := repo.Resolve(rev)
	if err == nil && commit != recorded {
		err = remedy.Errorf(otherRun, "the bundle was recorded with commit %q; %q is commit %s", recorded, rev, commit)
	}
	return err
}
