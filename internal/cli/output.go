package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/openagentprotocol-OAP/oap-gate/internal/crash"
	"github.com/openagentprotocol-OAP/oap-gate/internal/report"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
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
	note := func(doing string, err error) {
		if err != nil {
			errs = append(errs, withFix(fmt.Errorf("%s: %w", doing, err), writable))
		}
	}
	var files []reportFile
	for _, r := range o.reports {
		format, path, ok := target(r)
		if !ok || path == toStdout {
			continue // the arguments are refused, which says so, or stdout gets it last
		}
		if first == "" {
			first = path
		}
		files = append(files, reportFile{format, path})
	}
	for i, err := range writeFiles(files, rep, opts) {
		note("writing report "+files[i].path, err)
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
