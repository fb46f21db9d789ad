package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/fixture"
)

// auditOffline returns the audit of a generated registry's main.
func (b *bench) auditOffline(dir, rev string, more ...string) command {
	args := []string{b.gate, "audit", "--repo", dir, "--rev", rev, "--at", fixture.Clock.Format(time.RFC3339),
		"--offline"}
	return command{args: append(args, more...)}
}

// history measures the audit of many commits of a flat directory, next to git listing what each of them changed.
func (b *bench) history() []figure {
	var figures []figure
	for _, size := range []fixture.Bulk{{Listings: 10_000, Commits: 10_000}, {Listings: 100_000, Commits: 1000}} {
		size = b.scaled(size)
		dir := b.registry(size)
		audit, peer := b.auditOffline(dir, "main", "--only", "history"), gitLog(dir)
		used := b.inTurn(audit, peer)
		ratio, peak := median(pairs(used[0], used[1]), wallRatio), median(used[0], memory)
		figures = append(figures, b.figure(fmt.Sprintf(
			"audit of the history, %d flat listings, %d commits; peer: git log", size.Listings, size.Commits),
			used[0], used[1], times(ratio), "<= 0.7x, <= 350 MiB",
			ratio <= 0.7 && peak <= 350, audit, peer))
	}
	return figures
}

// gitLog returns the command that has git list what each commit changed.
func gitLog(dir string) command {
	return command{args: []string{"git", "-C", dir, "log", "--first-parent", "-m", "--root", "--raw", "--no-renames",
		"main"}}
}

// refused measures the audit of a history whose files are JSON and not listings, next to git listing its changes, and
// next to half of the history.
func (b *bench) refused() []figure {
	size := b.scaled(fixture.Bulk{Listings: 2000, Commits: 2000, Refused: true})
	half := b.registry(size)
	size.Commits *= 2
	dir := b.registry(size)
	audit, peer, whole := b.auditOffline(half, "main", "--only", "history"), gitLog(half),
		b.auditOffline(dir, "main", "--only", "history")
	audit.exit, whole.exit = 1, 1
	used := b.inTurn(audit, peer, whole)
	of := fmt.Sprintf("%d refused listings, %%d commits; peer: %%s", size.Listings)
	ratio, growth := median(pairs(used[0], used[1]), wallRatio), median(pairs(used[2], used[0]), wallRatio)
	return []figure{b.figure("audit of the history, "+fmt.Sprintf(of, size.Commits/2, "git log"), used[0], used[1],
		times(ratio), "<= 1.5x", ratio <= 1.5, audit, peer),
		b.figure("audit of the history, "+fmt.Sprintf(of, size.Commits, "half of the commits"), used[2], used[0],
			times(growth), "<= 2.5x", growth <= 2.5, whole)}
}

// checkpoint measures the audit of what is new since a checkpoint.
func (b *bench) checkpoint() []figure {
	size, fresh := b.scaled(fixture.Bulk{Listings: 1000, Commits: 50_100}), 100
	dir := b.registry(size)
	verified, state := filepath.Join(b.temporary, "verified"), filepath.Join(b.temporary, "checkpoint")
	b.time(b.auditOffline(dir, "main~"+strconv.Itoa(fresh), "--origin", "bench", "--checkpoint",
		verified))
	old, err := os.ReadFile(verified)
	try(err)
	audit := b.auditOffline(dir, "main", "--origin", "bench", "--checkpoint", state)
	audit.prepare = func() { try(os.WriteFile(state, old, 0o600)) }
	used := b.inTurn(audit)
	moved, err := os.ReadFile(state)
	try(err)
	if string(moved) == string(old) {
		try(fmt.Errorf("%s: the checkpoint did not move", audit))
	}
	return []figure{b.figure(fmt.Sprintf("audit from a checkpoint, %d new commits on %d old ones", fresh,
		size.Commits-fresh), used[0], nil, "", "<= 0.3 s", median(used[0], wall) <= 0.3, audit)}
}

// auditOnline measures the audit of many listings as of now, each on a host of its own.
func (b *bench) auditOnline() []figure {
	w, listings := b.many("audit")
	defer w.Close()
	audit := command{args: append(append([]string{b.gate, "audit"}, w.Args()...), "--rev", "pr")}
	return b.besideLeastTime(fmt.Sprintf("audit of %d listings, each on its own host, 50 ms a reply", listings), audit,
		listings)
}
