package report

import (
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/gate"
)

func TestUnanswered(t *testing.T) {
	const asks = "no request was answered: is this machine online?"
	const resolver = "no request was answered, the resolver included: is this machine online?"
	fails := func(code string) gate.Evidence {
		return gate.Evidence{URL: "https://x.example/", State: "unavailable", Code: code}
	}
	connected, answered := fails("timeout"), fails("http-status")
	connected.Address, answered.Status = "192.0.2.1", 503
	for name, c := range map[string]struct {
		evidence []gate.Evidence
		want     string
	}{
		"nothing asked":         {nil, ""},
		"no resolver":           {[]gate.Evidence{fails("resolver-failed"), fails("resolver-failed")}, resolver},
		"no time":               {[]gate.Evidence{fails("timeout"), fails("budget-spent")}, asks},
		"no way":                {[]gate.Evidence{fails("connect-failed"), fails("resolver-failed"), fails("timeout")}, resolver},
		"no budget":             {[]gate.Evidence{fails("budget-spent")}, ""},
		"a name that is not":    {[]gate.Evidence{fails("resolver-failed"), fails("no-such-host")}, ""},
		"a certificate":         {[]gate.Evidence{fails("connect-failed"), fails("tls-not-verified")}, ""},
		"a connection":          {[]gate.Evidence{fails("connect-failed"), connected}, ""},
		"a status":              {[]gate.Evidence{fails("connect-failed"), answered}, ""},
		"a document":            {[]gate.Evidence{fails("connect-failed"), {URL: "https://y.example/", State: "obtained"}}, ""},
		"the archive alone":     {[]gate.Evidence{{URL: "archive:00", State: "absent", Code: "not-archived"}}, ""},
		"the archive beside it": {[]gate.Evidence{fails("resolver-failed"), {URL: "archive:00", State: "obtained"}}, resolver},
	} {
		if got := unanswered(&gate.Report{Evidence: c.evidence}); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}
