package governancecmd

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/foreign"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/typed"
	"github.com/openagentprotocol-OAP/oap-gate/internal/frame"
	"github.com/openagentprotocol-OAP/oap-gate/internal/governance/schemadiff"
	"github.com/openagentprotocol-OAP/oap-gate/internal/report"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict/capped"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// NewSchemaDiff returns the command schema diff.
func NewSchemaDiff(sys frame.IO) *cobra.Command {
	var repo, format string
	c := &cobra.Command{
		Use:   "diff OLD NEW",
		Short: "print how two JSON Schemas differ in meaning",
		Long: `diff walks two JSON Schemas of draft 2020-12 side by side and reports each difference with its class: note (no
document is judged differently), additive (a new optional field where nothing governed that name), loosened,
tightened, enum, removed, identity, meaning, changed (none of these can be shown). All but note and additive
break a published schema.

If the root $ids differ, NEW is another schema, and that is not a difference.
OLD and NEW are each a file, or REV:PATH of the clone. References resolve by path: on disk among the
files of the same directory, in a commit among all. Nothing is fetched.

exit status: 0 nothing breaks, 1 something does, 2 the two could not be compared`,
		Example: "  oap-spec schema diff old.schema.json new.schema.json\n" +
			"  oap-spec schema diff HEAD~1:schemas/v1.0/oap-manifest.schema.json \\\n" +
			"    schemas/v1.0/oap-manifest.schema.json",
		Args: cobra.MatchAll(frame.Wants(2, "oap-spec schema diff OLD NEW", "schema diff requires two schemas"),
			func(*cobra.Command, []string) error { return typed.OneOf("--format", format, "text", "json") }),
		RunE: func(c *cobra.Command, args []string) error {
			d := schemaDiff{Old: args[0], New: args[1], Classes: []schemadiff.Class{}}
			clone := &schemaClone{dir: repo}
			defer func() {
				if clone.repo != nil {
					clone.repo.Close()
				}
			}()
			old, oldPath, err := clone.read(c.Context(), args[0])
			if err != nil {
				return err
			}
			new, newPath, err := clone.read(c.Context(), args[1])
			if err != nil {
				return err
			}
			d.Differences, d.another = schemadiff.Successor(schemadiff.Compare(old, oldPath, new, newPath))
			d.Breaking = schemadiff.Breaking(d.Differences)
			for _, one := range d.Differences {
				d.Classes = append(d.Classes, one.Class)
			}
			slices.Sort(d.Classes)
			d.Classes = slices.Compact(d.Classes)
			spell := d.text
			if format == "json" {
				spell = d.json
			}
			text, err := spell()
			if err == nil {
				_, err = sys.Stdout.Write(text)
			}
			if err != nil {
				return err
			}
			if d.Breaking {
				return frame.Judged(nil, verdict.Failed)
			}
			return nil
		},
	}
	c.Flags().StringVar(&repo, "repo", ".", "directory `DIR` of the clone; it has REV:PATH")
	c.Flags().StringVar(&format, "format", "text", "`FORMAT` of stdout: text or json")
	return c
}

// schemaClone is the clone of arguments REV:PATH, opened when the first one names it.
type schemaClone struct {
	dir  string
	repo *registry.Repository
}

// read reads the schema that an argument names, which must be readable, and the files to which it refers. On disk these
// must be in the same directory; in a commit they may be in any. What cannot be read is nothing that a reference leads
// to.
func (c *schemaClone) read(ctx context.Context, name string) (tree *schemadiff.Tree, at string, err error) {
	const fix = "name a file, or REV:PATH of the clone with --repo"
	rev, at, inTree := strings.Cut(name, ":")
	var file func(p string) ([]byte, error)
	if _, err := os.Lstat(name); err == nil || !inTree {
		at = filepath.ToSlash(filepath.Clean(name))
		file = func(p string) ([]byte, error) {
			beside := path.Join(path.Dir(at), path.Base(p))
			info, err := os.Lstat(filepath.FromSlash(beside))
			if p != at && (err != nil || path.Clean("/"+beside) != "/"+p || !info.Mode().IsRegular()) {
				return nil, nil
			}
			return capped.ReadFile(filepath.FromSlash(beside), schemadiff.MaxBytes)
		}
	} else {
		if c.repo == nil {
			if c.repo, err = registry.Open(c.dir); err != nil {
				return nil, "", remedy.With(err, "name the clone with --repo")
			}
		}
		commit, err := c.repo.Tree(ctx, rev)
		if err != nil {
			return nil, "", remedy.With(fmt.Errorf("reading %q: %w", name, err), fix)
		}
		file = func(p string) ([]byte, error) { return commit.File(ctx, p, schemadiff.MaxBytes) }
	}
	text, err := file(at)
	if err == nil && text == nil {
		err = fs.ErrNotExist
	}
	if err != nil {
		return nil, "", remedy.With(fmt.Errorf("reading %q: %w", name, err), fix)
	}
	tree = schemadiff.NewTree(map[string][]byte{at: text}, nil, func(p string) []byte {
		text, _ := file(p)
		return text
	})
	if _, err := tree.Document(at); err != nil {
		return nil, "", remedy.Errorf("give a JSON Schema of draft 2020-12, strict JSON of at most 1 MiB",
			"%q is not a schema that can be compared: %v", name, err)
	}
	return tree, at, nil
}

// schemaDiff is the output of the command.
type schemaDiff struct {
	Old         string                  `json:"old"`
	New         string                  `json:"new"`
	Breaking    bool                    `json:"breaking"`
	Classes     []schemadiff.Class      `json:"classes"`
	Differences []schemadiff.Difference `json:"differences"`

	another bool // NEW has an $id of its own
}

func (d *schemaDiff) json() ([]byte, error) { return report.JSON(d, "  ") }

func (d *schemaDiff) text() ([]byte, error) {
	var b bytes.Buffer
	if d.another {
		b.WriteString("NEW has an $id of its own: it is another schema\n")
	}
	for _, one := range d.Differences {
		at := foreign.Line(cmp.Or(one.Pointer, "the schema"))
		fmt.Fprintf(&b, "%-9s  %s: %s\n", one.Class, at, foreign.Line(one.Message))
	}
	switch {
	case d.Breaking && d.another:
		b.WriteString("breaking: a document may be judged otherwise than by OLD\n")
	case d.Breaking:
		b.WriteString("breaking: RFC 0019 section 4 permits a published schema new optional fields only; " +
			"publish this under the next version with a new $id\n")
	case slices.Contains(d.Classes, schemadiff.Additive):
		b.WriteString("additive: new optional fields where nothing governed their names; a document without them is " +
			"judged as before")
		if !d.another {
			b.WriteString(". In a published schema the pull request must declare it with the line \"Additive only\"")
		}
		b.WriteByte('\n')
	case len(d.Differences) > 0:
		b.WriteString("notes only: no document is judged otherwise\n")
	default:
		b.WriteString("no difference\n")
	}
	return b.Bytes(), nil
}
