package verify

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence/bundle"
)

// counting answers each request, and counts.
type counting struct {
	evidence.Source
	mu    sync.Mutex
	asked map[evidence.Request]int
	gone  []string
}

func (c *counting) Observe(ctx context.Context, r evidence.Request) evidence.Observation {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked[r]++
	if err := ctx.Err(); err != nil {
		return evidence.Refuse(evidence.Unavailable, evidence.CodeBudget, "%v", err).Observation(r)
	}
	return evidence.Observation{Request: r, State: evidence.Obtained, Body: []byte("x")}
}

func (c *counting) Reaches(string, string) bool { return true }

func (c *counting) Forget(r evidence.Request) { c.gone = append(c.gone, r.Target) }

func of(p evidence.Protocol, target string, most int64) evidence.Request {
	return evidence.Request{Protocol: p, Target: target, MaxBytes: most}
}

func TestShares(t *testing.T) {
	at := func(target string) evidence.Request {
		return of(evidence.HTTPS, "https://"+target+".example/", 10)
	}
	src := &counting{asked: map[evidence.Request]int{}}
	shares := NewShares(src, false)
	a, b := shares.Share("a", 0), shares.Share("b", 0)
	for _, s := range []*Share{a, b} {
		if o := s.Observe(t.Context(), at("both")); o.State != evidence.Obtained {
			t.Fatal(o)
		}
	}
	a.Observe(t.Context(), at("one"))
	a.Observe(t.Context(), at("one"))
	if n := src.asked[at("one")]; n != 1 {
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
	s.Observe(t.Context(), at("one"))
	s.Close()
	if src.gone != nil {
		t.Errorf("gone are %q in a run that keeps all", src.gone)
	}
}

func TestFiles(t *testing.T) {
	src := Files(time.Unix(0, 0), map[string][]byte{evidence.FileReceipt: []byte("{}"),
		evidence.FileManifest: []byte("12345")})
	for _, c := range []struct {
		r    evidence.Request
		want evidence.State
		code string
	}{
		{of(evidence.File, evidence.FileReceipt, 5), evidence.Obtained, ""},
		{of(evidence.File, evidence.FileManifest, 4), evidence.Invalid, evidence.CodeTooLarge},
		{of(evidence.File, evidence.FileDIDDocument, 5), evidence.Unavailable, evidence.CodeNotGiven},
		{of(evidence.HTTPS, "https://a.example/", 5), evidence.Unavailable, evidence.CodeNotGiven},
	} {
		o := src.Observe(t.Context(), c.r)
		if o.State != c.want || o.Code != c.code || (o.Body != nil) != (c.want == evidence.Obtained) ||
			(o.SHA256 != "") != (c.want == evidence.Obtained) {
			t.Errorf("%s: %+v", c.r, o)
		}
	}
	b := &bundle.Bundle{Mode: "verify", Now: time.Unix(0, 0).UTC(), Observations: src.Observations()}
	again, err := bundle.Decode("b", b.Encode())
	if err != nil || len(again.Observations) != 4 {
		t.Errorf("the bundle reads back as %v, %v", again, err)
	}
}
