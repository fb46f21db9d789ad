package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/fixture"
)

func (b *bench) log() []figure { return b.published(100_000, 0.05, 32) }

func (b *bench) logOfMillion() []figure { return b.published(1_000_000, 0.1, 128) }

// published measures an audit that publishes the log, next to one that does not. It may take a share more of processor
// time, and MiB more of memory. It also measures a proof from that log, which takes at most as much as the audit, and
// checking the proof.
func (b *bench) published(listings int, share, mostMemory float64) []figure {
	size := b.scaled(fixture.Bulk{Listings: listings, Commits: 1000})
	dir := b.registry(size)
	in := func(name string) string { return filepath.Join(b.temporary, fmt.Sprintf("%d.%s", listings, name)) }
	key, log, state, proof := in("log.key"), in("log"), in("log-checkpoint"), in("proof")
	verifier, err := exec.CommandContext(b.ctx, b.gate, "key", "new", key, "--origin", "bench/log").Output()
	try(err)
	without := b.auditOffline(dir, "main", "--origin", "bench", "--checkpoint", state)
	without.prepare = func() { try(os.RemoveAll(state)) }
	with := b.auditOffline(dir, "main", "--origin", "bench", "--checkpoint", state, "--log", log, "--log-sign-key", key)
	with.prepare = func() {
		try(os.RemoveAll(log))
		try(os.RemoveAll(state))
	}
	slug := "impl-000007"
	at := fixture.Clock.Format(time.RFC3339)
	prove := command{args: []string{b.gate, "prove", slug, "--repo", dir, "--rev", "main", "--log",
		filepath.Join(log, "checkpoint"), "--out", proof, "--at", at}}
	check := command{args: []string{b.gate, "prove", slug, "--check", proof, "--any-age", "--at", at, "--log-key",
		strings.TrimSpace(string(verifier))}}
	used := b.inTurn(without, with, prove, check)
	text, err := os.Stat(proof)
	try(err)
	of := fmt.Sprintf("%d flat listings, %d commits", size.Listings, size.Commits)
	more := median(pairs(used[1], used[0]), cpuRatio) - 1
	grew := median(used[1], memory) - median(used[0], memory)
	proved := median(pairs(used[2], used[0]), cpuRatio)
	return []figure{
		b.figure("audit with --log, "+of+"; peer: without", used[1], used[0], fmt.Sprintf("%+.0f %% of CPU, %+.0f MiB",
			100*more, grew), fmt.Sprintf("<= %.0f %% of CPU, <= %.0f MiB more", 100*share, mostMemory),
			more <= share && grew <= mostMemory, with, without),
		b.figure("prove, "+of+"; peer: audit without --log", used[2], used[0], times(proved)+" of CPU",
			"<= 1x of CPU and memory", proved <= 1 && median(used[2], memory) <= median(used[0], memory), prove),
		b.figure(fmt.Sprintf("prove --check of a proof of %d bytes, %s", text.Size(), of), used[3], nil, "",
			"<= 100 ms, <= 8 KiB", median(used[3], wall) <= 0.1 && text.Size() <= 8<<10, check)}
}
