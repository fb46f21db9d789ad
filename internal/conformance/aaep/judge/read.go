package judge

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

	"github.com/openagentprotocol-OAP/oap-gate/internal/conformance/aaep"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// Read adds the messages of a JSON object, a JSON array, or JSON Lines. Text that is not JSON is a finding. The errors
// are the reader's, ErrTooLarge, ErrTooMany, ErrSessions and ErrLongMessage.
func (s *Stream) Read(from io.Reader) error {
	var left atomic.Int64
	left.Store(s.most)
	in, _ := buffers.Get().(*bufio.Reader)
	in.Reset(&aaep.UpTo{From: from, Left: &left})
	defer func() {
		in.Reset(nil)
		buffers.Put(in)
	}()
	const blanks = " \t\r\n"
	ahead, _ := in.Peek(aaep.MaxMessage + 1)
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
		data, err := io.ReadAll(io.LimitReader(in, aaep.MaxMessage+1))
		if err != nil {
			return err
		}
		return s.Add(1, 1, data)
	}
	for n := 1; ; n++ {
		line, err := in.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			return fmt.Errorf("line %d: %w", n, aaep.ErrLongMessage)
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
var buffers = sync.Pool{New: func() any { return bufio.NewReaderSize(nil, aaep.MaxMessage+1) }}

// readArray takes the elements of an array, one after the other, up to the first that is not JSON.
func (s *Stream) readArray(in io.Reader) error {
	data, err := io.ReadAll(in)
	if err != nil {
		return err
	}
	line, begin, passed := 1, 0, 0 // the line that data[passed] is on, and where it begins
	to := func(offset int) (int, int) {
		if last := bytes.LastIndexByte(data[passed:offset], '\n'); last >= 0 {
			line, begin = line+bytes.Count(data[passed:offset], []byte("\n")), passed+last+1
		}
		passed = offset
		return line, offset - begin + 1
	}
	fault := func(offset int, code, format string, args ...any) {
		line, column := to(offset)
		s.note(s.own, aaep.Place{Line: int32(line), Column: int32(column)}, aaep.Envelope, verdict.Error, "", code,
			format,
			args...)
	}
	d := jsontext.NewDecoder(bytes.NewBuffer(data), jsontext.AllowDuplicateNames(true),
		jsontext.AllowInvalidUTF8(true)) // which strict refuses
	_, err = d.ReadToken()
	for err == nil && d.PeekKind() != ']' {
		var element jsontext.Value
		if element, err = d.ReadValue(); err == nil {
			line, column := to(int(d.InputOffset()) - len(element))
			if err := s.Add(line, column, element); err != nil {
				return err
			}
		}
	}
	if err == nil {
		_, err = d.ReadToken()
	}
	syntax, isSyntax := errors.AsType[*jsontext.SyntacticError](err)
	switch {
	case err == nil:
		rest := bytes.TrimLeft(data[d.InputOffset():], " \t\r\n")
		if len(rest) > 0 {
			fault(len(data)-len(rest), strict.CodeTrailingText, "the array is followed by %q, nothing may follow it",
				rest[:1])
		}
	case errors.Is(err, io.ErrUnexpectedEOF):
		fault(len(data), strict.CodeSyntax, "the array has no end")
	case isSyntax:
		fault(int(syntax.ByteOffset), strict.CodeSyntax, "the array continues with what is not JSON: %v", syntax.Err)
	default:
		return err
	}
	return nil
}
