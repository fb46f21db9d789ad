package live

import (
	"context"
	"reflect"
	"testing"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence/bundle"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence/sources"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verify"
)

// patient answers whoever has time, and lets others wait for their end.
type patient struct{ asked chan struct{} }

func (p *patient) Observe(ctx context.Context, r evidence.Request) evidence.Observation {
	p.asked <- struct{}{}
	if d, hurried := ctx.Deadline(); hurried && time.Until(d) < time.Minute {
		<-ctx.Done()
		return interrupted(ctx).Observation(r)
	}
	return evidence.Observation{Request: r, State: evidence.Obtained, Body: []byte("x"),
		SHA256: plain.SHA256([]byte("x")), Status: 200,
		Attempts: 1}
}

// The end of one subject's budget is no other's: what was asked within it is asked for again, and a replay tells both
// what they were told.
func TestShareBudget(t *testing.T) {
	web := &patient{make(chan struct{}, 3)}
	src := &Source{now: testNow, Budget: sources.NewBudget(0), layers: web, entries: map[evidence.Request]*entry{}}
	shares := verify.NewShares(src, true)
	both, late := get("https://both.example/", 10), get("https://late.example/", 10)
	spent, fresh := shares.Share("spent", 10*time.Millisecond), shares.Share("fresh", time.Hour)
	for _, r := range []evidence.Request{both, late} {
		if o := spent.Observe(t.Context(), r); o.State != evidence.Unavailable || o.Code != evidence.CodeBudget {
			t.Errorf("with its budget spent a share observes %+v", o)
		}
	}
	if o := fresh.Observe(t.Context(), both); o.State != evidence.Obtained {
		t.Errorf("behind one whose budget is spent a share observes %+v", o)
	}
	if len(web.asked) > 2 {
		t.Error("with its budget spent a share asks")
	}
	if spent.Reaches("schema", "spent") || !fresh.Reaches("schema", "fresh") {
		t.Error("the budget of one share is that of another")
	}
	told := map[string][]evidence.Observation{"spent": spent.Observations(), "fresh": fresh.Observations()}
	spent.Close()
	fresh.Close()

	b := &bundle.Bundle{Mode: "verify", Now: testNow, Observations: src.Observations(),
		NotReached: shares.NotReached()}
	b = must.Get(bundle.Decode("b", b.Encode()))(t)
	shares = verify.NewShares(b.Source(), true)
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
	src := &Source{Budget: sources.NewBudget(0), layers: web, entries: map[evidence.Request]*entry{}}
	short, end := context.WithTimeout(t.Context(), 30*time.Second)
	cut, whole := make(chan evidence.Observation), make(chan evidence.Observation)
	go func() { cut <- src.Observe(short, get("https://a.example/", 10)) }()
	<-web.asked
	go func() { whole <- src.Observe(t.Context(), get("https://a.example/", 10)) }()
	end()
	if o := <-cut; o.Code != evidence.CodeBudget {
		t.Errorf("who has no time observes %+v", o)
	}
	if o := <-whole; o.State != evidence.Obtained {
		t.Errorf("who waited for it observes %+v", o)
	}
}
