package evidence

import "testing"

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
