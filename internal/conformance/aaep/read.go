package aaep

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"

	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// Read adds the messages of a JSON object, a JSON array, or JSON Lines. Text that is not JSON is a finding. The errors
// are the reader's, ErrTooLarge, ErrTooMany, ErrSessions and ErrLongMessage.
func (s *Stream) Read(from io.Reader) error {
	var left atomic.Int64
	left.Store(s.most)
	buffer, _ := buffers.Get().(*bufio.Reader)
	buffer.Reset(&upTo{from, &left})
	defer func() {
		buffer.Reset(nil)
		buffers.Put(buffer)
	}()
	in := &input{Reader: buffer, line: 1, column: 1}
	first, err := in.skipBlanks()
	switch {
	case err == io.EOF:
		return nil
	case err != nil:
		return err
	case first == '[':
		return s.readArray(in)
	case first == '{' && in.spread():
		data, err := io.ReadAll(io.LimitReader(in, MaxMessage+1))
		if err != nil {
			return err
		}
		return s.Add(in.line, in.column, data)
	}
	return s.readLines(in)
}

// buffers keeps the buffers of inputs. Each has room for the longest line, and to clear a new one takes longer than to
// judge a short stream.
var buffers = sync.Pool{New: func() any { return bufio.NewReaderSize(nil, MaxMessage+1) }}

// upTo reads up to left bytes, which others may share, and fails where there are more.
type upTo struct {
	from io.Reader
	left *atomic.Int64
}

func (w *upTo) Read(p []byte) (int, error) {
	n, err := w.from.Read(p)
	if w.left.Add(-int64(n)) < 0 {
		return 0, ErrTooLarge
	}
	return n, err
}

// input tracks its position in the stream.
type input struct {
	*bufio.Reader
	line, column int
}

// skipBlanks returns the next byte that is not a blank, unread.
func (in *input) skipBlanks() (byte, error) {
	for {
		if _, err := in.Peek(1); err != nil {
			return 0, err
		}
		ahead, _ := in.Peek(in.Buffered())
		rest := bytes.TrimLeft(ahead, " \t\r\n")
		in.pass(ahead[:len(ahead)-len(rest)])
		if len(rest) > 0 {
			return rest[0], nil
		}
	}
}

// spread reports whether an object goes over several lines, rather than being the first of JSON Lines: its first line
// leaves it open, and the next does not begin an object.
func (in *input) spread() bool {
	ahead, _ := in.Peek(MaxMessage + 1)
	line, rest, found := bytes.Cut(ahead, []byte("\n"))
	var n nesting
	for _, c := range line {
		n.take(c)
	}
	rest = bytes.TrimLeft(rest, " \t\r\n")
	return found && n.depth > 0 && !bytes.HasPrefix(rest, []byte("{"))
}

// nesting follows JSON text byte by byte, as far as it is needed to find where a value ends.
type nesting struct {
	depth           int
	inText, escaped bool
}

func (n *nesting) take(c byte) {
	switch {
	case n.escaped:
		n.escaped = false
	case n.inText:
		n.escaped, n.inText = c == '\\', c != '"'
	case c == '"':
		n.inText = true
	case c == '{' || c == '[':
		n.depth++
	case c == '}' || c == ']':
		n.depth--
	}
}

func (s *Stream) readLines(in *input) error {
	for {
		line, err := in.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			return fmt.Errorf("line %d: %w", in.line, ErrLongMessage)
		}
		if err != nil && err != io.EOF {
			return err
		}
		if len(bytes.Trim(line, " \t\r\n")) > 0 {
			if err := s.Add(in.line, in.column, bytes.TrimRight(line, "\r\n")); err != nil {
				return err
			}
		}
		if err == io.EOF {
			return nil
		}
		in.line, in.column = in.line+1, 1
	}
}

// readArray takes the elements of an array, one after the other.
func (s *Stream) readArray(in *input) error {
	fault := func(code, message string) {
		at := place{line: int32(in.line), column: int32(in.column)}
		s.note(s.own, at, envelope, verdict.Error, "", code, "%s", message)
	}
	const unended = "the array has no end"
	in.pass([]byte{'['})
	for n := 0; ; n++ {
		c, err := in.skipBlanks()
		switch {
		case err == io.EOF:
			fault(strict.CodeSyntax, unended)
			return nil
		case err != nil:
			return err
		case n == 0 && c == ']':
		default:
			line, column := in.line, in.column
			element, err := in.element()
			if err == io.EOF {
				fault(strict.CodeSyntax, unended)
				return nil
			}
			if err != nil {
				return fmt.Errorf("line %d: %w", line, err)
			}
			if err := s.Add(line, column, element); err != nil {
				return err
			}
		}
		if c, err = in.skipBlanks(); err != nil {
			return err
		}
		in.pass([]byte{c})
		switch c {
		case ',':
			continue
		case '}':
			fault(strict.CodeSyntax, "the array continues with a brace that nothing opened")
			return nil
		}
		if c, err = in.skipBlanks(); err == nil {
			fault(strict.CodeTrailingText, fmt.Sprintf("the array is followed by %q, nothing may follow it",
				string(rune(c))))
		} else if err != io.EOF {
			return err
		}
		return nil
	}
}

// element reads up to the comma or bracket that ends an element, which stays unread. The errors are io.EOF and
// ErrLongMessage, and the reader's.
func (in *input) element() ([]byte, error) {
	var text []byte
	var n nesting
	for {
		if _, err := in.Peek(1); err != nil {
			return nil, err
		}
		ahead, _ := in.Peek(in.Buffered())
		end, found := len(ahead), false
		for i, c := range ahead {
			if n.depth == 0 && !n.inText && (c == ',' || c == ']' || c == '}') {
				end, found = i, true
				break
			}
			n.take(c)
		}
		if text = append(text, ahead[:end]...); len(text) > MaxMessage {
			return nil, ErrLongMessage
		}
		in.pass(ahead[:end])
		if found {
			return text, nil
		}
	}
}

// pass goes over what is ahead.
func (in *input) pass(ahead []byte) {
	in.column += len(ahead)
	if last := bytes.LastIndexByte(ahead, '\n'); last >= 0 {
		in.line, in.column = in.line+bytes.Count(ahead, []byte("\n")), len(ahead)-last
	}
	_, _ = in.Discard(len(ahead))
}
