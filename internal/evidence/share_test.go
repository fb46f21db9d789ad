package evidence

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"
)

// counting answers each request, and counts.
type counting struct {
	Source
	mu    sync.Mutex
	asked map[Request]int
	gone  []string
}

func (c *counting) Observe(ctx context.Context, r Request) Observation {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked[r]++
	if err := ctx.Err(); err != nil {
		return Refuse(Unavailable, CodeBudget, "%v", err).Observation(r)
	}
	return Observation{Request: r, State: Obtained, Body: []byte("x")}
}

func (c *counting) Reaches(string, string) bool { return true }

func (c *counting) Forget(r Request) { c.gone = append(c.gone, r.Target) }

func TestShares(t *testing.T) {
	of := func(target string) Request { return Request{HTTPS, "https://" + target + ".example/", 10} }
	src := &counting{asked: map[Request]int{}}
	shares := NewShares(src, false)
	a, b := shares.Share("a", 0), shares.Share("b", 0)
	for _, s := range []*Share{a, b} {
		if o := s.Observe(t.Context(), of("both")); o.State != Obtained {
			t.Fatal(o)
		}
	}
	a.Observe(t.Context(), of("one"))
	a.Observe(t.Context(), of("one"))
	if n := src.asked[of("one")]; n != 1 {
		t.Errorf("one share asked %d times for one document", n)
	}
	if n := len(a.Observations()); n != 2 {
		t.Errorf("the first share has %d observations, want its own 2", n)
	}
	if n := len(b.Observations()); n != 1 {
		t.Errorf("the second share has %d observations, want its own 1", n)
	}
	a.Close()
	if want := []string{"https://one.example/"}; !slices.Equal(src.gone, want) {
		t.Errorf("gone are %q, want %q: the other is in use", src.gone, want)
	}
	b.Close()
	if want := []string{"https://one.example/", "https://both.example/"}; !slices.Equal(src.gone, want) {
		t.Errorf("gone are %q, want %q", src.gone, want)
	}

	src.gone = nil
	kept := NewShares(src, true)
	s := kept.Share("c", 0)
	s.Observe(t.Context(), of("one"))
	s.Close()
	if src.gone != nil {
		t.Errorf("gone are %q in a run that keeps all", src.gone)
	}
}

func TestFiles(t *testing.T) {
	src := Files(time.Unix(0, 0), map[string][]byte{FileReceipt: []byte("{}"), FileManifest: []byte("12345")})
	for _, c := range []struct {
		r    Request
		want State
		code string
	}{
		{Request{File, FileReceipt, 5}, Obtained, ""},
		{Request{File, FileManifest, 4}, Invalid, CodeTooLarge},
		{Request{File, FileDIDDocument, 5}, Unavailable, CodeNotGiven},
		{Request{HTTPS, "https://a.example/", 5}, Unavailable, CodeNotGiven},
	} {
		o := src.Observe(t.Context(), c.r)
		if o.State != c.want || o.Code != c.code || (o.Body != nil) != (c.want == Obtained) ||
			(o.SHA256 != "") != (c.want == Obtained) {
			t.Errorf("%s: %+v", c.r, o)
		}
	}
	b := &Bundle{Mode: "verify", Now: time.Unix(0, 0).UTC(), Observations: src.Observations()}
	again, err := DecodeBundle("b", b.Encode())
	if err != nil || len(again.Observations) != 4 {
		t.Errorf("the bundle reads back as %v, %v", again, err)
	}
}
