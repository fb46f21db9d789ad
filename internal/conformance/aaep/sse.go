package aaep

import (
	"bufio"
	"bytes"
	"io"
)

// sse reads server-sent events as WHATWG's HTML defines them: lines end in CR, LF or both, an event ends in a blank
// line, and one byte order mark at the start is dropped.
type sse struct {
	from    *bufio.Reader
	started bool
	data    []byte
	named   string // the name of the event under way, empty where it has none
	cr      bool   // the last line ended in CR
	// misnamed receives the name of each core event whose event name hides it from subscribers, unless it is nil.
	misnamed func(name string)
}

func newSSE(from io.Reader) *sse { return &sse{from: bufio.NewReaderSize(from, 64<<10)} }

// next returns the data of the next AAEP message. Events without data and events of other names are heartbeats. An
// event without its end is ignored. The errors are the reader's and ErrLongMessage.
func (s *sse) next() ([]byte, error) {
	for {
		name, data, err := s.event()
		switch {
		case err != nil:
			return nil, err
		case len(bytes.TrimSpace(data)) == 0:
		case name == "" || name == "message" || name == "aaep.event":
			return data, nil
		case s.misnamed != nil && isCore(data):
			s.misnamed(name)
		}
	}
}

// event returns the name and the data of the next event.
func (s *sse) event() (name string, data []byte, err error) {
	s.data, s.named = nil, ""
	for {
		line, err := s.line()
		if err != nil {
			return "", nil, err
		}
		if len(line) == 0 {
			return s.named, bytes.TrimSuffix(s.data, []byte("\n")), nil
		}
		field, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(field) {
		case "event":
			s.named = string(value)
		case "data":
			s.data = append(append(s.data, value...), '\n')
		}
		if len(s.data) > MaxMessage+1 {
			return "", nil, ErrLongMessage
		}
	}
}

// isCore reports whether data is an event of a core type.
func isCore(data []byte) bool {
	m := readMessage(data)
	return m != nil && m.core != ""
}

// byteOrderMark is that of UTF-8.
const byteOrderMark = "\ufeff"

// line reads up to the end of a line.
func (s *sse) line() ([]byte, error) {
	if !s.started {
		s.started = true
		if ahead, _ := s.from.Peek(len(byteOrderMark)); string(ahead) == byteOrderMark {
			_, _ = s.from.Discard(len(byteOrderMark))
		}
	}
	var line []byte
	for {
		if _, err := s.from.Peek(1); err != nil {
			if err == io.EOF && len(line)+len(s.data) > 0 {
				err = io.ErrUnexpectedEOF
			}
			return nil, err
		}
		ahead, _ := s.from.Peek(s.from.Buffered())
		if s.cr && ahead[0] == '\n' { // the second half of a line's end
			s.cr = false
			_, _ = s.from.Discard(1)
			continue
		}
		s.cr = false
		end := bytes.IndexAny(ahead, "\r\n")
		if end < 0 {
			line = append(line, ahead...)
			_, _ = s.from.Discard(len(ahead))
		} else {
			line = append(line, ahead[:end]...)
			s.cr = ahead[end] == '\r'
			_, _ = s.from.Discard(end + 1)
		}
		switch {
		case len(line) > MaxMessage+len("data: "):
			return nil, ErrLongMessage
		case end >= 0:
			return line, nil
		}
	}
}
