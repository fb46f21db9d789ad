package cli

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/openagentprotocol-OAP/oap-gate/internal/crash"
	"github.com/openagentprotocol-OAP/oap-gate/internal/report"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// outputFlags say who is told the verdict, and how.
type outputFlags struct {
	format         string
	reports        []string
	color          string
	maxAnnotations int
	summaryOnly    bool // leave results that passed and that were skipped out of the json
	summary        bool // append the job summary
	outputs        bool // write the step's outputs

	rules  []verdict.Rule         // the catalogue that the command judges by; nil: the checks
	unmade func() *verdict.Report // the report of a run that could not be made, without the reason
}

func (o *outputFlags) bind(f *pflag.FlagSet) {
	f.StringVar(&o.format, "format", "", "what goes to stdout: text, json or github (default text; github in a "+
		"workflow)")
	f.StringArrayVar(&o.reports, "report", nil, "also write a report, `FORMAT=FILE` such as json=report.json, FILE - "+
		"being stdout; repeatable")
	f.StringVar(&o.color, "color", "auto", "auto, always or never")
	f.BoolVar(&o.summaryOnly, "summary-only", false, "leave results that passed and that were skipped out of the json")
	o.maxAnnotations = report.AnnotationLimit
}

// bindWorkflow defines the flags of what runs in workflows.
func (o *outputFlags) bindWorkflow(f *pflag.FlagSet) {
	f.IntVar(&o.maxAnnotations, "max-annotations", report.AnnotationLimit,
		"annotations of each severity in the github format, 0 to 9")
	f.BoolVar(&o.summary, "summary", false, "append the job summary to the file that GITHUB_STEP_SUMMARY names")
}

func (o *outputFlags) inputs() []input {
	return []input{{"max-annotations", number("max-annotations", &o.maxAnnotations)}, {"report", words(&o.reports)},
		{"summary", boolean("summary", &o.summary)}}
}

func (o *outputFlags) check() error {
	misplaced := o.placeReports()
	if err := oneOf("--format", o.format, "", "text", "json", "github"); err != nil {
		return err
	}
	if err := oneOf("--color", o.color, "auto", "always", "never"); err != nil {
		return err
	}
	for _, r := range o.reports {
		if format, _, ok := target(r); !ok {
			fix := "write FORMAT=FILE; the formats are " + strings.Join(report.Formats, ", ")
			if slices.Contains(report.Formats, format) {
				fix = "name the file too: --report " + format + "=FILE"
			}
			return usagef(fix, "--report %q is not FORMAT=FILE", r)
		}
	}
	if o.maxAnnotations < 0 || o.maxAnnotations > report.AnnotationLimit {
		return usagef("give a number from 0 to 9", "--max-annotations %d is out of range", o.maxAnnotations)
	}
	return misplaced
}

// target takes FORMAT=FILE apart, and reports whether it is that.
func target(flag string) (format, file string, ok bool) {
	format, file, _ = strings.Cut(flag, "=")
	return format, file, slices.Contains(report.Formats, format) && file != ""
}

// crash is deferred; it tells a panic, which is a bug, as a run that could not be made.
func (o *outputFlags) crash(sys IO, err *error) {
	if r := recover(); r != nil {
		*err = o.failed(sys, crashed(r))
	}
}

// tellVerdict tells the report that judge makes, where check refuses nothing, everywhere it was asked to, or why there
// is none. A run that could not be made still writes its reports.
func (o *outputFlags) tellVerdict(sys IO, check func() error, judge func() (*verdict.Report, error)) (err error) {
	defer o.crash(sys, &err)
	if err := check(); err != nil {
		return o.failed(sys, err)
	}
	rep, err := judge()
	if err != nil {
		return o.failed(sys, err)
	}
	return o.verdict(sys, rep)
}

// verdict tells a report, which is of no use afterwards, and gives its exit status.
func (o *outputFlags) verdict(sys IO, rep *verdict.Report) error {
	if err := errors.Join(o.tell(sys, rep), rep.Results.Close()); err != nil {
		return err
	}
	return ended(rep.Verdict.ExitStatus())
}

// tellUsage lets the reports tell that the command line itself is wrong.
func (o *outputFlags) tellUsage(c *cobra.Command, sys IO) {
	valid := c.Args
	c.Args = func(c *cobra.Command, args []string) error {
		if err := valid(c, args); err != nil {
			return o.failed(sys, err)
		}
		return nil
	}
	c.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		o.reports = nil // the parser stopped where it failed, perhaps before a report was named
		for i, arg := range sys.args {
			if r, ok := strings.CutPrefix(arg, "--report="); ok {
				o.reports = append(o.reports, r)
			} else if arg == "--report" && i+1 < len(sys.args) {
				o.reports = append(o.reports, sys.args[i+1])
			}
		}
		return o.failed(sys, flagError(c, err))
	})
}

// failed tells that there is no verdict, in the reports too.
func (o *outputFlags) failed(sys IO, cause error) error {
	_ = o.placeReports() // where the command line itself is wrong, nothing has looked at them yet
	message, fix := describe(cause)
	rep := o.unmade()
	rep.Verdict, rep.Error, rep.Remedy = verdict.Errored, message, fix
	counted := report.Count(rep)
	if err := o.write(sys, counted); err != nil {
		complain(sys, err)
	}
	if format := o.stdoutFormat(sys); format == "text" || !slices.Contains(report.Formats, format) {
		return cause
	}
	if err := counted.Write(sys.Stdout, o.stdoutFormat(sys), o.reportOptions(sys)); err != nil {
		return err
	}
	if o.stdoutFormat(sys) == "github" { // both streams are one log
		return status(verdict.Errored.ExitStatus())
	}
	return cause
}

// tell writes the report to every file that was named, and to stdout last: whoever reads that may have gone, which
// ends the program.
func (o *outputFlags) tell(sys IO, rep *verdict.Report) error {
	counted := report.Count(rep)
	written := o.write(sys, counted)
	return errors.Join(counted.Write(sys.Stdout, o.stdoutFormat(sys), o.reportOptions(sys)), written)
}

// write writes each report, the summary and the outputs, whichever of them fails.
func (o *outputFlags) write(sys IO, rep *report.Counted) error {
	opts := o.reportOptions(sys)
	opts.Color = false
	first := ""
	var errs []error
	var files []reportFile
	for _, r := range o.reports {
		format, path, ok := target(r)
		if !ok || path == toStdout {
			continue // the arguments are refused, which says so, or stdout gets it last
		}
		first = cmp.Or(first, path)
		files = append(files, reportFile{format, path})
	}
	for i, err := range writeFiles(files, rep, opts) {
		if err != nil {
			errs = append(errs, withFix(fmt.Errorf("writing report %s: %w", files[i].path, err), writable))
		}
	}
	return errors.Join(append(errs, o.writeStep(sys, rep, first))...)
}

// writeStep writes the job summary and the outputs of a workflow's step, as far as they are asked for. first is the
// path of the first report, empty without one.
func (o *outputFlags) writeStep(sys IO, rep *report.Counted, first string) error {
	opts := o.reportOptions(sys)
	opts.Color = false
	var errs []error
	note := func(doing string, err error) {
		if err != nil {
			errs = append(errs, withFix(fmt.Errorf("%s: %w", doing, err), writable))
		}
	}
	if path := sys.Getenv("GITHUB_STEP_SUMMARY"); o.summary && path != "" {
		note("writing the job summary", rep.AppendFile(path, "markdown", opts))
	}
	if path := sys.Getenv("GITHUB_OUTPUT"); o.outputs && path != "" {
		note("writing the step's outputs", report.AppendOutputs(path, report.Outputs(rep.Report, first)))
	}
	return errors.Join(errs...)
}

// reportFile is where a report of a format goes.
type reportFile struct{ format, path string }

// writeFiles writes reports side by side, and gives the error of each.
func writeFiles(files []reportFile, rep *report.Counted, opts report.Options) []error {
	errs := make([]error, len(files))
	var writing sync.WaitGroup
	var crashed crash.Carrier
	for i, f := range files {
		writing.Go(func() {
			defer crashed.Catch(nil)
			errs[i] = rep.WriteFile(f.path, f.format, opts)
		})
	}
	writing.Wait()
	crashed.Rethrow()
	return errs
}

func (o *outputFlags) stdoutFormat(sys IO) string {
	for _, r := range o.reports {
		if format, file, ok := target(r); ok && file == toStdout {
			return format
		}
	}
	switch {
	case o.format != "":
		return o.format
	case sys.Getenv("GITHUB_ACTIONS") == "true":
		return "github"
	}
	return "text"
}

func (o *outputFlags) reportOptions(sys IO) report.Options {
	plain := !sys.OutTerminal || sys.Getenv("NO_COLOR") != "" || sys.Getenv("TERM") == "dumb"
	rules := o.rules
	if rules == nil {
		rules = catalogue()
	}
	return report.Options{Color: o.color == "always" || o.color == "auto" && !plain,
		MaxAnnotations: min(max(o.maxAnnotations, 0), report.AnnotationLimit), SummaryOnly: o.summaryOnly, Rules: rules}
}

// toStdout is the file name by which a report goes to stdout, in place of what --format names.
const toStdout = "-"

// output is a file or a folder that a run writes, and the flag that names it.
type output struct{ flag, path string }

// placeReports drops each report that has no place, so that nothing is written there, a refusal neither, and gives
// the first one's reason. What lies in a data folder or in .git, is another report's file, or cannot be written has
// no place.
func (o *outputFlags) placeReports() error {
	var wrong error
	var kept []string
	var taken []output
	for _, r := range o.reports {
		_, path, ok := target(r)
		var err error
		switch {
		case !ok: // refused as such
		case path == toStdout && o.format != "":
			err = usagef("leave --format out", "--report %q and --format %s both go to stdout", r, o.format)
		case path == toStdout:
			if slices.Contains(taken, output{path: toStdout}) {
				err = usagef("name a file for one of them", "--report %q is the second report that goes to stdout", r)
			}
			taken = append(taken, output{path: toStdout})
		default:
			taken, err = claim(taken, output{"--report", path})
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

// place holds the files beside the reports, and the folders that are filled, to the same.
func (o *outputFlags) place(files, folders []output) error {
	var taken []output
	for _, r := range o.reports {
		if _, path, _ := target(r); path != toStdout {
			taken = append(taken, output{"--report", resolve(path)})
		}
	}
	for _, f := range files {
		var err error
		if f.path == "" {
			continue
		}
		if f.path == toStdout {
			return usagef("name a file", "%s %q: only a report goes to stdout", f.flag, f.path)
		}
		if taken, err = claim(taken, f); err != nil {
			return err
		}
	}
	for _, f := range folders {
		if f.path == "" {
			continue
		}
		if err := outside(f, resolve(f.path)); err != nil {
			return err
		}
	}
	return nil
}

// claim adds a file to those that are written, or refuses it.
func claim(taken []output, f output) ([]output, error) {
	path := resolve(f.path)
	if err := outside(f, path); err != nil {
		return taken, err
	}
	for _, t := range taken {
		if t.path == path || sameFile(t.path, path) {
			return taken, usagef("give each a file of its own", "%s %q is the file that %s names too", f.flag, f.path,
				t.flag)
		}
	}
	err := report.Writable(path)
	if info, unknown := os.Stat(path); f.flag != "--report" && unknown == nil && !info.Mode().IsRegular() {
		err = errors.New("it is not a regular file") // a report alone goes to a device or a pipe
	}
	if err != nil {
		return taken, usagef(writable, "%s %q cannot be written: %v", f.flag, f.path, err)
	}
	return append(taken, output{f.flag, path}), nil
}

// outside refuses a path in a data folder of a work tree or in a repository's own files, whichever clone that is.
func outside(f output, path string) error {
	for at := path; ; at = filepath.Dir(at) {
		root, name := filepath.Dir(at), filepath.Base(at)
		bare := at != path && there(at, "HEAD") && there(at, "objects") && there(at, "refs")
		if bare || strings.EqualFold(name, ".git") {
			return usagef("name a path outside of git's own files", "%s %q lies in %q, which is git's", f.flag, f.path,
				at)
		}
		for _, k := range registry.DataKinds {
			if strings.EqualFold(name, k.Folder()) && there(root, ".git") {
				return usagef("name a path outside of the data folders",
					"%s %q lies in %q, which holds the registry's records", f.flag, f.path, at)
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

func sameFile(a, b string) bool {
	one, err := os.Stat(a)
	if err != nil {
		return false
	}
	other, err := os.Stat(b)
	return err == nil && os.SameFile(one, other)
}

// resolve is a path without symbolic links, as far as it is there.
func resolve(path string) string {
	path, err := filepath.Abs(path)
	if err != nil {
		return path
	}
	for at, rest := path, ""; ; at, rest = filepath.Dir(at), filepath.Join(filepath.Base(at), rest) {
		if found, err := filepath.EvalSymlinks(at); err == nil {
			return filepath.Join(found, rest)
		}
		if at == filepath.Dir(at) {
			return path
		}
	}
}
