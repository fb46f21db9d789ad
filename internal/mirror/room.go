package mirror

import (
	"cmp"
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence/live"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// stored is a document of the archive or of the cache, or an answer that names one.
type stored struct {
	path string
	size int64
	when time.Time
}

// Room returns how much the archive and the cache, which together have most bytes, may still store. If they are nearly
// full, the oldest documents that no listing pins go first.
func (d *Dir) Room(ctx context.Context, most int64) (*live.Room, error) {
	files, total, err := d.stored()
	if err != nil {
		return nil, err
	}
	pins := map[string]bool{}
	if total > most/8*7 {
		if pins, err = d.pins(ctx); err != nil { // the run says what is wrong with the clone; nothing is removed
			return live.NewRoom(most-total, func(string) bool { return true }), nil
		}
		slices.SortFunc(files, func(a, b stored) int {
			return cmp.Or(a.when.Compare(b.when), strings.Compare(a.path, b.path))
		})
		for _, f := range files {
			if total <= most/4*3 {
				break
			}
			if pins[filepath.Base(f.path)] {
				continue
			}
			if err := os.Remove(f.path); err != nil {
				return nil, Local(err)
			}
			total -= f.size
		}
	}
	known := len(pins) > 0
	return live.NewRoom(most-total, func(sha256 string) bool {
		if !known { // asked only if a URL has too many versions
			pins, err = d.pins(ctx)
			known = true
		}
		return err != nil || pins[sha256]
	}), nil
}

// stored returns the documents of the archive and of the cache, and the size of all that is there.
func (d *Dir) stored() (files []stored, total int64, err error) {
	for _, dir := range []string{"archive", "cache"} {
		err := filepath.WalkDir(d.File(dir), func(path string, e fs.DirEntry, err error) error {
			if err != nil || !e.Type().IsRegular() {
				return err
			}
			info, err := e.Info()
			if err != nil {
				return err
			}
			total += info.Size()
			if plain.IsSHA256(strings.TrimSuffix(e.Name(), ".json")) {
				files = append(files, stored{path, info.Size(), info.ModTime()})
			}
			return nil
		})
		if err != nil && !os.IsNotExist(err) {
			return nil, 0, err
		}
	}
	return files, total, nil
}

// pins returns the hashes that the listings pin: those of the verified tip, and of what the origin served last.
func (d *Dir) pins(ctx context.Context) (map[string]bool, error) {
	pins := map[string]bool{}
	repo, err := registry.OpenAt(d.Clone())
	if err != nil {
		return nil, err
	}
	defer repo.Close()
	tips, err := d.tips()
	if err != nil {
		return nil, err
	}
	for _, tip := range tips {
		tree, err := repo.Tree(ctx, tip)
		if err != nil {
			return nil, err
		}
		pin := func(r *registry.Record) string { return strings.Clone(registry.ParseListing(r).ReceiptSHA256) }
		for sum, err := range registry.Scan(ctx, tree, registry.KindListing, pin) {
			if err != nil {
				return nil, err
			}
			pins[sum] = true
		}
	}
	return pins, nil
}
