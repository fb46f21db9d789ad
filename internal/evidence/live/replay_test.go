package live

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence/bundle"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/webtest"
)

func TestRecordAndReplay(t *testing.T) {
	w := startWeb(t)
	w.Page("https://example.com/", []byte("{}"))
	w.Set("https://text.example/", webtest.Behaviour{Redirect: "http://\xff\x1b[31m::error::/"})
	w.SetDomain("example.com", webtest.Domain{Registered: registered})
	requests := []evidence.Request{
		get("https://Example.com/#x", 100), get("https://text.example/", 100), get("https://none.example/?\xff", 100),
		get("http://\xff", 100), {Protocol: evidence.RDAP, Target: "example.com", MaxBytes: evidence.MaxRDAP},
		{Protocol: evidence.WHOIS, Target: "example.com", MaxBytes: evidence.MaxWHOIS},
	}
	l := onWeb(t, w, nil)
	observed := make([]evidence.Observation, len(requests))
	for i, r := range requests {
		observed[i] = l.Observe(t.Context(), r)
	}
	text := (&bundle.Bundle{Mode: "check", Now: l.Now(), Observations: l.Observations()}).Encode()
	b := must.Get(bundle.Decode("bundle.json", text))(t)
	replay := b.Source()
	for i, r := range requests {
		if diff := cmp.Diff(observed[i], replay.Observe(t.Context(), r)); diff != "" {
			t.Errorf("%s (-live +replay):\n%s", r, diff)
		}
	}
	if diff := cmp.Diff(l.Observations(), replay.Observations()); diff != "" {
		t.Errorf("observations (-live +replay):\n%s", diff)
	}
	if !replay.Now().Equal(l.Now()) {
		t.Error("the time differs")
	}
	o := replay.Observe(t.Context(), get("https://new.example/", 100))
	if got := outcome(o); got != "unavailable not-recorded 0" || len(replay.Observations()) != len(requests)+1 {
		t.Errorf("a request that is not recorded gives %s", got)
	}
}
