package frame

import (
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/foreign"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/signing"
	"github.com/openagentprotocol-OAP/oap-gate/internal/report"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// IO is what the program knows of its surroundings.
type IO struct {
	Stdin          io.Reader // nil: empty
	Stdout, Stderr io.Writer
	Getenv         func(string) string
	OutWidth       int // columns of the terminal that stdout is; 0: it is not a terminal
	ErrWidth       int // columns of the terminal that stderr is; 0: it is not a terminal

	program   string                       // its name
	formats   []report.Format              // of its reports; nil: all of package report
	elsewhere func(format string) []string // the other programs that have a format; nil: none

	args []string // of Main
	// inputs are the Action's inputs by the flags that they set; nil: the arguments are the caller's own.
	inputs  map[string]string
	refused error // what is wrong with the inputs; the command reports it
}

// inAction reports whether the arguments were made of the Action's inputs.
func (sys IO) inAction() bool { return sys.inputs != nil }

// As returns sys for the program of that name, which writes these formats of reports. elsewhere returns the other
// programs that have a format.
func (sys IO) As(program string, formats []report.Format, elsewhere func(format string) []string) IO {
	sys.program, sys.formats, sys.elsewhere = program, formats, elsewhere
	return sys
}

// Given returns sys with the arguments of a run, and what the Action's inputs gave: the inputs by the flags that they
// set, and what is wrong with them.
func (sys IO) Given(args []string, inputs map[string]string, refused error) IO {
	sys.args, sys.inputs, sys.refused = args, inputs, refused
	return sys
}

// KeyFix adds a fix to the error of reading a key from a file, or from the standard input. If the key is encrypted, the
// fix is the command that was called, with the decrypted key on its standard input.
func (sys IO) KeyFix(file string, err error) error {
	if !errors.Is(err, signing.ErrEncrypted) {
		return remedy.With(err, "name the file of a key that can be read")
	}
	var words strings.Builder
	for _, w := range sys.args {
		if w == file || strings.HasSuffix(w, "="+file) {
			w = strings.TrimSuffix(w, file) + signing.Stdin
		}
		name := strings.TrimLeft(w, "-")
		words.WriteString(" " + w[:len(w)-len(name)])
		if name != "" {
			words.WriteString(plain.ShellWord(name))
		}
	}
	if file == signing.Stdin {
		file = "FILE"
	}
	return remedy.Errorf("openssl pkey -in "+plain.ShellWord(file)+" | "+sys.program+words.String(), "%w", err)
}

// Run runs the program and returns its exit status: 0 pass, 1 fail, 2 could not run, 3 inconclusive. It prints an error
// that was not printed yet, also that of a panic.
func Run(sys IO, program func() error) (code int) {
	defer func() {
		if r := recover(); r != nil {
			Complain(sys, sys.crashed(r))
			code = verdict.Errored.ExitStatus()
		}
	}()
	err := program()
	if err == nil {
		return verdict.Passed.ExitStatus()
	}
	end, judged := errors.AsType[*judgement](err)
	if !judged || end.why != nil {
		Complain(sys, err)
	}
	if judged {
		return end.verdict.ExitStatus()
	}
	return verdict.Errored.ExitStatus()
}

// judgement is a verdict as an error: the program ends with its exit status.
type judgement struct {
	why     error // nil: the verdict was already printed
	verdict verdict.Verdict
}

func (j *judgement) Unwrap() error { return j.why }

func (j *judgement) Error() string {
	if j.why == nil {
		return "the verdict is " + string(j.verdict)
	}
	return j.why.Error()
}

// Judged returns err as a verdict: the program ends with its exit status, and no report is written. Without err the
// program prints nothing more, and a verdict that passes is not an error.
func Judged(err error, v verdict.Verdict) error {
	if err == nil && v == verdict.Passed {
		return nil
	}
	return &judgement{err, v}
}

// crashed returns the error for a bug, in one line: nothing fixes it here.
func (sys IO) crashed(value any) error {
	return remedy.Errorf("", "%s %s crashed, which is a bug: %v", sys.program, Version().Version, value)
}

// Complain prints an error on stderr.
func Complain(sys IO, err error) {
	message, fix := describe(err)
	fmt.Fprintf(sys.Stderr, "error: %s\n", foreign.Line(message))
	if fix != "" {
		fmt.Fprintf(sys.Stderr, "fix: %s\n", foreign.Line(fix))
	}
}

// Warn prints a warning on stderr.
func Warn(sys IO, format string, args ...any) {
	fmt.Fprintf(sys.Stderr, "warning: %s\n", foreign.Line(fmt.Sprintf(format, args...)))
}

// release is the version of a released binary, set by -ldflags "-X …/internal/frame.release=v1.2.3".
var release string

// revision is the commit of a released binary, set in the same way if the build has no VCS stamp.
var revision string

// Version returns the build's version.
func Version() verdict.Tool {
	t := verdict.Tool{Version: "devel", Commit: "unknown"}
	if release != "" {
		t.Version = release
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		if release == "" && info.Main.Version != "" && info.Main.Version != "(devel)" {
			t.Version = info.Main.Version
		}
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				t.Commit = s.Value
			}
		}
	}
	if revision != "" {
		t.Commit = revision
	}
	return t
}
