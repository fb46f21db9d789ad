package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/internal/report"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// toStdout is the file name by which a report goes to stdout, in place of what --format names.
const toStdout = "-"

// output is a file or a folder that a run writes, and the flag that names it.
type output struct{ flag, path string }

// placeReports drops each report that has no place, so that nothing is written there, a refusal neither, and gives
// the first one's reason. What lies in a data folder or in .git, is another report's file, or cannot be written has
// no place.
func (o *outputFlags) placeReports() error {
	var wrong error
	var kept []string
	var taken []output
	for _, r := range o.reports {
		_, path, ok := target(r)
		var err error
		switch {
		case !ok: // refused as such
		case path == toStdout && o.format != "":
			err = usagef("leave --format out", "--report %q and --format %s both go to stdout", r, o.format)
		case path == toStdout:
			if slices.Contains(taken, output{path: toStdout}) {
				err = usagef("name a file for one of them", "--report %q is the second report that goes to stdout", r)
			}
			taken = append(taken, output{path: toStdout})
		default:
			taken, err = claim(taken, output{"--report", path})
		}
		if err == nil {
			kept = append(kept, r)
		} else if wrong == nil {
			wrong = err
		}
	}
	o.reports = kept
	return wrong
}

// place holds the files beside the reports, and the folders that are filled, to the same.
func (o *outputFlags) place(files, folders []output) error {
	var taken []output
	for _, r := range o.reports {
		if _, path, _ := target(r); path != toStdout {
			taken = append(taken, output{"--report", resolve(path)})
		}
	}
	for _, f := range files {
		var err error
		if f.path == "" {
			continue
		}
		if f.path == toStdout {
			return usagef("name a file", "%s %q: only a report goes to stdout", f.flag, f.path)
		}
		if taken, err = claim(taken, f); err != nil {
			return err
		}
	}
	for _, f := range folders {
		if f.path == "" {
			continue
		}
		if err := outside(f, resolve(f.path)); err != nil {
			return err
		}
	}
	return nil
}

// claim adds a file to those that are written, or refuses it.
func claim(taken []output, f output) ([]output, error) {
	path := resolve(f.path)
	if err := outside(f, path); err != nil {
		return taken, err
	}
	for _, t := range taken {
		if t.path == path || sameFile(t.path, path) {
			return taken, usagef("give each a file of its own", "%s %q is the file that %s names too", f.flag, f.path,
				t.flag)
		}
	}
	if err := report.Writable(path); err != nil {
		return taken, usagef(writable, "%s %q cannot be written: %v", f.flag, f.path, err)
	}
	return append(taken, output{f.flag, path}), nil
}

// outside refuses a path in a data folder of a work tree or in a repository's own files, whichever clone that is.
func outside(f output, path string) error {
	for at := path; ; at = filepath.Dir(at) {
		root, name := filepath.Dir(at), filepath.Base(at)
		bare := at != path && there(at, "HEAD") && there(at, "objects") && there(at, "refs")
		if bare || strings.EqualFold(name, ".git") {
			return usagef("name a path outside of git's own files", "%s %q lies in %q, which is git's", f.flag, f.path,
				at)
		}
		for _, k := range registry.DataKinds {
			if strings.EqualFold(name, k.Folder()) && there(root, ".git") {
				return usagef("name a path outside of the data folders",
					"%s %q lies in %q, which holds the registry's records", f.flag, f.path, at)
			}
		}
		if root == at {
			return nil
		}
	}
}

func there(dir, name string) bool {
	_, err := os.Lstat(filepath.Join(dir, name))
	return err == nil
}

func sameFile(a, b string) bool {
	one, err := os.Stat(a)
	if err != nil {
		return false
	}
	other, err := os.Stat(b)
	return err == nil && os.SameFile(one, other)
}

// resolve is a path without symbolic links, as far as it is there.
func resolve(path string) string {
	path, err := filepath.Abs(path)
	if err != nil {
		return path
	}
	for at, rest := path, ""; ; at, rest = filepath.Dir(at), filepath.Join(filepath.Base(at), rest) {
		if found, err := filepath.EvalSymlinks(at); err == nil {
			return filepath.Join(found, rest)
		}
		if at == filepath.Dir(at) {
			return path
		}
	}
}
