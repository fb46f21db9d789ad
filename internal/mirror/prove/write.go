package prove

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/proof"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict/capped"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// Published is a log checkpoint as a log publishes it, with the log's entries if there are tiles.
type Published struct {
	Signed  *proof.Signed
	Entries []proof.Entry
	noTiles error // why the tiles of the directory could not be read
}

// ReadPublished reads a log's directory, or only the file of a log checkpoint. A directory may lack the tiles.
func ReadPublished(path string) (*Published, error) {
	file, dir := path, ""
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		file, dir = filepath.Join(path, "checkpoint"), path
	}
	data, err := capped.ReadFile(file, proof.MaxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, remedy.Errorf("name the log's directory, or the file of a log checkpoint",
			"there is no log checkpoint at %q", file)
	}
	p := &Published{}
	if err == nil {
		p.Signed, err = proof.ParseSigned(data)
	}
	if err == nil && p.Signed.Size == 0 {
		err = errors.New("the log is empty")
	}
	if err != nil {
		return nil, remedy.Errorf("fetch the log checkpoint again", "reading %q: %w", file, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "tile")); dir != "" && err == nil {
		p.Entries, p.noTiles = proof.ReadEntries(p.Signed.Checkpoint, func(path string, most int64) ([]byte, error) {
			return capped.ReadFile(filepath.Join(dir, filepath.FromSlash(path)), most)
		})
	}
	return p, nil
}

// Write returns the proof file of a slug's listing in the newest entry of a published log, which must be that of the
// clone. The refusal says what the proof shows if it does not show a valid listing: it is absent, revoked, or valid at
// another time. Errors with a code of package proof mean that the registry's file is not a listing.
func Write(ctx context.Context, repo *registry.Repository, tip, slug string, p *Published,
	now time.Time) (data []byte, shown *proof.Refusal, err error) {
	h, err := Replay(ctx, repo, tip, p.Signed.Checkpoint, p.Entries)
	if remedy.CodeOf(err) == codeLogDiffers && p.noTiles != nil {
		// Without its tiles, a log that continued over a rewrite looks like a split view.
		err = remedy.Errorf("fetch the log's tiles again", "%v; and %w", err, p.noTiles)
	}
	if err != nil {
		return nil, nil, err
	}
	f := &proof.File{Signed: p.Signed, Entry: h.Last, Index: p.Signed.Size - 1,
		Names: []proof.NameProof{*h.Map.Prove(proof.ListingPath(slug))}}
	if f.Path, err = tlog.ProveRecord(p.Signed.Size, f.Index, &h.Log); err != nil {
		return nil, nil, err
	}
	if f.Names[0].Value != nil {
		tree, err := repo.Tree(ctx, h.Last.Commit)
		if err != nil {
			return nil, nil, err
		}
		if f.Content, err = tree.File(ctx, proof.ListingPath(slug), proof.MaxFile); err != nil {
			return nil, nil, err
		}
		pin := ""
		if doc, err := strict.Parse("", f.Content, strict.RegistryFile); err == nil {
			pin = strict.String(doc.Root, "conformance_receipt_sha256")
		}
		f.Names = append(f.Names, *h.Map.Prove(proof.RevokedName(slug, pin)))
	}
	if data, err = f.Encode(); err != nil {
		return nil, nil, remedy.Errorf("shorten the listing", "%w", err)
	}
	r, err := proof.Check(data, slug, proof.Options{Now: now})
	refusal, refused := errors.AsType[*proof.Refusal](err)
	absent := f.Names[0].Value == nil && r.Entry.Commit != ""
	switch {
	case !refused:
		return data, nil, err
	case absent || r.Listing.Slug != "":
		return data, refusal, nil
	}
	return nil, nil, remedy.Coded(refusal.Code, refusal.Fix(), "%w", err)
}
