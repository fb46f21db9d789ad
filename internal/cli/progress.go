package cli

import (
	"io"
	"sync"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
)

// progress shows on stderr how many requests are done while the network is busy; only on a terminal.
type progress struct {
	mu   sync.Mutex
	out  io.Writer
	bars *mpb.Progress
	bar  *mpb.Bar
}

func newProgress(sys IO) *progress {
	if !sys.ErrTerminal {
		return &progress{}
	}
	return &progress{out: sys.Stderr}
}

func (p *progress) set(done, total int) {
	if p.out == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bars == nil {
		// A bar made with a total is complete, and gone, once that is reached; more requests follow.
		p.bars = mpb.New(mpb.WithOutput(p.out), mpb.WithWidth(40), mpb.WithAutoRefresh())
		p.bar = p.bars.AddBar(0, mpb.BarRemoveOnComplete(),
			mpb.PrependDecorators(decor.Name("fetching "), decor.CountersNoUnit("%d of %d")),
			mpb.AppendDecorators(decor.AverageSpeed(0, " %.0f/s"), decor.Name(" "),
				decor.AverageETA(decor.ET_STYLE_GO)))
	}
	p.bar.SetTotal(int64(total), false)
	p.bar.SetCurrent(int64(done))
}

func (p *progress) stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bars != nil {
		p.bar.Abort(true)
		p.bars.Wait()
	}
}
