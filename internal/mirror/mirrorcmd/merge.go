package mirrorcmd

import (
	"fmt"
	"reflect"

	"github.com/spf13/cobra"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/frame"
	"github.com/openagentprotocol-OAP/oap-gate/internal/mirror"
	"github.com/openagentprotocol-OAP/oap-gate/internal/report"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict/capped"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

func newMerge(sys frame.IO) *cobra.Command {
	var o frame.Output
	c := &cobra.Command{
		Use:   "merge REPORT…",
		Short: "join the reports of shards into one",
		Long: `merge joins the JSON reports of oap-gate audit --shard I/N into one. Reports of other commits, a
shard that is missing or there twice, and one in which a record lacks a check are refused.`,
		Example: "  oap-gate audit merge shard-*.json --report html=audit.html",
		Args:    cobra.ArbitraryArgs,
		RunE: func(_ *cobra.Command, args []string) error {
			return o.Tell(func() (*verdict.Report, error) {
				if len(args) == 0 {
					return nil, remedy.Errorf("oap-gate audit merge REPORT…",
						"merge requires the reports of all shards")
				}
				frugal(mostOfShard)
				var parts []mirror.Part
				for _, name := range args {
					p, err := shardReport(name)
					if err != nil {
						return nil, remedy.With(err, "name the JSON reports of oap-gate audit --shard")
					}
					parts = append(parts, p)
				}
				whole, err := mirror.Merge(parts, spool(""))
				if err != nil {
					return nil, remedy.With(fmt.Errorf("joining reports: %w", err),
						"name one report of each shard, all made at one commit, with the same flags and build, "+
							"within a day")
				}
				return whole, nil
			})
		},
	}
	o.Judges(mirror.Catalogue(), nil, nil)
	o.Bind(c, sys, false)
	return c
}

// shardReport reads what a report has of no single record; what it has of them is read when it is asked for.
func shardReport(name string) (mirror.Part, error) {
	read := func(records verdict.Records) (*verdict.Report, error) {
		f, err := capped.Open(name)
		if err != nil {
			return nil, fmt.Errorf("reading report: %w", err)
		}
		defer f.Close()
		return report.Stream(name, f, records)
	}
	first, err := read(verdict.Records{})
	return mirror.Part{Report: first, Read: func(records verdict.Records) error {
		again, err := read(records)
		if err == nil && !reflect.DeepEqual(first, again) {
			err = fmt.Errorf("reading report %s: it was changed meanwhile", name)
		}
		return err
	}}, err
}
