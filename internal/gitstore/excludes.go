package gitstore

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

const (
	maxIncludes = 10      // configuration files in one another, as in git
	maxExcludes = 1 << 20 // bytes of a file of ignore patterns
)

// Excludes are the texts of the files whose ignore patterns hold for the whole work tree, the lowest priority first:
// core.excludesFile or its default, then info/exclude. A file that is not there is empty. With fold, case does not
// count in patterns. For these files alone the user's configuration and environment are read, as git does, since they
// say which files of the user's never reach a commit.
func (s *Store) Excludes() (texts [][]byte, fold bool, err error) {
	u, err := s.userSettings()
	if err != nil {
		return nil, false, err
	}
	for _, file := range []string{u.excludes, filepath.Join(s.commonDir, "info", "exclude")} {
		var text []byte
		if file != "" {
			text, err = readCapped(file, maxExcludes)
		}
		if err != nil && !notThere(err) && !errors.Is(err, fs.ErrPermission) {
			return nil, false, &Error{Op: "reading ignore patterns", Object: file, Err: err,
				Remedy: fmt.Sprintf("make it a file of at most %d bytes", maxExcludes)}
		}
		texts = append(texts, text)
	}
	return texts, u.fold, nil
}

// userSettings are what the configuration files say of ignore patterns, the last one that says it.
type userSettings struct {
	store     *Store
	home      string
	excludes  string // core.excludesFile; empty: none
	set       bool
	worktrees bool                    // extensions.worktreeConfig
	fold      bool                    // core.ignoreCase
	each      func(key, value string) // is given each setting, conditional ones too; nil: nobody asks
}

// eachUserSetting calls f for each setting of the system's, the user's and the clone's configuration, in the order in
// which git reads them.
func (s *Store) eachUserSetting(f func(key, value string)) error {
	_, err := s.userSettingsTo(f)
	return err
}

func (s *Store) userSettings() (*userSettings, error) { return s.userSettingsTo(nil) }

func (s *Store) userSettingsTo(each func(key, value string)) (*userSettings, error) {
	u := &userSettings{store: s, each: each}
	u.home, _ = os.UserHomeDir() // without one there are no files in it
	xdg := os.Getenv("XDG_CONFIG_HOME")
	if xdg == "" && u.home != "" {
		xdg = filepath.Join(u.home, ".config")
	}
	files := []string{cmp.Or(os.Getenv("GIT_CONFIG_SYSTEM"), "/etc/gitconfig")}
	if off, err := (config{"": os.Getenv("GIT_CONFIG_NOSYSTEM")}).bool(""); off || err != nil {
		files = nil
	}
	if file, ok := os.LookupEnv("GIT_CONFIG_GLOBAL"); ok {
		files = append(files, file)
	} else {
		if xdg != "" {
			files = append(files, filepath.Join(xdg, "git", "config"))
		}
		if u.home != "" {
			files = append(files, filepath.Join(u.home, ".gitconfig"))
		}
	}
	for _, file := range append(files, filepath.Join(s.commonDir, "config")) {
		if err := u.read(file, 0, false); err != nil {
			return nil, err
		}
	}
	if u.worktrees {
		if err := u.read(filepath.Join(s.gitDir, "config.worktree"), 0, false); err != nil {
			return nil, err
		}
	}
	if !u.set && xdg != "" {
		u.excludes = filepath.Join(xdg, "git", "ignore")
	}
	if os.Getenv("GIT_CONFIG_COUNT") != "" || os.Getenv("GIT_CONFIG_PARAMETERS") != "" {
		u.excludes = "" // they may set it
	}
	return u, nil
}

// read reads a configuration file and those that it includes. Whether a condition holds is not worked out: a
// core.excludesFile that hangs on one is none, so that what it ignores counts.
func (u *userSettings) read(file string, depth int, conditional bool) error {
	if file == "" || file == os.DevNull {
		return nil
	}
	text, err := readCapped(file, maxConfig)
	if notThere(err) || errors.Is(err, fs.ErrPermission) { // git goes on too
		return nil
	}
	if err == nil && depth > maxIncludes {
		err = fmt.Errorf("%w: files that include one another, more than %d deep", ErrTooLarge, maxIncludes)
	}
	if err == nil {
		err = eachSetting(string(text), func(key, value string) error {
			return u.setting(file, key, value, depth, conditional)
		})
	}
	if e := (*Error)(nil); err != nil && !errors.As(err, &e) {
		err = &Error{Op: "reading configuration", Object: file, Err: err,
			Remedy: "mend the file: git cannot read it either"}
	}
	return err
}

func (u *userSettings) setting(file, key, value string, depth int, conditional bool) error {
	if u.each != nil {
		u.each(key, value)
	}
	switch {
	case key == "core.excludesfile":
		u.set, u.excludes = true, ""
		if !conditional && value != "" {
			u.excludes = u.path(value, u.store.worktree)
		}
	case key == "core.ignorecase":
		on, err := config{key: value}.bool(key)
		u.fold = on
		return err
	case key == "extensions.worktreeconfig":
		on, err := config{key: value}.bool(key)
		u.worktrees = on
		return err
	case key == "include.path", strings.HasPrefix(key, "includeif.") && strings.HasSuffix(key, ".path"):
		included := u.path(value, filepath.Dir(file))
		return u.read(included, depth+1, conditional || key != "include.path")
	}
	return nil
}

// path is a path of the configuration; empty for one below git's own folder or another user's home.
func (u *userSettings) path(value, relativeTo string) string {
	if rest, ok := strings.CutPrefix(value, "~/"); ok && u.home != "" {
		return filepath.Join(u.home, rest)
	}
	switch {
	case strings.HasPrefix(value, "~"), strings.HasPrefix(value, "%(prefix)"):
		return ""
	case filepath.IsAbs(value):
		return value
	}
	return filepath.Join(relativeTo, value)
}
