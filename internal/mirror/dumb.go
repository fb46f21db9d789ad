package mirror

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
)

// The files of git's dumb HTTP protocol, see gitprotocol-http(5), that are made from the clone.
const (
	gitHEAD  = "HEAD"
	gitRefs  = "info/refs"
	gitPacks = "objects/info/packs"
)

// objectFile matches the paths below registry.git of packs, their indexes and loose objects.
var objectFile = plain.Pattern(`^objects/(?:pack/pack-[0-9a-f]{40}\.(?:pack|idx)|[0-9a-f]{2}/[0-9a-f]{38})$`)

// isGitPath reports whether a path below registry.git is one that the dumb protocol asks for.
func isGitPath(path string) bool {
	return path == gitHEAD || path == gitRefs || path == gitPacks || objectFile().MatchString(path)
}

// repository sends a file of the clone as git's dumb protocol has it. Of refs, only the verified branch is shown: what
// the origin served besides, and the tips before a rewrite, are not.
func (s *Site) repository(w http.ResponseWriter, r *http.Request, path string) {
	text, err := "", error(nil)
	switch path {
	case gitHEAD:
		text = "ref: " + s.dir.verifiedRef() + "\n"
	case gitRefs:
		text, err = s.refs()
	case gitPacks:
		text, err = s.packs()
	default:
		s.object(w, r, path)
		return
	}
	if err != nil { // its text may name a path of this machine
		http.Error(w, "the clone cannot be read", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	send(w, r, io.NewSectionReader(strings.NewReader(text), 0, int64(len(text))))
}

// refs returns the line of the verified branch, or "" while nothing is verified.
func (s *Site) refs() (string, error) {
	id, err := s.dir.Verified()
	if err != nil || id == "" {
		return "", err
	}
	return fmt.Sprintf("%s\t%s\n", id, s.dir.verifiedRef()), nil
}

// packs returns a line for each pack that has its index.
func (s *Site) packs() (string, error) {
	entries, err := os.ReadDir(s.dir.packs())
	if err != nil {
		return "", err
	}
	var lines strings.Builder
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), ".pack")
		if !ok || !isGitPath("objects/pack/"+e.Name()) {
			continue
		}
		if _, err := os.Lstat(filepath.Join(s.dir.packs(), name+".idx")); err == nil {
			fmt.Fprintf(&lines, "P %s\n", e.Name())
		}
	}
	return lines.String() + "\n", nil
}

// object sends a pack, an index or a loose object. Their names are hashes of what they hold, and so are their tags.
func (s *Site) object(w http.ResponseWriter, r *http.Request, path string) {
	name := filepath.Join(s.dir.Clone(), filepath.FromSlash(path))
	info, err := os.Lstat(name)
	if err == nil && !info.Mode().IsRegular() {
		err = fs.ErrNotExist
	}
	var f *os.File
	if err == nil {
		f, err = os.Open(name)
	}
	if err != nil {
		status := http.StatusInternalServerError
		if errors.Is(err, fs.ErrNotExist) {
			status = http.StatusNotFound
		}
		http.Error(w, http.StatusText(status), status)
		return
	}
	defer f.Close()
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("ETag", fmt.Sprintf("%q", filepath.Base(path)))
	send(w, r, io.NewSectionReader(f, 0, info.Size()))
}
