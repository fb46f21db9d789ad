package cli

import (
	"io"
	"testing"
)

// TestProgressGoesOn holds that a bar whose requests are all done goes on when more follow.
func TestProgressGoesOn(t *testing.T) {
	p := newProgress(IO{Stderr: io.Discard, ErrTerminal: true})
	defer p.stop()
	p.set(0, 1)
	p.set(1, 1)
	p.set(1, 12)
	if p.bar.Completed() || p.bar.Current() != 1 {
		t.Errorf("completed %v at %d of 12", p.bar.Completed(), p.bar.Current())
	}
}
