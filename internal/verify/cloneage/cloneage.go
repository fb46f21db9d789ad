// Package cloneage reports when a clone last saw a commit as the tip of a remote's branch.
package cloneage

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/git/gitobject"
	"github.com/openagentprotocol-OAP/oap-gate/internal/git/gitstore"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict/capped"
)

const (
	maxFetchHead = 16 << 20 // bytes
	maxReflog    = 1 << 20  // bytes of a reflog's end that are read; an entry takes about 200
	maxWorktrees = 1000
)

// A Clone is what is asked of a clone; gitstore.Store is one.
type Clone interface {
	Worktree() string  // root of the work tree, "" for a bare clone
	GitDir() string    // this work tree's
	CommonDir() string // what all work trees share
	HasRemote(name string) bool
	Symbolic(ref string) string // the ref that a symbolic ref names
}

// Fetched says how a clone follows the branch of a remote.
type Fetched struct {
	When time.Time // at which the clone last saw the commit as the branch's tip; zero: it does not show one
	Args []string  // arguments of the git fetch that updates the branch; nil: the clone has no such remote
}

// Of reports when the clone last saw a commit as the tip of the branch of which ref is the copy: a remote-tracking ref,
// or a branch of the clone itself, as a bare clone keeps them. A time after latest is ignored.
func Of(c Clone, ref, commit string, latest time.Time) (Fetched, error) {
	remote, branch, tracking := "origin", "", false
	if rest, found := strings.CutPrefix(ref, "refs/remotes/"); found {
		remote, branch, tracking = strings.Cut(rest, "/")
		if branch == "HEAD" {
			_, branch, _ = strings.Cut(strings.TrimPrefix(c.Symbolic(ref), "refs/remotes/"), "/")
		}
	} else {
		branch = strings.TrimPrefix(ref, "refs/heads/")
		if c.HasRemote("upstream") {
			remote = "upstream"
		}
	}
	if branch == "" {
		branch = "HEAD" // its name is not known: git fetch asks the remote
	}
	var out Fetched
	switch {
	case !c.HasRemote(remote):
	case tracking || c.Worktree() != "":
		out.Args = []string{remote, branch}
	default: // a bare clone's own branch moves only if it is named
		out.Args = []string{remote, branch + ":" + branch}
	}
	root, err := capped.OpenRoot(c.CommonDir())
	if err != nil {
		return out, err
	}
	defer root.Close()
	out.When, err = (&traces{clone: c, root: root, tip: commit, latest: latest}).newest(remote, branch)
	return out, err
}

// traces are the files of a clone that a fetch leaves.
type traces struct {
	clone  Clone
	root   *os.Root
	tip    string
	latest time.Time
}

// newest returns the last time at which the tip was that of the branch of the remote, zero if the clone shows none.
// Sources are the reflogs of the remote's branch and of its HEAD, and each FETCH_HEAD: git rewrites that file on each
// fetch, and empties it when the fetch fails.
func (s *traces) newest(remote, branch string) (time.Time, error) {
	var newest time.Time
	note := func(t time.Time) {
		if t.After(newest) && !t.After(s.latest) {
			newest = t
		}
	}
	for _, name := range []string{branch, "HEAD"} {
		ref := "refs/remotes/" + remote + "/" + name
		if gitstore.CheckRefName(ref) != nil {
			continue
		}
		text, err := readTail(s.root, "logs/"+ref, maxReflog)
		if err != nil {
			return time.Time{}, reading("the reflog of", ref, "remove the file, or clone again", err)
		}
		for _, t := range reflogTimes(text, s.tip, remote) {
			note(t)
		}
	}
	urls, err := urlsOf(s.clone, remote)
	if err != nil {
		return time.Time{}, err
	}
	// In a bare clone `git fetch` without arguments asks for the remote's HEAD, and names no branch.
	unnamed := s.clone.Worktree() == "" && s.clone.Symbolic("HEAD") == "refs/heads/"+branch
	files, err := s.fetchHeads()
	if err != nil {
		return time.Time{}, err
	}
	for _, name := range files {
		info, err := s.root.Stat(name)
		if notThere(err) || err == nil && (!info.Mode().IsRegular() || info.Size() > maxFetchHead) {
			continue
		}
		var text []byte
		if err == nil {
			text, err = capped.ReadPlain(s.root, name, maxFetchHead)
		}
		if err != nil {
			return time.Time{}, reading("the file", name, "remove the file, and fetch again", err)
		}
		if namesTip(text, s.tip, branch, urls, unnamed) {
			note(info.ModTime())
		}
	}
	return newest, nil
}

// reading returns the error of reading a file of the clone.
func reading(what, name, fix string, err error) error {
	return remedy.With(fmt.Errorf("reading %s %q: %w", what, name, err), fix)
}

// notThere reports whether err means that nothing has the name.
func notThere(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// fetchHeads returns the names of the files FETCH_HEAD that the clone and its linked work trees may have.
func (s *traces) fetchHeads() ([]string, error) {
	files := []string{"FETCH_HEAD"}
	dir, err := s.root.Open("worktrees")
	if notThere(err) {
		return files, nil
	}
	if err != nil {
		return nil, reading("the directory", "worktrees", "make the clone readable", err)
	}
	defer dir.Close()
	entries, _ := dir.ReadDir(maxWorktrees) // none of an empty directory, or of a file
	for _, e := range entries {
		files = append(files, "worktrees/"+e.Name()+"/FETCH_HEAD")
	}
	slices.Sort(files)
	return files, nil
}

// readTail reads the last bytes of a file, from the beginning of a line. A file that is not there is empty.
func readTail(root *os.Root, name string, most int64) ([]byte, error) {
	info, err := root.Stat(name)
	if notThere(err) || err == nil && !info.Mode().IsRegular() {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	f, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	from := max(info.Size()-most, 0)
	text := make([]byte, info.Size()-from)
	n, err := f.ReadAt(text, from)
	if n < len(text) {
		return nil, err
	}
	if from > 0 {
		_, text, _ = bytes.Cut(text, []byte("\n"))
	}
	return text, nil
}

// reflogTimes returns the times of the entries by which a command that asked the remote made a commit the value of the
// ref.
func reflogTimes(text []byte, want, remote string) []time.Time {
	var out []time.Time
	for line := range bytes.Lines(text) {
		head, message, _ := strings.Cut(strings.TrimRight(string(line), "\r\n"), "\t")
		words := strings.Fields(head)
		if len(words) < 4 || words[1] != want || !asksRemote(message, remote) {
			continue
		}
		seconds, err := strconv.ParseInt(words[len(words)-2], 10, 64)
		if err == nil && seconds > 0 && seconds < 1<<40 {
			out = append(out, time.Unix(seconds, 0).UTC())
		}
	}
	return out
}

// asksRemote reports whether the message of a reflog entry is that of a command that asked the remote. `git remote
// rename`, `git remote set-head` and `git update-ref` do not, and `git fetch` can name another repository, or a commit
// by its id, as actions/checkout does when an old job runs again: the branch may be ahead of it.
func asksRemote(message, remote string) bool {
	if strings.HasPrefix(message, "clone: from ") || message == "update by push" {
		return true
	}
	if end := strings.LastIndex(message, ": "); end >= 0 { // before what happened to the ref
		message = message[:end]
	}
	words := strings.Fields(message)
	if len(words) == 0 || words[0] != "fetch" && words[0] != "pull" {
		return false
	}
	byID := func(refspec string) bool {
		from, _, _ := strings.Cut(strings.TrimPrefix(refspec, "+"), ":")
		_, err := gitobject.ParseID(from)
		return err == nil
	}
	named := slices.DeleteFunc(words[1:], func(w string) bool { return strings.HasPrefix(w, "-") })
	return !slices.ContainsFunc(named, byID) && (len(named) == 0 || slices.Contains(named, remote))
}

// namesTip reports whether a FETCH_HEAD names a commit as the tip of a branch of one of the URLs; with unnamed also by
// a line that names no branch.
func namesTip(text []byte, want, branch string, urls []string, unnamed bool) bool {
	for line := range bytes.Lines(text) {
		parts := strings.SplitN(strings.TrimRight(string(line), "\r\n"), "\t", 3)
		if len(parts) < 3 || parts[0] != want {
			continue
		}
		from, named := strings.CutPrefix(parts[2], "branch '"+branch+"' of ")
		if (named || unnamed) && slices.Contains(urls, plainURL(from)) {
			return true
		}
	}
	return false
}
