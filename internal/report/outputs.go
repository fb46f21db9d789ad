package report

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/atomicfile"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/crash"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// Output is one output of a step.
type Output struct{ Name, Value string }

// Outputs returns the outputs of the Action. Names of files are not among them: workflows put outputs into scripts.
// reportPath is the value of report, and may be empty.
func Outputs(r *verdict.Report, reportPath string) []Output {
	var failed []string
	for result := range r.Results.All() {
		if result.Verdict == verdict.Failed && !slices.Contains(failed, result.Check) {
			failed = append(failed, result.Check)
		}
	}
	return []Output{
		{"verdict", string(r.Verdict)},
		{"complete", strconv.FormatBool(isComplete(r))},
		{"failed-checks", strings.Join(failed, ",")},
		{"records", strconv.Itoa(r.Counts.Records)},
		{"governance", strconv.FormatBool(len(r.Governance) > 0)},
		{"kind", r.Kind},
		{"routine", strconv.FormatBool(r.Routine != nil && *r.Routine)},
		{"squash", strconv.FormatBool(r.Squash)},
		{"exception", strconv.FormatBool(r.Exception)},
		{"charter", strconv.FormatBool(r.Charter)},
		{"report", reportPath},
	}
}

// isComplete reports whether r is the verdict of a full live run.
func isComplete(r *verdict.Report) bool { return r.Verdict != verdict.Errored && len(r.Assumed) == 0 }

// AppendOutputs appends outputs to the file that GITHUB_OUTPUT names, all or none. Each value is between two lines of a
// delimiter that is random for each call, and a value that contains it is refused: a fixed delimiter, as in the Actions
// libraries, would let a value end its own text and set other outputs.
func AppendOutputs(path string, outputs []Output) error {
	var b bytes.Buffer
	if err := formatOutputs(&b, outputs, "oap_gate_"+rand.Text()); err != nil {
		return err
	}
	return appendFile(path, b.Bytes())
}

func formatOutputs(b *bytes.Buffer, outputs []Output, delimiter string) error {
	for _, o := range outputs {
		if strings.Contains(o.Value, delimiter) {
			return fmt.Errorf("writing output %s: value holds the delimiter %s", o.Name, delimiter)
		}
		fmt.Fprintf(b, "%s<<%s\n%s\n%[2]s\n", o.Name, delimiter, o.Value)
	}
	return nil
}

func appendFile(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("opening file to append to: %w", err)
	}
	_, err = f.Write(data)
	if err = cmp.Or(err, f.Close()); err != nil {
		return fmt.Errorf("appending to file: %w", err)
	}
	return nil
}

// WriteFile writes the report to the file at path, which is then whole: the old text or the new. See package
// atomicfile. An irregular file, such as /dev/stdout or a pipe, is written to as it is; a symbolic link is followed.
func (r *Counted) WriteFile(path, format string, o Options) error {
	return writeTo(path, readable, func(w io.Writer) error {
		_, err := io.WriteString(w, o.Mark(format))
		return cmp.Or(err, r.Write(w, format, o))
	})
}

// Mark returns the first line by which a file of a format names its writer, or "" if the format has another place.
func (o Options) Mark(format string) string {
	if known := o.format(format); known != nil {
		return known.Mark
	}
	return ""
}

// File is where a report of a format goes.
type File struct{ Format, Path string }

// WriteFiles writes reports side by side, and gives the error of each.
func (r *Counted) WriteFiles(files []File, o Options) []error {
	errs := make([]error, len(files))
	var writing sync.WaitGroup
	var crashed crash.Carrier
	for i, f := range files {
		writing.Go(func() {
			defer crashed.Catch(nil)
			errs[i] = r.WriteFile(f.Path, f.Format, o)
		})
	}
	writing.Wait()
	crashed.Rethrow()
	return errs
}

// Modes of a new file, less the umask.
const (
	readable fs.FileMode = 0o644
	private  fs.FileMode = 0o600
)

// writeTo writes a file, which has the mode if it is new, and keeps its own otherwise.
func writeTo(path string, mode fs.FileMode, fill func(io.Writer) error) error {
	if info, err := os.Lstat(path); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		path = Resolve(path)
	}
	info, err := os.Stat(path)
	if err != nil {
		return atomicfile.WriteFunc(path, mode, fill)
	}
	if !info.Mode().IsRegular() {
		return fillFile(path, fill)
	}
	if err = atomicfile.WriteFunc(path, info.Mode().Perm(), fill); err != nil {
		return err
	}
	return os.Chmod(path, info.Mode().Perm()) // what the umask took
}

// Resolve returns an absolute path without symbolic links, as far as it exists. A link to a file that does not exist
// yet is followed too.
func Resolve(path string) string { return resolve(path, 40) }

func resolve(path string, links int) string {
	path, _ = filepath.Abs(path)
	if found, err := filepath.EvalSymlinks(path); err == nil || links == 0 || path == filepath.Dir(path) {
		return cmp.Or(found, path)
	}
	directory := resolve(filepath.Dir(path), links)
	path = filepath.Join(directory, filepath.Base(path))
	target, err := os.Readlink(path)
	switch {
	case err != nil:
		return path
	case !filepath.IsAbs(target):
		target = filepath.Join(directory, target)
	}
	return resolve(target, links-1)
}

// Writable gives the reason why WriteFile could not write to path, nil where it could. It leaves nothing behind.
// A device is opened; any other irregular file is not tried, such as a pipe, which waits for a reader.
func Writable(path string) error {
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return errors.New("it is a directory")
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
