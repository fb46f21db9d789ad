package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/fixture"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/webtest"
)

// delay is how long each server of the bench's web takes to answer.
const delay = 50 * time.Millisecond

// What the gate allows itself by default: requests in flight in all, and to one host.
const (
	jobs    = 32
	perHost = 4
)

// world returns a registry and its web, served by this process; build fills in the pull request.
func (b *bench) world(name string, build func(*fixture.World)) *fixture.World {
	w, err := fixture.New(filepath.Join(b.temporary, name), fixture.Clock, webtest.Options{Delay: delay})
	try(err)
	w.Skeleton()
	build(w)
	try(w.Repo.Sync())
	return w
}

func (b *bench) checkOnline(w *fixture.World, more ...string) command {
	args := append([]string{b.gate, "check"}, w.Args()...)
	return command{args: append(append(args, w.RangeArgs()...), more...)}
}

// witnesses measures the online check of one new listing at L5, next to the same check without network.
func (b *bench) witnesses() []figure {
	w := b.world("witnesses", func(w *fixture.World) {
		w.Add(
			fixture.Implementation{Slug: "ada", Level: "L4", Witnesses: fixture.By("bob")},
			fixture.Implementation{Slug: "bob", Level: "L4", Witnesses: fixture.By("cyd")},
			fixture.Implementation{Slug: "cyd", Level: "L4", Witnesses: fixture.By("ada")},
			fixture.Implementation{Slug: "nova", Level: "L5", Witnesses: fixture.By("ada", "bob", "cyd")},
		)
		for _, slug := range []string{"ada", "bob", "cyd"} {
			try(w.List(slug))
		}
		w.Commit("List three witnesses")
		w.Pull("pr")
		try(w.List("nova"))
		w.Commit("List nova")
	})
	defer w.Close()
	online := b.checkOnline(w)
	offline := command{args: []string{b.gate, "check", "--repo", w.Repo.Dir, "--at", fixture.Clock.Format(time.RFC3339),
		"--offline"}}
	offline.args = append(offline.args, w.RangeArgs()...)
	used := b.inTurn(online, offline)
	beyond := median(pairs(used[0], used[1]),
		func(p pair) float64 { return p.gate.wall.Seconds() - p.peer.wall.Seconds() })
	return []figure{b.figure("online check of one new L5 listing with three witnesses, 50 ms a reply; peer: offline",
		used[0], used[1], "+"+seconds(beyond), "<= +200 ms", beyond <= 0.2, online, offline)}
}

// many returns a world in which the branch pr lists many implementations, each on a host of its own.
func (b *bench) many(name string) (*fixture.World, int) {
	listings := 1000
	if b.quick {
		listings = 20
	}
	w := b.world(name, func(w *fixture.World) {
		w.Commit("Begin")
		w.Pull("pr")
		for n := range listings {
			slug := fmt.Sprintf("agent-%04d", n)
			w.Add(fixture.Implementation{Slug: slug})
			try(w.List(slug))
		}
		w.Commit("List many")
	})
	return w, listings
}

// online measures the check of a pull request that lists many implementations.
func (b *bench) online() []figure {
	w, listings := b.many("online")
	defer w.Close()
	return b.besideLeastTime(fmt.Sprintf("online check of %d new listings, each on its own host, 50 ms a reply",
		listings), b.checkOnline(w), listings)
}

// besideLeastTime measures a command that fetches what is said about so many listings.
func (b *bench) besideLeastTime(name string, c command, listings int) []figure {
	used := b.inTurn(c)
	// Each listing has a DID Document, Manifest and Receipt, each on the listing's host, and an answer of the one RDAP
	// server.
	least, why := leastTime(4*listings, listings)
	ratio := median(used[0], wall) / least.Seconds()
	f := b.figure(name+"; peer: "+why, used[0], nil, times(ratio), "<= 1.5x", ratio <= 1.5, c)
	f.peer = seconds(least.Seconds())
	return []figure{f}
}

// receiptBytes is the size of the Receipt of the row sharedReceipt, within its cap of 1 MiB.
const receiptBytes = 950_000

// sharedReceipt measures the check of a pull request whose listings pin one Receipt, large and of many values.
func (b *bench) sharedReceipt() []figure {
	listings := 1200
	if b.quick {
		listings = 20
	}
	w := b.world("receipt", func(w *fixture.World) {
		w.Commit("Begin")
		w.Pull("pr")
		w.Add(fixture.Implementation{Slug: "agent", Receipt: func(d *fixture.Doc) {
			const run = `{"id": %d, "ok": true, "took": 0.25, "note": "012345678901234567890123456789012345678901234567890123456789"}`
			var runs []json.RawMessage
			for size := 0; size < receiptBytes-2000; {
				text := fmt.Appendf(nil, run, 100_000+len(runs))
				size += len(text) + len(",\n        ") + 4*len("\n  ")
				runs = append(runs, text)
			}
			d.Set("/runs", runs)
		}})
		documents, err := w.Publish("agent")
		try(err)
		for n := range listings {
			slug := fmt.Sprintf("agent-%04d", n)
			w.Repo.Write(fixture.ListingPath(slug), bytes.Replace(documents.Listing, []byte(`"agent"`),
				[]byte(`"`+slug+`"`), 1))
		}
		w.Commit("List one many times")
	})
	defer w.Close()
	check := b.checkOnline(w, "--budget", "10s")
	check.exit = 1 // they share a tool_did
	used := b.inTurn(check)
	return []figure{b.figure(
		fmt.Sprintf("online check of %d new listings that pin one Receipt of 0.95 MB, 50 ms a reply", listings),
		used[0], nil, "", "< 3 s of CPU", median(used[0], cpu) < 3, check)}
}

// leastTime returns the minimum time for so many documents, so many of them on the busiest host, and why.
func leastTime(documents, busiest int) (time.Duration, string) {
	all, one := time.Duration(documents)*delay/jobs, time.Duration(busiest)*delay/perHost
	if all > one {
		return all, fmt.Sprintf("%d documents x 50 ms / %d jobs", documents, jobs)
	}
	return one, fmt.Sprintf("%d documents of the busiest host x 50 ms / %d", busiest, perHost)
}
