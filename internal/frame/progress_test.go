package frame

import (
	"bytes"
	"io"
	"strings"
	"sync"
	"testing"
	"time"
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

// shared is a buffer that the bar writes to while the test reads it.
type shared struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *shared) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *shared) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

func TestProgressTells(t *testing.T) {
	var out shared
	p := newProgress(IO{Stderr: &out, ErrTerminal: true})
	p.set(3, 12)
	for range 500 {
		if strings.Contains(out.String(), "3 of 12") {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	p.stop()
	text := out.String()
	_, after, _ := strings.Cut(text, "fetching 3 of 12")
	if rate, eta, found := strings.Cut(after, "/s "); !found || !strings.ContainsAny(rate, "0123456789") ||
		!strings.ContainsAny(eta, "0123456789") {
		t.Errorf("neither count, rate nor time left in %q", text)
	}
	var quiet shared
	p = newProgress(IO{Stderr: &quiet})
	p.set(3, 12)
	p.stop()
	if quiet.String() != "" {
		t.Errorf("not on a terminal: %q", quiet.String())
	}
}
