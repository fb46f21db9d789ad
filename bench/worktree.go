package main

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/fixture"
)

// worktree measures the check of HEAD next to that of the same commit by its id, and the check of the files on disk
// next to that and git status together.
func (b *bench) worktree() ([]figure, error) {
	size := fixture.Bulk{Listings: 100_000, New: 1}
	if b.quick {
		size.Listings = 2000
	}
	dir, id, err := b.checkedOut(size)
	if err != nil {
		return nil, err
	}
	check := func(more ...string) command {
		return command{args: slices.Concat([]string{b.gate, "check", "--repo", dir, "--base", "origin/main",
			"--offline", "--at", fixture.Clock.Format(time.RFC3339)}, more)}
	}
	byID, ofHead, onDisk := check("--head", id), check(), check("--worktree")
	status := command{args: []string{"git", "-C", dir, "status", "--porcelain"}}
	used, err := b.inTurn(byID, ofHead, onDisk, status)
	if err != nil {
		return nil, err
	}
	both := slices.Clone(used[3])
	for i := range both {
		both[i].wall += used[0][i].wall
		both[i].cpu += used[0][i].cpu
	}
	row := func(name string, gate, peer []usage, commands ...command) figure {
		ratio := median(pairs(gate, peer), cpuRatio)
		f := figure{name: name, gate: spread(gate), peer: spread(peer), ratio: fmt.Sprintf("%.2fx of CPU", ratio),
			memory: mebibytes(gate), must: "<= 1.2x of CPU", holds: ratio <= 1.2, unjudged: b.quick}
		for _, c := range commands {
			f.commands = append(f.commands, c.String())
		}
		return f
	}
	listings := fmt.Sprintf(", %d flat listings; peer: ", size.Listings)
	return []figure{row("check of HEAD"+listings+"the check by its id", used[1], used[0], ofHead, byID),
		row("check --worktree"+listings+"git status and the check by id", used[2], both, onDisk, status, byID)}, nil
}

// checkedOut returns a clone of a generated registry with a work tree at the branch pr, and the id of its commit.
func (b *bench) checkedOut(size fixture.Bulk) (dir, id string, err error) {
	from, err := b.registry(size)
	if err != nil {
		return "", "", err
	}
	dir = from + "-checked-out"
	if _, err := os.Stat(dir); err != nil {
		unfinished := dir + ".unfinished"
		if err := os.RemoveAll(unfinished); err != nil {
			return "", "", err
		}
		cmd := exec.CommandContext(b.ctx, "git", "clone", "-q", "-b", "pr", from, unfinished)
		cmd.Env, cmd.Stderr = plainGit, os.Stderr
		if err := cmd.Run(); err != nil {
			return "", "", fmt.Errorf("checking out %s: %w", from, err)
		}
		if err := os.Rename(unfinished, dir); err != nil {
			return "", "", err
		}
	}
	for _, args := range [][]string{{"status"}, {"rev-parse", "HEAD"}} { // the first writes the times of files
		cmd := exec.CommandContext(b.ctx, "git", append([]string{"-C", dir}, args...)...)
		cmd.Env = append(slices.Clone(plainGit), "GIT_OPTIONAL_LOCKS=1")
		out, err := cmd.Output()
		if err != nil {
			return "", "", fmt.Errorf("running git %s in %s: %w", args[0], dir, err)
		}
		id = strings.TrimSpace(string(out))
	}
	return dir, id, nil
}
