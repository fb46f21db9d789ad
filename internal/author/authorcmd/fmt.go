package authorcmd

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/openagentprotocol-OAP/oap-gate/internal/author"
	"github.com/openagentprotocol-OAP/oap-gate/internal/author/listing"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/frame"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

func NewFmt(sys frame.IO) *cobra.Command {
	var check, dryRun bool
	c := &cobra.Command{
		Use:   "fmt FILE…",
		Short: "write records in the layout that new writes",
		Long: `fmt lays out records of the four data directories: members in the order of the registry's schema, two
blanks, a final line break, and escapes for characters that do not show. The value stays, and so does every signature of
it. It names each file that it rewrites. No check asks for this layout, and append-only lets nobody change a merged
record for it.`,
		Example: "  oap-gate fmt implementations/my-agent.json\n  oap-gate fmt --check implementations/*.json",
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return remedy.Errorf("oap-gate fmt FILE…", "fmt requires at least one FILE")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if check && dryRun {
				return remedy.Errorf("leave --dry-run out", "--check and --dry-run exclude one another")
			}
			found := verdict.Passed
			for _, file := range args {
				differs, err := layOut(sys, file, check, dryRun)
				if err != nil { // the errors of all files are printed, and the worst is the exit status
					frame.Complain(sys, err)
					found = verdict.Errored
					continue
				}
				if differs && !dryRun {
					fmt.Fprintln(sys.Stdout, plain.Line(file))
				}
				if differs && check && found == verdict.Passed {
					found = verdict.Failed
				}
			}
			return frame.Judged(nil, found)
		},
	}
	c.Flags().BoolVar(&check, "check", false,
		"write nothing, and name the files that differ; exit status 1 if one does")
	c.Flags().BoolVar(&dryRun, "dry-run", false, "write nothing, and print what would be written")
	return c
}

// layOut lays one file out and reports whether that changes it.
func layOut(sys frame.IO, file string, check, dryRun bool) (differs bool, err error) {
	abs, err := filepath.Abs(file)
	if err != nil {
		return false, err
	}
	path := filepath.Base(filepath.Dir(abs)) + "/" + filepath.Base(abs)
	if registry.KindOf(path) == registry.Governance {
		return false,
			remedy.Errorf("name a file of implementations/, revocations/, peer-witnesses/ or workflow-anchors/",
				"%q lies in none of the data directories", file)
	}
	tree, err := listing.OpenTree(filepath.Dir(filepath.Dir(abs)))
	if err != nil {
		return false, remedy.With(err, "name the file of a record")
	}
	defer tree.Close()
	was, err := tree.Read(path)
	if err != nil {
		return false, remedy.With(err, "name the file of a record")
	}
	text, err := listing.Format(path, was)
	if e, ok := errors.AsType[*strict.Error](err); ok {
		return false, remedy.Errorf("oap-gate explain "+e.Code+" says what to change", "%v", err)
	}
	if err != nil {
		return false, err
	}
	if dryRun {
		_, err := sys.Stdout.Write(text)
		return true, err
	}
	if bytes.Equal(was, text) || check {
		return !bytes.Equal(was, text), nil
	}
	return true, author.Unwritten(tree.Replace(path, was, text), "run it again")
}
