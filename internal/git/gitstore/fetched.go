package gitstore

import (
	"bytes"
	"cmp"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	maxFetchHead = 16 << 20 // bytes
	maxReflog    = 1 << 20  // bytes of a reflog's end that are read; an entry takes about 200
	maxWorktrees = 1000
)

// Symbolic returns the full name of the ref that a symbolic ref names; empty if the ref is not symbolic.
func (s *Store) Symbolic(name string) string {
	if checkRefName(name) != nil {
		return ""
	}
	_, next, _ := s.readRef(name)
	return next
}

// Fetched returns the last time at which the clone saw that commit as the tip of the branch of the remote, zero if it
// shows none. Sources are the reflogs of the remote's branch and of its HEAD, and each FETCH_HEAD: git rewrites that
// file on each fetch, and empties it when the fetch fails. A time after latest is ignored.
func (s *Store) Fetched(remote, branch string, tip ID, latest time.Time) (time.Time, error) {
	var newest time.Time
	note := func(t time.Time) {
		if t.After(newest) && !t.After(latest) {
			newest = t
		}
	}
	for _, name := range []string{branch, "HEAD"} {
		ref := "refs/remotes/" + remote + "/" + name
		if checkRefName(ref) != nil {
			continue
		}
		text, err := readTail(s.common, "logs/"+ref, maxReflog)
		if err != nil {
			return time.Time{}, wrap(err, "reading the reflog of", ref, "remove the file, or clone again")
		}
		for _, t := range reflogTimes(text, tip, remote) {
			note(t)
		}
	}
	url, hasURL, err := s.remoteURL(remote)
	if err != nil {
		return time.Time{}, err
	}
	// In a bare clone `git fetch` without arguments asks for the remote's HEAD, and names no branch.
	unnamed := s.worktree == "" && s.Symbolic("HEAD") == "refs/heads/"+branch
	files, err := s.fetchHeads()
	if err != nil {
		return time.Time{}, err
	}
	for _, name := range files {
		info, err := s.common.Stat(name)
		if notThere(err) || err == nil && (!info.Mode().IsRegular() || info.Size() > maxFetchHead) {
			continue
		}
		var text []byte
		if err == nil {
			text, err = readRooted(s.common, name, maxFetchHead)
		}
		if err != nil {
			return time.Time{}, wrap(err, "reading", name, "remove the file, and fetch again")
		}
		if hasURL && namesTip(text, tip, branch, url, unnamed) {
			note(info.ModTime())
		}
	}
	return newest, nil
}

// fetchHeads returns the names of the files FETCH_HEAD that the clone and its linked work trees may have.
func (s *Store) fetchHeads() ([]string, error) {
	files := []string{"FETCH_HEAD"}
	dir, err := s.common.Open("worktrees")
	if notThere(err) {
		return files, nil
	}
	if err != nil {
		return nil, wrap(err, "reading", "worktrees", "make the clone readable")
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
func reflogTimes(text []byte, tip ID, remote string) []time.Time {
	var out []time.Time
	want := tip.String()
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
		_, err := ParseID(from)
		return err == nil
	}
	named := slices.DeleteFunc(words[1:], func(w string) bool { return strings.HasPrefix(w, "-") })
	return !slices.ContainsFunc(named, byID) && (len(named) == 0 || slices.Contains(named, remote))
}

// namesTip reports whether a FETCH_HEAD names a commit as the tip of a branch of a URL; with unnamed also by a line
// that names no branch.
func namesTip(text []byte, tip ID, branch, url string, unnamed bool) bool {
	want := tip.String()
	for line := range bytes.Lines(text) {
		parts := strings.SplitN(strings.TrimRight(string(line), "\r\n"), "\t", 3)
		if len(parts) < 3 || parts[0] != want {
			continue
		}
		from, named := strings.CutPrefix(parts[2], "branch '"+branch+"' of ")
		if (named || unnamed) && plainURL(from) == url {
			return true
		}
	}
	return false
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

// remoteURL returns the URL that the remote is fetched from, spelled by plainURL: the first that is configured, after
// insteadOf.
func (s *Store) remoteURL(remote string) (url string, found bool, err error) {
	var first string
	type rewrite struct{ from, to string }
	var rewrites []rewrite
	u := &userSettings{store: s, values: config{}, each: func(key, value string) {
		switch name, found := strings.CutPrefix(key, "url."); {
		case key == "remote."+remote+".url":
			first = cmp.Or(first, value)
		case found && strings.HasSuffix(name, ".insteadof") && value != "":
			rewrites = append(rewrites, rewrite{value, strings.TrimSuffix(name, ".insteadof")})
		}
	}}
	if err := u.readAll(); err != nil || first == "" {
		return "", false, err
	}
	longest := rewrite{}
	for _, r := range rewrites {
		if strings.HasPrefix(first, r.from) && len(r.from) > len(longest.from) {
			longest = r
		}
	}
	return plainURL(longest.to + strings.TrimPrefix(first, longest.from)), true, nil
}
