package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/fixture"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/ghtest"
)

// mirror measures a mirror's first run next to git's clone of the same, its runs with nothing new, and what it serves.
func (b *bench) mirror() []figure {
	server, err := ghtest.ServeGit(b.dir)
	try(err)
	defer server.Close()
	figures := b.mirrorFirst(server.URL)
	for _, row := range []struct {
		size fixture.Bulk
		most float64 // seconds
		must string
	}{
		{fixture.Bulk{Listings: 1000, Commits: 1000}, 0.15, "< 150 ms, <= 400 MiB"},
		{fixture.Bulk{Listings: 10_000, Commits: 10_000}, 1, "< 1 s, <= 400 MiB"},
	} {
		again, _ := b.mirrorOf(server.URL, b.scaled(row.size))
		used := b.inTurn(again)
		figures = append(figures, b.figure(fmt.Sprintf("mirror, nothing new, %d listings, with its reports",
			b.scaled(row.size).Listings), used[0], nil, "", row.must,
			median(used[0], wall) < row.most && median(used[0], memory) <= 400, again))
	}
	served := b.mirrorListens(server.URL)
	return append(figures, served)
}

func (b *bench) scaled(size fixture.Bulk) fixture.Bulk {
	if b.quick {
		size.Listings, size.Commits = size.Listings/100, size.Commits/100
	}
	return size
}

// mirrorOf returns a run of a mirror of a generated registry, and its directory.
func (b *bench) mirrorOf(server string, size fixture.Bulk) (c command, dir string) {
	origin := b.registry(size)
	url := server + "/" + filepath.Base(origin) + "/.git"
	dir = filepath.Join(b.temporary, fmt.Sprintf("mirror-%d", size.Listings))
	return command{args: []string{b.gate, "mirror", url, dir, "--offline", "--at", fixture.Clock.Format(time.RFC3339)}},
		dir
}

func (b *bench) mirrorFirst(server string) []figure {
	size := b.scaled(fixture.Bulk{Listings: 10_000, Commits: 10_000})
	first, dir := b.mirrorOf(server, size)
	first.prepare = func() { try(os.RemoveAll(dir)) }
	state := filepath.Join(b.temporary, "mirror-state")
	audit := b.auditOffline(filepath.Join(dir, "registry.git"), "main", "--origin", "bench", "--checkpoint", state)
	for _, format := range []string{"json", "html", "prometheus"} {
		audit.args = append(audit.args, "--report", format+"="+filepath.Join(b.temporary, "mirror-report."+format))
	}
	audit.prepare = func() { try(os.RemoveAll(state)) }
	bare := filepath.Join(b.temporary, "mirror-clone.git")
	clone := command{args: []string{"git", "clone", "-q", "--bare", first.args[2], bare},
		prepare: func() { try(os.RemoveAll(bare)) }}
	used := b.inTurn(first, audit, clone)
	ratios := make([]float64, len(used[0]))
	for i := range ratios {
		ratios[i] = (used[0][i].wall - used[1][i].wall).Seconds() / used[2][i].wall.Seconds()
	}
	ratio, peak := median(ratios, func(r float64) float64 { return r }), median(used[0], memory)
	f := b.figure(fmt.Sprintf("first mirror, %d listings, %d commits; peer: git clone --bare, compared with what it "+
		"takes more than an audit with its reports", size.Listings, size.Commits), used[0], used[2], times(ratio),
		"<= 1.5x, <= 400 MiB", ratio <= 1.5 && peak <= 400, first, audit, clone)
	f.gate += ", of which the audit " + spread(used[1])
	return []figure{f}
}

// load is what a mirror is asked while it serves.
type load struct {
	pages, reports int // requests a second for the three pages, and for the report
	lasts          time.Duration
	beside         int // slow clients, and as many broken ones
}

// mirrorListens asks a mirror that serves a registry of 1,000 listings.
func (b *bench) mirrorListens(server string) figure {
	asked := load{2000, 20, 10 * time.Second, 100}
	if b.quick {
		asked = load{100, 5, time.Second, 10}
	}
	size := b.scaled(fixture.Bulk{Listings: 1000, Commits: 1000})
	run, dir := b.mirrorOf(server, size)
	try(os.RemoveAll(dir))
	args := append(slices.Clone(run.args[1:5]), "--every", "1h", "--listen", "127.0.0.1:0")
	cmd := exec.CommandContext(b.ctx, b.gate, args...)
	cmd.Env = plainGit
	out, err := cmd.StdoutPipe()
	try(err)
	messages, err := cmd.StderrPipe()
	try(err)
	try(cmd.Start())
	took, grew, err := asked.on(cmd.Process.Pid, bufio.NewReader(messages), bufio.NewReader(out))
	try(errors.Join(err, cmd.Process.Signal(syscall.SIGTERM), cmd.Wait()))
	cpu := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	late := took.Seconds()
	return figure{name: fmt.Sprintf("mirror --listen, %d listings: /, /metrics and /healthz at %d requests a second "+
		"and /report.json at %d for %s, with %d slow and as many broken clients", size.Listings, asked.pages,
		asked.reports, asked.lasts, asked.beside),
		gate: fmt.Sprintf("no error; 99 of 100 answered within %s (%s of CPU)", seconds(late),
			seconds(cpu.Seconds())),
		memory: fmt.Sprintf("%d MiB, %+d MiB", peakMemory(cmd.ProcessState)>>20, grew>>20),
		must:   "no error, 99 of 100 within 1 s, memory flat (<= +64 MiB)",
		holds:  late <= 1 && grew <= 64<<20, unjudged: b.quick,
		commands: []string{command{args: append([]string{b.gate}, args...)}.String()}}
}

// on asks a mirror that was begun, and gives within which time 99 of 100 requests were answered, counted from when they
// were due, and by how much its resident set grew from the first tenth on. Any answer but the right one is an error.
func (l load) on(pid int, messages, out *bufio.Reader) (late time.Duration, grew int64, err error) {
	line, err := messages.ReadString('\n')
	url, ok := strings.CutPrefix(strings.TrimSuffix(line, "/\n"), "serving on ")
	if !ok {
		return 0, 0, fmt.Errorf("it says %q: %w", line, err)
	}
	go io.Copy(io.Discard, messages) // which ends with the process
	if _, err := out.ReadString('\n'); err != nil {
		return 0, 0, fmt.Errorf("waiting for its first run: %w", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	for i := range l.beside {
		go slow(ctx, strings.TrimPrefix(url, "http://"), i)
		go broken(ctx, strings.TrimPrefix(url, "http://"))
	}
	transport := &http.Transport{MaxIdleConnsPerHost: 256, DisableCompression: true}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport, Timeout: 30 * time.Second}
	var mu sync.Mutex
	var all []time.Duration
	var failed error
	begun := time.Now()
	var asking sync.WaitGroup
	ask := func(rate int, paths ...string) {
		for i := range int(l.lasts.Seconds() * float64(rate)) {
			due := begun.Add(time.Duration(i) * time.Second / time.Duration(rate))
			time.Sleep(time.Until(due))
			asking.Go(func() {
				err := get(client, url+paths[i%len(paths)])
				mu.Lock()
				defer mu.Unlock()
				all = append(all, time.Since(due))
				failed = errors.Join(failed, err)
			})
		}
	}
	before := make(chan int64, 1)
	time.AfterFunc(l.lasts/10, func() { before <- residentSet(pid) })
	asking.Go(func() { ask(l.reports, "/report.json") })
	ask(l.pages, "/", "/metrics", "/healthz")
	asking.Wait()
	if failed != nil {
		return 0, 0, failed
	}
	slices.Sort(all)
	return all[len(all)*99/100], residentSet(pid) - <-before, nil
}

// get asks for a page, which must come whole and with its security headers.
func get(client *http.Client, url string) error {
	resp, err := client.Get(url)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	n, err := io.Copy(io.Discard, resp.Body)
	if err != nil {
		return err
	}
	for _, name := range []string{"Content-Security-Policy", "X-Content-Type-Options", "X-Frame-Options",
		"Referrer-Policy"} {
		if resp.Header.Get(name) == "" {
			return fmt.Errorf("%s comes without %s", url, name)
		}
	}
	if resp.StatusCode != http.StatusOK || n == 0 {
		return fmt.Errorf("%s: status %d, %d bytes", url, resp.StatusCode, n)
	}
	return nil
}

// slow acts as a client that sends half a request, or reads a little of a reply, and waits.
func slow(ctx context.Context, address string, i int) {
	c, err := net.Dial("tcp", address)
	if err != nil {
		return
	}
	defer c.Close()
	text := "GET /report.json HTTP/1.1\r\nHost: x\r\n"
	if i%2 == 0 {
		text += "\r\n"
	}
	if _, err := io.WriteString(c, text); err == nil {
		_, _ = c.Read(make([]byte, 100))
		<-ctx.Done()
	}
}

// broken acts as a client that sends malformed requests, or leaves at once, again and again.
func broken(ctx context.Context, address string) {
	for i := 0; ctx.Err() == nil; i++ {
		if c, err := net.Dial("tcp", address); err == nil {
			texts := []string{"\x16\x03\x01\x00", "GET / HTTP/9\r\n\r\n", "GET / HTTP/1.1\r\nHost: x\r\n\r\n"}
			_, _ = io.WriteString(c, texts[i%len(texts)])
			_ = c.(*net.TCPConn).SetLinger(0)
			_ = c.Close()
		}
		select {
		case <-ctx.Done():
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// residentSet returns a process's resident set in bytes; 0 if the system does not show it.
func residentSet(pid int) int64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		return 0
	}
	var size, resident int64
	if _, err := fmt.Sscan(string(text), &size, &resident); err != nil {
		return 0
	}
	return resident * int64(os.Getpagesize())
}
