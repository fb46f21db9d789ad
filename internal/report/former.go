package report

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/typed"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence/bundle"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/signing"
)

// A Former reports whether a file that begins with head is a former output of one writer, which may replace it.
type Former func(head []byte) bool

// Any accepts each file: its own reader verifies it before it is replaced, or its directory is the writer's.
func Any([]byte) bool { return true }

// begins returns the Former of an output that begins with a text.
func begins(text string) Former {
	return func(head []byte) bool { return bytes.HasPrefix(head, []byte(text)) }
}

// A Target is a file that a run writes, and the flag that names it.
type Target struct {
	Flag, Path string
	Former     Former
}

// FormerOf returns the Former of a report format.
func (o Options) FormerOf(format string) Former {
	if format == StatementFormat {
		return begins(`{"mediaType":"` + mediaType)
	}
	if known := o.format(format); known != nil {
		return known.Former
	}
	return nil
}

// codeRefused is the code of an output that would destroy a file.
const codeRefused = "output-refused"

// formerHead is how much of a file a Former sees, in bytes.
const formerHead = 1 << 20

// Free returns an error if a run that writes to path would destroy something: path is free if it does not exist, is
// empty, is a device or a pipe, or holds the former output of the same writer; a nil former has none. A symbolic link
// is followed. what names the path in the error.
func Free(what, path string, former Former) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && (!info.Mode().IsRegular() || info.Size() == 0):
		return nil
	case err != nil:
		return remedy.Errorf(typed.Writable, "%s cannot be written: %w", what, err)
	}
	f, err := os.Open(path)
	if err != nil {
		return remedy.Errorf(typed.Writable, "%s cannot be read: %w", what, err)
	}
	head, err := io.ReadAll(io.LimitReader(f, formerHead))
	if err := errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("reading %s: %w", what, err)
	}
	holds := "is not a former output of this format"
	_, private, _, err := signing.ReadPublic(path, nil)
	switch {
	case private && err == nil || errors.Is(err, signing.ErrEncrypted) || bytes.HasPrefix(head, []byte("PRIVATE+KEY+")):
		holds = "holds a private key"
	case former == nil:
		holds = "exists, and is not overwritten"
	case former(head):
		return nil
	}
	return remedy.Coded(codeRefused, "choose another file, or remove "+path, "%s %s", what, holds)
}

// Save writes a text to a path that is Free, as WriteFile writes a report.
func Save(what, path string, former Former, text []byte) error {
	return save(what, path, former, readable, text)
}

func save(what, path string, former Former, mode fs.FileMode, text []byte) error {
	if err := Free(what, path, former); err != nil {
		return err
	}
	if err := writeTo(path, mode, func(w io.Writer) error { _, err := w.Write(text); return err }); err != nil {
		return typed.Unwritten(fmt.Errorf("writing %s: %w", what, err))
	}
	return nil
}

// Keep writes the bundle of a run to the file of --record. A new file is for the user alone: it has whatever was
// fetched.
func Keep(path string, b *bundle.Bundle) error {
	return save("--record "+path, path, bundle.Former, private, b.Encode())
}

// HasMembers returns the Former of a JSON object whose root has these members.
func HasMembers(names ...string) Former {
	return func(head []byte) bool {
		d := jsontext.NewDecoder(bytes.NewReader(head))
		if t, err := d.ReadToken(); err != nil || t.Kind() != '{' {
			return false
		}
		left := map[string]bool{}
		for _, name := range names {
			left[name] = true
		}
		for len(left) > 0 {
			name, err := d.ReadToken()
			if err != nil || name.Kind() != '"' {
				return false
			}
			delete(left, name.String())
			if d.SkipValue() != nil && len(left) > 0 {
				return false
			}
		}
		return true
	}
}

// contains returns the Former of an output that begins with one text and contains another one.
func contains(begin, text string) Former {
	return func(head []byte) bool { return begins(begin)(head) && bytes.Contains(head, []byte(text)) }
}
