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
func (b *bench) worktree() []figure {
	size := b.scaled(fixture.Bulk{Listings: 100_000, New: 1})
	dir, id := b.checkedOut(size)
	check := func(more ...string) command {
		return command{args: slices.Concat([]string{b.gate, "check", "--repo", dir, "--base", "origin/main",
			"--offline", "--at", fixture.Clock.Format(time.RFC3339)}, more)}
	}
	byID, ofHead, onDisk := check("--head", id), check(), check("--worktree")
	status := command{args: []string{"git", "-C", dir, "status", "--porcelain"}}
	used := b.inTurn(byID, ofHead, onDisk, status)
	both := slices.Clone(used[3])
	for i := range both {
		both[i].wall += used[0][i].wall
		both[i].cpu += used[0][i].cpu
	}
	row := func(name string, gate, peer []usage, commands ...command) figure {
		ratio := median(pairs(gate, peer), cpuRatio)
		return b.figure(name, gate, peer, times(ratio)+" of CPU", "<= 1.2x of CPU", ratio <= 1.2, commands...)
	}
	listings := fmt.Sprintf(", %d flat listings; peer: ", size.Listings)
	return []figure{row("check of HEAD"+listings+"the check by its id", used[1], used[0], ofHead, byID),
		row("check --worktree"+listings+"git status and the check by id", used[2], both, onDisk, status, byID)}
}

// checkedOut returns a clone of a generated registry with a work tree at the branch pr, and the id of its commit.
func (b *bench) checkedOut(size fixture.Bulk) (dir, id string) {
	from := b.registry(size)
	dir = from + "-checked-out"
	if _, err := os.Stat(dir); err != nil {
		unfinished := dir + ".unfinished"
		try(os.RemoveAll(unfinished))
		cmd := exec.CommandContext(b.ctx, "git", "clone", "-q", "-b", "pr", from, unfinished)
		cmd.Env, cmd.Stderr = plainGit, os.Stderr
		try(cmd.Run())
		try(os.Rename(unfinished, dir))
	}
	for _, args := range [][]string{{"status"}, {"rev-parse", "HEAD"}} { // the first writes the times of files
		cmd := exec.CommandContext(b.ctx, "git", append([]string{"-C", dir}, args...)...)
		cmd.Env = append(slices.Clone(plainGit), "GIT_OPTIONAL_LOCKS=1")
		out, err := cmd.Output()
		try(err)
		id = strings.TrimSpace(string(out))
	}
	return dir, id
}
