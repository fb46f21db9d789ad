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
// whatever the registry holds: no subject and no URL is among them, and of slugs at most maxExpiries.
func writePrometheus(b *bufio.Writer, r *Counted, o Options) error {
	m := metrics{b}
	m.family("oap_gate_verdict", "Whether the last run ended with this verdict.")
	for _, v := range []verdict.Verdict{verdict.Passed, verdict.Failed, verdict.Inconclusive, verdict.Errored} {
		m.sample("oap_gate_verdict", truth(r.Verdict == v), "verdict", string(v))
	}
	m.family("oap_gate_complete", "Whether the last run was full and live: no check left out, nothing replaced.")
	m.sample("oap_gate_complete", truth(isComplete(r.Report)))
	m.family("oap_gate_evaluated_timestamp_seconds", "Time as of which the last run judged.")
	m.sample("oap_gate_evaluated_timestamp_seconds", int(r.EvaluatedAt.Unix()))
	if r.Verdict == verdict.Passed {
		// Without a pass there is none, rather than a zero: what the time series holds of earlier runs stands.
		m.family("oap_gate_last_success_timestamp_seconds", "Time as of which the last run judged, where it passed.")
		m.sample("oap_gate_last_success_timestamp_seconds", int(r.EvaluatedAt.Unix()))
	}
	if r.Installation != nil { // it has no record and no document
		m.results(r, o.Rules)
		return nil
	}
	m.family("oap_gate_records", "Records that the last run examined.")
	m.sample("oap_gate_records", r.Counts.Records)
	m.results(r, o.Rules)
	if r.Counts.Manual > 0 {
		m.family("oap_gate_manual", "Requirements of the last run that are for people to attest.")
		m.sample("oap_gate_manual", r.Counts.Manual)
	}
	m.documents(r.Report)
	if r.Mode == "audit" && r.Verdict != verdict.Errored {
		m.listings(r.Report)
	}
	if r.History != nil {
		m.history(r.History)
	}
	return nil
}

type metrics struct{ b *bufio.Writer }

func (m metrics) family(name, help string) {
	fmt.Fprintf(m.b, "# HELP %s %s\n# TYPE %[1]s gauge\n", name, help)
}

// sample writes one value; labels alternate names and values.
func (m metrics) sample(name string, value int, labels ...string) {
	var pairs []string
	for i := 0; i+1 < len(labels); i += 2 {
		pairs = append(pairs, fmt.Sprintf(`%s="%s"`, labels[i], label.Replace(line(labels[i+1]))))
	}
	if pairs != nil {
		name += "{" + strings.Join(pairs, ",") + "}"
	}
	m.b.WriteString(name + " " + strconv.Itoa(value) + "\n")
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

func (m metrics) listings(r *verdict.Report) {
	n := map[string]int{}
	var current []*verdict.Listing
	for i := range r.Listings {
		l := &r.Listings[i]
		n[l.Status]++
		if l.ExpiresAt != nil && l.Status != verdict.StatusExpired && l.Status != verdict.StatusRevoked {
			current = append(current, l)
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
	m.family("oap_gate_listing_seconds_to_expiry",
		fmt.Sprintf("Seconds that a listing neither expired nor revoked had left as of the last run, for the %d that "+
			"end first.", maxExpiries))
	seen := map[string]bool{}
	for _, l := range current {
		if len(seen) == maxExpiries {
			break
		}
		if slug := line(l.Slug); !seen[slug] {
			seen[slug] = true
			m.sample("oap_gate_listing_seconds_to_expiry", int(l.ExpiresAt.Sub(r.EvaluatedAt)/time.Second), "slug",
				l.Slug)
		}
	}
}

func (m metrics) history(h *verdict.History) {
	m.family("oap_gate_commits", "First-parent commits of the head.")
	m.sample("oap_gate_commits", h.Commits)
	m.family("oap_gate_commits_judged", "First-parent commits that the last run judged.")
	m.sample("oap_gate_commits_judged", h.Walked)
	m.family("oap_gate_head_timestamp_seconds", "Committer date of the head.")
	m.sample("oap_gate_head_timestamp_seconds", int(h.HeadTime.Unix()))
	m.family("oap_gate_commit_signatures", "Commits judged in the last run by what their signature is.")
	for _, s := range []struct {
		word string
		n    int
	}{
		{"good", h.Signatures.Good}, {"bad", h.Signatures.Bad}, {"unsigned", h.Signatures.Unsigned},
		{"unknown key", h.Signatures.UnknownKey}, {"expired key", h.Signatures.ExpiredKey},
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
