package evidence

import (
	"testing"
	"time"
)

// TestParty checks that only the owner of a document can fail, and that what a third party answers counts.
func TestParty(t *testing.T) {
	for _, c := range []struct {
		o                      Observation
		owner, third, machines State
	}{
		{Observation{State: Obtained}, Obtained, Obtained, Obtained},
		{Observation{State: Unsought, Code: CodeOffline}, Unsought, Unsought, Unsought},
		{Observation{State: Unavailable, Code: CodeTimeout}, Unavailable, Unavailable, Unavailable},
		{Observation{State: Absent, Code: CodeHTTPStatus}, Absent, Unavailable, Unavailable},
		{Observation{State: Absent, Code: CodeNoHost}, Absent, Unavailable, Unavailable},
		{Observation{State: Absent, Code: CodeNoRegistration}, Absent, Absent, Unavailable},
		{Observation{State: Invalid, Code: CodeTLS}, Invalid, Unavailable, Unavailable},
		{Observation{State: Invalid, Code: CodeRedirects}, Invalid, Unavailable, Unavailable},
	} {
		if got := [3]State{Owner.State(c.o), ThirdParty.State(c.o), Machine.State(c.o)}; got !=
			[3]State{c.owner, c.third, c.machines} {
			t.Errorf("%v %s: owner, third party, machine: %v", c.o.State, c.o.Code, got)
		}
	}
}

// TestRetry checks what may decide an observation that is open: the time that the server names, what the source knows,
// and the fix of the code only where another try changes nothing.
func TestRetry(t *testing.T) {
	now := time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		o    Observation
		want Retry
	}{
		{Observation{State: Unavailable, Code: CodeTimeout}, Retry{Fix: "try again; nothing was decided"}},
		{Observation{State: Unavailable, Code: CodeIPv6},
			Retry{Fix: "add an A record, or run where IPv6 works (GitHub's runners have none)"}},
		{Observation{State: Unavailable, Code: CodeConnect, Fix: "start it"}, Retry{Fix: "start it"}},
		{Observation{State: Unavailable, Code: CodeHTTPStatus, RetryAfter: 90},
			Retry{"try again after 2026-06-01T12:01:30Z", now.Add(90 * time.Second)}},
		{Observation{State: Unavailable, Code: CodeHTTPStatus, RetryAfter: 1 << 40},
			Retry{"try again after 2026-06-02T12:00:00Z", now.Add(24 * time.Hour)}},
	} {
		if got := c.o.Retry(now); got != c.want {
			t.Errorf("%+v: %+v; expected %+v", c.o, got, c.want)
		}
		r := fault[int](c.o)
		if got := r.Retry(now); got != c.want {
			t.Errorf("a result of %+v: %+v; expected %+v", c.o, got, c.want)
		}
	}
}
