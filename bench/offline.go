package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/fixture"
)

// checkOffline returns the check of the branch that is checked out in a generated registry.
func (b *bench) checkOffline(dir string) command {
	return command{args: []string{b.gate, "check", "--repo", dir, "--base", "main", "--head", "pr",
		"--at", fixture.Clock.Format(time.RFC3339), "--offline"}}
}

// start measures a process that has nothing to do, next to a Go program that does nothing.
func (b *bench) start() []figure {
	source, empty := filepath.Join(b.temporary, "empty.go"), filepath.Join(b.temporary, "empty")
	try(os.WriteFile(source, []byte("package main\n\nfunc main() {}\n"), 0o644))
	b.build(empty, source)
	version, nothing := command{args: []string{b.gate, "version"}}, command{args: []string{empty}}
	often := *b
	often.rounds *= 20 // of some milliseconds each, which others on the machine change more than the other rows'
	used := often.inTurn(version, nothing)
	const suffixes = 3 * time.Millisecond // for the list of public suffixes, whose module builds it before main
	beyond := median(pairs(used[0], used[1]), func(p pair) float64 {
		return (p.gate.wall - suffixes).Seconds() / p.peer.wall.Seconds()
	})
	ratio := median(pairs(used[0], used[1]), wallRatio)
	return []figure{b.figure("version; peer: an empty Go program", used[0], used[1], times(ratio), "<= 9x and 3 ms",
		beyond <= 9, version, nothing)}
}

// small measures the offline check of one new listing in a small registry, which is mostly the start of a process.
func (b *bench) small() []figure {
	dir := b.registry(fixture.Bulk{Listings: 1000, New: 1})
	check := b.checkOffline(dir)
	used := b.inTurn(check)
	return []figure{b.figure("offline check of one new listing, 1000 listings", used[0], nil, "", "<= 60 ms",
		median(used[0], wall) <= 0.06, check)}
}

// queue measures the checks of 200 pull requests that land one after another, each with one listing, and prints how
// many that is in an hour.
func (b *bench) queue() []figure {
	size := b.scaled(fixture.Bulk{Listings: 10_000, Commits: 200})
	dir := b.registry(size)
	check := b.checkOffline(dir)
	base, head := slices.Index(check.args, "main"), slices.Index(check.args, "pr")
	var used []usage
	var took time.Duration
	for n := range size.Commits {
		check.args[base], check.args[head] = fmt.Sprintf("main~%d", n+1), fmt.Sprintf("main~%d", n)
		u := b.time(check)
		used, took = append(used, u), took+u.wall
	}
	return []figure{b.figure(fmt.Sprintf("offline check of %d pull requests of one listing each, %d listings",
		size.Commits, size.Listings), used, nil, fmt.Sprintf("%.0f pull requests an hour",
		float64(size.Commits)/took.Hours()), "", false, check)}
}

// flat measures the check of one new listing in a directory of 100,000 listings, next to git printing the same blobs:
// as the generator packed them, each whole, and as git packs them for a clone, most as deltas.
func (b *bench) flat() []figure {
	return b.besideCatFile("offline check of one new listing", b.checkOffline, 2.5, "<= 2.5x, <= 2.5 s, <= 300 MiB",
		func(used []usage) bool { return median(used, wall) <= 2.5 && median(used, memory) <= 300 })
}

// list measures the list of the same, with the commit that added each.
func (b *bench) list() []figure {
	return b.besideCatFile("list", b.listOffline, 3, "<= 3x, <= 300 MiB",
		func(used []usage) bool { return median(used, memory) <= 300 })
}

// listOffline returns the list of a generated registry's main.
func (b *bench) listOffline(dir string) command {
	return command{args: []string{b.gate, "list", "--repo", dir, "--rev", "main", "--at",
		fixture.Clock.Format(time.RFC3339)}}
}

// besideCatFile measures a command on both kinds of packs next to git. The command may take so many times git's time.
func (b *bench) besideCatFile(name string, of func(dir string) command, most float64, must string,
	holds func([]usage) bool) []figure {
	size := b.scaled(fixture.Bulk{Listings: 100_000, New: 1})
	whole := b.registry(size)
	deltas := b.repacked(whole)
	var figures []figure
	for _, pack := range []struct{ dir, how string }{{whole, "each blob whole"}, {deltas, "as git packs a clone"}} {
		peer := b.catFile(pack.dir)
		gate := of(pack.dir)
		used := b.inTurn(gate, peer)
		ratio := median(pairs(used[0], used[1]), wallRatio)
		figures = append(figures, b.figure(fmt.Sprintf("%s, %d flat listings, %s; peer: git cat-file --batch", name,
			size.Listings, pack.how), used[0], used[1], times(ratio), must, ratio <= most && holds(used[0]), gate,
			peer))
	}
	return figures
}

// catFile is git printing all listings of main, whose ids it writes to a file.
func (b *bench) catFile(dir string) command {
	cmd := exec.CommandContext(b.ctx, "git", "-C", dir, "ls-tree", "main:implementations")
	cmd.Env = plainGit
	out, err := cmd.Output()
	try(err)
	var ids bytes.Buffer
	for line := range bytes.Lines(out) {
		ids.Write(bytes.Fields(line)[2])
		ids.WriteByte('\n')
	}
	file := dir + ".ids"
	try(os.WriteFile(file, ids.Bytes(), 0o644))
	return command{args: []string{"git", "-C", dir, "cat-file", "--batch"}, stdin: file}
}

// repacked returns a bare clone of the registry in one pack as git creates it.
func (b *bench) repacked(dir string) string {
	to := dir + "-packed"
	if _, err := os.Stat(to); err == nil {
		return to
	}
	unfinished := to + ".unfinished"
	try(os.RemoveAll(unfinished))
	for _, args := range [][]string{
		{"git", "clone", "-q", "--bare", "--no-local", dir, unfinished},
		{"git", "-C", unfinished, "repack", "-q", "-a", "-d", "-f"},
	} {
		cmd := exec.CommandContext(b.ctx, args[0], args[1:]...)
		cmd.Env, cmd.Stderr = plainGit, os.Stderr
		try(cmd.Run())
	}
	try(os.Rename(unfinished, to))
	return to
}
