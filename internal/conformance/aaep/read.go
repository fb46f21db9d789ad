package aaep

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// Read adds the messages of a JSON object, a JSON array, or JSON Lines. Text that is not JSON is a finding. The errors
// are the reader's, ErrTooLarge, ErrTooMany, ErrSessions and ErrLongMessage.
func (s *Stream) Read(from io.Reader) error {
	var left atomic.Int64
	left.Store(s.most)
	in, _ := buffers.Get().(*bufio.Reader)
	in.Reset(&upTo{from, &left})
	defer func() {
		in.Reset(nil)
		buffers.Put(in)
	}()
	const blanks = " \t\r\n"
	ahead, _ := in.Peek(MaxMessage + 1)
	ahead = bytes.TrimLeft(ahead, blanks)
	line, rest, more := bytes.Cut(ahead, []byte("\n"))
	opens := func(text []byte) bool { return bytes.HasPrefix(bytes.TrimLeft(text, blanks), []byte("{")) }
	var object json.RawMessage
	switch {
	case bytes.HasPrefix(line, []byte("[")):
		return s.readArray(in)
	// The first line leaves the object open, and the next does not begin one, as in JSON Lines it would.
	case opens(line) && more && !opens(rest) &&
		json.NewDecoder(bytes.NewReader(line)).Decode(&object) == io.ErrUnexpectedEOF:
		data, err := io.ReadAll(io.LimitReader(in, MaxMessage+1))
		if err != nil {
			return err
		}
		return s.Add(1, 1, data)
	}
	for n := 1; ; n++ {
		line, err := in.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			return fmt.Errorf("line %d: %w", n, ErrLongMessage)
		}
		if err != nil && err != io.EOF {
			return err
		}
		if line = bytes.TrimRight(line, blanks); len(line) > 0 {
			if err := s.Add(n, 1, line); err != nil {
				return err
			}
		}
		if err == io.EOF {
			return nil
		}
	}
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

// readArray takes the elements of an array, one after the other, up to the first that is not JSON.
func (s *Stream) readArray(in io.Reader) error {
	var ahead bytes.Buffer // what was read beyond the place
	passed, line, column := 0, 1, 1
	to := func(offset int) {
		between := ahead.Next(max(offset-passed, 0))
		passed += len(between)
		if last := bytes.LastIndexByte(between, '\n'); last >= 0 {
			line, column = line+bytes.Count(between, []byte("\n")), 0
			between = between[last:]
		}
		column += len(between)
	}
	fault := func(code, format string, args ...any) {
		s.note(s.own, place{line: int32(line), column: int32(column)}, envelope, verdict.Error, "", code, format,
			args...)
	}
	d := jsontext.NewDecoder(io.TeeReader(in, &ahead), jsontext.AllowDuplicateNames(true),
		jsontext.AllowInvalidUTF8(true)) // which strict refuses
	_, err := d.ReadToken()
	for err == nil && d.PeekKind() != ']' {
		var element jsontext.Value
		if element, err = d.ReadValue(); err == nil {
			to(int(d.InputOffset()) - len(element))
			if err := s.Add(line, column, element); err != nil {
				return err
			}
		}
	}
	if err == nil {
		if _, err = d.ReadToken(); err == nil {
			to(int(d.InputOffset()))
			_, err = d.ReadToken()
			rest := bytes.TrimLeft(ahead.Bytes(), " \t\r\n")
			switch {
			case err == io.EOF:
				return nil
			case len(rest) == 0:
				return err
			}
			to(passed + ahead.Len() - len(rest))
			fault(strict.CodeTrailingText, "the array is followed by %q, nothing may follow it", rest[:1])
			return nil
		}
	}
	syntax, isSyntax := errors.AsType[*jsontext.SyntacticError](err)
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		to(passed + ahead.Len())
		fault(strict.CodeSyntax, "the array has no end")
	case isSyntax:
		to(int(syntax.ByteOffset))
		fault(strict.CodeSyntax, "the array continues with what is not JSON: %v", syntax.Err)
	default:
		return err
	}
	return nil
}
