package report

import (
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

func TestUnanswered(t *testing.T) {
	const asks = "no request was answered: is this machine online?"
	const resolver = "no request was answered, the resolver included: is this machine online?"
	fails := func(code string) verdict.Evidence {
		return verdict.Evidence{URL: "https://x.example/", State: "unavailable", Code: code}
	}
	connected, answered := fails("timeout"), fails("http-status")
	connected.Address, answered.Status = "192.0.2.1", 503
	for name, c := range map[string]struct {
		evidence []verdict.Evidence
		want     string
	}{
		"nothing asked": {nil, ""},
		"no resolver":   {[]verdict.Evidence{fails("resolver-failed"), fails("resolver-failed")}, resolver},
		"no time":       {[]verdict.Evidence{fails("timeout"), fails("budget-spent")}, asks},
		"no way": {[]verdict.Evidence{fails("connect-failed"), fails("resolver-failed"),
			fails("timeout")}, resolver},
		"no budget":          {[]verdict.Evidence{fails("budget-spent")}, ""},
		"a name that is not": {[]verdict.Evidence{fails("resolver-failed"), fails("no-such-host")}, ""},
		"a certificate":      {[]verdict.Evidence{fails("connect-failed"), fails("tls-not-verified")}, ""},
		"a connection":       {[]verdict.Evidence{fails("connect-failed"), connected}, ""},
		"a status":           {[]verdict.Evidence{fails("connect-failed"), answered}, ""},
		"a document": {[]verdict.Evidence{fails("connect-failed"),
			{URL: "https://y.example/", State: "obtained"}}, ""},
		"the archive alone": {[]verdict.Evidence{{URL: "archive:00", State: "absent", Code: "not-archived"}}, ""},
		"the archive beside it": {[]verdict.Evidence{fails("resolver-failed"), {URL: "archive:00", State: "obtained"}},
			resolver},
	} {
		if got := unanswered(&verdict.Report{Evidence: c.evidence}); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}
