package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// verdictLine returns the verdict with what was examined, so that an empty run is visible: one neutral line.
func verdictLine(r *Counted) string {
	if r.Verdict == verdict.Errored {
		return "error: could not run: " + line(r.Error)
	}
	s := line(string(r.Verdict)) + ": "
	if slices.Contains(r.Assumed, verdict.Interrupted) {
		s += "interrupted before all was judged; "
	}
	if r.Declared && r.Verdict == verdict.Passed {
		s += onlyDeclared + "; "
	}
	return s + phrases(examined(r, line), outcomes(r.Report), mayPass(r.Report), attested(r.Counts.Manual),
		assumptions(r.Report), Trial(localHosts(r.Assumed)))
}

// phrases joins those phrases that are not empty.
func phrases(all ...string) string {
	return strings.Join(slices.DeleteFunc(all, func(phrase string) bool { return phrase == "" }), "; ")
}

// Trial says which hosts were read from directories, each given as HOST=DIR, and what a trial does not show. Without
// such a host it is empty.
func Trial(local []string) string {
	if len(local) == 0 {
		return ""
	}
	var read []string
	for _, l := range local {
		host, dir, _ := strings.Cut(l, "=")
		read = append(read, host+" was read from "+dir)
	}
	return "trial: " + line(strings.Join(read, ", ")) + "; TLS, redirects and registration date were not checked"
}

// LocalFlags returns the flags of a trial, each after a blank, for a command that is printed. A local host is given as
// HOST=DIR.
func LocalFlags(local []string) string {
	var b strings.Builder
	for _, l := range local {
		host, dir, _ := strings.Cut(l, "=")
		b.WriteString(" --local " + host + "=" + plain.ShellWord(dir))
	}
	return b.String()
}

// localHosts returns the values of --local among the flags that a run assumed.
func localHosts(assumed []string) []string {
	var local []string
	for _, a := range assumed {
		if value, ok := strings.CutPrefix(a, "--local "); ok {
			local = append(local, value)
		}
	}
	return local
}

// onlyDeclared keeps a pass from reading as if somebody had seen that it is true.
const onlyDeclared = "declared, not verified"

// levelOf returns the level that was asked for, or "".
func levelOf(r *verdict.Report) string {
	if r.Level == 0 {
		return ""
	}
	return strconv.Itoa(r.Level)
}

// mayPass says from which time on only time may remove what blocks; "" if it never does.
func mayPass(r *verdict.Report) string {
	if r.RetryAt.IsZero() {
		return ""
	}
	return "may pass from " + r.RetryAt.Format(time.RFC3339) + " on"
}

// attested says that nothing was decided of n requirements; "" for 0.
func attested(n int) string {
	if n == 0 {
		return ""
	}
	return plain.Count(n, "requirement") + " " + plain.Plural(n, "is", "are") + " for people to attest"
}

// examined says what was examined; tell makes foreign text safe for its format.
func examined(r *Counted, show func(string) string) string {
	ran := 0
	for _, n := range r.verdicts {
		for v := range n {
			if isDecided(verdict.Result{Verdict: v}) {
				ran++
				break
			}
		}
	}
	switch {
	case r.Installation != nil:
		return examinedInstallation(r.Installation, ran)
	case slices.Contains(noRegistry, r.Mode) && judgedNothing(r):
		return "nothing was judged"
	case slices.Contains(noRegistry, r.Mode):
		return plain.Count(ran, "check") + " on " + onSubjects(r, show)
	}
	obtained, sought := 0, 0
	for _, e := range r.Evidence {
		switch e.State {
		case evidence.Obtained.String():
			obtained++
			sought++
		case evidence.Unsought.String():
		default:
			sought++
		}
	}
	documents := plain.Count(obtained, "document")
	if obtained < sought {
		documents = fmt.Sprintf("%d of %s", obtained, plain.Count(sought, "document"))
	}
	s := fmt.Sprintf("checked %s, %s, %s fetched", records(r), plain.Count(ran, "check"), documents)
	if len(r.Omitted) > 0 { // which checks ran is not known
		s = fmt.Sprintf("checked %s, %s fetched", records(r), documents)
	}
	switch {
	case judgedNothing(r):
		s += "; nothing was judged"
	case r.Counts.Records == 0:
		s += "; no record was judged"
	}
	return s
}

// noRegistry are the modes that judge neither records of a registry nor the installation.
var noRegistry = []string{"governance", "conformance", "verify"}

// onSubjects names the subject of what was decided, or says how many there are.
func onSubjects(r *Counted, show func(string) string) string {
	of := r.subjects
	if of.count > 1 {
		of = r.decided
	}
	if of.count == 1 {
		return show(of.first)
	}
	return plain.Count(of.count, "subject")
}

func isDecided(r verdict.Result) bool {
	return r.Verdict != verdict.Skipped && r.Verdict != verdict.Manual
}

func examinedInstallation(i *verdict.Installation, rules int) string {
	s := fmt.Sprintf("checked the installation, %s, read %s, ", plain.Count(rules, "check"),
		plain.Count(len(i.Files), "file"))
	if i.Repository == "" {
		return s + "the forge was not asked"
	}
	return s + "asked the forge"
}

// unanswered asks whether the machine is online where each request of the run ended before anything answered it: no
// name was resolved, or no connection was made. It is empty where anything answered, if only that a host is not
// there, and where nothing was asked.
func unanswered(r *verdict.Report) string {
	asked, resolver := false, ""
	for _, e := range r.Evidence {
		if strings.HasPrefix(e.URL, string(evidence.Archive)+":") {
			continue // no request
		}
		if e.Status != 0 || e.Address != "" {
			return ""
		}
		switch e.Code {
		case evidence.CodeResolver:
			asked, resolver = true, ", the resolver included"
		case evidence.CodeConnect, evidence.CodeTimeout:
			asked = true
		case evidence.CodeBudget: // perhaps never sent
		default:
			return ""
		}
	}
	if !asked {
		return ""
	}
	return "no request was answered" + resolver + ": is this machine online?"
}

// judgedNothing reports whether the run had no change to judge: what it says about the base tree is not a verdict.
func judgedNothing(r *Counted) bool {
	if r.Results.Len() == 0 && len(r.Omitted) == 0 {
		return true
	}
	return r.Mode == "check" && r.Verdict == verdict.Passed && r.Counts.Records == 0 && len(r.Governance) == 0 &&
		!r.Squash
}

// records names the kinds of the records where the results tell them all.
func records(r *Counted) string {
	total := 0
	for _, n := range r.subjects.kinds {
		total += n
	}
	if total == 0 || total != r.Counts.Records {
		return plain.Count(r.Counts.Records, "record")
	}
	var parts []string
	for i, n := range r.subjects.kinds {
		if n > 0 {
			parts = append(parts, plain.Count(n, kinds[i].name))
		}
	}
	return strings.Join(parts, " and ")
}

func outcomes(r *verdict.Report) string {
	var parts []string
	for _, part := range []struct {
		n    int
		word string
	}{{r.Counts.Fail, "failed"}, {r.Counts.Inconclusive, "inconclusive"}, {r.Counts.Warn, "warned"}} {
		if part.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", part.n, part.word))
		}
	}
	return strings.Join(parts, ", ")
}

// assumptions says what the verdict does not rest on.
func assumptions(r *verdict.Report) string {
	notRun, assumed := "", ""
	if n := len(r.NotRun); n > 0 {
		notRun = plain.Count(n, "check") + " not run"
		if slices.Contains(r.Assumed, "--offline") {
			notRun = "offline: " + notRun
		}
	}
	flags := slices.DeleteFunc(slices.Clone(r.Assumed), func(a string) bool { return a == verdict.Interrupted })
	if len(flags) > 0 {
		assumed = "assumed: " + line(strings.Join(flags, ", "))
	}
	return phrases(notRun, assumed)
}
