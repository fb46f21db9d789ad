package verify

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence/bundle"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence/sources"
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
		return sources.Refuse(evidence.Unavailable, evidence.CodeBudget, "%v", err).Observation(r)
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

// Requests of one document are one request, and of what was asked for twice at once one Close is enough.
func TestShareAsksOnce(t *testing.T) {
	src := &counting{asked: map[evidence.Request]int{}}
	shares := NewShares(src, false)
	s := shares.Share("s", 0)
	for _, target := range []string{"https://A.example/", "https://a.example/"} {
		if o := s.Observe(t.Context(), of(evidence.HTTPS, target, 10)); o.Target != "https://a.example/" {
			t.Errorf("asked for %s: %+v", target, o)
		}
	}
	one := of(evidence.HTTPS, "https://a.example/", 10)
	if n := src.asked[one]; n != 1 || len(s.Observations()) != 1 {
		t.Errorf("two spellings of one URL are asked for %d times: %+v", n, s.Observations())
	}
	shares = NewShares(&nested{counting: src, share: func() *Share { return s }}, false)
	s = shares.Share("s", 0)
	s.Observe(t.Context(), one)
	s.Close()
	if want := []string{one.Target}; !slices.Equal(src.gone, want) || len(shares.users) > 0 {
		t.Errorf("gone are %q, want %q; in use are %v", src.gone, want, shares.users)
	}
}

// nested asks a share for the same document before it answers.
type nested struct {
	*counting
	share func() *Share
	asked bool
}

func (n *nested) Observe(ctx context.Context, r evidence.Request) evidence.Observation {
	if !n.asked {
		n.asked = true
		n.share().Observe(ctx, r)
	}
	return n.counting.Observe(ctx, r)
}

// An answer counts if the budget lasted until it, and another than the end of the budget counts after it.
func TestShareBudget(t *testing.T) {
	r := of(evidence.HTTPS, "https://a.example/", 10)
	obtained := evidence.Observation{Request: r, State: evidence.Obtained}
	spent := sources.Refuse(evidence.Unavailable, evidence.CodeBudget, "by the source").Observation(r)
	end := sources.Refuse(evidence.Unavailable, evidence.CodeBudget, "%v", sources.ErrBudget).Observation(r)
	for _, c := range []struct {
		name    string
		reaches []bool // what the source says, one question after the other
		answer  evidence.Observation
		want    evidence.Observation
	}{
		{"time before and after", []bool{true, true}, obtained, obtained},
		{"no time", []bool{false, false}, obtained, end},
		{"no time after an answer", []bool{true, false}, obtained, obtained},
		{"no time after none", []bool{true, false}, spent, end},
		{"the source's own end", []bool{true, true}, spent, spent},
	} {
		src := &ending{always: always{c.answer}, reaches: c.reaches}
		if got := NewShares(src, false).Share("s", 0).Observe(t.Context(), r); got.Message != c.want.Message ||
			got.State != c.want.State || got.Code != c.want.Code || got.Request != r {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
	shares := NewShares(always{obtained}, false)
	s := shares.Share("s", 1)
	for s.Budget.Reaches("before", "s") { // a nanosecond is over
	}
	if s.Reaches("schema", "s") || s.Observe(t.Context(), r).Code != evidence.CodeBudget {
		t.Error("a share whose budget is over has time left")
	}
	s.Close()
	want := []string{"before", "https://a.example/, at most 10 bytes", "schema"}
	if got := shares.NotReached(); len(got) != 1 || !slices.Equal(got["s"], want) {
		t.Errorf("not reached are %q, want %q", got, want)
	}
}

// ending is a source whose budget ends.
type ending struct {
	always
	reaches []bool
}

func (e *ending) Reaches(string, string) bool {
	var now bool
	now, e.reaches = e.reaches[0], e.reaches[1:]
	return now
}

func TestFiles(t *testing.T) {
	src := Files(time.Unix(0, 0), map[string][]byte{sources.FileReceipt: []byte("{}"),
		sources.FileManifest: []byte("12345")})
	for _, c := range []struct {
		r    evidence.Request
		want evidence.State
		code string
	}{
		{of(evidence.File, sources.FileReceipt, 5), evidence.Obtained, ""},
		{of(evidence.File, sources.FileManifest, 5), evidence.Obtained, ""},
		{of(evidence.File, sources.FileManifest, 4), evidence.Invalid, evidence.CodeTooLarge},
		{of(evidence.File, sources.FileDIDDocument, 5), evidence.Unavailable, evidence.CodeNotGiven},
		{of(evidence.HTTPS, "https://a.example/", 5), evidence.Unavailable, evidence.CodeNotGiven},
		{of(evidence.RDAP, sources.FileReceipt, 5), evidence.Unavailable, evidence.CodeNotGiven},
	} {
		o := src.Observe(t.Context(), c.r)
		if o.State != c.want || o.Code != c.code || (o.Body != nil) != (c.want == evidence.Obtained) ||
			(o.SHA256 != "") != (c.want == evidence.Obtained) {
			t.Errorf("%s: %+v", c.r, o)
		}
	}
	b := &bundle.Bundle{Mode: "verify", Now: time.Unix(0, 0).UTC(), Observations: src.Observations()}
	again, err := bundle.Decode("b", b.Encode())
	if err != nil || len(again.Observations) != 6 {
		t.Errorf("the bundle reads back as %v, %v", again, err)
	}
}
