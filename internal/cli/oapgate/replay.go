package oapgate

import (
	"cmp"
	"context"

	"github.com/spf13/cobra"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/cli/table"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence/bundle"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence/sources"
	"github.com/openagentprotocol-OAP/oap-gate/internal/frame"
	"github.com/openagentprotocol-OAP/oap-gate/internal/judge"
	"github.com/openagentprotocol-OAP/oap-gate/internal/judge/checkcmd"
	"github.com/openagentprotocol-OAP/oap-gate/internal/mirror"
	"github.com/openagentprotocol-OAP/oap-gate/internal/mirror/mirrorcmd"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verify/verifycmd"
)

// replays judge again what a bundle names, by its mode; dir is the clone.
var replays = map[string]func(ctx context.Context, sys frame.IO, out *frame.Output, b *bundle.Bundle, dir string) error{
	"check":  checkcmd.Replay,
	"audit":  mirrorcmd.Replay,
	"verify": verifycmd.Replay,
}

func newReplay(sys frame.IO) *cobra.Command {
	var out frame.Output
	var repo, clone string // clone is that of a bundle of verify
	c := &cobra.Command{
		Use:   "replay BUNDLE",
		Short: "run a recorded evidence bundle again",
		Long:  "replay judges the commits that a bundle names by the evidence, the time and the check selection in it.",
		Example: "  oap-gate check --record bundle.json\n  oap-gate audit --record bundle.json\n" +
			"  oap-gate replay bundle.json --repo registry",
		Args: frame.Wants(1, "oap-gate replay BUNDLE [--repo DIR]", "replay requires one BUNDLE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			b, err := bundle.Read(args[0])
			if err == nil && replays[b.Mode] != nil && (clone == "" || b.Mode == "verify" && b.Head != "") {
				return replays[b.Mode](cmd.Context(), sys, &out, b, cmp.Or(clone, repo))
			}
			return out.Tell(func() (*verdict.Report, error) {
				switch {
				case err != nil:
					return nil, remedy.With(err, bundle.RecordAgain)
				case table.BundleOf(b.Mode) != "":
					return nil, remedy.Errorf("run the command of "+table.BundleOf(b.Mode)+
						" that recorded it, with --replay "+args[0],
						"bundle %s is of the mode %q, whose input is not in it", args[0], b.Mode)
				case clone != "" && b.Mode == "verify":
					return nil, remedy.Errorf("leave --registry out, or record a run with it",
						"--registry: the bundle was recorded without a clone, and its replay reads none")
				case clone != "":
					return nil, remedy.Errorf("name the clone with --repo DIR",
						"--registry is for a bundle of verify; "+
							"this one is of the mode %q", b.Mode)
				}
				return nil, remedy.Errorf(bundle.RecordAgain, "bundle %s is of the mode %q", args[0], b.Mode)
			})
		},
	}
	c.Flags().StringVar(&repo, "repo", ".", "directory `DIR` of the clone; it has the bundle's commits")
	c.Flags().StringVar(&clone, "registry", "", "`DIR` of a clone of the registry, or of a mirror; for verify")
	out.Judges(mirror.Catalogue(), func(string, string) *verdict.Report {
		return judge.NewReport("check", sources.Offline((&frame.Network{}).Now(), 0),
			judge.Config{Tool: frame.Version(), Selected: bundle.Selection{}.Selected})
	}, nil)
	out.Bind(c, sys, false)
	return c
}
