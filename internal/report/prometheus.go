package report

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/gate"
)

// writePrometheus writes the Prometheus text format, for a collector of text files. Its labels are few
// whatever the registry holds: no subject and no URL is among them.
func writePrometheus(b *bytes.Buffer, r *gate.Report, o Options) error {
	m := metrics{b}
	m.family("oap_gate_verdict", "Whether the last run ended with this verdict.")
	for _, v := range []gate.Verdict{gate.Pass, gate.Fail, gate.Inconclusive, gate.Errored} {
		m.sample("oap_gate_verdict", truth(r.Verdict == v), "verdict", string(v))
	}
	m.family("oap_gate_complete", "Whether the last run was full and live: no check left out, nothing replaced.")
	m.sample("oap_gate_complete", truth(isComplete(r)))
	m.family("oap_gate_evaluated_timestamp_seconds", "Time as of which the last run judged.")
	m.sample("oap_gate_evaluated_timestamp_seconds", int(r.EvaluatedAt.Unix()))
	m.family("oap_gate_records", "Records that the last run examined.")
	m.sample("oap_gate_records", r.Counts.Records)
	m.results(r, o.Rules)
	m.documents(r)
	return nil
}

type metrics struct{ b *bytes.Buffer }

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

func (m metrics) results(r *gate.Report, rules []Rule) {
	type cell struct {
		check   string
		verdict gate.Verdict
	}
	n := map[cell]int{}
	for _, result := range r.Results {
		n[cell{result.Check, result.Verdict}]++
	}
	m.family("oap_gate_results", "Results of the last run by check and verdict.")
	for _, check := range columns(r, rules) {
		for _, v := range []gate.Verdict{gate.Pass, gate.Fail, gate.Inconclusive, gate.Warn, gate.Skip} {
			m.sample("oap_gate_results", n[cell{check, v}], "check", check, "verdict", string(v))
		}
	}
}

func (m metrics) documents(r *gate.Report) {
	n := map[string]int{}
	for _, e := range r.Evidence {
		n[e.State]++
	}
	m.family("oap_gate_documents", "Documents that the last run sought, by how that ended.")
	for _, state := range []string{"obtained", "absent", "invalid", "unavailable"} {
		m.sample("oap_gate_documents", n[state], "state", state)
	}
}

func truth(b bool) int {
	if b {
		return 1
	}
	return 0
}
