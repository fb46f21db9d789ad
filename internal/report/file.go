package report

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/openagentprotocol-OAP/oap-gate/internal/atomicfile"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// WriteFile is Count(r).WriteFile.
func WriteFile(path, format string, r *verdict.Report, o Options) error {
	return Count(r).WriteFile(path, format, o)
}

// WriteFile writes the report to the file at path, which is then whole: the old text or the new. See package
// atomicfile. What is there and is no regular file, such as /dev/stdout or a pipe, is
// written to as it is; a symbolic link is followed.
func (r *Counted) WriteFile(path, format string, o Options) error {
	return writeTo(path, func(w io.Writer) error { return r.Write(w, format, o) })
}

// WriteText writes a text as WriteFile does a report.
func WriteText(path string, text []byte) error {
	return writeTo(path, func(w io.Writer) error { _, err := w.Write(text); return err })
}

func writeTo(path string, fill func(io.Writer) error) error {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return fillFile(path, fill)
	}
	return atomicfile.WriteFunc(path, 0o644, fill)
}

// Writable gives the reason why WriteFile could not write to path, nil where it could. It leaves nothing behind.
// A device is opened; what else is there and is no regular file is not tried, such as a pipe, which waits for a reader.
func Writable(path string) error {
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return errors.New("it is a folder")
	case err == nil && info.Mode()&os.ModeDevice != 0:
		return fillFile(path, func(io.Writer) error { return nil })
	case err == nil && !info.Mode().IsRegular():
		return nil
	}
	return atomicfile.Probe(path)
}

// AppendFile appends the report to the file at path, as a step does with the one that GITHUB_STEP_SUMMARY names.
func (r *Counted) AppendFile(path, format string, o Options) error {
	var b bytes.Buffer
	if err := r.Write(&b, format, o); err != nil {
		return err
	}
	return appendFile(path, b.Bytes())
}

func fillFile(path string, fill func(io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return cmp.Or(fill(f), f.Close())
}
