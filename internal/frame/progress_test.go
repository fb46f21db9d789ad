package frame

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence/live"
)

// TestProgress requires that nothing is written before the first tick, then one line that is written again in its
// place, and that stop clears it.
func TestProgress(t *testing.T) {
	var out bytes.Buffer
	start := time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)
	ticks := make(chan time.Time)
	p := newProgress(IO{Stderr: &out, ErrWidth: 80})
	p.ticks = ticks
	p.set(live.Progress{Done: 1, Total: 5, Host: "nova.example", Attempt: 1, Allows: 3, Since: start})
	p.set(live.Progress{Done: 2, Total: 5, Host: "nova.example", Attempt: 2, Allows: 3, Since: start})
	ticks <- start.Add(8 * time.Second)
	ticks <- start.Add(9 * time.Second)
	p.stop()
	p.stop()
	want := "\r\x1b[Kfetching 2 of 5: nova.example, attempt 2 of 3, 8s" +
		"\r\x1b[Kfetching 2 of 5: nova.example, attempt 2 of 3, 9s\r\x1b[K"
	if out.String() != want {
		t.Errorf("wrote %q, want %q", out.String(), want)
	}
}

// TestProgressStaysOut requires that a short run, and one whose stderr is not a terminal, write nothing, and that a
// line is never as wide as the terminal.
func TestProgressStaysOut(t *testing.T) {
	one := live.Progress{Total: 1, Host: strings.Repeat("nova.", 20) + "example", Attempt: 1, Allows: 3}
	for _, width := range []int{0, 80} {
		var out bytes.Buffer
		p := newProgress(IO{Stderr: &out, ErrWidth: width})
		p.ticks = make(chan time.Time)
		p.set(one)
		p.stop()
		if out.Len() > 0 {
			t.Errorf("width %d: wrote %q", width, out.String())
		}
	}
	var out bytes.Buffer
	ticks := make(chan time.Time)
	p := newProgress(IO{Stderr: &out, ErrWidth: 20})
	p.ticks = ticks
	p.set(one)
	ticks <- one.Since
	p.stop()
	line := strings.Split(out.String(), "\r\x1b[K")[1]
	if n := len([]rune(line)); n > 19 {
		t.Errorf("the line has %d columns: %q", n, line)
	}
}
