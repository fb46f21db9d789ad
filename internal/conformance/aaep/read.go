package aaep

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// Read adds the messages of a JSON object, a JSON array, or JSON Lines. What is no JSON is a finding. The errors are the
// reader's, ErrTooLarge, ErrTooMany and ErrLongMessage.
func (s *Stream) Read(from io.Reader) error {
	in := &input{Reader: bufio.NewReaderSize(&upTo{from: from, left: MaxBytes}, MaxMessage+1), line: 1, column: 1}
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

// upTo reads up to left bytes, and fails where there are more.
type upTo struct {
	from io.Reader
	left int
}

func (w *upTo) Read(p []byte) (int, error) {
	n, err := w.from.Read(p)
	if w.left -= n; w.left < 0 {
		return 0, ErrTooLarge
	}
	return n, err
}

// input knows where in the stream it stands.
type input struct {
	*bufio.Reader
	line, column int
}

// next reads one byte.
func (in *input) next() (byte, error) {
	c, err := in.ReadByte()
	if err == nil {
		in.column++
		if c == '\n' {
			in.line, in.column = in.line+1, 1
		}
	}
	return c, err
}

// skipBlanks gives the next byte that is no blank, unread.
func (in *input) skipBlanks() (byte, error) {
	for {
		next, err := in.Peek(1)
		if err != nil {
			return 0, err
		}
		if !blank(next[0]) {
			return next[0], nil
		}
		_, _ = in.next()
	}
}

func blank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

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
		s.own.add(envelope, verdict.Finding{Severity: verdict.Error, Code: code, Message: message,
			Pos: strict.Pos{Path: s.path, Line: in.line, Column: in.column}, Fix: fixOf(envelope, code)})
	}
	const unended = "the array has no end"
	_, _ = in.next()
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
		if c, err = in.next(); err != nil {
			return err
		}
		switch c {
		case ',':
			continue
		case '}':
			fault(strict.CodeSyntax, "the array goes on with a brace that nothing opened")
			return nil
		}
		if c, err = in.skipBlanks(); err == nil {
			fault(strict.CodeTrailingText, fmt.Sprintf("the array is followed by %q, nothing may follow it", string(rune(c))))
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
		next, err := in.Peek(1)
		if err != nil {
			return nil, err
		}
		if c := next[0]; n.depth == 0 && !n.inText && (c == ',' || c == ']' || c == '}') {
			return text, nil
		}
		c, err := in.next()
		if err != nil {
			return nil, err
		}
		if text = append(text, c); len(text) > MaxMessage {
			return nil, ErrLongMessage
		}
		n.take(c)
	}
}
