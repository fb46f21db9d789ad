package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/fixture"
)

// limits are what must hold of a command at a size: seconds, and MiB.
type limits struct{ wall, memory float64 }

// scale measures check, audit and list as a registry grows, next to git printing its listings, and the size of their
// reports. It writes the table of docs/scale.md.
func (b *bench) scale() []figure {
	sizes := []fixture.Bulk{{Listings: 1000}, {Listings: 10_000}, {Listings: 100_000}, {Listings: 1_000_000}}
	commits := 1000
	if b.quick {
		sizes, commits = sizes[:1], 10
	}
	var figures []figure
	for _, size := range sizes {
		size.Commits, size.New = commits, 1
		dir := b.registry(size)
		peer := b.catFile(dir)
		to := filepath.Join(b.temporary, fmt.Sprintf("reports-%d", size.Listings))
		try(os.MkdirAll(to, 0o700))
		report := func(c command, names ...string) (command, []string) {
			var files []string
			for _, n := range names {
				file := filepath.Join(to, c.args[1]+"."+n)
				c.args, files = append(c.args, "--report", n+"="+file), append(files, file)
			}
			return c, files
		}
		check, checked := report(b.checkOffline(dir), "json")
		audit, audited := report(b.auditOffline(dir, "main"), "json", "html")
		for _, one := range []struct {
			command command
			reports []string
			must    map[int]limits
		}{
			{check, checked, map[int]limits{1_000_000: {12, 800}}},
			{audit, audited, map[int]limits{100_000: {6, 400}, 1_000_000: {90, 1024}}},
			{b.listOffline(dir), nil, nil},
		} {
			used := b.inTurn(one.command, peer)
			written := sizesOf(one.reports)
			must, l := "", one.must[size.Listings]
			if l != (limits{}) {
				must = fmt.Sprintf("<= %s, <= %.0f MiB", seconds(l.wall), l.memory)
			}
			ratio := append([]string{times(median(pairs(used[0], used[1]), wallRatio))}, written...)
			figures = append(figures, b.figure(fmt.Sprintf("%s, %d listings, %d commits; peer: git cat-file --batch",
				one.command.args[1], size.Listings, commits), used[0], used[1], strings.Join(ratio, ", "), must,
				median(used[0], wall) <= l.wall && median(used[0], memory) <= l.memory, one.command, peer))
		}
		try(os.RemoveAll(to))
	}
	return figures
}

// sizesOf returns how large reports are, each with its format.
func sizesOf(files []string) (sizes []string) {
	for _, file := range files {
		info, err := os.Stat(file)
		try(err)
		sizes = append(sizes, fmt.Sprintf("%s of %.2f MiB", filepath.Ext(file)[1:], float64(info.Size())/(1<<20)))
	}
	return sizes
}
