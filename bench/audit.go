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
func (b *bench) history() ([]figure, error) {
	var figures []figure
	for _, size := range []fixture.Bulk{{Listings: 10_000, Commits: 10_000}, {Listings: 100_000, Commits: 1000}} {
		if b.quick {
			size = fixture.Bulk{Listings: size.Listings / 100, Commits: size.Commits / 100}
		}
		dir, err := b.registry(size)
		if err != nil {
			return nil, err
		}
		audit, peer := b.auditOffline(dir, "main", "--only", "history"), gitLog(dir)
		used, err := b.inTurn(audit, peer)
		if err != nil {
			return nil, err
		}
		ratio, peak := median(pairs(used[0], used[1]), wallRatio), median(used[0], memory)
		figures = append(figures, figure{
			name: fmt.Sprintf("audit of the history, %d flat listings, %d commits; peer: git log", size.Listings,
				size.Commits),
			gate: spread(used[0]), peer: spread(used[1]), ratio: fmt.Sprintf("%.2fx", ratio),
			memory: mebibytes(used[0]),
			must:   "<= 0.7x, <= 350 MiB", holds: ratio <= 0.7 && peak <= 350, unjudged: b.quick,
			commands: []string{audit.String(), peer.String()}})
	}
	return figures, nil
}

// gitLog returns the command that has git list what each commit changed.
func gitLog(dir string) command {
	return command{args: []string{"git", "-C", dir, "log", "--first-parent", "-m", "--root", "--raw", "--no-renames",
		"main"}}
}

// refused measures the audit of a history whose files are JSON and not listings, next to git listing its changes, and
// next to half of the history.
func (b *bench) refused() ([]figure, error) {
	size := fixture.Bulk{Listings: 2000, Commits: 2000, Refused: true}
	if b.quick {
		size.Listings, size.Commits = 20, 20
	}
	half, err := b.registry(size)
	if err != nil {
		return nil, err
	}
	size.Commits *= 2
	dir, err := b.registry(size)
	if err != nil {
		return nil, err
	}
	audit, peer, whole := b.auditOffline(half, "main", "--only", "history"), gitLog(half),
		b.auditOffline(dir, "main", "--only", "history")
	audit.exit, whole.exit = 1, 1
	used, err := b.inTurn(audit, peer, whole)
	if err != nil {
		return nil, err
	}
	of := fmt.Sprintf("%d refused listings, %%d commits; peer: %%s", size.Listings)
	ratio, growth := median(pairs(used[0], used[1]), wallRatio), median(pairs(used[2], used[0]), wallRatio)
	return []figure{{name: "audit of the history, " + fmt.Sprintf(of, size.Commits/2, "git log"),
		gate: spread(used[0]), peer: spread(used[1]), ratio: fmt.Sprintf("%.2fx", ratio), memory: mebibytes(used[0]),
		must: "<= 1.5x", holds: ratio <= 1.5, unjudged: b.quick, commands: []string{audit.String(), peer.String()},
	}, {name: "audit of the history, " + fmt.Sprintf(of, size.Commits, "half of the commits"),
		gate: spread(used[2]), peer: spread(used[0]), ratio: fmt.Sprintf("%.2fx", growth), memory: mebibytes(used[2]),
		must: "<= 2.5x", holds: growth <= 2.5, unjudged: b.quick, commands: []string{whole.String()}}}, nil
}

// checkpoint measures the audit of what is new since a checkpoint.
func (b *bench) checkpoint() ([]figure, error) {
	size, fresh := fixture.Bulk{Listings: 1000, Commits: 50_100}, 100
	if b.quick {
		size, fresh = fixture.Bulk{Listings: 100, Commits: 510}, 10
	}
	dir, err := b.registry(size)
	if err != nil {
		return nil, err
	}
	verified, state := filepath.Join(b.temporary, "verified"), filepath.Join(b.temporary, "checkpoint")
	if _, err := b.time(b.auditOffline(dir, "main~"+strconv.Itoa(fresh), "--origin", "bench", "--checkpoint",
		verified)); err != nil {
		return nil, err
	}
	old, err := os.ReadFile(verified)
	if err != nil {
		return nil, err
	}
	audit := b.auditOffline(dir, "main", "--origin", "bench", "--checkpoint", state)
	audit.prepare = func() error { return os.WriteFile(state, old, 0o600) }
	used, err := b.inTurn(audit)
	if err != nil {
		return nil, err
	}
	moved, err := os.ReadFile(state)
	if err != nil {
		return nil, err
	}
	if string(moved) == string(old) {
		return nil, fmt.Errorf("%s: the checkpoint did not move", audit)
	}
	return []figure{{name: fmt.Sprintf("audit from a checkpoint, %d new commits on %d old ones", fresh,
		size.Commits-fresh),
		gate: spread(used[0]), memory: mebibytes(used[0]), must: "<= 0.3 s", holds: median(used[0], wall) <= 0.3,
		unjudged: b.quick,
		commands: []string{audit.String()}}}, nil
}

// auditOnline measures the audit of many listings as of now, each on a host of its own.
func (b *bench) auditOnline() ([]figure, error) {
	w, listings, err := b.many("audit")
	if err != nil {
		return nil, err
	}
	defer w.Close()
	audit := command{args: append(append([]string{b.gate, "audit"}, w.Args()...), "--rev", "pr")}
	return b.besideLeastTime(fmt.Sprintf("audit of %d listings, each on its own host, 50 ms a reply", listings), audit,
		listings)
}
