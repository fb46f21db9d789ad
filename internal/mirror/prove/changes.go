package prove

import (
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/proof"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// change is a name of the map that an entry of the log changes.
type change struct {
	Index  int64  `json:"index"`
	Commit string `json:"commit"`
	Time   int64  `json:"time"`
	Path   string `json:"path"`
	Change string `json:"change"`           // added, modified or removed
	SHA256 string `json:"sha256,omitempty"` // absent if it is removed
}

// Changes writes the names of the map that the history of a commit changed after the first since entries, as JSON
// lines in order of entry and name, and last the size and the root of the log. The clone gives the history; no log is
// read.
func Changes(ctx context.Context, repo *registry.Repository, tip string, since int64, w io.Writer) error {
	h := NewHistory(repo)
	if since > 0 {
		if err := h.Extend(ctx, tip, since); err != nil {
			return err
		}
	}
	if h.Log.Size() < since {
		return remedy.Errorf("git fetch, or name a smaller size with --since", "the log has only size %d, not %d",
			h.Log.Size(), since)
	}
	h.changed = func(e proof.Entry, name string, before, after *proof.Hash) error {
		c := change{Index: h.Log.Size(), Commit: e.Commit, Time: e.Time, Path: name, Change: "modified"}
		switch {
		case after == nil:
			c.Change = "removed"
		case before == nil:
			c.Change = "added"
		}
		if after != nil {
			c.SHA256 = hex.EncodeToString(after[:])
		}
		return writeLine(w, c)
	}
	if err := h.Extend(ctx, tip, 0); err != nil {
		return err
	}
	root, err := h.Log.Root(h.Log.Size())
	if err != nil {
		return err
	}
	return writeLine(w, struct {
		Size int64  `json:"size"`
		Root string `json:"root"`
	}{h.Log.Size(), root.String()})
}

func writeLine(w io.Writer, value any) error {
	line, err := json.Marshal(value, jsontext.AllowInvalidUTF8(true)) // the name of a file is any bytes
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s\n", line)
	return err
}

// apply makes the map that of the next entry, and reports the names that differ if somebody asks.
func (h *History) apply(e *proof.Entry, b batch) error {
	var names []string
	if h.changed != nil {
		for _, c := range b.others { // which has all changes then
			names = append(names, c.Names()...)
		}
		for _, r := range b.marks {
			names = append(names, r.name)
		}
		slices.Sort(names)
		names = slices.Compact(names)
	}
	before := make([]*proof.Hash, len(names))
	for i, name := range names {
		before[i] = h.Map.Prove(name).Value
	}
	h.Map.Add(b.members...)
	h.Map.Apply(b.others)
	for _, r := range b.marks {
		h.Map.Revoke(r.name, r.sum)
	}
	e.Files = h.Map.Root()
	for i, name := range names {
		after := h.Map.Prove(name).Value
		if before[i] == nil && after == nil || before[i] != nil && after != nil && *before[i] == *after {
			continue
		}
		if err := h.changed(*e, name, before[i], after); err != nil {
			return err
		}
	}
	return nil
}
