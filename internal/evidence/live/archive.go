package live

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/atomicfile"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence/sources"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict/capped"
)

// archive is the layer that knows every document by its SHA-256 and keeps it, so that a Receipt is still verifiable by
// its pin once its origin is gone. Only its hash makes a document believed, so the archive may come from anybody.
type archive struct {
	dir   string // empty: nothing is kept or found
	room  *Room
	files atomicfile.Unsynced
	below layer
}

func (a *archive) Observe(ctx context.Context, r evidence.Request) evidence.Observation {
	if r.Protocol == evidence.Archive {
		return a.find(r)
	}
	o := a.below.Observe(ctx, r)
	if o.State == evidence.Obtained {
		if o.SHA256 == "" { // else it was hashed where it was stored or read
			o.SHA256 = plain.SHA256(o.Body)
		}
		a.store(o)
	}
	return o
}

func openArchive(dir string, room *Room, below layer) (*archive, error) {
	if dir != "" {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return nil, fmt.Errorf("making archive: %w", err)
		}
	}
	return &archive{dir: dir, room: room, below: below}, nil
}

// path is sharded by the first two digits: a directory of a million files is slow to list.
func (a *archive) path(sum string) string { return filepath.Join(a.dir, sum[:2], sum) }

// store stores an obtained document. It replaces a stored file with other content, as a crash may leave. If the
// document cannot be written, store ignores that: the run has its answer.
func (a *archive) store(o evidence.Observation) {
	if a.dir == "" || o.Protocol != evidence.HTTPS {
		return
	}
	path := a.path(o.SHA256)
	if there, err := capped.ReadFile(path, int64(len(o.Body))); err == nil && bytes.Equal(there, o.Body) {
		a.version(o.Target, o.SHA256)
		return
	}
	if !a.room.take(len(o.Body)) {
		return
	}
	a.version(o.Target, o.SHA256)
	if os.MkdirAll(filepath.Dir(path), 0o755) == nil {
		_ = a.files.Write(path, o.Body, 0o600)
	}
}

// find observes the document of a hash. A file that has another hash is ignored.
func (a *archive) find(r evidence.Request) evidence.Observation {
	if a.dir == "" || !plain.IsSHA256(r.Target) {
		return sources.Refuse(evidence.Absent, evidence.CodeNotArchived, "there is no archive").Observation(r)
	}
	body, err := capped.ReadFile(a.path(r.Target), r.MaxBytes)
	if err != nil || plain.SHA256(body) != r.Target {
		return sources.Refuse(evidence.Absent, evidence.CodeNotArchived, "the archive does not hold sha256 %s",
			r.Target).Observation(r)
	}
	return evidence.Observation{Request: r, State: evidence.Obtained, Body: body, FinalURL: r.Target, SHA256: r.Target}
}
