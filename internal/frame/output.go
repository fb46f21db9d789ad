package frame

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/typed"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/usergit"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence/bundle"
	"github.com/openagentprotocol-OAP/oap-gate/internal/report"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// Output says where the verdict goes, and in which form.
type Output struct {
	format         string
	reports        []string
	color          string
	maxAnnotations int
	summaryOnly    bool // leave results that passed and that were skipped out of the json
	summary        bool // append the job summary

	sys     IO
	flags   *pflag.FlagSet
	command string
	rules   []verdict.Rule // the catalogue that the command judges by
	unmade  func(message, fix string) *verdict.Report
	// own gives what the command itself writes in a format, to stdout or into a file; nil: it writes none itself.
	own func(format string, stdout bool) (text []byte, ok bool)

	statement statement
}

// Bind defines the flags of c, after judges; workflow says that it runs in workflows.
func (o *Output) Bind(c *cobra.Command, sys IO, workflow bool) {
	f := c.Flags()
	o.sys, o.flags, o.command, o.maxAnnotations = sys, f, c.Name(), report.AnnotationLimit
	if workflow {
		f.IntVar(&o.maxAnnotations, "max-annotations", report.AnnotationLimit,
			"`N` annotations of each severity in the github format, 0 to 9")
		f.BoolVar(&o.summary, "summary", false, "append the job summary to the file that GITHUB_STEP_SUMMARY names")
	}
	f.StringVar(&o.format, "format", "",
		"`FORMAT` of stdout: text, json or github (default text; github in a workflow)")
	f.StringArrayVar(&o.reports, "report", nil, "also write a report, as `FORMAT=FILE`: json=report.json; - is stdout "+
		"(repeatable)")
	f.StringVar(&o.color, "color", "auto", "color in text, `WHEN`: auto, always or never")
	f.BoolVar(&o.summaryOnly, "summary-only", false, "omit passed and skipped results from the JSON report")
	if o.unmade != nil {
		o.reportUsage(c)
	}
}

// Judges sets the catalogue by which a command judges, and what makes the report of a run that could not be made; nil:
// such a run writes no report. own gives what the command itself writes in a format, to stdout or into a file; nil: it
// writes none itself.
func (o *Output) Judges(rules []verdict.Rule, unmade func(message, fix string) *verdict.Report,
	own func(format string, stdout bool) (text []byte, ok bool)) {
	o.rules, o.unmade, o.own = rules, unmade, own
}

// check refuses what no report could be written by.
func (o *Output) check() error {
	misplaced := o.placeReports()
	if err := o.withdraw(); err != nil { // before anything is read
		return err
	}
	if err := typed.OneOf("--format", o.format, "", "text", "json", "github"); err != nil {
		return err
	}
	if err := typed.OneOf("--color", o.color, "auto", "always", "never"); err != nil {
		return err
	}
	for _, r := range o.reports {
		if format, _, ok := o.target(r); !ok {
			return o.notWritten(r, format)
		}
	}
	if o.maxAnnotations < 0 || o.maxAnnotations > report.AnnotationLimit {
		return remedy.Errorf("give a number from 0 to 9", "--max-annotations %d is out of range", o.maxAnnotations)
	}
	if misplaced != nil {
		return misplaced
	}
	return o.checkStatement()
}

// notWritten returns the error of a value of --report that the command does not write.
func (o *Output) notWritten(value, format string) error {
	formats := o.formats()
	if o.statement.rules != nil {
		formats = append(formats, report.StatementFormat)
	}
	fix := "write FORMAT=FILE; the formats are " + strings.Join(formats, ", ")
	if slices.Contains(formats, format) {
		return remedy.Errorf("name the file too: --report "+format+"=FILE", "--report %q is not FORMAT=FILE", value)
	}
	if o.sys.elsewhere != nil {
		if programs := o.sys.elsewhere(format); len(programs) > 0 {
			return remedy.Errorf("use "+strings.Join(programs, " or ")+"; the formats here are "+
				strings.Join(formats, ", "), "--report %q: %s does not write the format %s", value, o.sys.program,
				format)
		}
	}
	if slices.Contains(report.Names(o.sys.formats), format) {
		return remedy.Errorf(fix, "--report %q: %s does not write the format %s", value, o.command, format)
	}
	return remedy.Errorf(fix, "--report %q is not FORMAT=FILE", value)
}

// formats returns the names of the formats that the command writes.
func (o *Output) formats() []string {
	if o.sys.formats == nil {
		return report.NamesOf(o.command, report.Formats)
	}
	return report.NamesOf(o.command, o.sys.formats)
}

// target splits FORMAT=FILE, and reports whether the flag has that form and the command writes that format.
func (o *Output) target(flag string) (format, file string, ok bool) {
	format, file, _ = strings.Cut(flag, "=")
	known := slices.Contains(o.formats(), format) || format == report.StatementFormat && o.statement.rules != nil
	return format, file, known && file != ""
}

// Tell writes the report of judge everywhere it was asked to, or why there is no report: a run that could not be made
// still writes its reports; one that ends with an error that is a verdict does not. A nil report was written already.
// The error is the exit status.
func (o *Output) Tell(judge func() (*verdict.Report, error)) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = o.failed(o.sys.crashed(r))
		}
		if err != nil { // the exit status is not 0
			if left := o.withdraw(); left != nil {
				Complain(o.sys, left)
			}
		}
		if o.statement.private != nil {
			o.statement.private.Wipe()
		}
	}()
	if err := cmp.Or(o.sys.refused, o.check()); err != nil {
		return o.failed(err)
	}
	rep, err := judge()
	if _, ok := errors.AsType[*judgement](err); ok {
		return err
	}
	switch {
	case err != nil:
		return o.failed(err)
	case rep == nil:
		return nil
	}
	counted := report.Count(rep)
	err = o.Write(counted)
	if err == nil || o.own == nil {
		// Last, because the reader of stdout may have gone, which ends the program.
		err = errors.Join(o.print(counted), err)
	}
	if err := errors.Join(err, rep.Results.Close()); err != nil {
		return err
	}
	return Judged(nil, rep.Verdict)
}

// reportUsage makes a wrong command line an error of the reports, too.
func (o *Output) reportUsage(c *cobra.Command) {
	valid := c.Args
	c.Args = func(c *cobra.Command, args []string) error {
		if err := valid(c, args); err != nil {
			return o.failed(cmp.Or(o.sys.refused, err))
		}
		return nil
	}
	c.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		o.reports = nil // the parser stopped where it failed, perhaps before a report was named
		for i, arg := range o.sys.args {
			if r, ok := strings.CutPrefix(arg, "--report="); ok {
				o.reports = append(o.reports, r)
			} else if arg == "--report" && i+1 < len(o.sys.args) {
				o.reports = append(o.reports, o.sys.args[i+1])
			}
		}
		return o.failed(cmp.Or(o.sys.refused, o.sys.FlagError(c, err)))
	})
}

// failed reports that there is no verdict, in the reports too.
func (o *Output) failed(cause error) error {
	if o.unmade == nil {
		return cause
	}
	_ = o.placeReports() // where the command line itself is wrong, nothing has looked at them yet
	message, fix := describe(cause)
	rep := o.unmade(message, fix)
	rep.Verdict, rep.Error, rep.Remedy = verdict.Errored, message, fix
	counted := report.Count(rep)
	if err := o.Write(counted); err != nil {
		Complain(o.sys, err)
	}
	format := o.stdoutFormat()
	if format == "text" || !slices.Contains(o.formats(), format) {
		return cause
	}
	if err := o.print(counted); err != nil {
		return err
	}
	if format == "github" { // both streams are one log
		return Judged(nil, verdict.Errored)
	}
	return cause
}

// print writes the report to stdout.
func (o *Output) print(rep *report.Counted) error {
	format := o.stdoutFormat()
	if o.own != nil {
		if text, ok := o.own(format, true); ok {
			_, err := o.sys.Stdout.Write(text)
			return err
		}
	}
	opts := o.Options()
	opts.Columns = o.sys.OutWidth
	return rep.Write(o.sys.Stdout, format, opts)
}

// Write writes each report, the summary and the outputs, whichever of them fails, and last the statement. A nil report
// is of a run that came to no verdict: it leaves no statement of an earlier one.
func (o *Output) Write(rep *report.Counted) error {
	if rep == nil {
		return o.withdraw()
	}
	opts := o.Options()
	opts.Color = false
	first := ""
	var errs []error
	note := func(doing string, err error) {
		if err != nil {
			errs = append(errs, typed.Unwritten(fmt.Errorf("%s: %w", doing, err)))
		}
	}
	var files []report.File
	for _, r := range o.reports {
		format, path, ok := o.target(r)
		if !ok || path == toStdout || format == report.StatementFormat {
			continue // the arguments are refused, which says so, or it is written last
		}
		first = cmp.Or(first, path)
		if o.own != nil {
			if text, ok := o.own(format, false); ok {
				text = append([]byte(o.Options().Mark(format)), text...)
				errs = append(errs, report.Save("report "+path, path, o.Options().FormerOf(format), text))
				continue
			}
		}
		if err := report.Free("report "+path, path, o.Options().FormerOf(format)); err != nil {
			errs = append(errs, err)
			continue
		}
		files = append(files, report.File{Format: format, Path: path})
	}
	for i, err := range rep.WriteFiles(files, opts) {
		note("writing report "+files[i].Path, err)
	}
	if path := o.sys.Getenv("GITHUB_STEP_SUMMARY"); o.summary && path != "" {
		note("writing the job summary", rep.AppendFile(path, "markdown", opts))
	}
	if path := o.sys.Getenv("GITHUB_OUTPUT"); o.sys.inAction() && path != "" {
		note("writing the step's outputs", report.AppendOutputs(path, report.Outputs(rep.Report, first)))
	}
	if err := o.state(rep.Report, len(errs) == 0); err != nil {
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// Formats returns the formats of stdout and of the requested files, including the job summary's.
func (o *Output) Formats() (stdout string, files []string) {
	for _, r := range o.reports {
		if format, file, ok := o.target(r); ok && file != toStdout {
			files = append(files, format)
		}
	}
	if o.summary {
		files = append(files, "markdown")
	}
	return o.stdoutFormat(), files
}

func (o *Output) stdoutFormat() string {
	for _, r := range o.reports {
		if format, file, ok := o.target(r); ok && file == toStdout {
			return format
		}
	}
	switch {
	case o.format != "":
		return o.format
	case o.sys.Getenv("GITHUB_ACTIONS") == "true":
		return "github"
	}
	return "text"
}

func (o *Output) Options() report.Options {
	plain := o.sys.OutWidth == 0 || o.sys.Getenv("NO_COLOR") != "" || o.sys.Getenv("TERM") == "dumb"
	return report.Options{Color: o.color == "always" || o.color == "auto" && !plain,
		MaxAnnotations: min(max(o.maxAnnotations, 0), report.AnnotationLimit), SummaryOnly: o.summaryOnly,
		Rules: o.rules, Formats: o.sys.formats}
}

// toStdout is the file name by which a report goes to stdout instead of the format of --format.
const toStdout = "-"

// placeReports drops each report that has no place, so that nothing is written there, a refusal neither, and gives
// the first one's reason. What is in a data directory or in .git, is another report's file, or cannot be written has
// no place.
func (o *Output) placeReports() error {
	if o.sys.inAction() {
		if err := o.outOfWorkspace(); err != nil {
			o.reports = nil // the refusal is not written there either
			return err
		}
	}
	var wrong error
	var kept []string
	var taken []report.Target
	for _, r := range o.reports {
		format, path, ok := o.target(r)
		var err error
		switch {
		case !ok: // refused as such
		case format == report.StatementFormat && path == toStdout:
			err = remedy.Errorf("name a file", "--report %q: a statement does not go to stdout", r)
		case path == toStdout && o.format != "":
			err = remedy.Errorf("leave --format out", "--report %q and --format %s both go to stdout", r, o.format)
		case path == toStdout:
			if slices.ContainsFunc(taken, func(f report.Target) bool { return f.Path == toStdout }) {
				err = remedy.Errorf("name a file for one of them",
					"--report %q is the second report that goes to stdout", r)
			}
			taken = append(taken, report.Target{Path: toStdout})
		default:
			taken, err = o.claim(taken, report.Target{Flag: "--report", Path: path,
				Former: o.Options().FormerOf(format)})
			if err == nil && format == report.StatementFormat {
				err = placeStatement(r, path)
			}
		}
		if err == nil {
			kept = append(kept, r)
		} else if wrong == nil {
			wrong = err
		}
	}
	o.reports = kept
	return wrong
}

// Place applies the same rules to files other than reports, and to directories that are filled: those of n, unless it
// is nil, and more; a directory is a flag and its path.
func (o *Output) Place(n *Network, files []report.Target, directories [][2]string) error {
	if n != nil {
		files = append(files, report.Target{Flag: "--record", Path: n.Record, Former: bundle.Former})
		directories = append(directories, [2]string{"--cache", n.cache})
	}
	var taken []report.Target
	for _, r := range o.reports {
		if _, path, _ := o.target(r); path != toStdout {
			taken = append(taken, report.Target{Flag: "--report", Path: report.Resolve(path)})
		}
	}
	for _, f := range files {
		var err error
		if f.Path == "" {
			continue
		}
		if f.Path == toStdout {
			return remedy.Errorf("name a file", "%s %q: only a report goes to stdout", f.Flag, f.Path)
		}
		if taken, err = o.claim(taken, f); err != nil {
			o.reports = slices.DeleteFunc(o.reports, func(r string) bool { // the refusal is not written there either
				_, path, _ := o.target(r)
				return report.Resolve(path) == report.Resolve(f.Path) || usergit.SameFile(path, f.Path)
			})
			return err
		}
	}
	for _, directory := range directories {
		f := report.Target{Flag: directory[0], Path: directory[1]}
		if err := outside(f, report.Resolve(f.Path)); f.Path != "" && err != nil {
			return err
		}
	}
	return nil
}

// claim adds a file to those that are written, or refuses it.
func (o *Output) claim(taken []report.Target, f report.Target) ([]report.Target, error) {
	path := report.Resolve(f.Path)
	if err := outside(f, path); err != nil {
		return taken, err
	}
	for _, t := range taken {
		if t.Path == path || usergit.SameFile(t.Path, path) {
			return taken, remedy.Errorf("give each a file of its own", "%s %q names a file that %s names too", f.Flag,
				f.Path, t.Flag)
		}
	}
	named := o.inputs(path)
	info, unknown := os.Stat(path)
	regular := unknown != nil || info.Mode().IsRegular()
	if regular && (named > 1 || named == 1 && f.Flag == "--report") {
		return taken, remedy.Errorf("give it a file of its own", "%s %q is an input of the run, too", f.Flag, f.Path)
	}
	if err := report.Writable(path); err != nil {
		return taken, remedy.Errorf(typed.Writable, "%s %q cannot be written: %v", f.Flag, f.Path, err)
	}
	if err := report.Free(fmt.Sprintf("%s %q", f.Flag, f.Path), f.Path, f.Former); err != nil {
		return taken, err
	}
	return append(taken, report.Target{Flag: f.Flag, Path: path}), nil
}

// outside refuses a path in a data directory of a work tree or in a repository's own files, whichever clone that is.
func outside(f report.Target, path string) error {
	for at := path; ; at = filepath.Dir(at) {
		root, name := filepath.Dir(at), filepath.Base(at)
		bare := at != path && there(at, "HEAD") && there(at, "objects") && there(at, "refs")
		if bare || strings.EqualFold(name, ".git") {
			return remedy.Errorf("name a path outside of git's own files", "%s %q lies in %q, which is git's", f.Flag,
				f.Path, at)
		}
		for _, k := range registry.DataKinds {
			if strings.EqualFold(name, k.Directory()) && there(root, ".git") {
				return remedy.Errorf("name a path outside of the data directories",
					"%s %q lies in %q, which holds the registry's records", f.Flag, f.Path, at)
			}
		}
		if root == at {
			return nil
		}
	}
}

func there(dir, name string) bool {
	_, err := os.Lstat(filepath.Join(dir, name))
	return err == nil
}

// inputs counts the arguments, other than reports, that name a file. A bare word counts after a flag that takes a FILE:
// elsewhere it may be a slug or a format.
func (o *Output) inputs(file string) (n int) {
	flag := ""
	for _, arg := range o.sys.args {
		if strings.HasPrefix(arg, "--") {
			flag, _, _ = strings.Cut(arg[2:], "=")
		}
		_, _, isReport := o.target(strings.TrimPrefix(arg, "--report="))
		f := o.flags.Lookup(flag)
		counts := f != nil && strings.Contains(f.Usage, "`FILE`") || strings.ContainsAny(arg, `./\`)
		for value, more := arg, counts && !isReport; more; _, value, more = strings.Cut(value, "=") {
			if usergit.SameFile(value, file) {
				n++
			}
		}
	}
	return n
}

// outOfWorkspace refuses a report of the Action on stdout, and one whose file, or a directory on the way there, is a
// symbolic link in the workspace: the pull request may have put it there, to /dev/stdout for one, where the runner
// reads commands.
func (o *Output) outOfWorkspace() error {
	workspace, err := filepath.Abs(o.sys.Getenv("GITHUB_WORKSPACE"))
	if err != nil {
		return err
	}
	for _, r := range o.reports {
		_, file, _ := o.target(r)
		if file == toStdout {
			return remedy.Errorf("name a file", "input report names stdout, where the runner reads commands")
		}
		path, err := filepath.Abs(file)
		if err != nil {
			return err
		}
		inside, err := filepath.Rel(workspace, path)
		if err != nil || !filepath.IsLocal(inside) {
			continue
		}
		at := workspace
		for _, step := range strings.Split(inside, string(filepath.Separator)) {
			at = filepath.Join(at, step)
			if info, err := os.Lstat(at); err == nil && info.Mode()&os.ModeSymlink != 0 {
				return remedy.Errorf("give the report another name", "input report names %q, and %q is a symbolic link",
					file, at)
			}
		}
	}
	return nil
}
