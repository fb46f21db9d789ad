package aaep

import (
	"bufio"
	"bytes"
	"io"
)

// sse reads the data of server-sent events: lines that end in CR, LF or both, events that end in a blank line. Names and
// ids of events say nothing that their data does not.
type sse struct {
	from *bufio.Reader
	data []byte
	cr   bool // the last line ended in CR
}

func newSSE(from io.Reader) *sse { return &sse{from: bufio.NewReaderSize(from, 64<<10)} }

// next gives the data of the next event that has any. An event without its end counts for nothing. The errors are the
// reader's and ErrLongMessage.
func (s *sse) next() ([]byte, error) {
	s.data = nil
	for {
		line, err := s.line()
		if err != nil {
			return nil, err
		}
		if len(line) == 0 {
			if s.data != nil {
				return bytes.TrimSuffix(s.data, []byte("\n")), nil
			}
			continue
		}
		field, value, _ := bytes.Cut(line, []byte(":"))
		if string(field) != "data" {
			continue
		}
		s.data = append(append(s.data, bytes.TrimPrefix(value, []byte(" "))...), '\n')
		if len(s.data) > MaxMessage+1 {
			return nil, ErrLongMessage
		}
	}
}

// line reads up to the end of a line.
func (s *sse) line() ([]byte, error) {
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
