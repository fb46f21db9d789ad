package gitfsck

import (
	"bytes"
	"math"
	"strconv"
)

// DuplicateHeader is the ID of a commit that readers read in two ways. Git accepts it.
const DuplicateHeader = "duplicate-header"

// Commit returns the first fault of a commit object whose lines tree and parent are in order, nil if git accepts it and
// all readers read it alike.
func Commit(data []byte) *Fault {
	headers, f := headersOf(data)
	if f != nil {
		return f
	}
	_, headers = line(headers) // tree
	for bytes.HasPrefix(headers, []byte("parent ")) {
		_, headers = line(headers)
	}
	authors := 0
	for {
		person, rest, ok := header(headers, "author ")
		if !ok {
			break
		}
		authors++
		if f := ident("author", person); f != nil {
			return f
		}
		headers = rest
	}
	switch {
	case authors == 0:
		return fault("missingAuthor", "the line after tree and parents is not an author")
	case authors > 1:
		return fault("multipleAuthors", "the commit has %d authors", authors)
	}
	committer, rest, ok := header(headers, "committer ")
	if !ok {
		return fault("missingCommitter", "the line after the author is not a committer")
	}
	if f := ident("committer", committer); f != nil {
		return f
	}
	if bytes.IndexByte(data, 0) >= 0 {
		return fault("nulInCommit", "the message contains a NUL byte")
	}
	for len(rest) > 0 {
		var after []byte
		after, rest = line(rest)
		switch key, _, _ := bytes.Cut(after, []byte{' '}); string(key) {
		case "tree", "parent", "author", "committer":
			return fault(DuplicateHeader, "a line %q is after the committer's: git reads the first, other readers "+
				"the last",
				string(key))
		}
	}
	return nil
}

// headersOf returns the lines before the first empty one. A commit may end with its last header.
func headersOf(data []byte) ([]byte, *Fault) {
	headers := data
	end := bytes.Index(data, []byte("\n\n"))
	if end >= 0 {
		headers = data[:end+1]
	}
	switch at := bytes.IndexByte(headers, 0); {
	case at >= 0:
		return nil, fault("nulInHeader", "the header contains a NUL byte at offset %d", at)
	case len(headers) == 0 || headers[len(headers)-1] != '\n':
		return nil, fault("unterminatedHeader", "the last header line has no line end")
	}
	return headers, nil
}

// line splits off the first line.
func line(text []byte) (first, rest []byte) {
	first, rest, _ = bytes.Cut(text, []byte{'\n'})
	return first, rest
}

func header(text []byte, key string) (value, rest []byte, ok bool) {
	if !bytes.HasPrefix(text, []byte(key)) {
		return nil, text, false
	}
	value, rest = line(text[len(key):])
	return value, rest, true
}

// ident judges the value of an author or committer line: name, address in angle brackets, time, zone.
func ident(who string, person []byte) *Fault {
	wrong := func(id, what string) *Fault {
		return fault(id, "the %s %s %s", who, shown(person), what)
	}
	at := bytes.IndexAny(person, "<>")
	switch {
	case at == 0 && person[0] == '<':
		return wrong("missingNameBeforeEmail", "begins with the address")
	case at < 0:
		return wrong("missingEmail", "has no address in angle brackets")
	case person[at] == '>':
		return wrong("badName", "has \">\" in the name")
	case person[at-1] != ' ':
		return wrong("missingSpaceBeforeEmail", "has no space before the address")
	}
	rest := person[at+1:]
	at = bytes.IndexAny(rest, "<>")
	if at < 0 || rest[at] != '>' {
		return wrong("badEmail", "has an address that does not end in \">\"")
	}
	rest = rest[at+1:]
	if len(rest) == 0 || rest[0] != ' ' {
		return wrong("missingSpaceBeforeDate", "has no space before the date")
	}
	rest = bytes.TrimLeft(rest, " \t")
	date, zone, found := bytes.Cut(rest, []byte{' '})
	switch {
	case len(rest) == 0 || !isDigit(rest[0]):
		return wrong("badDate", "has a date that is not a number")
	case rest[0] == '0' && (len(rest) == 1 || rest[1] != ' '):
		return wrong("zeroPaddedDate", "has a date that begins with 0")
	}
	digits := 0
	for digits < len(date) && isDigit(date[digits]) {
		digits++
	}
	if n, err := strconv.ParseUint(string(date[:digits]), 10, 64); err != nil || n > math.MaxInt64 {
		return wrong("badDateOverflow", "has a date of more than 63 bits")
	}
	if digits != len(date) || !found {
		return wrong("badDate", "has a date that is not a number followed by a space")
	}
	if !isZone(zone) {
		return wrong("badTimezone", "has a time zone other than a sign and four digits")
	}
	return nil
}

func isZone(zone []byte) bool {
	return len(zone) == 5 && (zone[0] == '+' || zone[0] == '-') && len(bytes.Trim(zone[1:], "0123456789")) == 0
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
