package mirrorcmd_test

import (
	"slices"
	"testing"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/clitest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/dnstest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/webtest"
)

// TestMirrorResolverDeniesAll checks that a mirror refuses what it refused before if the resolver denies all names, and
// of that no record whose bytes changed since.
func TestMirrorResolverDeniesAll(t *testing.T) {
	m := mirroredOf(t, twoSteps+"pr: [{reissue: fay}]\n")
	head := m.serve("origin/" + m.world.Base)
	m.world.Web.Set("https://fay.example/oap-conformance-receipt.json", webtest.Behaviour{Status: 404})
	clitest.Run(t, 1, "", m.args()...)
	refuses := func(when string, want ...string) {
		t.Helper()
		if got := m.state().Of(head).Refused; !slices.Equal(got, want) {
			t.Errorf("%s: refused are %q; want %q", when, got, want)
		}
	}
	const eve, fay = "implementations/eve.json", "implementations/fay.json"
	refuses("before", fay)
	args := []string{"mirror", m.server.URL + "/origin.git", m.dir, "--at", m.world.Now.Format(time.RFC3339),
		"--retry-wait", "1ms"}
	dnstest.Use(t, nil)
	if status, said := clitest.Program(t, args...); status != 3 {
		t.Errorf("exit status %d\n%s", status, said)
	}
	refuses("all names are denied", fay)
	dnstest.Use(t, map[string][]string{evidence.Control: {"192.0.2.1"}})
	if status, said := clitest.Program(t, args...); status != 1 {
		t.Errorf("exit status %d\n%s", status, said)
	}
	refuses("the control is known", eve, fay)
	head = m.serve("origin/" + m.world.Head)
	dnstest.Use(t, nil)
	if status, said := clitest.Program(t, args...); status != 3 {
		t.Errorf("exit status %d\n%s", status, said)
	}
	refuses("the listing of fay changed", eve)
}
