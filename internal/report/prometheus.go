package report

import (
	"bufio"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// maxExpiries is how many listings have a series of their own, by their slug: those that end first.
const maxExpiries = 500

// writePrometheus writes the Prometheus text format, for a collector of text files. Its labels are few
// whatever the registry holds: no subject and no URL is among them, and of slugs at most maxExpiries and those that are
// watched. Each sample has the label registry if the report names one.
func writePrometheus(b *bufio.Writer, r *Counted, o Options) error {
	m := metrics{b: b, registry: r.Origin, written: map[string]bool{}}
	m.run(r, o)
	if o.Attempt != nil {
		m.attempt(o.Attempt, r)
		keep := func(name string) bool { return name == lastSuccess || r.Verdict == verdict.Errored }
		m.carry(o.Attempt.Before, keep)
	}
	return nil
}

const lastSuccess = "oap_gate_last_success_timestamp_seconds"

// run writes what a run found. If a mirror's run came to no verdict, it only writes that.
func (m metrics) run(r *Counted, o Options) {
	m.family("oap_gate_verdict", "Whether the last run ended with this verdict.")
	for _, v := range []verdict.Verdict{verdict.Passed, verdict.Failed, verdict.Inconclusive, verdict.Errored} {
		m.sample("oap_gate_verdict", truth(r.Verdict == v), "verdict", string(v))
	}
	m.value("oap_gate_complete", "Whether the last run was full and live: no check left out, nothing replaced.",
		truth(isComplete(r.Report)))
	if o.Attempt != nil && r.Verdict == verdict.Errored {
		return
	}
	m.value("oap_gate_evaluated_timestamp_seconds", "Time as of which the last run judged.", int(r.EvaluatedAt.Unix()))
	if r.Verdict == verdict.Passed {
		// Without a pass the metric is absent rather than zero: the value of earlier runs in the time series remains.
		m.value(lastSuccess, "Time as of which the last run that passed judged.", int(r.EvaluatedAt.Unix()))
	}
	if r.Installation != nil { // it has no record and no document
		m.results(r, o.Rules)
		return
	}
	m.value("oap_gate_records", "Records that the last run examined.", r.Counts.Records)
	m.results(r, o.Rules)
	if r.Counts.Manual > 0 {
		m.value("oap_gate_manual", "Requirements of the last run that are for people to attest.", r.Counts.Manual)
	}
	m.documents(r.Report)
	if r.Mode == "audit" && r.Verdict != verdict.Errored {
		var watched []string
		if o.Attempt != nil {
			watched = o.Attempt.Watch
		}
		m.listings(r.Report, watched)
	}
	if r.History != nil {
		m.history(r.History)
	}
}

type metrics struct {
	b        *bufio.Writer
	registry string          // empty: no label
	written  map[string]bool // names of families
}

func (m metrics) family(name, help string) { m.head(name, "gauge", help) }

// value writes a family of one value.
func (m metrics) value(name, help string, value int) {
	m.family(name, help)
	m.sample(name, value)
}

func (m metrics) head(name, kind, help string) {
	m.written[name] = true
	fmt.Fprintf(m.b, "# HELP %s %s\n# TYPE %[1]s %[3]s\n", name, help, kind)
}

// sample writes one value; labels alternate names and values.
func (m metrics) sample(name string, value int, labels ...string) {
	m.b.WriteString(m.series(name, labels...) + " " + strconv.Itoa(value) + "\n")
}

// series returns a name with its labels.
func (m metrics) series(name string, labels ...string) string {
	var pairs []string
	if m.registry != "" {
		labels = append([]string{"registry", m.registry}, labels...)
	}
	for i := 0; i+1 < len(labels); i += 2 {
		pairs = append(pairs, fmt.Sprintf(`%s="%s"`, labels[i], label.Replace(line(labels[i+1]))))
	}
	if pairs == nil {
		return name
	}
	return name + "{" + strings.Join(pairs, ",") + "}"
}

var label = strings.NewReplacer(`\`, `\\`, `"`, `\"`)

func (m metrics) results(r *Counted, rules []verdict.Rule) {
	m.family("oap_gate_results", "Results of the last run by check and verdict.")
	for _, check := range r.decidedColumns(rules) {
		for _, v := range resultVerdicts {
			m.sample("oap_gate_results", r.verdicts[check][v], "check", check, "verdict", string(v))
		}
	}
}

func (m metrics) documents(r *verdict.Report) {
	n := map[string]int{}
	for _, e := range r.Evidence {
		n[e.State]++
	}
	m.family("oap_gate_documents", "Documents that the last run sought, by how that ended.")
	for _, state := range []string{"obtained", "absent", "invalid", "unavailable"} {
		m.sample("oap_gate_documents", n[state], "state", state)
	}
}

func (m metrics) listings(r *verdict.Report, watched []string) {
	n := map[string]int{}
	var current, others []*verdict.Listing
	for i := range r.Listings {
		l := &r.Listings[i]
		n[l.Status]++
		if l.ExpiresAt != nil && !slices.Contains([]string{verdict.StatusExpired,
			verdict.StatusRevoked, verdict.StatusRefused}, l.Status) {
			current = append(current, l)
		} else if l.ExpiresAt != nil && slices.Contains(watched, l.Slug) {
			others = append(others, l)
		}
	}
	m.family("oap_gate_listings", "Listings at the head by status.")
	for _, s := range statuses {
		if s.word != "" {
			m.sample("oap_gate_listings", n[s.word], "status", s.word)
		}
	}
	slices.SortFunc(current, func(a, b *verdict.Listing) int {
		return cmp.Or(a.ExpiresAt.Compare(*b.ExpiresAt), strings.Compare(a.Slug, b.Slug))
	})
	seen := map[string]bool{}
	var first []*verdict.Listing
	for i, l := range current {
		watches := slices.Contains(watched, l.Slug)
		if slug := line(l.Slug); !seen[slug] && (i < maxExpiries || watches) {
			seen[slug] = true
			first = append(first, l)
		}
	}
	m.family("oap_gate_listing_seconds_to_expiry",
		fmt.Sprintf("Seconds that a listing neither expired nor revoked had left as of the last run, for the %d that "+
			"end first.", maxExpiries))
	for _, l := range first {
		m.sample("oap_gate_listing_seconds_to_expiry", int(l.ExpiresAt.Sub(r.EvaluatedAt)/time.Second), "slug", l.Slug)
	}
	m.family("oap_gate_listing_expiry_timestamp_seconds",
		fmt.Sprintf("Time at which a listing expires, for the %d that end first, and for watched listings also after "+
			"that.", maxExpiries))
	for _, l := range others {
		if slug := line(l.Slug); !seen[slug] {
			seen[slug] = true
			first = append(first, l)
		}
	}
	for _, l := range first {
		m.sample("oap_gate_listing_expiry_timestamp_seconds", int(l.ExpiresAt.Unix()), "slug", l.Slug)
	}
}

func (m metrics) history(h *verdict.History) {
	m.value("oap_gate_commits", "First-parent commits of the head.", h.Commits)
	m.value("oap_gate_commits_judged", "First-parent commits that the last run judged.", h.Walked)
	m.value("oap_gate_head_timestamp_seconds", "Committer date of the head.", int(h.HeadTime.Unix()))
	m.family("oap_gate_commit_signatures", "Commits judged in the last run by what their signature is.")
	for _, s := range []struct {
		word string
		n    int
	}{
		{"good", h.Signatures.Good}, {"bad", h.Signatures.Bad}, {"unsigned", h.Signatures.Unsigned},
		{"unknown key", h.Signatures.UnknownKey}, {"expired key", h.Signatures.ExpiredKey},
		{"revoked key", h.Signatures.RevokedKey},
	} {
		m.sample("oap_gate_commit_signatures", s.n, "signature", s.word)
	}
	n := map[string]int{}
	for _, p := range h.Peers {
		n[p.State]++
	}
	m.family("oap_gate_peers", "Other copies that the last run compared with, by where their tip lies.")
	for _, state := range []string{"same", "behind", "ahead", "unavailable", "split"} {
		m.sample("oap_gate_peers", n[state], "state", state)
	}
}

func truth(b bool) int {
	if b {
		return 1
	}
	return 0
}
