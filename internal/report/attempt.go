package report

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// An Attempt is what the metrics of a mirror say about one run, whatever its end.
type Attempt struct {
	At         time.Time
	Took       time.Duration
	ExitStatus int
	Codes      []string // codes of the errors that it ended with
	// Fresh is the last time at which the verified tip was the one that the origin served; zero: never.
	Fresh        time.Time
	Verified     int       // first-parent commits of the verified tip; 0: none
	VerifiedTime time.Time // committer date of the verified tip
	Served       int       // first-parent commits of the tip that the origin served; 0: not known
	Rewrites     int       // that the mirror ever saw
	Repaired     int       // repairs that the mirror ever made
	Disk         int64     // bytes of the mirror's directory
	Watch        []string  // slugs of listings that have a series also after their end
	Before       []byte    // metrics of the attempt before
}

const errorsTotal = "oap_gate_mirror_errors_total"

// attempt writes what only a mirror has.
func (m metrics) attempt(a *Attempt, r *Counted) {
	m.family("oap_gate_build_info", "Always 1. Its labels say which build wrote this.")
	m.sample("oap_gate_build_info", 1, "version", r.Tool.Version, "commit", r.Tool.Commit)
	value := func(name, help string, value int) { m.value("oap_gate_mirror_"+name, help, value) }
	value("last_attempt_timestamp_seconds", "Time of the last run, whatever its end.", int(a.At.Unix()))
	value("last_exit_status", "Exit status of the last run: 0 pass, 1 fail, 2 could not run, 3 inconclusive.",
		a.ExitStatus)
	m.family("oap_gate_mirror_last_duration_seconds", "Duration of the last run.")
	m.b.WriteString(m.series("oap_gate_mirror_last_duration_seconds") + " " +
		strconv.FormatFloat(a.Took.Seconds(), 'f', 3, 64) + "\n")
	if !a.Fresh.IsZero() {
		value("fresh_timestamp_seconds", "Last time at which the verified tip was the one that the origin served.",
			int(a.Fresh.Unix()))
	}
	if a.Verified > 0 {
		value("verified_commits", "First-parent commits of the verified tip.", a.Verified)
		value("verified_timestamp_seconds", "Committer date of the verified tip.", int(a.VerifiedTime.Unix()))
	}
	if a.Served > 0 {
		value("served_commits", "First-parent commits of the tip that the origin served last.", a.Served)
	} else {
		m.carry(a.Before, func(name string) bool { return name == "oap_gate_mirror_served_commits" })
	}
	m.head(errorsTotal, "counter", "Runs that found an error, by its code.")
	counts := m.countsOf(a.Before)
	for _, code := range slices.Compact(slices.Sorted(slices.Values(a.Codes))) {
		counts[code]++
	}
	for _, code := range slices.Sorted(maps.Keys(counts)) {
		m.sample(errorsTotal, counts[code], "code", code)
	}
	total := func(name, help string, value int) {
		m.head("oap_gate_mirror_"+name, "counter", help)
		m.sample("oap_gate_mirror_"+name, value)
	}
	total("rewrites_total", "Rewrites of the origin's history that the mirror saw.", a.Rewrites)
	total("repaired_total", "Repairs of the mirror's own clone.", a.Repaired)
	value("disk_bytes", "Size of the mirror's directory.", int(a.Disk))
}

// errorsRow matches the label and the value of a sample of errorsTotal.
var errorsRow = plain.Pattern(`code="([a-z0-9-]+)"\} ([0-9]{1,15})$`)

// countsOf returns the counters of the attempt before.
func (m metrics) countsOf(before []byte) map[string]int {
	counts := map[string]int{}
	prefix := strings.TrimSuffix(m.series(errorsTotal, "code", ""), `""}`)
	for row := range strings.Lines(string(before)) {
		at := errorsRow().FindStringSubmatch(strings.TrimSuffix(row, "\n"))
		if at != nil && strings.HasPrefix(row, prefix) {
			counts[at[1]], _ = strconv.Atoi(at[2]) // digits, and few
		}
	}
	return counts
}

// The rows that carry takes.
var (
	helpRow   = plain.Pattern(`^# HELP (oap_gate_[a-z_]+) .+\n$`)
	typeRow   = plain.Pattern(`^# TYPE oap_gate_[a-z_]+ (?:gauge|counter)\n$`)
	sampleRow = plain.Pattern(`^oap_gate_[a-z_]+(\{.*\})? [0-9.]+\n$`)
)

// carry writes the families of the attempt before that this one did not write and that keep takes, as far as they are
// of the same registry.
func (m metrics) carry(before []byte, keep func(name string) bool) {
	own := strings.TrimSuffix(m.series("")+"{", "}{") // the label, without the brace that closes it
	head, taken := "", false
	for row := range strings.Lines(string(before)) {
		if at := helpRow().FindStringSubmatch(row); at != nil {
			if head, taken = row, !m.written[at[1]] && keep(at[1]); taken {
				m.written[at[1]] = true
			}
			continue
		}
		if !taken {
			continue
		}
		if head != "" && typeRow().MatchString(row) {
			head += row
			continue
		}
		if at := sampleRow().FindStringSubmatch(row); at != nil && strings.HasPrefix(at[1]+"{", own) {
			m.b.WriteString(head + row)
			head = ""
		}
	}
}

// ErrorCodes returns the codes of the findings that are errors, each once, sorted.
func (r *Counted) ErrorCodes() []string {
	codes := map[string]bool{}
	if r.severities[verdict.Error] > 0 {
		for f := range r.findings() {
			if f.Severity == verdict.Error {
				codes[f.Code] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(codes))
}

// Decided returns CHECK/CODE of the first finding that keeps the run from passing, or an empty text if the run passes.
func (r *Counted) Decided() string {
	severity := verdict.Error
	switch r.Verdict {
	case verdict.Passed:
		return ""
	case verdict.Inconclusive:
		severity = verdict.Doubt
	}
	for f := range r.findings() {
		if f.Severity == severity {
			return f.check + "/" + f.Code
		}
	}
	return ""
}
