package client

import (
	"bufio"
	"bytes"
	"cmp"
	"io"

	"github.com/openagentprotocol-OAP/oap-gate/internal/conformance/aaep"
)

// sse reads server-sent events as WHATWG's HTML defines them: lines end in CR, LF or both, an event ends in a blank
// line, and one byte order mark at the start is dropped.
type sse struct {
	lines *bufio.Scanner
	// misnamed receives the name of each core event whose event name hides it from subscribers, unless it is nil.
	misnamed func(name string)
}

func newSSE(from io.Reader) *sse {
	const mark = "\ufeff"
	s := &sse{lines: bufio.NewScanner(from)}
	s.lines.Buffer(nil, len("data: ")+aaep.MaxMessage+1)
	started, cr := false, false // cr: the last line ended in CR, and LF may follow
	s.lines.Split(func(data []byte, atEOF bool) (int, []byte, error) {
		if !started && len(data) < len(mark) && !atEOF {
			return 0, nil, nil
		}
		line := data
		if cr {
			line = bytes.TrimPrefix(line, []byte("\n"))
		} else if !started {
			line = bytes.TrimPrefix(line, []byte(mark))
		}
		started, cr = true, cr && len(data) == 0
		switch end := bytes.IndexAny(line, "\r\n"); {
		case end >= 0:
			cr = line[end] == '\r'
			return len(data) - len(line) + end + 1, line[:end], nil
		case atEOF && len(line) > 0:
			return 0, nil, io.ErrUnexpectedEOF
		}
		return len(data) - len(line), nil, nil
	})
	return s
}

// next returns the data of the next AAEP message. Events without data and events of other names are heartbeats. An
// event without its end is ignored. The errors are the reader's and ErrLongMessage.
func (s *sse) next() ([]byte, error) {
	var data []byte
	name := ""
	for s.lines.Scan() {
		line := s.lines.Bytes()
		field, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch {
		case len(line) == 0:
			data = bytes.TrimSuffix(data, []byte("\n"))
			if ours := name == "" || name == "message" || name == "aaep.event"; ours && len(bytes.TrimSpace(data)) > 0 {
				return data, nil
			} else if m := aaep.ReadMessage(data); !ours && s.misnamed != nil && m != nil && m.Core != "" {
				s.misnamed(name)
			}
			data, name = nil, ""
		case string(field) == "event":
			name = string(value)
		case string(field) == "data":
			data = append(append(data, value...), '\n')
		}
		if len(data) > aaep.MaxMessage+1 {
			return nil, aaep.ErrLongMessage
		}
	}
	switch err := s.lines.Err(); {
	case err == bufio.ErrTooLong:
		return nil, aaep.ErrLongMessage
	case err == nil && len(data) > 0:
		return nil, io.ErrUnexpectedEOF
	default:
		return nil, cmp.Or(err, io.EOF)
	}
}
