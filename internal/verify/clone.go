package verify

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/checks"
	"github.com/openagentprotocol-OAP/oap-gate/internal/capped"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// Clone is a clone of the registry at one commit.
type Clone struct {
	Repo   *registry.Repository
	Commit string
	Chosen string // how the commit was chosen
	// When is the age of what the clone shows: the commit's date, or when a mirror last fetched.
	When    time.Time
	Refused []string // paths of records that a mirror refused
}

// Stand reads what the clone holds.
func (c *Clone) Stand(ctx context.Context) (*checks.Standing, error) {
	tree, err := c.Repo.Tree(ctx, c.Commit)
	if err != nil {
		return nil, err
	}
	st, err := checks.NewStanding(ctx, tree, func(string) bool { return true })
	if err != nil {
		return nil, err
	}
	st.Refuse(c.Refused)
	return st, nil
}

// Mirror is what a mirror says of the clone in it.
type Mirror struct {
	Fetched time.Time
	Refused []string
}

// maxMirrorReport caps a mirror's report in bytes.
const maxMirrorReport = 256 << 20

// OpenMirror finds the clone of a mirror's folder and reads the report beside it. The clone is dir itself, and the
// mirror nil, where dir is no mirror's.
func OpenMirror(dir string) (clone string, m *Mirror, err error) {
	clone = filepath.Join(dir, "registry.git")
	if info, err := os.Stat(clone); err != nil || !info.IsDir() {
		return dir, nil, nil
	}
	path := filepath.Join(dir, "report.json")
	text, err := capped.ReadFile(path, maxMirrorReport)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil, fmt.Errorf("reading mirror %s: it has no report.json, so that nothing was verified there", dir)
	}
	if err != nil {
		return "", nil, fmt.Errorf("reading mirror %s: %w", dir, err)
	}
	doc, err := strict.Parse(path, text, strict.Limits{Bytes: maxMirrorReport, Depth: 64, Number: 64})
	if err != nil {
		return "", nil, fmt.Errorf("reading mirror %s: %w", dir, err)
	}
	m = &Mirror{}
	var readable bool
	if m.Fetched, readable = strict.Time(strict.String(doc.Root, "evaluated_at")); !readable {
		return "", nil, fmt.Errorf("reading mirror %s: report.json does not say when it was made", dir)
	}
	refused, _ := strict.Member(doc.Root, "refused").([]any)
	for _, r := range refused {
		path, isText := r.(string)
		if !isText {
			path = strict.String(r, "path")
		}
		m.Refused = append(m.Refused, path)
	}
	return clone, m, nil
}
