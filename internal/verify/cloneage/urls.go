package cloneage

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/git/gitstore"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict/capped"
)

const (
	maxConfig   = 4 << 20 // bytes of a configuration file
	maxIncludes = 10      // configuration files in one another, as in git
	maxFiles    = 1000    // configuration files in all
	maxSettings = 1000    // keys in the environment
)

// urlsOf returns the URLs from which a fetch of the remote may have come, spelled by plainURL: the first that the
// configuration gives it, and what each insteadOf makes of that. A file that is included on a condition counts.
func urlsOf(c Clone, remote string) ([]string, error) {
	s := settings{remote: "remote." + remote + ".url"}
	s.home, _ = os.UserHomeDir() // without one there are no files in it
	xdg := os.Getenv("XDG_CONFIG_HOME")
	if xdg == "" && s.home != "" {
		xdg = filepath.Join(s.home, ".config")
	}
	files := []string{cmp.Or(os.Getenv("GIT_CONFIG_SYSTEM"), "/etc/gitconfig")}
	if file, ok := os.LookupEnv("GIT_CONFIG_GLOBAL"); ok {
		files = append(files, file)
	} else {
		files = append(files, join(xdg, "git/config"), join(s.home, ".gitconfig"))
	}
	for _, file := range append(files, filepath.Join(c.CommonDir(), "config"),
		filepath.Join(c.GitDir(), "config.worktree")) {
		if err := s.read(file, 0); err != nil {
			return nil, err
		}
	}
	if err := s.environment(); err != nil || s.url == "" {
		return nil, err
	}
	urls := []string{plainURL(s.url)}
	for _, r := range s.rewrites {
		if rest, found := strings.CutPrefix(s.url, r.from); found {
			urls = append(urls, plainURL(r.to+rest))
		}
	}
	return slices.Compact(slices.Sorted(slices.Values(urls))), nil
}

// join returns the path of a file in a directory, or "" without the directory.
func join(dir, file string) string {
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, file)
}

// settings are what the configuration says about the URL of a remote.
type settings struct {
	remote   string // key of the remote's URL
	home     string
	url      string
	rewrites []rewrite
	files    int
}

// A rewrite is an insteadOf.
type rewrite struct{ from, to string }

// read reads a configuration file and those that it includes.
func (s *settings) read(file string, depth int) error {
	if file == "" || file == os.DevNull {
		return nil
	}
	text, err := capped.ReadFile(file, maxConfig)
	if notThere(err) || errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EISDIR) { // git continues, too
		return nil
	}
	if s.files++; err == nil && (depth > maxIncludes || s.files > maxFiles) {
		err = fmt.Errorf("files that include one another: more than %d deep, or more than %d", maxIncludes, maxFiles)
	}
	if err == nil {
		err = gitstore.EachSetting(string(text), func(key, value string) error {
			isCondition := strings.HasPrefix(key, "includeif.") && strings.HasSuffix(key, ".path")
			if key == "include.path" || isCondition {
				return s.read(s.path(value, filepath.Dir(file)), depth+1)
			}
			s.set(key, value)
			return nil
		})
	}
	if err != nil {
		return remedy.With(fmt.Errorf("reading configuration %q: %w", file, err),
			"correct the file: git cannot read it either")
	}
	return nil
}

func (s *settings) set(key, value string) {
	name, isURL := strings.CutPrefix(key, "url.")
	to, isRewrite := strings.CutSuffix(name, ".insteadof")
	switch {
	case key == s.remote:
		s.url = cmp.Or(s.url, value)
	case isURL && isRewrite && value != "":
		s.rewrites = append(s.rewrites, rewrite{value, to})
	}
}

// environment reads the keys of GIT_CONFIG_COUNT, which come after all files.
func (s *settings) environment() error {
	text := cmp.Or(os.Getenv("GIT_CONFIG_COUNT"), "0")
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n > maxSettings {
		return remedy.Errorf("unset GIT_CONFIG_COUNT", "GIT_CONFIG_COUNT is %.80q; expected at most %d", text,
			maxSettings)
	}
	for i := range n {
		key := os.Getenv(fmt.Sprintf("GIT_CONFIG_KEY_%d", i))
		first, last := strings.IndexByte(key, '.'), strings.LastIndexByte(key, '.')
		if first >= 0 {
			s.set(strings.ToLower(key[:first])+key[first:last]+strings.ToLower(key[last:]),
				os.Getenv(fmt.Sprintf("GIT_CONFIG_VALUE_%d", i)))
		}
	}
	return nil
}

// path returns a path of the configuration, or "" for one below git's own directory or another user's home.
func (s *settings) path(value, relativeTo string) string {
	if rest, ok := strings.CutPrefix(value, "~/"); ok {
		return join(s.home, rest)
	}
	switch {
	case value == "", strings.HasPrefix(value, "~"), strings.HasPrefix(value, "%(prefix)"):
		return ""
	case filepath.IsAbs(value):
		return value
	}
	return filepath.Join(relativeTo, value)
}

// plainURL returns a remote's URL as FETCH_HEAD spells it: without credentials, trailing slashes and .git.
func plainURL(url string) string {
	if _, after, found := strings.Cut(url, "@"); found {
		scheme, rest, has := strings.Cut(url, "://")
		switch {
		case !has && strings.Contains(after, ":") && !strings.Contains(url[:len(url)-len(after)], "/"):
			url = after // user@host:path
		case has && !strings.Contains(rest[:len(rest)-len(after)], "/"):
			url = scheme + "://" + after
		}
	}
	url = strings.TrimRight(url, "/")
	if short, found := strings.CutSuffix(url, ".git"); found && len(short) > 1 {
		url = short
	}
	return url
}
