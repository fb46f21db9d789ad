package evidence

import (
	"context"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
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
		refused, _ := classify(ctx, err)
		return refused.observation(r)
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

// patient answers whoever has time, and lets others wait for their end.
type patient struct{ asked chan struct{} }

func (p *patient) Observe(ctx context.Context, r Request) Observation {
	p.asked <- struct{}{}
	if d, hurried := ctx.Deadline(); hurried && time.Until(d) < time.Minute {
		<-ctx.Done()
		return interrupted(ctx).observation(r)
	}
	return Observation{Request: r, State: Obtained, Body: []byte("x"), SHA256: plain.SHA256([]byte("x")), Status: 200,
		Attempts: 1}
}

// The end of one subject's budget is no other's: what was asked within it is asked for again, and a replay tells both
// what they were told.
func TestShareBudget(t *testing.T) {
	web := &patient{make(chan struct{}, 3)}
	src := &Live{now: testNow, layers: web, entries: map[Request]*entry{}}
	shares := NewShares(src, true)
	both, late := get("https://both.example/", 10), get("https://late.example/", 10)
	spent, fresh := shares.Share("spent", 10*time.Millisecond), shares.Share("fresh", time.Hour)
	for _, r := range []Request{both, late} {
		if o := spent.Observe(t.Context(), r); o.State != Unavailable || o.Code != CodeBudget {
			t.Errorf("with its budget spent a share observes %+v", o)
		}
	}
	if o := fresh.Observe(t.Context(), both); o.State != Obtained {
		t.Errorf("behind one whose budget is spent a share observes %+v", o)
	}
	if len(web.asked) > 2 {
		t.Error("with its budget spent a share asks")
	}
	if spent.Reaches("schema", "spent") || !fresh.Reaches("schema", "fresh") {
		t.Error("the budget of one share is that of another")
	}
	told := map[string][]Observation{"spent": spent.Observations(), "fresh": fresh.Observations()}
	spent.Close()
	fresh.Close()

	b := &Bundle{Mode: "verify", Now: testNow, Observations: src.Observations(), NotReached: shares.NotReached()}
	b, err := DecodeBundle("b", b.Encode())
	if err != nil {
		t.Fatal(err)
	}
	shares = NewShares(NewRecorded(b), true)
	for subject, want := range told {
		again := shares.Share(subject, 0)
		for _, o := range want {
			again.Observe(t.Context(), o.Request)
		}
		if got := again.Observations(); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: a replay observes %+v, the run %+v", subject, got, want)
		}
		if again.Reaches("schema", subject) != (subject == "fresh") {
			t.Errorf("%s: a replay reaches something else than the run", subject)
		}
	}
}

// Who waits for a request that another's end cuts short makes it anew.
func TestCutShort(t *testing.T) {
	web := &patient{make(chan struct{}, 2)}
	src := &Live{layers: web, entries: map[Request]*entry{}}
	short, end := context.WithTimeout(t.Context(), 30*time.Second)
	cut, whole := make(chan Observation), make(chan Observation)
	go func() { cut <- src.Observe(short, get("https://a.example/", 10)) }()
	<-web.asked
	go func() { whole <- src.Observe(t.Context(), get("https://a.example/", 10)) }()
	end()
	if o := <-cut; o.Code != CodeBudget {
		t.Errorf("who has no time observes %+v", o)
	}
	if o := <-whole; o.State != Obtained {
		t.Errorf("who waited for it observes %+v", o)
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
