package repoconfig

import (
	"errors"
	"io/fs"
)

// Specifies reports whether a tree with these directories holds a specification: rfcs/ next to schemas/ or spec/.
func Specifies(isDirectory func(name string) (bool, error)) (bool, error) {
	for _, names := range [][]string{{"rfcs"}, {"schemas", "spec"}} {
		found := false
		for _, name := range names {
			is, err := isDirectory(name)
			if err != nil {
				return false, err
			}
			found = found || is
		}
		if !found {
			return false, nil
		}
	}
	return true, nil
}

// IsSpecification reports whether the files of a clone are a specification repository: they hold a specification, and
// there is no implementations/, which a registry has.
func IsSpecification(tree fs.FS) (bool, error) {
	isDirectory := func(name string) (bool, error) {
		info, err := fs.Stat(tree, name)
		if errors.Is(err, fs.ErrNotExist) {
			return false, nil
		}
		return err == nil && info.IsDir(), err
	}
	if registry, err := isDirectory("implementations"); registry || err != nil {
		return false, err
	}
	return Specifies(isDirectory)
}
