package frame

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/foreign"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence/live"
)

// progressEvery is the time before the first line of progress, and between two of them.
const progressEvery = 500 * time.Millisecond

// progress writes one line on stderr, again and again, while the network is busy. It writes nothing unless stderr is a
// terminal.
type progress struct {
	out   io.Writer
	width int // 0: stderr is not a terminal
	ticks <-chan time.Time

	mu     sync.Mutex
	last   live.Progress
	ended  chan struct{} // nil until the first request
	writer sync.WaitGroup
	once   sync.Once // of stop
}

func newProgress(sys IO) *progress { return &progress{out: sys.Stderr, width: sys.ErrWidth} }

// set notes how far the requests are. The first call starts the writer.
func (p *progress) set(now live.Progress) {
	if p.width == 0 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last = now
	if p.ended == nil {
		p.ended = make(chan struct{})
		p.writer.Go(p.write)
	}
}

// write writes a line at each tick until stop, and then clears it.
func (p *progress) write() {
	ticks := p.ticks
	if ticks == nil {
		t := time.NewTicker(progressEvery)
		defer t.Stop()
		ticks = t.C
	}
	for written := false; ; written = true {
		select {
		case now := <-ticks:
			p.mu.Lock()
			line := progressLine(p.last, now)
			p.mu.Unlock()
			fmt.Fprintf(p.out, "\r\x1b[K%s", plain.Cut(foreign.Line(line), max(p.width-2, 0))) // a full line would wrap
		case <-p.ended:
			if written {
				fmt.Fprint(p.out, "\r\x1b[K")
			}
			return
		}
	}
}

func progressLine(p live.Progress, now time.Time) string {
	line := fmt.Sprintf("fetching %d of %d", p.Done, p.Total)
	if p.Host == "" {
		return line
	}
	return fmt.Sprintf("%s: %s, attempt %d of %d, %ds", line, p.Host, p.Attempt, p.Allows,
		int(max(now.Sub(p.Since), 0).Seconds()))
}

// stop clears the line. Nothing is written after it returns.
func (p *progress) stop() {
	p.once.Do(func() {
		p.mu.Lock()
		ended := p.ended
		p.mu.Unlock()
		if ended != nil {
			close(ended)
			p.writer.Wait()
		}
	})
}
