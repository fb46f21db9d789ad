package clitest

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/cli/programs"
	"github.com/openagentprotocol-OAP/oap-gate/internal/frame"
	"github.com/openagentprotocol-OAP/oap-gate/internal/report"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
)

// toldCodes find the code of a finding in a report as text and as JSON. One for both would begin with no text that is
// searched for at once.
var toldCodes = []func() *regexp.Regexp{
	plain.Pattern(`(?m): (?:error|inconclusive|warning|notice): .* \[([\w-]+)\]\r?$`),
	plain.Pattern(`"code": *"([^"]+)"`),
}

// Unexplained names the file in which the programs of a script note their faults.
const Unexplained = "UNEXPLAINED_CODES"

// Codes returns the codes of all programs that explain knows.
var Codes = sync.OnceValue(func() (all []strict.Code) {
	for _, p := range programs.All {
		all = slices.Concat(all, report.Codes, report.OutputCodes)
		for _, more := range p.Codes {
			all = append(all, more.Codes...)
		}
		for _, s := range p.Subjects {
			for _, rule := range s.Rules {
				all = append(all, rule.Codes...)
			}
		}
	}
	return all
})

// Noted runs a program as Main does. It notes each code that stdout or a JSON report has and explain does not know,
// JSON that its schema refuses, and a last line that begins with pass or accepted if the exit status is not 0. It does
// not read the codes of merge and comment, which pass on what a stranger's report says.
func Noted(args []string, sys frame.IO) int {
	var out bytes.Buffer
	sys.Stdout = io.MultiWriter(sys.Stdout, &out)
	code := Main(args, sys)
	end := lastLine(out.String())
	if code != 0 && (strings.HasPrefix(end, "accepted") || strings.HasPrefix(end, "pass")) {
		noteOf(sys, "oap-gate %.300q ended with %d and the last line %q\n", args, code, end)
	}
	valid := func(text string) {
		if err := Invalid(text); err != nil {
			noteOf(sys, "oap-gate %.300q wrote JSON that is not valid: %v\n", args, err)
		}
	}
	valid(out.String())
	for i, arg := range args {
		name, is := strings.CutPrefix(arg, "--report=json=")
		if !is && i > 0 && args[i-1] == "--report" {
			name, is = strings.CutPrefix(arg, "json=")
		}
		if is {
			text, _ := os.ReadFile(name) // a refused run writes no file
			valid(string(text))
			out.Write(text)
		}
	}
	if slices.Contains(args, "merge") || slices.Contains(args, "comment") {
		return code
	}
	var odd []string
	for _, pattern := range toldCodes {
		for _, m := range pattern().FindAllStringSubmatch(out.String(), -1) {
			known := func(c strict.Code) bool { return c.ID == m[1] }
			if !slices.ContainsFunc(Codes(), known) && !slices.Contains(odd, m[1]) {
				odd = append(odd, m[1])
			}
		}
	}
	if len(odd) > 0 {
		noteOf(sys, "oap-gate %.300q printed the codes %q\n", args, odd)
	}
	return code
}

// noteOf writes into the file that the test of the script reads. A test of another kind panics.
func noteOf(sys frame.IO, format string, args ...any) {
	f, err := os.OpenFile(sys.Getenv(Unexplained), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		panic(fmt.Sprintf(format, args...))
	}
	fmt.Fprintf(f, format, args...)
	if err := f.Close(); err != nil {
		panic(err)
	}
}

// lastLine returns the last line that is not empty.
func lastLine(text string) string {
	text = strings.TrimRight(text, "\n")
	return text[strings.LastIndexByte(text, '\n')+1:]
}
