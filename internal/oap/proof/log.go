package proof

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
)

// Entry is one entry of the log.
type Entry struct {
	Commit string // 40 or 64 hexadecimal digits
	Time   int64  // committer's Unix time
	Files  Hash   // root of the map
	// After is the last logged commit before an accepted rewrite of the history, in the first entry after it; else
	// empty.
	After string
}

// Text returns the entry as it is in the log.
func (e Entry) Text() []byte {
	text := fmt.Appendf(nil, "oap-registry-log v1\ncommit %s\ntime %d\nfiles %s\n", e.Commit, e.Time, e.Files)
	if e.After != "" {
		text = fmt.Appendf(text, "after %s\n", e.After)
	}
	return text
}

// IsEntry reports whether a text begins as an entry does.
func IsEntry(text []byte) bool { return bytes.HasPrefix(text, []byte("oap-registry-log v1\n")) }

// ParseEntry reads an entry in the one spelling that Text returns.
func ParseEntry(text []byte) (e Entry, err error) {
	lines := strings.Split(string(text), "\n")
	if len(lines) != 5 && len(lines) != 6 {
		return e, errors.New("an entry of the log has four or five lines")
	}
	e.Commit = strings.TrimPrefix(lines[1], "commit ")
	if len(lines) == 6 {
		e.After = strings.TrimPrefix(lines[4], "after ")
	}
	if e.Time, err = decimal(strings.TrimPrefix(lines[2], "time ")); err == nil {
		e.Files, err = parseHash(strings.TrimPrefix(lines[3], "files "))
	}
	if err != nil || !isCommit(e.Commit) || e.After != "" && !isCommit(e.After) || string(e.Text()) != string(text) {
		return e, errors.New("an entry of the log is not in the form that the log has")
	}
	return e, nil
}

func isCommit(id string) bool { return (len(id) == 40 || len(id) == 64) && plain.IsHex(id) }

// decimal reads a number that is not negative, in its one spelling.
func decimal(text string) (int64, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 || n > 1<<62 || strconv.FormatInt(n, 10) != text { // tlog does not return for a larger log
		return 0, fmt.Errorf("%.40q is not a decimal number of at most 2^62", text)
	}
	return n, nil
}

// fromBase64 reads standard base64 in its one spelling: tlog.ParseHash and note.Open accept others.
func fromBase64(text string) ([]byte, error) {
	data, err := base64.StdEncoding.Strict().DecodeString(text)
	if err != nil || base64.StdEncoding.EncodeToString(data) != text { // line ends are skipped
		return nil, fmt.Errorf("%.60q is not base64", text)
	}
	return data, nil
}

func parseHash(text string) (Hash, error) {
	data, err := fromBase64(text)
	if err != nil || len(data) != tlog.HashSize {
		return Hash{}, fmt.Errorf("%.60q is not a SHA-256 in base64", text)
	}
	return Hash(data), nil
}

// Log is the Merkle tree of RFC 6962 over entries. It keeps hashes only. The zero Log is empty.
type Log struct {
	size   int64
	hashes []Hash // as tlog stores them
}

// Add appends an entry.
func (l *Log) Add(entry []byte) error {
	hashes, err := tlog.StoredHashes(l.size, entry, l)
	if err != nil {
		return err
	}
	l.hashes = append(l.hashes, hashes...)
	l.size++
	return nil
}

// Size returns the number of entries.
func (l *Log) Size() int64 { return l.size }

// ReadHashes makes a Log a tlog.HashReader.
func (l *Log) ReadHashes(indexes []int64) ([]Hash, error) {
	out := make([]Hash, len(indexes))
	for i, at := range indexes {
		if at < 0 || at >= int64(len(l.hashes)) {
			return nil, fmt.Errorf("the log of %d entries has no hash %d", l.size, at)
		}
		out[i] = l.hashes[at]
	}
	return out, nil
}

// Root returns the root of the first size entries.
func (l *Log) Root(size int64) (Hash, error) { return tlog.TreeHash(size, l) }
