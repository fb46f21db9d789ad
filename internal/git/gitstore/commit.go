package gitstore

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/internal/git/gitfsck"
	"github.com/openagentprotocol-OAP/oap-gate/internal/git/gitobject"
)

// CommitObject is what a commit object says. Its slices are part of the object's bytes.
type CommitObject struct {
	Tree      gitobject.ID
	Parents   []gitobject.ID
	Author    []byte // as written: name, e-mail, time, zone
	Committer []byte
	When      int64 // committer date, seconds since 1970 UTC, 0 to the end of the year 9999
	Dated     bool  // the commit has such a date; else When is 0
	Message   []byte

	// Fault is why git refuses to receive the commit if transfer.fsckObjects is set; nil if it does not.
	Fault *gitfsck.Fault

	Data []byte // all of the object, for its signature
}

// maxWhen is 9999-12-31T23:59:59Z.
const maxWhen = 253402300799

// DecodeCommit reads the bytes of a commit object as git does: tree and parents strictly, then author and committer if
// they follow, then the message after the first empty line. What else there is wrong is Fault and no error. Errors are
// ErrMalformed.
func DecodeCommit(data []byte) (*CommitObject, error) {
	d := commitDecoder{rest: data, commit: CommitObject{Data: data}}
	if err := d.decode(data); err != nil {
		return nil, &Error{Op: "decoding commit", Err: fmt.Errorf("%w: %w", ErrMalformed, err)}
	}
	d.commit.Fault = gitfsck.Commit(data)
	return &d.commit, nil
}

type commitDecoder struct {
	commit CommitObject
	rest   []byte
}

// header takes the next line if it has the key, without its line end.
func (d *commitDecoder) header(key string) ([]byte, bool, error) {
	line, ok := bytes.CutPrefix(d.rest, []byte(key+" "))
	if !ok {
		return nil, false, nil
	}
	end := bytes.IndexByte(line, '\n')
	if end < 0 {
		return nil, false, fmt.Errorf("the header %s has no end", key)
	}
	d.rest = line[end+1:]
	line = line[:end:end]
	if bytes.IndexByte(line, 0) >= 0 {
		return nil, false, fmt.Errorf("the header %s holds NUL", key)
	}
	return line, true, nil
}

func (d *commitDecoder) decode(data []byte) error {
	tree, ok, err := d.id("tree")
	if err != nil {
		return err
	}
	if !ok {
		line, _, _ := bytes.Cut(d.rest, []byte{'\n'})
		return fmt.Errorf("the line %.80q; expected the header tree", line)
	}
	d.commit.Tree = tree
	for {
		parent, ok, err := d.id("parent")
		if err != nil {
			return err
		}
		if !ok {
			break
		}
		if parent.Size() != tree.Size() {
			return fmt.Errorf("parent %s has an id of another size than the tree's", parent)
		}
		d.commit.Parents = append(d.commit.Parents, parent)
	}
	d.persons()
	if _, message, found := bytes.Cut(data, []byte("\n\n")); found {
		d.commit.Message = message
	}
	return nil
}

// persons reads author and committer as far as they are in order; Fault says what is not.
func (d *commitDecoder) persons() {
	var ok bool
	if d.commit.Author, ok, _ = d.header("author"); !ok {
		return
	}
	if d.commit.Committer, ok, _ = d.header("committer"); !ok {
		return
	}
	d.commit.When, d.commit.Dated = when(d.commit.Committer)
}

func (d *commitDecoder) id(key string) (gitobject.ID, bool, error) {
	text, ok, err := d.header(key)
	if err != nil || !ok {
		return gitobject.ID{}, false, err
	}
	id, err := gitobject.ParseID(string(text))
	return id, err == nil, err
}

// when reads the time of a person line: "name <e-mail> seconds zone".
func when(person []byte) (int64, bool) {
	end := bytes.LastIndexByte(person, '>')
	if end < 0 {
		return 0, false
	}
	clock := strings.TrimLeft(string(person[end+1:]), " \t")
	seconds, zone, _ := strings.Cut(clock, " ")
	n, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil || strconv.FormatInt(n, 10) != seconds || n < 0 || n > maxWhen || !isZone(zone) {
		return 0, false
	}
	return n, true
}

func isZone(s string) bool {
	return len(s) == 5 && (s[0] == '+' || s[0] == '-') && strings.Trim(s[1:], "0123456789") == ""
}
