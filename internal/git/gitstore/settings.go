package gitstore

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/internal/git/ignore"
)

const (
	maxIncludes = 10      // configuration files in one another, as in git
	maxExcludes = 1 << 20 // bytes of a file of ignore patterns or attributes
	maxSettings = 1000    // keys in the environment
)

// Settings are what git's configuration says about how a work tree becomes a tree: that of the system, the user, the
// clone and the work tree, with what they include, as git reads them. Only for this the user's configuration and
// environment are read: they decide what a commit of the files would hold.
type Settings struct {
	IgnoreCase bool // core.ignoreCase
	FileMode   bool // core.fileMode: the file system keeps the executable bit
	Symlinks   bool // core.symlinks: the file system keeps symbolic links
	Precompose bool // core.precomposeUnicode, on macOS
	TrustCTime bool // core.trustCtime
	CheckStat  bool // core.checkStat is not minimal
	AutoCRLF   bool // core.autocrlf is true or input
	// LineEnds reports whether any configuration says what to do with line ends.
	LineEnds bool
	// Sparse reports whether the sparse patterns decide what is written to the tree, PresentCounts whether a file that
	// they leave out and that is there counts all the same.
	Sparse, PresentCounts bool
	// Filters are the names of the filters that git would run on a file before it stores it.
	Filters map[string]bool

	// Excludes are the texts of the files whose ignore patterns hold for the whole work tree, the lowest priority
	// first: core.excludesFile or its default, then info/exclude. A file that is not there is empty.
	Excludes [][]byte
	// Attributes are those of the system and of core.attributesFile or its default, the lowest priority first, and
	// OwnAttributes that of info/attributes.
	Attributes    [][]byte
	OwnAttributes []byte
	// SparsePatterns is the text of info/sparse-checkout, or nil if there is no such file.
	SparsePatterns []byte
}

// boolean is a setting that is true or false, and its value where it is not set.
type boolean struct {
	key   string
	unset bool
	to    *bool
}

// Settings reads the configuration and the files that it names.
func (s *Store) Settings() (*Settings, error) {
	u := &userSettings{store: s, values: config{}}
	if err := u.readAll(); err != nil {
		return nil, err
	}
	c := u.values
	_, autoSet := c["core.autocrlf"]
	_, eolSet := c["core.eol"]
	out := &Settings{Filters: map[string]bool{}, LineEnds: autoSet || eolSet,
		CheckStat: !strings.EqualFold(c["core.checkstat"], "minimal")}
	expect := false
	bools := []boolean{
		{"core.ignorecase", false, &out.IgnoreCase},
		{"core.filemode", runtime.GOOS != "windows", &out.FileMode},
		{"core.symlinks", true, &out.Symlinks},
		{"core.precomposeunicode", false, &out.Precompose},
		{"core.trustctime", true, &out.TrustCTime},
		{"core.sparsecheckout", false, &out.Sparse},
		{"sparse.expectfilesoutsideofpatterns", false, &expect},
	}
	if out.AutoCRLF = strings.EqualFold(c["core.autocrlf"], "input"); !out.AutoCRLF {
		bools = append(bools, boolean{"core.autocrlf", false, &out.AutoCRLF})
	}
	for _, b := range bools {
		if _, set := c[b.key]; !set {
			*b.to = b.unset
			continue
		}
		var err error
		if *b.to, err = c.bool(b.key); err != nil {
			return nil, &Error{Op: "reading configuration", Err: err, Remedy: "set " + b.key + " to true or false"}
		}
	}
	out.Precompose = out.Precompose && runtime.GOOS == "darwin"
	out.PresentCounts = out.Sparse && !expect
	if err := c.filters(out.Filters); err != nil {
		return nil, err
	}
	return out, u.files(out)
}

// filters adds the names of the filters that git would run, or without which it would refuse a file.
func (c config) filters(to map[string]bool) error {
	for _, key := range slices.Sorted(maps.Keys(c)) {
		name, ok := strings.CutPrefix(key, "filter.")
		dot := strings.LastIndexByte(name, '.')
		if !ok || dot < 0 {
			continue
		}
		name = name[:dot]
		process, isProcess := c["filter."+name+".process"]
		required, err := c.bool("filter." + name + ".required")
		if err != nil {
			return &Error{Op: "reading configuration", Err: err,
				Remedy: "set filter." + name + ".required to true or false"}
		}
		if process != "" || !isProcess && c["filter."+name+".clean"] != "" || required {
			to[name] = true
		}
	}
	return nil
}

// userSettings are what the configuration files say, the last one that says it.
type userSettings struct {
	store  *Store
	home   string
	xdg    string
	values config
	each   func(key, value string) // is given each setting; nil: nobody asks
}

// readAll reads the configuration of the system, the user and the clone, in git's order.
func (u *userSettings) readAll() error {
	u.home, _ = os.UserHomeDir() // without one there are no files in it
	u.xdg = os.Getenv("XDG_CONFIG_HOME")
	if u.xdg == "" && u.home != "" {
		u.xdg = filepath.Join(u.home, ".config")
	}
	files := []string{cmp.Or(os.Getenv("GIT_CONFIG_SYSTEM"), "/etc/gitconfig")}
	if isOn("GIT_CONFIG_NOSYSTEM") {
		files = nil
	}
	if file, ok := os.LookupEnv("GIT_CONFIG_GLOBAL"); ok {
		files = append(files, file)
	} else {
		if u.xdg != "" {
			files = append(files, filepath.Join(u.xdg, "git", "config"))
		}
		if u.home != "" {
			files = append(files, filepath.Join(u.home, ".gitconfig"))
		}
	}
	for _, file := range append(files, filepath.Join(u.store.commonDir, "config")) {
		if err := u.read(file, 0); err != nil {
			return err
		}
	}
	worktrees, err := u.values.bool("extensions.worktreeconfig")
	if err != nil {
		return &Error{Op: "reading configuration", Err: err, Remedy: "set extensions.worktreeConfig to true or false"}
	}
	if worktrees {
		if err := u.read(filepath.Join(u.store.gitDir, "config.worktree"), 0); err != nil {
			return err
		}
	}
	return u.environment()
}

// isOn reports whether an environment variable is a true boolean, or none that can be read.
func isOn(name string) bool {
	on, err := (config{"": os.Getenv(name)}).bool("")
	return on || err != nil
}

// environment reads the keys of GIT_CONFIG_COUNT, which come after all files.
func (u *userSettings) environment() error {
	text := os.Getenv("GIT_CONFIG_COUNT")
	n, err := strconv.Atoi(cmp.Or(text, "0"))
	if err != nil || n < 0 || n > maxSettings {
		return &Error{Op: "reading configuration", Object: "GIT_CONFIG_COUNT",
			Err: fmt.Errorf("%.80q is not a number of keys", text), Remedy: "unset GIT_CONFIG_COUNT"}
	}
	for i := range n {
		key, ok := os.LookupEnv(fmt.Sprintf("GIT_CONFIG_KEY_%d", i))
		value, both := os.LookupEnv(fmt.Sprintf("GIT_CONFIG_VALUE_%d", i))
		first, last := strings.IndexByte(key, '.'), strings.LastIndexByte(key, '.')
		if !ok || !both || first < 0 {
			return &Error{Op: "reading configuration", Object: fmt.Sprintf("GIT_CONFIG_KEY_%d", i),
				Err: errors.New("it has no key, or no value"), Remedy: "unset GIT_CONFIG_COUNT"}
		}
		key = strings.ToLower(key[:first]) + key[first:last] + strings.ToLower(key[last:])
		if err := u.setting("", key, value, 0); err != nil {
			return err
		}
	}
	return nil
}

// files reads the files of patterns and attributes.
func (u *userSettings) files(out *Settings) error {
	named := func(key, standard string) string {
		if value, set := u.values[key]; set {
			return u.path(value, u.store.worktree)
		}
		if u.xdg == "" {
			return ""
		}
		return filepath.Join(u.xdg, "git", standard)
	}
	excludes := named("core.excludesfile", "ignore")
	if os.Getenv("GIT_CONFIG_PARAMETERS") != "" {
		excludes = "" // they may name another one: nothing is hidden
	}
	system := "/etc/gitattributes"
	if isOn("GIT_ATTR_NOSYSTEM") {
		system = ""
	}
	out.Excludes, out.Attributes = make([][]byte, 2), make([][]byte, 2)
	for _, file := range []struct {
		of, path string
		to       *[]byte
	}{
		{"ignore patterns", excludes, &out.Excludes[0]},
		{"ignore patterns", filepath.Join(u.store.commonDir, "info", "exclude"), &out.Excludes[1]},
		{"attributes", system, &out.Attributes[0]},
		{"attributes", named("core.attributesfile", "attributes"), &out.Attributes[1]},
		{"attributes", filepath.Join(u.store.commonDir, "info", "attributes"), &out.OwnAttributes},
		{"sparse patterns", filepath.Join(u.store.gitDir, "info", "sparse-checkout"), &out.SparsePatterns},
	} {
		var err error
		if file.path != "" {
			*file.to, err = readCapped(file.path, maxExcludes)
		}
		if err != nil && !notThere(err) && !errors.Is(err, fs.ErrPermission) {
			return &Error{Op: "reading " + file.of, Object: file.path, Err: err,
				Remedy: fmt.Sprintf("make it a file of at most %d bytes", maxExcludes)}
		}
	}
	return nil
}

// read reads a configuration file and those that it includes.
func (u *userSettings) read(file string, depth int) error {
	if file == "" || file == os.DevNull {
		return nil
	}
	text, err := readCapped(file, maxConfig)
	if notThere(err) || errors.Is(err, fs.ErrPermission) { // git continues, too
		return nil
	}
	if err == nil && depth > maxIncludes {
		err = fmt.Errorf("%w: files that include one another, more than %d deep", ErrTooLarge, maxIncludes)
	}
	if err == nil {
		err = eachSetting(string(text), func(key, value string) error { return u.setting(file, key, value, depth) })
	}
	if e := (*Error)(nil); err != nil && !errors.As(err, &e) {
		err = &Error{Op: "reading configuration", Object: file, Err: err,
			Remedy: "correct the file: git cannot read it either"}
	}
	return err
}

func (u *userSettings) setting(file, key, value string, depth int) error {
	u.values[key] = value
	if u.each != nil {
		u.each(key, value)
	}
	condition, isConditional := strings.CutPrefix(key, "includeif.")
	condition, isPath := strings.CutSuffix(condition, ".path")
	if key == "include.path" || isConditional && isPath && u.holds(condition, file) {
		return u.read(u.path(value, filepath.Dir(file)), depth+1)
	}
	return nil
}

// holds reports whether a condition of includeIf holds, as git-config(1) defines it; an unknown one does not.
func (u *userSettings) holds(condition, file string) bool {
	kind, pattern, _ := strings.Cut(condition, ":")
	switch kind {
	case "gitdir", "gitdir/i":
		return u.inGitDir(pattern, filepath.Dir(file), kind == "gitdir/i")
	case "onbranch":
		head, err := readCapped(filepath.Join(u.store.gitDir, "HEAD"), maxRefFile)
		name, ok := strings.CutPrefix(strings.TrimSpace(string(head)), "ref: refs/heads/")
		if strings.HasSuffix(pattern, "/") {
			pattern += "**"
		}
		return err == nil && ok && matches("/"+pattern, name, false)
	case "hasconfig":
		pattern, ok := strings.CutPrefix(pattern, "remote.*.url:")
		for _, url := range u.store.remotes {
			if ok && matches("/"+pattern, url, false) {
				return true
			}
		}
	}
	return false
}

// inGitDir reports whether the Git directory matches the pattern of a gitdir condition in a file of a directory.
func (u *userSettings) inGitDir(pattern, dir string, fold bool) bool {
	rest, atHome := strings.CutPrefix(pattern, "~/")
	parallel, isBeside := strings.CutPrefix(pattern, "./")
	literal := strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`)
	switch {
	case atHome:
		pattern = literal.Replace(realOf(u.home)) + "/" + rest
	case isBeside:
		pattern = literal.Replace(realOf(dir)) + "/" + parallel
	case !filepath.IsAbs(pattern):
		pattern = "**/" + pattern
	}
	if strings.HasSuffix(pattern, "/") {
		pattern += "**"
	}
	for _, git := range []string{realOf(u.store.gitDir), filepath.ToSlash(u.store.gitDir)} {
		if matches(pattern, strings.TrimPrefix(git, "/"), fold) {
			return true
		}
	}
	return false
}

// realOf returns a path without symbolic links, with slashes; the path itself where it is not there.
func realOf(path string) string {
	if followed, err := filepath.EvalSymlinks(path); err == nil {
		path = followed
	}
	return filepath.ToSlash(path)
}

func matches(pattern, path string, fold bool) bool {
	patterns, ok := ignore.One(pattern, fold)
	return ok && patterns.Match(path, false, fold) != ignore.Undecided
}

// path returns a path of the configuration, or "" for one below git's own directory or another user's home.
func (u *userSettings) path(value, relativeTo string) string {
	if rest, ok := strings.CutPrefix(value, "~/"); ok && u.home != "" {
		return filepath.Join(u.home, rest)
	}
	switch {
	case value == "", strings.HasPrefix(value, "~"), strings.HasPrefix(value, "%(prefix)"):
		return ""
	case filepath.IsAbs(value):
		return value
	}
	return filepath.Join(relativeTo, value)
}
