package report

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/ahead"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// maxValue is how many bytes one record of a report may take, and each other member of it.
const maxValue = 16 << 20

// atOnce is how many bytes of records are validated while those before them are taken.
const atOnce = 1 << 16

// Stream reads a JSON report of any size as Read does, each record by itself: it goes to records, and is missing in
// the report that is returned. A record is taken before what comes behind it was read: where there is an error, all of
// them are void.
func Stream(name string, in io.Reader, records verdict.Records) (*verdict.Report, error) {
	limited := &limitedReader{in: in, left: maxValue}
	s := &stream{name: name, limited: limited, tokens: jsontext.NewDecoder(limited)}
	if err := s.read(records); err != nil {
		return nil, fmt.Errorf("reading report %s: %w", name, err)
	}
	return Read(name, s.rest.Bytes())
}

// stream is a report that is being read: its records apart, and the rest, which Read judges.
type stream struct {
	name    string
	limited *limitedReader
	tokens  *jsontext.Decoder // refuses a member that is there twice
	rest    bytes.Buffer
}

func (s *stream) read(records verdict.Records) error {
	if s.tokens.PeekKind() != '{' {
		_, err := s.value()
		if errors.Is(err, io.EOF) {
			return errors.New("it is empty")
		}
		return cmp.Or(err, errors.New("it is not an object"))
	}
	if _, err := s.tokens.ReadToken(); err != nil {
		return err
	}
	for separator := byte('{'); s.tokens.PeekKind() != '}'; separator = ',' {
		member, err := s.value()
		if err != nil {
			return err
		}
		s.rest.WriteByte(separator)
		s.rest.Write(member)
		s.rest.WriteByte(':')
		var name string
		if err := json.Unmarshal(member, &name); err != nil {
			return err
		}
		if s.tokens.PeekKind() == '[' {
			switch name {
			case "listings":
				err = eachOf(s, schemaOfListing(), records.Listing)
			case "results":
				err = eachOf(s, schemaOfResult(), records.Result)
			case "evidence":
				err = eachOf(s, schemaOfEvidence(), records.Evidence)
			default:
				name = ""
			}
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			if name != "" {
				s.rest.WriteString("[]")
				continue
			}
		}
		value, err := s.value()
		if err != nil {
			return err
		}
		if s.rest.Write(value); s.rest.Len() > maxValue {
			return fmt.Errorf("it has more than %d bytes in addition to its records", maxValue)
		}
	}
	if s.rest.Len() == 0 {
		s.rest.WriteByte('{')
	}
	s.rest.WriteByte('}')
	if _, err := s.tokens.ReadToken(); err != nil {
		return err
	}
	s.limited.left = maxValue
	if _, err := s.tokens.ReadToken(); !errors.Is(err, io.EOF) {
		return cmp.Or(err, errors.New("text follows the JSON value; expected the end"))
	}
	return nil
}

// value reads a value, or the name of a member, as it is written.
func (s *stream) value() (jsontext.Value, error) {
	s.limited.left = maxValue
	return s.tokens.ReadValue()
}

// eachOf reads the elements of an array.
func eachOf[T any](s *stream, schema *jsonschema.Schema, take func(T) error) error {
	for texts, err := range ahead.Of(s.elements(schema, take == nil)) {
		if err != nil {
			return err
		}
		for _, text := range texts {
			var one T
			if err := json.Unmarshal(text, &one); err != nil {
				return err
			}
			if err := take(one); err != nil {
				return err
			}
		}
	}
	return nil
}

// elements returns the elements of an array, each valid under the schema, some at a time; or none, if over says to skip
// them.
func (s *stream) elements(schema *jsonschema.Schema, over bool) iter.Seq2[[]jsontext.Value, error] {
	return func(yield func([]jsontext.Value, error) bool) {
		_, err := s.tokens.ReadToken()
		var texts []jsontext.Value
		for size := 0; err == nil && s.tokens.PeekKind() != ']'; {
			var text jsontext.Value
			if text, err = s.value(); err != nil || over {
				continue
			}
			if err = s.valid(text, schema); err != nil {
				continue
			}
			texts = append(texts, text.Clone())
			if size += len(text); size > atOnce {
				if !yield(texts, nil) {
					return
				}
				texts, size = nil, 0
			}
		}
		if err == nil {
			_, err = s.tokens.ReadToken()
		}
		yield(texts, err)
	}
}

func (s *stream) valid(text jsontext.Value, schema *jsonschema.Schema) error {
	doc, err := strict.Parse(s.name, text, limits(len(text)))
	if err != nil {
		return err
	}
	if err := schema.Validate(doc.Root); err != nil {
		return fmt.Errorf("it does not validate against the report's schema: %s", first(err))
	}
	return nil
}

// limitedReader reads at most left bytes. left is set again for each value.
type limitedReader struct {
	in   io.Reader
	left int
}

func (r *limitedReader) Read(p []byte) (int, error) {
	if r.left == 0 {
		return 0, fmt.Errorf("a value has more than %d bytes", maxValue)
	}
	n, err := r.in.Read(p[:min(len(p), r.left)])
	r.left -= n
	return n, err
}
