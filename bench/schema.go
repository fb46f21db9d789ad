package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// schema measures what bench/schema measures, round by round.
func (b *bench) schema() []figure {
	program := filepath.Join(filepath.Dir(b.gate), "schema")
	b.build(program, "./bench/schema")
	type result struct{ Gate, Peer float64 } // milliseconds; Peer is 0 where it was not measured
	var results []result
	for range b.rounds {
		cmd := exec.CommandContext(b.ctx, program, "-json", "-modules", b.modules)
		cmd.Stderr = os.Stderr
		out, err := cmd.Output()
		try(err)
		var r result
		try(json.Unmarshal(out, &r))
		results = append(results, r)
	}
	f := figure{name: "schema verdicts of 10,000 listings, text in, verdict out, all cores; peer: Ajv's parse and " +
		"validate on node",
		must: "<= 3x", unjudged: true, peer: "not measured",
		gate:     seconds(median(results, func(r result) float64 { return r.Gate }) / 1000),
		commands: []string{"go run ./bench/schema -modules node_modules"}}
	if results[0].Peer > 0 {
		ratio := median(results, func(r result) float64 { return r.Gate / r.Peer })
		f.peer = seconds(median(results, func(r result) float64 { return r.Peer }) / 1000)
		f.ratio, f.holds, f.unjudged = fmt.Sprintf("%.2fx", ratio), ratio <= 3, b.quick
	}
	return []figure{f}
}
