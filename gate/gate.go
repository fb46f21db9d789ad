// Package gate gates pull requests of an OAP registry, audits clones and verifies single implementations.
//
// It is the Go API of the command oap-gate: the same input gives the same report. A report is data; its Verdict says
// whether the pull request may be merged. An error means that nothing was decided, and is never a pass; Fix says what
// helps.
//
// Functions return when their context ends, write nothing to the standard streams, set nothing that other code of the
// program shares, and may be called concurrently. Only the names in testdata/api/gate.txt are promised: they stay until
// the next major version.
package gate

import (
	"cmp"
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/checks"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence/bundle"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence/choose"
	"github.com/openagentprotocol-OAP/oap-gate/internal/git/checkpoint"
	"github.com/openagentprotocol-OAP/oap-gate/internal/judge"
	"github.com/openagentprotocol-OAP/oap-gate/internal/judge/chosen"
	"github.com/openagentprotocol-OAP/oap-gate/internal/mirror"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/receipt/explain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verify"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
	"github.com/openagentprotocol-OAP/oap-gate/registry/ondisk"
)

// Options says what a call of Check or Audit judges.
type Options struct {
	Only, Skip     []string // ids of the only checks to run, and of those not to; the report names them as assumed
	DenyGovernance bool     // of Check: a change of governance files fails
	Strict         bool     // for Audit: expired and revoked listings are failures
}

// VerifyOptions says by what Verify judges.
type VerifyOptions struct {
	Registry        *registry.Repository // the clone or mirror that holds revocations and witnesses; nil: none
	Rev             string               // commit of the clone; empty: the remote's main branch
	Level           string               // the one level that decides the verdict; empty: all that the Receipt claims
	MaxAge          time.Duration        // maximum age of the clone, at least a second; 0: a warning from 14 days on
	WithoutRegistry bool                 // revocations need not be known
}

// Bounds of the documents of one call in bytes.
const (
	maxCheck  = 64 << 20
	maxAudit  = 1 << 30
	maxVerify = 256 << 20
)

// Check gates the range base..head of a clone: what a pull request would do to the registry. An empty base is the main
// branch of the clone's remote, an empty head is HEAD.
func Check(ctx context.Context, repo *registry.Repository, base, head string, w Web, o Options) (*Report, error) {
	return run(ctx, repo.Usable(), w, maxCheck, func(src evidence.Source) (*Report, error) {
		if o.Strict {
			return nil, remedy.Errorf("leave it out", "Strict is an option of Audit")
		}
		if w.bundle != nil {
			return checkAgain(ctx, repo, base, head, w.bundle, o)
		}
		cfg, err := w.config(repo, o, verdict.IDs(checks.Rules()), mirror.OfAudit())
		if err != nil {
			return nil, err
		}
		c, err := choose.Range(repo, base, head)
		if err != nil {
			return nil, err
		}
		if c.WorkTree {
			cfg.Uncommitted = ondisk.Uncommitted(ctx, repo)
		}
		rep, err := chosen.Check(ctx, repo, c, src, cfg)
		if err == nil {
			w.keeps.keep(func() *bundle.Bundle { return checkBundle(c, cfg, src, rep, o) })
		}
		return rep, err
	})
}

// Audit judges the first-parent history of a clone and all its records at a commit; an empty rev is HEAD.
func Audit(ctx context.Context, repo *registry.Repository, rev string, w Web, o Options) (*Report, error) {
	rep, err := run(ctx, repo.Usable(), w, maxAudit, func(src evidence.Source) (*Report, error) {
		if o.DenyGovernance {
			return nil, remedy.Errorf("leave it out", "DenyGovernance is an option of Check")
		}
		if w.bundle != nil {
			return auditAgain(ctx, repo, rev, w.bundle, o)
		}
		known, others := mirror.Selectable()
		cfg, err := w.config(repo, o, known, others)
		if err != nil {
			return nil, err
		}
		if err := mirror.CheckPacks(ctx, repo); err != nil {
			return nil, err
		}
		rev := cmp.Or(rev, "HEAD")
		head, err := repo.Resolve(rev)
		if err != nil {
			return nil, err
		}
		cfg.Chosen = fmt.Sprintf("head %s (%s)", plain.Short(head), rev)
		state, err := mirror.Checkpoint{}.Read(ctx, repo, head)
		if err != nil {
			return nil, err
		}
		audit := mirror.AuditConfig{Config: cfg, Strict: o.Strict}
		rep, err := mirror.Audit(ctx, repo, head, src, audit)
		if err != nil {
			return nil, err
		}
		_, rep.History.CheckpointFile, err = state.Next(ctx, repo, rep)
		if err == nil {
			w.keeps.keep(func() *bundle.Bundle { return auditBundle(audit, head, src, rep, o) })
		}
		return rep, err
	})
	return rep, mirror.CorruptClone(err)
}

// Verify verifies one implementation before it is engaged or listed: an https URL, a did:web, or the slug of a listing
// in the clone.
func Verify(ctx context.Context, target string, w Web, o VerifyOptions) (*Verification, error) {
	var unusable error
	if o.Registry != nil {
		unusable = o.Registry.Usable()
	}
	return run(ctx, unusable, w, maxVerify, func(src evidence.Source) (found *Verification, err error) {
		r := verify.Run{Now: src.Now(), Clone: o.Registry, Jobs: 1, Source: src, Keep: w.keeps != nil,
			Config: verify.Config{Tool: version(), Assumed: w.names(o)}}
		if w.bundle != nil {
			err = verifyAgain(ctx, &r, target, w.bundle, o)
		} else {
			err = verifyNow(ctx, &r, target, o)
		}
		if err == nil {
			err = r.Verify(ctx, func(rep *verify.Report) error { found = rep; return nil })
		}
		switch {
		case err != nil:
		case found.Verdict == verdict.Errored:
			err = remedy.Errorf(found.Remedy, "%s", found.Error)
		default:
			w.keeps.keep(r.Bundle)
		}
		return found, err
	})
}

// run opens the source of a call and judges by it. If the call was asked to end, run returns no report; unusable says
// why its clone cannot be read.
func run[T any](ctx context.Context, unusable error, w Web, mostBytes int64,
	judged func(evidence.Source) (*T, error)) (*T, error) {
	if err := ended(ctx, unusable); err != nil {
		return nil, err
	}
	src, done, err := w.source(mostBytes)
	if err != nil {
		return nil, err
	}
	defer done()
	rep, err := judged(src)
	if err := ended(ctx, err); err != nil {
		return nil, err
	}
	return rep, nil
}

// config returns the configuration of a call, and refuses options that no call can follow. others are the fixes for ids
// of checks that the call cannot select.
func (w Web) config(repo *registry.Repository, o Options, known []string,
	others map[string]string) (judge.Config, error) {
	selected := bundle.Selection{Only: o.Only, Skip: o.Skip}
	cfg := judge.Config{Tool: version(), Origin: checkpoint.PublicOrigin(repo.Store().RemoteURL()),
		Selected: selected.Selected, Offline: w.offline,
		DenyGovernance: o.DenyGovernance, Assumed: slices.Concat(w.assumed, selected.Assumed()),
		Explain: explain.Signature}
	slices.SortStableFunc(cfg.Assumed, byName)
	if err := selected.Check(known, others); err != nil {
		return cfg, err
	}
	for _, id := range o.Only {
		if c := checks.ByID(id); w.offline && c != nil && c.Online() {
			return cfg, remedy.Errorf("use Live, or leave the check out of Only",
				"check %s needs the network, and the Web is Offline", id)
		}
	}
	return cfg, nil
}

// byName orders flags by their names, without their values.
func byName(a, b string) int {
	a, _, _ = strings.Cut(a, " ")
	b, _, _ = strings.Cut(b, " ")
	return strings.Compare(a, b)
}

// names returns the names of the flags that a verification assumes.
func (w Web) names(o VerifyOptions) []string {
	var out []string
	for _, f := range w.assumed {
		name, _, _ := strings.Cut(f, " ")
		out = append(out, name)
	}
	if o.Rev != "" {
		out = append(out, "--rev")
	}
	if o.WithoutRegistry {
		out = append(out, "--without-registry")
	}
	slices.Sort(out)
	return out
}

func verifyNow(ctx context.Context, r *verify.Run, target string, o VerifyOptions) error {
	flags := bundle.VerifyFlags{Targets: []string{target}, Level: o.Level, Without: o.WithoutRegistry,
		MaxAge: int64((o.MaxAge + time.Second - 1) / time.Second)}
	switch {
	case o.Registry == nil && (o.Rev != "" || o.MaxAge != 0):
		return remedy.Errorf("give Registry too", "Rev and MaxAge are about a clone")
	case o.Registry != nil && o.WithoutRegistry:
		return remedy.Errorf("give one of them", "Registry excludes WithoutRegistry")
	case o.MaxAge != 0 && o.MaxAge < time.Second:
		return remedy.Errorf("give at least 1s, or 0 for a warning from 14 days on", "MaxAge is %s", o.MaxAge)
	}
	if o.Registry != nil {
		if err := r.Open(ctx, o.Registry.MirrorFolder(), o.Rev, &flags); err != nil {
			return err
		}
	}
	return r.Heard(&flags)
}

// version names the build of this module in the program that uses it.
func version() verdict.Tool {
	t := verdict.Tool{Version: "devel", Commit: "unknown"}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range append(info.Deps, &info.Main) {
			if m.Path == "github.com/openagentprotocol-OAP/oap-gate" && m.Version != "" && m.Version != "(devel)" {
				t.Version = m.Version
			}
		}
	}
	return t
}
