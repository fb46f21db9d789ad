package report

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// Output is one output of a step.
type Output struct{ Name, Value string }

// Outputs are the outputs of the Action. Names of files are not among them: workflows put outputs into
// scripts. reportPath is the value of report, and may be empty.
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
		{"squash", strconv.FormatBool(r.Squash)},
		{"exception", strconv.FormatBool(r.Exception)},
		{"charter", strconv.FormatBool(r.Charter)},
		{"report", reportPath},
	}
}

// isComplete reports whether r is the verdict of a full live run.
func isComplete(r *verdict.Report) bool { return r.Verdict != verdict.Errored && len(r.Assumed) == 0 }

// AppendOutputs appends outputs to the file that GITHUB_OUTPUT names, all or none. Each stands between two
// lines of a delimiter that is drawn anew for each call, and a value that holds it is refused: a fixed one,
// as the Actions libraries have it, lets a value end its own text and set other outputs.
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
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return fmt.Errorf("appending to file: %w", err)
	}
	return nil
}
