package gitstore

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/internal/git/gitobject"
)

// Caps on the files of a clone that say how it is to be read.
const (
	maxShallow    = 64 << 20 // bytes; a boundary commit takes 41
	maxAlternates = 1 << 20
	maxAlternate  = 64 // object directories in all
	maxNesting    = 5  // depth of alternates within alternates, as in git
)

// cloneFormat are what the configuration says about how to read the clone.
type cloneFormat struct {
	idSize   int
	promisor bool
	remotes  map[string]string // URL by name
}

// readConfig accepts the extensions that change nothing for a reader, or that it knows how to serve.
func readConfig(common string) (cloneFormat, error) {
	text, err := readCapped(filepath.Join(common, "config"), maxConfig)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return cloneFormat{}, err
	}
	c, err := parseConfig(string(text))
	if err != nil {
		return cloneFormat{}, fmt.Errorf("%w: config: %w", gitobject.ErrCorrupt, err)
	}
	version, err := strconv.Atoi(cmp.Or(c["core.repositoryformatversion"], "0"))
	if err != nil || version < 0 || version > 1 {
		return cloneFormat{}, &Error{Op: "reading", Object: "config",
			Err: fmt.Errorf("core.repositoryFormatVersion %q is %w; expected 0 or 1", c["core.repositoryformatversion"],
				gitobject.ErrUnsupported)}
	}
	f := cloneFormat{idSize: 20, remotes: map[string]string{}}
	for _, key := range slices.Sorted(maps.Keys(c)) {
		if name, ok := strings.CutPrefix(key, "extensions."); ok {
			if err := f.extension(name, c[key], version); err != nil {
				return cloneFormat{}, err
			}
		}
		name, ok := strings.CutPrefix(key, "remote.")
		switch {
		case !ok:
		case strings.HasSuffix(name, ".url"):
			f.remotes[strings.TrimSuffix(name, ".url")] = c[key]
		case strings.HasSuffix(key, ".promisor"):
			on, err := c.bool(key)
			if err != nil {
				return cloneFormat{}, fmt.Errorf("%w: config: %w", gitobject.ErrCorrupt, err)
			}
			f.promisor = f.promisor || on
		case strings.HasSuffix(key, ".partialclonefilter"):
			f.promisor = true
		}
	}
	return f, nil
}

func (f *cloneFormat) extension(name, value string, version int) error {
	unsupported := func(remedy string) error {
		return &Error{Op: "reading", Object: "config", Remedy: remedy,
			Err: fmt.Errorf("extensions.%s = %q is %w", name, value, gitobject.ErrUnsupported)}
	}
	switch name {
	case "noop", "noop-v1", "preciousobjects", "worktreeconfig", "relativeworktrees":
		return nil
	case "partialclone":
		f.promisor = true
		return nil
	}
	if version == 0 {
		return unsupported("set core.repositoryFormatVersion to 1, which this extension needs, or clone again")
	}
	switch {
	case name == "objectformat" && value == "sha1":
		return nil
	case name == "objectformat" && value == "sha256":
		f.idSize = 32
		return nil
	case name == "refstorage" && value == "files":
		return nil
	case name == "refstorage":
		return unsupported("run `git refs migrate --ref-format=files`, or clone again with `--ref-format=files`")
	}
	return unsupported("")
}

// readShallow returns the commits whose parents the clone lacks.
func readShallow(common string, idSize int) (map[gitobject.ID]bool, error) {
	text, err := readCapped(filepath.Join(common, "shallow"), maxShallow)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	boundary := map[gitobject.ID]bool{}
	for line := range bytes.Lines(text) {
		id, err := gitobject.ParseID(string(bytes.TrimRight(line, "\r\n")))
		if err != nil || id.Size() != idSize {
			return nil, fmt.Errorf("%w: shallow holds %q; expected object ids", gitobject.ErrCorrupt, line)
		}
		boundary[id] = true
	}
	return boundary, nil
}

// objectDirs returns the object directories of a clone: its own, then its alternates in git's order, then further ones
// with theirs. missing has those that are named and are not directories.
func objectDirs(own string, further ...string) (dirs, missing []string, err error) {
	seen := map[string]bool{}
	var add func(dir string, depth int) error
	add = func(dir string, depth int) error {
		realDir, err := filepath.EvalSymlinks(dir)
		info, e := os.Stat(dir)
		if notThere(err) || e == nil && !info.IsDir() {
			missing = append(missing, dir)
			return nil
		}
		if err != nil {
			return err
		}
		if seen[realDir] {
			return nil
		}
		seen[realDir] = true
		if dirs = append(dirs, realDir); len(dirs) > maxAlternate {
			return fmt.Errorf("%w: more than %d object directories", gitobject.ErrTooLarge, maxAlternate)
		}
		names, err := readAlternates(realDir)
		if err != nil {
			return err
		}
		if len(names) > 0 && depth == maxNesting {
			return fmt.Errorf("%w: alternates of alternates, more than %d deep", gitobject.ErrTooLarge, maxNesting)
		}
		for _, name := range names {
			if err := add(name, depth+1); err != nil {
				return err
			}
		}
		return nil
	}
	for _, dir := range append([]string{own}, further...) {
		if err := add(dir, 0); err != nil {
			return nil, nil, err
		}
	}
	return dirs, missing, nil
}

// readAlternates returns the directories that objects/info/alternates lists, one a line, relative to the object
// directory.
func readAlternates(objects string) ([]string, error) {
	file := filepath.Join(objects, "info", "alternates")
	text, err := readCapped(file, maxAlternates)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var names []string
	for line := range strings.Lines(string(text)) {
		name := strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
		if name == "" || name[0] == '#' {
			continue
		}
		if name[0] == '"' {
			return nil, &Error{Op: "reading", Object: file, Remedy: "write the path without quotes",
				Err: fmt.Errorf("the quoted path %s is %w", name, gitobject.ErrUnsupported)}
		}
		if !filepath.IsAbs(name) {
			name = filepath.Join(objects, name)
		}
		names = append(names, filepath.Clean(name))
	}
	return names, nil
}
