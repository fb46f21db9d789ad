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

func (b *bench) log() ([]figure, error) { return b.published(100_000, 0.05, 32) }

func (b *bench) logOfMillion() ([]figure, error) { return b.published(1_000_000, 0.1, 128) }

// published measures an audit that publishes the log, next to one that does not. It may take a share more of processor
// time, and MiB more of memory. It also measures a proof from that log, which takes at most as much as the audit, and
// checking the proof.
func (b *bench) published(listings int, share, mostMemory float64) ([]figure, error) {
	size := fixture.Bulk{Listings: listings, Commits: 1000}
	if b.quick {
		size = fixture.Bulk{Listings: 1000, Commits: 10}
	}
	dir, err := b.registry(size)
	if err != nil {
		return nil, err
	}
	in := func(name string) string { return filepath.Join(b.temporary, fmt.Sprintf("%d.%s", listings, name)) }
	key, log, state, proof := in("log.key"), in("log"), in("log-checkpoint"), in("proof")
	verifier, err := exec.CommandContext(b.ctx, b.gate, "key", "new", key, "--origin", "bench/log").Output()
	if err != nil {
		return nil, fmt.Errorf("making the key of the log: %w", err)
	}
	without := b.auditOffline(dir, "main", "--origin", "bench", "--checkpoint", state)
	without.prepare = func() error { return os.RemoveAll(state) }
	with := b.auditOffline(dir, "main", "--origin", "bench", "--checkpoint", state, "--log", log, "--log-sign-key", key)
	with.prepare = func() error {
		if err := os.RemoveAll(log); err != nil {
			return err
		}
		return os.RemoveAll(state)
	}
	slug := "impl-000007"
	at := fixture.Clock.Format(time.RFC3339)
	prove := command{args: []string{b.gate, "prove", slug, "--repo", dir, "--rev", "main", "--log",
		filepath.Join(log, "checkpoint"), "--out", proof, "--at", at}}
	check := command{args: []string{b.gate, "prove", slug, "--check", proof, "--any-age", "--at", at, "--log-key",
		strings.TrimSpace(string(verifier))}}
	used, err := b.inTurn(without, with, prove, check)
	if err != nil {
		return nil, err
	}
	text, err := os.Stat(proof)
	if err != nil {
		return nil, err
	}
	of := fmt.Sprintf("%d flat listings, %d commits", size.Listings, size.Commits)
	more := median(pairs(used[1], used[0]), cpuRatio) - 1
	grew := median(used[1], memory) - median(used[0], memory)
	proved := median(pairs(used[2], used[0]), cpuRatio)
	return []figure{{
		name: "audit with --log, " + of + "; peer: without", gate: spread(used[1]), peer: spread(used[0]),
		ratio: fmt.Sprintf("%+.0f %% of CPU, %+.0f MiB", 100*more, grew), memory: mebibytes(used[1]),
		must:  fmt.Sprintf("<= %.0f %% of CPU, <= %.0f MiB more", 100*share, mostMemory),
		holds: more <= share && grew <= mostMemory, unjudged: b.quick,
		commands: []string{with.String(), without.String()},
	}, {
		name: "prove, " + of + "; peer: audit without --log", gate: spread(used[2]), peer: spread(used[0]),
		ratio: fmt.Sprintf("%.2fx of CPU", proved), memory: mebibytes(used[2]),
		must:     "<= 1x of CPU and memory",
		holds:    proved <= 1 && median(used[2], memory) <= median(used[0], memory),
		unjudged: b.quick, commands: []string{prove.String()},
	}, {
		name: fmt.Sprintf("prove --check of a proof of %d bytes, %s", text.Size(), of), gate: spread(used[3]),
		memory: mebibytes(used[3]), must: "<= 100 ms, <= 8 KiB",
		holds: median(used[3], wall) <= 0.1 && text.Size() <= 8<<10, unjudged: b.quick,
		commands: []string{check.String()},
	}}, nil
}
