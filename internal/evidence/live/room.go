package live

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict/capped"
)

// Room is how much the archive and the cache may still store. A nil Room is without bound.
type Room struct {
	quota
	pinned func(sha256 string) bool
	mu     sync.Mutex // held while the versions of a URL are counted
}

// MaxVersions is how many versions of one URL an archive with a Room keeps, and those that are pinned.
const MaxVersions = 16

// NewRoom returns a Room of so many bytes, in which what is pinned stays however many versions there are.
func NewRoom(bytes int64, pinned func(sha256 string) bool) *Room {
	r := &Room{pinned: pinned}
	r.left.Store(bytes)
	return r
}

// take reports whether n more bytes may be stored.
func (r *Room) take(n int) bool {
	return r == nil || r.quota.take(int64(n))
}

// version records that a URL served the document of that hash, and removes the oldest of too many.
func (a *archive) version(url, sum string) {
	if a.room == nil {
		return
	}
	a.room.mu.Lock()
	defer a.room.mu.Unlock()
	name := plain.SHA256([]byte(url))
	path := filepath.Join(a.dir, Versions, name[:2], name)
	text, _ := capped.ReadFile(path, 1<<20) // one that is not there, or too large, begins again
	sums := append(slices.DeleteFunc(strings.Fields(string(text)), func(s string) bool {
		return !plain.IsSHA256(s) || s == sum
	}), sum)
	for i := 0; len(sums) > MaxVersions && i < len(sums)-1; {
		if a.room.pinned(sums[i]) {
			i++
			continue
		}
		_ = os.Remove(a.path(sums[i])) // one that cannot be removed counts in the next run
		sums = slices.Delete(sums, i, i+1)
	}
	next := strings.Join(sums, "\n") + "\n"
	if next == string(text) || !a.room.take(max(0, len(next)-len(text))) {
		return
	}
	if os.MkdirAll(filepath.Dir(path), 0o755) == nil {
		_ = a.files.Write(path, []byte(next), 0o600)
	}
}

// Versions is the directory of an archive in which each URL has the hashes that it served, oldest first.
const Versions = "versions"
