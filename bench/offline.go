package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/fixture"
)

// checkOffline is the check of the branch that a generated registry stands on.
func (b *bench) checkOffline(dir string) command {
	return command{args: []string{b.gate, "check", "--repo", dir, "--base", "main", "--head", "pr",
		"--at", fixture.Clock.Format(time.RFC3339), "--offline"}}
}

// small is the offline check of one new listing in a small registry, which is mostly what a process costs to start.
func (b *bench) small() ([]figure, error) {
	dir, err := b.registry(fixture.Bulk{Listings: 1000, New: 1})
	if err != nil {
		return nil, err
	}
	check := b.checkOffline(dir)
	used, err := b.inTurn(check)
	if err != nil {
		return nil, err
	}
	return []figure{{name: "offline check of one new listing, 1000 listings", gate: spread(used[0]), memory: mebibytes(used[0]),
		must: "<= 60 ms", holds: median(used[0], wall) <= 0.06, unjudged: b.quick, commands: []string{check.String()}}}, nil
}

// flat is the same in a folder of 100,000 listings, beside git printing the same blobs: as the generator packed them,
// each whole, and as git packs them for a clone, most as deltas.
func (b *bench) flat() ([]figure, error) {
	size := fixture.Bulk{Listings: 100_000, New: 1}
	if b.quick {
		size.Listings = 2000
	}
	dir, err := b.registry(size)
	if err != nil {
		return nil, err
	}
	whole, err := b.besideCatFile(dir, size.Listings, "each blob whole")
	if err != nil {
		return nil, err
	}
	if dir, err = b.repacked(dir); err != nil {
		return nil, err
	}
	deltas, err := b.besideCatFile(dir, size.Listings, "as git packs a clone")
	return []figure{whole, deltas}, err
}

func (b *bench) besideCatFile(dir string, listings int, packed string) (figure, error) {
	ids, err := b.blobs(dir)
	if err != nil {
		return figure{}, err
	}
	check := b.checkOffline(dir)
	peer := command{args: []string{"git", "-C", dir, "cat-file", "--batch"}, stdin: ids}
	used, err := b.inTurn(check, peer)
	if err != nil {
		return figure{}, err
	}
	gate := used[0]
	ratio := median(pairs(gate, used[1]), wallRatio)
	return figure{name: fmt.Sprintf("offline check of one new listing, %d flat listings, %s; peer: git cat-file --batch", listings, packed),
		gate: spread(gate), peer: spread(used[1]), ratio: fmt.Sprintf("%.2fx", ratio), memory: mebibytes(gate),
		must:  "<= 3.5x, <= 2.5 s, <= 300 MiB",
		holds: ratio <= 3.5 && median(gate, wall) <= 2.5 && median(gate, memory) <= 300, unjudged: b.quick,
		commands: []string{check.String(), peer.String()}}, nil
}

// blobs writes the ids of all listings of main to a file.
func (b *bench) blobs(dir string) (string, error) {
	cmd := exec.CommandContext(b.ctx, "git", "-C", dir, "ls-tree", "main:implementations")
	cmd.Env = plainGit
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("listing blobs of %s: %w", dir, err)
	}
	var ids bytes.Buffer
	for line := range bytes.Lines(out) {
		ids.Write(bytes.Fields(line)[2])
		ids.WriteByte('\n')
	}
	file := dir + ".ids"
	return file, os.WriteFile(file, ids.Bytes(), 0o644)
}

// repacked is a bare clone of the registry in one pack as git makes it.
func (b *bench) repacked(dir string) (string, error) {
	to := dir + "-packed"
	if _, err := os.Stat(to); err == nil {
		return to, nil
	}
	unfinished := to + ".unfinished"
	if err := os.RemoveAll(unfinished); err != nil {
		return "", err
	}
	for _, args := range [][]string{
		{"git", "clone", "-q", "--bare", "--no-local", dir, unfinished},
		{"git", "-C", unfinished, "repack", "-q", "-a", "-d", "-f"},
	} {
		cmd := exec.CommandContext(b.ctx, args[0], args[1:]...)
		cmd.Env, cmd.Stderr = plainGit, os.Stderr
		if err := cmd.Run(); err != nil {
			return "", fmt.Errorf("repacking %s: %w", filepath.Base(dir), err)
		}
	}
	return to, os.Rename(unfinished, to)
}
